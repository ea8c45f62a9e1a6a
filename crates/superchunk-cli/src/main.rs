//! The program `superchunk`; all of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(superchunk_cli::run(std::env::args_os()))
}
