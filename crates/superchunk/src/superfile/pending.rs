//! Chunks that are not committed yet: in memory, and in a file of their own when they become many.

use std::sync::Arc;

use crate::error::{Error, MustGet, OrBug, Result};
use crate::store::{Dir, WriteAt};

/// Slots from here on are pending chunks; below, a slot is the number of a committed chunk.
pub(crate) const PENDING: u64 = 1 << 62;
/// How many bytes wait in memory.
const IN_MEMORY: usize = 16 << 20;
/// The file for the others, in the folder of the column.
const SPILL: &str = ".b2spill";

/// The chunks, by slot.
#[derive(Default)]
pub(crate) struct Pending {
    places: Vec<Place>,
    in_memory: usize,
    spill: Option<Arc<dyn WriteAt>>,
    spilled: u64,
}

enum Place {
    Memory(Vec<u8>),
    Spilled { position: u64, len: usize },
    Gone,
}

impl Pending {
    /// Keeps a chunk and returns its slot.
    pub(crate) fn put(&mut self, folder: &dyn Dir, chunk: &[u8]) -> Result<u64> {
        let place = if self.in_memory.saturating_add(chunk.len()) <= IN_MEMORY {
            self.in_memory += chunk.len();
            Place::Memory(chunk.to_vec())
        } else {
            if self.spill.is_none() {
                // One of a writer that was interrupted may be there.
                let _ = folder.remove(SPILL);
                self.spill = Some(folder.create(SPILL)?);
            }
            let position = self.spilled;
            let file = self.spill.as_ref().or_bug("the file was made before")?;
            file.write_at(position, chunk)?;
            self.spilled += chunk.len() as u64;
            Place::Spilled { position, len: chunk.len() }
        };
        self.places.push(place);
        Ok(PENDING + self.places.len() as u64 - 1)
    }

    /// The length of a chunk.
    pub(crate) fn len(&self, slot: u64) -> Result<usize> {
        match self.place(slot)? {
            Place::Memory(chunk) => Ok(chunk.len()),
            Place::Spilled { len, .. } => Ok(*len),
            Place::Gone => Err(gone()),
        }
    }

    /// A chunk that is in memory.
    pub(crate) fn as_bytes(&self, slot: u64) -> Option<&[u8]> {
        match self.place(slot) {
            Ok(Place::Memory(chunk)) => Some(chunk),
            _ => None,
        }
    }

    /// Reads a chunk from its byte `start` on, and returns how many bytes came.
    pub(crate) fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize> {
        let left = (self.len(slot)? as u64).saturating_sub(start);
        let wanted = usize::try_from(left).map_or(dst.len(), |left| left.min(dst.len()));
        let dst = dst.must_get_mut(..wanted)?;
        match self.place(slot)? {
            Place::Memory(chunk) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let part = chunk.get(start..).and_then(|rest| rest.get(..wanted));
                dst.copy_from_slice(part.or_bug("no more is read than the chunk has")?);
            }
            Place::Spilled { position, .. } => {
                let file = self.spill.as_ref().ok_or_else(gone)?;
                file.read_exact_at(position + start, dst)?;
            }
            Place::Gone => return Err(gone()),
        }
        Ok(wanted)
    }

    /// A whole chunk.
    pub(crate) fn get(&self, slot: u64) -> Result<Vec<u8>> {
        let mut chunk = vec![0; self.len(slot)?];
        self.read(slot, 0, &mut chunk)?;
        Ok(chunk)
    }

    /// Forgets a chunk.
    pub(crate) fn release(&mut self, slot: u64) {
        let number = usize::try_from(slot.wrapping_sub(PENDING)).unwrap_or(usize::MAX);
        if let Some(place) = self.places.get_mut(number) {
            if let Place::Memory(chunk) = place {
                self.in_memory -= chunk.len();
            }
            *place = Place::Gone;
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self, folder: &dyn Dir) {
        if self.spill.is_some() {
            // A file that stays is debris for the next writer.
            let _ = folder.remove(SPILL);
        }
        *self = Self::default();
    }

    fn place(&self, slot: u64) -> Result<&Place> {
        let number = usize::try_from(slot.wrapping_sub(PENDING)).unwrap_or(usize::MAX);
        self.places.get(number).ok_or_else(gone)
    }
}

fn gone() -> Error {
    Error::invalid("this chunk is no longer kept")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryFolder;

    #[test]
    fn many_chunks_go_into_a_file_and_read_back() {
        let folder = MemoryFolder::new();
        let mut pending = Pending::default();
        let chunk = |number: u8| vec![number; 6 << 20];
        let slots: Vec<u64> =
            (0..4).map(|number| pending.put(&folder, &chunk(number)).unwrap()).collect();
        assert!(pending.as_bytes(slots[0]).is_some() && pending.as_bytes(slots[3]).is_none());
        assert_eq!(folder.names().unwrap(), [SPILL]);
        for (number, slot) in (0..).zip(&slots) {
            assert!(pending.get(*slot).unwrap() == chunk(number), "chunk {number}");
            let mut some = [0xff; 10];
            assert_eq!(pending.read(*slot, (6 << 20) - 3, &mut some).unwrap(), 3);
            assert_eq!(some[..4], [number, number, number, 0xff]);
        }
        pending.release(slots[0]);
        assert!(pending.get(slots[0]).is_err());
        pending.clear(&folder);
        assert!(folder.names().unwrap().is_empty());
        assert!(pending.get(slots[1]).is_err());
    }
}
