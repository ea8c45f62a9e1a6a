//! Arrays: NumPy files, frames with axes, and Bloscpack files that are arrays. Everything N-d that the
//! program reads passes through here.

mod fit;
mod npy_file;
mod packed;

pub(crate) use fit::{ExactSource, Needed, RawShape};
pub(crate) use npy_file::to_c_order;

use std::ops::Range;
use std::path::Path;

use superchunk::bloscpack::Pack;
use superchunk::{AxisSlice, Error, ErrorKind, NdArray, Selection, SuperChunk};

use crate::failure::{Failure, Outcome};
use crate::memory::{Memory, to_usize};
use npy_file::NpyFile;
use packed::PackedArray;

/// About how many bytes are read at once.
const PIECE: u64 = 1 << 20;
/// The most bytes of rows that are held at once, unless a single row has more.
const MOST: u64 = 64 << 20;

/// An array.
pub(crate) enum Array {
    /// A frame with axes.
    Frame(Box<NdArray>),
    /// A NumPy file.
    Npy(NpyFile),
    /// A Bloscpack file.
    Pack(PackedArray),
}

/// The array of a `.npy` file.
pub(crate) fn of_npy(
    file: Box<superchunk::NpyFile>,
    path: &Path,
    memory: Memory,
) -> Outcome<Array> {
    Ok(Array::Npy(NpyFile::new(file, path, memory)?))
}

/// The array that a Bloscpack file is, or the file if it is none.
pub(crate) fn of_pack(pack: Box<Pack>, memory: Memory) -> Outcome<Result<Array, Box<Pack>>> {
    Ok(PackedArray::of(pack, memory)?.map(Array::Pack))
}

/// Whether a frame is an array.
pub(crate) fn is_array(frame: &SuperChunk) -> bool {
    frame.metalayer("b2nd").is_some() || frame.metalayer("caterva").is_some()
}

impl Array {
    pub(crate) fn frame(&self) -> Option<&SuperChunk> {
        if let Self::Frame(array) = self { Some(array.superchunk()) } else { None }
    }

    /// The Bloscpack file that it is.
    pub(crate) fn pack(&self) -> Option<&Pack> {
        if let Self::Pack(array) = self { Some(&array.pack) } else { None }
    }

    pub(crate) fn shape(&self) -> &[u64] {
        match self {
            Self::Frame(array) => array.shape(),
            Self::Pack(array) => &array.shape,
            Self::Npy(file) => &file.shape,
        }
    }

    pub(crate) fn dtype(&self) -> String {
        match self {
            Self::Frame(array) => array.dtype().to_string(),
            Self::Pack(array) => array.dtype.to_string(),
            Self::Npy(file) => file.dtype.to_string(),
        }
    }

    pub(crate) fn item_size(&self) -> usize {
        match self {
            Self::Frame(array) => array.item_size(),
            Self::Pack(array) => array.dtype.item_size().max(1),
            Self::Npy(file) => file.dtype.item_size().max(1),
        }
    }

    /// The shapes of chunks and blocks.
    pub(crate) fn grid(&self) -> Option<(Vec<u64>, Vec<u64>)> {
        let Self::Frame(array) = self else { return None };
        let wide = |sides: &[usize]| sides.iter().map(|side| *side as u64).collect();
        Some((wide(array.chunk_shape()), wide(array.block_shape())))
    }

    /// The bytes of all items.
    pub(crate) fn len(&self) -> u64 {
        let items = self.shape().iter().fold(1u64, |items, side| items.saturating_mul(*side));
        items.saturating_mul(self.item_size() as u64)
    }

    /// The bytes of a row of the first axis.
    pub(crate) fn row(&self) -> usize {
        let rows = self.shape().first().copied().unwrap_or(1).max(1);
        usize::try_from(self.len() / rows).unwrap_or(usize::MAX).max(1)
    }

    /// A good number of bytes to read at once: whole rows, those of a chunk if they are not too many.
    pub(crate) fn piece(&self, memory: Memory) -> usize {
        let row = self.row() as u64;
        let rows = match self {
            Self::Frame(array) => rows_at_once(array, row, memory),
            Self::Npy(_) | Self::Pack(_) => (PIECE / row).max(1),
        };
        usize::try_from(rows.saturating_mul(row)).unwrap_or(usize::MAX)
    }

    /// Reads whole rows of the first axis.
    pub(crate) fn read(&self, range: Range<u64>, dst: &mut [u8]) -> Outcome {
        let array = match self {
            Self::Frame(array) => array,
            Self::Npy(file) => return file.read(range, dst),
            Self::Pack(file) => return file.read(range, dst),
        };
        let row = self.row() as u64;
        let (mut start, mut stop) = (vec![0; array.ndim()], array.shape().to_vec());
        if let (Some(first), Some(last)) = (start.first_mut(), stop.first_mut()) {
            (*first, *last) = (range.start / row, range.end.div_ceil(row));
        }
        Ok(array.read_box(&start, &stop, dst)?)
    }

    /// The shape of a slice, or of all.
    pub(crate) fn shape_of(&self, slice: Option<&str>) -> Outcome<Vec<u64>> {
        match slice {
            Some(slice) => Ok(selection(slice, self.shape())?.shape()),
            None => Ok(self.shape().to_vec()),
        }
    }

    /// Calls `take` with the bytes of a slice in C order, piece by piece.
    pub(crate) fn pieces_of(&self, slice: &str, take: &mut dyn FnMut(&[u8]) -> Outcome) -> Outcome {
        let selection = selection(slice, self.shape())?;
        let [first, rest @ ..] = selection.axes() else { return self.part(&selection, take) };
        let row = rest.iter().fold(self.item_size() as u64, |len, axis| len * axis.count).max(1);
        let rows = (PIECE / row).max(1);
        let mut done = 0;
        while done < first.count {
            let count = rows.min(first.count - done);
            let part = AxisSlice { start: ahead(first, done)?, count, ..*first };
            let axes: Vec<AxisSlice> = std::iter::once(part).chain(rest.iter().copied()).collect();
            self.part(&Selection::new(axes), take)?;
            done += count;
        }
        Ok(())
    }

    fn part(&self, selection: &Selection, take: &mut dyn FnMut(&[u8]) -> Outcome) -> Outcome {
        match self {
            Self::Frame(array) => take(&array.bytes(selection)?.1),
            Self::Npy(file) => file.select(selection, take),
            Self::Pack(file) => file.select(selection, take),
        }
    }
}

/// How many rows of the first axis to handle at once: those of a chunk, if they are not too many.
pub(crate) fn rows_at_once(array: &NdArray, row: u64, memory: Memory) -> u64 {
    let chunk = array.chunk_shape().first().map_or(1, |side| *side as u64);
    chunk.clamp(1, (memory.at_most(MOST) / row.max(1)).max(1))
}

/// The `count`-th index of a slice.
fn ahead(axis: &AxisSlice, count: u64) -> Outcome<u64> {
    let at = i128::from(axis.start) + i128::from(axis.step) * i128::from(count);
    let outside = |_| Error::new(ErrorKind::InvalidArgument, "the slice leaves the array");
    Ok(u64::try_from(at).map_err(outside)?)
}

/// The bytes of a number of items, if the memory can hold them.
fn bytes_of(items: u64, item_size: usize) -> Outcome<usize> {
    to_usize(items.saturating_mul(item_size as u64))
}

/// The part of an array that was typed behind `@`.
fn selection(slice: &str, shape: &[u64]) -> Outcome<Selection> {
    Selection::parse(slice, shape).map_err(|error| {
        Failure::usage(format!("`@{slice}` does not fit: {}", error.message())).with_help(
            "a slice is like @0,0 or @10:20,:,-1, with an index or a range for each axis",
        )
    })
}
