//! The program with an encoder that spoils a chunk: with `--verify-write` no command writes it.
//!
//! Under the feature `superchunk-kernels/__internal-test` the variable `SUPERCHUNK_SPOIL` changes
//! the last byte of a new chunk, which may hold data, an index or attributes.

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
/// Commands that change nothing but names and text, or move chunks as they are.
const MAY_MAKE_NONE: [&str; 17] = [
    "salvage ",
    "repack ",
    "convert ",
    "unpack ",
    "attr set columns",
    "attr rm columns",
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
    "recover",
];

#[test]
fn no_command_that_verifies_writes_a_wrong_chunk() {
    let scratch = Scratch::new();
    let folder = fs::canonicalize(scratch.folder()).unwrap();
    let place = folder.join("run");
    let (mut found, mut failures) = (0, Vec::new());
    let (mut commands, mut harmless) = (0, 0);
    // The chunks of trials are compressed to be thrown away; `blpk` has a test of its own.
    let is_judged = |line: &str| !["tune", "blpk"].iter().any(|verb| line.starts_with(verb));
    let work = make_templates(&folder).into_iter().filter(|(_, _, line)| is_judged(line));
    for (container, template, line) in work {
        let line = line.replace("{}", container.name);
        let path = place.join(container.name);
        copy_folder(&template, &place).unwrap();
        let right = run(&place, &format!("--verify-write {line}"));
        assert_eq!(right.status.code(), Some(success_of(&line)), "{line}: {}", words(&right));
        copy_folder(&place, &folder.join("right")).unwrap();
        let compare = format!("diff --meta {0} ../right/{0}", container.name);
        // Every chunk in turn, until the command makes no more.
        for number in 0.. {
            copy_folder(&template, &place).unwrap();
            let state = || (Content::of(&path).ok(), names(&place));
            let before = state();
            assert!(before.0.is_some(), "{line}");
            let output =
                run_spoiling(&place, &number.to_string(), &format!("--verify-write {line}"));
            let said = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            if !said.contains(SPOILT) {
                let may_make_none = MAY_MAKE_NONE.iter().any(|start| line.starts_with(start));
                if number == 0 && !may_make_none {
                    failures.push(format!("{line}: it makes no chunk"));
                }
                assert_eq!(code, Some(success_of(&line)), "{line}: {}", words(&output));
                commands += usize::from(number > 0);
                break;
            }
            let names_it = said.contains("does not decode to what went in")
                && said.contains("help: nothing was written");
            let is_old = state() == before;
            // A few bits mean nothing, such as the last ones of a bit stream.
            let is_harmless =
                code == Some(success_of(&line)) && run(&place, &compare).status.success();
            harmless += usize::from(is_harmless);
            if !(is_harmless || names_it && is_old && code == Some(FAILURE)) {
                failures.push(format!("{line}: chunk {number}, old: {is_old}, {}", words(&output)));
            }
            found += 1;
        }
    }
    eprintln!("wrong bytes: {commands} commands, {found} chunks, {harmless} of them right");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let enough = commands > 60 && found > 200 && harmless < found / 10;
    assert!(enough, "is superchunk-kernels/__internal-test on?");
}

#[test]
fn without_verifying_a_wrong_chunk_is_written_unnoticed() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    fs::write(folder.join("data.f8"), [1, 2, 3, 4, 5, 6, 7, 8].repeat(40)).unwrap();
    let pack = "pack data.f8 -t 8 -l 0 -o data.blp";
    let output = run_spoiling(folder, "0", pack);
    assert!(output.status.success(), "{}", words(&output));
    // Checksums are those of what was written.
    assert!(run(folder, "verify data.blp").status.success());
    assert_eq!(run(folder, "diff data.blp data.f8").status.code(), Some(1));
    let checked = run_spoiling(folder, "0", &format!("{pack} -f --verify-write"));
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
    filter.env("SUPERCHUNK_SPOIL", "0").stdin(fs::File::open(folder.join("data.f8")).unwrap());
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
