use super::*;
use crate::error::ErrorKind;

fn plain(text: &str) -> Yaml {
    Yaml::Plain(text.to_owned())
}

#[test]
fn the_example_of_the_proposal_is_read() {
    let text = "dtype: \n  col1: int8\n  col2: float32\nshape: (300,200)\n\
                superchunksize: 10  # max. number of chunks in a single file\n\n# a remark\n\
                compression:\n  library: blosclz\n  filters: [shuffle, truncate]  # order matters\n";
    let yaml = Yaml::parse(text).unwrap();
    assert_eq!(yaml.get("dtype").unwrap().get("col2"), Some(&plain("float32")));
    assert_eq!(yaml.get("shape"), Some(&plain("(300,200)")));
    assert_eq!(yaml.get("superchunksize"), Some(&plain("10")));
    let filters = yaml.get("compression").unwrap().get("filters");
    assert_eq!(filters, Some(&Yaml::List(vec![plain("shuffle"), plain("truncate")])));
    assert_eq!(Yaml::parse(&yaml.to_text()).unwrap(), yaml);
}

#[test]
fn whatever_is_written_reads_back() {
    let odd = [
        "",
        " ",
        "a b",
        "a: b",
        "a #b",
        "#",
        "- x",
        "-1",
        "'",
        "\"",
        "it's",
        "<<",
        "---",
        "x:",
        "[1]",
        "a,b",
        "{",
        "\t",
        "line\nline",
        "\u{7f}",
        "é",
        "!tag",
        "&a",
        "*a",
        "|",
        ">",
        "%",
        "@",
        "? x",
        "null",
        "\\",
        "...",
    ];
    let mut entries: Vec<(String, Yaml)> = Vec::new();
    for text in odd.into_iter().skip(1) {
        let quoted = Yaml::Quoted(text.to_owned());
        let list = Yaml::List(vec![quoted.clone(), Yaml::List(vec![quoted.clone()])]);
        let inner = Yaml::Map(vec![("k".to_owned(), quoted), ("l".to_owned(), list)]);
        entries.push((text.to_owned(), inner));
    }
    let yaml = Yaml::Map(entries);
    assert_eq!(Yaml::parse(&yaml.to_text()).unwrap(), yaml);
}

#[test]
fn lists_go_over_lines_and_hold_comments() {
    let text = "a: [1, # one\n   [2, 'x, y'],\n\n]\r\nb: \"\\u00e9\\t\"\r\nc:\r\n";
    let yaml = Yaml::parse(text).unwrap();
    let inner = Yaml::List(vec![plain("2"), Yaml::Quoted("x, y".to_owned())]);
    assert_eq!(yaml.get("a"), Some(&Yaml::List(vec![plain("1"), inner])));
    assert_eq!(yaml.get("b").unwrap().as_str(), Some("é\t"));
    assert_eq!(yaml.get("c"), Some(&Yaml::Null));
}

#[test]
fn what_is_dangerous_or_needless_in_yaml_is_refused() {
    for text in [
        "a: &x 1",
        "a: *x",
        "a: !!python/object:os.system x",
        "<<: x",
        "a: |\n  x",
        "a: >\n  x",
        "- a",
        "a: - b",
        "a: {b: c}",
        "{a: b}",
        "--- \na: 1",
        "a: 1\n...",
        "? a",
        "a: b: c",
        "%YAML 1",
        "a: \"x\ny\"",
        "a: \"\\q\"",
        "a: @x",
        "a: [&x 1]",
    ] {
        let error = Yaml::parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{text:?}: {error}");
    }
    for text in [
        "a",
        "a 1",
        ": x",
        "a: 1\na: 2",
        " a: 1\nb: 2",
        "a: 1\n  b: 2",
        "\ta: 1",
        "a: [1 2",
        "a: [1]]",
        "a: 'x",
        "a: 'x' y",
        "a: [,]",
        "a:1",
        "a: \"\\ud800\"",
        "a: \"\\u+123\"",
    ] {
        let error = Yaml::parse(text).unwrap_err();
        let kinds = [ErrorKind::Corrupt, ErrorKind::Truncated, ErrorKind::Unsupported];
        assert!(kinds.contains(&error.kind()), "{text:?}: {error}");
    }
    let deep = format!("a: {}", "[".repeat(100_000));
    assert_eq!(Yaml::parse(&deep).unwrap_err().kind(), ErrorKind::LimitExceeded);
    let deep: String = (0..100).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert_eq!(Yaml::parse(&deep).unwrap_err().kind(), ErrorKind::LimitExceeded);
}
