//! `salvage`.

use std::path::Path;

use superchunk::{CompressOptions, FrameOptions, SuperChunk};
use superchunk_testkit::legacy_peer::LegacyPeer;

use crate::shell::{Shell, readings};

#[test]
fn a_good_frame_comes_back_as_it_is() {
    let shell = Shell::with_frame();
    let said = shell.run("salvage data.b2frame -o saved.b2frame");
    let expected =
        "saved.b2frame: whole, 13 chunks (13 verified, 0 decoded, 0 assumed), order from index\n";
    said.is(expected, "", 0);
    assert!(shell.run("unpack saved.b2frame -o -").stdout == readings(100_000));
    let info = shell.run("info --json saved.b2frame").succeeds().json();
    assert_eq!(info.get("metadata").unwrap().to_json(), "{\"unit\": \"K\"}");
    assert_eq!(shell.run("salvage data.b2frame -o saved.b2frame").code, Some(7));
    shell.run("salvage data.b2frame -o saved.b2frame -f -q").is("", "", 0);
}

#[test]
fn without_a_header_all_chunks_come_back() {
    let shell = Shell::with_frame();
    let mut frame = shell.read("data.b2frame");
    frame[..80].fill(0);
    shell.write("broken.b2frame", &frame);
    let said = shell.run("salvage broken.b2frame -o saved.b2frame --json");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let report = said.json();
    assert_eq!(report.get("whole").unwrap().as_bool(), Some(false));
    assert_eq!(report.get("order").unwrap().as_str(), Some("found index"));
    assert!(shell.run("unpack saved.b2frame -o -").stdout == readings(100_000));
    assert!(shell.read("broken.b2frame") == frame, "nothing is changed in place");
}

#[test]
fn a_damaged_chunk_is_named_and_the_others_keep_their_places() {
    let shell = Shell::with_frame();
    let mut frame = shell.read("data.b2frame");
    let middle = frame.len() / 2;
    frame[middle..middle + 20].fill(0x55);
    shell.write("data.b2frame", &frame);
    let said = shell.run("salvage data.b2frame -o saved.b2frame");
    assert_eq!(said.code, Some(3));
    assert!(said.text().starts_with("lost: chunk "), "{}", said.text());
    assert!(said.text().contains("12 chunks (12 verified"), "{}", said.text());
    let saved = shell.run("unpack saved.b2frame -o -").stdout;
    let (data, item) = (readings(100_000), 8);
    assert_eq!(saved.len(), data.len());
    let differing = saved.chunks(item).zip(data.chunks(item)).filter(|(a, b)| a != b).count();
    assert!(differing > 0 && differing <= 100_000 / 12, "{differing} items differ");
}

#[test]
fn an_array_of_cells_without_checksums_comes_back_and_every_chunk_is_listed() {
    for (filters, checksums) in
        [("ndcell:4", ""), ("ndmean:2", ""), ("ndcell:4", " --no-checksums")]
    {
        let shell = Shell::new();
        shell.write("data.f8", &readings(40_000));
        let array = "--dtype <f8 --shape 40,50,20 --chunks 20,25,10 --blocks 10,10,10";
        let line = format!("pack data.f8 -o data.b2nd {array} --filters {filters}{checksums}");
        shell.run(&line).succeeds();
        let said = shell.run("salvage data.b2nd -o saved.b2nd").succeeds();
        let counts = match checksums {
            "" => "whole, 8 chunks (8 verified, 0 decoded, 0 assumed)",
            _ => "whole, 8 chunks (0 verified, 8 decoded, 0 assumed)",
        };
        assert!(said.text().contains(counts), "{}", said.text());
        let listed = shell.run("attr get saved.b2nd salvaged");
        assert_eq!(listed.code == Some(0), !checksums.is_empty(), "{}", listed.text());
        assert!(checksums.is_empty() || listed.text().contains("chunks 0 to 7: decoded"));
        let [old, new] = ["data", "saved"].map(|name| format!("unpack {name}.b2nd --raw -o -"));
        assert!(shell.run(&old).succeeds().stdout == shell.run(&new).succeeds().stdout);
        // Without its header nothing tells the shape of a block.
        let mut frame = shell.read("data.b2nd");
        frame[..100].fill(0);
        shell.write("broken.b2nd", &frame);
        let said = shell.run("salvage broken.b2nd -o none.b2nd");
        assert_eq!(said.code, Some(1), "{}{}", said.text(), said.stderr);
        assert!(said.stderr.contains("its filters need the shape of a block"), "{}", said.stderr);
        assert!(!shell.path("none.b2nd").exists());
    }
}

#[test]
fn what_is_no_frame_at_all_gives_nothing() {
    let shell = Shell::with_frame();
    let said = shell.run("salvage data.f8 -o saved.b2frame");
    // 3 would mean that something was saved.
    said.fails(
        4,
        "error: `data.f8` is not something that can be salvaged: it has the marks of no known format\n  \
         help: `superchunk pack data.f8 -o OUT.b2frame` makes a frame of it\n",
    );
    // What is called a frame was one.
    std::fs::copy(shell.path("data.f8"), shell.path("lost.b2frame")).unwrap();
    let said = shell.run("salvage lost.b2frame -o saved.b2frame");
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("nothing in it can be read as a chunk"), "{}", said.stderr);
    assert_eq!(shell.names(), ["data.b2frame", "data.f8", "lost.b2frame"]);
}

#[test]
fn a_pack_without_a_header_comes_back_as_a_pack() {
    let shell = Shell::with_frame();
    shell.run("pack data.f8 -t 8 -z 64K -o data.blp").succeeds();
    let mut pack = shell.read("data.blp");
    pack[..32].fill(0);
    shell.write("broken.blp", &pack);
    let said = shell.run("salvage broken.blp -o saved.blp");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.text().contains("13 chunks (13 verified"), "{}", said.text());
    assert!(shell.run("unpack saved.blp -o -").stdout == readings(100_000));
    assert!(shell.read("broken.blp") == pack, "nothing is changed in place");
}

#[test]
fn a_table_without_a_length_comes_back_and_a_lost_file_is_named() {
    let shell = Shell::new();
    let rows: String = (0..500).map(|row| format!("{row},{}.5\n", row * 3)).collect();
    let csv = format!("number,price\n{rows}");
    shell.write("quotes.csv", csv.as_bytes());
    shell.run("convert quotes.csv quotes.bcolz -q").is("", "", 0);
    std::fs::remove_file(shell.path("quotes.bcolz/price/meta/sizes")).unwrap();
    let said = shell.run("salvage quotes.bcolz -o saved.bcolz");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let lost = "lost: column price: file meta/sizes";
    assert!(said.text().starts_with(lost), "{}", said.text());
    shell.run("convert saved.bcolz back.csv -q").is("", "", 0);
    assert!(shell.read("back.csv") == csv.as_bytes());
    std::fs::remove_file(shell.path("quotes.bcolz/number/data/__0.blp")).unwrap();
    let said = shell.run("salvage quotes.bcolz -o saved.bcolz -f --json");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let report = said.json();
    let holes = report.get("holes").unwrap().as_slice().unwrap();
    let text = |hole: &superchunk::Value, key: &str| hole.get(key).unwrap().to_json();
    let lost = holes.iter().filter(|hole| hole.get("chunk").unwrap().as_u64() == Some(0));
    let lost: Vec<String> = lost.map(|hole| text(hole, "column") + &text(hole, "source")).collect();
    assert_eq!(lost, ["\"number\"\"file data/__0.blp\""]);
}

#[test]
fn a_lost_python_object_is_named_and_is_none() {
    let shell = Shell::new();
    shell.write("notes.csv", b"number\n1\n2\n3\n");
    shell.run("convert notes.csv notes.bcolz -q").is("", "", 0);
    let path = shell.path("notes.bcolz");
    LegacyPeer::spawn().bcolz_add_objects(&path, "note", r#"["a", "b", "c"]"#).unwrap();
    std::fs::remove_file(path.join("note/data/__1.blp")).unwrap();
    let said = shell.run("salvage notes.bcolz -o saved.bcolz");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.text().starts_with("lost: column note: chunk 1 is None: "), "{}", said.text());
    shell.run("convert saved.bcolz back.csv -q").is("", "", 0);
    assert_eq!(shell.read("back.csv"), b"number,note\n1,a\n2,null\n3,c\n");
}

#[test]
fn a_blsk_tree_comes_back_as_one_and_every_hole_is_named() {
    let shell = Shell::new();
    let rows: String = (0..500).map(|row| format!("{row},{}.5\n", row * 3)).collect();
    let csv = format!("number,price\n{rows}");
    shell.write("quotes.csv", csv.as_bytes());
    shell.run("convert quotes.csv quotes.blsk -q").is("", "", 0);
    let said = shell.run("salvage quotes.blsk -o whole.blsk");
    assert_eq!(said.code, Some(0), "{}{}", said.text(), said.stderr);
    // Without the number of rows and the table of types the chunks tell.
    std::fs::remove_file(shell.path("quotes.blsk/meta/nrows")).unwrap();
    let said = shell.run("salvage quotes.blsk -o saved.blsk");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.text().starts_with("lost: file meta/nrows: "), "{}", said.text());
    shell.run("convert saved.blsk back.csv -q").is("", "", 0);
    assert!(shell.read("back.csv") == csv.as_bytes());
    std::fs::remove_file(shell.path("quotes.blsk/data/price/__1__.bin")).unwrap();
    let said = shell.run("salvage quotes.blsk -o saved.blsk -f");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let lost = "lost: column price: chunk 0 reads as zeros: the file of the chunk is missing";
    assert!(said.text().contains(lost), "{}", said.text());
    shell.run("verify saved.blsk").succeeds();
}

#[test]
fn a_chunk_of_a_codec_that_is_not_known_is_lost_and_the_rest_verifies() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/vectors/hostile");
    let unknown = std::fs::read(folder.join("c17_codec_snappy.chunk")).unwrap();
    for checksums in [true, false] {
        let shell = Shell::new();
        let options = FrameOptions::new(CompressOptions::new(4)).with_variable_chunks();
        let path = shell.path("broken.b2frame");
        let mut frame =
            SuperChunk::create(path, &options.clone().with_checksums(checksums)).unwrap();
        frame.append(&[7; 100]).unwrap();
        frame.commit().unwrap();
        frame.append_chunk(&unknown).unwrap();
        frame.append(&[9; 100]).unwrap();
        frame.close().unwrap();
        assert_eq!(shell.run("verify broken.b2frame").code, Some(4));
        let said = shell.run("salvage broken.b2frame -o saved.b2frame");
        assert_eq!(said.code, Some(3), "{}{}", said.text(), said.stderr);
        let words = "this build cannot decode it: chunk flags: codec format 2";
        assert!(said.text().contains(words), "{}", said.text());
        shell.run("verify saved.b2frame").succeeds();
        let data = shell.run("unpack saved.b2frame -o -").succeeds().stdout;
        assert!(data.starts_with(&[7; 100]) && data.ends_with(&[9; 100]));
        // Only such a chunk: nothing is left to save.
        let path = shell.path("nothing.b2frame");
        let mut frame = SuperChunk::create(path, &options.with_checksums(checksums)).unwrap();
        frame.append_chunk(&unknown).unwrap();
        frame.close().unwrap();
        let said = shell.run("salvage nothing.b2frame -o none.b2frame");
        assert_eq!(said.code, Some(4), "{}{}", said.text(), said.stderr);
        assert!(!shell.path("none.b2frame").exists());
    }
}

#[test]
fn what_is_empty_and_intact_is_whole() {
    let shell = Shell::new();
    shell.write("empty", b"");
    shell.write("t.csv", b"a,b\n");
    let array = "--dtype <f8 --shape 0,3";
    for (made, saved) in [
        ("pack empty -t 8 -m unit=K -o a.b2frame", "b.b2frame"),
        ("pack empty -t 8 --no-checksums -o a.b2frame", "b.b2frame"),
        ("pack empty -t 8 -o a.sparse", "b.sparse"),
        ("pack empty -t 8 --no-checksums -o a.sparse", "b.sparse"),
        (&format!("pack empty {array} -o a.b2nd"), "b.b2nd"),
        (&format!("pack empty {array} -o a.sparse"), "b.sparse"),
        ("pack empty --varlen -o a.b2frame", "b.b2frame"),
        ("pack empty --varlen -o a.blp", "b.blp"),
        ("convert t.csv a --to columns", "b"),
        ("convert t.csv a.bcolz", "b.bcolz"),
        ("convert t.csv a.blsk", "b.blsk"),
    ] {
        shell.run(&format!("{made} -f")).succeeds();
        let name = saved.replacen('b', "a", 1);
        let said = shell.run(&format!("salvage {name} -o {saved} -f")).succeeds();
        assert!(said.text().contains(": whole, 0 chunks"), "{made}: {}", said.text());
        shell.run(&format!("diff --meta {name} {saved}")).is("", "", 0);
        shell.run(&format!("verify {saved} -q")).is("", "", 0);
    }
}

#[test]
fn an_empty_frame_is_not_believed_where_there_is_room_for_chunks() {
    let shell = Shell::with_frame();
    shell.write("empty", b"");
    shell.run("pack empty -t 8 --no-checksums -o none.b2frame").succeeds();
    // The header of an empty frame before the chunks of another one.
    let mut frame = shell.read("data.b2frame");
    let empty = shell.read("none.b2frame");
    frame[..60].copy_from_slice(&empty[..60]);
    shell.write("broken.b2frame", &frame);
    let said = shell.run("salvage broken.b2frame -o saved.b2frame");
    assert_eq!(said.code, Some(3), "{}{}", said.text(), said.stderr);
    assert!(shell.run("unpack saved.b2frame -o -").stdout == readings(100_000));
}
