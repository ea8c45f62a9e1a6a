//! What a file that is about to be written begins with.

use std::ops::Range;

use super::header::{self, PackHeader};
use super::metadata::{self, MetadataOptions};
use super::offsets;
use crate::error::{Error, Result};
use crate::wire::json::{Json, Style};

const SECTOR: u64 = super::SECTOR as u64;

/// How much room a writer leaves for later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy {
    /// For how many more chunks; `None` for as many as are usual.
    pub(crate) slots: Option<u64>,
    pub(crate) metadata: MetadataOptions,
    /// The bytes left free after each object, in per cent of its chunk and digest.
    pub(crate) reserve: u32,
}

impl Policy {
    /// Returns the bytes left free after an object whose chunk and digest take `len` bytes.
    pub(super) fn free_after(&self, len: usize) -> usize {
        let free = (len as u64).saturating_mul(u64::from(self.reserve)).div_ceil(100);
        usize::try_from(free).unwrap_or(usize::MAX)
    }

    /// For how many chunks a file of `count` gets room beyond those. Bloscpack itself leaves room for
    /// ten times as many; an object is often smaller than ten positions.
    fn spare(&self, count: u64, varlen: bool) -> u64 {
        self.slots.unwrap_or(if varlen { count / 8 + 16 } else { count.max(1).saturating_mul(10) })
    }
}

/// The one write that makes a new state visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Switch {
    /// PackHeader, metadata, and the offsets up to the last one that changes.
    Whole,
    /// Offsets alone. The length of the last object must not be stated then unless it is the same
    /// in both states.
    Offsets { last_chunk: Option<usize> },
}

/// PackHeader, metadata, and where the offsets and the chunks go.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) header: PackHeader,
    /// The metadata as stored: a section in version 3, padded text in version 4.
    pub(super) metadata: Vec<u8>,
    /// How many positions there is room for.
    pub(super) capacity: u64,
}

impl Plan {
    /// A file like `header` says, with `count` chunks.
    pub(super) fn new(
        mut header: PackHeader,
        json: Option<&Json>,
        policy: &Policy,
        count: u64,
    ) -> Result<Self> {
        header.metadata = json.is_some();
        header.chunk_count = Some(count);
        let spare = policy.spare(count, header.varlen);
        let capacity = if header.offsets { count.saturating_add(spare) } else { 0 };
        header.append_slots = if header.offsets && !header.varlen { spare } else { 0 };
        let metadata = match json {
            None => Vec::new(),
            Some(json) if header.varlen => padded(json, None)?,
            Some(json) => metadata::write(json, &policy.metadata)?,
        };
        header.meta_size = match header.varlen {
            true => u32::try_from(metadata.len()).map_err(|_| too_long())?,
            false => 0,
        };
        Ok(Self { header, metadata, capacity })
    }

    /// Where the offsets go.
    pub(super) fn table(&self) -> u64 {
        (header::LEN + self.metadata.len()) as u64
    }

    /// Where the chunks go.
    pub(super) fn base(&self) -> u64 {
        self.table().saturating_add(self.capacity.saturating_mul(offsets::WIDTH))
    }

    /// The metadata in the room that there is; `None` when it does not fit, or could not be changed in
    /// one write together with the header.
    pub(super) fn refit(&self, json: Option<&Json>, policy: &Policy) -> Result<Option<Vec<u8>>> {
        if header::LEN + self.metadata.len() > super::SECTOR {
            return Ok(None);
        }
        let fitted = match json {
            None => return Ok(self.metadata.is_empty().then(Vec::new)),
            Some(json) if self.header.varlen => padded(json, Some(self.metadata.len()))?,
            Some(json) => {
                let around = metadata::LEN + policy.metadata.checksum.len();
                let room = self.metadata.len().checked_sub(around);
                let Some(room) = room.and_then(|room| u32::try_from(room).ok()) else {
                    return Ok(None);
                };
                let options = MetadataOptions { room: Some(room), ..policy.metadata.clone() };
                match metadata::write(json, &options) {
                    Ok(section) => section,
                    Err(_) => return Ok(None),
                }
            }
        };
        Ok((fitted.len() == self.metadata.len()).then_some(fitted))
    }

    /// What of a file of objects to write so that instead of `old` it says this, with other offsets
    /// for the `changed` chunks; `None` when that is more than one sector.
    pub(super) fn switch(&self, old: &Self, changed: &Range<usize>) -> Option<Switch> {
        let place = |number: usize| self.table() + number as u64 * offsets::WIDTH;
        let is_one_sector = |start: u64, end: u64| start / SECTOR == end.saturating_sub(1) / SECTOR;
        if is_one_sector(0, place(changed.end)) {
            return Some(Switch::Whole);
        }
        let unknown = |plan: &Self| PackHeader { last_chunk: None, ..plan.header.clone() };
        let same = unknown(self) == unknown(old) && self.metadata == old.metadata;
        if !same || !is_one_sector(place(changed.start), place(changed.end)) {
            return None;
        }
        let last = self.header.last_chunk;
        Some(Switch::Offsets { last_chunk: last.filter(|_| last == old.header.last_chunk) })
    }

    /// PackHeader and metadata, as they are stored.
    pub(super) fn head(&self) -> Vec<u8> {
        [&self.header.to_bytes(), self.metadata.as_slice()].concat()
    }

    /// The offsets of chunks, with the room behind them.
    pub(super) fn table_bytes(&self, positions: &[u64]) -> Vec<u8> {
        let mut table = offsets::to_bytes(positions.iter().copied());
        let listed = if self.header.offsets { positions.len() as u64 } else { 0 };
        table.truncate(usize::try_from(listed * offsets::WIDTH).unwrap_or(0));
        let spare = self.capacity.saturating_sub(listed);
        table.extend(offsets::unknown(usize::try_from(spare).unwrap_or(0)));
        table
    }
}

/// The text of version 4, with blanks behind it so that it can grow a little: JSON ignores them.
fn padded(json: &Json, len: Option<usize>) -> Result<Vec<u8>> {
    let mut text = json.to_text(Style::Compact).into_bytes();
    let wanted = len.unwrap_or_else(|| (text.len() + 16).next_multiple_of(16));
    text.resize(wanted.max(text.len()), b' ');
    Ok(text)
}

fn too_long() -> Error {
    Error::limit("metadata of more than 4 GiB")
}
