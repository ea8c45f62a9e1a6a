//! Reading boxes, slices and lists of indexes.

use std::fmt;

use super::NdArray;
use super::geometry::{product, strides};
use super::pick::Picks;
use super::select::{AxisIndexes, AxisSlice, Selection};
use crate::dtype::{ByteOrder, Element};
use crate::error::{Error, MustGet, Result};
use crate::text::Bytes;

/// A chunk of an array: the box it is, and its items.
#[derive(Clone, PartialEq, Eq)]
pub struct ChunkBox {
    /// The first index of the box along each axis.
    pub start: Vec<u64>,
    /// The length of the box; shorter than a chunk at the far edges.
    pub shape: Vec<usize>,
    /// Its items in C order.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for ChunkBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkBox")
            .field("start", &self.start)
            .field("shape", &self.shape)
            .field("bytes", &Bytes(&self.bytes))
            .finish()
    }
}

impl NdArray {
    /// Reads the items from `start` up to but without `stop` into `dst`, in C order; it has exactly
    /// their length.
    pub fn read_box(&self, start: &[u64], stop: &[u64], dst: &mut [u8]) -> Result<()> {
        self.read_bytes(&Selection::from_box(start, stop), dst)
    }

    /// Reads a box into a buffer whose axes have these strides, in bytes. Bytes between the items
    /// stay as they are.
    pub fn read_box_strided(
        &self,
        start: &[u64],
        stop: &[u64],
        dst: &mut [u8],
        strides: &[usize],
    ) -> Result<()> {
        let selection = Selection::from_box(start, stop);
        let picks = self.picks(&selection)?;
        check_strides(&picks, strides, self.item_size(), dst.len())?;
        self.view().read(&picks, dst, strides)
    }

    /// Reads a selection into `dst`, in C order; it has exactly the length of the items.
    pub fn read_bytes(&self, selection: &Selection, dst: &mut [u8]) -> Result<()> {
        let picks = self.picks(selection)?;
        self.read_picks(&picks, dst)?;
        let counts: Vec<usize> = picks.iter().map(Picks::count).collect();
        for (axis, _) in turned(selection) {
            turn(dst, &counts, axis, self.item_size())?;
        }
        Ok(())
    }

    /// The items of a selection in C order, and their shape.
    pub fn bytes(&self, selection: &Selection) -> Result<(Vec<u64>, Vec<u8>)> {
        let mut bytes = vec![0; self.selected_len(selection)?];
        self.read_bytes(selection, &mut bytes)?;
        Ok((selection.shape(), bytes))
    }

    /// The items of a selection in C order, as numbers of this machine's byte order. `T` must be the
    /// array's type.
    pub fn read<T: Element>(&self, selection: &Selection) -> Result<Vec<T>> {
        self.check_type::<T>()?;
        let len = self.selected_len(selection)?;
        let mut items: Vec<T> = bytemuck::zeroed_vec(len / size_of::<T>());
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut items);
        self.read_bytes(selection, bytes)?;
        if ![ByteOrder::native(), ByteOrder::Irrelevant].contains(&self.dtype.byte_order()) {
            bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        Ok(items)
    }

    /// All items in C order.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        Ok(self.bytes(&Selection::all(self.shape()))?.1)
    }

    /// Returns the items at all combinations of some indexes of each axis (NumPy's `ix_`), in C
    /// order.
    pub fn read_orthogonal(&self, indexes: &[AxisIndexes<'_>]) -> Result<Vec<u8>> {
        let picks = self.orthogonal_picks(indexes)?;
        let counts: Vec<usize> = picks.iter().map(Picks::count).collect();
        let mut bytes = vec![0; self.bytes_of(&counts)?];
        self.read_picks(&picks, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads such items into `dst`, in C order; it has exactly their length.
    pub fn read_orthogonal_into(&self, indexes: &[AxisIndexes<'_>], dst: &mut [u8]) -> Result<()> {
        self.read_picks(&self.orthogonal_picks(indexes)?, dst)
    }

    /// Reads such items into a buffer whose axes have these strides, in bytes. Bytes between the
    /// items stay as they are.
    pub fn read_orthogonal_strided(
        &self,
        indexes: &[AxisIndexes<'_>],
        dst: &mut [u8],
        strides: &[usize],
    ) -> Result<()> {
        let picks = self.orthogonal_picks(indexes)?;
        check_strides(&picks, strides, self.item_size(), dst.len())?;
        self.view().read(&picks, dst, strides)
    }

    /// Every chunk, in order.
    pub fn chunks(&self) -> impl Iterator<Item = Result<ChunkBox>> + '_ {
        (0..self.geometry.chunk_count).map(|number| {
            let start = self.geometry.chunk_start(number);
            let shape = self.geometry.chunk_extent(&start);
            self.bytes_of(&shape)?;
            let bytes = self.view().read_box(&start, &shape)?;
            Ok(ChunkBox { start, shape, bytes })
        })
    }

    /// The picks of a selection, checked.
    pub(super) fn picks(&self, selection: &Selection) -> Result<Vec<Picks>> {
        selection.check(self.shape())?;
        selection.axes().iter().map(Picks::from_slice).collect()
    }

    pub(super) fn orthogonal_picks(&self, indexes: &[AxisIndexes<'_>]) -> Result<Vec<Picks>> {
        if indexes.len() != self.ndim() {
            return Err(Error::invalid(format!(
                "expected indexes for each of {} dimensions, got {}",
                self.ndim(),
                indexes.len()
            )));
        }
        let axes = indexes.iter().zip(self.shape()).enumerate();
        axes.map(|(axis, (indexes, side))| match indexes {
            AxisIndexes::List(list) => Picks::from_list(list, axis, *side),
            AxisIndexes::Slice(slice) => {
                slice.check(axis, *side)?;
                Picks::in_order_of(slice)
            }
        })
        .collect()
    }

    /// Refuses a Rust type that is not the array's.
    pub(super) fn check_type<T: Element>(&self) -> Result<()> {
        let wanted = T::dtype().with_order(self.dtype.byte_order());
        if wanted == self.dtype {
            return Ok(());
        }
        Err(Error::invalid(format!("the items are `{}`, not `{wanted}`", self.dtype)))
    }

    /// The bytes of a box, if they are within the limits.
    pub(super) fn bytes_of(&self, counts: &[usize]) -> Result<usize> {
        let len = product(counts, self.item_size())
            .ok_or_else(|| Error::limit("more bytes than the memory can hold"))?;
        self.frame.check_memory(len)?;
        Ok(len)
    }

    fn selected_len(&self, selection: &Selection) -> Result<usize> {
        let counts: Vec<usize> = self.picks(selection)?.iter().map(Picks::count).collect();
        self.bytes_of(&counts)
    }

    fn read_picks(&self, picks: &[Picks], dst: &mut [u8]) -> Result<()> {
        let counts: Vec<usize> = picks.iter().map(Picks::count).collect();
        check_len(&counts, self.item_size(), dst.len())?;
        self.view().read(picks, dst, &strides(&counts, self.item_size()))
    }
}

/// Refuses a buffer that is not as long as a box.
pub(super) fn check_len(counts: &[usize], item_size: usize, len: usize) -> Result<()> {
    if product(counts, item_size) == Some(len) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the buffer has {len} bytes, items of {item_size} bytes in shape {counts:?} have other many"
    )))
}

/// Refuses strides that lead out of a buffer of `len` bytes.
pub(super) fn check_strides(
    picks: &[Picks],
    strides: &[usize],
    item_size: usize,
    len: usize,
) -> Result<()> {
    if strides.len() != picks.len() {
        return Err(Error::invalid(format!(
            "expected {} strides, one for each dimension, got {}",
            picks.len(),
            strides.len()
        )));
    }
    let reach = picks.iter().zip(strides).try_fold(item_size, |reach, (picks, stride)| {
        reach.checked_add(picks.count().saturating_sub(1).checked_mul(*stride)?)
    });
    let is_empty = picks.iter().any(|picks| picks.count() == 0);
    if is_empty || reach.is_some_and(|reach| reach <= len) {
        return Ok(());
    }
    Err(Error::invalid(format!("the items end past the buffer, which has {len} bytes")))
}

/// The axes that are wanted in descending order.
pub(super) fn turned(selection: &Selection) -> impl Iterator<Item = (usize, &AxisSlice)> {
    selection.axes().iter().enumerate().filter(|(_, axis)| axis.step < 0)
}

/// Turns the order of an axis of a buffer in C order.
pub(super) fn turn(
    bytes: &mut [u8],
    counts: &[usize],
    axis: usize,
    item_size: usize,
) -> Result<()> {
    let inner = counts.must_get(axis + 1..)?;
    let len = product(inner, item_size).unwrap_or(0);
    let count = *counts.must_get(axis)?;
    if len == 0 || count < 2 {
        return Ok(());
    }
    for rows in bytes.chunks_exact_mut(len * count) {
        for row in 0..count / 2 {
            let (front, back) = rows.must_split_at_mut(len * (count - 1 - row))?;
            let front = front.must_get_mut(len * row..len * (row + 1))?;
            front.swap_with_slice(back.must_get_mut(..len)?);
        }
    }
    Ok(())
}
