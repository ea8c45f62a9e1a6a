//! `inspect`.

use superchunk_testkit::entry_widths;

use crate::shell::Shell;

#[test]
fn header_fields_stand_where_the_format_says() {
    let shell = Shell::with_frame();
    let len = shell.read("data.b2frame").len();
    let said = shell.run("inspect data.b2frame header").succeeds();
    let has = |offset: &str, field: &str, value: &str| {
        let found = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.starts_with(&[offset, field]) && words[2..].join(" ") == value
        };
        assert!(said.text().lines().any(found), "{field}:\n{}", said.text());
    };
    has("2", "magic", "b2frame\\x00");
    has("11", "header_len", "97");
    has("16", "frame_len", &len.to_string());
    has("27", "codec", "zstd, level 5");
    has("30", "nbytes", "800000");
    has("48", "typesize", "8");
    has("58", "chunksize", "65536");
}

#[test]
fn bytes_are_annotated() {
    let shell = Shell::with_frame();
    let said = shell.run("inspect data.b2frame --bytes").succeeds();
    let line = "00000030  00 00 00 08                                      typesize         8";
    assert!(said.text().lines().any(|found| found == line), "{}", said.text());
    let trailer = shell.run("inspect data.b2frame trailer --bytes").succeeds();
    assert!(trailer.text().contains("fingerprint_type 3"), "{}", trailer.text());
    assert!(trailer.text().contains("unit"), "{}", trailer.text());
}

#[test]
fn the_index_and_each_chunk_tell_the_same_place() {
    let shell = Shell::with_frame();
    let frame = shell.read("data.b2frame");
    let index = shell.run("inspect data.b2frame index --json").succeeds().json();
    assert!(index.to_json().contains("\"chunk\": 12, "), "{}", index.to_json());
    let chunk = shell.run("inspect data.b2frame chunk 12 --json").succeeds().json();
    let fields = chunk.get("fields").unwrap().to_json();
    let nbytes = 800_000 - 12 * 65_536;
    assert!(fields.contains(&format!("\"value\": \"{nbytes}\"")), "{fields}");
    let place = index.to_json();
    let start: usize =
        place.rsplit("\"place\": \"").next().unwrap().split('"').next().unwrap().parse().unwrap();
    assert_eq!(frame[start..start + 4], [5, 1, frame[start + 2], 8]);
    assert!(place.contains(&format!("\"place\": \"{start}\"")));
}

#[test]
fn sparse_frames_and_lone_chunks_have_parts_too() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame sparse --to sparse").succeeds();
    let index = shell.run("inspect sparse index").succeeds();
    assert!(index.text().contains("0000000C.chunk"), "{}", index.text());
    assert!(shell.run("inspect sparse chunk 3").succeeds().text().contains("zstd, 32-byte header"));
    shell.run("convert data.b2frame one.chunk").succeeds();
    assert!(shell.run("inspect one.chunk").succeeds().text().contains("800000"));
}

#[test]
fn what_has_no_such_part_is_told() {
    let shell = Shell::with_frame();
    let said = shell.run("inspect data.b2frame chunk 13");
    said.fails(2, "error: there is no chunk 13: the number of chunks is 13\n");
    assert_eq!(shell.run("inspect data.f8 header").code, Some(4));
    assert_eq!(shell.run("inspect - header").code, Some(2));
}

#[test]
fn a_frame_that_cannot_be_opened_can_be_looked_at() {
    let shell = Shell::with_frame();
    let mut frame = shell.read("data.b2frame");
    // A length past the end of the file.
    frame[16] = 0x7f;
    shell.write("data.b2frame", &frame);
    assert_eq!(shell.run("info data.b2frame").code, Some(3));
    assert!(shell.run("inspect data.b2frame").succeeds().text().contains("frame_len"));
}

#[test]
fn negative_numbers_count_from_the_last_chunk() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame data.blp").succeeds();
    for name in ["data.b2frame", "data.blp"] {
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        let count: i64 = info.get("nchunks").unwrap().to_json().parse().unwrap();
        for back in [1, count] {
            let said = shell.run(&format!("inspect {name} chunk -{back}")).succeeds();
            let same = shell.run(&format!("inspect {name} chunk {}", count - back)).succeeds();
            assert_eq!(said.text(), same.text(), "{name}, chunk -{back}");
        }
        let number = count + 1;
        let words = format!("there is no chunk -{number}: the number of chunks is {count}");
        shell
            .run(&format!("inspect {name} chunk -{number}"))
            .fails(2, &format!("error: {words}\n"));
    }
}

#[test]
fn an_index_of_another_width_says_so() {
    let shell = Shell::new();
    shell.write("zeros", &[0; 80_000]);
    shell.run("pack zeros -t 8 -z 16K --no-checksums").succeeds();
    let frame = shell.read("zeros.b2frame");
    let usual = shell.run("inspect zeros.b2frame index").succeeds();
    assert!(!usual.text().contains("bits"), "{}", usual.text());
    assert!(!shell.run("info zeros.b2frame").succeeds().text().contains("index"));
    for (code, bits) in [(0, 32), (3, 256)] {
        shell.write("other.b2frame", &entry_widths::with_width(&frame, code));
        let info = shell.run("info other.b2frame").succeeds();
        let words = format!("  index      entries of {bits} bits\n");
        assert!(info.text().contains(&words), "{}", info.text());
        let document = shell.run("info --json other.b2frame").succeeds().json();
        let found = document.get("index_entry_bits").and_then(superchunk::Value::as_u64);
        assert_eq!(found, Some(bits));
        assert!(shell.run("unpack other.b2frame -o -").succeeds().stdout == [0; 80_000]);
    }
    shell.write("zeros.b2frame", &entry_widths::with_width(&frame, 2));

    let header = shell.run("inspect zeros.b2frame header").succeeds();
    assert!(header.text().contains("version 2, index entries of 128 bits"), "{}", header.text());
    let index = shell.run("inspect zeros.b2frame index").succeeds();
    assert!(index.text().contains(", entries of 128 bits\n"), "{}", index.text());
    let info = shell.run("info zeros.b2frame").succeeds();
    assert!(info.text().contains("  index      entries of 128 bits\n"), "{}", info.text());
    for command in ["info --json zeros.b2frame", "inspect --json zeros.b2frame index"] {
        let document = shell.run(command).succeeds().json();
        let bits = document.get("index_entry_bits").and_then(superchunk::Value::as_u64);
        assert_eq!(bits, Some(128), "{command}");
    }
}
