//! `verify`.

use superchunk::Value;
use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::peers::PeerKind;

use crate::shell::{Said, Shell, npy};

/// The counts of a level: verified, unverified, corrupt.
fn level(json: &Value, name: &str) -> Option<[u64; 3]> {
    let levels = json.get("levels").unwrap().as_slice().unwrap();
    let found = levels.iter().find(|level| level.get("level").unwrap().as_str() == Some(name))?;
    let count = |key| found.get(key).unwrap().as_u64().unwrap();
    let counts = [count("verified"), count("unverified"), count("corrupt")];
    assert_eq!(count("checked"), counts.iter().sum::<u64>());
    Some(counts)
}

/// The findings: level, verdict and words of each.
fn findings(said: &Said) -> Vec<(String, String, String)> {
    let json = said.json();
    let text = |finding: &Value, key| finding.get(key).unwrap().as_str().unwrap().to_owned();
    let findings = json.get("findings").unwrap().as_slice().unwrap().iter();
    findings
        .map(|found| (text(found, "level"), text(found, "verdict"), text(found, "what")))
        .collect()
}

/// Level and verdict of the only finding.
fn only(said: &Said) -> (String, String) {
    let found = findings(said);
    assert_eq!(found.len(), 1, "{found:?}");
    (found[0].0.clone(), found[0].1.clone())
}

fn pair(one: &str, other: &str) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

#[test]
fn good_frames_are_good() {
    let shell = Shell::with_frame();
    let said = shell.run("verify data.b2frame");
    let report = "data.b2frame: good (chunks checked: 13 by checksum, 0 by decoding)\n  \
                  structure  2 verified\n  index      13 verified\n  checksums  14 verified\n  \
                  decode     13 verified\n  files      nothing to look at\n";
    said.is(report, "", 0);
    shell.run("verify -q data.b2frame").is("", "", 0);
    shell.run("pack data.f8 -o plain.b2frame --no-checksums").succeeds();
    let plain = shell.run("verify plain.b2frame").succeeds();
    assert!(plain.text().contains("0 by checksum, 1 by decoding"), "{}", plain.text());
    assert!(plain.text().contains("unverified: nothing vouches for header"), "{}", plain.text());
}

#[test]
fn every_level_takes_in_those_before_it_and_no_other() {
    let shell = Shell::with_frame();
    let names = ["structure", "index", "checksums", "decode", "files"];
    for (deepest, given) in ["structure", "index", "checksums", "decode", "all"].iter().enumerate()
    {
        let said = shell.run(&format!("verify --json --level {given} data.b2frame")).succeeds();
        for (at, name) in names.iter().enumerate() {
            assert_eq!(level(&said.json(), name).is_some(), at <= deepest, "{given}: {name}");
        }
    }
    // A chunk with another byte: only its checksum and its decoding tell.
    let mut frame = shell.read("data.b2frame");
    let at = chunk_start(&shell, "data.b2frame", 4) + 100;
    frame[at] ^= 1;
    shell.write("data.b2frame", &frame);
    shell.run("verify --level index data.b2frame").succeeds();
    let said = shell.run("verify --json --level checksums data.b2frame");
    assert_eq!((said.code, only(&said)), (Some(3), pair("checksums", "corrupt")));
    assert_eq!(level(&said.json(), "checksums"), Some([13, 0, 1]));
}

fn chunk_start(shell: &Shell, file: &str, chunk: usize) -> usize {
    let index = shell.run(&format!("inspect {file} index --json")).succeeds().text().to_owned();
    let after = index.split(&format!("\"chunk\": {chunk}, \"place\": \"")).nth(1).unwrap();
    after.split('"').next().unwrap().parse().unwrap()
}

#[test]
fn damage_is_found_where_it_is() {
    let shell = Shell::with_frame();
    let start = chunk_start(&shell, "data.b2frame", 4);
    let mut frame = shell.read("data.b2frame");
    frame[start + 100] ^= 1;
    shell.write("data.b2frame", &frame);
    let said = shell.run("verify data.b2frame");
    assert_eq!(said.code, Some(3));
    assert!(said.text().starts_with("damaged: data.b2frame, chunk 4: "), "{}", said.text());
    assert!(said.text().contains("1 part is damaged (chunks checked: 12 by checksum"));
    let json = shell.run("verify --json data.b2frame");
    assert_eq!(json.code, Some(3));
    assert_eq!(json.json().get("good").unwrap().as_bool(), Some(false));
    assert!(json.json().get("damaged").unwrap().to_json().starts_with("[{\"chunk\": 4, "));
}

#[test]
fn a_sample_is_spread_and_says_that_it_is_one() {
    let shell = Shell::with_frame();
    let said = shell.run("verify --sample 3 data.b2frame").succeeds();
    let line = "data.b2frame: good (a sample of 3 of 13 chunks: 3 by checksum, 0 by decoding)";
    assert!(said.text().lines().any(|found| found == line), "{}", said.text());
    let json = shell.run("verify --json --sample 20% data.b2frame").succeeds().json();
    assert_eq!(json.get("sampled").unwrap().as_u64(), Some(3));
    assert_eq!(json.get("chunks").unwrap().as_u64(), Some(13));
    assert_eq!(level(&json, "decode"), Some([3, 0, 0]));
    // Chunks 0, 6 and 12 are looked at: damage of another one is not found, that of these is.
    let good = shell.read("data.b2frame");
    for (chunk, code) in [(5, 0), (6, 3), (12, 3)] {
        let mut frame = good.clone();
        frame[chunk_start(&shell, "data.b2frame", chunk) + 100] ^= 1;
        shell.write("damaged.b2frame", &frame);
        assert_eq!(shell.run("verify --sample 3 damaged.b2frame").code, Some(code), "{chunk}");
    }
    assert_eq!(shell.run("verify --sample 0 data.b2frame").code, Some(2));
}

#[test]
fn a_damaged_header_does_not_keep_the_chunks_from_being_looked_at() {
    let shell = Shell::with_frame();
    let mut frame = shell.read("data.b2frame");
    // The block size for new chunks, which reading does not need.
    frame[56] ^= 1;
    shell.write("data.b2frame", &frame);
    assert_eq!(shell.run("info data.b2frame").code, Some(3));
    let said = shell.run("verify data.b2frame");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.text().contains("do not have the fingerprint"), "{}", said.text());
    assert!(
        said.text().contains("1 part is damaged (chunks checked: 0 by checksum, 13 by decoding)")
    );
    shell.write("cut.b2frame", &frame[..frame.len() - 40]);
    let said = shell.run("verify --json cut.b2frame");
    assert_eq!((said.code, only(&said)), (Some(3), pair("structure", "corrupt")));
}

#[test]
fn what_c_blosc2_has_changed_is_unverified_and_not_damaged() {
    let shell = Shell::with_frame();
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let handle = peer.open(&shell.path("data.b2frame")).unwrap();
    peer.set_vlmeta_raw(handle, "note", b"\xa4mine").unwrap();
    peer.close(handle).unwrap();
    let said = shell.run("verify --json data.b2frame").succeeds();
    assert_eq!(only(&said), pair("checksums", "unverified"));
    assert_eq!(level(&said.json(), "checksums"), Some([0, 14, 0]));
    assert_eq!(level(&said.json(), "decode"), Some([13, 0, 0]));
}

#[test]
fn files_of_a_sparse_frame_are_compared_with_its_index() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame data.dir --to sparse").succeeds();
    let said = shell.run("verify --json data.dir").succeeds();
    assert_eq!(level(&said.json(), "files"), Some([13, 0, 0]));
    shell.write("data.dir/000000FF.chunk", b"left by someone");
    let said = shell.run("verify --json data.dir").succeeds();
    assert_eq!(only(&said), pair("files", "stray"));
    std::fs::remove_file(shell.path("data.dir/00000007.chunk")).unwrap();
    let said = shell.run("verify --json --sample 1 data.dir");
    assert_eq!(said.code, Some(3));
    let found = findings(&said);
    assert!(found.iter().any(|found| found.1 == "corrupt" && found.2.contains("00000007.chunk")));
}

#[test]
fn a_shape_that_does_not_fit_the_chunks_is_found() {
    let shell = Shell::new();
    shell.write("cube.npy", &npy(&[20, 30]));
    shell.run("convert cube.npy cube.b2nd").succeeds();
    let said = shell.run("verify --json cube.b2nd").succeeds();
    assert_eq!(level(&said.json(), "files"), Some([1, 0, 0]));
    let mut frame = shell.read("cube.b2nd");
    let at = frame.windows(4).position(|window| window == b"b2nd").unwrap();
    let layer = frame.windows(9).skip(at).position(|w| w == [0xd3, 0, 0, 0, 0, 0, 0, 0, 20]);
    frame[at + layer.unwrap() + 7] = 1;
    shell.write("cube.b2nd", &frame);
    let said = shell.run("verify --json cube.b2nd");
    let found = findings(&said);
    assert_eq!(said.code, Some(3), "{found:?}");
    // Who changed the shape is not known; that it does not fit is.
    assert!(found.iter().any(|f| f.0 == "checksums" && f.1 == "unverified"), "{found:?}");
    assert!(found.iter().any(|f| f.0 == "files" && f.1 == "corrupt"), "{found:?}");
}

/// A table of two columns, four rows in chunks of two, by the real bcolz.
fn with_table() -> Shell {
    let shell = Shell::new();
    let a: Vec<u8> = (0..4u32).flat_map(u32::to_le_bytes).collect();
    let b: Vec<u8> = (0..4u64).flat_map(u64::to_le_bytes).collect();
    let columns: [(&str, &str, &[u8]); 2] = [("a", "<u4", &a), ("b", "<u8", &b)];
    LegacyPeer::spawn().bcolz_make_table(&shell.path("t.bcolz"), 2, &columns).unwrap();
    shell
}

#[test]
fn columns_and_files_of_a_table_are_compared() {
    let shell = with_table();
    let said = shell.run("verify --json t.bcolz").succeeds();
    let chunks = said.json().get("chunks").unwrap().as_u64().unwrap();
    assert_eq!(level(&said.json(), "decode"), Some([chunks, 0, 0]));
    assert_eq!(level(&said.json(), "files").unwrap()[2], 0);
    let one = shell.run("verify --json t.bcolz::b").succeeds().json();
    assert_eq!(one.get("chunks").unwrap().as_u64(), Some(chunks / 2));
    assert_eq!(shell.run("verify t.bcolz::c").code, Some(2));

    std::fs::create_dir(shell.path("t.bcolz/forgotten")).unwrap();
    shell.write("t.bcolz/a/data/__99.blp", b"");
    let said = shell.run("verify --json t.bcolz").succeeds();
    let found = findings(&said);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|found| found.0 == "files" && found.1 == "stray"), "{found:?}");

    let sizes = String::from_utf8(shell.read("t.bcolz/b/meta/sizes")).unwrap();
    shell.write("t.bcolz/b/meta/sizes", sizes.replace("[4]", "[3]").as_bytes());
    let said = shell.run("verify --json t.bcolz");
    assert_eq!(said.code, Some(3));
    let found = findings(&said);
    let uneven = |found: &&(String, String, String)| found.1 == "corrupt" && found.0 == "files";
    assert_eq!(found.iter().filter(uneven).count(), 1, "{found:?}");
    // The columns themselves are good.
    assert!(level(&said.json(), "decode").unwrap()[0] >= 2);
    shell.write("t.bcolz/b/meta/sizes", sizes.as_bytes());
    std::fs::remove_dir_all(shell.path("t.bcolz/b")).unwrap();
    let said = shell.run("verify --json t.bcolz");
    assert_eq!(said.code, Some(3));
    assert!(findings(&said).iter().any(|found| found.2.contains("b: the folder")));
}

#[test]
fn a_missing_chunk_file_is_found_even_by_a_sample() {
    let shell = with_table();
    std::fs::remove_file(shell.path("t.bcolz/a/data/__1.blp")).unwrap();
    let said = shell.run("verify --json --sample 1 t.bcolz");
    assert_eq!((said.code, only(&said)), (Some(3), pair("files", "corrupt")));
}

#[test]
fn every_kind_of_container_can_be_looked_at() {
    let shell = Shell::with_frame();
    shell.write("lines", "one\ntwo\nthree\n".repeat(100).as_bytes());
    for line in [
        "convert data.b2frame one.chunk",
        "convert data.b2frame data.blp",
        "pack lines --varlen -o lines.b2frame",
        "pack lines --varlen -o lines.blp",
    ] {
        shell.run(line).succeeds();
    }
    shell.write("cube.npy", &npy(&[20, 30]));
    shell.run("convert cube.npy rows.blsk").succeeds();
    shell.run("convert cube.npy rows.bcolz").succeeds();
    for name in [
        "one.chunk",
        "data.blp",
        "lines.b2frame",
        "lines.blp",
        "cube.npy",
        "rows.blsk",
        "rows.bcolz",
    ] {
        let json = shell.run(&format!("verify --json {name}")).succeeds().json();
        assert_eq!(json.get("good").unwrap().as_bool(), Some(true), "{name}");
        let counted = level(&json, if name == "cube.npy" { "structure" } else { "decode" });
        assert!(counted.unwrap()[0] > 0, "{name}: {}", json.to_json());
    }
    let json = shell.run("verify --json lines.b2frame").succeeds().json();
    assert!(level(&json, "files").unwrap()[0] >= 2, "objects are counted: {}", json.to_json());
    let json = shell.run("verify --json data.blp").succeeds().json();
    assert_eq!(json.get("checksums").unwrap().as_str(), Some("adler32"));
    let frame = shell.read("data.b2frame");
    let piped = shell.pipe("verify -", &frame).succeeds();
    assert!(piped.text().contains("13 by checksum"), "{}", piped.text());
}

#[test]
fn a_codec_that_nobody_knows_is_no_damage() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame one.chunk").succeeds();
    let mut chunk = shell.read("one.chunk");
    chunk[2] = (chunk[2] & 0x1f) | 0xc0; // A codec of the user, by its number.
    chunk[22] = 200;
    shell.write("one.chunk", &chunk);
    let said = shell.run("verify one.chunk");
    assert_eq!(said.code, Some(4), "{}{}", said.text(), said.stderr);
}

#[test]
fn several_files_are_all_looked_at_and_plain_bytes_cannot_be() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame one.chunk").succeeds();
    let said = shell.run("verify -v data.b2frame one.chunk").succeeds();
    assert_eq!(said.text().lines().filter(|line| line.contains(": good (")).count(), 2);
    shell.run("verify data.f8").fails(
        4,
        "error: `data.f8` is not something that can be verified: it has the marks of no known \
             format\n  help: `superchunk pack data.f8 -o OUT.b2frame` makes a frame of it\n",
    );
}

#[test]
fn a_bar_is_shown_when_it_is_asked_for() {
    let shell = Shell::with_frame();
    let said = shell.run("verify --progress always data.b2frame").succeeds();
    assert!(
        said.stderr.contains("verifying") && said.stderr.contains(" of 800.0 kB"),
        "{}",
        said.stderr
    );
    shell.run("verify -q --progress never data.b2frame").is("", "", 0);
}

#[test]
fn of_several_only_what_is_not_good_is_shown() {
    let shell = Shell::with_frame();
    std::fs::create_dir_all(shell.path("all/deep")).unwrap();
    let frame = shell.read("data.b2frame");
    shell.write("all/good.b2frame", &frame);
    shell.write("all/deep/good.b2frame", &frame);
    shell.run("pack data.f8 -t 8 --no-checksums -o all/deep/plain.b2frame -q").is("", "", 0);
    let many = "3 looked for: 2 good, 1 unverified, 0 damaged, 0 not looked at\n";
    shell.run("verify -r all").is(many, "", 0);
    let [one, other] = ["all/good.b2frame", "all/deep/good.b2frame"];
    let two = "2 looked for: 2 good, 0 unverified, 0 damaged, 0 not looked at\n";
    shell.run(&format!("verify {one} {other}")).is(two, "", 0);
    let told = shell.run(&format!("verify -v {one} {other}")).succeeds();
    assert!(told.text().starts_with("all/good.b2frame: good"), "{}", told.text());
    let mut damaged = frame.clone();
    damaged[frame.len() / 2] ^= 0x55;
    shell.write("all/deep/bad.b2frame", &damaged);
    shell.write("all/notes.txt", b"no container");
    let said = shell.run("verify -r all");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let lines: Vec<&str> = said.text().lines().collect();
    // What -r only found and is not ours is left out.
    let sum = "4 looked for: 2 good, 1 unverified, 1 damaged, 0 not looked at";
    assert_eq!(lines.last(), Some(&sum), "{}", said.text());
    assert!(!said.text().contains("good.b2frame"), "{}", said.text());
    assert!(lines.iter().any(|line| line.starts_with("all/deep/bad.b2frame: 1 part is damaged")));
    assert!(!said.text().contains("notes.txt"), "{}", said.text());
    let json = shell.run("verify -r all --json").json();
    assert_eq!(json.get("damaged").unwrap().as_u64(), Some(1));
    assert_eq!(json.get("files").unwrap().as_slice().unwrap().len(), 4);
    let said = shell.run("verify all");
    assert_eq!(said.code, Some(4));
    assert!(said.stderr.contains("-r"), "{}", said.stderr);
}

#[test]
fn a_folder_among_several_does_not_hide_the_others() {
    let shell = Shell::with_frame();
    std::fs::create_dir_all(shell.path("all/empty")).unwrap();
    let frame = shell.read("data.b2frame");
    shell.write("all/good.b2frame", &frame);
    shell.write("all/cut.b2frame", &frame[..frame.len() / 2]);
    let said = shell.run("verify all/cut.b2frame all/empty all/good.b2frame");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let lines: Vec<&str> = said.text().lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("all/cut.b2frame: 1 part is damaged")));
    let empty = "all/empty: not looked at: the folder `all/empty` is of no known format";
    assert!(lines.iter().any(|line| line.starts_with(empty)), "{}", said.text());
    let sum = "3 looked for: 1 good, 0 unverified, 1 damaged, 1 not looked at";
    assert_eq!(lines.last(), Some(&sum));
    assert_eq!(shell.run("verify all/empty all/good.b2frame").code, Some(4));
    // With -r it is looked into.
    let said = shell.run("verify -r all/empty all/good.b2frame");
    said.is("1 looked for: 1 good, 0 unverified, 0 damaged, 0 not looked at\n", "", 0);
}

#[test]
fn files_of_other_programs_are_left_out_unless_they_are_named_or_called_like_ours() {
    let shell = Shell::with_frame();
    std::fs::create_dir(shell.path("all")).unwrap();
    shell.write("all/good.b2frame", &shell.read("data.b2frame"));
    shell.write("all/README", b"what is here");
    shell.write("all/.hidden", b"not looked for");
    let good = "1 looked for: 1 good, 0 unverified, 0 damaged, 0 not looked at\n";
    shell.run("verify -r all").is(good, "", 0);
    let said = shell.run("verify -r all/README all/good.b2frame");
    assert_eq!(said.code, Some(4));
    assert!(said.text().starts_with("all/README: not looked at: "), "{}", said.text());
    // A frame without its first bytes is none by its content.
    let mut frame = shell.read("data.b2frame");
    frame[..80].fill(0);
    shell.write("all/broken.b2frame", &frame);
    let said = shell.run("verify -r all");
    assert_eq!(said.code, Some(4));
    assert!(said.text().starts_with("all/broken.b2frame: not looked at: "), "{}", said.text());
}
