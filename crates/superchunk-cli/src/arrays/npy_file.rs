//! The items of a `.npy` file, which are read where they are.

use std::ops::Range;
use std::path::Path;

use superchunk::{AxisSlice, DType, Error, Selection};

use super::{Needed, PIECE, ahead, bytes_of};
use crate::failure::Outcome;
use crate::memory::{Memory, to_usize};
use crate::sizes::stored_of_path;

/// An open `.npy` file.
pub(crate) struct NpyFile {
    pub(super) shape: Vec<u64>,
    pub(super) dtype: DType,
    items: Items,
}

enum Items {
    /// In the file, in C order.
    File(Box<superchunk::NpyFile>),
    /// In C order, because those of the file are not.
    Memory(Vec<u8>),
}

impl NpyFile {
    /// The items of a file; those in Fortran order are brought to C order in memory.
    pub(super) fn new(
        file: Box<superchunk::NpyFile>,
        path: &Path,
        memory: Memory,
    ) -> Outcome<Self> {
        let (header, name) = (file.header().clone(), path.display().to_string());
        memory.check(&name, header.dtype.item_size() as u64)?;
        let found = stored_of_path(path).saturating_sub(header.data_offset as u64);
        Needed::by_header(&header)?.check(&name, found)?;
        let items = if header.fortran_order && header.shape.len() > 1 {
            memory.check(&name, found)?;
            let mut columns = vec![0; to_usize(file.byte_len())?];
            file.read_bytes(0..file.byte_len(), &mut columns)?;
            Items::Memory(to_c_order(&columns, &header.shape, header.dtype.item_size()))
        } else {
            Items::File(file)
        };
        Ok(Self { shape: header.shape, dtype: header.dtype, items })
    }

    /// Items that are in memory already, in C order.
    pub(super) fn in_memory(shape: Vec<u64>, dtype: DType, items: Vec<u8>) -> Self {
        Self { shape, dtype, items: Items::Memory(items) }
    }

    /// Reads bytes of the items, in C order.
    pub(super) fn read(&self, range: Range<u64>, dst: &mut [u8]) -> Outcome {
        match &self.items {
            Items::File(file) => Ok(file.read_bytes(range, dst)?),
            Items::Memory(bytes) => {
                let part = bytes.get(to_usize(range.start)?..to_usize(range.end)?);
                let part = part.ok_or_else(|| Error::invalid("past the end of the array"))?;
                dst.iter_mut().zip(part).for_each(|(to, from)| *to = *from);
                Ok(())
            }
        }
    }

    /// Calls `take` with the items of a selection, some of a row of the last axis in each call.
    pub(super) fn select(
        &self,
        selection: &Selection,
        take: &mut dyn FnMut(&[u8]) -> Outcome,
    ) -> Outcome {
        let size = self.dtype.item_size().max(1);
        let Some((last, outer)) = selection.axes().split_last() else {
            let mut item = vec![0; size];
            self.read(0..size as u64, &mut item)?;
            return take(&item);
        };
        if selection.axes().iter().any(|axis| axis.count == 0) {
            return Ok(());
        }
        let side = self.shape.last().copied().unwrap_or(1);
        let mut index = vec![0u64; outer.len()];
        loop {
            let mut at = 0u64;
            for ((number, axis), side) in index.iter().zip(outer).zip(&self.shape) {
                at = at * side + ahead(axis, *number)?;
            }
            self.select_of_row(at * side, last, take)?;
            if !advance(&mut index, outer.iter().map(|axis| axis.count)) {
                return Ok(());
            }
        }
    }

    /// The same for the row that begins with the item `first`.
    fn select_of_row(
        &self,
        first: u64,
        axis: &AxisSlice,
        take: &mut dyn FnMut(&[u8]) -> Outcome,
    ) -> Outcome {
        let size = self.dtype.item_size().max(1);
        let (count, mut done) = (within_a_piece(axis, size), 0);
        while done < axis.count {
            let last = (done + count).min(axis.count) - 1;
            let (one, other) = (ahead(axis, done)?, ahead(axis, last)?);
            let (low, high) = (one.min(other), one.max(other));
            let mut bytes = vec![0; bytes_of(high - low + 1, size)?];
            let start = (first + low) * size as u64;
            self.read(start..start + bytes.len() as u64, &mut bytes)?;
            let mut picked = Vec::with_capacity(bytes.len());
            for number in done..=last {
                let at = bytes_of(ahead(axis, number)? - low, size)?;
                picked.extend_from_slice(bytes.get(at..at + size).unwrap_or_default());
            }
            take(&picked)?;
            done = last + 1;
        }
        Ok(())
    }
}

/// How many items of an axis lie within a piece that is read at once; at least one.
fn within_a_piece(axis: &AxisSlice, item_size: usize) -> u64 {
    let distance = axis.step.unsigned_abs().saturating_mul(item_size as u64).max(1);
    (PIECE / distance).max(1)
}

/// The next index in C order; tells whether there is one.
fn advance(
    index: &mut [u64],
    sides: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator,
) -> bool {
    for (part, side) in index.iter_mut().zip(sides).rev() {
        *part += 1;
        if *part < side {
            return true;
        }
        *part = 0;
    }
    false
}

/// The items of an array whose first index varies fastest, with the last one varying fastest.
pub(crate) fn to_c_order(columns: &[u8], shape: &[u64], item_size: usize) -> Vec<u8> {
    let mut rows = Vec::with_capacity(columns.len());
    let mut index = vec![0u64; shape.len()];
    for _ in 0..columns.len() / item_size.max(1) {
        let parts = index.iter().zip(shape).rev();
        let at = parts.fold(0u64, |at, (part, side)| at * side + part);
        let at = usize::try_from(at).unwrap_or(usize::MAX).saturating_mul(item_size);
        rows.extend_from_slice(columns.get(at..at.saturating_add(item_size)).unwrap_or_default());
        advance(&mut index, shape.iter().copied());
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        // The 2 x 3 array [[1, 2, 3], [4, 5, 6]] by columns.
        assert_eq!(to_c_order(&[1, 4, 2, 5, 3, 6], &[2, 3], 1), [1, 2, 3, 4, 5, 6]);
        assert_eq!(to_c_order(&[1, 1, 2, 2], &[2, 1], 2), [1, 1, 2, 2]);
        assert!(to_c_order(&[], &[0, 3], 4).is_empty());
    }
}
