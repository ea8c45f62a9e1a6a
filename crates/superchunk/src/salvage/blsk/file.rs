//! What a superchunk file still holds: the chunks that its index lists, and those that are found between them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::report::Source;
use super::super::scan::{Found, Judge, blosc1_header};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::Bytes;
use crate::superfile::{INDEX, Index};

/// The most entries of an index that a writer makes before there are chunks for them.
const SLOTS: usize = 512;

/// A file of which any part may be damaged.
pub(super) struct Remains {
    /// The bytes of an item, as the head says.
    pub(super) typesize: Option<usize>,
    /// How many chunks the head speaks of, if the file has room for as many.
    pub(super) stated: Option<usize>,
    /// Whether head and index make sense.
    pub(super) head: Result<()>,
    /// Chunks that decode, in the order of the file.
    pub(super) found: Vec<Found>,
    /// Where the chunks begin, as the index has it, sensible or not.
    offsets: Vec<u64>,
    /// The slots that they are in.
    slots: BTreeMap<u64, usize>,
    /// Before each chunk, and at last before the end: where bytes end that are not zero and belong to no chunk.
    used: Vec<usize>,
    len: usize,
}

/// Which chunk is in which slot of a file.
pub(super) struct Placed {
    /// The numbers of the found chunks.
    pub(super) slots: Vec<Option<usize>>,
    /// Whether the places are beyond doubt.
    pub(super) is_certain: bool,
    /// How many chunks have no place.
    pub(super) left: usize,
}

impl Remains {
    pub(super) fn of(bytes: &[u8], limits: &Limits) -> Self {
        let number = |at: usize| {
            let number = u32::from_le_bytes(*bytes.get(at..)?.first_chunk::<4>()?);
            usize::try_from(number).ok().filter(|number| *number > 0)
        };
        let room = bytes.len().saturating_sub(INDEX) / 24;
        let stated = number(12).filter(|count| *count <= room);
        let (entries, _) = bytes.get(INDEX..).unwrap_or_default().as_chunks::<8>();
        // Without a count the entries end where their numbers do not rise any more.
        let mut least = 0;
        let rising = entries.iter().map(|entry| u64::from_le_bytes(*entry)).take_while(|offset| {
            let rises = stated.is_some() || (*offset > least && *offset < bytes.len() as u64);
            least = *offset;
            rises
        });
        let offsets: Vec<u64> = rising.take(stated.unwrap_or(room)).collect();
        let head = match stated {
            Some(count) => Index::read(&Bytes::new(bytes), count).map(drop),
            None => Err(Error::corrupt("the number of chunks is lost")),
        };
        let found = find(bytes, &offsets, limits);
        let used = used(bytes, &found);
        let slots = offsets.iter().enumerate().map(|(slot, offset)| (*offset, slot)).collect();
        Self { typesize: number(8), stated, head, found, offsets, slots, used, len: bytes.len() }
    }

    /// How many chunks it has, or had.
    pub(super) fn count(&self) -> usize {
        let listed = self.found.iter().filter_map(|found| self.slot_of(found)).max();
        let found = self.found.len().max(listed.map_or(0, |slot| slot + 1));
        match &self.head {
            Ok(()) => self.stated.unwrap_or(found).max(found),
            Err(_) => found,
        }
    }

    /// Gives each of `count` slots its chunk: the one that the index lists, else by the order of the file. A file
    /// that has room for `per_file` chunks tells where the first begins.
    pub(super) fn place(&self, count: usize, per_file: usize) -> Placed {
        let mut placed = Placed { slots: vec![None; count], is_certain: true, left: 0 };
        let mut end = self.found.len();
        let mut anchors: Vec<(usize, usize)> = Vec::new();
        for (number, slot) in
            self.found.iter().enumerate().filter_map(|(n, f)| Some((n, self.slot_of(f)?)))
        {
            if slot >= count {
                // Chunks from here on are listed, but not needed.
                end = number;
                break;
            }
            if anchors.last().is_none_or(|(_, last)| slot > *last) {
                anchors.push((number, slot));
            }
        }
        placed.left += self.found.len() - end;
        let start = self.first_chunk(count, per_file);
        let (mut from, mut first) = (0, 0);
        for (number, slot) in anchors.into_iter().chain([(end, count)]) {
            self.fill(&mut placed, from..slot, first..number, start);
            if let Some(place) = placed.slots.get_mut(slot) {
                *place = Some(number);
            }
            (from, first) = (slot + 1, number + 1);
        }
        placed
    }

    /// Where the chunk of a slot is, or should be.
    pub(super) fn source(&self, slot: usize, chunk: Option<usize>, name: &str) -> Source {
        if let Some(found) = chunk.and_then(|number| self.found.get(number)) {
            return Source::FileBytes(name.to_owned(), found.at as u64..found.end() as u64);
        }
        let listed = self.offsets.get(slot).copied().filter(|at| self.is_place(*at));
        let next = self.offsets.get(slot + 1).copied().filter(|at| self.is_place(*at));
        match (listed, next.unwrap_or(self.len as u64)) {
            (Some(at), end) if end > at => Source::FileBytes(name.to_owned(), at..end),
            _ => Source::File(name.to_owned()),
        }
    }

    fn is_place(&self, at: u64) -> bool {
        at >= INDEX as u64 && at < self.len as u64
    }

    fn slot_of(&self, found: &Found) -> Option<usize> {
        self.slots.get(&(found.at as u64)).copied()
    }

    /// Where the first chunk begins, or should.
    fn first_chunk(&self, count: usize, per_file: usize) -> usize {
        let index = |slots: usize| INDEX.saturating_add(slots.saturating_mul(8));
        let first = self.found.first().map_or(self.len, |found| found.at);
        let listed = self.offsets.first().and_then(|offset| usize::try_from(*offset).ok());
        let listed = listed.filter(|at| (index(count)..=first).contains(at));
        listed.unwrap_or(index(per_file.min(SLOTS).max(count)))
    }

    /// Puts chunks that are not listed into slots whose chunks are not where they should be.
    fn fill(&self, placed: &mut Placed, slots: Range<usize>, chunks: Range<usize>, start: usize) {
        let missing = slots.len().saturating_sub(chunks.len());
        if chunks.len() > slots.len() {
            placed.left += chunks.len() - slots.len();
            placed.is_certain &= slots.is_empty();
        }
        let is_gap = |before: &usize| {
            let end = before.checked_sub(1).and_then(|n| Some(self.found.get(n)?.end()));
            self.used.get(*before).is_some_and(|used| *used > end.unwrap_or(start))
        };
        let gaps: Vec<usize> = match missing {
            0 => Vec::new(),
            _ => (chunks.start..=chunks.end).filter(is_gap).collect(),
        };
        placed.is_certain &= chunks.is_empty()
            || missing == 0
            || gaps.len() == 1
            || gaps.len() == missing
            || (gaps.is_empty() && chunks.end == self.found.len());
        // One is missing in each gap, and more in the last one.
        let last = gaps.last().copied().unwrap_or(chunks.end);
        let mut gaps = gaps.into_iter().peekable();
        let (mut slot, mut left) = (slots.start, missing);
        for number in chunks {
            if gaps.next_if_eq(&number).is_some() && left > 0 {
                let skip = if number == last { left } else { 1 };
                (slot, left) = (slot + skip, left - skip);
            }
            if slot < slots.end
                && let Some(place) = placed.slots.get_mut(slot)
            {
                *place = Some(number);
                slot += 1;
            }
        }
    }
}

/// The chunks that decode: those that are listed, then all that are found between them.
fn find(bytes: &[u8], offsets: &[u64], limits: &Limits) -> Vec<Found> {
    let mut judge = Judge::new(bytes, limits);
    let mut listed: Vec<Found> = Vec::new();
    for (slot, offset) in offsets.iter().enumerate() {
        let Ok(at) = usize::try_from(*offset) else { continue };
        let next = offsets.get(slot + 1).and_then(|next| usize::try_from(*next).ok());
        let end = next.filter(|next| *next > at).map_or(bytes.len(), |next| next.min(bytes.len()));
        let free = listed.last().is_none_or(|last| at >= last.end()) && at >= INDEX;
        listed.extend(look(bytes, at, end, &mut judge).filter(|_| free));
    }
    let mut found: Vec<Found> = Vec::new();
    let mut from = INDEX;
    for chunk in listed {
        search(bytes, from..chunk.at, &mut judge, &mut found);
        from = chunk.end();
        found.push(chunk);
    }
    search(bytes, from..bytes.len(), &mut judge, &mut found);
    found
}

/// The chunks in a part of the file where none are listed.
fn search(bytes: &[u8], range: Range<usize>, judge: &mut Judge<'_>, found: &mut Vec<Found>) {
    let mut at = range.start;
    while at < range.end {
        match look(bytes, at, range.end, judge) {
            Some(chunk) => {
                at = chunk.end();
                found.push(chunk);
            }
            None => at += 1,
        }
    }
}

/// The chunk at a place, if it decodes and ends before `end`.
fn look(bytes: &[u8], at: usize, end: usize, judge: &mut Judge<'_>) -> Option<Found> {
    let bytes = bytes.get(..end)?;
    let header = blosc1_header(bytes, at).filter(|header| header.len() > 0)?;
    let len = header.compressed_len();
    let certainty = judge.certainty_of_known(&header, bytes.get(at..at + len)?).ok()?;
    let (decoded_len, item_size) = (header.len(), header.item_size());
    Some(Found { at, len, suffix: 0, decoded_len, item_size, certainty })
}

/// Before each chunk, and before the end of the file: where bytes end that are not zero.
fn used(bytes: &[u8], found: &[Found]) -> Vec<usize> {
    let mut from = INDEX.min(bytes.len());
    let mut used = Vec::with_capacity(found.len() + 1);
    let ends = found.iter().map(|chunk| (chunk.at, chunk.end())).chain([(bytes.len(), 0)]);
    for (at, end) in ends {
        let between = bytes.get(from..at).unwrap_or_default();
        let last = between.iter().rposition(|byte| *byte != 0);
        used.push(last.map_or(from, |last| from + last + 1));
        from = end;
    }
    used
}
