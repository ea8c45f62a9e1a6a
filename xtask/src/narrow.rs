//! `cargo xtask i686`: the tests of the kernels and of the library where `usize` has 32 bits, as in
//! a browser.

use std::process::{Command, Stdio};

use crate::check::add_target;
use crate::step::{Outcome, cargo, run, step};
use crate::{debian, peers};

const TARGET: &str = "i686-unknown-linux-gnu";

/// Runs them on this machine, which must be one that runs programs of 32 bits.
pub(crate) fn i686() -> Outcome {
    let peers = step("setup", peers::setup)?;
    add_target(TARGET)?;
    debian::need("gcc-multilib", "which programs of 32 bits are linked with", links_32_bits)?;
    let tests = ["test", "--target", TARGET, "-p", "superchunk-kernels", "-p", "superchunk"];
    let mut command = cargo(&tests);
    command.args(["--lib", "--tests", "--no-fail-fast"]);
    command.envs(peers.iter().map(|(name, value)| (name, value)));
    step("tests with 32 bits", || run(&mut command))
}

/// Whether the C compiler finds the libraries for programs of 32 bits.
fn links_32_bits() -> bool {
    let mut compiler = Command::new("cc");
    compiler.args(["-m32", "-x", "c", "/dev/null", "-shared", "-o", "/dev/null"]);
    compiler.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
