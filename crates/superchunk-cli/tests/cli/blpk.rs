//! `blpk`: bloscpack's own commands, compared with bloscpack itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use superchunk::Value;
use superchunk_testkit::legacy_peer::LegacyPeer;

use crate::shell::{PROGRAM, Said, Shell, readings};

const METADATA: &[u8] = br#"{"b": [1, 2.5, null, true], "a": {"x": "it's"}}"#;

fn blpk(shell: &Shell, line: &str) -> Said {
    shell.run(&format!("blpk {line}"))
}

/// What the real one says to these command lines. One process runs them all: Python starts slowly.
fn real(shell: &Shell, lines: &[&str]) -> Vec<Said> {
    let fallback =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv/legacy/bin/python");
    let python =
        std::env::var_os("SUPERCHUNK_PEER_PYTHON_LEGACY").map_or_else(fallback, PathBuf::from);
    let script = "import collections, collections.abc, contextlib, io, json, sys\n\
                  collections.MutableMapping = collections.abc.MutableMapping\n\
                  from bloscpack.cli import main\n\
                  answers = []\n\
                  for line in sys.argv[1:]:\n\
                  \x20   sys.argv, said, code = ['blpk'] + line.split(), io.StringIO(), 0\n\
                  \x20   try:\n\
                  \x20       with contextlib.redirect_stdout(said):\n\
                  \x20           main()\n\
                  \x20   except SystemExit as end:\n\
                  \x20       code = end.code\n\
                  \x20   answers.append([said.getvalue(), code])\n\
                  print(json.dumps(answers))\n";
    let mut command = Command::new(python);
    command.args(["-c", script]).args(lines).current_dir(shell.path(""));
    let all = Said::from(command.output().unwrap()).succeeds();
    let answers = all.json();
    let said = |answer: &Value| {
        let parts = answer.as_slice().unwrap();
        let stdout = parts[0].as_str().unwrap().as_bytes().to_vec();
        let code = parts[1].as_i64().map(|code| i32::try_from(code).unwrap());
        Said { stdout, stderr: String::new(), code }
    };
    answers.as_slice().unwrap().iter().map(said).collect()
}

/// The real one does as it is told.
fn real_does(shell: &Shell, lines: &[&str]) {
    for (said, line) in real(shell, lines).iter().zip(lines) {
        assert_eq!(said.code, Some(0), "{line}: {}", said.text());
    }
}

fn with_data() -> Shell {
    let shell = Shell::new();
    shell.write("data", &readings(400_000));
    shell.write("meta.json", METADATA);
    shell
}

#[test]
fn bloscpack_unpacks_what_was_compressed() {
    let shell = with_data();
    let mut peer = LegacyPeer::spawn();
    let choices = [
        "",
        "-t 4 -l 9 -c zstd",
        "-s -c lz4hc -z 300K",
        "-c zlib -l 1 -k sha384 -z max",
        "-k None -o -m meta.json",
        "--typesize 2 --clevel 0 --no-shuffle --codec lz4 --chunk-size 1.5M --checksum md5",
    ];
    for choice in choices {
        blpk(&shell, &format!("-f c {choice} data")).is("", "", 0);
        assert!(
            peer.unpack_bytes(&shell.path("data.blp")).unwrap() == readings(400_000),
            "{choice}"
        );
        let said = blpk(&shell, "-f decompress data.blp out").succeeds();
        assert!(shell.read("out") == readings(400_000), "{choice}");
        let shown = "blpk: Metadata:\nblpk: {'a': {'x': \"it's\"}, 'b': [1, 2.5, None, True]}\n";
        assert_eq!(said.text(), if choice.contains("-m") { shown } else { "" });
    }
}

#[test]
fn info_says_what_bloscpack_says() {
    let shell = with_data();
    blpk(&shell, "c -k crc32 -m meta.json data c.blp").succeeds();
    let lines = [
        "c -m meta.json -k sha1 -z 512K data a.blp",
        "c -o -s -t 3 data b.blp",
        "i a.blp",
        "info b.blp",
        "i c.blp",
        "-f d a.blp out",
    ];
    let expected = real(&shell, &lines);
    for (line, expected) in lines.iter().zip(&expected).skip(2) {
        assert!(!expected.text().is_empty(), "{line}");
        blpk(&shell, line).is(expected.text(), "", 0);
    }
}

#[test]
fn both_append_to_both() {
    let shell = with_data();
    blpk(&shell, "c data ours.blp").succeeds();
    real_does(&shell, &["c data theirs.blp"]);
    for name in ["ours.blp", "theirs.blp"] {
        blpk(&shell, &format!("a -c zstd -l 3 {name} data")).is("", "", 0);
    }
    let chunks = shell.run("info --chunks ours.blp").succeeds();
    assert!(chunks.text().contains("blosclz, shuffle\n"), "{}", chunks.text());
    assert!(chunks.text().contains("zstd, shuffle\n"), "{}", chunks.text());
    real_does(&shell, &["a ours.blp data", "a theirs.blp data"]);
    for name in ["ours.blp", "theirs.blp"] {
        blpk(&shell, &format!("append -m meta.json {name} data")).is("", "", 0);
    }
    real_does(&shell, &["d ours.blp ours", "d theirs.blp theirs"]);
    for name in ["ours", "theirs"] {
        assert!(shell.read(name) == readings(400_000).repeat(4), "{name}");
        shell.run(&format!("attr get {name}.blp b")).is("[1, 2.5, null, true]\n", "", 0);
    }
    shell.write("other", &shell.read("ours.blp"));
    let refused = blpk(&shell, "a other data");
    refused.is("blpk: error: original file 'other' does not end with '.blp'\n", "", 1);
    blpk(&shell, "a -e other data").is("", "", 0);
}

#[test]
fn errors_are_lines_on_stdout_like_those_of_bloscpack() {
    let shell = with_data();
    blpk(&shell, "c data").succeeds();
    let lines = [
        "c data",
        "d data.blp",
        "d data",
        "d -e data.blp",
        "c missing",
        "d missing.blp",
        "i missing",
        "a missing.blp data",
        "a data.blp missing",
        "-n 0 c data",
        "-n 257 c data",
    ];
    for (line, theirs) in lines.iter().zip(real(&shell, &lines)) {
        assert_eq!(theirs.code, Some(1), "{line}");
        blpk(&shell, line).is(theirs.text(), "", 1);
    }
    let senseless =
        ["c -l 10 data", "c -c nope data", "c -k nope data", "x", "-v -d i data.blp", "c"];
    for (line, theirs) in senseless.iter().zip(real(&shell, &senseless)) {
        assert_eq!((blpk(&shell, line).code, theirs.code), (Some(2), Some(2)), "{line}");
    }
    let none = blpk(&shell, "");
    assert_eq!(none.code, Some(2));
    assert!(none.text().ends_with("blpk: error: too few arguments\n"), "{}", none.text());
    let odd = blpk(&shell, "i data");
    assert_eq!((odd.code, odd.stderr.as_str()), (Some(1), ""));
    let last = "blpk: error: This might not be a bloscpack compressed file.\n";
    assert!(
        odd.text().starts_with("blpk: error: ") && odd.text().ends_with(last),
        "{}",
        odd.text()
    );
    for size in ["0", "5Q", "3G"] {
        let said = blpk(&shell, &format!("c -z {size} data x.blp"));
        assert_eq!(said.code, Some(1), "{size}");
        assert!(said.text().starts_with("blpk: error: -z "), "{}", said.text());
    }
    assert!(!shell.names().contains(&"x.blp".to_owned()));
}

#[test]
fn a_damaged_file_leaves_no_output() {
    let shell = with_data();
    blpk(&shell, "c data").succeeds();
    let mut file = shell.read("data.blp");
    let middle = file.len() / 2;
    file[middle] ^= 1;
    shell.write("bad.blp", &file);
    let said = blpk(&shell, "d bad.blp");
    assert_eq!(said.code, Some(1), "{}", said.text());
    assert!(said.text().starts_with("blpk: error: bad.blp, chunk "), "{}", said.text());
    shell.write("cut.blp", &file[..middle]);
    assert_eq!(blpk(&shell, "d cut.blp").code, Some(1));
    assert!(!shell.names().iter().any(|name| name == "bad" || name == "cut"));
}

#[test]
fn verbose_runs_tell_what_they_do() {
    let shell = with_data();
    let said = blpk(&shell, "-v -n 1 c data").succeeds();
    let expected = "blpk: using 1 thread\n\
                    blpk: getting ready for compression\n\
                    blpk: input file is: 'data'\n\
                    blpk: output file is: 'data.blp'\n\
                    blpk: input file size: 3.05M (3200000B)\n";
    assert!(said.text().starts_with(expected), "{}", said.text());
    assert!(said.text().ends_with("\nblpk: done\n"), "{}", said.text());
}

#[test]
#[cfg(unix)]
fn the_name_of_the_program_is_enough() {
    let shell = with_data();
    std::os::unix::fs::symlink(PROGRAM, shell.path("blpk")).unwrap();
    let run = |line: &str| {
        let mut command = Command::new(shell.path("blpk"));
        command.args(line.split_whitespace()).current_dir(shell.path(""));
        Said::from(command.output().unwrap())
    };
    run("c data").is("", "", 0);
    run("-f d data.blp").is("", "", 0);
    assert!(shell.read("data") == readings(400_000));
    run("d data.blp").is("blpk: error: output file 'data' exists!\n", "", 1);
    let help = run("--help").succeeds();
    assert!(help.text().contains("Usage: blpk [OPTIONS]"), "{}", help.text());
}

#[test]
fn the_limits_of_superchunk_hold_for_blpk_wherever_they_are_given() {
    let shell = with_data();
    blpk(&shell, "compress -z 1M data").succeeds();
    let before = shell.names();
    for (line, words) in [
        ("blpk --limit-mem 4M -n 1 decompress data.blp out", "raise Limits::max_decoded"),
        ("--limit-mem 4M -T 1 blpk decompress data.blp out", "raise Limits::max_decoded"),
        ("blpk --limit-output 1M decompress data.blp out", "--limit-output 3200000"),
        ("--limit-output 1M blpk decompress data.blp out", "--limit-output 3200000"),
        ("blpk --limit-mem 1K compress -m meta.json data out", "must be held at once"),
    ] {
        let said = shell.run(line);
        assert_eq!(said.code, Some(1), "{line}: {}", said.text());
        assert!(said.text().contains(words), "{line}: {}", said.text());
        assert_eq!(shell.names(), before, "{line}");
    }
    blpk(&shell, "--limit-mem 9M -n 4 --limit-output 4M decompress data.blp out").succeeds();
    assert!(shell.read("out") == readings(400_000));
}
