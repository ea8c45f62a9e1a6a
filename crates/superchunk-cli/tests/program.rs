//! The program as a shell sees it: output, exit codes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn superchunk(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_superchunk")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn the_demo_checks_every_codec_with_every_filter() {
    let demo = superchunk(&["demo"]);
    assert!(demo.status.success());
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for filters in ["none", "shuffle", "bitshuffle", "delta+shuffle", "shuffle+bytedelta"] {
            let row = |line: &&str| line.split_whitespace().take(2).eq([codec, filters]);
            assert_eq!(stdout(&demo).lines().filter(row).count(), 3, "{codec} {filters}");
        }
    }
    assert!(stdout(&demo).ends_with("All chunks came back byte for byte.\n"));
}

#[test]
fn help_and_version_are_data_and_a_wrong_command_is_a_usage_error() {
    for arguments in [&["help"][..], &["--help"], &[]] {
        let help = superchunk(arguments);
        assert!(help.status.success() && stdout(&help).contains("demo"));
    }
    assert!(stdout(&superchunk(&["--version"])).starts_with("superchunk 0."));
    let wrong = superchunk(&["frobnicate"]);
    assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("frobnicate"));
}
