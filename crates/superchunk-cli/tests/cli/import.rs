//! Text that becomes a table: nothing is lost on the way, or an error says what and where.

use crate::shell::{Said, Shell};

/// Makes a table of a text; both have this name, with the extension of the text.
fn made(shell: &Shell, name: &str, text: &str, options: &str) -> Said {
    shell.write(name, text.as_bytes());
    shell.run(&format!("convert {name} made.blsk -f -q {options}"))
}

/// The types of the columns.
fn types(shell: &Shell) -> Vec<String> {
    let info = shell.run("info --json made.blsk").succeeds().json();
    let columns = info.get("columns").unwrap().as_slice().unwrap();
    columns.iter().map(|column| column.get("dtype").unwrap().as_str().unwrap().to_owned()).collect()
}

#[test]
fn json_lines_come_back_with_bytes_and_complex_numbers() {
    let shell = Shell::new();
    let lines = "{\"a\": {\"$bin\": \"ff5c\"}, \"c\": {\"$complex\": [1.5, -2.0]}, \"v\": {\"$bin\": \"ff00\"}}\n\
                 {\"a\": \"x\", \"c\": {\"$complex\": [{\"$float\": \"nan\"}, -0.0]}, \"v\": {\"$bin\": \"0100\"}}\n\
                 {\"a\": \"äö\", \"c\": {\"$complex\": [1e-300, {\"$float\": \"-inf\"}]}, \"v\": {\"$bin\": \"0000\"}}\n";
    made(&shell, "t.jsonl", lines, "").is("", "", 0);
    assert_eq!(types(&shell), ["|S4", "<c16", "|V2"]);
    shell.run("cat made.blsk --format jsonl").is(lines, "", 0);
    shell.write("more.jsonl", lines.as_bytes());
    shell.run("append made.blsk more.jsonl -q").is("", "", 0);
    shell.run("cat made.blsk --format jsonl").is(&lines.repeat(2), "", 0);
    // Of given types.
    let types_given = "--dtype a=S6 --dtype c=c8 --dtype v=V2";
    made(&shell, "t.jsonl", &lines.replace("1e-300", "0.5"), types_given).is("", "", 0);
    assert_eq!(types(&shell), ["|S6", "<c8", "|V2"]);
    for (option, words) in [
        ("v=V3", "row 0 (line 1), column `v`: 2 bytes are no value of type |V3"),
        ("v=i2", "row 0 (line 1), column `v`: 2 bytes are no value of type <i2"),
        ("v=S1", "row 0 (line 1), column `v`: there are 2 bytes, the column holds 1"),
        ("v=S4", "row 0 (line 1), column `v`: a zero at its end would be lost"),
    ] {
        let said = made(&shell, "t.jsonl", lines, &format!("--dtype {option}"));
        assert_eq!((said.code, said.stderr.contains(words)), (Some(1), true), "{}", said.stderr);
    }
}

#[test]
fn what_numbers_and_truth_values_would_lose_stays_text() {
    let shell = Shell::new();
    for (name, text, csv) in [
        ("t.csv", "a,b,d\n1e400,-1e-400,True\n2,0.5,1\n", "a,b,d\n1e400,-1e-400,True\n2,0.5,1\n"),
        (
            "t.jsonl",
            "{\"a\": 1e400, \"b\": 1E-400, \"d\": true}\n{\"a\": 2, \"b\": 0.5, \"d\": 1}\n",
            "a,b,d\n1e400,1E-400,true\n2,0.5,1\n",
        ),
    ] {
        made(&shell, name, text, "").is("", "", 0);
        shell.run("cat made.blsk --format csv").is(csv, "", 0);
        // Where the type is given there is no text to stay.
        for (option, words) in [
            ("a=f8", "column `a`: `1e400` is too large for type <f8"),
            ("b=f8", "is too small for type <f8"),
            ("a=f2", "column `a`: `1e400` is too large for type <f2"),
        ] {
            let said = made(&shell, name, text, &format!("--dtype {option}"));
            assert_eq!(said.code, Some(1), "{name} {option}");
            assert!(said.stderr.contains(&format!("`{name}`: row 0 (line ")), "{}", said.stderr);
            assert!(said.stderr.contains(words), "{}", said.stderr);
        }
    }
    // What is inf, zero or tiny itself is taken.
    let text = "a,b\ninf,0e-999\n-Infinity,5e-324\n";
    made(&shell, "t.csv", text, "").is("", "", 0);
    assert_eq!(types(&shell), ["<f8", "<f8"]);
    let csv = "a,b\ninf,0.0\n-inf,5e-324\n";
    shell.run("cat made.blsk --format csv").is(csv, "", 0);
    // The same for rows that are appended.
    shell.write("more.csv", b"a,b\n1,1e999\n");
    let said = shell.run("append made.blsk more.csv");
    let words = "`more.csv`: row 0 (line 2), column `b`: `1e999` is too large for type <f8";
    assert_eq!((said.code, said.stderr.contains(words)), (Some(1), true), "{}", said.stderr);
    shell.run("cat made.blsk --format csv").is(csv, "", 0);
}

#[test]
fn text_that_is_cut_or_says_something_twice_is_refused_with_its_place() {
    let shell = Shell::new();
    let before = shell.names();
    for (name, text, words) in [
        (
            "t.csv",
            "a,b\n1,x\n2,\"y\n",
            "row 1 (line 3): a quote is never closed: was the text cut?",
        ),
        ("t.csv", "a,\"b\n1,x\n", "the headings (line 1): a quote is never closed"),
        ("t.csv", "a,b\n1,2\n3\n", "row 1 (line 3): expected 2 cells as in the headings, got 1"),
        ("t.csv", "a,b\n1,2,3\n", "row 0 (line 2): expected 2 cells as in the headings, got 3"),
        (
            "t.jsonl",
            "{\"a\": 1}\n\n{\"a\": 1, \"a\": 2}\n",
            "row 1 (line 3): json text: the object has this key already",
        ),
        (
            "t.jsonl",
            "{\"a\": \"\\ud800\"}\n",
            "row 0 (line 1): json text: half of a surrogate pair is no character",
        ),
        ("t.jsonl", "{\"a\": 1}\n[1]\n", "row 1 (line 2): it is no JSON object"),
        (
            "t.jsonl",
            "{\"a\": 1}\n{\"b\": 1}\n",
            "row 1 (line 2): it has a `b`, the first one has not",
        ),
    ] {
        let said = made(&shell, name, text, "");
        let words = format!("error: `{name}`: {words}");
        assert_eq!((said.code, said.text()), (Some(1), ""), "{text:?}");
        assert!(said.stderr.starts_with(&words), "{text:?}: {}", said.stderr);
        assert!(!said.stderr.contains("CSV error"), "{}", said.stderr);
        std::fs::remove_file(shell.path(name)).unwrap();
    }
    shell.write("t.csv", b"a,b\n1,\xff\n");
    let said = shell.run("convert t.csv made.blsk");
    said.fails(1, "error: `t.csv`: row 0 (line 2): column `b`: bytes that are not UTF-8\n");
    let said = shell.pipe("convert - made.blsk", b"a\n\"");
    let words = "error: `stdin`: row 0 (line 2): a quote is never closed: was the text cut?\n";
    said.fails(1, words);
    std::fs::remove_file(shell.path("t.csv")).unwrap();
    assert_eq!(shell.names(), before);
    // A quote inside of a cell is a letter.
    made(&shell, "t.csv", "a\n5\" wide\n", "").is("", "", 0);
    shell.run("cat made.blsk --format jsonl").is("{\"a\": \"5\\\" wide\"}\n", "", 0);
}

#[test]
fn a_zero_at_the_end_of_a_text_is_refused_without_one_in_the_message() {
    let shell = Shell::new();
    let said = made(&shell, "t.csv", "a\nx\0\n", "");
    let words = "error: `t.csv`: row 0 (line 2), column `a`: a zero at its end would be lost\n";
    assert_eq!((said.code, said.stderr.starts_with(words)), (Some(1), true), "{}", said.stderr);
    let said = made(&shell, "t.csv", "a\n1\0\x1b[2J\n", "--dtype a=i4");
    assert!(!said.stderr.contains(['\0', '\x1b']), "{}", said.stderr);
}

#[test]
fn rows_are_counted_from_0_by_every_command() {
    let shell = Shell::new();
    made(&shell, "t.csv", "a,b\nx,1\ny,2\n", "").is("", "", 0);
    shell.run("cat made.blsk@1 --format csv").is("a,b\ny,2\n", "", 0);
    shell.write("other.csv", b"a,b\nx,1\ny,3\n");
    shell.run("convert other.csv other.blsk -q").is("", "", 0);
    let said = shell.run("diff made.blsk other.blsk");
    said.is("the first difference is in column `b`, row 1: 2 and 3\n", "", 1);
    shell.write("bad.csv", b"a,b\nx,1\n\ny,many\n");
    let said = shell.run("append made.blsk bad.csv");
    assert!(said.stderr.contains("row 1 (line 4), column `b`: `many`"), "{}", said.stderr);
}

#[test]
fn names_of_columns_that_cannot_be_are_refused_alike_before_anything_is_made() {
    let shell = Shell::new();
    for (headings, made, words) in [
        (".x,b", "x.bcolz", "`.x` cannot be the name of a column of a bcolz table"),
        ("a\\b,b", "x.bcolz", "`a\\b` cannot be the name of a column of a bcolz table"),
        ("a\\b,b", "x.blsk", "`a\\b` cannot be the name of a column of a blsk table"),
        ("a:b,b", "x.blsk", "`a:b` cannot be the name of a column of a blsk table"),
        ("__1__.bin,b", "x.blsk", "`__1__.bin` cannot be the name of a column of a blsk table"),
        (
            "a\\b,b",
            "x --to columns",
            "`a\\b` cannot be the name of a column of a folder of columns",
        ),
        (",b", "x --to columns", "`` cannot be the name of a column of a folder of columns"),
        (",b", "x.bcolz", "`` cannot be the name of a column of a bcolz table"),
        ("a,A", "x.bcolz", "there is a column `A` already"),
        ("a,A", "x.blsk", "there is a column `A` already"),
        ("b,b", "x --to columns", "there is a column `b` already"),
    ] {
        shell.write("t.csv", format!("{headings}\n1,2\n").as_bytes());
        let said = shell.run(&format!("convert t.csv {made}"));
        let words = format!("error: `t.csv`: {words}\n  help: ");
        assert_eq!((said.code, said.text()), (Some(2), ""), "{headings} {made}");
        assert!(said.stderr.starts_with(&words), "{headings} {made}: {}", said.stderr);
        if !words.contains("already") {
            assert!(
                said.stderr.contains("names there have 1 to 250 bytes, no `\\`"),
                "{}",
                said.stderr
            );
        }
        assert_eq!(shell.names(), ["t.csv"], "{headings} {made}");
    }
    // What one format refuses another one takes.
    shell.write("t.csv", b".x,a:bc,A,a\n1,2,3,4\n");
    shell.run("convert t.csv x --to columns -q").is("", "", 0);
    shell.run("cat x --format csv").is(".x,a:bc,A,a\n1,2,3,4\n", "", 0);
}
