//! Signals that end the process: what is not finished goes, what was there stays.
//!
//! This module lists the files and folders that exist only while a command works. A signal that
//! ends the process removes them first. Once a change becomes final, signals are ignored: the
//! command ends with the exit code that says what has happened.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use superchunk::store::is_temporary_of;

use crate::chunk_folder::ChunkFolder;
use crate::failure::Outcome;

/// What a process exits with that a signal has ended, less the number of the signal.
const ENDED_BY_SIGNAL: i32 = 128;
/// How often a folder is emptied that the rest of the process still writes to.
const TRIES: usize = 20;

static STATE: Mutex<State> = Mutex::new(State {
    unfinished: BTreeSet::new(),
    edited: BTreeSet::new(),
    growing: Vec::new(),
    is_held: false,
});

struct State {
    /// Files and folders that are not finished.
    unfinished: BTreeSet<PathBuf>,
    /// Files that are being changed, beside which the library may be making new ones.
    edited: BTreeSet<PathBuf>,
    /// Folders to which the library may be adding chunk files.
    growing: Vec<ChunkFolder>,
    /// Whether signals are ignored.
    is_held: bool,
}

/// Makes a process that receives such a signal tidy up.
#[cfg(unix)]
pub(crate) fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    // A file that would become too long is then an error like a full disk.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
    // Who starts a command with `nohup` wants it to go on.
    let wanted = wanted.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    // Without a handler the process ends all the same, only less tidily.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    std::thread::spawn(move || signals.forever().for_each(end));
}

/// Makes a process that receives such a signal tidy up.
#[cfg(windows)]
pub(crate) fn install() {
    const INTERRUPT: i32 = 2;
    let _ = ctrlc::set_handler(|| end(INTERRUPT));
}

/// A bit for each signal that was ignored when the process started.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Removes what is not finished and ends the process, unless a change has become final.
fn end(signal: i32) {
    let state = lock();
    if state.is_held {
        return;
    }
    for path in &state.unfinished {
        (0..TRIES).any(|_| remove(path));
    }
    state.edited.iter().for_each(|path| remove_beside(path));
    stop_new_files();
    // What was being made just then is there by the second time.
    (0..2).for_each(|_| state.growing.iter().for_each(ChunkFolder::clear));
    // The lock is still held: nothing becomes final any more.
    std::process::exit(ENDED_BY_SIGNAL + signal);
}

/// An entry in the list of what goes when the command is interrupted.
#[derive(Debug)]
pub(crate) struct Listed(PathBuf);

impl Listed {
    /// Lists a file or folder that is about to be made.
    pub(crate) fn new(path: PathBuf) -> Self {
        began(&path);
        Self(path)
    }

    /// Makes and lists what is not there yet.
    pub(crate) fn make(path: PathBuf, create: fn(&Path) -> io::Result<()>) -> io::Result<Self> {
        make(&path, || create(&path)).map(|()| Self(path))
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        // What is finished has another place.
        discard(&self.0);
    }
}

/// Writes down a file or folder that is about to be made.
fn began(path: &Path) {
    lock().unfinished.insert(path.to_owned());
}

/// Makes a file or folder and writes it down, in one step for signals.
fn make(path: &Path, make: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut state = lock();
    make()?;
    state.unfinished.insert(path.to_owned());
    Ok(())
}

/// Writes down a file that is about to be changed.
pub(crate) fn edits(path: &Path) {
    lock().edited.insert(path.to_owned());
}

/// Writes down the folders of a container, which is locked, to which chunk files are about to be
/// added.
pub(crate) fn grows(container: &Path) {
    let mut found = Vec::new();
    ChunkFolder::find(container, &mut found);
    lock().growing = found;
}

/// Waits for the end of the process if a signal is about to end it: what has failed meanwhile has
/// failed for that reason.
pub(crate) fn settle() {
    drop(lock());
}

/// Ignores signals from now on: what follows is final.
pub(crate) fn hold() {
    lock().is_held = true;
}

/// Makes a change final, with signals held from here on.
pub(crate) fn finally(change: impl FnOnce() -> superchunk::Result<()>) -> Outcome {
    hold();
    Ok(change()?)
}

/// Removes a file or folder, and crosses it out.
fn discard(path: &Path) {
    let mut state = lock();
    remove(path);
    state.unfinished.remove(path);
}

/// Removes what was to take the place of a file that this process has locked.
fn remove_beside(path: &Path) {
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_temporary_of(&entry.file_name().to_string_lossy(), &name.to_string_lossy()) {
            remove(&entry.path());
        }
    }
}

/// Keeps the rest of the process from making files while they are removed.
fn stop_new_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        // Without that, a file may be left.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(0), maximum });
    }
}

/// Removes a file or folder; tells whether it is gone.
fn remove(path: &Path) -> bool {
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.is_ok()
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
