//! `append --widen`: columns of text that become as wide as the rows need.

use std::io::Write;

use superchunk_testkit::legacy_peer::LegacyPeer;

use crate::shell::Shell;

const CSV: &str = "number,name,price\n1,abcdefghij,1.5\n2,b,2.5\n";

/// A table with a text column of ten bytes, in a codec of its own, with attributes.
fn with_table(name: &str) -> Shell {
    let shell = Shell::new();
    shell.write("names.csv", CSV.as_bytes());
    shell.run(&format!("convert names.csv {name} -c zlib -l 3 -q")).is("", "", 0);
    shell.run(&format!("attr set {name} place Mars")).succeeds();
    shell.write("more.csv", format!("number,name,price\n3,{},3.5\n4,,4.5\n", long()).as_bytes());
    shell
}

fn long() -> String {
    "y".repeat(42)
}

/// The rows of [`CSV`] and those that were appended.
fn rows() -> String {
    format!("{CSV}3,{},3.5\n4,,4.5\n", long())
}

#[test]
fn a_bcolz_table_gets_wider_and_stays_what_it_was() {
    let (shell, mut peer) = (with_table("names.bcolz"), LegacyPeer::spawn());
    let path = shell.path("names.bcolz");
    peer.bcolz_set_attr(&path.join("name"), "language", &"en".into()).unwrap();
    shell.write("names.bcolz/notes.txt", b"not of bcolz");
    let storage = |column: &str| {
        String::from_utf8(shell.read(&format!("names.bcolz/{column}/meta/storage"))).unwrap()
    };
    let before = ["number", "name", "price"].map(storage);
    let said = shell.run("append names.bcolz more.csv --widen");
    let words = "names.bcolz: 2 rows appended, 4 in all; `name` was |S10 and is |S42\n";
    said.is("", words, 0);
    shell.run("cat names.bcolz --format csv").is(&rows(), "", 0);
    shell.run("verify names.bcolz").succeeds();
    let table = peer.bcolz_read_table(&path).unwrap();
    assert_eq!((table.names.join(" "), table.len), ("number name price".to_owned(), 4));
    assert_eq!(table.attrs.to_string(), r#"{"place":"Mars"}"#);
    let name = peer.bcolz_read_array(&path.join("name")).unwrap();
    assert_eq!(
        (name.dtype.as_str(), name.attrs.to_string()),
        ("|S42", r#"{"language":"en"}"#.into())
    );
    let mut bytes = [b"abcdefghij".as_slice(), &[0; 32], b"b", &[0; 41]].concat();
    bytes.extend(long().as_bytes());
    bytes.extend([0; 42]);
    assert_eq!(name.bytes, bytes);
    // Codec and level are those of before; the files of other columns, and of no column, are there.
    assert_eq!([storage("number"), storage("price")], [before[0].clone(), before[2].clone()]);
    assert!(
        storage("name").contains(r#""cname": "zlib""#)
            && storage("name").contains(r#""clevel": 3"#)
    );
    assert_eq!(shell.read("names.bcolz/notes.txt"), b"not of bcolz");
    assert_eq!(shell.names(), ["more.csv", "names.bcolz", "names.csv"]);
}

#[test]
fn a_blsk_table_gets_wider_and_stays_what_it_was() {
    let shell = with_table("names.blsk");
    let said = shell.run("append names.blsk more.csv --widen --json").succeeds().json();
    let widened = said.get("widened").unwrap().to_json();
    assert_eq!(widened, r#"[{"column": "name", "from": "|S10", "to": "|S42"}]"#);
    assert_eq!(said.get("appended_rows").unwrap().as_u64(), Some(2));
    shell.run("cat names.blsk --format csv").is(&rows(), "", 0);
    shell.run("attr get names.blsk place").is("\"Mars\"\n", "", 0);
    shell.run("verify names.blsk").succeeds();
    let storage = String::from_utf8(shell.read("names.blsk/meta/storage")).unwrap();
    for line in ["library: zlib", "level: 3", "reserve: 8", "superchunksize: 16"] {
        assert!(storage.contains(line), "no {line} in {storage}");
    }
}

#[test]
fn characters_count_where_a_column_has_characters() {
    let shell = Shell::new();
    shell.write("names.csv", "name\näöü\n".as_bytes());
    shell.write("more.csv", "name\nØrsted\n漢字\n".as_bytes());
    for table in ["names.bcolz", "names.blsk"] {
        shell.run(&format!("convert names.csv {table}")).succeeds();
        let said = shell.run(&format!("append {table} more.csv --widen")).succeeds();
        assert!(said.stderr.ends_with("`name` was <U3 and is <U6\n"), "{}", said.stderr);
        shell.run(&format!("cat {table} --format csv")).is("name\näöü\nØrsted\n漢字\n", "", 0);
    }
}

#[test]
fn arrays_of_text_get_wider() {
    let shell = with_table("names.bcolz");
    shell.write("more.csv", format!("values\n{}\n", long()).as_bytes());
    for array in ["array.bcolz", "array.blsk"] {
        shell.run(&format!("convert names.bcolz::name {array}")).succeeds();
        shell.run(&format!("append {array} more.csv --widen")).succeeds();
        let expected = format!("values\nabcdefghij\nb\n{}\n", long());
        shell.run(&format!("cat {array} --format csv")).is(&expected, "", 0);
    }
}

#[test]
fn rows_come_from_stdin_and_from_other_tables() {
    let shell = with_table("names.bcolz");
    shell.pipe("append names.bcolz - --widen", &shell.read("more.csv")).succeeds();
    shell.run("cat names.bcolz --format csv").is(&rows(), "", 0);
    // A pipe with a name can be read only once.
    shell
        .sh("mkfifo pipe; cat more.csv > pipe & superchunk append names.bcolz pipe --widen")
        .succeeds();
    let said = shell.run("cat names.bcolz@4: --format csv").succeeds();
    assert_eq!(said.text(), rows().replace("1,abcdefghij,1.5\n2,b,2.5\n", ""));
    // A table with shorter texts is appended as it is, one with longer ones is not.
    shell.run("convert names.csv short.bcolz").succeeds();
    shell.run("append names.bcolz short.bcolz").succeeds();
    let refused = shell.run("append short.bcolz names.bcolz");
    refused.fails(
        2,
        "error: column `name` is |S42 in `names.bcolz`, here |S10\n  help: `append --widen` makes the \
         column wider\n",
    );
    shell.run("append short.bcolz names.bcolz --widen").succeeds();
    let first = shell.run("cat names.bcolz --format csv").succeeds();
    let both = shell.run("cat short.bcolz --format csv").succeeds();
    let rest = first.text().strip_prefix("number,name,price\n").unwrap();
    assert_eq!(both.text(), format!("{CSV}{rest}"));
}

#[test]
fn what_is_wide_enough_is_only_appended_to() {
    let shell = with_table("names.bcolz");
    let said = shell.run("append names.bcolz names.csv --widen");
    said.is("", "names.bcolz: 2 rows appended, 4 in all\n", 0);
    let piped = shell.pipe("append names.bcolz - --widen --json", CSV.as_bytes()).succeeds();
    assert!(piped.text().contains(r#""rows": 6, "widened": []"#), "{}", piped.text());
}

#[test]
fn a_mistake_leaves_the_table_as_it_was() {
    for table in ["names.bcolz", "names.blsk"] {
        let shell = with_table(table);
        shell.write("bad.csv", b"number,name,price\nmany,x,1\n");
        let before = shell.run(&format!("cat {table} --format csv")).succeeds();
        let said = shell.run(&format!("append {table} more.csv bad.csv --widen"));
        assert_eq!(said.code, Some(1), "{}", said.stderr);
        assert!(
            said.stderr.contains("row 0 (line 2), column `number`: `many` is no value"),
            "{}",
            said.stderr
        );
        let after = shell.run(&format!("cat {table} --format csv")).succeeds();
        assert_eq!(after.text(), before.text());
        assert_eq!(shell.names(), ["bad.csv", "more.csv", table, "names.csv"]);
    }
}

#[test]
fn a_writer_at_work_is_waited_for() {
    let shell = with_table("names.bcolz");
    let mut writer = shell.start("append names.bcolz -");
    // When more than a pipe holds is gone, the writer reads, and has the lock.
    let mut pipe = writer.stdin.take().unwrap();
    pipe.write_all(b"number,name,price\n").unwrap();
    pipe.write_all("7,x,1\n".repeat(60_000).as_bytes()).unwrap();
    let said = shell.run("append names.bcolz more.csv --widen --wait 0");
    assert_eq!(said.code, Some(7), "{}", said.stderr);
    drop(pipe);
    assert!(writer.wait_with_output().unwrap().status.success());
    shell.run("append names.bcolz more.csv --widen").succeeds();
    let info = shell.run("info --json names.bcolz").succeeds().json();
    assert_eq!(info.get("rows").unwrap().as_u64(), Some(60_004));
}

#[test]
fn what_cannot_get_wider_is_refused() {
    let shell = with_table("names.bcolz");
    shell.write("data", &[7; 80]);
    shell.run("pack data").succeeds();
    let said = shell.run("append data.b2frame data --widen");
    said.fails(
        4,
        "error: `data.b2frame` is not a table, and only columns of a table become wider\n  help: leave \
         out --widen\n",
    );
    assert_eq!(shell.run("append nothing data --widen").code, Some(5));
    let path = shell.path("names.bcolz");
    LegacyPeer::spawn().bcolz_add_objects(&path, "note", "[1, 2]").unwrap();
    let said = shell.run("append names.bcolz more.csv --widen");
    assert_eq!(said.code, Some(4), "{}", said.stderr);
    assert!(said.stderr.contains("column `note` holds Python objects"), "{}", said.stderr);
}
