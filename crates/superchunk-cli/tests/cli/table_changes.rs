//! Tables that are made, converted, extended and checked, as bcolz sees them afterwards.

use superchunk_testkit::legacy_peer::LegacyPeer;

use crate::shell::Shell;

const CSV: &str = "day,name,close,volume,up\n2024-02-28,ab,1.5,10,true\n2024-02-29,\"c,d\",,-20,false\n\
                   2024-03-01,\"e\"\"f\",2.25,30,true\n";

fn bytes_of<T, const N: usize>(values: &[T], bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(bytes).collect()
}

fn with_csv() -> Shell {
    let shell = Shell::new();
    shell.write("quotes.csv", CSV.as_bytes());
    shell.run("convert quotes.csv quotes.bcolz -q").is("", "", 0);
    shell
}

#[test]
fn csv_becomes_a_table_that_bcolz_opens() {
    let shell = with_csv();
    let table = LegacyPeer::spawn().bcolz_read_table(&shell.path("quotes.bcolz")).unwrap();
    assert_eq!((table.names.join(" "), table.len), ("day name close volume up".to_owned(), 3));
    assert_eq!(table.columns[0], bytes_of(&[19_781i64, 19_782, 19_783], |v| v.to_le_bytes()));
    assert_eq!(table.columns[1], b"ab\0c,de\"f");
    assert_eq!(table.columns[2], bytes_of(&[1.5, f64::NAN, 2.25], |v| v.to_le_bytes()));
    assert_eq!(table.columns[3], bytes_of(&[10i64, -20, 30], |v| v.to_le_bytes()));
    assert_eq!(table.columns[4], [1, 0, 1]);
}

#[test]
fn tables_go_around_all_formats_and_come_back() {
    let shell = with_csv();
    let steps = [
        "quotes.bcolz quotes.blsk",
        "quotes.blsk columns --to columns",
        "columns again.bcolz",
        "again.bcolz rows.npy",
        "rows.npy last.bcolz -c zstd -l 3",
    ];
    for step in steps {
        shell.run(&format!("convert {step}")).succeeds();
    }
    let said = shell.run("cat last.bcolz --cols day,name,close,volume,up --format csv").succeeds();
    assert_eq!(
        said.text(),
        CSV.replace(",,", ",nan,").replace("true", "True").replace("false", "False")
    );
    shell.run("convert last.bcolz last.csv").succeeds();
    let text = String::from_utf8(shell.read("last.csv")).unwrap();
    assert_eq!(text, said.text(), "a folder of columns keeps their order");
    shell.run("cat columns/volume.b2nd --format csv").is("10\n-20\n30\n", "", 0);
    let table = LegacyPeer::spawn().bcolz_read_table(&shell.path("last.bcolz")).unwrap();
    assert_eq!(table.columns[3], bytes_of(&[10i64, -20, 30], |v| v.to_le_bytes()));
}

#[test]
fn a_column_becomes_an_array() {
    let shell = with_csv();
    shell.run("convert quotes.bcolz::volume v.npy").succeeds();
    let file = shell.read("v.npy");
    let items = bytes_of(&[10i64, -20, 30], |v| v.to_le_bytes());
    assert!(file.starts_with(b"\x93NUMPY") && file.ends_with(&items));
    assert!(String::from_utf8_lossy(&file).contains("'shape': (3,)"));
    shell.run("convert v.npy v.bcolz").succeeds();
    let array = LegacyPeer::spawn().bcolz_read_array(&shell.path("v.bcolz")).unwrap();
    assert_eq!((array.dtype.as_str(), array.shape, array.bytes), ("<i8", vec![3], items));
    shell.run("convert quotes.bcolz::volume v.b2nd").succeeds();
    shell.run("cat v.b2nd@1 --format csv").is("-20\n", "", 0);
}

#[test]
fn types_can_be_told() {
    let shell = with_csv();
    let line = "convert quotes.csv small.bcolz --dtype close=float32 --dtype volume=<i2";
    shell.run(line).succeeds();
    let said = shell.run("info small.bcolz").succeeds();
    for part in ["close   <f4", "volume  <i2", "day     <M8[D]", "name    |S3", "up      |b1"] {
        assert!(said.text().contains(part), "no {part} in {}", said.text());
    }
    let wrong = shell.run("convert quotes.csv x.bcolz --dtype volume=uint8");
    wrong.fails(
        1,
        "error: `quotes.csv`: row 1 (line 3), column `volume`: `-20` is no value of type |u1\n  help: \
         `--dtype COLUMN=TYPE` gives it another type\n",
    );
    assert_eq!(shell.run("convert quotes.csv x.bcolz --dtype nope=uint8").code, Some(2));
    shell.write("odd.csv", b"a,b\n1,2\n3\n");
    let odd = shell.run("convert odd.csv x.bcolz");
    assert_eq!(odd.code, Some(1));
    assert!(odd.stderr.contains("odd.csv"), "{}", odd.stderr);
    assert_eq!(shell.run("convert quotes.csv quotes.bcolz").code, Some(7));
    assert_eq!(shell.names(), ["odd.csv", "quotes.bcolz", "quotes.csv", "small.bcolz"]);
}

#[test]
fn rows_are_appended_all_or_none() {
    let (shell, mut peer) = (with_csv(), LegacyPeer::spawn());
    shell.write("more.csv", b"volume,day,name,close,up\n40,2024-03-04,gh,3.5,false\n");
    let line = "{\"day\": \"2024-03-05\", \"name\": \"i\", \"close\": null, \"volume\": 5e1, \"up\": true}\n";
    shell.write("more.jsonl", line.repeat(2).as_bytes());
    let said = shell.run("append quotes.bcolz more.csv more.jsonl");
    said.is("", "quotes.bcolz: 3 rows appended, 6 in all\n", 0);
    let table = peer.bcolz_read_table(&shell.path("quotes.bcolz")).unwrap();
    assert_eq!(table.columns[3], bytes_of(&[10i64, -20, 30, 40, 50, 50], |v| v.to_le_bytes()));
    // The second file has a mistake: nothing of the first stays.
    shell.write("bad.jsonl", line.replace("5e1", "5.5").as_bytes());
    let bad = shell.run("append quotes.bcolz more.csv bad.jsonl");
    assert_eq!(bad.code, Some(1));
    assert!(
        bad.stderr.contains("row 0 (line 1), column `volume`: `5.5` is no value"),
        "{}",
        bad.stderr
    );
    assert_eq!(peer.bcolz_read_table(&shell.path("quotes.bcolz")).unwrap().len, 6);
    shell.write("other.csv", b"volume,nope\n1,2\n");
    assert_eq!(shell.run("append quotes.bcolz other.csv").code, Some(2));
    shell.run("convert quotes.bcolz quotes.blsk").succeeds();
    let piped =
        shell.pipe("append quotes.blsk - --json", b"volume,day,name,close,up\n7,NaT,,1,true\n");
    assert!(piped.text().contains("\"appended_rows\": 1, \"rows\": 7"), "{}", piped.text());
    shell.run("append quotes.bcolz quotes.blsk").succeeds();
    let said = shell.run("cat quotes.bcolz@-1 --format csv --cols day,name,volume");
    said.is("day,name,volume\nNaT,,7\n", "", 0);
}

#[test]
fn attributes_of_tables_are_kept() {
    let (shell, mut peer) = (with_csv(), LegacyPeer::spawn());
    shell.run("attr set quotes.bcolz place Mars").succeeds();
    shell.run_with("attr set quotes.bcolz range", "[0, 1.5]").succeeds();
    let attrs = peer.bcolz_read_table(&shell.path("quotes.bcolz")).unwrap().attrs;
    assert_eq!(attrs.to_string(), r#"{"place":"Mars","range":[0,1.5]}"#);
    shell.run("attr ls quotes.bcolz").is("place = \"Mars\"\nrange = [0, 1.5]\n", "", 0);
    shell.run("convert quotes.bcolz q.blsk").succeeds();
    shell.run("attr set q.blsk count 7").succeeds();
    shell.run("attr get q.blsk count").is("7\n", "", 0);
    shell.run("attr get q.blsk place").is("\"Mars\"\n", "", 0);
    shell.run("attr rm quotes.bcolz range").is("", "", 0);
    shell.run("attr get quotes.bcolz range").fails(
        1,
        "error: `quotes.bcolz` has no attribute `range`\n  help: `superchunk attr ls` lists them\n",
    );
    assert_eq!(shell.run("attr rm q.blsk nope").code, Some(1));
}

#[test]
fn damaged_chunks_of_columns_are_found() {
    let shell = with_csv();
    shell.run("verify quotes.bcolz").succeeds();
    shell.run("convert quotes.bcolz q.blsk").succeeds();
    shell.run("verify q.blsk").succeeds();
    let chunk = "quotes.bcolz/volume/data/__0.blp";
    let mut bytes = shell.read(chunk);
    let whole = bytes.clone();
    // Less than the chunk; its last bytes are a checksum, which may be missing.
    bytes.truncate(whole.len() - 17);
    shell.write(chunk, &bytes);
    assert_eq!(shell.run("verify quotes.bcolz").code, Some(3));
    shell.write(chunk, &whole[..whole.len() - 1]);
    shell.run("verify quotes.bcolz").succeeds();
    bytes = whole;
    bytes[40] ^= 1;
    shell.write(chunk, &bytes);
    let said = shell.run("verify quotes.bcolz");
    assert_eq!(said.code, Some(3), "{}{}", said.text(), said.stderr);
    assert!(format!("{}{}", said.text(), said.stderr).contains("volume"), "{}", said.text());
}

/// A table that bcolz has given a column of Python objects.
fn with_objects(json: &str) -> Shell {
    let shell = with_csv();
    let path = shell.path("quotes.bcolz");
    LegacyPeer::spawn().bcolz_add_objects(&path, "note", json).unwrap();
    shell
}

#[test]
fn columns_of_python_objects_are_shown_and_become_text() {
    let shell = with_objects(r#"["a, b", {"date": "2024-02-29"}, {"k": [1, null, true]}]"#);
    let said = shell.run("cat quotes.bcolz --cols volume,note --format jsonl").succeeds();
    let lines: Vec<&str> = said.text().lines().collect();
    assert_eq!(lines[0], r#"{"volume": 10, "note": "a, b"}"#);
    // A date is no plain value, and a pickle is never run.
    let pickle = lines[1].strip_prefix(r#"{"volume": -20, "note": "<pickle of "#);
    assert!(pickle.is_some_and(|rest| rest.ends_with(r#" bytes>"}"#)), "{}", lines[1]);
    assert_eq!(lines[2], r#"{"volume": 30, "note": {"k": [1, null, true]}}"#);
    let said = shell.run("cat quotes.bcolz --where volume>0 --cols note --format csv").succeeds();
    assert_eq!(said.text(), "note\n\"a, b\"\n\"{\"\"k\"\": [1, null, true]}\"\n");
    for line in ["convert quotes.bcolz again.csv", "cat quotes.bcolz --format csv"] {
        let said = shell.run(line);
        assert_eq!((said.code, said.text()), (Some(1), ""), "{line}");
        for part in ["row 1, column `note`: a pickle of ", "--escape"] {
            assert!(said.stderr.contains(part), "{line}: {}", said.stderr);
        }
    }
    shell.run("convert quotes.bcolz again.csv --escape").succeeds();
    let text = String::from_utf8(shell.read("again.csv")).unwrap();
    assert!(text.contains("True,\"a, b\"\n"), "{text}");
    // Protocol 2 and later begin with 0x80.
    assert!(text.contains("False,\"\\x80") || text.contains("False,\\x80"), "{text}");
    let said = shell.run("info quotes.bcolz").succeeds();
    assert!(said.text().contains("6 columns") && said.text().contains("object"), "{}", said.text());
}

#[test]
fn what_has_no_type_is_not_left_out_in_silence() {
    let shell = with_objects("[1, 2, 3]");
    let said = shell.run("convert quotes.bcolz quotes.blsk").succeeds();
    let told = "left out: column `note` holds Python objects";
    assert!(said.stderr.contains(told), "{}", said.stderr);
    let said = shell.run("convert quotes.bcolz::note note.npy");
    assert!(said.code == Some(2) && said.stderr.contains("column `note` holds Python objects"));
}

#[test]
fn a_text_that_is_too_long_says_by_how_much() {
    let shell = Shell::new();
    shell.write("names.csv", b"name\nabcdefghij\n");
    shell.run("convert names.csv names.bcolz -q").is("", "", 0);
    shell.write("more.csv", format!("name\nx\n{}\n", "y".repeat(42)).as_bytes());
    let said = shell.run("append names.bcolz more.csv");
    assert_eq!(said.code, Some(1));
    let words = "row 1 (line 3), column `name`: the text has 42 bytes, the column holds 10";
    assert!(said.stderr.contains(words), "{}", said.stderr);
    assert!(
        said.stderr.ends_with("  help: `append --widen` makes the column wider\n"),
        "{}",
        said.stderr
    );
    shell.run("cat names.bcolz --format csv").is("name\nabcdefghij\n", "", 0);
}

#[test]
fn rows_that_would_lose_something_are_not_appended() {
    let shell = Shell::new();
    shell.write("t.csv", b"n,x,up\n1,0.5,true\n");
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    let long = "12345678901234567890123";
    let cases = [
        (
            "more.csv",
            "n,x,up\n2,1,false\n007,1,true\n".to_owned(),
            "`007` would lose its leading zero",
        ),
        ("more.csv", "n,x,up\n2,1,false\n+7,1,true\n".to_owned(), "`+7` would lose its plus sign"),
        ("more.csv", format!("n,x,up\n2,1,false\n7,{long},true\n"), "would lose digits"),
        (
            "more.csv",
            "n,x,up\n2,1,false\n7,00.5,true\n".to_owned(),
            "`00.5` would lose its leading zero",
        ),
        (
            "more.jsonl",
            "{\"n\": 2, \"x\": 1, \"up\": true}\n{\"n\": \"7\", \"x\": 1, \"up\": true}\n"
                .to_owned(),
            "`7` is a text, the column has type <i8",
        ),
        (
            "more.jsonl",
            "{\"n\": 2, \"x\": 1, \"up\": true}\n{\"n\": 7, \"x\": \"nan\", \"up\": true}\n"
                .to_owned(),
            "`nan` is a text, the column has type <f8",
        ),
        (
            "more.jsonl",
            "{\"n\": 2, \"x\": 1, \"up\": true}\n{\"n\": 7, \"x\": 1, \"up\": \"true\"}\n"
                .to_owned(),
            "`true` is a text, the column has type |b1",
        ),
    ];
    for (name, rows, words) in cases {
        shell.write(name, rows.as_bytes());
        let said = shell.run(&format!("append t.bcolz {name}"));
        assert_eq!(said.code, Some(1), "{rows}: {}", said.stderr);
        let line = if name == "more.csv" { 3 } else { 2 };
        let column = ["n", "x", "up"].into_iter().find(|column| {
            said.stderr.contains(&format!("row 1 (line {line}), column `{column}`: "))
        });
        assert!(column.is_some() && said.stderr.contains(words), "{rows}: {}", said.stderr);
        shell.run("cat t.bcolz --format csv").is("n,x,up\n1,0.5,True\n", "", 0);
    }
    shell.write("good.jsonl", b"{\"n\": -7, \"x\": {\"$float\": \"nan\"}, \"up\": false}\n");
    shell.write("good.csv", b"n,x,up\n0,9007199254740992,1\n");
    shell.run("append t.bcolz good.jsonl good.csv -q").is("", "", 0);
    let rows = "n,x,up\n1,0.5,True\n-7,nan,False\n0,9007199254740992.0,True\n";
    shell.run("cat t.bcolz --format csv").is(rows, "", 0);
}

#[test]
fn what_a_number_would_lose_stays_text() {
    let shell = Shell::new();
    let long = "12345678901234567890123";
    shell.write("t.csv", format!("id,n\n{long},1\n7,2\n").as_bytes());
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    shell.run("cat t.bcolz --format jsonl").is(
        &format!("{{\"id\": \"{long}\", \"n\": 1}}\n{{\"id\": \"7\", \"n\": 2}}\n"),
        "",
        0,
    );
    let lines = "{\"id\": \"7\", \"on\": \"2024-02-29\", \"n\": 7}\n";
    shell.write("t.jsonl", lines.as_bytes());
    shell.run("convert t.jsonl u.bcolz -q").is("", "", 0);
    shell.run("cat u.bcolz --format jsonl").is(lines, "", 0);
    let info = shell.run("info u.bcolz").succeeds();
    assert!(info.text().contains("|S1") && info.text().contains("<M8[D]"), "{}", info.text());
    // A type that was asked for is given.
    shell.run("convert t.jsonl v.bcolz --dtype id=int64 -q").is("", "", 0);
    shell.run("cat v.bcolz --cols id --format jsonl").is("{\"id\": 7}\n", "", 0);
}

#[test]
fn blsk_truncates_new_items_as_its_storage_asks_or_refuses_by_name() {
    let shell = Shell::new();
    shell.write("t.csv", b"x\n3.141592653589793\n");
    shell.run("convert t.csv t.blsk -q --filters shuffle,trunc:10").is("", "", 0);
    // The highest 10 of 52 bits of the mantissa are kept.
    let cut = f64::from_bits(std::f64::consts::PI.to_bits() >> 42 << 42);
    let expected = format!("x\n{cut:?}\n");
    assert_eq!(cut, 3.140625);
    shell.run("cat t.blsk --format csv").is(&expected, "", 0);
    let path = shell.path("t.blsk/meta/storage");
    let storage = std::fs::read_to_string(&path).unwrap();
    assert!(storage.contains("truncate: 10\n"), "{storage}");
    shell.run("append t.blsk t.csv -q").is("", "", 0);
    shell.run("cat t.blsk --format csv").is(&format!("{expected}{cut:?}\n"), "", 0);
    let storage = std::fs::read_to_string(&path).unwrap();
    // Without the number of bits nothing is written, and all is read.
    std::fs::write(&path, storage.replace("truncate: 10\n", "")).unwrap();
    let said = shell.run("append t.blsk t.csv");
    assert_eq!(said.code, Some(4), "{}", said.stderr);
    assert!(said.stderr.contains("`truncate: BITS`"), "{}", said.stderr);
    shell.run("cat t.blsk --format csv").is(&format!("{expected}{cut:?}\n"), "", 0);
}
