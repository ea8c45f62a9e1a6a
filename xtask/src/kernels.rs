//! The library with each of its kernels: `cargo xtask kernels` forces instruction sets, `neon` runs on an
//! emulated processor, `miri` and `asan` watch every access to memory.

use std::process::{Command, Stdio};

use crate::check::TEST_FEATURES;
use crate::needs::has_target;
use crate::peers;
use crate::step::{Outcome, cargo, run, say, step};

/// The variable that chooses an instruction set in builds with [`TEST_FEATURES`].
const FORCE: &str = "SUPERCHUNK_CPU";
const AARCH64: &str = "aarch64-unknown-linux-gnu";
const NEON_FOLDER: [&str; 2] = ["--target-dir", "target/aarch64"];
const HERE: &str = "x86_64-unknown-linux-gnu";

/// All tests of both crates with each instruction set in turn.
pub(crate) fn kernels() -> Outcome {
    let peers = step("setup", peers::setup)?;
    for isa in ["scalar", "sse2", "avx2", "avx512"] {
        let mut command = cargo(&["test", "-p", "superchunk-kernels", "-p", "superchunk"]);
        command.args(TEST_FEATURES).env(FORCE, isa).envs(peers.iter().cloned());
        step(&format!("every test with {isa}"), || run(&mut command))?;
    }
    Ok(())
}

/// The tests that a wrong kernel is most likely to fail, with the sets that a machine with AVX-512 would
/// not choose by itself.
pub(crate) fn lesser() -> Outcome {
    // The whole workspace selects the same features as the check `tests`: nothing is built twice.
    let chosen = ["test", "--workspace", "--lib", "--test", "memory", "--test", "chunks"];
    ["scalar", "sse2", "avx2"].iter().try_for_each(|isa| {
        run(cargo(&chosen).args(TEST_FEATURES).env(FORCE, isa).envs(peers::variables()))
    })
}

/// The kernels checked for `aarch64`, where the compiler has what that takes.
pub(crate) fn neon_compiles() -> Outcome {
    if !has_target(AARCH64) {
        say(&format!("the standard library of {AARCH64} is not installed: NEON was not compiled"));
        return Ok(());
    }
    let mut check = cargo(&["check", "-p", "superchunk-kernels", "--target", AARCH64]);
    run(check.args(NEON_FOLDER))
}

/// The kernels' tests on an emulated `aarch64` processor, where there is one.
pub(crate) fn neon() -> Outcome {
    step("neon compiles", neon_compiles)?;
    if !at_hand("qemu-aarch64") || !at_hand("aarch64-linux-gnu-gcc") {
        say("qemu-aarch64 or aarch64-linux-gnu-gcc is not at hand: nothing was run with NEON");
        return Ok(());
    }
    let mut tests = cargo(&["test", "-p", "superchunk-kernels", "--lib", "--test", "memory"]);
    tests.args(["--features", "pool", "--target", AARCH64]).args(NEON_FOLDER);
    let of_target = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU";
    tests.env(format!("{of_target}_LINKER"), "aarch64-linux-gnu-gcc");
    tests.env(format!("{of_target}_RUNNER"), "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    step("kernels with neon, emulated", || run(&mut tests))
}

/// Tests of the kernels that are short enough, interpreted: every access to memory is seen. Miri has
/// no `cpuid`, so that SSE2 is the best that the kernels choose there; scalar is asked for besides.
pub(crate) fn miri() -> Outcome {
    let nightly = ["run", "nightly", "cargo", "miri"];
    let mut version = Command::new("rustup");
    let found = version.args(nightly).arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    if !found.status().is_ok_and(|status| status.success()) {
        say("no nightly toolchain with Miri is installed: nothing was interpreted");
        return Ok(());
    }
    for isa in ["scalar", "sse2"] {
        let mut command = Command::new("rustup");
        command.args(nightly).args(["test", "-p", "superchunk-kernels", "--test", "memory"]);
        command.args(["--features", "__internal-test", "--target-dir", "target/miri"]);
        // The variable is read by the interpreted program.
        command.env("MIRIFLAGS", format!("-Zmiri-env-forward={FORCE}")).env(FORCE, isa);
        step(&format!("miri with {isa}"), || run(command.current_dir(crate::step::root())))?;
    }
    Ok(())
}

/// All tests of both crates with AddressSanitizer, which the compiler offers only when told that it
/// is a newer one.
pub(crate) fn asan() -> Outcome {
    let peers = step("setup", peers::setup)?;
    let mut command = cargo(&["test", "-p", "superchunk-kernels", "-p", "superchunk", "--tests"]);
    command.args(["--target", HERE, "--target-dir", "target/asan", "--no-fail-fast"]);
    // The pool forgets the payload of a second panic on purpose: dropping it could panic again. A test asks for more memory
    // than there can be.
    command.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1");
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
    command.envs(peers);
    step("asan", || run(&mut command))
}

fn at_hand(program: &str) -> bool {
    let mut asked = Command::new(program);
    asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok_and(|status| status.success())
}
