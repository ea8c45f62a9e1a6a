//! Arrays put together.

use super::geometry::strides;
use super::pick::Picks;
use super::{NdArray, NdOptions, NdStorage};
use crate::error::{Error, MustGet, Result};

impl NdArray {
    /// A new array in memory: the arrays one behind the other along an axis. They differ in that axis
    /// only.
    pub fn concatenate(arrays: &[&NdArray], axis: usize, options: &NdStorage) -> Result<Self> {
        let first = first_of(arrays)?;
        let mut shape = first.shape().to_vec();
        let joined = arrays.iter().try_fold(0u64, |sum, array| {
            same_but(first, array, Some(axis))?;
            let none = || Error::invalid(format!("there is no axis {axis} of {}", first.ndim()));
            let side = *array.shape().get(axis).ok_or_else(none)?;
            sum.checked_add(side).ok_or_else(|| Error::limit("an axis is too long"))
        })?;
        *shape.must_get_mut(axis)? = joined;
        let mut out = Self::in_memory(
            &NdOptions::new(&shape, first.dtype().clone()).with_storage(options.clone()),
        )?;
        out.fill_boxes(|start, extent| join_box(arrays, axis, start, extent))?;
        Ok(out)
    }

    /// A new array in memory: the arrays, which have one shape, along a new axis.
    pub fn stack(arrays: &[&NdArray], axis: usize, options: &NdStorage) -> Result<Self> {
        let first = first_of(arrays)?;
        arrays.iter().try_for_each(|array| same_but(first, array, None))?;
        let mut shape = first.shape().to_vec();
        if axis > shape.len() {
            return Err(Error::invalid(format!("axis {axis} of {} and one more", shape.len())));
        }
        shape.insert(axis, arrays.len() as u64);
        let mut out = Self::in_memory(
            &NdOptions::new(&shape, first.dtype().clone()).with_storage(options.clone()),
        )?;
        out.fill_boxes(|start, extent| stack_box(arrays, axis, start, extent))?;
        Ok(out)
    }
}

fn first_of<'a>(arrays: &[&'a NdArray]) -> Result<&'a NdArray> {
    arrays.first().copied().ok_or_else(|| Error::invalid("no arrays to put together"))
}

/// Refuses arrays of another type or, but for one axis, another shape.
fn same_but(first: &NdArray, other: &NdArray, axis: Option<usize>) -> Result<()> {
    let mut sides = first.shape().iter().zip(other.shape()).enumerate();
    let same = first.ndim() == other.ndim()
        && first.dtype().to_string() == other.dtype().to_string()
        && sides.all(|(number, (a, b))| a == b || Some(number) == axis);
    if same {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} in shape {:?} does not go with {} in shape {:?}",
        other.dtype(),
        other.shape(),
        first.dtype(),
        first.shape()
    )))
}

/// A box of arrays one behind the other.
fn join_box(arrays: &[&NdArray], axis: usize, start: &[u64], extent: &[usize]) -> Result<Vec<u8>> {
    let item_size = first_of(arrays)?.item_size();
    let strides = strides(extent, item_size);
    let mut bytes = vec![0; first_of(arrays)?.bytes_of(extent)?];
    let at = |values: &[u64]| values.must_get(axis).copied();
    let (low, count) = (at(start)?, *extent.must_get(axis)? as u64);
    let mut begin = 0;
    for array in arrays {
        let end = begin + at(array.shape())?;
        let (from, to) = (low.max(begin), (low + count).min(end));
        if from < to {
            let axes = start.iter().zip(extent).enumerate();
            let picks: Vec<Picks> = axes
                .map(|(number, (start, count))| match number == axis {
                    true => {
                        let count = usize::try_from(to - from).unwrap_or(usize::MAX);
                        Picks::Range { start: from - begin, step: 1, count }
                    }
                    false => Picks::Range { start: *start, step: 1, count: *count },
                })
                .collect();
            let offset = usize::try_from(from - low).unwrap_or(usize::MAX);
            let offset = offset.saturating_mul(*strides.must_get(axis)?);
            let dst = bytes.must_get_mut(offset..)?;
            array.view().read(&picks, dst, &strides)?;
        }
        begin = end;
    }
    Ok(bytes)
}

/// A box of arrays along a new axis.
fn stack_box(arrays: &[&NdArray], axis: usize, start: &[u64], extent: &[usize]) -> Result<Vec<u8>> {
    let strides = strides(extent, first_of(arrays)?.item_size());
    let mut bytes = vec![0; first_of(arrays)?.bytes_of(extent)?];
    let step = *strides.must_get(axis)?;
    let inner: Vec<usize> = without(&strides, axis);
    let first = usize::try_from(*start.must_get(axis)?).unwrap_or(usize::MAX);
    let count = *extent.must_get(axis)?;
    let starts = without(start, axis);
    let picks: Vec<Picks> = starts
        .iter()
        .zip(without(extent, axis))
        .map(|(start, count)| Picks::Range { start: *start, step: 1, count })
        .collect();
    for (number, array) in arrays.iter().skip(first).take(count).enumerate() {
        let dst = bytes.must_get_mut(number * step..)?;
        array.view().read(&picks, dst, &inner)?;
    }
    Ok(bytes)
}

fn without<T: Copy>(values: &[T], axis: usize) -> Vec<T> {
    let values = values.iter().enumerate().filter(|(number, _)| *number != axis);
    values.map(|(_, value)| *value).collect()
}
