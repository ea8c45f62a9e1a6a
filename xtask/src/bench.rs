//! `cargo xtask bench`: the comparison with the peers, built for speed; `cargo xtask counts`: what can
//! be told without a clock.

use crate::peers;
use crate::step::{Outcome, cargo, run};

/// Builds and runs the comparison with these options. `--no-pure-rs` leaves the crate blosc2-pure-rs
/// out of the build. The words `objects` and `tables` install pyarrow first.
pub(crate) fn bench(options: &[String]) -> Outcome {
    let mut environments = peers::setup()?;
    if options.iter().any(|option| option == "objects" || option == "tables") {
        environments.push(peers::setup_bench()?);
    }
    let (without, options): (Vec<&String>, Vec<&String>) =
        options.iter().partition(|option| *option == "--no-pure-rs");
    let mut command = cargo(&["run", "--release", "--package", "superchunk-bench-compare"]);
    if without.is_empty() {
        command.args(["--features", "pure-rs"]);
    }
    command.arg("--").args(options).env("SUPERCHUNK_PEER_VENV", peers::folder());
    run(command.envs(environments))
}

/// Counts the instructions of representative cases; fails where they are more than those saved.
pub(crate) fn counts(options: &[String]) -> Outcome {
    let mut command = cargo(&["run", "--release", "--package", "superchunk-bench"]);
    command.args(["--bin", "bench-counts", "--"]).args(options);
    run(&mut command)
}
