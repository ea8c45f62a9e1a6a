//! `cargo xtask loom`: threads and processes under every order of events that a few preemptions allow.

use crate::step::{Outcome, cargo, run};

/// Runs the models of the pool, of the lock file, and of readers that follow a writer.
pub(crate) fn loom() -> Outcome {
    let pool = ["test", "-p", "superchunk-kernels", "--features", "pool", "--lib"];
    model(&pool, &["pool::loom_tests"])?;
    // Most of the time would be the compiler's otherwise.
    let frames = ["test", "-p", "superchunk", "--profile", "unoptimised", "--no-default-features"];
    let frames = [&frames[..], &["--features", "bloscpack"]].concat();
    model(&[&frames[..], &["--lib"]].concat(), &["store::sidecar::loom_tests"])?;
    model(&[&frames[..], &["--test", "loom_follow"]].concat(), &[])
}

fn model(what: &[&str], tests: &[&str]) -> Outcome {
    let mut command = cargo(what);
    // Another folder: changed flags would rebuild everything in the first one.
    command.args(["--target-dir", "target/loom", "--"]).args(tests);
    run(command.env("RUSTFLAGS", "--cfg loom"))
}
