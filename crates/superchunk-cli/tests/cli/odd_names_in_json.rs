//! Names of files that are not UTF-8: they are used as they are, and JSON has their bytes.

#![cfg(target_os = "linux")]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use superchunk::Value;

use crate::shell::{Said, Shell, npy, readings};

/// `café` in Latin-1, with an extension.
fn name(extension: &str) -> OsString {
    OsString::from_vec([b"caf\xe9", extension.as_bytes()].concat())
}

/// The same in a document.
fn in_json(extension: &str) -> String {
    let hex: String = extension.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!(r#"{{"$bin": "636166e9{hex}"}}"#)
}

fn path(shell: &Shell, extension: &str) -> PathBuf {
    shell.path("").join(name(extension))
}

/// Runs a command on such names.
fn run(shell: &Shell, line: &str, names: &[&OsStr]) -> Said {
    Said::from(shell.command(line).args(names).output().unwrap()).succeeds()
}

#[track_caller]
fn says(said: &Said, key: &str, extension: &str) {
    assert_eq!(said.json().get(key).unwrap().to_json(), in_json(extension));
}

fn with_frame() -> Shell {
    let shell = Shell::new();
    std::fs::write(path(&shell, ".f8"), readings(1000)).unwrap();
    let said = run(&shell, "pack --json -t 8", &[&name(".f8")]);
    says(&said, "path", ".f8");
    says(&said, "output", ".f8.b2frame");
    shell
}

#[test]
fn frames_are_packed_shown_checked_and_changed() {
    let shell = with_frame();
    let frame = name(".f8.b2frame");
    for line in ["info --json", "verify --json", "repack --json", "attr ls --json"] {
        says(&run(&shell, line, &[&frame]), "path", ".f8.b2frame");
    }
    let said = run(&shell, "append --json", &[&frame, &name(".f8")]);
    says(&said, "path", ".f8.b2frame");
    assert_eq!(said.json().get("nbytes").unwrap().as_u64(), Some(16_000));
    run(&shell, "attr set", &[&frame, OsStr::new("unit"), OsStr::new("K")]);
    let got = run(&shell, "attr get --json", &[&frame, OsStr::new("unit")]);
    assert_eq!(got.json().get("value").unwrap().as_str(), Some("K"));
    let said = run(&shell, "recover --json", &[&frame]);
    says(&said, "path", ".f8.b2frame");
    let said = run(&shell, "unpack --json -f", &[&frame]);
    says(&said, "output", ".f8");
    assert!(std::fs::read(path(&shell, ".f8")).unwrap() == readings(1000).repeat(2));
    let said = run(&shell, "salvage --json -o copy", &[&frame]);
    says(&said, "path", ".f8.b2frame");
}

#[test]
fn lists_have_the_bytes_of_each_name() {
    let shell = with_frame();
    let paths = |said: &Said, key: &str| -> Vec<String> {
        let document = said.json();
        let Some(Value::Array(list)) = document.get(key) else { panic!("no list `{key}`") };
        list.iter().map(|entry| entry.get("path").unwrap().to_json()).collect()
    };
    let said = shell.run("ls --all --json").succeeds();
    assert_eq!(paths(&said, "entries"), [in_json(".f8"), in_json(".f8.b2frame")]);
    std::fs::write(path(&shell, ".b2nd"), b"not").unwrap();
    let said = Said::from(shell.command("verify -r --json .").output().unwrap());
    assert!(paths(&said, "files").contains(&in_json(".f8.b2frame")), "{}", said.text());
    // Messages have a mark in the place of the byte.
    let missing = Said::from(shell.command("info").arg(name(".none")).output().unwrap());
    assert!(
        missing.code == Some(5) && missing.stderr.contains("caf\u{fffd}.none"),
        "{}",
        missing.stderr
    );
}

#[test]
fn every_format_takes_such_a_name() {
    let shell = with_frame();
    shell.write("a.npy", &npy(&[4, 3]));
    shell.write("t.csv", b"a,b\n1,x\n2,y\n");
    shell.write("lines", b"one\ntwo\n");
    let steps = [
        ("convert --json a.npy", ".b2nd"),
        ("convert --json a.npy", ".blp"),
        ("convert --json --to sparse a.npy", ".sparse"),
        ("convert --json t.csv", ".bcolz"),
        ("convert --json t.csv", ".blsk"),
        ("convert --json --to columns t.csv", ".columns"),
        ("pack --json --varlen lines -o", ".lines.blp"),
    ];
    for (line, extension) in steps {
        says(&run(&shell, line, &[&name(extension)]), "output", extension);
    }
    for extension in [".b2nd", ".blp", ".sparse", ".bcolz", ".blsk", ".lines.blp"] {
        says(&run(&shell, "info --json", &[&name(extension)]), "path", extension);
        says(&run(&shell, "verify --json", &[&name(extension)]), "path", extension);
        run(&shell, "attr set", &[&name(extension), OsStr::new("n"), OsStr::new("7")]);
        let got = run(&shell, "attr get", &[&name(extension), OsStr::new("n")]);
        assert_eq!(got.text(), "7\n", "{extension}");
    }
    for (extension, more) in
        [(".b2nd", "a.npy"), (".bcolz", "t.csv"), (".blsk", "t.csv"), (".lines.blp", "lines")]
    {
        let said = run(&shell, "append --json", &[&name(extension), OsStr::new(more)]);
        says(&said, "path", extension);
    }
    // What is replaced is the file of that name, and nothing is left beside it.
    let before = std::fs::read_dir(shell.path("")).unwrap().count();
    says(&run(&shell, "convert --json -f t.csv", &[&name(".bcolz")]), "output", ".bcolz");
    says(&run(&shell, "convert --json -f a.npy", &[&name(".b2nd")]), "output", ".b2nd");
    assert_eq!(std::fs::read_dir(shell.path("")).unwrap().count(), before);
    assert_eq!(run(&shell, "cat --format csv", &[&name(".bcolz")]).text(), "a,b\n1,x\n2,y\n");
}
