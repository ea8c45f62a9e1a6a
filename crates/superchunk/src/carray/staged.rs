//! The second half of a commit: the chunks are in place, the lengths follow.
//!
//! A carray does both halves at once. A table first has the chunks of all columns placed, and only
//! then changes their lengths.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::chunk_file::chunk_name;
use super::home::{Home, PreparedSizes};
use super::sizes::Sizes;
use super::watch::Watch;
use crate::error::Result;

/// What a table and the layout of one of its columns share.
#[derive(Debug, Default)]
pub(crate) struct Control {
    deferring: AtomicBool,
    staged: Mutex<Option<Staged>>,
    watch: OnceLock<Arc<dyn Watch>>,
}

/// A length that is still to be written, and what can only follow it.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) old_rows: u64,
    pub(crate) sizes: Sizes,
    /// Whether the length must be left to others.
    pub(super) keeps_length: bool,
    /// The files of chunks that the old length does not need.
    pub(super) beyond: Vec<String>,
    /// Chunks with fewer rows than the old length needs: temporary names and numbers.
    pub(super) shorter: Vec<(String, u64)>,
    /// Chunks that the new length does not need.
    pub(super) doomed: std::ops::Range<u64>,
    /// Whether its writer commits often.
    pub(super) often: bool,
    /// What was written to change the length.
    pub(super) prepared: Option<PreparedSizes>,
}

impl Control {
    /// Makes every commit stop after its first half.
    pub(crate) fn defer(&self) {
        self.deferring.store(true, Ordering::Release);
    }

    pub(super) fn is_deferring(&self) -> bool {
        self.deferring.load(Ordering::Acquire)
    }

    /// Has somebody told of all chunks from now on; only the first one to ask is.
    pub(crate) fn watch(&self, watch: Arc<dyn Watch>) {
        self.watch.get_or_init(|| watch);
    }

    /// Who is told of chunks.
    pub(super) fn watcher(&self) -> Option<&dyn Watch> {
        self.watch.get().map(Arc::as_ref)
    }

    pub(super) fn stage(&self, staged: Staged) {
        *self.staged.lock().unwrap_or_else(PoisonError::into_inner) = Some(staged);
    }

    /// The second half of the last commit, if it was not done.
    pub(crate) fn take(&self) -> Option<Staged> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Staged {
    /// Claims the space that the new length takes. What fails here leaves the old length.
    pub(crate) fn prepare(&mut self, home: &Home) -> Result<()> {
        if !self.keeps_length {
            self.prepared = Some(home.prepare_sizes(&self.sizes.write(), self.often)?);
        }
        Ok(())
    }

    /// Gives up what was prepared, and removes the chunks that only the new length needs.
    pub(crate) fn cancel(&self, home: &Home) {
        if let Some(prepared) = &self.prepared {
            home.forget_sizes(prepared);
        }
        let waiting = self.shorter.iter().map(|(temporary, _)| temporary);
        for name in self.beyond.iter().chain(waiting) {
            let _ = home.data().and_then(|data| data.remove(name));
        }
    }

    /// Makes the prepared length the one that everybody sees.
    pub(crate) fn finish(self, home: &Home) -> Result<()> {
        let Some(prepared) = self.prepared else { return Ok(()) };
        home.place_sizes(prepared)?;
        if self.shorter.is_empty() && self.doomed.is_empty() {
            return Ok(());
        }
        // Of a chunk that is too long only the rows that the length covers count, and files with
        // higher numbers are ignored: what stays does no harm.
        let Ok(data) = home.data() else { return Ok(()) };
        for (temporary, number) in &self.shorter {
            if data.publish(temporary, &chunk_name(*number)).is_err() {
                let _ = data.remove(temporary);
            }
        }
        for number in self.doomed.rev() {
            let _ = data.remove(&chunk_name(number));
        }
        let _ = home.sync(data);
        Ok(())
    }
}
