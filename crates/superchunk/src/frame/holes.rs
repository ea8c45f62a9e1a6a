//! Where the free space of an existing frame is. The index tells where chunks begin, only the chunks
//! tell where they end; so the widest distances are looked at, and the others taken for full.

use std::ops::Range;

use super::header::Header;
use crate::chunk;
use crate::container::{Entry, Integrity, SUFFIX, Slot};
use crate::error::{Error, Result};
use crate::store::ReadAt;
use crate::wire;

/// How many chunks are asked for their end when a frame is opened for writing.
const LOOKED_AT: usize = 256;
/// The bytes of a chunk that tell its length.
const CHUNK_START: usize = 32;

/// What was found.
pub(super) struct Map {
    pub(super) holes: Vec<Range<u64>>,
    /// The end of the last chunk.
    pub(super) live_end: u64,
    /// Whether entries share chunks.
    pub(super) shared: bool,
}

/// Looks for holes between the chunks of `entries`; positions are from the start of the frame.
pub(super) fn find(
    store: &dyn ReadAt,
    entries: &[Entry],
    header: &Header,
    integrity: Integrity,
) -> Map {
    let start = header.header_len;
    let region_end = start.saturating_add(header.cbytes);
    // What an entry without sense stood for is somewhere between the chunks, and `salvage` may find it.
    let is_lost = |(number, entry): (usize, &Entry)| match entry.slot(number) {
        Ok(Slot::Stored(slot)) => slot >= header.cbytes,
        Ok(Slot::Run(_)) => false,
        Err(_) => true,
    };
    if entries.iter().enumerate().any(is_lost) {
        return Map { holes: Vec::new(), live_end: region_end, shared: true };
    }
    let mut starts: Vec<u64> = entries.iter().filter_map(|entry| entry.stored_slot()).collect();
    starts.sort_unstable();
    let count = starts.len();
    starts.dedup();
    let shared = starts.len() < count;
    let Some(first) = starts.first() else {
        return Map { holes: Vec::new(), live_end: start, shared };
    };
    let mut holes: Vec<Range<u64>> =
        (*first > 0).then_some(start..start + *first).into_iter().collect();
    let suffix = if integrity == Integrity::Sealed { SUFFIX as u64 } else { 0 };
    let end_of = |slot: u64| {
        let position = start.checked_add(slot)?;
        Some(position + chunk_len(store, position).ok()? as u64 + suffix)
    };
    let mut distances: Vec<Range<u64>> =
        starts.windows(2).filter_map(|pair| Some(*pair.first()?..*pair.get(1)?)).collect();
    distances.sort_unstable_by_key(|distance| std::cmp::Reverse(distance.end - distance.start));
    for distance in distances.iter().take(LOOKED_AT) {
        match end_of(distance.start) {
            // Chunks overlap: what follows one of them may belong to another.
            Some(end) if end > start + distance.end => {
                return Map { holes: Vec::new(), live_end: region_end, shared: true };
            }
            Some(end) => holes.push(end..start + distance.end),
            None => {}
        }
    }
    // Without an end that can be told, everything up to the index counts as used.
    let live_end = starts.last().and_then(|last| end_of(*last)).unwrap_or(region_end);
    Map { holes, live_end: live_end.min(region_end), shared }
}

/// The length of the chunk at `position`.
pub(super) fn chunk_len(store: &dyn ReadAt, position: u64) -> Result<usize> {
    let mut start = [0; CHUNK_START];
    let found = store.read_at(position, &mut start)?;
    let header = chunk::Header::parse(wire::filled(&start, found)?);
    let len = header.map_err(|error| error.within(format!("the chunk at byte {position}")))?;
    let len = len.compressed_len();
    if len as u64 > store.len()?.saturating_sub(position) {
        return Err(Error::truncated(format!(
            "the chunk at byte {position} has {len} bytes, which go past the end of the file"
        )));
    }
    Ok(len)
}
