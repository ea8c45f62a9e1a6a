//! The command `superchunk`, which is linked into the extension module.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, whose first word is the name of the program; returns the exit code. It reads
/// and writes the standard streams of the process and handles its signals: to be called by programs
/// that do nothing else.
#[pyfunction]
pub(crate) fn _run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| superchunk_cli::run(arguments))
}
