//! What a handle that changes a contiguous frame knows of its file.

use std::ops::Range;
use std::sync::Arc;

use super::holes;
use super::opener::Frame;
use super::space::Space;
use crate::error::{MustGet, Result};
use crate::store::WriteAt;

/// The file of a frame that is changed.
pub(super) struct Writer {
    pub(super) file: Arc<dyn WriteAt>,
    pub(super) space: Space,
    /// Several entries share a chunk: then no chunk can be freed.
    pub(super) shared: bool,
    /// A sync failed: nobody knows what is on the disk.
    pub(super) poisoned: bool,
    pub(super) committed: bool,
    /// Whether the name of the file is known to be on the disk. Who made it or changed it may have
    /// ended before it was.
    pub(super) named: bool,
}

impl Writer {
    /// The writer of a frame that is still to be made in an empty file.
    pub(super) fn of_new(file: Arc<dyn WriteAt>) -> Self {
        Self {
            file,
            space: Space::default(),
            shared: false,
            poisoned: false,
            committed: false,
            named: false,
        }
    }

    /// Writes what differs of two headers. When that stops half-way, the old bytes are written
    /// back.
    pub(super) fn write_header(&self, old: &[u8], new: &[u8]) -> Result<()> {
        let changed = changed_range(old, new);
        let start = changed.start as u64;
        let bytes = new.must_get(changed.clone())?;
        self.file.write_at(start, bytes).inspect_err(|_| {
            let _ = old.get(changed).map(|before| self.file.write_at(start, before));
        })
    }

    /// The writer of a frame that exists.
    pub(super) fn new(file: Arc<dyn WriteAt>, frame: &Frame) -> Result<Self> {
        let map =
            holes::find(file.as_ref(), &frame.contents.entries, &frame.header, frame.integrity);
        let space = Space::new(map.live_end, frame.tail.clone(), map.holes);
        Ok(Self { file, space, shared: map.shared, poisoned: false, committed: true, named: false })
    }
}

/// The bytes in which two headers differ, from the first to the last.
pub(super) fn changed_range(old: &[u8], new: &[u8]) -> Range<usize> {
    if old.len() != new.len() {
        return 0..new.len();
    }
    let differs = |(one, other): (&u8, &u8)| one != other;
    let first = old.iter().zip(new).position(differs).unwrap_or(new.len());
    let last = old.iter().zip(new).rposition(differs).map_or(first, |last| last + 1);
    first..last
}
