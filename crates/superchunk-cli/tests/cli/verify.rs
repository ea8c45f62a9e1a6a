//! `verify`.

use crate::shell::Shell;

#[test]
fn good_frames_are_good() {
    let shell = Shell::with_frame();
    let said = shell.run("verify data.b2frame");
    said.is("data.b2frame: good (chunks checked: 13 by checksum, 0 by decoding)\n", "", 0);
    shell.run("verify -q data.b2frame").is("", "", 0);
    shell.run("pack data.f8 -o plain.b2frame --no-checksums").succeeds();
    let plain = shell.run("verify plain.b2frame").succeeds();
    assert!(plain.text().contains("0 by checksum, 1 by decoding"), "{}", plain.text());
}

#[test]
fn damage_is_found_where_it_is() {
    let shell = Shell::with_frame();
    let index = shell.run("inspect data.b2frame index --json").succeeds().text().to_owned();
    let after = index.split("\"chunk\": 4, \"place\": \"").nth(1).unwrap();
    let start: usize = after.split('"').next().unwrap().parse().unwrap();
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
}

#[test]
fn several_files_are_all_looked_at_and_plain_bytes_cannot_be() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame one.chunk").succeeds();
    let said = shell.run("verify data.b2frame one.chunk").succeeds();
    assert_eq!(said.text().lines().count(), 2);
    shell
        .run("verify data.f8")
        .fails(4, "error: `data.f8` cannot be checked: it has the marks of no known format\n");
}
