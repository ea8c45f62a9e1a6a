//! One step of a command: a name, some work, the time it took; a failing step names itself.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Done, or a sentence that says what went wrong.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// Runs one step and prints its name before and its time after.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    say(&format!("== {name}"));
    let start = Instant::now();
    let result = work().map_err(|reason| format!("step '{name}' failed: {reason}"))?;
    say(&format!("== {name}: ok, {:.1} s", start.elapsed().as_secs_f64()));
    Ok(result)
}

/// Runs a command whose output the reader sees.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let line = describe(command);
    let status = command.status().map_err(|e| format!("cannot run {line}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{line} ended with {status}")) }
}

/// Runs a command and returns what it printed.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let line = describe(command);
    let result = command.stderr(Stdio::inherit()).output();
    let result = result.map_err(|e| format!("cannot run {line}: {e}"))?;
    if !result.status.success() {
        return Err(format!("{line} ended with {}", result.status));
    }
    String::from_utf8(result.stdout).map_err(|e| format!("{line}: {e}"))
}

/// A cargo command in the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Prints a line at once, so that it stands before what the next command prints.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A closed pipe is no reason to stop the work.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
