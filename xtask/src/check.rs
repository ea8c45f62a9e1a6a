//! `cargo xtask test`: every check, in the order in which failures are cheapest to find.

use std::ffi::OsString;
use std::process::Command;

use crate::step::{Outcome, cargo, output, run, say, step};
use crate::{dependencies, fuzz, kernels, loom, peers};

/// The two crates that users build without default features, too.
const CORE: [&str; 4] = ["-p", "superchunk-kernels", "-p", "superchunk"];
const WASM: &str = "wasm32-unknown-unknown";
/// The targets that are compiled for, but never run: Windows and macOS.
const OTHER_SYSTEMS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Runs everything; the first failing step ends it.
pub(crate) fn test() -> Outcome {
    let start = std::time::Instant::now();
    let peers = step("setup", peers::setup)?;
    step("fmt", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("clippy", clippy)?;
    step("dependencies", dependencies::check)?;
    step("tests", || tests(&peers))?;
    step("lesser kernels", kernels::lesser)?;
    step("loom", loom::loom)?;
    step("docs", docs)?;
    step("wasm", wasm)?;
    step("other systems", other_systems)?;
    step("neon", kernels::neon_compiles)?;
    step("fuzz", || fuzz::smoke(&peers))?;
    say(&format!("== all passed, {:.0} s", start.elapsed().as_secs_f64()));
    Ok(())
}

fn clippy() -> Outcome {
    let deny = ["--", "-D", "warnings"];
    let all = ["clippy", "--workspace", "--all-targets", "--all-features"];
    run(cargo(&all).args(deny))?;
    run(cargo(&["clippy", "--no-default-features"]).args(CORE).args(deny))
}

/// Unit, integration and document tests, with the peers made known. Default features are all features
/// but those that only benches need, whose dependencies nobody else needs, and `ndarray`.
fn tests(peers: &[(&str, OsString)]) -> Outcome {
    let peers = || peers.iter().map(|(name, value)| (name, value));
    run(cargo(&["test", "--workspace"]).envs(peers()))?;
    let views = ["test", "-p", "superchunk", "--features", "ndarray", "--test", "nd"];
    run(cargo(&views).envs(peers()))
}

fn docs() -> Outcome {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--all-features"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// The library builds for the web; the kernels also with the vector instructions there.
fn wasm() -> Outcome {
    add_target(WASM)?;
    let build = ["build", "--profile", "unoptimised", "--target", WASM];
    run(cargo(&build).args(["-p", "superchunk"]))?;
    let mut kernels = cargo(&build);
    kernels.args(["-p", "superchunk-kernels"]);
    // Another folder: changed flags would rebuild everything in the first one.
    kernels.args(["--target-dir", "target/wasm-simd128"]);
    run(kernels.env("RUSTFLAGS", "-C target-feature=+simd128 -D warnings"))
}

/// The library and the program compile for Windows and macOS. Nothing is linked, which would need
/// the linker and the system libraries of the target.
fn other_systems() -> Outcome {
    for target in OTHER_SYSTEMS {
        add_target(target)?;
        let mut check = cargo(&["check", "--profile", "unoptimised", "--target", target]);
        run(check.args(["-p", "superchunk", "-p", "superchunk-cli"]))?;
    }
    Ok(())
}

/// Installs the standard library of a target. Without rustup, the one that the compiler already has
/// is used; if it has none, the build that follows fails and names the target.
pub(crate) fn add_target(target: &str) -> Outcome {
    let installed = Command::new("rustup").args(["target", "add", target]).status();
    if !installed.is_ok_and(|status| status.success()) {
        let libraries = output(Command::new("rustc").args(["--print", "sysroot"]))?;
        say(&format!("rustup cannot add {target}; using that of {}", libraries.trim()));
    }
    Ok(())
}
