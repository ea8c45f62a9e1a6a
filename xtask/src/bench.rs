//! `cargo xtask bench`: the comparison with the peers, built for speed.

use crate::peers;
use crate::step::{Outcome, cargo, run};

/// Builds and runs the comparison with these options.
pub(crate) fn bench(options: &[String]) -> Outcome {
    let environments = peers::setup()?;
    let mut command = cargo(&["run", "--release", "--package", "superchunk-bench-compare", "--"]);
    command.args(options).env("SUPERCHUNK_PEER_VENV", peers::folder());
    run(command.envs(environments))
}
