//! Builds the fuzz targets, and makes the seeds that they start from.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::step::{Outcome, cargo, root, run, say};

/// The version of cargo-fuzz that is installed under `target/tools`.
const CARGO_FUZZ: &str = "0.13.2";

/// With flags for a sanitizer a build must name its target, lest they reach build scripts.
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Where everything of the fuzzers is.
pub(super) fn folder() -> PathBuf {
    root().join("target/fuzz")
}

/// The program of a target.
pub(super) fn program(target: &str) -> PathBuf {
    folder().join("build").join(TRIPLE).join("release").join(target)
}

/// Builds all targets, and cargo-fuzz before if it is missing.
///
/// cargo-fuzz wants a nightly compiler; a stable one that is told to allow what only nightly allows does as well.
pub(super) fn targets() -> Outcome {
    let compiler = Command::new("g++").arg("--version").stdout(Stdio::null()).status();
    if !compiler.is_ok_and(|status| status.success()) {
        return Err("there is no g++: libFuzzer is written in C++; install g++ first".to_owned());
    }
    let tool = install()?;
    let mut build = Command::new(tool);
    build.args(["build", "--fuzz-dir", "fuzz", "--target", TRIPLE, "-O"]).current_dir(root());
    build.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", folder().join("build"));
    run(&mut build)
}

/// Writes the seeds of all targets.
pub(super) fn seeds() -> Outcome {
    let mut command =
        cargo(&["run", "--quiet", "-p", "superchunk-fuzzing", "--bin", "seeds", "--"]);
    run(command.arg(folder().join("seeds")))
}

/// The program cargo-fuzz.
fn install() -> Outcome<OsString> {
    let place = root().join("target/tools");
    let tool = place.join("bin/cargo-fuzz");
    let found = Command::new(&tool).arg("--version").output();
    let is_right = |output: std::process::Output| {
        String::from_utf8_lossy(&output.stdout).trim().ends_with(CARGO_FUZZ)
    };
    if !found.is_ok_and(is_right) {
        say(&format!("installing cargo-fuzz {CARGO_FUZZ} in target/tools"));
        let mut command = cargo(&["install", "cargo-fuzz", "--version", CARGO_FUZZ, "--locked"]);
        command.args(["--force", "--root"]).arg(&place);
        run(command.env("CARGO_TARGET_DIR", place.join("build")))?;
    }
    Ok(tool.into())
}
