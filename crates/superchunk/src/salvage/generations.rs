//! Which of the indexes that lie around in a damaged frame tells the order of its chunks.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::scan::{Found, Scan};
use crate::container::{Entry, Layer};
use crate::frame::remains;
use crate::limits::Limits;

/// How many chunks, and how many entries of an index, are asked where its offsets count from.
const BASES: usize = 64;
const VOTERS: usize = 1 << 14;
/// How far an index that no walk has met is looked for before its trailer.
const FAR: usize = 1 << 20;

/// An index that was found.
pub(super) struct Generation {
    pub(super) entries: Vec<Entry>,
    /// Where the chunks begin: the length of the header.
    pub(super) base: usize,
    /// How many entries lead to a chunk.
    pub(super) score: usize,
    pub(super) trailer: Range<usize>,
    pub(super) values: Vec<Layer>,
    /// Where the index begins.
    pub(super) index_at: usize,
}

/// The index that leads to the most chunks; of equal ones the last in the file.
pub(super) fn best(
    bytes: &[u8],
    scan: &Scan,
    trailers: &[Range<usize>],
    header_len: Option<usize>,
    limits: &Limits,
) -> Option<Generation> {
    let starts: HashSet<usize> = scan.chunks.iter().map(|found| found.at).collect();
    let mut all: Vec<Generation> = Vec::new();
    for trailer in trailers {
        let Some((index_at, entries)) = index_before(bytes, scan, trailer.start, limits) else {
            continue;
        };
        let offsets: Vec<usize> =
            entries.iter().filter_map(|entry| usize::try_from(entry.stored_slot()?).ok()).collect();
        let Some((base, score)) = base_of(&offsets, scan, &starts, header_len) else { continue };
        let values = remains::values(bytes.get(trailer.clone()).unwrap_or_default());
        all.push(Generation { entries, base, score, trailer: trailer.clone(), values, index_at });
    }
    // The frame ends with its index: one at the end is the last.
    let rank = |generation: &Generation| {
        let stored =
            generation.entries.iter().filter(|entry| entry.stored_slot().is_some()).count();
        let last = generation.trailer.end == bytes.len();
        let useful = generation.score > 0 || stored == 0;
        (useful, last, generation.score, generation.trailer.start)
    };
    all.into_iter().filter(|found| rank(found).0).max_by_key(rank)
}

/// Where offsets count from, so that the most of them lead to chunks, and how many do.
fn base_of(
    offsets: &[usize],
    scan: &Scan,
    starts: &HashSet<usize>,
    header_len: Option<usize>,
) -> Option<(usize, usize)> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for chunk in scan.chunks.iter().take(BASES) {
        let bases = offsets.iter().take(VOTERS).filter_map(|offset| chunk.at.checked_sub(*offset));
        bases.for_each(|base| *votes.entry(base).or_default() += 1);
    }
    let elected = votes.into_iter().max_by_key(|(base, votes)| (*votes, Reverse(*base)));
    let hits = |base: usize| {
        let hit =
            |offset: &&usize| base.checked_add(**offset).is_some_and(|at| starts.contains(&at));
        (base, offsets.iter().filter(hit).count())
    };
    let bases = header_len.into_iter().chain(elected.map(|(base, _)| base));
    bases.map(hits).max_by_key(|(_, score)| *score).or(offsets.is_empty().then_some((0, 0)))
}

fn index_before(
    bytes: &[u8],
    scan: &Scan,
    end: usize,
    limits: &Limits,
) -> Option<(usize, Vec<Entry>)> {
    let read = |at: usize| {
        let entries = remains::entries(bytes.get(at..end)?, limits).ok()?;
        Some((at, entries))
    };
    let is_index = |found: &&Found| found.at + found.len == end && found.item_size == 8;
    if let Some(found) = scan.chunks.iter().find(is_index) {
        return read(found.at);
    }
    // The length of a chunk stands at its byte 12.
    let states_end = |at: &usize| {
        let stated = bytes.get(*at + 12..).and_then(|rest| rest.first_chunk::<4>());
        stated.is_some_and(|stated| usize::try_from(u32::from_le_bytes(*stated)) == Ok(end - *at))
    };
    let from = end.saturating_sub(FAR);
    (from..end.saturating_sub(31)).rev().filter(states_end).find_map(read)
}
