//! `cargo xtask flaky`: repeats the tests that depend on timing while other work keeps every core
//! busy, and reports which of them failed and how often.

mod busy_cores;
mod options;
mod programs;
mod repeat;
mod table;

use crate::peers;
use crate::step::{Outcome, say, step};
use busy_cores::BusyCores;
use options::FlakyOptions;
use repeat::{OUTPUT_FOLDER, repeat};

/// Builds the test programs once, runs each of them as often as requested, and fails at the end if
/// any run failed.
pub(crate) fn flaky(options: &[String]) -> Outcome {
    let options = FlakyOptions::parse(options)?;
    let peers = step("setup", peers::setup)?;
    let programs = step("build", || programs::build(&options.programs))?;
    let busy_cores = BusyCores::start()?;
    let mut tallies = Vec::new();
    for program in &programs {
        tallies.push(repeat(program, options.times, &peers)?);
    }
    drop(busy_cores);
    say(&table::render(&tallies));
    let runs: u32 = tallies.iter().map(|tally| tally.runs).sum();
    match tallies.iter().map(|tally| tally.failures).sum::<u32>() {
        0 => Ok(()),
        failures => Err(format!(
            "{failures} of {runs} runs failed; their output is in {OUTPUT_FOLDER}/PROGRAM-RUN.txt"
        )),
    }
}
