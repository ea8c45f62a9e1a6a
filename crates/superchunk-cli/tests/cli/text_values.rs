//! Values as text that other programs read: nothing is changed on the way out, nor on the way back.

use superchunk_testkit::legacy_peer::LegacyPeer;

use crate::shell::{Shell, npy, npy_file};

/// A table whose text cells have what CSV and JSON must quote or escape.
const AWKWARD: &str =
    "id,note\n1,\"a\nb\"\n2,a\\nb\n3,\"say \"\"hi\"\", twice\"\n4,\\\n5, \n6,\n7,\"\r\"\n8,\u{1}\n";

fn with_awkward_table() -> Shell {
    let shell = Shell::new();
    shell.write("notes.csv", AWKWARD.as_bytes());
    shell.run("convert notes.csv notes.bcolz -q").is("", "", 0);
    shell
}

#[test]
fn text_is_exported_as_it_is_stored() {
    let shell = with_awkward_table();
    assert_eq!(shell.run("cat notes.bcolz --format csv").text(), AWKWARD);
    let lines = shell.run("cat notes.bcolz --format jsonl");
    let lines: Vec<&str> = lines.text().lines().collect();
    assert_eq!(lines[0], r#"{"id": 1, "note": "a\nb"}"#);
    assert_eq!(lines[1], r#"{"id": 2, "note": "a\\nb"}"#);
    assert_eq!(lines[7], r#"{"id": 8, "note": "\u0001"}"#);
    let json = shell.run("cat notes.bcolz --json").json();
    let note = |row: usize| {
        let row = json.as_slice().unwrap()[row].get("note").unwrap();
        row.as_str().unwrap().to_owned()
    };
    assert_eq!((note(0).as_str(), note(1).as_str(), note(3).as_str()), ("a\nb", "a\\nb", "\\"));
    // Only people see the escape.
    assert!(shell.run("cat notes.bcolz").text().contains(" 1  a\\nb\n"));
}

#[test]
fn csv_to_a_table_and_back_is_the_identity() {
    let shell = with_awkward_table();
    for made in ["again.bcolz", "again.blsk", "again --to columns"] {
        let name = made.split(' ').next().unwrap();
        shell.run(&format!("convert notes.bcolz {made} -f -q")).is("", "", 0);
        shell.run(&format!("convert {name} back.csv --to csv -f -q")).is("", "", 0);
        assert_eq!(String::from_utf8(shell.read("back.csv")).unwrap(), AWKWARD, "{made}");
    }
    // A table of one column, with an empty cell.
    shell.write("one.csv", b"name\nx\n\"\"\ny\n");
    shell.run("convert one.csv one.bcolz -q").is("", "", 0);
    shell.run("cat one.bcolz --format csv").is("name\nx\n\"\"\ny\n", "", 0);
}

#[test]
fn bytes_that_are_no_text_are_told_from_text() {
    let (shell, mut peer) = (Shell::new(), LegacyPeer::spawn());
    let columns: [(&str, &str, &[u8]); 1] = [("who", "|S3", b"ab\0\xff\\\0ok\0")];
    peer.bcolz_make_table(&shell.path("bytes.bcolz"), 4, &columns).unwrap();
    let lines = "{\"who\": \"ab\"}\n{\"who\": {\"$bin\": \"ff5c\"}}\n{\"who\": \"ok\"}\n";
    shell.run("cat bytes.bcolz --format jsonl").is(lines, "", 0);
    for line in ["cat bytes.bcolz --format csv", "convert bytes.bcolz out.csv"] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(1), "{line}");
        for part in ["row 1", "column `who`", "--escape"] {
            assert!(said.stderr.contains(part), "{line}: {}", said.stderr);
        }
    }
    assert!(!shell.path("out.csv").exists());
    let escaped = "who\nab\n\\xff\\\\\nok\n";
    shell.run("cat bytes.bcolz --format csv --escape").is(escaped, "", 0);
    shell.run("convert bytes.bcolz out.csv --escape -q").is("", "", 0);
    assert_eq!(shell.read("out.csv"), escaped.as_bytes());
    // The same for arrays.
    shell.write("names", b"ab\0\xff\\\0");
    shell.run("pack names --dtype |S3 -o names.b2nd -q").is("", "", 0);
    shell.run("cat names.b2nd --format json").is("[\"ab\", {\"$bin\": \"ff5c\"}]\n", "", 0);
    assert_eq!(shell.run("cat names.b2nd --format csv").code, Some(1));
}

#[test]
fn bytes_that_are_no_text_are_told_from_text_inside_of_cells() {
    let shell = Shell::new();
    // Rows of a text and of two texts.
    shell.write("s.npy", &structures(b"ab\0ok\0xy\0a\xff\0\\\0\0z\0\0"));
    let rows = "s,n\nab,\"[\"\"ok\"\", \"\"xy\"\"]\"\n";
    let said = shell.run("cat s.npy --format csv");
    let words = "error: row 1, column `s`: {\"$bin\": \"61ff\"} is no text\n  help: `--escape`";
    assert_eq!((said.code, said.stderr.starts_with(words)), (Some(1), true), "{}", said.stderr);
    let escaped = format!("{rows}a\\xff,\"[\"\"\\\\\\\\\"\", \"\"z\"\"]\"\n");
    shell.run("cat s.npy --format csv --escape").is(&escaped, "", 0);
    // A table of the same file, and the same rows of a slice, by condition and from stdin.
    assert_eq!(shell.run("convert s.npy t.csv").code, Some(1));
    shell.run("convert s.npy t.csv --escape -q").is("", "", 0);
    assert_eq!(shell.read("t.csv"), escaped.as_bytes());
    shell.run("cat s.npy@:1 --format csv").is(rows, "", 0);
    shell.run("head -n 1 s.npy --format csv").is(rows, "", 0);
    shell.pipe("cat -@:1 --format csv", &shell.read("s.npy")).is(rows, "", 0);
    shell.run("cat s.npy@:1").is("s   n\nab  [ok, xy]\n", "", 0);
    let line = "{\"s\": {\"$bin\": \"61ff\"}, \"n\": [\"\\\\\", \"z\"]}\n";
    shell.run("cat s.npy@1: --format jsonl").is(line, "", 0);
    // Cells that are arrays, or structures in structures.
    shell.write("n.npy", &npy_file("|S2", &[2, 2], b"ab\xff\0c\0d\0"));
    let said = shell.run("convert n.npy n.csv");
    assert!(said.stderr.contains("row 0, column `values`: {\"$bin\": \"ff\"}"), "{}", said.stderr);
    shell.run("convert n.npy n.csv --escape -q").is("", "", 0);
    let csv = "values\n\"[\"\"ab\"\", \"\"\\\\xff\"\"]\"\n\"[\"\"c\"\", \"\"d\"\"]\"\n";
    assert_eq!(String::from_utf8(shell.read("n.csv")).unwrap(), csv);
}

/// A `.npy` file of structures of a text of three bytes and two others.
fn structures(items: &[u8]) -> Vec<u8> {
    let rows = (items.len() / 9) as u64;
    let file = npy_file("X", &[rows], items);
    let (start, rest) = file.split_at(10);
    let (text, items) = rest.split_at(118);
    let descr = "[('s', '|S3'), ('n', '|S3', (2,))]";
    let text = String::from_utf8(text.to_vec()).unwrap().replace("'X'", descr);
    let text = format!("{:<117}\n", text.trim_end());
    [start, text.as_bytes(), items].concat()
}

#[test]
fn objects_that_are_no_text_are_told_from_text() {
    let shell = Shell::new();
    shell.write("list", b"ab\na\xff\nc\\\n");
    for name in ["list.b2frame", "list.blp"] {
        shell.run(&format!("pack list --varlen --bytes -o {name} -q")).is("", "", 0);
        let lines = "{\"$bin\": \"6162\"}\n{\"$bin\": \"61ff\"}\n{\"$bin\": \"635c\"}\n";
        shell.run(&format!("cat {name} --format jsonl")).is(lines, "", 0);
        for line in [format!("cat {name} --format csv"), format!("cat {name}@1 --format csv")] {
            let said = shell.run(&line);
            assert_eq!((said.code, said.text()), (Some(1), ""), "{line}");
            for part in ["error: object 1: ", "--escape"] {
                assert!(said.stderr.contains(part), "{line}: {}", said.stderr);
            }
        }
        let escaped = "ab\na\\xff\nc\\\\\n";
        shell.run(&format!("cat {name} --format csv --escape")).is(escaped, "", 0);
        shell.run(&format!("cat {name}@::2 --format csv")).is("ab\nc\\\n", "", 0);
    }
}

#[test]
fn half_floats_are_printed_with_the_fewest_digits() {
    let shell = Shell::new();
    let halves = [0x2400u16, 0x6c04, 0x0402, 0x3c00, 0x7bff];
    shell.write("halves", &halves.map(u16::to_le_bytes).concat());
    // The digits that NumPy prints: 0.01563, 4.11e+03, 6.115e-05, 1.0, 6.55e+04.
    shell.run("pack halves --dtype <f2 -o halves.b2nd -q").is("", "", 0);
    let lines = "0.01563\n4110.0\n6.115e-5\n1.0\n65500.0\n";
    shell.run("cat halves.b2nd --format csv").is(lines, "", 0);
    let list = "[0.01563, 4110.0, 6.115e-5, 1.0, 65500.0]\n";
    shell.run("cat halves.b2nd --json").is(list, "", 0);
}

#[test]
fn json_has_an_object_for_what_it_does_not_have() {
    let shell = Shell::new();
    let json = |dtype: &str, bytes: &[u8]| {
        shell.write("items", bytes);
        // The type has spaces.
        let mut packing = shell.command("pack items -o items.b2nd -f -q");
        let packed = packing.args(["--dtype", dtype]).status().unwrap();
        assert!(packed.success(), "{dtype}");
        let said = shell.run("cat items.b2nd --json").succeeds();
        // What is printed is read back.
        said.json();
        said.text().trim_end().to_owned()
    };
    let complex: Vec<u8> = [0.5f64, f64::INFINITY].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(json("<c16", &complex), r#"[{"$complex": [0.5, {"$float": "inf"}]}]"#);
    let long = "2a".repeat(16);
    assert_eq!(json("<f16", &[42; 16]), format!(r#"[{{"$bin": "{long}"}}]"#));
    let structure = "[('name', 'S2'), ('at', '<M8[s]'), ('pair', '<i2', (2,)), ('raw', 'V1')]";
    let mut row = b"\xff\0".to_vec();
    row.extend(86_400i64.to_le_bytes());
    row.extend([1, 0, 2, 0, 7]);
    let object = r#"[{"name": {"$bin": "ff"}, "at": "1970-01-02T00:00:00", "pair": [1, 2], "raw": {"$bin": "07"}}]"#;
    assert_eq!(json(structure, &row), object);
    let none: Vec<u8> = [i64::MIN, 90].iter().flat_map(|v| v.to_le_bytes()).collect();
    assert_eq!(json("<M8[D]", &none), r#"["NaT", "1970-04-01"]"#);
    assert_eq!(json("<m8[m]", &none), r#"["NaT", "90 minutes"]"#);
}

#[test]
fn json_of_an_array_without_items_has_its_shape() {
    let shell = Shell::new();
    for (shape, text) in [
        ("0", "[]"),
        ("2,0,3", "[[], []]"),
        ("1,2,0", "[[[], []]]"),
        ("0,2", "[]"),
        ("2,0", "[[], []]"),
    ] {
        let sides: Vec<u64> = shape.split(',').map(|side| side.parse().unwrap()).collect();
        shell.write("empty.npy", &npy(&sides));
        shell.run("pack empty.npy -f -q").is("", "", 0);
        for name in ["empty.npy", "empty.b2nd"] {
            shell.run(&format!("cat {name} --json")).is(&format!("{text}\n"), "", 0);
        }
    }
    shell.write("cube.npy", &npy(&[2, 3]));
    shell.run("cat cube.npy@:,1:1 --json").is("[[], []]\n", "", 0);
}

#[test]
fn json_of_arrays_has_nested_lists_and_objects_for_what_it_does_not_have() {
    let shell = Shell::new();
    shell.write("numbers", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    shell.run("pack numbers --dtype |u1 --shape 2,3,2 -o cube.b2nd -q").is("", "", 0);
    let nested = "[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]\n";
    shell.run("cat cube.b2nd --json").is(nested, "", 0);
    shell.run("cat cube.b2nd@1,:,0 --json").is("[7, 9, 11]\n", "", 0);
    shell.run("cat cube.b2nd@1,1,1 --json").is("10\n", "", 0);
    let halves: Vec<u8> =
        [f32::NAN, 0.1, f32::INFINITY].iter().flat_map(|v| v.to_le_bytes()).collect();
    shell.write("floats", &halves);
    shell.run("pack floats --dtype <f4 -o floats.b2nd -q").is("", "", 0);
    let floats = "[{\"$float\": \"nan\"}, 0.1, {\"$float\": \"inf\"}]\n";
    shell.run("cat floats.b2nd --json").is(floats, "", 0);
}

#[test]
fn digits_that_are_no_number_stay_text() {
    let shell = Shell::new();
    let csv = "zip,phone,amount\n01234,+49123,1\n10115,49,-0.5\n";
    shell.write("people.csv", csv.as_bytes());
    shell.run("convert people.csv people.bcolz -q").is("", "", 0);
    shell.run("cat people.bcolz --format csv").is(
        "zip,phone,amount\n01234,+49123,1.0\n10115,49,-0.5\n",
        "",
        0,
    );
    let first = "{\"zip\": \"01234\", \"phone\": \"+49123\", \"amount\": 1.0}\n";
    shell.run("head -n 1 people.bcolz --format jsonl").is(first, "", 0);
}

#[test]
fn a_name_with_a_slash_makes_tables_inside_of_each_other_only_on_request() {
    let shell = Shell::new();
    shell.write("sides.csv", b"id,left/x,left/y\n1,2,3\n");
    for made in ["sides.bcolz", "sides.blsk", "sides --to columns"] {
        let said = shell.run(&format!("convert sides.csv {made}"));
        assert_eq!(said.code, Some(2), "{made}: {}", said.stderr);
        assert!(
            said.stderr.contains("`left/x`") && said.stderr.contains("--nested"),
            "{}",
            said.stderr
        );
        assert_eq!(shell.names(), ["sides.csv"]);
    }
    for made in ["sides.bcolz", "sides.blsk", "sides --to columns"] {
        let name = made.split(' ').next().unwrap();
        shell.run(&format!("convert sides.csv {made} --nested -q")).is("", "", 0);
        shell.run(&format!("convert {name} back.csv --to csv -f -q")).is("", "", 0);
        assert_eq!(shell.read("back.csv"), b"id,left/x,left/y\n1,2,3\n", "{made}");
    }
}

#[test]
fn a_folder_of_columns_keeps_their_order() {
    let shell = Shell::new();
    shell.write("t.csv", b"zebra,ant,mole\n1,2,3\n");
    shell.run("convert t.csv t.bcolz -q").is("", "", 0);
    shell.run("convert t.bcolz cols --to columns -q").is("", "", 0);
    shell.run("convert cols back.bcolz -q").is("", "", 0);
    shell.run("cat back.bcolz --format csv").is("zebra,ant,mole\n1,2,3\n", "", 0);
    // Without the list they come by name; what the list does not have comes last.
    std::fs::remove_file(shell.path("cols/columns.json")).unwrap();
    shell.run("convert cols again.bcolz -q").is("", "", 0);
    shell.run("head -n 1 again.bcolz --format csv").is("ant,mole,zebra\n2,3,1\n", "", 0);
    shell.write("cols/columns.json", b"[\"../t\"]");
    assert_eq!(shell.run("convert cols no.bcolz").code, Some(3));
}
