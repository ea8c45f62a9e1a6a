//! `repack`.

use crate::shell::{Shell, npy, readings};

#[test]
fn dead_space_goes() {
    let shell = Shell::with_frame();
    // Each attribute leaves an index and a trailer behind.
    for number in 0..20 {
        shell.run(&format!("attr set data.b2frame note{} {number}", number % 3)).succeeds();
    }
    let before = shell.read("data.b2frame").len();
    shell.run("repack data.b2frame").succeeds();
    assert!(shell.read("data.b2frame").len() <= before);
    assert!(shell.run("unpack data.b2frame -o -").stdout == readings(100_000));
}

#[test]
fn other_parameters_make_other_chunks_of_the_same_data() {
    let shell = Shell::with_frame();
    shell.run("repack data.b2frame -c blosclz -l 9 --filters bitshuffle").succeeds();
    let info = shell.run("info --json data.b2frame").succeeds().json();
    assert_eq!(info.get("codec").unwrap().as_str(), Some("blosclz"));
    assert_eq!(info.get("metadata").unwrap().to_json(), "{\"unit\": \"K\"}");
    assert_eq!(shell.run("diff data.b2frame data.f8").code, Some(0));
    assert_eq!(shell.names(), ["data.b2frame", "data.f8"]);
    shell.run("repack data.b2frame -o small.b2frame -9 -c zstd").succeeds();
    assert_eq!(shell.run("diff small.b2frame data.f8").code, Some(0));
}

#[test]
fn folders_and_arrays_stay_what_they_are() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame sparse --to sparse").succeeds();
    shell.run("repack sparse -c lz4").succeeds();
    assert!(shell.path("sparse").is_dir());
    assert_eq!(shell.run("diff sparse data.f8").code, Some(0));
    shell.write("a.npy", &npy(&[9, 9]));
    shell.run("pack a.npy").succeeds();
    shell.run("repack a.b2nd -c lz4").succeeds();
    assert!(shell.run("unpack a.b2nd -o -").stdout == npy(&[9, 9]));
}

#[test]
fn what_is_no_frame_and_what_is_there_are_left_alone() {
    let shell = Shell::with_frame();
    assert_eq!(shell.run("repack data.f8").code, Some(4));
    shell.write("there.b2frame", b"something else");
    assert_eq!(shell.run("repack data.b2frame -o there.b2frame").code, Some(7));
    assert!(shell.read("there.b2frame") == b"something else");
    assert_eq!(shell.run("repack data.b2frame --sparse").code, Some(2));
    assert!(shell.read("data.f8") == readings(100_000));
}
