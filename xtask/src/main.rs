//! The project's commands: `cargo xtask help`.
//!
//! `cargo xtask test` is all of the continuous integration, word for word: what passes here passes
//! there. Nothing but the standard library, cargo and Python is needed.

mod bench;
mod check;
mod crash;
mod debian;
mod dependencies;
mod flaky;
mod fuzz;
mod hosts;
mod interop;
mod kernels;
mod loom;
mod narrow;
mod needs;
mod peers;
mod python;
mod step;

use std::process::ExitCode;

use step::{Outcome, say};

const HELP: &str = "\
cargo xtask <command>

  test [options]   everything that must pass: format, lints, dependencies, tests, documents, a short
                   search for bad inputs, that it compiles for the web, Windows and macOS, and the
                   hosts; prints what will be installed before it installs it, and the time of each check
                   --only NAME     run only this check, may be repeated; a wrong name lists them
                   --no-install    fail with a list of what is missing instead of installing it
  setup            only install the peers (real Blosc libraries) under target/venv
  interop          the tests with the real Blosc libraries with every combination of options, of which
                   `test` tries every pair or triple: about a quarter of an hour
  crash [--full]   the search for moments at which a power cut hurts, then the tests `faults`, `races`
                   and `limits` of the program; --full looks at a million images, races 1000 rounds
                   and runs every command line on every file of `limits`
  flaky [options]  repeat the tests that lock, fork, kill or talk to peers while other work keeps
                   all cores busy: --times N for each program (50), --only NAME for one program, may
                   be repeated; saves the output of failed runs as target/flaky/PROGRAM-RUN.txt;
                   example: cargo xtask flaky --times 20 --only races
  python           build the wheel of hosts/python, install it under target/venv/python, and run its tests
  kernels          every test with each instruction set forced in turn
  neon             the kernels on an emulated aarch64 processor, if there is an emulator
  i686             the tests of kernels and library where `usize` has 32 bits; installs gcc-multilib
  miri, asan       every access to memory watched: the kernels interpreted, all tests with AddressSanitizer
  loom             the thread pool, the lock file and readers that follow a writer under every order of events that a
                   few preemptions allow
  fuzz [options]   search for bad inputs: --minutes N for each target (10), --target NAME, --input FILE;
                   or --smoke: a quarter of a minute of each, always the same, as in `test`
  bench [options]  compare with the peers in a release build; `bench --help` tells the options
  counts [--save]  count the instructions of a dozen cases (needs valgrind) and compare with those saved
  help             this text

Environment
  PYTHON               interpreter for the peers, instead of python3.11 or python3 from PATH
  SUPERCHUNK_VECTORS   a folder with further conformance vectors
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((command, options)) if command == "test" => check::test(options),
        Some((command, [])) if command == "setup" => peers::setup().map(drop),
        Some((command, [])) if command == "interop" => interop::interop(),
        Some((command, [])) if command == "python" => python::python(),
        Some((command, [])) if command == "kernels" => kernels::kernels(),
        Some((command, [])) if command == "neon" => kernels::neon(),
        Some((command, [])) if command == "miri" => kernels::miri(),
        Some((command, [])) if command == "asan" => kernels::asan(),
        Some((command, [])) if command == "i686" => narrow::i686(),
        Some((command, options)) if command == "crash" => crash::crash(options),
        Some((command, options)) if command == "flaky" => flaky::flaky(options),
        Some((command, [])) if command == "loom" => loom::loom(),
        Some((command, options)) if command == "fuzz" => fuzz::fuzz(options),
        Some((command, options)) if command == "bench" => bench::bench(options),
        Some((command, options)) if command == "counts" => bench::counts(options),
        Some((command, _)) if ["help", "--help", "-h"].contains(&command.as_str()) => help(),
        None => help(),
        Some(_) => Err(format!("unknown command: {}\n\n{HELP}", arguments.join(" "))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> Outcome {
    say(HELP);
    Ok(())
}
