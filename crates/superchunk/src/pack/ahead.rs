//! Small reads, one behind the other, without asking the store for each.

use crate::error::Result;
use crate::store::ReadAt;

/// What is read at once. Chunks are usually longer: of each only the header is wanted.
const WINDOW: usize = 4096;

/// A store that is read from its start to its end in small pieces.
pub(super) struct Ahead<'s> {
    store: &'s dyn ReadAt,
    start: u64,
    window: Vec<u8>,
}

impl<'s> Ahead<'s> {
    pub(super) fn new(store: &'s dyn ReadAt) -> Self {
        Self { store, start: 0, window: Vec::new() }
    }

    /// `N` bytes from `position` on; `None` where the store ends before.
    pub(super) fn array<const N: usize>(&mut self, position: u64) -> Result<Option<[u8; N]>> {
        if let Some(array) = self.here(position) {
            return Ok(Some(array));
        }
        self.window.resize(WINDOW.max(N), 0);
        let found = self.store.read_at(position, &mut self.window)?;
        self.window.truncate(found);
        self.start = position;
        Ok(self.here(position))
    }

    fn here<const N: usize>(&self, position: u64) -> Option<[u8; N]> {
        let at = usize::try_from(position.checked_sub(self.start)?).ok()?;
        self.window.get(at..)?.first_chunk().copied()
    }
}
