//! The command lines of every verb. A verb without one fails the tests.

use std::collections::BTreeSet;
use std::process::Command;

/// The lines of each verb that reads or changes a file. `{}` is the input; `out…` does not exist yet.
const VERBS: [(&str, &[&str]); 18] = [
    (
        "pack",
        &[
            "pack {} -o out.b2frame",
            "pack {} -o out.b2nd --raw --dtype <f4",
            "pack {} --raw -t 4 -o out.blp --verify-write",
            "pack {} --varlen -o out.b2frame",
            "pack {} --varlen --jsonl -o out.blp",
            "pack {} -o -",
        ],
    ),
    (
        "unpack",
        &[
            "unpack {} -o out",
            "unpack {} --raw -o -",
            "unpack {}@0:5 -o out",
            "unpack {} --jsonl -o -",
        ],
    ),
    ("info", &["info {}", "info {} --json --chunks"]),
    ("ls", &["ls {}", "ls . --json"]),
    (
        "cat",
        &[
            "cat {}",
            "cat {}@0:5 --json",
            "cat {}@-1",
            "cat {} --format raw",
            "cat {}@:1000:7 --format csv",
            "cat {} --png out.png",
        ],
    ),
    ("head", &["head {}", "head {} -n -3 --format hex"]),
    (
        "inspect",
        &[
            "inspect {} header --bytes",
            "inspect {} index",
            "inspect {} trailer --bytes",
            "inspect {} chunk -1 --json",
        ],
    ),
    ("verify", &["verify {}", "verify -r . --sample 3 --json"]),
    (
        "convert",
        &[
            "convert {} out.b2frame",
            "convert {} out.sparse --to sparse -c lz4 --verify-write",
            "convert {} out.b2nd",
            "convert {} out.chunk",
            "convert {} out.blp",
            "convert {} out.npy",
            "convert {} out.raw",
            "convert {} out.bcolz",
            "convert {} out.blsk",
            "convert {} out.csv",
            "convert {} out --to columns",
        ],
    ),
    ("append", &["append {} /proc/version", "append {} {}"]),
    ("attr", &["attr ls {}", "attr get {} name", "attr set {} name 7", "attr rm {} name"]),
    ("repack", &["repack {}", "repack {} -c lz4 -l 1 --verify-write", "repack {} -o out.b2frame"]),
    ("recover", &["recover {}"]),
    ("salvage", &["salvage {} -o out"]),
    ("diff", &["diff {} {}"]),
    ("bench", &["bench {} --rounds 1 --codecs lz4 --filters shuffle --limit 1M"]),
    ("tune", &["tune {} --sample 16K --apply out.b2frame"]),
    (
        "blpk",
        &[
            "blpk info {}",
            "blpk decompress -e {} out",
            "blpk compress {} out.blp",
            "blpk append -e {} /proc/version",
        ],
    ),
];

/// `cargo xtask crash --full` sets it: then every line meets every file.
const ALL: &str = "SUPERCHUNK_CRASH_FULL";

/// The verbs that read no file of a user.
const WITHOUT_INPUT: [&str; 4] = ["caps", "completions", "man", "demo"];

/// The lines of all verbs.
fn all_lines() -> Vec<String> {
    VERBS.iter().flat_map(|(_, lines)| lines.iter().map(|line| (*line).to_owned())).collect()
}

/// The lines of the verbs that have the exit codes of `superchunk`; `blpk` has those of bloscpack.
pub(crate) fn lines() -> Vec<String> {
    all_lines().into_iter().filter(|line| !line.starts_with("blpk")).collect()
}

/// The lines that do not begin like any of these.
pub(crate) fn lines_without(left_out: &[&str]) -> Vec<String> {
    let is_kept = |line: &String| !left_out.iter().any(|start| line.starts_with(start));
    all_lines().into_iter().filter(is_kept).collect()
}

/// A line of every `nth` verb for the file of this number: the files take turns, so that every line
/// meets many of them. All lines if the environment asks for that.
pub(crate) fn lines_of_turn(number: usize, nth: usize) -> Vec<String> {
    if std::env::var_os(ALL).is_some() {
        return all_lines();
    }
    let verbs = VERBS.iter().enumerate().filter(|(verb, _)| (verb + number).is_multiple_of(nth));
    let turn = |(_, (_, lines)): (usize, &(&str, &[&str]))| {
        Some((*lines.get(number / nth % lines.len())?).to_owned())
    };
    verbs.filter_map(turn).collect()
}

#[test]
fn every_verb_has_its_lines() {
    let help = Command::new(env!("CARGO_BIN_EXE_superchunk")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let listed: BTreeSet<&str> =
        commands.filter_map(|line| line.split_whitespace().next()).collect();
    let known = VERBS.iter().map(|(verb, _)| *verb).chain(WITHOUT_INPUT);
    assert_eq!(listed, known.collect());
    for (verb, lines) in VERBS {
        assert!(lines.iter().all(|line| line.split(' ').next() == Some(verb)), "{verb}");
    }
}
