//! What a superchunk file still holds: the chunks that its index lists, and those that are found between them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::input::Input;
use super::super::rebuild::check_count;
use super::super::report::FoundAt;
use super::super::scan::{Found, Judge, blosc1_header, next_blosc1};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::store::ReadAt;
use crate::superfile::{INDEX, Index};

/// The most entries of an index that a writer makes before there are chunks for them.
const SLOTS: usize = 512;

/// What an entry of an index takes, with the slot that it tells.
const BYTES_PER_ENTRY: usize = 48;

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
    used: Vec<u64>,
    len: u64,
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
    /// Looks at a file; only limits that are too small for it are an error.
    pub(super) fn of(store: &dyn ReadAt, limits: &Limits) -> Result<Self> {
        let mut judge = Judge::new(store, limits)?;
        let len = judge.input.len();
        let mut number = |at: u64| {
            let number = u32::from_le_bytes(*judge.input.get(at, 4).first_chunk::<4>()?);
            usize::try_from(number).ok().filter(|number| *number > 0)
        };
        let (typesize, stated) = (number(8), number(12));
        let room = len.saturating_sub(INDEX as u64) / 24;
        let stated = stated.filter(|count| *count as u64 <= room);
        let offsets = read_offsets(&mut judge.input, stated, room, limits)?;
        let head = match stated {
            Some(count) => Index::read(store, count).map(drop),
            None => Err(Error::corrupt("the number of chunks is lost")),
        };
        let found = find(&offsets, &mut judge)?;
        let used = used(&mut judge.input, &found);
        let slots = offsets.iter().enumerate().map(|(slot, offset)| (*offset, slot)).collect();
        Ok(Self { typesize, stated, head, found, offsets, slots, used, len })
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
            // The end is no slot.
            placed.slots.get_mut(slot).into_iter().for_each(|place| *place = Some(number));
            (from, first) = (slot + 1, number + 1);
        }
        placed
    }

    /// Where the chunk of a slot is, or should be.
    pub(super) fn source(&self, slot: usize, chunk: Option<usize>, name: &str) -> FoundAt {
        if let Some(found) = chunk.and_then(|number| self.found.get(number)) {
            return FoundAt::FileBytes(name.to_owned(), found.at..found.end());
        }
        let listed = self.offsets.get(slot).copied().filter(|at| self.is_place(*at));
        let next = self.offsets.get(slot + 1).copied().filter(|at| self.is_place(*at));
        match (listed, next.unwrap_or(self.len)) {
            (Some(at), end) if end > at => FoundAt::FileBytes(name.to_owned(), at..end),
            _ => FoundAt::File(name.to_owned()),
        }
    }

    fn is_place(&self, at: u64) -> bool {
        at >= INDEX as u64 && at < self.len
    }

    fn slot_of(&self, found: &Found) -> Option<usize> {
        self.slots.get(&found.at).copied()
    }

    /// Where the first chunk begins, or should.
    fn first_chunk(&self, count: usize, per_file: usize) -> u64 {
        let index = |slots: usize| INDEX.saturating_add(slots.saturating_mul(8)) as u64;
        let first = self.found.first().map_or(self.len, |found| found.at);
        let listed = self.offsets.first().copied();
        let listed = listed.filter(|at| (index(count)..=first).contains(at));
        listed.unwrap_or(index(per_file.min(SLOTS).max(count)))
    }

    /// Puts chunks that are not listed into slots whose chunks are not where they should be.
    fn fill(&self, placed: &mut Placed, slots: Range<usize>, chunks: Range<usize>, start: u64) {
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
        let last = gaps.last().map_or(chunks.end, |last| *last);
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

/// The entries of an index that states `count` of them; without a count they end where their numbers
/// do not rise any more.
fn read_offsets(
    input: &mut Input<'_>,
    count: Option<usize>,
    room: u64,
    limits: &Limits,
) -> Result<Vec<u64>> {
    limits.check_metadata("index", count.unwrap_or(0).saturating_mul(BYTES_PER_ENTRY) as u64)?;
    let most = limits.max_metadata / BYTES_PER_ENTRY;
    let most = count.unwrap_or(most.min(usize::try_from(room).unwrap_or(usize::MAX)));
    let (mut offsets, mut least) = (Vec::new(), 0);
    while offsets.len() < most {
        let at = (INDEX + 8 * offsets.len()) as u64;
        let Some(entry) = input.get(at, 8).first_chunk::<8>() else { break };
        let offset = u64::from_le_bytes(*entry);
        if count.is_none() && !(offset > least && offset < input.len()) {
            break;
        }
        offsets.push(offset);
        least = offset;
    }
    Ok(offsets)
}

/// The chunks that decode: those that are listed, then all that are found between them.
fn find(offsets: &[u64], judge: &mut Judge<'_>) -> Result<Vec<Found>> {
    let len = judge.input.len();
    let mut listed: Vec<Found> = Vec::new();
    for (slot, at) in offsets.iter().copied().enumerate() {
        let next = offsets.get(slot + 1).copied();
        let end = next.filter(|next| *next > at).map_or(len, |next| next.min(len));
        let free = listed.last().is_none_or(|last| at >= last.end()) && at >= INDEX as u64;
        listed.extend(look(at, end, judge)?.filter(|_| free));
    }
    let mut found: Vec<Found> = Vec::new();
    let mut from = INDEX as u64;
    for chunk in listed {
        search(from..chunk.at, judge, &mut found)?;
        from = chunk.end();
        found.push(chunk);
    }
    search(from..len, judge, &mut found)?;
    Ok(found)
}

/// The chunks in a part of the file where none are listed.
fn search(range: Range<u64>, judge: &mut Judge<'_>, found: &mut Vec<Found>) -> Result<()> {
    let mut from = range.start;
    while let Some(at) = next_blosc1(&mut judge.input, from..range.end) {
        from = at + 1;
        // Whatever takes too much memory here may be no chunk at all.
        if let Ok(Some(chunk)) = look(at, range.end, judge) {
            from = chunk.end();
            found.push(chunk);
            check_count(found.len(), &judge.limits)?;
        }
    }
    Ok(())
}

/// The chunk at a place, if it decodes and ends before `end`.
fn look(at: u64, end: u64, judge: &mut Judge<'_>) -> Result<Option<Found>> {
    let header = blosc1_header(&mut judge.input, at, end).filter(|header| header.byte_len() > 0);
    let Some(header) = header else { return Ok(None) };
    let (len, decoded_len, item_size) =
        (header.compressed_len(), header.byte_len(), header.item_size());
    match judge.certainty_of(&header, at) {
        Ok(certainty) => {
            let (suffix, refusal) = (0, None);
            Ok(Some(Found { at, len, suffix, decoded_len, item_size, certainty, refusal }))
        }
        // It may be whole: that there is too little memory must not make it a hole.
        Err(error) if error.is_no_damage() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Before each chunk, and before the end of the file: where bytes end that are not zero.
fn used(input: &mut Input<'_>, found: &[Found]) -> Vec<u64> {
    let len = input.len();
    let mut from = (INDEX as u64).min(len);
    let mut used = Vec::with_capacity(found.len() + 1);
    let ends = found.iter().map(|chunk| (chunk.at, chunk.end())).chain([(len, 0)]);
    for (at, end) in ends {
        used.push(input.end_of_bytes(from..at));
        from = end;
    }
    used
}
