//! Single items, anywhere.

use std::ops::Range;

use super::NdArray;
use crate::chunk::Parts;
use crate::error::{Error, Result};

/// An item: its chunk, its first byte there, and its number among the points.
type Place = (usize, usize, usize);

impl NdArray {
    /// Reads the items at these coordinates into `dst`, one after the other, in their order and as
    /// often as they occur.
    pub fn read_points(&self, points: &[Vec<u64>], dst: &mut [u8]) -> Result<()> {
        let places = self.places(points, dst.len())?;
        for group in places.chunk_by(|a, b| a.0 == b.0) {
            let Some((chunk, ..)) = group.first() else { continue };
            let block_bytes = self.geometry.block_bytes;
            let same = |a: &Place, b: &Place| a.1 / block_bytes == b.1 / block_bytes;
            let blocks = group.chunk_by(same).collect();
            let item_size = self.item_size();
            self.frame.read_parts(*chunk, &mut Points { blocks, dst, item_size })?;
        }
        Ok(())
    }

    /// Writes the items at these coordinates; of an item that occurs twice the last value stays.
    /// Every block that holds one is compressed anew.
    pub fn write_points(&mut self, points: &[Vec<u64>], bytes: &[u8]) -> Result<()> {
        let places = self.places(points, bytes.len())?;
        let (layer, item_size) = (self.layer_bytes(), self.item_size());
        let block_bytes = self.geometry.block_bytes;
        let groups: Vec<&[Place]> = places.chunk_by(|a, b| a.0 == b.0).collect();
        let numbers = groups.iter().filter_map(|group| group.first()).map(|place| place.0);
        let mut waiting = groups.iter();
        self.frame.change_chunks((self.layer, &layer), numbers, |frame, number, buffer| {
            let places = waiting.next().copied().unwrap_or_default();
            let mut changed = vec![false; buffer.len() / block_bytes];
            for (_, byte, _) in places {
                if let Some(changed) = changed.get_mut(byte / block_bytes) {
                    *changed = true;
                }
            }
            let others_stay = frame.read_changed_blocks(number, &changed, buffer)?;
            for (_, byte, point) in places {
                let to = buffer.get_mut(*byte..byte + item_size);
                let from = bytes.get(point * item_size..(point + 1) * item_size);
                if let (Some(to), Some(from)) = (to, from) {
                    to.copy_from_slice(from);
                }
            }
            Ok(others_stay.then_some(changed))
        })
    }

    /// Where the points are, in the order of the storage.
    fn places(&self, points: &[Vec<u64>], len: usize) -> Result<Vec<Place>> {
        if points.len().checked_mul(self.item_size()) != Some(len) {
            return Err(Error::invalid(format!(
                "{} items of {} bytes, the buffer has {len}",
                points.len(),
                self.item_size()
            )));
        }
        let mut places = Vec::with_capacity(points.len());
        for (number, point) in points.iter().enumerate() {
            let inside = point.iter().zip(self.shape()).all(|(at, side)| at < side);
            if point.len() != self.ndim() || !inside {
                return Err(Error::invalid(format!(
                    "{point:?} is no item of an array of shape {:?}",
                    self.shape()
                )));
            }
            let (chunk, byte) = self.geometry.place_of(point);
            places.push((chunk, byte, number));
        }
        places.sort_unstable();
        Ok(places)
    }
}

/// The points of a chunk, block by block, on their way to the destination.
struct Points<'a> {
    blocks: Vec<&'a [Place]>,
    dst: &'a mut [u8],
    item_size: usize,
}

impl Parts for Points<'_> {
    fn range(&self, number: usize) -> Option<Range<usize>> {
        let block = self.blocks.get(number)?;
        Some(block.first()?.1..block.last()?.1 + self.item_size)
    }

    fn room(&mut self, _number: usize) -> Option<&mut [u8]> {
        None
    }

    fn take(&mut self, numbers: Range<usize>, bytes: &[u8]) {
        let Some(block) = self.blocks.get(numbers.start) else { return };
        let first = block.first().map_or(0, |place| place.1);
        for (_, byte, point) in *block {
            let from = bytes.get(byte - first..byte - first + self.item_size);
            let to = self.dst.get_mut(point * self.item_size..(point + 1) * self.item_size);
            if let (Some(from), Some(to)) = (from, to) {
                to.copy_from_slice(from);
            }
        }
    }
}
