//! The program `superchunk`.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 good, 1 failure, 2 usage.

mod demo;

use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "\
superchunk — Blosc data from a shell

Usage: superchunk <COMMAND>

Commands:
  demo     Compress made-up data with every codec and filter, check it, print ratio and speed
  help     Print this text
  version  Print the version
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = arguments.first().map_or("help", String::as_str);
    let mut stdout = std::io::stdout().lock();
    let outcome = match (command, arguments.len()) {
        ("demo", 1) => demo::run(&mut stdout),
        ("help" | "--help" | "-h", 0 | 1) => stdout.write_all(HELP.as_bytes()).map_err(Into::into),
        ("version" | "--version" | "-V", 1) => {
            writeln!(stdout, "superchunk {}", env!("CARGO_PKG_VERSION")).map_err(Into::into)
        }
        _ => {
            eprintln!("error: unknown command '{}'\n\n{HELP}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if is_broken_pipe(failure.as_ref()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// A reader that has seen enough, such as `head`, is no failure.
fn is_broken_pipe(failure: &(dyn std::error::Error + 'static)) -> bool {
    failure
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
