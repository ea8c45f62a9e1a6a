//! `cargo xtask crash`: the crash tests of the library and the tests `faults`, `races` and `limits` of
//! the program alone, as they run in `test` or much longer.

use crate::peers;
use crate::step::{Outcome, cargo, run, step};

/// Set for `--full`: the crash tests look at more than a million images, and every command line meets
/// every file of the tests `limits`.
const FULL_SEARCH: (&str, &str) = ("SUPERCHUNK_CRASH_FULL", "1");
/// Set for `--full`: the number of rounds of the tests `races`.
const RACE_ROUNDS: (&str, &str) = ("SUPERCHUNK_RACE_ROUNDS", "1000");

/// Runs the crash tests of the library, then the tests `faults`, `races` and `limits` of the program;
/// `--full` makes them much longer.
pub(crate) fn crash(options: &[String]) -> Outcome {
    let full = match options.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--full"] => true,
        _ => return Err(format!("crash takes --full or nothing, not {}", options.join(" "))),
    };
    let peers = step("setup", peers::setup)?;
    let tests = |arguments: &[&str]| {
        let mut command = cargo(&["test"]);
        command.args(arguments).args(["--", "--nocapture"]);
        command.envs(peers.iter().map(|(name, value)| (name, value)));
        if full {
            command.envs([FULL_SEARCH, RACE_ROUNDS]);
        }
        run(&mut command)
    };
    step("crash", || tests(&["-p", "superchunk", "--test", "crash"]))?;
    let program =
        ["-p", "superchunk-cli", "--test", "faults", "--test", "races", "--test", "limits"];
    step("faults, races and limits", || tests(&program))
}
