//! Locks of open files and folders.
//!
//! A lock of the system belongs to the open file, which a child process shares from its start until
//! it runs its own program. Closing the descriptor therefore leaves the lock in place while another
//! thread starts a process. So locks are released explicitly, and only by the process that took
//! them: a forked child that drops its copy of a handle must not release the lock of its parent.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::file::named;
use crate::error::{Error, Result};

/// Who is kept out by a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockKind {
    /// Everyone else who locks.
    Exclusive,
    /// Everyone who locks exclusively.
    Shared,
}

/// Whether an open file or folder is locked, and by which process.
#[derive(Debug, Default)]
pub(super) struct LockState {
    /// The number of the process that took the lock; 0 when there is none.
    owner: AtomicU32,
}

impl LockState {
    /// Takes the lock of `file`, or fails at once.
    pub(super) fn take(&self, file: &File, path: &Path, kind: LockKind) -> Result<()> {
        let attempt = || match kind {
            LockKind::Exclusive => file.try_lock(),
            LockKind::Shared => file.try_lock_shared(),
        };
        loop {
            return match attempt() {
                Ok(()) => {
                    self.owner.store(process::id(), Ordering::Release);
                    Ok(())
                }
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {
                    continue;
                }
                Err(TryLockError::Error(error)) => {
                    Err(Error::io("cannot lock it", error).within(named(path)))
                }
                Err(TryLockError::WouldBlock) => Err(in_use(path)),
            };
        }
    }

    /// Releases the lock of `file` if this process took it.
    pub(super) fn release(&self, file: &File) {
        if self.owner.swap(0, Ordering::AcqRel) == process::id() {
            // It fails only on a file that is not open, which has no lock either.
            let _ = file.unlock();
        }
    }
}

pub(super) fn in_use(path: &Path) -> Error {
    Error::locked("another writer holds it; wait until that one is closed, or open it for reading")
        .within(named(path))
}
