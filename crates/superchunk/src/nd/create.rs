//! New arrays: of one value at no cost, from bytes, from a function, from a `.npy` file.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::geometry::Geometry;
use super::{FillValue, NdArray, NdOptions, NdStorage, Selection, defaults};
use crate::b2nd::NAME;
use crate::block_shape::BlockShape;
use crate::chunk;
use crate::dtype::{DType, Element};
use crate::error::{Error, MustGet, Result};
use crate::npy;
use crate::schunk::{Fill, FrameOptions, SuperChunk};
use crate::store::Dir;

impl NdArray {
    /// A new array at `path`, where nothing may be yet: a file, or a folder if the options say so.
    #[cfg(any(unix, windows))]
    pub fn create(path: impl AsRef<Path>, options: &NdOptions) -> Result<Self> {
        let plan = Plan::new(options)?;
        let frame = SuperChunk::create(path, &plan.frame)?;
        plan.build(frame, &options.fill)
    }

    /// A new array in any folder: a contiguous frame of this name, or a sparse frame if there is
    /// none.
    pub fn create_in_dir(
        dir: Arc<dyn Dir>,
        name: Option<&str>,
        options: &NdOptions,
    ) -> Result<Self> {
        let plan = Plan::new(options)?;
        let frame = SuperChunk::create_in_dir(dir, name, &plan.frame)?;
        plan.build(frame, &options.fill)
    }

    /// A new array in memory.
    pub fn in_memory(options: &NdOptions) -> Result<Self> {
        let plan = Plan::new(options)?;
        let frame = SuperChunk::in_memory(&plan.frame)?;
        plan.build(frame, &options.fill)
    }

    /// A new array in memory with these items, in C order.
    pub fn from_items<T: Element>(items: &[T], shape: &[u64], storage: &NdStorage) -> Result<Self> {
        let mut array = Self::in_memory(&NdOptions::of::<T>(shape).with_storage(storage.clone()))?;
        array.write_items(&Selection::all(shape), items)?;
        Ok(array)
    }

    /// Sets every item to what `value` says of its coordinates. Nothing larger than a chunk is held in
    /// memory.
    pub fn fill_with<T: Element>(&mut self, mut value: impl FnMut(&[u64]) -> T) -> Result<()> {
        self.check_type::<T>()?;
        for number in 0..self.geometry.chunk_count {
            let start = self.geometry.chunk_start(number);
            let extent = self.geometry.chunk_extent(&start);
            let count = self.bytes_of(&extent)? / self.item_size();
            let mut at = start.clone();
            let mut items = Vec::with_capacity(count);
            for _ in 0..count {
                items.push(value(&at));
                for ((at, start), extent) in at.iter_mut().zip(&start).zip(&extent).rev() {
                    *at += 1;
                    if *at < start + *extent as u64 {
                        break;
                    }
                    *at = *start;
                }
            }
            let stop: Vec<u64> =
                start.iter().zip(&extent).map(|(start, extent)| start + *extent as u64).collect();
            self.write_items(&Selection::from_box(&start, &stop), &items)?;
        }
        Ok(())
    }

    /// Fills the array with the items of a `.npy` file, which must have its type and shape; they may be
    /// in C or in Fortran order. To make an array for a file, see [`npy::read_header`].
    pub fn fill_from_npy(&mut self, file: &[u8]) -> Result<()> {
        let header = npy::read_header(file)?;
        if header.shape != self.shape() || header.dtype.to_string() != self.dtype.to_string() {
            return Err(Error::invalid(format!(
                "the file holds {} in shape {:?}, the array {} in {:?}",
                header.dtype,
                header.shape,
                self.dtype,
                self.shape()
            )));
        }
        let end = header.data_offset.saturating_add(header.data_len()?);
        let items =
            file.get(header.data_offset..end).ok_or_else(|| {
                Error::truncated(format!("the items end at byte {end}, the file at {}", file.len()))
                    .at("npy", "data", header.data_offset)
            })?;
        let all = Selection::all(self.shape());
        if !header.fortran_order {
            return self.write_bytes(&all, items);
        }
        let sides: Vec<usize> =
            header.shape.iter().map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
        let order: Vec<usize> = (0..sides.len()).rev().collect();
        let stored: Vec<usize> = sides.iter().rev().copied().collect();
        self.write_bytes(&all, &super::copy::transposed(items, &stored, &order, self.item_size())?)
    }

    /// The array as a `.npy` file.
    pub fn to_npy(&self) -> Result<Vec<u8>> {
        let mut file = npy::write_header(&self.dtype, self.shape());
        let start = file.len();
        let sides: Vec<usize> =
            self.shape().iter().map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
        file.resize(start + self.bytes_of(&sides)?, 0);
        self.read_bytes(&Selection::all(self.shape()), file.must_get_mut(start..)?)?;
        Ok(file)
    }
}

/// A checked plan of a new array.
struct Plan {
    geometry: Geometry,
    dtype: DType,
    frame: FrameOptions,
}

impl Plan {
    fn new(options: &NdOptions) -> Result<Self> {
        let NdOptions { shape, dtype, fill, storage } = options;
        super::geometry::check_rank(shape.len())?;
        let item_size = dtype.item_size();
        if item_size == 0 {
            return Err(Error::invalid(format!("`{dtype}` items have no bytes")));
        }
        let little = dtype.byte_order() == crate::dtype::ByteOrder::Little;
        match fill {
            FillValue::Value(value) if value.len() != item_size => {
                return Err(Error::invalid(format!(
                    "a value of {} bytes for items of {item_size}",
                    value.len()
                )));
            }
            FillValue::Nans if dtype.kind() != crate::dtype::DKind::Float || !little => {
                return Err(Error::invalid(format!("`{dtype}` has no NaN of the format's")));
            }
            _ => {}
        }
        let given = (storage.chunks.as_deref(), storage.blocks.as_deref());
        let (chunks, blocks) = defaults::complete(shape, item_size, given.0, given.1)?;
        let geometry = Geometry::new(shape, &chunks, &blocks, item_size)?;
        let mut frame = storage.frame.clone();
        frame.compress.item_size = item_size;
        frame.compress.block_size = Some(geometry.block_bytes.max(1));
        frame.compress.block_shape = BlockShape::new(&blocks).ok();
        frame.chunk_size = Some(geometry.chunk_bytes).filter(|bytes| *bytes > 0);
        frame.variable = frame.chunk_size.is_none();
        let meta = geometry.meta(Some(dtype.to_string())).to_bytes()?;
        // C-Blosc2 has it first.
        frame.metalayers.retain(|(name, _)| name != NAME);
        frame.metalayers.insert(0, (NAME.to_owned(), meta));
        Ok(Self { geometry, dtype: dtype.clone(), frame })
    }

    fn build(self, mut frame: SuperChunk, fill: &FillValue) -> Result<NdArray> {
        let Geometry { chunk_count, chunk_bytes, block_bytes, item_size, .. } = self.geometry;
        let items = (chunk_count as u64 * chunk_bytes as u64) / item_size as u64;
        match fill {
            FillValue::Value(value) if value.iter().any(|byte| *byte != 0) => {
                if chunk_count > 0 {
                    let count = chunk_bytes / item_size;
                    let chunk = chunk::repeated_in_blocks(value, count, block_bytes)?;
                    (0..chunk_count).try_for_each(|_| frame.append_chunk(&chunk))?;
                }
            }
            _ if items == 0 => {}
            FillValue::Zeros | FillValue::Value(_) => frame.append_fill(Fill::Zeros, items)?,
            FillValue::Nans => frame.append_fill(Fill::Nans, items)?,
            FillValue::Uninitialised => frame.append_fill(Fill::Uninitialised, items)?,
        }
        Ok(NdArray { frame, geometry: self.geometry, dtype: self.dtype, layer: NAME })
    }
}
