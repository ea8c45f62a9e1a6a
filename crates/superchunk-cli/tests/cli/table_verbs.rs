//! `diff`, `unpack`, `bench` and `tune` of tables.

use superchunk_testkit::legacy_peer::LegacyPeer;

use crate::shell::{Shell, npy};

const CSV: &str = "day,name,close,volume\n2024-02-28,ab,1.5,10\n2024-02-29,\"c,d\",0.25,-20\n\
                   2024-03-01,\"e\"\"f\",2.25,30\n";

/// A table of three rows in bcolz and in blsk, and the text that it was made of.
fn quotes() -> Shell {
    let shell = Shell::new();
    shell.write("quotes.csv", CSV.as_bytes());
    shell.run("convert quotes.csv quotes.bcolz -q").is("", "", 0);
    shell.run("convert quotes.csv quotes.blsk -q").is("", "", 0);
    shell
}

/// A second bcolz table that is made of this text.
fn other(shell: &Shell, csv: &str) {
    shell.write("other.csv", csv.as_bytes());
    shell.run("convert other.csv other.bcolz -f -q").is("", "", 0);
}

/// A table of many rows, whose columns are not best in the same way.
fn readings(shell: &Shell) {
    let row = |row: u32| format!("{row},{}.5,{}\n", row * 7919 % 1009, row.is_multiple_of(2));
    let rows: String = (0..20_000).map(row).collect();
    shell.write("readings.csv", format!("number,value,is_even\n{rows}").as_bytes());
    shell.run("convert readings.csv readings.bcolz -q").is("", "", 0);
}

#[test]
fn tables_are_equal_whatever_they_are_stored_in() {
    let shell = quotes();
    shell.run("convert quotes.blsk columns --to columns -q").is("", "", 0);
    shell.run("convert quotes.blsk rows.npy -q").is("", "", 0);
    for other in ["quotes.blsk", "columns", "rows.npy"] {
        shell.run(&format!("diff quotes.bcolz {other}")).is("", "", 0);
        shell.run(&format!("diff {other} quotes.bcolz -v")).is("", "equal\n", 0);
    }
    // The order of columns is none of the content.
    other(&shell, "volume,close\n10,1.5\n-20,0.25\n30,2.25\n");
    shell.write("turned.csv", b"close,volume\n1.5,10\n0.25,-20\n2.25,30\n");
    shell.run("convert turned.csv turned.blsk -q").is("", "", 0);
    shell.run("diff other.bcolz turned.blsk").is("", "", 0);
    // One column, which has no name in a file of its own.
    shell.run("convert quotes.bcolz::close close.npy -q").is("", "", 0);
    shell.run("diff quotes.blsk::close close.npy").is("", "", 0);
    let said = shell.run("diff quotes.blsk::volume close.npy");
    said.is("column `volume` is <i8 and <f8\n", "", 1);
}

#[test]
fn the_first_row_that_differs_is_told_with_its_column() {
    let shell = quotes();
    // `volume` differs in a later row than `name`, which is a later column than `day`.
    other(&shell, &CSV.replace("30", "31").replace("c,d", "c.d").replace("03-01", "03-02"));
    let said = shell.run("diff quotes.bcolz other.bcolz");
    let words = "the first difference is in column `name`, row 1: \"c,d\" and \"c.d\"";
    said.is(&format!("{words}\n"), "", 1);
    let said = shell.run("diff quotes.blsk other.bcolz --json");
    let document = said.json().to_json();
    for part in [
        r#""equal": false, "what": "content", "offset": null, "column": "name", "row": 1"#
            .to_owned(),
        format!("\"difference\": {}", superchunk::Value::from(words).to_json()),
    ] {
        assert!(document.contains(&part), "no {part} in {document}");
    }
    let equal = shell.run("diff quotes.bcolz quotes.blsk --json").succeeds().json().to_json();
    assert!(equal.contains(r#""equal": true, "what": null"#), "{equal}");
    // Far behind the first batch, in a row that is an array.
    let cube = npy(&[70_000, 2, 2]);
    let mut changed = cube.clone();
    let last = changed.len() - 8;
    changed[last..last + 4].copy_from_slice(&(-1i32).to_le_bytes());
    shell.write("a.npy", &cube);
    shell.write("b.npy", &changed);
    for name in ["a", "b"] {
        shell.run(&format!("convert {name}.npy {name}.bcolz -q")).is("", "", 0);
    }
    let said = shell.run("diff a.bcolz b.bcolz");
    let words =
        "the first difference is in column `values`, row 69999, item [1, 0]: 279998 and -1\n";
    said.is(words, "", 1);
    shell.run("diff a.bcolz b.npy").is(words, "", 1);
}

#[test]
fn names_types_lengths_and_attributes_differ_too() {
    let shell = quotes();
    other(&shell, &CSV.replace("volume", "size"));
    let said = shell.run("diff quotes.bcolz other.bcolz");
    said.is("column `volume` is only in `quotes.bcolz`\n", "", 1);
    other(&shell, &CSV.replace("volume", "volume,more").replace("0\n", "0,1\n"));
    let said = shell.run("diff quotes.bcolz other.bcolz");
    said.is("column `more` is only in `other.bcolz`\n", "", 1);
    other(&shell, &CSV.replace("10\n", "10.5\n"));
    let said = shell.run("diff quotes.blsk other.bcolz --json");
    assert!(said.json().to_json().contains(r#""what": "column""#), "{}", said.text());
    assert!(said.text().contains("column `volume` is <i8 and <f8"), "{}", said.text());
    other(&shell, &format!("{CSV}2024-03-04,x,1.5,7\n"));
    let said = shell.run("diff quotes.bcolz other.bcolz");
    said.is("there are 3 and 4 rows; the first 3 are equal\n", "", 1);
    shell.run("attr set quotes.bcolz unit USD -q").is("", "", 0);
    shell.run("diff quotes.bcolz quotes.blsk").is("", "", 0);
    shell.run("diff --meta quotes.bcolz quotes.blsk").is("the attribute `unit` differs\n", "", 1);
    shell.run("attr set quotes.blsk unit USD -q").is("", "", 0);
    shell.run("diff --meta quotes.bcolz quotes.blsk").is("", "", 0);
    shell.run("convert quotes.bcolz columns --to columns -q").is("", "", 0);
    shell.run("diff --meta columns quotes.blsk").is("", "", 0);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let shell = quotes();
    shell.write("plain", b"12345678");
    let said = shell.run("diff quotes.bcolz plain");
    assert_eq!(said.code, Some(4), "{}", said.stderr);
    assert!(said.stderr.contains("`plain` is not a table or an array"), "{}", said.stderr);
    let said = shell.run("diff quotes.csv quotes.bcolz");
    assert_eq!(said.code, Some(4), "{}", said.stderr);
    assert!(said.stderr.contains("`superchunk convert quotes.csv"), "{}", said.stderr);
    std::fs::create_dir(shell.path("empty")).unwrap();
    assert_eq!(shell.run("diff quotes.bcolz empty").code, Some(4));
    assert_eq!(shell.run("diff quotes.bcolz missing").code, Some(5));
    assert_eq!(shell.run("diff quotes.bcolz quotes.bcolz::nope").code, Some(2));
    assert_eq!(shell.run("diff quotes.bcolz@1 quotes.blsk@1").code, Some(2));
    assert_eq!(shell.run("diff quotes.bcolz quotes.blsk --limit-output 10").code, Some(6));
    let chunk = shell.path("quotes.bcolz/close/data/__0.blp");
    std::fs::write(&chunk, &std::fs::read(&chunk).unwrap()[..20]).unwrap();
    assert_eq!(shell.run("diff quotes.bcolz quotes.blsk").code, Some(3));
}

#[test]
fn python_objects_are_compared_as_values() {
    let shell = quotes();
    let mut peer = LegacyPeer::spawn();
    let mut add = |name: &str, json: &str| {
        peer.bcolz_add_objects(&shell.path(name), "note", json).unwrap();
    };
    add("quotes.bcolz", r#"["a", [1, null], {"date": "2024-02-29"}]"#);
    for (name, json) in [
        ("same.bcolz", r#"["a", [1, null], {"date": "2024-02-29"}]"#),
        ("value.bcolz", r#"["a", [2, null], {"date": "2024-02-29"}]"#),
        // A date is no plain value: its bytes are compared.
        ("pickle.bcolz", r#"["a", [1, null], {"date": "2024-03-01"}]"#),
    ] {
        shell.run(&format!("convert quotes.csv {name} -q")).is("", "", 0);
        add(name, json);
    }
    shell.run("diff quotes.bcolz same.bcolz").is("", "", 0);
    let said = shell.run("diff quotes.bcolz value.bcolz");
    said.is("the first difference is in column `note`, row 1: [1, null] and [2, null]\n", "", 1);
    let said = shell.run("diff quotes.bcolz pickle.bcolz");
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.text().contains("column `note`, row 2: \"<pickle of "), "{}", said.text());
    let said = shell.run("diff quotes.bcolz quotes.blsk");
    said.is("column `note` is only in `quotes.bcolz`\n", "", 1);
}

#[test]
fn rows_become_csv_and_columns_numpy_files() {
    let shell = quotes();
    let said = shell.run("unpack quotes.bcolz -o rows.csv");
    said.is("", "quotes.bcolz -> rows.csv: 81 B\n", 0);
    assert_eq!(String::from_utf8(shell.read("rows.csv")).unwrap(), CSV);
    let said = shell.run("unpack quotes.blsk@1:3 -o -").succeeds();
    assert_eq!(said.text().lines().count(), 3, "{}", said.text());
    assert!(said.text().ends_with("2024-03-01,\"e\"\"f\",2.25,30\n"), "{}", said.text());
    let said = shell.run("unpack quotes.bcolz -o quotes --json").succeeds().json();
    assert_eq!(said.get("output").unwrap().as_str(), Some("quotes"));
    let listed = std::fs::read_dir(shell.path("quotes")).unwrap();
    let mut listed: Vec<_> = listed.map(|entry| entry.unwrap().file_name()).collect();
    listed.sort();
    assert_eq!(listed, ["close.npy", "day.npy", "name.npy", "volume.npy"]);
    shell.run("diff quotes.bcolz::close quotes/close.npy").is("", "", 0);
    shell.run("cat quotes/name.npy --format csv").is("ab\n\"c,d\"\n\"e\"\"f\"\n", "", 0);
    // One column, as a file or as bytes; a step leaves rows out.
    shell.run("unpack quotes.bcolz::volume -o volume.npy -q").is("", "", 0);
    assert_eq!(shell.read("volume.npy"), shell.read("quotes/volume.npy"));
    let bytes: Vec<u8> = [10i64, 30].iter().flat_map(|value| value.to_le_bytes()).collect();
    let said = shell.run("unpack quotes.blsk::volume@::2 --raw -o -").succeeds();
    assert_eq!(said.stdout, bytes);
    let file = shell.run("unpack quotes.blsk::volume@::2 -o -").succeeds().stdout;
    assert!(file.starts_with(b"\x93NUMPY") && file.ends_with(&bytes), "{file:?}");
    // All columns in one file are items of a structure.
    shell.run("unpack quotes.bcolz -o rows.npy -q").is("", "", 0);
    shell.run("diff quotes.blsk rows.npy").is("", "", 0);
}

#[test]
fn nested_columns_become_folders() {
    let shell = Shell::new();
    shell.write("sides.csv", b"id,left/x,left/y\n1,2,3\n4,5,6\n");
    shell.run("convert sides.csv sides.blsk --nested -q").is("", "", 0);
    shell.run("unpack sides.blsk --npy -o sides.d -q").is("", "", 0);
    shell.run("cat sides.d/left/y.npy --format csv").is("3\n6\n", "", 0);
    shell.run("unpack sides.blsk::left -o left -q").is("", "", 0);
    shell.run("cat left/left/x.npy --format csv").is("2\n5\n", "", 0);
    assert!(!shell.path("left/id.npy").exists());
}

#[test]
fn unpacking_happens_as_a_whole_or_not_at_all() {
    let shell = quotes();
    let before = shell.names();
    shell.run("unpack quotes.bcolz").fails(
        2,
        "error: `quotes.bcolz` is a bcolz table: say with -o what becomes of it\n  help: -o OUT.csv \
         writes rows as text, -o FOLDER a .npy file for each column; PATH::COLUMN takes one\n",
    );
    for (line, code) in [
        ("unpack quotes.bcolz -o rows.parquet", 2),
        ("unpack quotes.bcolz -o rows.csv --npy", 2),
        ("unpack quotes.bcolz --raw -o rows", 2),
        ("unpack quotes.bcolz -o rows --dtype <f8", 2),
        ("unpack quotes.bcolz -o rows.csv --jsonl", 2),
        ("unpack quotes.bcolz --escape -o rows", 2),
        ("unpack quotes.bcolz --npy -o -", 2),
        ("unpack quotes.bcolz::nope -o rows.csv", 2),
        ("unpack quotes.bcolz@9 -o rows.csv", 2),
        ("unpack quotes.bcolz -o quotes.csv", 7),
        ("unpack quotes.bcolz --npy -o quotes.blsk", 7),
        ("unpack quotes.bcolz -o rows.csv --limit-output 20", 6),
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
    }
    // The last column cannot be read: nothing is left of those before it.
    let chunk = shell.path("quotes.bcolz/volume/data/__0.blp");
    std::fs::write(&chunk, &std::fs::read(&chunk).unwrap()[..20]).unwrap();
    for line in ["unpack quotes.bcolz -o rows", "unpack quotes.bcolz --npy -f -o quotes.blsk"] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(3), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
    }
    shell.run("verify quotes.blsk").succeeds();
    shell.run("unpack quotes.blsk --npy -f -o quotes.blsk -q").is("", "", 0);
    shell.run("cat quotes.blsk/volume.npy --format csv").is("10\n-20\n30\n", "", 0);
}

#[test]
fn python_objects_are_in_the_text_and_not_in_numpy_files() {
    let shell = quotes();
    let path = shell.path("quotes.bcolz");
    LegacyPeer::spawn().bcolz_add_objects(&path, "note", r#"["a", [1], "b"]"#).unwrap();
    let said = shell.run("unpack quotes.bcolz@1: -o -").succeeds();
    let lines: Vec<&str> = said.text().lines().collect();
    assert_eq!(lines[1..], ["2024-02-29,\"c,d\",0.25,-20,[1]", "2024-03-01,\"e\"\"f\",2.25,30,b"]);
    let said = shell.run("unpack quotes.bcolz -o columns").succeeds();
    let told = "left out: column `note` holds Python objects";
    assert!(said.stderr.contains(told), "{}", said.stderr);
    assert!(!shell.path("columns/note.npy").exists());
    let said = shell.run("unpack quotes.bcolz::note -o note.npy");
    assert!(said.code == Some(2) && said.stderr.contains("column `note` holds Python objects"));
    assert!(!shell.path("note.npy").exists());
}

#[test]
fn bytes_that_are_no_text_are_escaped_on_request() {
    let shell = Shell::new();
    let mut file = npy(&[2]);
    // The same four bytes as texts.
    let at = file.windows(3).position(|part| part == b"<i4").unwrap();
    file[at..at + 3].copy_from_slice(b"|S4");
    let start = file.len() - 8;
    file[start..].copy_from_slice(b"a\\\0\0\xff\0\0\0");
    shell.write("words.npy", &file);
    shell.run("convert words.npy words.bcolz -q").is("", "", 0);
    let said = shell.run("unpack words.bcolz -o words.csv");
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("row 1, column `values`"), "{}", said.stderr);
    shell.run("unpack words.bcolz -o words.csv --escape -q").is("", "", 0);
    assert_eq!(shell.read("words.csv"), b"values\na\\\\\n\\xff\n");
}

#[test]
fn bench_measures_each_column() {
    let shell = quotes();
    let line = "bench quotes.bcolz --codecs lz4,zstd --levels 1 --filters none,shuffle --rounds 1";
    let said = shell.run(line).succeeds();
    let lines: Vec<&str> = said.text().lines().collect();
    assert!(lines[0].starts_with("quotes.bcolz: 81 B of all columns, threads: "), "{}", lines[0]);
    assert!(lines[1].starts_with("column  codec"), "{}", lines[1]);
    assert_eq!(lines.len(), 2 + 4 * 4, "{}", said.text());
    for (column, item_size) in [("day", 8), ("name", 1), ("close", 8), ("volume", 8)] {
        assert_eq!(lines.iter().filter(|line| line.starts_with(column)).count(), 4, "{column}");
        let one =
            shell.run(&format!("{line} --json").replace("bcolz", &format!("bcolz::{column}")));
        let results = one.succeeds().json().get("results").unwrap().to_json();
        let start =
            format!("[{{\"column\": \"{column}\", \"typesize\": {item_size}, \"codec\": \"lz4\"");
        assert!(results.starts_with(&start), "{results}");
        assert_eq!(results.matches("\"column\"").count(), 4, "{results}");
    }
    for line in [
        "bench quotes.bcolz -t 8",
        "bench quotes.bcolz@1:2",
        "bench quotes.bcolz::nope",
        // Chunks of tables have one shuffle and nothing else.
        "bench quotes.bcolz --filters bytedelta",
    ] {
        assert_eq!(shell.run(line).code, Some(2), "{line}");
    }
    let path = shell.path("quotes.bcolz");
    LegacyPeer::spawn().bcolz_add_objects(&path, "note", "[1, 2, 3]").unwrap();
    let said = shell.run(line).succeeds();
    let told = "not measured: column `note` holds Python objects\n";
    assert_eq!((said.stderr.as_str(), said.text().lines().count()), (told, 2 + 4 * 4));
    assert_eq!(shell.run("bench quotes.bcolz::note").code, Some(2));
}

#[test]
fn tune_recommends_for_each_column_and_writes_what_it_recommends() {
    let shell = Shell::new();
    readings(&shell);
    let said =
        shell.run("tune readings.bcolz --sample 64K --objective size --json --apply small.bcolz");
    let document = said.succeeds().json();
    let columns = document.get("columns").unwrap().as_slice().unwrap().to_vec();
    assert_eq!(columns.len(), 3);
    for column in columns {
        let name = column.get("column").unwrap().as_str().unwrap().to_owned();
        let flags = column.get("recommended").unwrap().as_str().unwrap().to_owned();
        // What is written is what was recommended.
        let words: Vec<&str> = flags.split(' ').collect();
        let ["-c", codec, "-l", level, "--filters", filters] = words[..] else { panic!("{flags}") };
        let storage = shell.read(&format!("small.bcolz/{name}/meta/storage"));
        let storage = String::from_utf8(storage).unwrap();
        let shuffle = ["none", "shuffle", "bitshuffle"].iter().position(|it| *it == filters);
        let expected = format!(
            "{{\"clevel\": {level}, \"shuffle\": {}, \"cname\": \"{codec}\", \"quantize\": 0}}",
            shuffle.unwrap()
        );
        assert!(storage.contains(&expected), "no {expected} in {storage}");
        let trials = column.get("trials").unwrap().to_json();
        assert_eq!(trials.matches("\"recommended\": true").count(), 1, "{trials}");
    }
    shell.run("diff --meta readings.bcolz small.bcolz").is("", "", 0);
    let said = shell.run("tune readings.bcolz --sample 64K").succeeds();
    assert_eq!(said.text().lines().count(), 2 + 3 + 1, "{}", said.text());
    let said = shell.run("tune readings.bcolz::value --sample 64K").succeeds();
    assert_eq!(said.text().lines().filter(|line| line.starts_with('*')).count(), 1);
    let advice = said.text().lines().last().unwrap().strip_prefix("recommended: ").unwrap();
    shell.run(&format!("repack readings.bcolz::value {advice}")).succeeds();
    shell.run("diff readings.bcolz small.bcolz").is("", "", 0);
}

#[test]
fn tune_finds_one_compression_for_all_columns_of_a_blsk_table() {
    let shell = Shell::new();
    readings(&shell);
    shell.run("convert readings.bcolz readings.blsk -q").is("", "", 0);
    let said = shell.run("tune readings.blsk --sample 64K --objective size").succeeds();
    let (_, advice) = said.text().trim_end().split_once("recommended: superchunk ").unwrap();
    assert!(advice.starts_with("repack readings.blsk -c zstd -l "), "{advice}");
    shell.run(advice).succeeds();
    shell.run("diff readings.bcolz readings.blsk").is("", "", 0);
    shell.run("tune readings.blsk --sample 64K --apply readings.blsk -f -q").succeeds();
    shell.run("diff readings.bcolz readings.blsk").is("", "", 0);
    let json = shell.run("tune readings.blsk --sample 64K --json").succeeds().json();
    assert!(json.get("recommended").unwrap().as_str().unwrap().starts_with("-c "));
    let before = shell.names();
    for (line, code) in [
        ("tune readings.blsk -t 8", 2),
        ("tune readings.blsk@1:2", 2),
        ("tune readings.blsk::value --apply value.blsk", 2),
        ("tune readings.blsk --apply out.bcolz", 2),
        ("tune readings.bcolz --sample 8K --apply readings.bcolz", 7),
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
    }
}
