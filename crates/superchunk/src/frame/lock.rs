//! Keeping others out: writers of this library by a lock of the frame itself, C-Blosc2 by its lock
//! file.
//!
//! The lock file counts the changes: a handle that finds another number than it has seen must not
//! trust what it knows. It may appear at any time, because a peer makes it when it first locks; a
//! writer that uses it only where it exists therefore looks for it again before each change and
//! before each commit.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::time::Duration;

use super::Locking;
use super::home::Setup;
use crate::error::{Error, ErrorKind, Result};
#[cfg(any(unix, windows))]
use crate::store::resolve;
use crate::store::{Guard, Sidecar, patiently};

/// The lock of one handle.
pub(super) struct Lock {
    locking: Locking,
    path: std::path::PathBuf,
    /// How long to wait for the lock file; without end if `None`.
    wait: Option<Duration>,
    is_writer: bool,
    sidecar: Option<Sidecar>,
    /// Held during a change.
    exclusive: Option<Guard>,
    seen: Seen,
}

/// What a handle knows of the number of changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// It has made the frame itself: nobody else can have changed it.
    New,
    /// It has read the frame without the lock.
    Unlocked,
    /// The number when it last looked.
    Count(u64),
}

impl Lock {
    /// The lock of a handle that reads.
    pub(super) fn of_reader(setup: &Setup) -> Self {
        Self::new(setup, false, Seen::Unlocked)
    }

    /// The lock of a handle that changes an existing frame.
    pub(super) fn of_writer(setup: &Setup) -> Self {
        Self::new(setup, true, Seen::Unlocked)
    }

    /// The lock of a handle that makes a frame.
    pub(super) fn of_maker(setup: &Setup) -> Self {
        Self::new(setup, true, Seen::New)
    }

    fn new(setup: &Setup, is_writer: bool, seen: Seen) -> Self {
        let sidecar = match setup.locking {
            Locking::Writers | Locking::Existing => None,
            _ if setup.path.as_os_str().is_empty() => None,
            _ if setup.path.is_dir() => Some(Sidecar::for_folder(&setup.path)),
            _ => Some(Sidecar::for_file(&setup.path)),
        };
        let wait = match setup.locking {
            Locking::SidecarNoWait => Some(Duration::ZERO),
            _ => setup.wait,
        };
        let (locking, path) = (setup.locking, setup.path.clone());
        let mut lock = Self { locking, path, wait, is_writer, sidecar, exclusive: None, seen };
        lock.look();
        lock
    }

    /// Whether other writers of this library are kept out by a lock of the frame itself.
    pub(super) fn is_of_frame(&self) -> bool {
        matches!(self.locking, Locking::Writers | Locking::Existing) || self.sidecar.is_none()
    }

    /// Whether C-Blosc2's lock file is taken for each operation.
    pub(super) fn is_shared_with_peers(&self) -> bool {
        self.sidecar.is_some()
    }

    /// Looks for a lock file that may be there by now.
    fn look(&mut self) {
        let uses_existing = match self.locking {
            Locking::Writers => self.is_writer,
            Locking::Existing => true,
            Locking::Sidecar | Locking::SidecarNoWait => false,
        };
        if uses_existing && self.sidecar.is_none() && !self.path.as_os_str().is_empty() {
            self.sidecar = Sidecar::existing(&self.path);
        }
    }

    /// Keeps writers out until the guard is dropped, waiting for them to finish.
    pub(super) fn shared(&self) -> Result<Option<Guard>> {
        let Some(sidecar) = self.sidecar.as_ref().filter(|_| self.exclusive.is_none()) else {
            return Ok(None);
        };
        let guard = match self.wait {
            None => sidecar.shared(),
            Some(wait) => patiently(wait, || sidecar.try_shared()),
        };
        match guard {
            // Who may not even open an existing lock file reads as if there was none.
            Err(error) if !self.is_writer && self.locking == Locking::Existing => {
                if error.kind() == ErrorKind::Locked { Err(error) } else { Ok(None) }
            }
            guard => guard.map(Some),
        }
    }

    /// The same for a read: an error when a writer has been here since the last look.
    pub(super) fn shared_unchanged(&self) -> Result<Option<Guard>> {
        let guard = self.shared()?;
        if let (Some(guard), Seen::Count(seen)) = (&guard, self.seen)
            && seen != guard.generation()
        {
            return Err(changed());
        }
        Ok(guard)
    }

    /// Keeps everyone out until [`Lock::release`]; returns whether there may have been a change
    /// before.
    pub(super) fn exclusive(&mut self) -> Result<bool> {
        self.exclusive_within(self.wait)
    }

    /// Takes a lock file that has appeared since the change began, and makes sure that nobody has
    /// written to the frame meanwhile: `is_unchanged` looks at it.
    pub(super) fn check_not_overtaken(
        &mut self,
        is_unchanged: impl FnOnce() -> Result<bool>,
    ) -> Result<()> {
        if !self.exclusive()? {
            return Ok(());
        }
        let checked = match is_unchanged() {
            Ok(true) => Ok(()),
            Ok(false) => Err(overtaken()),
            Err(error) => Err(error),
        };
        self.unless_failed(checked)
    }

    /// Keeps everyone out until [`Lock::release`], if there is nobody to wait for and nobody has been
    /// here since the last look; returns whether it does.
    pub(super) fn exclusive_if_unchanged(&mut self) -> bool {
        let seen = self.seen;
        match self.exclusive_within(Some(Duration::ZERO)) {
            Ok(false) => true,
            Ok(true) => {
                // What has changed is still to be read.
                self.seen = seen;
                self.release();
                false
            }
            Err(_) => false,
        }
    }

    fn exclusive_within(&mut self, wait: Option<Duration>) -> Result<bool> {
        self.look();
        let Some(sidecar) = self.sidecar.as_ref().filter(|_| self.exclusive.is_none()) else {
            return Ok(false);
        };
        let guard = match wait {
            None => sidecar.exclusive()?,
            Some(wait) => patiently(wait, || sidecar.try_exclusive())?,
        };
        let changed = match self.seen {
            Seen::New => false,
            Seen::Unlocked => true,
            Seen::Count(seen) => seen != guard.generation(),
        };
        self.seen = Seen::Count(guard.generation_to_remember());
        self.exclusive = Some(guard);
        Ok(changed)
    }

    /// Lets others in again.
    pub(super) fn release(&mut self) {
        self.exclusive = None;
    }

    /// Passes on what was read after a change. If it could not be read, others are let in again, and
    /// the next look finds a change again.
    pub(super) fn unless_failed<T>(&mut self, refreshed: Result<T>) -> Result<T> {
        if refreshed.is_err() {
            self.seen = Seen::Unlocked;
            self.release();
        }
        refreshed
    }

    /// What is known now is what the guard protects.
    pub(super) fn saw(&mut self, guard: &Option<Guard>) {
        if let Some(guard) = guard {
            self.seen = Seen::Count(guard.generation());
        }
    }
}

/// Makes C-Blosc2's lock file for the frame at `path`, if it has none. From then on all writers
/// that look for it take turns.
#[cfg(any(unix, windows))]
pub fn create_lock_file(path: impl AsRef<Path>) -> Result<()> {
    let path = &resolve(path)?;
    let sidecar = if path.is_dir() { Sidecar::for_folder(path) } else { Sidecar::for_file(path) };
    sidecar.create()
}

/// What a handle says that knows less than the file.
pub(super) fn changed() -> Error {
    Error::new(ErrorKind::Changed, "another writer has changed the frame: call refresh() first")
}

/// What a writer says whose changes lie over those of somebody who did not wait for it.
fn overtaken() -> Error {
    Error::new(
        ErrorKind::Changed,
        "another program has written to the frame without waiting for this writer: nothing was \
         committed; open it again",
    )
}
