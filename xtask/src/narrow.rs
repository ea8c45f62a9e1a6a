//! `cargo xtask i686`: the tests of the kernels and of the library where `usize` has 32 bits, as in
//! a browser.

use crate::needs::{Need, provide};
use crate::step::{Outcome, cargo, run, step};
use crate::{debian, peers};

const TARGET: &str = "i686-unknown-linux-gnu";

/// Runs them on this machine, which must be one that runs programs of 32 bits.
pub(crate) fn i686() -> Outcome {
    let peers = step("setup", peers::setup)?;
    provide(&[Need::Target(TARGET), Need::Package(&debian::GCC_MULTILIB)], true)?;
    let tests = ["test", "--target", TARGET, "-p", "superchunk-kernels", "-p", "superchunk"];
    let mut command = cargo(&tests);
    command.args(["--lib", "--tests", "--no-fail-fast"]).envs(peers);
    step("tests with 32 bits", || run(&mut command))
}
