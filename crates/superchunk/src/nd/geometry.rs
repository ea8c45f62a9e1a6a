//! How an array is cut: the arithmetic of shapes, all of it checked.
//!
//! ```text
//! array  = grid of chunks, in C order; chunks at the far edges reach beyond it (padding)
//! chunk  = grid of blocks, in C order; blocks at the far edges reach beyond it (padding)
//! block  = items in C order
//! ```

use crate::b2nd::{MAX_DIMENSIONS, Meta};
use crate::container::MAX_CHUNK_SIZE;
use crate::error::{Error, Result};

/// The most bytes of a block.
const MAX_BLOCK: usize = 536_866_816;

/// A checked way of cutting an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunks: Vec<usize>,
    pub(crate) blocks: Vec<usize>,
    pub(crate) item_size: usize,
    /// Chunks along each axis.
    pub(crate) grid: Vec<u64>,
    /// Blocks of a chunk along each axis.
    pub(crate) block_grid: Vec<usize>,
    pub(crate) chunk_count: usize,
    /// The bytes of a chunk, padding included.
    pub(crate) chunk_bytes: usize,
    pub(crate) block_bytes: usize,
}

impl Geometry {
    /// Checks that the shapes fit together, for items of this size.
    pub(crate) fn new(
        shape: &[u64],
        chunks: &[usize],
        blocks: &[usize],
        item_size: usize,
    ) -> Result<Self> {
        check_rank(shape.len())?;
        for (field, len) in [("chunkshape", chunks.len()), ("blockshape", blocks.len())] {
            if len != shape.len() {
                return Err(wrong(field, format!("has {len} lengths, the array {}", shape.len())));
            }
        }
        check_sides(shape, chunks, blocks)?;
        let items = shape.iter().try_fold(item_size as u64, |all, side| all.checked_mul(*side));
        if items.is_none_or(|items| items > i64::MAX as u64) {
            return Err(wrong("shape", format!("{shape:?} has more items than can be counted")));
        }
        let block_grid: Vec<usize> = chunks
            .iter()
            .zip(blocks)
            .map(|(chunk, block)| chunk.div_ceil((*block).max(1)))
            .collect();
        let block_bytes = product(blocks, item_size).filter(|bytes| *bytes <= MAX_BLOCK);
        let block_bytes = block_bytes
            .ok_or_else(|| wrong("blockshape", format!("{blocks:?} is too much for one block")))?;
        let chunk_bytes =
            product(&block_grid, block_bytes).filter(|bytes| *bytes <= MAX_CHUNK_SIZE);
        let chunk_bytes = chunk_bytes
            .ok_or_else(|| wrong("chunkshape", format!("{chunks:?} is too much for one chunk")))?;
        let grid: Vec<u64> = shape
            .iter()
            .zip(chunks)
            .map(|(side, chunk)| side.div_ceil((*chunk).max(1) as u64))
            .collect();
        let count = grid.iter().try_fold(1u64, |all, side| all.checked_mul(*side));
        let stored = count.and_then(|count| count.checked_mul(chunk_bytes as u64));
        let chunk_count = count
            .filter(|_| stored.is_some_and(|stored| stored <= i64::MAX as u64))
            .and_then(|count| usize::try_from(count).ok())
            .ok_or_else(|| wrong("shape", format!("{shape:?} has too many chunks")))?;
        Ok(Self {
            shape: shape.to_vec(),
            chunks: chunks.to_vec(),
            blocks: blocks.to_vec(),
            item_size,
            grid,
            block_grid,
            chunk_count,
            chunk_bytes,
            block_bytes,
        })
    }

    /// The same way of cutting for an array of another shape.
    pub(crate) fn reshaped(&self, shape: &[u64]) -> Result<Self> {
        if shape.len() != self.shape.len() {
            return Err(Error::invalid(format!(
                "the array has {} dimensions, the new shape {}",
                self.shape.len(),
                shape.len()
            )));
        }
        if self.chunks.contains(&0) && shape != self.shape {
            return Err(Error::invalid(
                "the array was written empty, with chunks of no length: copy it to change it",
            ));
        }
        Self::new(shape, &self.chunks, &self.blocks, self.item_size)
    }

    /// The number of dimensions.
    pub(crate) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of the chunk at these coordinates of the grid.
    pub(crate) fn chunk_number(&self, coordinates: impl Iterator<Item = u64>) -> usize {
        let number = coordinates.zip(&self.grid).fold(0, |number, (at, side)| number * side + at);
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    /// Where chunk `number` begins in the array.
    pub(crate) fn chunk_start(&self, number: usize) -> Vec<u64> {
        let mut rest = number as u64;
        let mut start: Vec<u64> = self
            .grid
            .iter()
            .zip(&self.chunks)
            .rev()
            .map(|(side, chunk)| {
                let at = rest % (*side).max(1);
                rest /= (*side).max(1);
                at * *chunk as u64
            })
            .collect();
        start.reverse();
        start
    }

    /// The part of a chunk that lies inside of the array: its length along each axis.
    pub(crate) fn chunk_extent(&self, start: &[u64]) -> Vec<usize> {
        let axes = self.shape.iter().zip(&self.chunks).zip(start);
        axes.map(|((side, chunk), start)| {
            usize::try_from(side.saturating_sub(*start)).map_or(*chunk, |left| left.min(*chunk))
        })
        .collect()
    }

    /// Where an item lies: the number of its chunk, and its first byte there.
    pub(crate) fn place_of(&self, item: &[u64]) -> (usize, usize) {
        let (mut chunk, mut block, mut within) = (0u64, 0usize, 0usize);
        let grids = self.grid.iter().zip(&self.block_grid);
        let axes = item.iter().zip(&self.chunks).zip(&self.blocks).zip(grids);
        for (((at, chunk_side), block_side), (chunks, blocks)) in axes {
            let (chunk_side, block_side) = ((*chunk_side).max(1) as u64, (*block_side).max(1));
            let inside = usize::try_from(at % chunk_side).unwrap_or(0);
            chunk = chunk * chunks + at / chunk_side;
            block = block * blocks + inside / block_side;
            within = within * block_side + inside % block_side;
        }
        let byte = block * self.block_bytes + within * self.item_size;
        (usize::try_from(chunk).unwrap_or(usize::MAX), byte)
    }

    /// The strides of a block's items, in bytes.
    pub(crate) fn block_strides(&self) -> Vec<usize> {
        strides(&self.blocks, self.item_size)
    }

    /// The metalayer of such an array.
    pub(crate) fn meta(&self, dtype: Option<String>) -> Meta {
        Meta {
            shape: self.shape.clone(),
            chunks: self.chunks.clone(),
            blocks: self.blocks.clone(),
            dtype,
        }
    }
}

/// The number of items, times `item_size`; `None` when that is more than the memory can address.
pub(crate) fn product(sides: &[usize], item_size: usize) -> Option<usize> {
    sides.iter().try_fold(item_size, |all, side| all.checked_mul(*side))
}

/// The distance between neighbours along each axis of a buffer in C order. Lengths that overflow
/// belong to no buffer.
pub(crate) fn strides(sides: &[usize], item_size: usize) -> Vec<usize> {
    let mut stride = item_size;
    let mut strides: Vec<usize> = sides
        .iter()
        .rev()
        .map(|side| {
            let this = stride;
            stride = stride.saturating_mul(*side);
            this
        })
        .collect();
    strides.reverse();
    strides
}

pub(crate) fn check_rank(rank: usize) -> Result<()> {
    if rank <= MAX_DIMENSIONS {
        return Ok(());
    }
    Err(wrong("ndim", format!("has {rank} dimensions, an array has at most {MAX_DIMENSIONS}")))
}

fn check_sides(shape: &[u64], chunks: &[usize], blocks: &[usize]) -> Result<()> {
    let empty = shape.contains(&0);
    for (axis, (chunk, block)) in chunks.iter().zip(blocks).enumerate() {
        if *chunk == 0 && !empty {
            return Err(wrong("chunkshape", format!("is 0 along axis {axis}")));
        }
        if *block == 0 && *chunk != 0 {
            return Err(wrong("blockshape", format!("is 0 along axis {axis}")));
        }
        if block > chunk {
            return Err(wrong(
                "blockshape",
                format!("is {block} along axis {axis}, the chunk {chunk}"),
            ));
        }
    }
    Ok(())
}

/// The metalayer's fields are the caller's arguments, too.
fn wrong(field: &'static str, message: String) -> Error {
    let offset = match field {
        "ndim" => 2,
        _ => 3,
    };
    Error::invalid(message).at("b2nd", field, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_lie_where_the_format_says() {
        // Values 1 to 12 of the specification's example, by chunk and position.
        let geometry = Geometry::new(&[3, 4], &[2, 3], &[2, 2], 1).unwrap();
        let chunks = [
            [1, 2, 5, 6, 3, 0, 7, 0],
            [4, 0, 8, 0, 0, 0, 0, 0],
            [9, 10, 0, 0, 11, 0, 0, 0],
            [12, 0, 0, 0, 0, 0, 0, 0],
        ];
        for value in 0..12u64 {
            let (chunk, byte) = geometry.place_of(&[value / 4, value % 4]);
            assert_eq!(chunks[chunk][byte], value + 1);
        }
        assert_eq!(geometry.chunk_start(3), [2, 3]);
        assert_eq!(geometry.chunk_extent(&[2, 3]), [1, 1]);
    }

    #[test]
    fn shapes_that_do_not_fit_name_their_field() {
        let field = |shape: &[u64], chunks: &[usize], blocks: &[usize]| {
            Geometry::new(shape, chunks, blocks, 8).unwrap_err().place().unwrap().field
        };
        assert_eq!(field(&[1; 17], &[1; 17], &[1; 17]), "ndim");
        assert_eq!(field(&[4], &[2, 2], &[1]), "chunkshape");
        assert_eq!(field(&[4], &[0], &[0]), "chunkshape");
        assert_eq!(field(&[4], &[2], &[0]), "blockshape");
        assert_eq!(field(&[4], &[2], &[3]), "blockshape");
        assert_eq!(field(&[1 << 40, 1 << 40], &[2, 2], &[2, 2]), "shape");
        assert_eq!(field(&[4, 4], &[65_536, 65_536], &[65_536, 65_536]), "blockshape");
        assert_eq!(field(&[4, 4], &[65_536, 65_536], &[16, 16]), "chunkshape");
        assert_eq!(field(&[1 << 60], &[1], &[1]), "shape");
        assert!(Geometry::new(&[0, 3], &[0, 3], &[0, 3], 8).is_ok());
        assert!(Geometry::new(&[], &[], &[], 8).is_ok());
    }
}
