//! The program as a process, and the folders that it works in.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_superchunk");

/// A command line, split at spaces, that runs in a folder. It has one thread, so that its system
/// calls have the same order in every run.
pub(crate) fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["-T", "1"]).args(line.split_whitespace()).current_dir(folder);
    command.env("NO_COLOR", "1").env("TMPDIR", folder).stdin(Stdio::null());
    command
}

/// Runs a line of a real shell, in which `superchunk` is the program, and fails unless it succeeds.
#[track_caller]
pub(crate) fn shell(folder: &Path, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", &line.replace("superchunk ", &format!("{PROGRAM} -q -T 1 "))]);
    let output = command.current_dir(folder).env("TMPDIR", folder).output().unwrap();
    assert!(output.status.success(), "{line}: {}", words(&output));
}

/// The exit status of a process and its messages.
pub(crate) fn words(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim_end())
}

/// Makes `to` a copy of the folder `from` with the modes of all files; removes the old `to` first.
pub(crate) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}
