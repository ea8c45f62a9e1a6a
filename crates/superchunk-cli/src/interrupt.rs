//! Ctrl-C: what is not finished goes, what was there stays.
//!
//! Files that exist only while a command works are written down here. When the process is told to
//! end, they are removed first. A file that gets its final name is crossed out under the same lock,
//! so that it is either removed or finished, never half of both.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a process exits with that was interrupted.
const INTERRUPTED: i32 = 130;
/// How often a folder is emptied that the rest of the process still writes to.
const TRIES: usize = 20;

static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Makes an interrupted process tidy up.
pub(crate) fn install() {
    // Without a handler the process ends all the same, only less tidily.
    let _ = ctrlc::set_handler(|| {
        let unfinished = lock();
        for path in unfinished.iter() {
            (0..TRIES).any(|_| remove(path));
        }
        // The lock is still held: nothing gets its final name any more.
        std::process::exit(INTERRUPTED);
    });
}

/// Writes down a file or folder that is about to be made.
pub(crate) fn began(path: &Path) {
    lock().insert(path.to_owned());
}

/// Does what makes the file or folder final, and crosses it out.
pub(crate) fn finish<T>(path: &Path, change: impl FnOnce() -> T) -> T {
    let mut unfinished = lock();
    let result = change();
    unfinished.remove(path);
    result
}

/// Removes a file or folder, and crosses it out.
pub(crate) fn discard(path: &Path) {
    finish(path, || remove(path));
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

fn lock() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}
