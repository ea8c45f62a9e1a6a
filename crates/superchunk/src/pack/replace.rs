//! Committing objects that take the place of others, without writing a new file.
//!
//! ```text
//! it fits     │ old │ zeros       │ next │      →   │ dead │ new │ zeros │ next │
//! it moves    │ old │ next │ last │            →   │ dead │ dead │ dead │ new │ next │ last │
//! ```
//!
//! No byte is written to that any commit has made part of an object, so that the old state is whole
//! until one write of offsets, and of the header where it says something else, makes the new one
//! visible. That write stays inside of one sector, or else a whole new file is written. Offsets
//! must ascend: all objects that follow one that moves have to move, too. `docs/decisions/009` says
//! why so.

use std::ops::Range;

use super::layout::Packed;
use super::space::{measure, room_for_offsets, zeros};
use super::writer::Writer;
use crate::chunk;
use crate::container::{Contents, Space};
use crate::error::{Error, MustGet, Result};

/// A file is written anew rather than having more than this part of its objects' bytes in dead
/// ones.
const MOST_DEAD: u64 = 2;

/// Where the chunks go.
struct Places {
    slots: Vec<u64>,
    /// Chunks to be copied to the reserve that follows the ones they replace: from, to, bytes.
    fitting: Vec<(u64, u64, u64)>,
    /// The first chunk that moves to the end of the file, with all that follow it.
    moved: Option<usize>,
    /// The first of those that is to be copied: what was put there last is in order.
    copied: Option<usize>,
    /// The offsets of the last commit that change.
    changed: Range<usize>,
    /// The bytes that replaced chunks took, and those that took their places.
    before: u64,
    after: u64,
}

/// The bytes that an object of the last commit has for itself.
pub(super) struct Room {
    slot: u64,
    /// Those of the object and its digest.
    taken: u64,
    /// Those that are free after it, and former places of it, but no more than it takes: an object that
    /// has moved again and again does not keep them all.
    free: u64,
}

impl Room {
    /// The bytes that stay free after an object of this length that is put there: the next object
    /// stays where it is if it fits, and else there is as much room as before.
    pub(super) fn after(&self, len: usize) -> usize {
        let all = self.taken.saturating_add(self.free);
        let left = all.checked_sub(len as u64).unwrap_or(self.free);
        usize::try_from(left).unwrap_or(usize::MAX)
    }
}

/// The room of an object: that of its slot, or of the object whose number it has taken.
pub(super) fn room_of(number: usize, slot: Option<u64>, rooms: &[Room]) -> Option<&Room> {
    let found = rooms.binary_search_by_key(&slot?, |room| room.slot).ok();
    rooms.get(found.unwrap_or(number))
}

impl Packed {
    /// The rooms of the objects of the last commit, in order.
    pub(super) fn rooms(&self, writer: &Writer) -> Result<Vec<Room>> {
        let committed = writer.committed.as_deref().unwrap_or_default();
        if !writer.plan.header.varlen || writer.is_new {
            return Ok(Vec::new());
        }
        let file = writer.file.as_ref();
        let at = |slot: u64| self.base.saturating_add(slot);
        let first = committed.first().map_or(0, |slot| at(*slot));
        let offsets = writer.plan.table() + committed.len() as u64 * super::offsets::WIDTH;
        let mut start = offsets + room_for_offsets(file, offsets..first)?;
        let mut rooms = Vec::with_capacity(committed.len());
        let nexts = committed.iter().skip(1).chain([&writer.settled]);
        for (slot, next) in committed.iter().zip(nexts) {
            let len = self.chunk_header(writer, *slot)?.compressed_len() + self.checksum.len();
            let taken = len as u64;
            let end = at(*slot).saturating_add(taken);
            let unused = zeros(file, end..at(*next))?;
            let former = at(*slot).saturating_sub(start).min(taken);
            rooms.push(Room { slot: *slot, taken, free: unused + former });
            start = end + unused;
        }
        Ok(rooms)
    }

    /// Commits contents in which objects were replaced; returns their slots, or `None` if that
    /// takes a new file.
    pub(super) fn commit_replaced(&mut self, contents: &Contents) -> Result<Option<Vec<u64>>> {
        let Some(mut places) = self.places(contents)? else { return Ok(None) };
        let Some(mut plan) = self.refitted(contents)? else { return Ok(None) };
        if let Some(last) = contents.entries.last().and_then(|entry| entry.stored_slot()) {
            plan.header.last_chunk = Some(self.header_at(last)?.byte_len());
        }
        let Some(writer) = &self.writer else { return Ok(None) };
        if plan.switch(&writer.plan, &places.changed).is_none() || !self.is_worth(&places)? {
            return Ok(None);
        }
        self.write_to(&mut places)?;
        if !places.slots.is_sorted_by(|a, b| a < b) {
            return Ok(None);
        }
        let Some(writer) = &mut self.writer else { return Ok(None) };
        writer.commit_in_place(plan, &places.slots, places.changed)?;
        Ok(Some(places.slots))
    }

    /// Finds a place for every chunk, if objects of the last commit were replaced.
    fn places(&self, contents: &Contents) -> Result<Option<Places>> {
        let Some(writer) = self.writer.as_ref().filter(|w| w.plan.header.varlen && !w.is_new)
        else {
            return Ok(None);
        };
        let slots: Vec<u64> =
            contents.entries.iter().filter_map(|entry| entry.stored_slot()).collect();
        let Some(committed) = writer.committed.as_ref().filter(|old| old.len() <= slots.len())
        else {
            return Ok(None);
        };
        let changes = |number: usize| committed.get(number) != slots.get(number);
        let Some(first) = (0..committed.len()).find(|number| changes(*number)) else {
            return Ok(None);
        };
        let (fitting, changed) = (Vec::new(), first..first + 1);
        let mut places =
            Places { slots, fitting, moved: None, copied: None, changed, before: 0, after: 0 };
        // The offsets of one sector.
        let near = first.saturating_add(super::SECTOR / 8);
        for (number, old) in committed.iter().enumerate().skip(first) {
            let Some(place) = places.slots.get_mut(number) else { break };
            if old == place {
                continue;
            }
            if number >= near {
                return Ok(None);
            }
            let (end, len) = (old + self.taken_at(*old)?, self.taken_at(*place)?);
            let next = committed.get(number + 1).map_or(writer.settled, |next| *next);
            places.changed.end = number + 1;
            places.before += end - old;
            places.after += len;
            let fits = places.moved.is_none() && end.saturating_add(len) <= next;
            if fits && self.is_unused(end..end + len)? {
                places.fitting.push((*place, end, len));
                *place = end;
            } else {
                places.moved.get_or_insert(number);
            }
        }
        if let Some(moved) = places.moved {
            places.changed.end = committed.len();
            let mut least = writer.settled;
            let slots = places.slots.iter().enumerate().skip(moved);
            let mut unordered = slots.filter(|(_, slot)| {
                let in_order = **slot >= least;
                least = slot.saturating_add(1);
                !in_order
            });
            places.copied = unordered.next().map(|(number, _)| number);
        }
        Ok(Some(places))
    }

    /// Whether moving chunks does not leave more dead bytes than a file should have.
    fn is_worth(&self, places: &Places) -> Result<bool> {
        let (Some(moved), Some(writer)) = (places.moved, &self.writer) else { return Ok(true) };
        let committed = writer.committed.as_deref().unwrap_or_default();
        let left = writer.settled - committed.must_get(moved)?;
        // What is dead before that shows without looking at the rest of the file.
        let all = writer.settled.saturating_add(places.after);
        if left.saturating_mul(MOST_DEAD) > all {
            return Ok(false);
        }
        let space = self.space_of(committed, writer.settled)?;
        let live = space.live.saturating_sub(places.before).saturating_add(places.after);
        Ok((space.dead + left).saturating_mul(MOST_DEAD) <= live)
    }

    /// Puts chunks that have not been where they belong there.
    fn write_to(&mut self, places: &mut Places) -> Result<()> {
        for (from, to, len) in &places.fitting {
            let bytes = self.bytes_at(*from, *len)?;
            let Some(writer) = &self.writer else { break };
            writer.file.write_at(writer.base.saturating_add(*to), &bytes)?;
        }
        let Some(copied) = places.copied else { return Ok(()) };
        for place in places.slots.iter_mut().skip(copied) {
            let len = self.taken_at(*place)?;
            let mut bytes = self.bytes_at(*place, len)?;
            let kept = self.unused_after(*place, len)?;
            let Some(writer) = &mut self.writer else { break };
            let free = writer.policy.free_after(bytes.len()).max(kept);
            bytes.resize(bytes.len().saturating_add(free), 0);
            *place = writer.put(&bytes, 0)?;
        }
        Ok(())
    }

    /// The bytes that are free after an object of the last commit, of this length; 0 after others.
    fn unused_after(&self, slot: u64, len: u64) -> Result<usize> {
        let Some(writer) = &self.writer else { return Ok(0) };
        let committed = writer.committed.as_deref().unwrap_or_default();
        let Ok(number) = committed.binary_search(&slot) else { return Ok(0) };
        let next = committed.get(number + 1).map_or(writer.settled, |next| *next);
        let end = self.base.saturating_add(slot.saturating_add(len));
        let unused = zeros(self.store.as_ref(), end..self.base.saturating_add(next))?;
        Ok(usize::try_from(unused).unwrap_or(usize::MAX))
    }

    /// The bytes of objects in these slots, the last of which may take bytes up to `end`, and of
    /// what lies around them.
    pub(super) fn space_of(&self, slots: &[u64], end: u64) -> Result<Space> {
        let objects = slots.iter().map(|slot| {
            let start = self.base.saturating_add(*slot);
            Ok(start..start.saturating_add(self.taken_at(*slot)?))
        });
        let offsets_end = match &self.writer {
            Some(writer) => writer.plan.table() + slots.len() as u64 * super::offsets::WIDTH,
            None => self.offsets_end,
        };
        measure(self.store.as_ref(), offsets_end, objects, self.base.saturating_add(end))
    }

    /// Whether no object has ever been in these bytes.
    fn is_unused(&self, bytes: Range<u64>) -> Result<bool> {
        let (start, len) = (self.base.saturating_add(bytes.start), bytes.end - bytes.start);
        Ok(zeros(self.store.as_ref(), start..start.saturating_add(len))? == len)
    }

    fn header_at(&self, slot: u64) -> Result<chunk::Header> {
        chunk::Header::parse(&self.bytes_at(slot, super::layout::CHUNK_HEADER as u64)?)
    }

    /// The bytes that the chunk of a slot and its digest take.
    fn taken_at(&self, slot: u64) -> Result<u64> {
        Ok((self.header_at(slot)?.compressed_len() + self.checksum.len()) as u64)
    }

    fn bytes_at(&self, slot: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        let found = crate::container::Layout::read(self, slot, 0, &mut bytes)?;
        match found == bytes.len() {
            true => Ok(bytes),
            false => Err(Error::truncated("the file ends inside of a chunk")),
        }
    }
}
