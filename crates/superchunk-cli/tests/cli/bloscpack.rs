//! Every command on Bloscpack files.

use superchunk_testkit::legacy_peer::{LegacyPeer, PackParams};

use crate::shell::{Shell, npy, readings};

/// Packs `data.f8` to `data.blp`, 100 000 readings in chunks of 64 KiB.
fn with_pack() -> Shell {
    let shell = Shell::new();
    shell.write("data.f8", &readings(100_000));
    shell.run("pack data.f8 -t 8 -z 64K -o data.blp -m unit=K --checksum crc32").succeeds();
    shell
}

#[test]
fn a_file_is_packed_told_about_and_unpacked() {
    let shell = with_pack();
    let info = shell.run("info data.blp").succeeds();
    let lines: Vec<&str> = info.text().lines().collect();
    assert_eq!(
        lines[0],
        "data.blp: Bloscpack file, version 3 (it begins with `blpk` and a version)"
    );
    assert_eq!(lines[1], "  data       800.0 kB, 100000 items of 8 bytes");
    assert_eq!(lines[3], "  chunks     13 of 65.5 kB");
    assert_eq!(lines[4..6], ["  codec      blosclz", "  filters    shuffle"]);
    assert_eq!(lines[6..], ["  checksums  crc32", "  attribute  unit = \"K\""]);
    let json = shell.run("info --json data.blp").succeeds().json();
    assert_eq!(json.get("format").unwrap().as_str(), Some("blp"));
    assert_eq!(json.get("nchunks").unwrap().as_u64(), Some(13));
    assert_eq!(json.get("metadata").unwrap().to_json(), "{\"unit\": \"K\"}");
    let listed = shell.run("ls").succeeds();
    assert!(listed.text().contains("100000 x 8 B  data.blp\n"), "{}", listed.text());
    std::fs::rename(shell.path("data.f8"), shell.path("kept")).unwrap();
    shell.run("unpack data.blp").fails(0, "data.blp -> data: 800.0 kB\n");
    assert!(shell.read("data") == readings(100_000));
}

#[test]
fn any_part_is_printed() {
    let shell = Shell::new();
    let numbers: Vec<u8> = (0..50_000_u32).flat_map(u32::to_le_bytes).collect();
    shell.write("n", &numbers);
    shell.run("pack n --dtype <u4 -o n.blp -z 64K").succeeds();
    shell.run("cat n.blp@16383:16386").is("       0: 16383 16384 16385\n", "", 0);
    shell.run("cat n.blp@-2: --json").is("[49998, 49999]\n", "", 0);
    shell.run("cat n.blp@::25000 --format csv").is("0\n25000\n", "", 0);
    shell.run("head -n 2 n.blp --format jsonl").is("0\n1\n", "", 0);
    let part = shell.run("unpack n.blp@10:20 -o -").succeeds().stdout;
    assert!(part == numbers[40..80]);
}

#[test]
fn the_stored_parts_are_shown() {
    let shell = Shell::new();
    shell.write("n", &[7; 3000]);
    shell.run("pack n -t 4 -o n.blp -z 1K --checksum none").succeeds();
    // 32 bytes of header, 3 + 30 positions of 8 bytes.
    let header = shell.run("inspect n.blp").succeeds();
    for line in ["     0  magic           blpk", "     5  options         offsets"] {
        assert!(header.text().lines().any(|found| found == line), "{}", header.text());
    }
    assert!(header.text().ends_with("    24  max_app_chunks  30\n"), "{}", header.text());
    let index = shell.run("inspect n.blp index").succeeds();
    assert!(index.text().starts_with("index at byte 32\nchunk  place  nbytes  cbytes\n"));
    assert!(index.text().contains("\n    0    296    1024 "), "{}", index.text());
    assert_eq!(index.text().lines().count(), 5);
    let chunk = shell.run("inspect n.blp chunk 2 --json").succeeds().json();
    assert!(chunk.to_json().contains("{\"field\": \"nbytes\", "), "{}", chunk.to_json());
    assert_eq!(shell.run("inspect n.blp chunk 3").code, Some(2));
    assert_eq!(shell.run("inspect n.blp trailer").code, Some(4));
    shell.run("pack n -o plain.blp --no-offsets --checksum md5").succeeds();
    let plain = shell.run("inspect plain.blp index").succeeds();
    assert!(plain.text().starts_with("no index\n"), "{}", plain.text());
    let digest = shell.run("inspect plain.blp chunk 0").succeeds();
    assert!(digest.text().contains("  digest     md5 0x"), "{}", digest.text());
}

#[test]
fn metadata_is_read_and_changed_key_by_key() {
    let shell = with_pack();
    shell.run("attr ls data.blp").is("unit = \"K\"\n", "", 0);
    shell.run_with("attr set data.blp range", "[0, 500.5]").succeeds();
    shell.run("attr get data.blp range").is("[0, 500.5]\n", "", 0);
    shell.run("attr rm data.blp unit").succeeds();
    shell.run("attr ls data.blp").is("range = [0, 500.5]\n", "", 0);
    let gone = shell.run("attr rm data.blp unit");
    gone.fails(
        1,
        "error: `data.blp` has no attribute `unit`\n  help: `superchunk attr ls` lists them\n",
    );
    shell.run("verify data.blp").succeeds();
    shell.run("diff data.blp data.f8").is("", "", 0);
}

#[test]
fn appended_data_is_there_and_odd_ends_are_refused_by_arrays() {
    let shell = with_pack();
    shell.run("append data.blp data.f8").fails(0, "data.blp: 800.0 kB appended, 1.60 MB in all\n");
    shell.run("append data.blp data.blp").succeeds();
    assert!(shell.run("unpack data.blp -o -").stdout == readings(100_000).repeat(4));
    shell.run("verify data.blp").succeeds();
    shell.write("a.npy", &npy(&[4, 3]));
    shell.write("wrong.npy", &npy(&[3, 2]));
    shell.run("pack a.npy --to blp").succeeds();
    shell.run("append a.blp a.npy").fails(0, "a.blp: 48 B appended, 96 B in all\n");
    shell.run("cat a.blp@3:5").is("       0: 9 10 11\n       3: 0 1 2\n", "", 0);
    shell
        .run("append a.blp wrong.npy")
        .fails(2, "error: <i4 of shape [3, 2] does not go behind <i4 of shape [8, 3]\n");
    shell.write("odd", &[0; 13]);
    assert_eq!(shell.run("append a.blp odd").code, Some(2));
    assert_eq!(shell.run("info --json a.blp").json().get("shape").unwrap().to_json(), "[8, 3]");
}

#[test]
fn formats_become_each_other() {
    let shell = with_pack();
    shell.run("convert data.blp one.b2frame").succeeds();
    shell.run("convert one.b2frame two.blp -c zstd --checksum sha1").succeeds();
    shell.run("convert two.blp three.raw").succeeds();
    shell.run("repack two.blp -c lz4").succeeds();
    for name in ["one.b2frame", "two.blp", "three.raw"] {
        shell.run(&format!("diff data.f8 {name}")).is("", "", 0);
    }
    shell.run("attr get two.blp unit").is("\"K\"\n", "", 0);
    let info = shell.run("info --json two.blp").json();
    assert_eq!(info.get("codec").unwrap().as_str(), Some("lz4"));
    assert_eq!(info.get("checksums").unwrap().as_str(), Some("sha1"));
    let refused = shell.run("convert data.blp x.b2frame --checksum md5");
    refused.fails(
        2,
        "error: --checksum, --no-offsets and --reserve are for Bloscpack files\n  help: make one with --to \
         blp, or an output called .blp\n",
    );
    assert_eq!(shell.run("pack data.f8 -o x.blp --sparse").code, Some(2));
    assert!(!shell.names().iter().any(|name| name.starts_with("x.")));
}

#[test]
fn arrays_keep_shape_and_type() {
    let shell = Shell::new();
    shell.write("a.npy", &npy(&[4, 5, 6]));
    shell.run("pack a.npy -o a.blp").succeeds();
    let info = shell.run("info --json a.blp").succeeds().json();
    assert_eq!(info.get("shape").unwrap().to_json(), "[4, 5, 6]");
    assert_eq!(info.get("dtype").unwrap().as_str(), Some("<i4"));
    shell.run("cat a.blp@-1,0,::-2 --format csv").is("95\n93\n91\n", "", 0);
    shell.run("unpack a.blp -o back.npy").succeeds();
    assert!(shell.read("back.npy") == shell.read("a.npy"));
    shell.run("convert a.blp a.b2nd --chunks 2,5,6 --blocks 1,5,6").succeeds();
    shell.run("convert a.b2nd again.blp").succeeds();
    for name in ["a.b2nd", "again.blp", "a.npy"] {
        shell.run(&format!("diff a.blp {name}")).is("", "", 0);
    }
    shell.write("short.npy", &shell.read("a.npy")[..300]);
    let short = shell.run("pack short.npy -o short.blp");
    assert_eq!(short.code, Some(3), "{}", short.stderr);
    assert!(!shell.names().contains(&"short.blp".to_owned()));
}

#[test]
fn damage_is_found_where_it_is() {
    let shell = with_pack();
    let index = shell.run("inspect data.blp index --json").succeeds().text().to_owned();
    let after = index.split("\"chunk\": 4, \"place\": \"").nth(1).unwrap();
    let start: usize = after.split('"').next().unwrap().parse().unwrap();
    let good = shell.read("data.blp");
    let mut file = good.clone();
    file[start + 100] ^= 1;
    shell.write("data.blp", &file);
    let said = shell.run("verify data.blp");
    assert_eq!(said.code, Some(3));
    assert!(said.text().starts_with("damaged: data.blp, chunk 4: "), "{}", said.text());
    assert!(said.text().contains("1 part is damaged (chunks checked: 12 by checksum"));
    // Other chunks are still read.
    shell.run("cat data.blp@:2 --dtype <f8").succeeds();
    assert_eq!(shell.run("unpack data.blp -o -").code, Some(3));
    let mut file = good.clone();
    file[12] ^= 1; // The header lies about the last chunk.
    shell.write("data.blp", &file);
    assert_eq!(shell.run("info data.blp").code, Some(3));
    let said = shell.run("verify data.blp");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.text().contains("1 part is damaged (chunks checked: 13 by"), "{}", said.text());
    shell.run("inspect data.blp header").succeeds();
    for len in [0, 3, 4, 20, 40, 5000] {
        shell.write("cut.blp", &good[..len]);
        let said = shell.run("verify cut.blp");
        assert!(matches!(said.code, Some(3 | 4)), "{len}: {:?} {}", said.code, said.stderr);
        assert!(!said.stderr.contains("panicked"), "{}", said.stderr);
    }
}

#[test]
fn old_versions_are_brought_to_the_present() {
    let shell = Shell::new();
    // A file of version 2 by hand: 32 bytes of header, no offsets, no digest, one stored chunk.
    let mut file = b"blpk\x02\0\0\x01".to_vec();
    file.extend([5, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    file.extend([0; 8]);
    file.extend([2, 1, 2, 1, 5, 0, 0, 0, 5, 0, 0, 0, 21, 0, 0, 0]);
    file.extend(b"hello");
    shell.write("old.blp", &file);
    shell.run("cat old.blp --format raw").is("hello", "", 0);
    let refused = shell.run("attr set old.blp a 1");
    assert_eq!(refused.code, Some(4));
    let help = "  help: `superchunk repack` brings old versions to version 3\n";
    assert!(refused.stderr.ends_with(help), "{}", refused.stderr);
    shell.run("repack old.blp").succeeds();
    shell.run("attr set old.blp a 1").is("", "", 0);
    let info = shell.run("info --json old.blp").succeeds().json();
    assert_eq!(info.get("storage").unwrap().as_str(), Some("version 3"));
    shell.run("cat old.blp --format raw").is("hello", "", 0);
}

#[test]
fn a_pipe_gets_a_file_that_can_be_read() {
    let shell = Shell::new();
    let data = readings(300_000);
    let packed = shell.pipe("pack -t 8 --to blp", &data).succeeds().stdout;
    // The number of chunks is not known when the header is written.
    assert_eq!(packed[16..24], [0xff; 8]);
    assert!(shell.pipe("-d", &packed).succeeds().stdout == data);
    let info = shell.pipe("info --json -", &packed).succeeds().json();
    assert_eq!(info.get("nbytes").unwrap().as_u64(), Some(2_400_000));
}

#[test]
fn bloscpack_and_we_read_each_other() {
    let shell = Shell::with_frame();
    let mut peer = LegacyPeer::spawn();
    shell.write("a.npy", &npy(&[40, 5]));
    shell.run("convert data.b2frame ours.blp --checksum sha512 -z 100000").succeeds();
    shell.run("pack a.npy -o array.blp").succeeds();
    assert!(peer.unpack_bytes(&shell.path("ours.blp")).unwrap() == readings(100_000));
    assert_eq!(peer.unpack_metadata(&shell.path("ours.blp")).unwrap()["unit"], "K");
    let array = peer.unpack_array(&shell.path("array.blp")).unwrap();
    assert!(array.bytes == shell.read("a.npy")[128..]);
    peer.append_bytes(&shell.path("ours.blp"), &readings(10), &PackParams::default()).unwrap();
    let both = [readings(100_000), readings(10)].concat();
    assert!(shell.run("unpack ours.blp -o -").succeeds().stdout == both);
    peer.pack_bytes(&shell.path("theirs.blp"), &both, &PackParams::default()).unwrap();
    shell.run("append theirs.blp data.b2frame").succeeds();
    let all = [both, readings(100_000)].concat();
    assert!(shell.run("unpack theirs.blp -o -").succeeds().stdout == all);
    assert!(peer.unpack_bytes(&shell.path("theirs.blp")).unwrap() == all);
}
