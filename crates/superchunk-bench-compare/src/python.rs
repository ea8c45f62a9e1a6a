//! The scripts that measure other formats: `<subject>_bench.py` beside this file.

use std::path::Path;
use std::process::Command;

use crate::contestant::Answer;
use crate::rounds::Times;

/// The variables that name the interpreters: python-blosc2's, pyarrow's, bcolz's.
pub(crate) const BLOSC2: &str = "SUPERCHUNK_PEER_PYTHON";
pub(crate) const PYARROW: &str = "SUPERCHUNK_BENCH_PYTHON";
pub(crate) const BCOLZ: &str = "SUPERCHUNK_PEER_PYTHON_LEGACY";

/// The script of a subject, to be run by the interpreter that a variable names.
pub(crate) fn script(variable: &str, subject: &str) -> Answer<Command> {
    let python = std::env::var_os(variable)
        .ok_or_else(|| format!("{variable} is not set: run cargo xtask bench {subject}"))?;
    let name = format!("src/{subject}_bench.py");
    let mut command = Command::new(python);
    // No folder of compiled modules shall appear among the sources.
    command.arg("-B").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    Ok(command)
}

/// The two times that a script prints.
pub(crate) fn times(numbers: &[f64]) -> Answer<Times> {
    match numbers {
        [processor, wall] => Ok(Times { processor: *processor, wall: *wall }),
        _ => Err(format!("not two times: {numbers:?}")),
    }
}
