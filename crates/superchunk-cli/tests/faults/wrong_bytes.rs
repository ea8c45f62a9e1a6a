//! The program with an encoder that spoils every chunk: with `--verify-write` no command writes one.
//!
//! Under the feature `superchunk-kernels/__internal-test` the variable `SUPERCHUNK_SPOIL` changes the
//! last byte of all new chunks, or of those that are checked, also where they hold metadata.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use superchunk_testkit::scratch::Scratch;

use crate::content::Content;
use crate::make_templates;
use crate::program::{command, copy_folder, words};
use crate::run::{each_path, success_of};

/// What the program says when it has spoilt a chunk.
const SPOILT: &str = "a chunk was spoilt";
/// The exit code of an ordinary failure.
const FAILURE: i32 = 1;
/// Commands that neither compress nor change anything but names and text.
const COMPRESS_NOTHING: [&str; 11] = [
    "unpack ",
    "attr set table.",
    "attr rm table.",
    "attr set array.bcolz",
    "attr rm array.bcolz",
    "attr set array.blsk",
    "attr rm array.blsk",
    "attr set data.blp",
    "attr rm data.blp",
    "attr set names.blp",
    "attr rm names.blp",
];

#[test]
fn no_command_that_verifies_writes_a_wrong_chunk() {
    let scratch = Scratch::new();
    let folder = fs::canonicalize(scratch.folder()).unwrap();
    let place = folder.join("run");
    let (mut found, mut failures) = (0, Vec::new());
    for (container, template, line) in make_templates(&folder) {
        let line = line.replace("{}", container.name);
        copy_folder(&template, &place).unwrap();
        let path = place.join(container.name);
        let state = || (Content::of(&path).unwrap(), names(&place));
        let before = state();
        let output = run_spoiling(&place, "all", &format!("--verify-write {line}"));
        let is_old = state() == before;
        let said = String::from_utf8_lossy(&output.stderr);
        let names_it = said.contains("does not decode to what went in")
            && said.contains("help: nothing was written");
        let code = output.status.code();
        let is_right = match said.contains(SPOILT) {
            true => names_it && is_old && code == Some(FAILURE),
            false => {
                let may_be = COMPRESS_NOTHING.iter().any(|start| line.starts_with(start));
                (may_be || copies_chunks(&line)) && code == Some(success_of(&line))
            }
        };
        found += usize::from(said.contains(SPOILT));
        if !is_right {
            failures.push(format!("{line}: old: {is_old}, {}", words(&output)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(found > 60, "{found}: is superchunk-kernels/__internal-test on?");
}

/// Whether a command may move all chunks as they are.
fn copies_chunks(line: &str) -> bool {
    line.starts_with("salvage ") || line.starts_with("repack ") || line.starts_with("convert ")
}

#[test]
fn without_verifying_a_wrong_chunk_is_written_unnoticed() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    fs::write(folder.join("data.f8"), [1, 2, 3, 4, 5, 6, 7, 8].repeat(40)).unwrap();
    let pack = "pack data.f8 -t 8 -l 0 -o data.blp";
    let output = run_spoiling(folder, "all", pack);
    assert!(output.status.success(), "{}", words(&output));
    // Checksums are those of what was written.
    assert!(run(folder, "verify data.blp").status.success());
    assert_eq!(run(folder, "diff data.blp data.f8").status.code(), Some(1));
    let checked = run_spoiling(folder, "all", &format!("{pack} -f --verify-write"));
    assert_eq!(checked.status.code(), Some(FAILURE), "{}", words(&checked));
    assert_eq!(run(folder, "diff data.blp data.f8").status.code(), Some(1), "as it was");
    assert!(run(folder, &format!("{pack} -f --verify-write")).status.success());
    assert!(run(folder, "diff data.blp data.f8").status.success());
}

#[test]
fn the_filter_and_blpk_verify_what_they_write() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    fs::write(folder.join("data.f8"), [1, 2, 3, 4, 5, 6, 7, 8].repeat(40)).unwrap();
    for line in [
        "blpk --verify-write compress data.f8",
        "--verify-write blpk compress data.f8",
        "pack data.f8 -o - --verify-write",
        "tune data.f8 --apply small.b2frame --verify-write",
    ] {
        // What `tune` measures is not checked.
        let output = run_spoiling(folder, "checked", line);
        let said = [output.stdout.as_slice(), &output.stderr].concat();
        assert!(!output.status.success(), "{line}: {}", words(&output));
        assert!(String::from_utf8_lossy(&said).contains("does not decode"), "{line}");
        assert_eq!(names(folder), [Path::new("data.f8")], "{line}");
        let right = command(folder, line).output().unwrap();
        assert!(right.status.success(), "{line}: {}", words(&right));
        for made in ["data.f8.blp", "small.b2frame"] {
            let _ = fs::remove_file(folder.join(made));
        }
    }
    let mut filter = command(folder, "--verify-write -c lz4");
    filter.stdin(fs::File::open(folder.join("data.f8")).unwrap());
    let right = filter.output().unwrap();
    assert!(right.status.success() && !right.stdout.is_empty(), "{}", words(&right));
    filter.env("SUPERCHUNK_SPOIL", "all").stdin(fs::File::open(folder.join("data.f8")).unwrap());
    let output = filter.output().unwrap();
    assert_eq!(output.status.code(), Some(FAILURE), "{}", words(&output));
    assert!(output.stdout.is_empty());
}

fn run(folder: &Path, line: &str) -> Output {
    command(folder, line).output().unwrap()
}

fn run_spoiling(folder: &Path, which: &str, line: &str) -> Output {
    command(folder, line).env("SUPERCHUNK_SPOIL", which).output().unwrap()
}

/// Everything in a folder.
fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let add = &mut |path: &Path, _| {
        names.push(path.strip_prefix(folder).unwrap_or(path).to_owned());
        Ok(())
    };
    each_path(folder, add).unwrap();
    names.sort();
    names
}
