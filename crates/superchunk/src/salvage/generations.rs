//! Which of the indexes that lie around in a damaged frame tells the order of its chunks.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::scan::{Found, HEADER, Judge, Scan};
use crate::container::{Entry, Layer};
use crate::frame::remains;

/// How many chunks, and how many entries of an index, are asked where its offsets count from.
const BASES: usize = 64;
const VOTERS: usize = 1 << 14;
/// How far an index that no walk has met is looked for before its trailer.
const FAR: u64 = 1 << 20;

/// An index that was found.
pub(super) struct Generation {
    pub(super) entries: Vec<Entry>,
    /// Where the chunks begin: the length of the header.
    pub(super) base: u64,
    /// How many entries lead to a chunk.
    pub(super) score: usize,
    pub(super) trailer: Range<u64>,
    pub(super) values: Vec<Layer>,
    /// Where the index begins.
    pub(super) index_at: u64,
}

/// The index that leads to the most chunks; of equal ones the last in the file.
pub(super) fn best(
    judge: &mut Judge<'_>,
    scan: &Scan,
    trailers: &[Range<u64>],
    header_len: Option<u64>,
) -> Option<Generation> {
    let starts: HashSet<u64> = scan.chunks.iter().map(|found| found.at).collect();
    let indexes = scan.chunks.iter().filter(|found| found.item_size == 8);
    let by_end: HashMap<u64, &Found> = indexes.map(|found| (found.range().end, found)).collect();
    let len = judge.input.len();
    let mut best: Option<Generation> = None;
    for trailer in trailers {
        let found = index_before(judge, &by_end, trailer.start);
        let Some((index_at, entries)) = found.filter(|(_, entries)| are_distinct(entries)) else {
            continue;
        };
        let offsets: Vec<u64> = entries.iter().filter_map(|entry| entry.stored_slot()).collect();
        let Some((base, score)) = base_of(&offsets, scan, &starts, header_len) else { continue };
        if score == 0 && !offsets.is_empty() {
            continue;
        }
        // The frame ends with its index: one at the end is the last.
        let rank = |end: u64, score: usize| (end == len, score);
        let is_better = best
            .as_ref()
            .is_none_or(|best| rank(trailer.end, score) >= rank(best.trailer.end, best.score));
        if is_better {
            let (trailer, values) = (trailer.clone(), values(judge, trailer));
            best = Some(Generation { entries, base, score, trailer, values, index_at });
        }
    }
    best
}

/// The values of a trailer, as far as the memory for them reaches.
pub(super) fn values(judge: &mut Judge<'_>, trailer: &Range<u64>) -> Vec<Layer> {
    match judge.limits.check_metadata("trailer", trailer.end - trailer.start) {
        Ok(()) => remains::values(judge.input.range(trailer)),
        Err(_) => Vec::new(),
    }
}

/// The entries of the index in a place of the file.
pub(super) fn entries(judge: &mut Judge<'_>, range: &Range<u64>) -> Option<Vec<Entry>> {
    judge.limits.check_metadata("index", range.end - range.start).ok()?;
    remains::entries(judge.input.range(range), &judge.limits).ok()
}

/// Whether no two entries lead to the same chunk, as in every index that was written.
pub(super) fn are_distinct(entries: &[Entry]) -> bool {
    let mut slots: Vec<u64> = entries.iter().filter_map(|entry| entry.stored_slot()).collect();
    slots.sort_unstable();
    slots.windows(2).all(|pair| !matches!(pair, [a, b] if a == b))
}

/// Where offsets count from, so that the most of them lead to chunks, and how many do.
fn base_of(
    offsets: &[u64],
    scan: &Scan,
    starts: &HashSet<u64>,
    header_len: Option<u64>,
) -> Option<(u64, usize)> {
    let mut votes: HashMap<u64, usize> = HashMap::new();
    for chunk in scan.chunks.iter().take(BASES) {
        let bases = offsets.iter().take(VOTERS).filter_map(|offset| chunk.at.checked_sub(*offset));
        bases.for_each(|base| *votes.entry(base).or_default() += 1);
    }
    let elected = votes.into_iter().max_by_key(|(base, votes)| (*votes, Reverse(*base)));
    let hits = |base: u64| {
        let hit = |offset: &&u64| base.checked_add(**offset).is_some_and(|at| starts.contains(&at));
        (base, offsets.iter().filter(hit).count())
    };
    let bases = header_len.into_iter().chain(elected.map(|(base, _)| base));
    bases.map(hits).max_by_key(|(_, score)| *score).or(offsets.is_empty().then_some((0, 0)))
}

fn index_before(
    judge: &mut Judge<'_>,
    by_end: &HashMap<u64, &Found>,
    end: u64,
) -> Option<(u64, Vec<Entry>)> {
    if let Some(found) = by_end.get(&end) {
        return Some((found.at, entries(judge, &found.range())?));
    }
    let from = end.saturating_sub(FAR);
    let before = judge.input.range(&(from..end));
    // The length of a chunk stands at its byte 12.
    let states_end = |at: &usize| {
        let stated = before.get(*at + 12..).and_then(|rest| rest.first_chunk::<4>());
        let stated = stated.and_then(|stated| usize::try_from(u32::from_le_bytes(*stated)).ok());
        stated == Some(before.len() - *at)
    };
    let places = 0..before.len().saturating_sub(HEADER - 1);
    let read = |at: usize| {
        let entries = remains::entries(before.get(at..)?, &judge.limits).ok()?;
        Some((from + at as u64, entries))
    };
    places.rev().filter(states_end).find_map(read)
}
