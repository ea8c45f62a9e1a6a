//! `info`.

use crate::shell::{Shell, npy, readings};

#[test]
fn a_frame_is_told_on_a_screen() {
    let shell = Shell::new();
    shell.write("zeros", &[0; 80_000]);
    shell.run("pack zeros -t 8 -c lz4 -z 16K -m unit=K").succeeds();
    let stored = shell.read("zeros.b2frame").len();
    let expected = format!(
        "zeros.b2frame: contiguous frame (it says `b2frame` in its header)\n\
         \x20 data       80.0 kB, 10000 items of 8 bytes\n\
         \x20 stored     {stored} B, ratio {:.2}\n\
         \x20 chunks     5 of 16.4 kB\n\
         \x20 codec      lz4, level 5\n\
         \x20 filters    shuffle\n\
         \x20 checksums  sealed\n\
         \x20 attribute  unit = \"K\"\n",
        80_000.0 / f64::from(u32::try_from(stored).unwrap())
    );
    shell.run("info zeros.b2frame").is(&expected, "", 0);
}

#[test]
fn the_document_has_its_keys_for_every_format() {
    let shell = Shell::with_frame();
    shell.run("convert data.b2frame sparse --to sparse").succeeds();
    shell.run("convert data.b2frame one.chunk --to chunk").succeeds();
    shell.write("a.npy", &npy(&[3, 4]));
    shell.run("pack a.npy").succeeds();
    let cases = [
        ("data.b2frame", "b2frame", 800_000),
        ("sparse", "b2frame", 800_000),
        ("one.chunk", "chunk", 800_000),
        ("data.f8", "raw", 800_000),
        ("a.npy", "npy", 48),
        ("a.b2nd", "b2nd", 48),
    ];
    let keys = [
        "schema", "format", "nbytes", "cbytes", "typesize", "nchunks", "codec", "filters",
        "metadata",
    ];
    for (name, format, nbytes) in cases {
        let info = shell.run(&format!("info --json {name}")).succeeds().json();
        assert!(keys.iter().all(|key| info.get(key).is_some()), "{name}: {}", info.to_json());
        assert_eq!(info.get("format").unwrap().as_str(), Some(format));
        assert_eq!(info.get("nbytes").unwrap().as_u64(), Some(nbytes));
        let is_array = ["npy", "b2nd"].contains(&format);
        assert_eq!(info.get("shape").is_some_and(|shape| shape.to_json() == "[3, 4]"), is_array);
    }
}

#[test]
fn damaged_chunks_are_not_looked_at() {
    let shell = Shell::with_frame();
    let mut frame = shell.read("data.b2frame");
    let good = shell.run("info --json data.b2frame").succeeds().json();
    let cbytes = usize::try_from(good.get("cbytes").unwrap().as_u64().unwrap()).unwrap();
    // Everything between header and index is overwritten.
    frame[97..97 + cbytes].fill(0xff);
    shell.write("data.b2frame", &frame);
    let bad = shell.run("info --json data.b2frame").succeeds().json();
    assert_eq!(bad, good);
    assert_eq!(shell.run("verify data.b2frame").code, Some(3));
}

#[test]
fn a_million_chunks_are_told_from_the_index_alone() {
    use superchunk::{CompressOptions, Fill, FrameOptions, SuperChunk};
    let shell = Shell::new();
    let options = FrameOptions::new(CompressOptions::new(8)).with_chunk_size(8192);
    let mut frame = SuperChunk::create(shell.path("big.b2frame"), &options).unwrap();
    frame.append_fill(Fill::Zeros, 10 << 27).unwrap();
    frame.close().unwrap();
    let info = shell.run("info --json big.b2frame --limit-mem 80M").succeeds().json();
    assert_eq!(info.get("nbytes").unwrap().as_u64(), Some(10 << 30));
    assert_eq!(info.get("nchunks").unwrap().as_u64(), Some(10 << 17));
}

/// The system counts what a process reads, and keeps the numbers until its parent has asked for them.
#[cfg(target_os = "linux")]
#[test]
fn few_bytes_of_a_large_file_are_read() {
    use std::process::Stdio;
    let shell = Shell::new();
    let noise = superchunk_testkit::rng::Rng::new(1).bytes(40 << 20);
    shell.pipe("pack - -o noise.b2frame -c lz4 -z 64K", &noise).succeeds();
    let bytes_read = |line: &str| -> u64 {
        let child = shell.command(line).stdout(Stdio::null()).spawn().unwrap();
        let of_process =
            |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
        while !of_process("stat").contains(") Z ") {
            std::thread::yield_now();
        }
        let counts = of_process("io");
        let line = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
        let count = line.unwrap().parse().unwrap();
        assert!({ child }.wait().unwrap().success());
        count
    };
    let other = bytes_read("caps");
    let info = bytes_read("info noise.b2frame");
    assert!(info < other + 64 * 1024, "{info} bytes read, {other} without the file");
    assert!(bytes_read("verify noise.b2frame") > 40 << 20);
}

#[test]
fn stdin_and_several_files_can_be_asked() {
    let shell = Shell::with_frame();
    let said = shell.pipe("info -", &shell.read("data.b2frame")).succeeds();
    assert!(said.text().starts_with("stdin: contiguous frame"));
    let two = shell.run("info data.b2frame data.f8").succeeds();
    assert_eq!(two.text().lines().filter(|line| !line.starts_with(' ')).count(), 2);
    let chunks = shell.run("info --chunks data.b2frame").succeeds();
    assert_eq!(chunks.text().lines().filter(|line| line.ends_with("zstd, shuffle")).count(), 13);
    assert_eq!(readings(100_000).len().div_ceil(65_536), 13);
}

#[test]
fn what_is_missing_is_told_with_its_name() {
    let said = Shell::new().run("info nothing.b2frame");
    said.fails(
        5,
        "error: cannot open for reading: No such file or directory (os error 2)\n  --> nothing.b2frame\n",
    );
    let folder = Shell::new();
    let said = folder.run("info .");
    said.fails(
        4,
        "error: the folder `.` is of no known format: it has no `chunks.b2frame`, `__rootdirs__`, \
         `meta/sizes`, `meta/nrows` or `columns.json`\n  help: \
         `superchunk ls .` and `superchunk verify -r .` look at what is in it\n",
    );
}
