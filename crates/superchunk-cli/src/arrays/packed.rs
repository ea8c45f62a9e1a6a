//! The items of an array in a Bloscpack file.

use std::ops::Range;

use superchunk::bloscpack::{ItemOrder, Pack};
use superchunk::{AxisSlice, DType, Selection};

use super::npy_file::{NpyFile, to_c_order};
use super::{MOST, ahead, bytes_of};
use crate::failure::Outcome;
use crate::memory::{Memory, to_usize};

/// An array of NumPy in a Bloscpack file.
pub(crate) struct PackedArray {
    pub(super) pack: Box<Pack>,
    pub(super) shape: Vec<u64>,
    pub(super) dtype: DType,
    /// All items in C order, because those of the file are not.
    turned: Option<NpyFile>,
    memory: Memory,
}

impl PackedArray {
    /// The array that a file says it is, or the file if it is none. Items in Fortran order are brought
    /// to C order in memory.
    pub(super) fn of(pack: Box<Pack>, memory: Memory) -> Outcome<Result<Self, Box<Pack>>> {
        let Some(array) = pack.array() else { return Ok(Err(pack)) };
        let (shape, dtype) = (array.shape.clone(), array.dtype.clone());
        let turned = if array.order == ItemOrder::Fortran && shape.len() > 1 {
            let len = pack.superchunk()?.byte_len();
            memory.check("the array", len)?;
            let rows = to_c_order(&pack.superchunk()?.to_vec()?, &shape, dtype.item_size());
            Some(NpyFile::in_memory(shape.clone(), dtype.clone(), rows))
        } else {
            None
        };
        Ok(Ok(Self { pack, shape, dtype, turned, memory }))
    }

    /// Reads bytes of the items, in C order.
    pub(super) fn read(&self, range: Range<u64>, dst: &mut [u8]) -> Outcome {
        match &self.turned {
            Some(items) => items.read(range, dst),
            None => Ok(self.pack.superchunk()?.read_bytes(range, dst)?),
        }
    }

    /// Calls `take` with the items of a selection, which is one of few rows.
    pub(super) fn select(
        &self,
        selection: &Selection,
        take: &mut dyn FnMut(&[u8]) -> Outcome,
    ) -> Outcome {
        if let Some(items) = &self.turned {
            return items.select(selection, take);
        }
        let size = self.dtype.item_size().max(1);
        let [first, rest @ ..] = selection.axes() else {
            let mut item = vec![0; size];
            self.read(0..size as u64, &mut item)?;
            return take(&item);
        };
        let Some(last) = first.count.checked_sub(1) else { return Ok(()) };
        let end = ahead(first, last)?;
        let (low, high) = (first.start.min(end), first.start.max(end) + 1);
        let sides = self.shape.get(1..).unwrap_or_default();
        let row = bytes_of(sides.iter().product(), size)? as u64;
        if (high - low).saturating_mul(row) > self.memory.at_most(MOST) && first.count > 1 {
            // The rows lie far apart.
            for number in 0..first.count {
                let one = AxisSlice { start: ahead(first, number)?, count: 1, ..*first };
                let axes = std::iter::once(one).chain(rest.iter().copied());
                self.select(&Selection::new(axes.collect::<Vec<_>>()), take)?;
            }
            return Ok(());
        }
        self.memory.check("the rows", (high - low).saturating_mul(row))?;
        let mut rows = vec![0; to_usize((high - low) * row)?];
        self.read(low * row..high * row, &mut rows)?;
        let shape: Vec<u64> = std::iter::once(high - low).chain(sides.iter().copied()).collect();
        let near = AxisSlice { start: first.start - low, ..*first };
        let axes: Vec<AxisSlice> = std::iter::once(near).chain(rest.iter().copied()).collect();
        NpyFile::in_memory(shape, self.dtype.clone(), rows).select(&Selection::new(axes), take)
    }
}
