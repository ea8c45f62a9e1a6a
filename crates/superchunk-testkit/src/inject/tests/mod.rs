//! Tests with programs that every Linux system has.

mod calls;
mod faults;
mod processes;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Call, Ended, Fault, run};
use crate::scratch::Scratch;

/// Returns a command that runs in a folder and prints English messages.
fn command(folder: &Path, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("LC_ALL", "C").stdin(Stdio::null());
    command
}

fn shell(folder: &Path, script: &str) -> Command {
    command(folder, "sh", &["-c", script])
}

fn python(folder: &Path, script: &str) -> Command {
    let imports = "import ctypes, mmap, os, struct, sys, threading\n";
    command(folder, "python3", &["-S", "-c", &format!("{imports}{script}")])
}

/// Writes four blocks of 4096 bytes to the file `x`.
fn four_blocks(folder: &Path) -> Command {
    fs::write(folder.join("source"), blocks()).unwrap();
    command(folder, "dd", &["if=source", "of=x", "bs=4k", "status=none"])
}

/// Returns the data of [`four_blocks`].
fn blocks() -> Vec<u8> {
    (0..16384_u32).map(|i| u8::try_from(i % 251).unwrap()).collect()
}

/// Runs a command with the fault at the call with the given name and, of those, the given number.
fn run_with(
    make: impl Fn(&Path) -> Command,
    prepare: impl Fn(&Path),
    (name, number): (&str, usize),
    fault: Fault,
) -> (Scratch, Ended) {
    let quiet = Scratch::new();
    prepare(quiet.folder());
    let calls = run(&mut make(quiet.folder()), quiet.folder(), None).unwrap().calls;
    let matching = calls.iter().enumerate().filter(|(_, call)| call.name.starts_with(name));
    let (index, _) = matching.clone().nth(number).unwrap_or_else(|| panic!("{calls:?}"));
    let scratch = Scratch::new();
    prepare(scratch.folder());
    let mut command = make(scratch.folder());
    let ended = run(&mut command, scratch.folder(), Some((index, fault))).unwrap();
    (scratch, ended)
}

fn disturb(make: impl Fn(&Path) -> Command, at: (&str, usize), fault: Fault) -> (Scratch, Ended) {
    run_with(make, |_| {}, at, fault)
}

/// Returns the names of calls and of their files relative to the root folder.
fn listed<'a>(root: &Path, calls: &'a [Call]) -> Vec<(&'a str, String)> {
    let root = fs::canonicalize(root).unwrap();
    let relative = |call: &'a Call| {
        let path = call.path.as_ref().unwrap().strip_prefix(&root).unwrap();
        (call.name, path.to_str().unwrap().to_owned())
    };
    calls.iter().map(relative).collect()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn assert_killed(ended: &Ended) {
    assert_eq!(ended.status.signal(), Some(libc::SIGKILL), "{ended:?}");
    assert!(ended.injected);
}

fn assert_succeeded(ended: &Ended) {
    assert!(ended.status.success(), "{ended:?}");
}
