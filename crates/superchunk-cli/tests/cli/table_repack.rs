//! `repack` of tables: everything stays but the chunks.

use std::io::Write;

use superchunk_testkit::legacy_peer::LegacyPeer;

use crate::shell::{Said, Shell};

const CSV: &str = "day,name,place/x,place/y\n2024-02-28,ab,1.5,10\n2024-02-29,\"c,d\",0.25,-20\n";

/// A table of bcolz and one of blsk, with attributes and columns inside of a column.
fn tables() -> Shell {
    let shell = Shell::new();
    shell.write("quotes.csv", CSV.as_bytes());
    for name in ["quotes.bcolz", "quotes.blsk"] {
        shell.run(&format!("convert quotes.csv {name} --nested -q")).is("", "", 0);
        shell.run(&format!("attr set {name} unit USD -q")).is("", "", 0);
    }
    shell
}

fn text(shell: &Shell, name: &str) -> String {
    String::from_utf8(shell.read(name)).unwrap()
}

/// Runs a line, which fails with this code and leaves everything as it was.
fn refused(shell: &Shell, line: &str, code: i32) -> Said {
    let before = (shell.names(), text(shell, "quotes.bcolz/day/meta/storage"));
    let said = shell.run(line);
    assert_eq!(said.code, Some(code), "{line}: {}", said.stderr);
    assert_eq!((shell.names(), text(shell, "quotes.bcolz/day/meta/storage")), before, "{line}");
    said
}

#[test]
fn all_of_a_bcolz_table_stays_but_its_chunks() {
    let shell = tables();
    shell.run("convert quotes.bcolz old.bcolz -q").is("", "", 0);
    // Attributes of a column and of a table in the table, and what is said of new rows.
    shell.write("quotes.bcolz/day/__attrs__", b"{\"zone\": \"UTC\"}\n");
    shell.write("quotes.bcolz/place/__attrs__", b"{\"axes\": [1, 2]}\n");
    let storage = text(&shell, "quotes.bcolz/place/y/meta/storage");
    let storage = storage.replace("\"dflt\": 0", "\"dflt\": 7");
    let storage = storage.replace("\"expectedlen\": 2", "\"expectedlen\": 99");
    shell.write("quotes.bcolz/place/y/meta/storage", storage.as_bytes());
    let said = shell.run("repack quotes.bcolz -c zstd -l 3 --filters bitshuffle --json").succeeds();
    let document = said.json().to_json();
    assert!(document.contains(r#""path": "quotes.bcolz", "output": "quotes.bcolz""#), "{document}");
    for column in ["day", "name", "place/x", "place/y"] {
        let storage = text(&shell, &format!("quotes.bcolz/{column}/meta/storage"));
        let params = r#"{"clevel": 3, "shuffle": 2, "cname": "zstd", "quantize": 0}"#;
        assert!(storage.contains(params), "{column}: {storage}");
    }
    let storage = text(&shell, "quotes.bcolz/place/y/meta/storage");
    assert!(storage.contains(r#""expectedlen": 99, "dflt": 7"#), "{storage}");
    assert_eq!(text(&shell, "quotes.bcolz/day/__attrs__"), "{\"zone\": \"UTC\"}\n");
    assert_eq!(text(&shell, "quotes.bcolz/place/__attrs__"), "{\"axes\": [1, 2]}\n");
    assert_eq!(text(&shell, "quotes.bcolz/__rootdirs__"), text(&shell, "old.bcolz/__rootdirs__"));
    shell.run("diff --meta quotes.bcolz old.bcolz").is("", "", 0);
    shell.run("verify quotes.bcolz -q").succeeds();
    shell.run("append quotes.bcolz quotes.csv -q").is("", "", 0);
    assert_eq!(shell.names(), ["old.bcolz", "quotes.bcolz", "quotes.blsk", "quotes.csv"]);
}

#[test]
fn one_column_can_be_compressed_in_another_way() {
    let shell = tables();
    let before = text(&shell, "quotes.bcolz/day/meta/storage");
    shell.run("repack quotes.bcolz::place -c zlib -9 -q").is("", "", 0);
    assert_eq!(text(&shell, "quotes.bcolz/day/meta/storage"), before);
    for column in ["x", "y"] {
        let storage = text(&shell, &format!("quotes.bcolz/place/{column}/meta/storage"));
        assert!(storage.contains(r#""clevel": 9, "shuffle": 1, "cname": "zlib""#), "{storage}");
    }
    let before = text(&shell, "quotes.bcolz/place/x/meta/storage");
    shell.run("repack quotes.bcolz::day -z 8 -o day.bcolz -q").is("", "", 0);
    assert!(text(&shell, "day.bcolz/day/meta/storage").contains("\"chunklen\": 1,"));
    assert_eq!(text(&shell, "day.bcolz/place/x/meta/storage"), before);
    shell.run("diff --meta quotes.bcolz day.bcolz").is("", "", 0);
    let said = refused(&shell, "repack quotes.blsk::day -c zstd", 2);
    assert!(said.stderr.contains("are compressed alike"), "{}", said.stderr);
}

#[test]
fn bcolz_opens_what_was_repacked() {
    let shell = Shell::new();
    shell.write("quotes.csv", b"day,close\n1,1.5\n2,0.25\n3,2.25\n");
    shell.run("convert quotes.csv quotes.bcolz -q").is("", "", 0);
    let mut peer = LegacyPeer::spawn();
    let objects = r#"["a", {"k": [1, null]}, {"date": "2024-02-29"}]"#;
    peer.bcolz_add_objects(&shell.path("quotes.bcolz"), "note", objects).unwrap();
    let note = peer.bcolz_read_objects(&shell.path("quotes.bcolz"), "note").unwrap();
    shell.run("repack quotes.bcolz -o small.bcolz -c zstd -9 -q").is("", "", 0);
    // Python objects are in it, and those that only Python reads are the same bytes.
    shell.run("diff quotes.bcolz small.bcolz").is("", "", 0);
    let small = shell.path("small.bcolz");
    assert_eq!(peer.bcolz_read_objects(&small, "note").unwrap(), note);
    assert!(text(&shell, "small.bcolz/note/meta/storage").contains("\"cname\": \"zstd\""));
    shell.run("repack small.bcolz -q").is("", "", 0);
    shell.run("diff quotes.bcolz small.bcolz").is("", "", 0);
    peer.bcolz_remove_column(&small, "note").unwrap();
    let table = peer.bcolz_read_table(&small).unwrap();
    assert_eq!((table.names.join(" "), table.len), ("day close".to_owned(), 3));
    let close: Vec<u8> = [1.5f64, 0.25, 2.25].iter().flat_map(|it| it.to_le_bytes()).collect();
    assert_eq!(table.columns[1], close);
    // An array is one, too.
    shell.run("convert quotes.bcolz::close close.bcolz -q").is("", "", 0);
    shell.run("repack close.bcolz -c lz4hc -q").is("", "", 0);
    assert_eq!(peer.bcolz_read_array(&shell.path("close.bcolz")).unwrap().bytes, close);
}

#[test]
fn all_of_a_blsk_table_stays_but_its_chunks() {
    let shell = tables();
    let storage = text(&shell, "quotes.blsk/meta/storage") + "owner: me\n";
    shell.write("quotes.blsk/meta/storage", storage.as_bytes());
    let attributes = text(&shell, "quotes.blsk/meta/attributes") + "odd: some words\n";
    shell.write("quotes.blsk/meta/attributes", attributes.as_bytes());
    shell
        .run("repack quotes.blsk -c zstd -l 3 --filters bitshuffle -o small.blsk -q")
        .is("", "", 0);
    let new = text(&shell, "small.blsk/meta/storage");
    for part in ["library: zstd", "level: 3", "filters: [bitshuffle]", "owner: me"] {
        assert!(new.contains(part), "no {part} in {new}");
    }
    assert_eq!(text(&shell, "small.blsk/meta/attributes"), attributes);
    shell.run("diff --meta quotes.blsk small.blsk").is("", "", 0);
    shell.run("repack small.blsk -q").is("", "", 0);
    shell.run("diff quotes.bcolz small.blsk").is("", "", 0);
    shell.run("verify small.blsk -q").succeeds();
    shell.run("append small.blsk quotes.csv -q").is("", "", 0);
    shell.run("convert quotes.blsk::place/x x.blsk -q").is("", "", 0);
    shell.run("repack x.blsk -z 8 -9 -q").is("", "", 0);
    assert!(text(&shell, "x.blsk/meta/storage").contains("chunkshape: (1,)"));
    shell.run("diff quotes.bcolz::place/x x.blsk").is("", "", 0);
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_the_table() {
    let shell = tables();
    for (line, code, words) in [
        ("repack quotes.bcolz --sparse", 2, "no use for --sparse"),
        ("repack quotes.bcolz --no-checksums", 2, "no use for --no-checksums"),
        ("repack quotes.bcolz --dict", 2, "no use for --dict"),
        // What `convert` to such a table refuses, too.
        ("repack quotes.blsk -b 8K", 2, "no use for --block-size"),
        ("repack quotes.bcolz -b 8K", 2, "no use for --block-size"),
        ("repack quotes.bcolz --split never", 2, "no use for --split"),
        ("repack quotes.blsk --split never", 2, "no use for --split"),
        ("repack quotes.bcolz --filters delta", 2, "Shuffle, or BitShuffle"),
        ("repack quotes.blsk --filters delta", 2, "Shuffle or BitShuffle"),
        ("repack quotes.bcolz::nope -9", 2, "no column called `nope`"),
        ("repack quotes.bcolz@1:2", 2, "all rows"),
        ("repack quotes.bcolz -o quotes.b2frame", 2, "expected an output called .bcolz"),
        ("repack quotes.bcolz -o new.blsk", 2, "expected an output called .bcolz"),
        ("repack quotes.bcolz -o quotes.blsk", 2, "expected an output called .bcolz"),
        ("repack quotes.bcolz -o quotes.csv -f", 2, "expected an output called .bcolz"),
        ("repack missing.bcolz", 5, "missing.bcolz"),
    ] {
        let said = refused(&shell, line, code);
        assert!(said.stderr.contains(words), "{line}: {}", said.stderr);
    }
    shell.run("repack quotes.bcolz -o same.bcolz -q").is("", "", 0);
    refused(&shell, "repack quotes.bcolz -o same.bcolz", 7);
    let chunk = shell.path("quotes.bcolz/place/y/data/__0.blp");
    std::fs::write(&chunk, &std::fs::read(&chunk).unwrap()[..20]).unwrap();
    refused(&shell, "repack quotes.bcolz -c zstd", 3);
    refused(&shell, "repack quotes.bcolz -c zstd -o same.bcolz -f", 3);
    shell.run("diff same.bcolz quotes.blsk").is("", "", 0);
}

#[test]
fn a_filter_that_is_not_known_is_replaced_by_another_one() {
    let shell = tables();
    let storage = text(&shell, "quotes.blsk/meta/storage");
    assert!(storage.contains("filters: [shuffle]"), "{storage}");
    let unknown = storage.replace("filters: [shuffle]", "filters: [foo]");
    shell.write("quotes.blsk/meta/storage", unknown.as_bytes());
    let said = refused(&shell, "repack quotes.blsk -9", 4);
    let words = "error: new chunks would have to be filtered by `foo`\n  --> blsk filters\n";
    assert!(said.stderr.starts_with(words), "{}", said.stderr);
    shell.run("repack quotes.blsk --filters shuffle -q").is("", "", 0);
    assert!(text(&shell, "quotes.blsk/meta/storage").contains("filters: [shuffle]"));
    let unknown = storage.replace("library: lz4", "library: bar");
    shell.write("quotes.blsk/meta/storage", unknown.as_bytes());
    let said = refused(&shell, "repack quotes.blsk --filters none", 4);
    assert!(said.stderr.contains("compressed by `bar`"), "{}", said.stderr);
    shell.run("repack quotes.blsk -c zstd -q").is("", "", 0);
    shell.run("diff quotes.blsk quotes.bcolz").is("", "", 0);
}

#[test]
fn rows_that_are_appended_meanwhile_are_not_lost() {
    for name in ["quotes.bcolz", "quotes.blsk"] {
        let shell = tables();
        let mut writer = shell.start(&format!("append {name} -"));
        let mut pipe = writer.stdin.take().unwrap();
        // More than the pipe holds: the writer has the lock when this is through.
        let heading = CSV.lines().next().unwrap();
        pipe.write_all(format!("{heading}\n").as_bytes()).unwrap();
        pipe.write_all("2024-03-01,e,1,2\n".repeat(20_000).as_bytes()).unwrap();
        let said = shell.run(&format!("repack {name} -c zstd --wait 0"));
        assert_eq!(said.code, Some(7), "{}", said.stderr);
        let waiting = shell.start(&format!("repack {name} -c zstd --wait 100"));
        pipe.write_all(b"2024-03-02,lst,3,4\n").unwrap();
        drop(pipe);
        assert!(writer.wait().unwrap().success());
        let said = Said::from(waiting.wait_with_output().unwrap()).succeeds();
        assert!(said.stderr.starts_with(&format!("{name}: ")), "{}", said.stderr);
        let said = shell.run(&format!("cat {name}@2:20003:20000 --format csv")).succeeds();
        assert!(said.text().ends_with("2024-03-02,lst,3.0,4\n"), "{}", said.text());
    }
}
