//! Copies with other chunks, blocks, parameters, and in another order of axes.

#[cfg(any(unix, windows))]
use std::path::Path;

use super::geometry::{product, strides};
use super::pick::Picks;
use super::strided::{Axis, Copy};
use super::{NdArray, NdOptions, NdStorage, Selection};
use crate::b2nd::NAMES;
use crate::error::{Error, MustGet, Result};

impl NdArray {
    /// Options that make a copy with the same chunks, blocks and parameters.
    #[must_use]
    pub fn options(&self) -> NdStorage {
        let mut options = NdStorage::new(self.frame.frame_options())
            .with_chunks(&self.geometry.chunks)
            .with_blocks(&self.geometry.blocks);
        for name in self.frame.metalayer_names().filter(|name| !NAMES.contains(name)) {
            let content = self.frame.metalayer(name).unwrap_or_default();
            options.frame = options.frame.with_metalayer(name, content);
        }
        options
    }

    /// A copy at `path`, made as the options say. Values behind the chunks come along, metalayers where
    /// the options have none of the name.
    #[cfg(any(unix, windows))]
    pub fn copy_to(&self, path: impl AsRef<Path>, options: &NdStorage) -> Result<Self> {
        let mut copy = Self::create(path, &self.copy_options(options))?;
        copy.take_from(self)?;
        copy.commit()?;
        Ok(copy)
    }

    /// A copy in memory, made as the options say.
    pub fn copy_to_memory(&self, options: &NdStorage) -> Result<Self> {
        let mut copy = Self::in_memory(&self.copy_options(options))?;
        copy.take_from(self)?;
        Ok(copy)
    }

    /// A copy in memory whose axis `i` is the axis `order[i]` of this array.
    pub fn transpose(&self, order: &[usize], options: &NdStorage) -> Result<Self> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..self.ndim()) {
            return Err(Error::invalid(format!("{order:?} is no order of {} axes", self.ndim())));
        }
        let shape: Vec<u64> = permuted(self.shape(), order);
        let mut copy = Self::in_memory(
            &NdOptions::new(&shape, self.dtype.clone()).with_storage(options.clone()),
        )?;
        copy.fill_boxes(|start, extent| {
            // The box of this array that becomes the box of the copy.
            let mut back = vec![0; order.len()];
            for (to, from) in order.iter().enumerate() {
                *back.must_get_mut(*from)? = to;
            }
            let (start, extent) = (permuted(start, &back), permuted(extent, &back));
            let bytes = self.view().read_box(&start, &extent)?;
            transposed(&bytes, &extent, order, self.item_size())
        })?;
        Ok(copy)
    }

    /// A copy in memory without the axes of one index.
    pub fn squeeze(&self, options: &NdStorage) -> Result<Self> {
        let shape: Vec<u64> = self.shape().iter().copied().filter(|side| *side != 1).collect();
        self.reshaped_copy(&shape, options)
    }

    /// A copy in memory with one more axis, of one index, before axis `axis`.
    pub fn expand(&self, axis: usize, options: &NdStorage) -> Result<Self> {
        if axis > self.ndim() {
            return Err(Error::invalid(format!("axis {axis} of {} and one more", self.ndim())));
        }
        let mut shape = self.shape().to_vec();
        shape.insert(axis, 1);
        self.reshaped_copy(&shape, options)
    }

    /// A copy whose shape differs by axes of one index.
    fn reshaped_copy(&self, shape: &[u64], options: &NdStorage) -> Result<Self> {
        let mut copy = Self::in_memory(
            &NdOptions::new(shape, self.dtype.clone()).with_storage(options.clone()),
        )?;
        copy.fill_boxes(|start, extent| {
            let axes = start.iter().zip(extent).zip(shape);
            let mut long = axes.filter(|(_, side)| **side != 1).map(|(axis, _)| axis);
            let picks = self.shape().iter().map(|side| match side {
                1 => Picks::Range { start: 0, step: 1, count: 1 },
                _ => {
                    let (start, count) = long.next().map_or((0, 0), |(s, c)| (*s, *c));
                    Picks::Range { start, step: 1, count }
                }
            });
            let picks: Vec<Picks> = picks.collect();
            let counts: Vec<usize> = picks.iter().map(Picks::count).collect();
            let mut bytes = vec![0; self.bytes_of(&counts)?];
            self.view().read(&picks, &mut bytes, &strides(&counts, self.item_size()))?;
            Ok(bytes)
        })?;
        Ok(copy)
    }

    /// Writes every chunk with what `make` says of its box.
    pub(super) fn fill_boxes(
        &mut self,
        mut make: impl FnMut(&[u64], &[usize]) -> Result<Vec<u8>>,
    ) -> Result<()> {
        for number in 0..self.geometry.chunk_count {
            let start = self.geometry.chunk_start(number);
            let extent = self.geometry.chunk_extent(&start);
            let bytes = make(&start, &extent)?;
            let stop: Vec<u64> =
                start.iter().zip(&extent).map(|(start, extent)| start + *extent as u64).collect();
            self.write_bytes(&Selection::from_box(&start, &stop), &bytes)?;
        }
        Ok(())
    }

    fn copy_options(&self, storage: &NdStorage) -> NdOptions {
        let storage = self.with_layers(storage);
        NdOptions::new(self.shape(), self.dtype.clone()).with_storage(storage)
    }

    fn with_layers(&self, options: &NdStorage) -> NdStorage {
        let mut options = options.clone();
        for name in self.frame.metalayer_names().filter(|name| !NAMES.contains(name)) {
            if !options.frame.metalayers.iter().any(|(known, _)| known == name) {
                let content = self.frame.metalayer(name).unwrap_or_default();
                options.frame = options.frame.with_metalayer(name, content);
            }
        }
        options
    }

    /// Takes over everything that `other` holds, within its limits.
    fn take_from(&mut self, other: &Self) -> Result<()> {
        self.frame.set_limits(other.frame.limits());
        for name in other.frame.attribute_names() {
            self.frame.set_attribute_bytes(name, &other.frame.attribute_bytes(name)?)?;
        }
        if self.geometry == other.geometry && self.frame.compresses_like(&other.frame) {
            return (0..self.geometry.chunk_count).try_for_each(|number| {
                self.frame.update_chunk(number, &other.frame.compressed_chunk(number)?)
            });
        }
        self.fill_boxes(|start, extent| other.view().read_box(start, extent))
    }
}

/// The items of a buffer in C order of `sides` with the axes in another order: axis `i` of the result
/// is axis `order[i]`.
pub(super) fn transposed(
    bytes: &[u8],
    sides: &[usize],
    order: &[usize],
    item_size: usize,
) -> Result<Vec<u8>> {
    let src = permuted(&strides(sides, item_size), order);
    let counts = permuted(sides, order);
    let dst = strides(&counts, item_size);
    let mut out = vec![0; product(&counts, item_size).unwrap_or(0).min(bytes.len())];
    let axes = counts.iter().zip(&src).zip(&dst);
    let axes = axes.map(|((count, src), dst)| Axis { count: *count, src: *src, dst: *dst });
    Copy::new(axes, item_size).run(bytes, 0, &mut out, 0)?;
    Ok(out)
}

/// The values in another order.
fn permuted<T: std::marker::Copy>(values: &[T], order: &[usize]) -> Vec<T> {
    order.iter().filter_map(|from| values.get(*from).copied()).collect()
}
