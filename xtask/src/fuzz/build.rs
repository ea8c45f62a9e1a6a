//! Builds the fuzz targets, and makes the seeds that they start from.
//!
//! The targets are built with cargo alone and the flags that cargo-fuzz would give, so that nobody needs to install it;
//! `cargo fuzz` works by hand all the same.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::check::TEST_FEATURES;
use crate::step::{Outcome, cargo, output, root, run};

/// What libFuzzer needs to be told by a program: which edges were taken, and what was compared with what.
const FLAGS: [&str; 8] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // Else branches that look alike become one, and cannot be told apart.
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
    "-Zsanitizer=address",
];

/// Where everything of the fuzzers is.
pub(super) fn folder() -> PathBuf {
    root().join("target/fuzz")
}

/// The program of a target.
pub(super) fn program(target: &str) -> Outcome<PathBuf> {
    Ok(folder().join("build").join(machine()?).join("release").join(target))
}

/// Builds all targets.
///
/// Sanitizers are for nightly compilers; a stable one that is told to allow what only they allow does as well.
pub(super) fn targets() -> Outcome {
    // A build that names its machine keeps the flags from build scripts.
    let mut build = cargo(&["build", "--release", "--target", &machine()?]);
    build.args(["--manifest-path", "fuzz/Cargo.toml", "--target-dir"]).arg(folder().join("build"));
    run(build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS.join(" ")))
}

/// Writes the seeds of all targets, and nothing else, to `seeds`.
pub(super) fn seeds() -> Outcome {
    clear(&folder().join("seeds"))?;
    // As part of the workspace, whose tests need nearly all that it needs: alone it would be built with other features.
    let build = ["build", "--quiet", "--workspace", "--bin", "seeds"];
    run(cargo(&build).args(TEST_FEATURES))?;
    let this = std::env::current_exe().map_err(|e| format!("where is this program? {e}"))?;
    let beside = this.with_file_name(format!("seeds{}", std::env::consts::EXE_SUFFIX));
    run(Command::new(beside).arg(folder().join("seeds")).current_dir(root()))
}

/// What the compiler calls this machine.
fn machine() -> Outcome<String> {
    let told = output(Command::new("rustc").arg("-vV"))?;
    let machine = told.lines().find_map(|line| line.strip_prefix("host: "));
    machine.map(str::to_owned).ok_or_else(|| format!("rustc does not say where it runs: {told}"))
}

/// Removes a folder, if it is there.
pub(super) fn clear(folder: &Path) -> Outcome {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {e}", folder.display()))
        }
        _ => Ok(()),
    }
}
