//! `cargo xtask interop`: the tests with the real Blosc libraries, with every combination of options.

use crate::check::TEST_FEATURES;
use crate::peers;
use crate::step::{Outcome, cargo, run, step};

/// Asks `superchunk_testkit::covering` for whole matrices.
const FULL_MATRIX: (&str, &str) = ("SUPERCHUNK_MATRIX", "full");

/// Runs them; `cargo xtask test` runs the same tests with every pair or triple of options.
pub(crate) fn interop() -> Outcome {
    let peers = step("setup", peers::setup)?;
    let mut command = cargo(&["test", "--workspace", "--test", "interop"]);
    command.args(TEST_FEATURES).envs(peers).envs([FULL_MATRIX]);
    step("interop", || run(&mut command))
}
