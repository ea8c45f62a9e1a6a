//! How a frame is to be treated where it lives.

use std::path::PathBuf;
use std::time::Duration;

use super::{Durability, Locking};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::store::{Dir, WriteAt};

/// How a frame is to be treated.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) durability: Durability,
    /// Whether chunks get checksums, and the frame a fingerprint, where that is possible.
    pub(crate) sealed: bool,
    /// Whether a fingerprint that does not match is to be ignored.
    pub(crate) trusting: bool,
    pub(crate) locking: Locking,
    /// How long to wait for other writers; `None` is not at all for those of this library, and as
    /// long as it takes for the lock file.
    pub(crate) wait: Option<Duration>,
    /// Whether every read makes sure that the frame has not changed.
    pub(crate) following: bool,
    /// Where the frame is, to find its lock file; empty where there can be none.
    pub(crate) path: PathBuf,
}

impl Setup {
    /// Waits until `store` is on the disk, if that was asked for.
    pub(super) fn sync(&self, store: &dyn WriteAt) -> Result<()> {
        if self.durability == Durability::Full { store.sync() } else { Ok(()) }
    }

    /// Waits until the names of `dir` are on the disk, if that was asked for.
    pub(super) fn sync_names(&self, dir: &dyn Dir) -> Result<()> {
        if self.durability == Durability::Full { dir.sync() } else { Ok(()) }
    }
}

/// What a writer says after a commit has failed: nobody knows what is on the disk.
pub(super) fn poisoned() -> Error {
    let words = "an earlier commit failed: open the frame again to see what is left";
    Error::new(ErrorKind::Io, words)
}
