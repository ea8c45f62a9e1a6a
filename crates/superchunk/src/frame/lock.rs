//! Keeping others out, by the protocol of C-Blosc2 when that was asked for.
//!
//! Its lock file counts the changes: a handle that finds another number than it has seen must not
//! trust what it knows.

use super::Locking;
use super::home::Setup;
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Guard, Sidecar};

/// The lock of one handle.
pub(super) struct Lock {
    sidecar: Option<Sidecar>,
    waits: bool,
    /// Held during a change.
    exclusive: Option<Guard>,
    /// The number of changes that this handle knows of; none before the first look.
    seen: Option<u64>,
}

impl Lock {
    pub(super) fn new(setup: &Setup) -> Self {
        let sidecar = match setup.locking {
            Locking::Writers => None,
            _ if setup.path.as_os_str().is_empty() => None,
            _ if setup.path.is_dir() => Some(Sidecar::for_folder(&setup.path)),
            _ => Some(Sidecar::for_file(&setup.path)),
        };
        Self { sidecar, waits: setup.locking == Locking::Sidecar, exclusive: None, seen: None }
    }

    /// Whether the lock is one that C-Blosc2 takes too, for each operation.
    pub(super) fn is_shared_with_peers(&self) -> bool {
        self.sidecar.is_some()
    }

    /// Keeps writers out until the guard is dropped, waiting for them to finish.
    pub(super) fn shared(&self) -> Result<Option<Guard>> {
        match &self.sidecar {
            Some(sidecar) if self.exclusive.is_none() && self.waits => sidecar.shared().map(Some),
            Some(sidecar) if self.exclusive.is_none() => sidecar.try_shared().map(Some),
            _ => Ok(None),
        }
    }

    /// The same for a read: an error when a writer has been here since the last look.
    pub(super) fn shared_unchanged(&self) -> Result<Option<Guard>> {
        let guard = self.shared()?;
        if let Some(guard) = &guard
            && self.seen.is_some_and(|seen| seen != guard.generation())
        {
            return Err(changed());
        }
        Ok(guard)
    }

    /// Keeps everyone out until [`Lock::release`]; returns whether there was a change before.
    pub(super) fn exclusive(&mut self) -> Result<bool> {
        let Some(sidecar) = self.sidecar.as_ref().filter(|_| self.exclusive.is_none()) else {
            return Ok(false);
        };
        let guard = if self.waits { sidecar.exclusive()? } else { sidecar.try_exclusive()? };
        let changed = self.seen.is_some_and(|seen| seen != guard.generation());
        self.seen = Some(guard.generation_to_remember());
        self.exclusive = Some(guard);
        Ok(changed)
    }

    /// Lets others in again.
    pub(super) fn release(&mut self) {
        self.exclusive = None;
    }

    /// What is known now is what the guard protects.
    pub(super) fn saw(&mut self, guard: &Option<Guard>) {
        if let Some(guard) = guard {
            self.seen = Some(guard.generation());
        }
    }
}

/// What a handle says that knows less than the file.
pub(super) fn changed() -> Error {
    Error::new(ErrorKind::Changed, "another writer has changed the frame: call refresh() first")
}
