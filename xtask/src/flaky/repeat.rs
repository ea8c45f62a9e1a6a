//! Runs one test program many times, counts its failures, and saves the output of each failed run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::programs::BuiltProgram;
use crate::step::{Outcome, root, say};

/// Where the output of failed runs is saved, seen from the root of the repository.
pub(super) const OUTPUT_FOLDER: &str = "target/flaky";

/// A run that takes longer counts as hung and is killed, so that a deadlock does not prevent the
/// runs that follow.
const MAX_TIME_PER_RUN: Duration = Duration::from_secs(30 * 60);

/// How often a running program is asked whether it has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The results of all runs of one program.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) name: &'static str,
    pub(super) runs: u32,
    /// The number of runs that failed.
    pub(super) failures: u32,
    /// How often each test failed. A run that names no failed test, as after a signal or a
    /// time-out, is counted under how it ended.
    pub(super) causes: BTreeMap<String, u32>,
    pub(super) time: Duration,
}

/// How a run ended.
enum RunEnd {
    Exited(ExitStatus),
    TimedOut,
}

/// Runs the program `times` times, whether runs fail or not.
pub(super) fn repeat(
    program: &BuiltProgram,
    times: u32,
    peers: &[(&str, OsString)],
) -> Outcome<Tally> {
    let name = program.name;
    say(&format!("== {name}, {times} times"));
    remove_saved_outputs(name)?;
    let start = Instant::now();
    let mut tally = Tally { name, ..Tally::default() };
    for run in 1..=times {
        let causes = run_once(program, run, peers)?;
        tally.runs += 1;
        if causes.is_empty() {
            continue;
        }
        let path = format!("{OUTPUT_FOLDER}/{name}-{run}.txt");
        say(&format!("run {run} failed: {}; output in {path}", causes.join(", ")));
        tally.failures += 1;
        for cause in causes {
            *tally.causes.entry(cause).or_default() += 1;
        }
    }
    tally.time = start.elapsed();
    let (failures, seconds) = (tally.failures, tally.time.as_secs_f64());
    say(&format!("== {name}: {failures} of {times} runs failed, {seconds:.1} s"));
    Ok(tally)
}

/// Runs the program once. Returns what failed, which is nothing when the run passed; only the
/// output of a failed run stays on disk.
fn run_once(program: &BuiltProgram, run: u32, peers: &[(&str, OsString)]) -> Outcome<Vec<String>> {
    let path = root().join(OUTPUT_FOLDER).join(format!("{}-{run}.txt", program.name));
    let cannot_save = |e| format!("cannot save the output in {}: {e}", path.display());
    // A file and not a pipe: a process that a test leaves behind could keep a pipe open for ever.
    let output = File::create(&path).map_err(cannot_save)?;
    let mut command = Command::new(&program.executable);
    command
        .current_dir(&program.package_folder)
        .envs(peers.iter().map(|(name, value)| (name, value)));
    // The value that `cargo test` sets; the inherited one is the folder of xtask.
    command.env("CARGO_MANIFEST_DIR", &program.package_folder);
    command.stdin(Stdio::null()).stdout(output.try_clone().map_err(cannot_save)?).stderr(output);
    let end = command.spawn().and_then(|mut child| wait(&mut child, MAX_TIME_PER_RUN));
    let end = end.map_err(|e| format!("cannot run {}: {e}", program.executable.display()))?;
    if matches!(end, RunEnd::Exited(status) if status.success()) {
        fs::remove_file(&path).map_err(|e| format!("cannot remove {}: {e}", path.display()))?;
        return Ok(Vec::new());
    }
    let text = fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    Ok(causes_of(&end, &String::from_utf8_lossy(&text)))
}

/// Waits until the program ends, or kills it after `limit`. Processes that the program has started
/// are not killed with it; peers end by themselves when their input is closed.
fn wait(child: &mut Child, limit: Duration) -> io::Result<RunEnd> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(RunEnd::Exited(status));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(RunEnd::TimedOut);
        }
        sleep(POLL_INTERVAL);
    }
}

/// Returns the tests that failed in a failed run and, if the run did not end as a run with failed
/// tests does, how it ended.
fn causes_of(end: &RunEnd, output: &str) -> Vec<String> {
    let mut causes: Vec<String> = failed_tests(output).into_iter().map(str::to_owned).collect();
    match end {
        RunEnd::TimedOut => {
            causes.push(format!("(no end within {} s)", MAX_TIME_PER_RUN.as_secs()));
        }
        RunEnd::Exited(status) if causes.is_empty() || status.code().is_none() => {
            causes.push(format!("({status})"));
        }
        RunEnd::Exited(_) => {}
    }
    causes
}

/// Returns the names of the tests that libtest reports as failed: `test NAME ... FAILED`.
fn failed_tests(output: &str) -> Vec<&str> {
    // Libtest repeats what failed tests printed after this line; that could look like such a
    // report.
    let reports = output.lines().take_while(|line| *line != "failures:");
    let failed = reports.filter_map(|line| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        result.starts_with("FAILED").then_some(name.trim_end_matches(" - should panic"))
    });
    failed.collect()
}

/// Removes what an earlier call has saved of this program, and makes the folder if it is missing.
fn remove_saved_outputs(name: &str) -> Outcome {
    let folder = root().join(OUTPUT_FOLDER);
    let remove = || {
        fs::create_dir_all(&folder)?;
        for entry in fs::read_dir(&folder)? {
            let path: PathBuf = entry?.path();
            if path.file_name().is_some_and(|file| is_saved_output(&file.to_string_lossy(), name)) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    };
    remove().map_err(|e: io::Error| format!("cannot clear {}: {e}", folder.display()))
}

/// Returns whether a file is called `NAME-RUN.txt` with the name of this program.
fn is_saved_output(file: &str, name: &str) -> bool {
    let rest = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    let run = rest.and_then(|rest| rest.strip_suffix(".txt"));
    run.is_some_and(|run| !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\nrunning 4 tests\ntest fine ... ok\ntest a::slow has been running for \
                          over 60 seconds\ntest a::slow ... FAILED\ntest b - should panic ... \
                          FAILED\ntest left ... ignored\n\nfailures:\n\n---- a::slow stdout ----\n\
                          test inner ... FAILED\n\nfailures:\n    a::slow\n    b\n\n\
                          test result: FAILED. 1 passed; 2 failed; 1 ignored\n";

    #[test]
    fn failed_tests_are_found_in_the_output_of_libtest() {
        assert_eq!(failed_tests(OUTPUT), ["a::slow", "b"]);
        assert!(failed_tests("test fine ... ok\n").is_empty());
    }

    #[test]
    fn a_run_that_timed_out_says_so_beside_its_failed_tests() {
        let causes = causes_of(&RunEnd::TimedOut, OUTPUT);
        assert_eq!(causes, ["a::slow", "b", "(no end within 1800 s)"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_run_without_failed_tests_is_described_by_its_end() {
        use std::os::unix::process::ExitStatusExt as _;
        let exited = |raw| RunEnd::Exited(ExitStatus::from_raw(raw));
        assert_eq!(causes_of(&exited(101 << 8), OUTPUT), ["a::slow", "b"]);
        assert_eq!(causes_of(&exited(3 << 8), "test fine ... ok"), ["(exit status: 3)"]);
        let killed = causes_of(&exited(9), OUTPUT);
        assert_eq!(killed, ["a::slow", "b", "(signal: 9 (SIGKILL))"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_hangs_is_killed() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let end = wait(&mut child, Duration::from_millis(20)).unwrap();
        assert!(matches!(end, RunEnd::TimedOut));
        assert!(child.try_wait().unwrap().is_some());
    }

    #[test]
    fn saved_outputs_of_other_programs_are_kept() {
        assert!(is_saved_output("crash-12.txt", "crash"));
        for other in ["pack_crash-1.txt", "crash-.txt", "crash-1", "crash-x.txt", "crash.txt"] {
            assert!(!is_saved_output(other, "crash"), "{other}");
        }
    }
}
