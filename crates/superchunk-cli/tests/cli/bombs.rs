//! Small files that claim to be large; pipes and devices in the place of files.

use superchunk::{CompressOptions, Fill, FrameOptions, SuperChunk};

use crate::shell::Shell;

/// A frame of a few hundred bytes that claims to hold four terabytes of zeros.
fn with_bomb() -> Shell {
    let shell = Shell::new();
    let options = FrameOptions::new(CompressOptions::new(8)).with_chunk_size(1 << 30);
    let mut frame = SuperChunk::create(shell.path("bomb.b2frame"), &options).unwrap();
    frame.fill(Fill::Zeros, 1 << 39).unwrap();
    frame.close().unwrap();
    shell
}

#[test]
fn an_output_out_of_all_proportion_is_refused_and_the_option_is_named() {
    let shell = with_bomb();
    let before = shell.names();
    for line in [
        "unpack bomb.b2frame -o out",
        "unpack bomb.b2frame@0:200000000000 -o out",
        "convert bomb.b2frame out.raw",
        "convert bomb.b2frame out.blp",
        "diff bomb.b2frame bomb.b2frame",
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(6), "{line}: {}", said.stderr);
        assert!(said.stderr.contains("--limit-output"), "{line}: {}", said.stderr);
        assert_eq!(shell.names(), before, "{line}");
    }
    // A part of it is as large as it says, and chunks move as they are.
    shell.run("unpack bomb.b2frame@0:1000 -o part").succeeds();
    assert_eq!(shell.read("part"), [0; 8000]);
    shell.run("convert bomb.b2frame copy.b2frame").succeeds();
    assert!(shell.read("copy.b2frame").len() < 10_000);
}

#[test]
fn a_limit_of_the_output_that_was_asked_for_counts_for_every_file() {
    let shell = Shell::with_frame();
    let said = shell.run("unpack data.b2frame -o out --limit-output 1000");
    assert_eq!(said.code, Some(6), "{}", said.stderr);
    shell.run("unpack data.b2frame -o out --limit-output 1M").succeeds();
    assert_eq!(shell.read("out"), shell.read("data.f8"));
}

#[test]
#[cfg(unix)]
fn salvage_keeps_to_the_memory_and_waits_for_no_pipe() {
    let shell = Shell::with_frame();
    let said = shell.run("salvage data.b2frame -o out --limit-mem 10K");
    assert_eq!(said.code, Some(6), "{}", said.stderr);
    assert!(shell.sh("mkfifo pipe").code == Some(0));
    for name in ["pipe", "/dev/zero"] {
        let said = shell.run(&format!("salvage {name} -o out"));
        assert_eq!(said.code, Some(2), "{name}: {}", said.stderr);
    }
    assert!(!shell.path("out").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_list_of_a_million_chunks_takes_little_memory() {
    let shell = Shell::new();
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(16);
    let mut frame = SuperChunk::create(shell.path("many.b2frame"), &options).unwrap();
    frame.fill(Fill::Zeros, 16 * 1_000_000).unwrap();
    frame.close().unwrap();
    for line in ["info many.b2frame --chunks", "inspect many.b2frame index"] {
        for json in ["", " --json"] {
            // The index itself has 8 MB, and is held a few times while it is read.
            let said = shell.sh(&format!(
                "(ulimit -v 204800; superchunk -T 1 {line}{json} | tail -c 200 | wc -c)"
            ));
            assert_eq!((said.text().trim(), said.stderr.as_str()), ("200", ""), "{line}{json}");
        }
    }
}
