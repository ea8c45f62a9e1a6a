//! Every verb on every good file of the conformance vectors: a limit of 64 MB makes no difference,
//! with one thread or four.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::vectors::{Vector, family};

use crate::arena::{BOUNDED, LIMIT_MEM, copy, judge, shell};
use crate::verbs::lines_of_turn;

/// Each file meets a line of one of so many verbs.
const VERBS_PER_TURN: usize = 6;

/// The good files of all families, each once.
fn good_files() -> Vec<PathBuf> {
    let is_good =
        |vector: &Vector| !vector.text(&["kind"]).is_some_and(|kind| kind.starts_with("hostile-"));
    let families = ["chunk", "frame", "legacy", "legacy/bloscpack", "legacy/bcolz", "legacy/blsk"];
    let mut seen = BTreeSet::new();
    let all = families.into_iter().flat_map(family).filter(is_good).map(|vector| vector.path);
    all.filter(|path| path.exists() && seen.insert(path.file_name().map(ToOwned::to_owned)))
        .collect()
}

/// Exit code and stdout of a line on a fresh copy of a file.
fn outcome(
    folder: &Path,
    file: &Path,
    line: &str,
    options: &str,
) -> Result<(i32, Vec<u8>), String> {
    let failed = |error: std::io::Error| error.to_string();
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir(folder).map_err(failed)?;
    let name = file.file_name().unwrap_or_default();
    copy(file, &folder.join(name)).map_err(failed)?;
    let line = line.replace("{}", &format!("'{}'", name.to_string_lossy()));
    let program = env!("CARGO_BIN_EXE_superchunk");
    let script = format!("{BOUNDED} {program} {options} {line}");
    let output = shell(folder, &script).output().map_err(failed)?;
    Ok((judge(&output)?, output.stdout))
}

fn compare(folder: &Path, file: &Path, line: &str, threads: usize) -> Result<(), String> {
    let failed = |problem: String| format!("-T {threads} {line} {}: {problem}", file.display());
    let free = outcome(folder, file, line, "-T 1").map_err(failed)?;
    let limits = format!("-T {threads} --limit-mem {LIMIT_MEM}");
    let limited = outcome(folder, file, line, &limits).map_err(failed)?;
    // Bytes that are no JSON may be refused for their length before that is found out.
    let is_long_line = line.contains("--jsonl") && (free.0, limited.0) == (2, 6);
    match free == limited || is_long_line {
        true => Ok(()),
        false => Err(failed(format!("{} without a limit, {} with it", free.0, limited.0))),
    }
}

#[test]
fn a_limit_makes_no_difference_to_a_good_file() {
    let files = good_files();
    assert!(files.len() > 250, "only {} good files", files.len());
    let scratch = Scratch::new();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            let (files, next, failures) = (&files, &next, &failures);
            let folder = scratch.path(&thread.to_string());
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(number) else { break };
                    let lines = lines_of_turn(number, VERBS_PER_TURN);
                    // Speeds differ from run to run.
                    let is_timed =
                        |line: &&String| line.starts_with("bench") || line.starts_with("tune");
                    let lines = lines.iter().filter(|line| !is_timed(line));
                    // Several threads leave less memory for a chunk.
                    let threads = if number.is_multiple_of(2) { 1 } else { 4 };
                    let run = |line: &String| compare(&folder, file, line, threads).err();
                    let failed = lines.filter_map(run);
                    failures.lock().unwrap().extend(failed);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
}
