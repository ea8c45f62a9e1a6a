//! `cargo xtask loom`: the thread pool under every order of events that a few preemptions allow.

use crate::step::{Outcome, cargo, run};

/// Runs the models of the pool.
pub(crate) fn loom() -> Outcome {
    let mut command = cargo(&["test", "-p", "superchunk-kernels", "--features", "pool", "--lib"]);
    // Another folder: changed flags would rebuild everything in the first one.
    command.args(["--target-dir", "target/loom", "--", "pool::loom_tests"]);
    run(command.env("RUSTFLAGS", "--cfg loom"))
}
