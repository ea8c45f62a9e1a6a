//! N-d blocks as cells: the order of items behind the filters NDCELL and NDMEAN.
//!
//! The block is cut into cells of a given side, clipped at the edges. Cells come in C order of the
//! cell grid, items in C order inside their cell:
//!
//! ```text
//! block 4×5, side 2:   0  1 │ 4  5 │ 8
//!                      2  3 │ 6  7 │ 9
//!                      ─────┼──────┼──
//!                     10 11 │14 15 │18
//!                     12 13 │16 17 │19
//! ```

use super::Setting;
use crate::error::{Error, Result};

/// The most dimensions the reference's cell filters take.
const MAX_DIMS: usize = 8;

/// A block shape, an item size and the side of the cells along each dimension.
#[derive(Clone)]
pub(super) struct Cells {
    dims: Vec<usize>,
    sides: Vec<usize>,
    item_size: usize,
    nbytes: usize,
}

impl Cells {
    /// Cells of the same side along each dimension.
    pub(super) fn of_side(side: u8, setting: &Setting<'_>) -> Result<Self> {
        let cells = Self::new(side, setting, |side, _| side)?;
        let cell_items =
            cells.sides.iter().try_fold(1usize, |items, &side| items.checked_mul(side));
        let block_items = cells.nbytes / cells.item_size;
        if cell_items.is_none_or(|items| items > block_items) {
            return Err(Error::invalid(format!("a cell of side {side} is larger than the block")));
        }
        Ok(cells)
    }

    /// Cells for means: no longer than the block, of items that are floats.
    pub(super) fn of_means(side: u8, setting: &Setting<'_>) -> Result<Self> {
        if !matches!(setting.item_size, 4 | 8) || side > 127 {
            return Err(Error::invalid(
                "NdMean works on 4- and 8-byte floats, with cells of side 1 to 127",
            ));
        }
        Self::new(side, setting, usize::min)
    }

    fn new(side: u8, setting: &Setting<'_>, clip: impl Fn(usize, usize) -> usize) -> Result<Self> {
        let shape = setting.shape.ok_or_else(|| {
            Error::invalid("this filter needs the N-d shape of a block: give a BlockShape")
        })?;
        let nbytes = shape.items().checked_mul(setting.item_size);
        match nbytes {
            Some(nbytes) if side > 0 && shape.dims().len() <= MAX_DIMS => Ok(Self {
                dims: shape.dims().to_vec(),
                sides: shape.dims().iter().map(|&dim| clip(usize::from(side), dim)).collect(),
                item_size: setting.item_size,
                nbytes,
            }),
            _ => Err(Error::invalid("cells need a side of at least 1 and at most 8 dimensions")),
        }
    }

    /// Block order to cell order.
    pub(super) fn gather(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.check(src)?;
        let mut rest = dst;
        self.for_each_row(|start, len| {
            let row = src.get(start..start + len)?;
            let (head, tail) = std::mem::take(&mut rest).split_at_mut_checked(len)?;
            head.copy_from_slice(row);
            rest = tail;
            Some(())
        })
    }

    /// Cell order to block order.
    pub(super) fn scatter(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.check(src)?;
        let mut rest = src;
        self.for_each_row(|start, len| {
            let (row, tail) = rest.split_at_checked(len)?;
            dst.get_mut(start..start + len)?.copy_from_slice(row);
            rest = tail;
            Some(())
        })
    }

    /// Block order to cell order, every item replaced by the mean of its cell.
    pub(super) fn gather_means(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.gather(src, dst)?;
        let mut rest = dst;
        self.for_each_cell(|_, extent| {
            let len = extent.iter().product::<usize>() * self.item_size;
            let (cell, tail) = std::mem::take(&mut rest).split_at_mut_checked(len)?;
            match self.item_size {
                4 => fill_with_mean_f32(cell),
                _ => fill_with_mean_f64(cell),
            }
            rest = tail;
            Some(())
        })
    }

    fn check(&self, block: &[u8]) -> Result<()> {
        if block.len() == self.nbytes {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the block has {} bytes, its shape {:?} says {}",
            block.len(),
            self.dims,
            self.nbytes
        )))
    }

    /// Calls `visit(byte offset in the block, byte length)` for each run of neighbouring items, in
    /// cell order.
    fn for_each_row(&self, mut visit: impl FnMut(usize, usize) -> Option<()>) -> Result<()> {
        self.for_each_cell(|origin, extent| {
            let (row_items, outer) = extent.split_last()?;
            let mut index = vec![0; outer.len()];
            loop {
                let item = self.item_at(origin, &index);
                visit(item * self.item_size, row_items * self.item_size)?;
                if !advance(&mut index, outer) {
                    return Some(());
                }
            }
        })
    }

    /// Calls `visit(origin, extent)` for each cell, in C order of the cell grid.
    fn for_each_cell(&self, mut visit: impl FnMut(&[usize], &[usize]) -> Option<()>) -> Result<()> {
        let sized = || self.dims.iter().zip(&self.sides);
        let grid: Vec<usize> = sized().map(|(dim, side)| dim.div_ceil(*side)).collect();
        let mut cell = vec![0; self.dims.len()];
        loop {
            let origin: Vec<usize> =
                cell.iter().zip(&self.sides).map(|(c, side)| c * side).collect();
            let extent: Vec<usize> =
                sized().zip(&origin).map(|((dim, side), at)| (*side).min(dim - at)).collect();
            visit(&origin, &extent)
                .ok_or_else(|| Error::corrupt("a cell lies outside of its block"))?;
            if !advance(&mut cell, &grid) {
                return Ok(());
            }
        }
    }

    /// The number of the item at `origin + index`; the last dimension of `index` is 0.
    fn item_at(&self, origin: &[usize], index: &[usize]) -> usize {
        let inside = index.iter().chain(std::iter::once(&0));
        let position = origin.iter().zip(inside).map(|(o, i)| o + i);
        self.dims.iter().zip(position).fold(0, |item, (dim, at)| item * dim + at)
    }
}

/// Counts up an index whose dimensions run to `bounds`; false when it wrapped to the start.
fn advance(index: &mut [usize], bounds: &[usize]) -> bool {
    for (at, bound) in index.iter_mut().zip(bounds).rev() {
        *at += 1;
        if *at < *bound {
            return true;
        }
        *at = 0;
    }
    false
}

/// The sum is kept in the item's own type, as the reference does, so that means agree to the bit.
#[expect(clippy::cast_precision_loss, reason = "a cell holds far fewer than 2^24 items")]
fn fill_with_mean_f32(cell: &mut [u8]) {
    let (items, _) = cell.as_chunks_mut::<4>();
    let sum: f32 = items.iter().map(|item| f32::from_le_bytes(*item)).sum();
    items.fill((sum / items.len() as f32).to_le_bytes());
}

#[expect(clippy::cast_precision_loss, reason = "a cell holds far fewer than 2^52 items")]
fn fill_with_mean_f64(cell: &mut [u8]) {
    let (items, _) = cell.as_chunks_mut::<8>();
    let sum: f64 = items.iter().map(|item| f64::from_le_bytes(*item)).sum();
    items.fill((sum / items.len() as f64).to_le_bytes());
}
