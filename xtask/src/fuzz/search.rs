//! Runs the fuzz targets, some at a time, and tells what they found.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::build::{clear, folder, program};
use super::wishes::Wishes;
use crate::peers::Variables;
use crate::step::{Outcome, root, run, say};

/// How many targets run at a time.
const AT_ONCE: usize = 2;

/// The longest input, and the longest time and the most memory for one. A busy machine must not look like a slow input,
/// nor what the sanitizer holds back like a hungry one; the targets count the library's memory themselves.
const BOUNDS: [&str; 4] =
    ["-max_len=65536", "-timeout=25", "-rss_limit_mb=2048", "-malloc_limit_mb=256"];

/// The last lines of a log that tell what happened.
const LINES_TOLD: usize = 40;

/// Runs all targets; the first that finds something ends the search.
pub(super) fn search(wishes: &Wishes, peers: &Variables) -> Outcome {
    let waiting = Mutex::new(wishes.targets.iter().rev().copied().collect::<Vec<_>>());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || {
        while let Some(target) = next() {
            let outcome = one_target(target, wishes, peers);
            if outcome.is_err() {
                waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
                return outcome;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err("a thread of the search panicked".to_owned()))
        });
        // All of them, so that what both found is told.
        let failures: Vec<String> = joined.filter_map(Result::err).collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n\n")) }
    })
}

/// Runs a target on one input, in sight of the user.
pub(super) fn one_input(targets: &[&str], input: &Path, peers: &Variables) -> Outcome {
    let target = targets.first().copied().unwrap_or_default();
    run(fuzzer(target, peers)?.arg(input))
}

fn one_target(target: &str, wishes: &Wishes, peers: &Variables) -> Outcome {
    let log = place("logs")?.join(target);
    let out = File::create(&log).map_err(|e| format!("cannot write {}: {e}", log.display()))?;
    let findings = place("findings")?.join(format!("{target}-"));
    let mut command = fuzzer(target, peers)?;
    let corpus = if wishes.afresh { "smoke" } else { "corpus" };
    if wishes.afresh {
        clear(&folder().join(corpus).join(target))?;
        command.arg("-seed=1");
    }
    // The fuzzer adds to the first of them.
    command.arg(place(&format!("{corpus}/{target}"))?).arg(folder().join("seeds").join(target));
    command.arg(format!("-max_total_time={}", wishes.seconds)).arg("-print_final_stats=1");
    command.arg(format!("-artifact_prefix={}", findings.display()));
    command.arg(format!("-dict={}", root().join("fuzz/dictionary.txt").display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out);
    let status = command.spawn().and_then(|mut child: Child| child.wait());
    let status = status.map_err(|e| format!("cannot run the target {target}: {e}"))?;
    let text = fs::read(&log).map_err(|e| format!("cannot read {}: {e}", log.display()))?;
    let text = String::from_utf8_lossy(&text);
    if status.success() {
        say(&format!("{target}: {}", figures(&text)));
        return Ok(());
    }
    Err(failure(target, &text))
}

/// The program of a target with what all runs have in common.
fn fuzzer(target: &str, peers: &Variables) -> Outcome<Command> {
    let mut command = Command::new(program(target)?);
    command.args(BOUNDS).current_dir(root());
    command.envs(peers.iter().map(|(name, value)| (name, value)));
    command.env("SUPERCHUNK_FUZZ_NOTES", place("notes")?);
    // Looking for leaks takes rights that containers often lack; `tests/opens.rs` counts every byte.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    Ok(command)
}

/// A folder of the fuzzers.
fn place(name: &str) -> Outcome<PathBuf> {
    let place = folder().join(name);
    fs::create_dir_all(&place).map_err(|e| format!("cannot make {}: {e}", place.display()))?;
    Ok(place)
}

/// What a log says of a run without findings.
fn figures(log: &str) -> String {
    let last = |word: &str| {
        let mut words = log.split_whitespace().skip_while(|found| *found != word).skip(1);
        let mut value = words.next();
        while let Some(later) = words.find(|found| *found == word).and_then(|_| words.next()) {
            value = Some(later);
        }
        value.unwrap_or("?").to_owned()
    };
    let executions = last("stat::number_of_executed_units:");
    let (edges, corpus) = (last("cov:"), last("corp:"));
    format!("{executions} executions, {edges} edges, {corpus} inputs kept")
}

/// What a log says of a finding, and how to see it again.
fn failure(target: &str, log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let told = lines.get(lines.len().saturating_sub(LINES_TOLD)..).unwrap_or_default().join("\n");
    let input = log.lines().find_map(|line| line.split_once("Test unit written to "));
    let again = match input {
        Some((_, path)) => {
            let path = path.trim();
            format!("again: cargo xtask fuzz --target {target} --input {path}")
        }
        None => "it left no input".to_owned(),
    };
    format!("{told}\n\nthe fuzz target {target} failed; {again}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_understood() {
        let log = "#2\tINITED cov: 10 ft: 11 corp: 1/1b\n#9\tDONE cov: 25 ft: 30 corp: 7/90b\n\
                   stat::number_of_executed_units: 1234\n";
        assert_eq!(figures(log), "1234 executions, 25 edges, 7/90b inputs kept");
        assert_eq!(figures(""), "? executions, ? edges, ? inputs kept");
    }

    #[test]
    fn a_finding_says_how_to_see_it_again() {
        let log =
            "==1== ERROR\nartifact_prefix='x'; Test unit written to /a/blp-crash-1\nBase64: AA";
        let told = failure("blp", log);
        assert!(
            told.ends_with("again: cargo xtask fuzz --target blp --input /a/blp-crash-1"),
            "{told}"
        );
        assert!(failure("blp", "killed").ends_with("it left no input"));
    }
}
