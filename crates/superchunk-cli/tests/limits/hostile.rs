//! Every verb on every hostile file of the conformance vectors, and on bombs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::vectors::{Vector, family};

use crate::arena::run_all;
use crate::bombs;
use crate::verbs::{lines_of_turn, lines_without};

/// The number of threads of every second command, which may take as many times the memory of one.
const MANY_THREADS: usize = 4;

/// The hostile files of all families, each once: further folders may hold the same ones.
fn hostile_files() -> Vec<PathBuf> {
    let is_hostile =
        |vector: &Vector| vector.text(&["kind"]).is_some_and(|kind| kind.starts_with("hostile-"));
    let of_index = ["legacy", "legacy/bloscpack", "legacy/bcolz", "legacy/blsk"];
    let of_index = of_index.into_iter().flat_map(family).filter(is_hostile);
    let mut seen = BTreeSet::new();
    let all = family("hostile").into_iter().chain(of_index).map(|vector| vector.path);
    all.filter(|path| path.exists() && seen.insert(path.file_name().map(ToOwned::to_owned)))
        .collect()
}

#[test]
fn no_verb_leaves_its_bounds_on_a_hostile_file() {
    let files = hostile_files();
    assert!(files.len() > 120, "only {} hostile files", files.len());
    let threads = |number: usize| if number.is_multiple_of(2) { 1 } else { MANY_THREADS };
    let with_threads =
        |number| lines_of_turn(number, 1).into_iter().map(move |line| (line, threads(number)));
    let failures = run_all(&files, |number| with_threads(number).collect());
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn no_verb_leaves_its_bounds_on_a_bomb() {
    let scratch = Scratch::new();
    let mut failures = Vec::new();
    for (bombs, left_out) in bombs::make(scratch.folder()) {
        let lines = lines_without(left_out);
        let all = lines.iter().flat_map(|line| [(line.clone(), 1), (line.clone(), MANY_THREADS)]);
        let all: Vec<_> = all.collect();
        failures.extend(run_all(&bombs, |_| all.clone()));
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}
