//! `cargo xtask crash`: the crash tests alone, as they run in `test` or much longer.

use crate::peers;
use crate::step::{Outcome, cargo, run, step};

/// Runs the crash tests; `--full` makes them look at more than a million images.
pub(crate) fn crash(options: &[String]) -> Outcome {
    let full = match options.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--full"] => true,
        _ => return Err(format!("crash takes --full or nothing, not {}", options.join(" "))),
    };
    let peers = step("setup", peers::setup)?;
    let mut command = cargo(&["test", "-p", "superchunk", "--test", "crash", "--", "--nocapture"]);
    command.envs(peers.iter().map(|(name, value)| (name, value)));
    if full {
        command.env("SUPERCHUNK_CRASH_FULL", "1");
    }
    step("crash", || run(&mut command))
}
