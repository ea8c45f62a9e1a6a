//! The program with a fault in any of its system calls: killed before or inside the call, a full
//! disk, a broken disk, an interruption, a short write.
//!
//! Every command that writes runs on every container that it can change, with each fault in each of
//! its write-type calls. The exit code must agree with the content, other users can never read the
//! files, and nothing is left over. The same commands run with an encoder that writes wrong bytes
//! (`wrong_bytes`).

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
#[path = "../common/content.rs"]
mod content;
mod peers;
#[path = "../common/program.rs"]
mod program;
mod run;
mod wrong_bytes;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

use cases::{CONTAINERS, Container};
use peers::Peers;
use run::{Case, each_path};

/// The number of runs of each case, about, unless `SUPERCHUNK_CRASH_FULL` is set.
const RUNS_PER_CASE: usize = 70;
/// The real library reads the result of the first of this many runs.
const RUNS_PER_PEER_READ: usize = 40;
/// The number of failures that are printed.
const MAX_SHOWN_FAILURES: usize = 40;

/// A container, the folder in which it was made, and a command.
type Work = (&'static Container, PathBuf, &'static str);

#[test]
fn an_error_leaves_the_old_content_and_success_the_new_one() {
    let scratch = Scratch::new();
    // Paths of system calls have no links in them.
    let folder = fs::canonicalize(scratch.folder()).unwrap();
    let work = make_templates(&folder);
    let peers = Mutex::new(Peers::start());
    let (next, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for thread in 0..threads {
            let place = folder.join(format!("run-{thread}"));
            let (work, next, runs, peers, failures) = (&work, &next, &runs, &peers, &failures);
            scope.spawn(move || {
                while let Some(work) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (count, failed) = check(work, &place, peers);
                    runs.fetch_add(count, Ordering::Relaxed);
                    failures.lock().unwrap().extend(failed);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let runs = runs.into_inner();
    eprintln!("faults: {} cases, {runs} runs, {} failures", work.len(), failures.len());
    let shown = failures.get(..MAX_SHOWN_FAILURES).unwrap_or(&failures);
    assert!(failures.is_empty(), "{} of {runs} runs:\n{}", failures.len(), shown.join("\n"));
}

/// Makes every container in a folder of its own, readable by nobody else, and lists the commands.
fn make_templates(folder: &Path) -> Vec<Work> {
    cases::make_inputs(&folder.join("in"));
    let mut work = Vec::new();
    for (number, container) in CONTAINERS.iter().enumerate() {
        let template = folder.join(format!("template-{number}"));
        fs::create_dir(&template).unwrap();
        program::shell(&template, &container.make.replace("{}", container.name));
        make_private(&template);
        let commands = container.commands.iter();
        work.extend(commands.map(|command| (container, template.clone(), *command)));
    }
    work
}

fn make_private(folder: &Path) {
    let result = each_path(folder, &mut |path, _| {
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        let set = fs::set_permissions(path, fs::Permissions::from_mode(mode));
        set.map_err(|error| error.to_string())
    });
    result.unwrap();
}

/// Runs a command with all faults, or with a fixed choice of them; returns the number of runs and
/// the failures.
fn check(work: &Work, place: &Path, peers: &Mutex<Peers>) -> (usize, Vec<String>) {
    let (container, template, command) = work;
    let case = match Case::new((container, command), template, place, peers) {
        Ok(case) => case,
        Err(problem) => return (1, vec![problem]),
    };
    let mut combinations = case.combinations();
    if std::env::var_os("SUPERCHUNK_CRASH_FULL").is_none() {
        let (all, mut rng) = (combinations.len() as u64, Rng::new(command.len() as u64));
        combinations.retain(|_| rng.below(all) < RUNS_PER_CASE as u64);
    }
    let check = |(number, combination): (usize, &_)| {
        let asks_peer = number % RUNS_PER_PEER_READ == 0;
        case.check(place, *combination, asks_peer).err()
    };
    let failures = combinations.iter().enumerate().filter_map(check).collect();
    (combinations.len(), failures)
}
