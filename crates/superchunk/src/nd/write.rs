//! Writing boxes, slices and lists of indexes. A chunk that is written in full is not decoded first; of
//! one that changes in a few blocks, the others are kept as they are stored.

use super::NdArray;
use super::assemble::{pack, pack_one};
use super::geometry::{Geometry, product, strides};
use super::odometer::{Odometer, chosen};
use super::pick::{BlockPart, Group, Picks};
use super::read::{check_len, check_strides, turn, turned};
use super::select::{AxisIndexes, Selection};
use super::view::block_parts;
use crate::dtype::{ByteOrder, Element};
use crate::error::{MustGet, Result};
use crate::schunk::Made;

impl NdArray {
    /// Writes the items from `start` up to but without `stop`; `bytes` are theirs, in C order.
    pub fn write_box(&mut self, start: &[u64], stop: &[u64], bytes: &[u8]) -> Result<()> {
        self.write_bytes(&Selection::from_box(start, stop), bytes)
    }

    /// Writes a selection; `bytes` are its items in C order.
    pub fn write_bytes(&mut self, selection: &Selection, bytes: &[u8]) -> Result<()> {
        let picks = self.picks(selection)?;
        let counts: Vec<usize> = picks.iter().map(Picks::count).collect();
        check_len(&counts, self.item_size(), bytes.len())?;
        if turned(selection).next().is_none() {
            return self.write_picks(&picks, bytes);
        }
        let mut bytes = bytes.to_vec();
        for (axis, _) in turned(selection) {
            turn(&mut bytes, &counts, axis, self.item_size())?;
        }
        self.write_picks(&picks, &bytes)
    }

    /// Writes a selection from numbers of this machine's byte order. `T` must be the array's type.
    pub fn write_items<T: Element>(&mut self, selection: &Selection, items: &[T]) -> Result<()> {
        self.check_type::<T>()?;
        let bytes: &[u8] = bytemuck::cast_slice(items);
        if [ByteOrder::native(), ByteOrder::Irrelevant].contains(&self.dtype.byte_order()) {
            return self.write_bytes(selection, bytes);
        }
        let mut bytes = bytes.to_vec();
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        self.write_bytes(selection, &bytes)
    }

    /// Writes the items at all combinations of some indexes of each axis; `bytes` are theirs in C
    /// order. Of an item that occurs twice the last value stays.
    pub fn write_orthogonal(&mut self, indexes: &[AxisIndexes<'_>], bytes: &[u8]) -> Result<()> {
        let picks = self.orthogonal_picks(indexes)?;
        let counts: Vec<usize> = picks.iter().map(Picks::count).collect();
        check_len(&counts, self.item_size(), bytes.len())?;
        self.write_picks(&picks, bytes)
    }

    /// Writes such items from a buffer whose axes have these strides, in bytes; a stride of 0
    /// repeats what is there.
    pub fn write_orthogonal_strided(
        &mut self,
        indexes: &[AxisIndexes<'_>],
        bytes: &[u8],
        strides: &[usize],
    ) -> Result<()> {
        let picks = self.orthogonal_picks(indexes)?;
        check_strides(&picks, strides, self.item_size(), bytes.len())?;
        self.write_strided(&picks, bytes, strides)
    }

    /// Writes a box from a buffer whose axes have these strides, in bytes; a stride of 0 repeats
    /// what is there.
    pub fn write_box_strided(
        &mut self,
        start: &[u64],
        stop: &[u64],
        bytes: &[u8],
        strides: &[usize],
    ) -> Result<()> {
        let picks = self.picks(&Selection::from_box(start, stop))?;
        check_strides(&picks, strides, self.item_size(), bytes.len())?;
        self.write_strided(&picks, bytes, strides)
    }

    /// Makes all items of a selection equal to `item`, which is as long as one. Chunks that are
    /// filled take 32 bytes.
    pub fn fill(&mut self, selection: &Selection, item: &[u8]) -> Result<()> {
        let picks = self.picks(selection)?;
        check_len(&[1], self.item_size(), item.len())?;
        self.write_strided(&picks, item, &vec![0; picks.len()])
    }

    fn write_picks(&mut self, picks: &[Picks], bytes: &[u8]) -> Result<()> {
        let counts: Vec<usize> = picks.iter().map(Picks::count).collect();
        self.write_strided(picks, bytes, &strides(&counts, self.item_size()))
    }

    fn write_strided(&mut self, picks: &[Picks], bytes: &[u8], strides: &[usize]) -> Result<()> {
        if picks.iter().any(|picks| picks.count() == 0) {
            return Ok(());
        }
        let layer = self.layer_bytes();
        let geometry = &self.geometry;
        let groups: Vec<Vec<Group>> =
            picks.iter().zip(&geometry.chunks).map(|(picks, side)| picks.groups(*side)).collect();
        let numbers = touched_chunks(geometry, &groups);
        let mut odometer = Odometer::new(groups.iter().map(Vec::len));
        self.frame.change_chunks(
            (self.layer, &layer),
            numbers.iter().copied(),
            |frame, number, buffer| {
                let at = odometer.next().unwrap_or_default();
                let here: Vec<Group> = chosen(&groups, at).copied().collect();
                let parts = block_parts(geometry, picks, &here);
                let source = (bytes, 0, strides);
                if is_covered(geometry, picks, number) {
                    let padded = has_padding(geometry, number, buffer.len());
                    let fill = move |number: usize, block: &mut [u8]| {
                        if padded {
                            block.fill(0);
                        }
                        pack_one(geometry, &parts, source, number, block)
                    };
                    return Ok(Made::Later(geometry.block_bytes, Box::new(fill)));
                }
                let changed = touched_blocks(geometry, &parts)?;
                let others_stay = frame.read_changed_blocks(number, &changed, buffer)?;
                pack(geometry, &parts, source, buffer)?;
                Ok(if others_stay { Made::Blocks(changed) } else { Made::Whole })
            },
        )
    }
}

/// The numbers of the chunks that the picks lie in, in C order of the groups.
fn touched_chunks(geometry: &Geometry, groups: &[Vec<Group>]) -> Vec<usize> {
    let mut odometer = Odometer::new(groups.iter().map(Vec::len));
    let mut numbers = Vec::new();
    while let Some(at) = odometer.next() {
        numbers.push(geometry.chunk_number(chosen(groups, at).map(|group| group.chunk)));
    }
    numbers
}

/// Which blocks of a chunk hold some of the parts, of which there are some along each axis.
fn touched_blocks(geometry: &Geometry, parts: &[Vec<BlockPart>]) -> Result<Vec<bool>> {
    let strides = strides(&geometry.block_grid, 1);
    let mut touched = vec![false; geometry.block_grid.iter().product()];
    let mut odometer = Odometer::new(parts.iter().map(Vec::len));
    while let Some(at) = odometer.next() {
        let blocks = chosen(parts, at).zip(&strides);
        let number: usize = blocks.map(|(part, stride)| part.block * stride).sum();
        *touched.must_get_mut(number)? = true;
    }
    Ok(touched)
}

/// Whether a chunk of `len` bytes has places for items that are not in the array.
fn has_padding(geometry: &Geometry, number: usize, len: usize) -> bool {
    let extent = geometry.chunk_extent(&geometry.chunk_start(number));
    product(&extent, geometry.item_size) != Some(len)
}

/// Whether the picks are all items of a chunk that lie in the array.
fn is_covered(geometry: &Geometry, picks: &[Picks], number: usize) -> bool {
    let start = geometry.chunk_start(number);
    let extent = geometry.chunk_extent(&start);
    let mut axes = picks.iter().zip(&start).zip(&extent);
    axes.all(|((picks, start), extent)| picks.covers(*start, start + *extent as u64))
}
