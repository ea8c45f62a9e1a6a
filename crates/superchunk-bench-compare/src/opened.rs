//! How many threads work on a file that was opened.
//!
//! Those of C-Blosc2 are told by a variable of its environment, which it reads whenever it opens one, and which a program cannot safely
//! change for itself. So the benches of files with several threads have a process of their own.

use std::process::Command;

use crate::args::Args;

const VARIABLE: &str = "BLOSC_NTHREADS";

/// The threads of the benches of files.
pub(crate) fn threads(args: &Args) -> Result<usize, String> {
    match args.threads[..] {
        [threads] => Ok(threads.max(1)),
        _ => Err("the benches of files take one number of threads at a time".to_owned()),
    }
}

/// What a report of such a bench is of.
pub(crate) fn subject(word: &str, args: &Args) -> Result<String, String> {
    Ok(match threads(args)? {
        1 => word.to_owned(),
        threads => format!("{word}-{threads}-threads"),
    })
}

/// Whether C-Blosc2 will work with the threads that were asked for in this process.
pub(crate) fn is_prepared(args: &Args) -> Result<bool, String> {
    let told = std::env::var(VARIABLE).unwrap_or_else(|_| "1".to_owned());
    Ok(told == threads(args)?.to_string())
}

/// Runs this program again in such a process; `false` when an answer was wrong.
pub(crate) fn run_prepared(args: &Args) -> Result<bool, String> {
    let program = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
    let mut again = Command::new(&program);
    again.args(std::env::args_os().skip(1)).env(VARIABLE, threads(args)?.to_string());
    let status = again.status().map_err(|e| format!("{}: {e}", program.display()))?;
    Ok(status.success())
}
