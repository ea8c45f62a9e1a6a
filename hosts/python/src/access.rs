//! Reads and writes what a plan of [`crate::index`] says.

use std::ops::Range;

use superchunk::{AxisIndexes, AxisSlice, Error, NdArray, Result, Selection};

use crate::index::{Access, Axis, Picks, Plan};

/// Items at any coordinates are read together until there are as many as this, which bounds the
/// memory for their coordinates.
const MAX_POINTS: usize = 1 << 20;

/// The values that are written.
pub(crate) enum Source<'a> {
    /// Those of all items, in C order of the result.
    Items(&'a [u8]),
    /// Those of all items; the steps between neighbours along each axis of the result, in bytes.
    Strided(&'a [u8], &'a [usize]),
    /// One for all items.
    One(&'a [u8]),
}

/// Reads the items of a plan into `dst`, in C order of the result.
pub(crate) fn read(array: &NdArray, plan: &Plan, dst: &mut [u8]) -> Result<()> {
    match &plan.access {
        Access::Nothing => Ok(()),
        Access::Slices(slices) => array.read_bytes(&Selection::new(slices.as_slice()), dst),
        Access::Orthogonal(axes) => {
            let (indexes, strides) = orthogonal(axes, array.item_size());
            array.read_orthogonal_strided(&indexes, dst, &strides)
        }
        Access::Points(gather) => {
            let item_size = array.item_size();
            let mut pieces = dst.chunks_mut(MAX_POINTS * item_size);
            batches(gather.count()).try_for_each(|items| {
                let piece = pieces.next().unwrap_or_default();
                array.read_points(&gather.coordinates(items), piece)
            })
        }
        Access::Mask(mask) => array.read_mask_into(mask, dst),
    }
}

/// The plan in pieces along the first axis of the result, each of whole chunks and of about `bytes`
/// bytes. `None` if it is to be read in one go: it is small, or has lists or descending slices.
pub(crate) fn pieces(array: &NdArray, plan: &Plan, bytes: usize) -> Option<Vec<Plan>> {
    let Access::Slices(slices) = &plan.access else { return None };
    let axis = slices.iter().position(|slice| !slice.dropped)?;
    let (slice, rows) = (slices.get(axis)?, *plan.shape.first()?);
    let row =
        plan.shape.iter().skip(1).fold(array.item_size(), |row, side| row.saturating_mul(*side));
    let step = u64::try_from(slice.step).ok().filter(|_| rows as u64 == slice.count)?;
    if row.saturating_mul(rows) < bytes.saturating_mul(2) {
        return None;
    }
    let chunk = *array.chunk_shape().get(axis)? as u64;
    let along = ((bytes / row.max(1)) as u64 * step / chunk).max(1) * chunk;
    let stop = slice.start + (slice.count - 1) * step + 1;
    let mut pieces = Vec::new();
    let mut start = slice.start;
    while start < stop {
        let end = (start / chunk * chunk).saturating_add(along).min(stop);
        let count = (end - start).div_ceil(step);
        let mut piece = plan.clone();
        *piece.shape.first_mut()? = usize::try_from(count).ok()?;
        let Access::Slices(slices) = &mut piece.access else { return None };
        *slices.get_mut(axis)? = AxisSlice { start, count, ..*slice };
        pieces.push(piece);
        start += count * step;
    }
    Some(pieces)
}

/// Reads the items of a plan into memory with these steps between neighbours, in bytes. Returns
/// false if that takes memory in C order.
pub(crate) fn read_strided(
    array: &NdArray,
    plan: &Plan,
    dst: &mut [u8],
    strides: &[usize],
) -> Result<bool> {
    let Some((indexes, strides)) = plan.stepwise(strides) else { return Ok(false) };
    array.read_orthogonal_strided(&indexes, dst, &strides)?;
    Ok(true)
}

/// Writes the items of a plan.
pub(crate) fn write(array: &mut NdArray, plan: &Plan, source: &Source<'_>) -> Result<()> {
    match (&plan.access, source) {
        (Access::Nothing, _) => Ok(()),
        (Access::Slices(slices), Source::Items(bytes)) => {
            array.write_bytes(&Selection::new(slices.as_slice()), bytes)
        }
        (Access::Slices(slices), Source::One(item)) => {
            array.fill(&Selection::new(slices.as_slice()), item)
        }
        (Access::Slices(_), Source::Strided(bytes, strides)) => {
            let (indexes, strides) = plan.stepwise(strides).ok_or_else(in_order)?;
            array.write_orthogonal_strided(&indexes, bytes, &strides)
        }
        (Access::Orthogonal(axes), Source::Items(bytes)) => {
            let (indexes, strides) = orthogonal(axes, array.item_size());
            array.write_orthogonal_strided(&indexes, bytes, &strides)
        }
        (Access::Orthogonal(axes), Source::One(item)) => {
            let (indexes, strides) = orthogonal(axes, array.item_size());
            array.write_orthogonal_strided(&indexes, item, &vec![0; strides.len()])
        }
        (Access::Points(gather), Source::Items(bytes)) => {
            array.write_points(&gather.coordinates(0..gather.count()), bytes)
        }
        (Access::Mask(mask), Source::Items(bytes)) => array.write_mask(mask, bytes),
        _ => Err(in_order()),
    }
}

fn in_order() -> Error {
    Error::invalid("values for these indexes must be in C order")
}

impl Plan {
    /// About how many bytes are decoded for a result of this many: lists decode more than they use.
    pub(crate) fn work(&self, len: usize) -> usize {
        match self.access {
            Access::Nothing | Access::Slices(_) => len,
            _ => len.saturating_mul(16),
        }
    }

    /// Whether one value, or values with steps between them, can be written without a copy for each
    /// item.
    pub(crate) fn takes_one(&self) -> bool {
        matches!(self.access, Access::Nothing | Access::Slices(_) | Access::Orthogonal(_))
    }

    /// Whether the axes of the result are those of the array, in ascending order.
    pub(crate) fn takes_strides(&self) -> bool {
        self.stepwise(&vec![0; self.shape.len()]).is_some()
    }

    /// The slices, with the step in memory of each one.
    fn stepwise(&self, strides: &[usize]) -> Option<(Vec<AxisIndexes<'static>>, Vec<usize>)> {
        let Access::Slices(slices) = &self.access else { return None };
        let kept = slices.iter().filter(|slice| !slice.dropped).count();
        if kept != self.shape.len() || slices.iter().any(|slice| slice.step < 0) {
            return None;
        }
        let mut strides = strides.iter().copied();
        let step = |dropped: bool| if dropped { Some(0) } else { strides.next() };
        let steps: Option<Vec<usize>> =
            slices.iter().map(|slice| slice.dropped).map(step).collect();
        Some((slices.iter().map(|slice| AxisIndexes::Slice(*slice)).collect(), steps?))
    }
}

/// The indexes of each axis, and the steps between neighbours in the result, in bytes.
fn orthogonal(axes: &[Axis], item_size: usize) -> (Vec<AxisIndexes<'_>>, Vec<usize>) {
    let both = axes.iter().map(|axis| {
        let indexes = match &axis.indexes {
            Picks::Slice(slice) => AxisIndexes::Slice(*slice),
            Picks::List(list) => AxisIndexes::List(list),
        };
        (indexes, axis.stride.saturating_mul(item_size))
    });
    both.unzip()
}

fn batches(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(MAX_POINTS).map(move |start| start..count.min(start + MAX_POINTS))
}
