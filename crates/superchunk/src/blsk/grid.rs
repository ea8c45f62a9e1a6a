//! Columns whose chunks are not runs of rows: cells of an N-d grid, or items in Fortran order.
//!
//! The chunks of `chunkshape[0]` rows are a band; bands follow each other, so that new rows change the
//! last band and add others. Chunks at the far edges are clipped; padded ones are read, too.

use std::ops::Range;

use crate::chunk::{Decoder, Encoder};
use crate::container::{Entry, Layout};
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::limits::Limits;
use crate::nd::{Axis, Copy, Geometry, product, strides};
use crate::options::CompressOptions;
use crate::spares::Spares;
use crate::superfile::{Column, Order};

/// Such a column.
pub(super) struct Grid {
    column: Column,
    entries: Vec<Entry>,
    geometry: Geometry,
    order: Order,
    limits: Limits,
    compress: Option<CompressOptions>,
    /// Kept from read to read.
    decoders: Spares<Decoder>,
}

/// Items of a chunk in memory.
struct Cell {
    bytes: Vec<u8>,
    strides: Vec<usize>,
}

impl Grid {
    /// Looks at the chunks of a column as a grid; new ones are compressed with `compress`.
    pub(super) fn new(
        column: Column,
        geometry: Geometry,
        order: Order,
        limits: Limits,
        compress: Option<CompressOptions>,
    ) -> Self {
        let entries = column.entries();
        Self { column, entries, geometry, order, limits, compress, decoders: Spares::default() }
    }

    /// The number of chunks that an array of this geometry has.
    pub(super) fn geometry(shape: &[u64], chunks: &[usize], item_size: usize) -> Result<Geometry> {
        // Blocks are the business of Blosc here.
        Geometry::new(shape, chunks, &vec![1; shape.len()], item_size)
            .map_err(|error| error.of_kind(ErrorKind::Corrupt))
    }

    /// Reads rows into `dst`, which is as long.
    pub(super) fn read_rows(&self, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let band = self.band_rows()?;
        for number in rows.start / band..rows.end.div_ceil(band) {
            for chunk in self.chunks_of(number, &self.geometry) {
                let (start, extent, cell) = self.cell(chunk)?;
                let low = rows.start.max(number * band);
                let high = rows.end.min(number * band + index(&extent, 0)? as u64);
                let place = self.place(&start, low - rows.start)?;
                let from = to_usize(low - number * band) * index(&cell.strides, 0)?;
                let count = to_usize(high.saturating_sub(low));
                self.copy(&extent, count, &cell.strides, &self.row_strides()).run(
                    &cell.bytes,
                    from,
                    dst,
                    place,
                )?;
            }
        }
        Ok(())
    }

    /// Replaces rows from `start` on, appends those behind the last, and ends after `rows` rows.
    pub(super) fn write_rows(&mut self, start: u64, bytes: &[u8], rows: u64) -> Result<()> {
        let old_rows = *self.geometry.shape.must_get(0)?;
        let mut shape = self.geometry.shape.clone();
        *shape.must_get_mut(0)? = rows;
        let new = self.geometry.reshaped(&shape)?;
        let (band, count) = (self.band_rows()?, (bytes.len() / self.row_len()?.max(1)) as u64);
        // The band that is cut, or grows, or the first that gets new rows.
        let first = if rows < old_rows { rows } else { start } / band;
        let last = if rows < old_rows { rows } else { start + count }.div_ceil(band);
        let (mut entries, mut replaced) = (self.entries.clone(), Vec::new());
        entries.truncate(new.chunk_count);
        for number in first..last.min(rows.div_ceil(band)) {
            for chunk in self.chunks_of(number, &new) {
                let packed = self.pack(chunk, &new, start..start + count, bytes);
                let packed = packed.map_err(|error| self.told(chunk, error))?;
                let entry = Entry::stored(self.column.put(&mut { packed })?);
                match entries.get_mut(chunk) {
                    Some(place) => replaced.push(std::mem::replace(place, entry)),
                    None => entries.push(entry),
                }
            }
        }
        self.entries = entries;
        self.geometry = new;
        let slots = replaced.into_iter().filter_map(Entry::stored_slot);
        slots.for_each(|slot| self.column.release(slot, 0));
        Ok(())
    }

    /// Stages the chunks for the next commit of the tree.
    pub(super) fn commit(&mut self) -> Result<()> {
        self.column.stage_commit(&mut self.entries)
    }

    /// The bytes of all files.
    pub(super) fn stored_len(&self) -> Result<u64> {
        self.column.stored_len()
    }

    /// The chunk with the rows it has, and the new ones, compressed.
    fn pack(
        &self,
        chunk: usize,
        new: &Geometry,
        rows: Range<u64>,
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        let start = new.chunk_start(chunk);
        let extent = new.chunk_extent(&start);
        let len = product(&extent, new.item_size).unwrap_or(usize::MAX);
        self.limits.check_decoded(len)?;
        let mut cell = Cell { bytes: vec![0; len], strides: self.strides_of(&extent) };
        let first = *start.must_get(0)?;
        let end = first + index(&extent, 0)? as u64;
        if chunk < self.entries.len() && !(rows.start <= first && end <= rows.end) {
            let (_, old_extent, old) = self.cell(chunk)?;
            let count = index(&extent, 0)?.min(index(&old_extent, 0)?);
            self.copy(&extent, count, &old.strides, &cell.strides).run(
                &old.bytes,
                0,
                &mut cell.bytes,
                0,
            )?;
        }
        let (low, high) = (rows.start.max(first), rows.end.min(end));
        if low < high {
            let from = self.place(&start, low - rows.start)?;
            let to = to_usize(low - first) * index(&cell.strides, 0)?;
            self.copy(&extent, to_usize(high - low), &self.row_strides(), &cell.strides).run(
                bytes,
                from,
                &mut cell.bytes,
                to,
            )?;
        }
        let Some(compress) = &self.compress else { return Err(crate::container::read_only()) };
        Encoder::new(compress)?.compress(&cell.bytes)
    }

    /// The same error with the name of a chunk.
    fn told(&self, number: usize, error: Error) -> Error {
        error.within(format!("{}, chunk {number}", self.column.name()))
    }

    /// Decodes a chunk: where it begins, how much of it counts, and its items.
    fn cell(&self, number: usize) -> Result<(Vec<u64>, Vec<usize>, Cell)> {
        let told = |error: Error| self.told(number, error);
        let start = self.geometry.chunk_start(number);
        let extent = self.geometry.chunk_extent(&start);
        let entry = self.entries.get(number).and_then(|entry| entry.stored_slot());
        let entry = entry.ok_or_else(|| Error::corrupt(format!("there is no chunk {number}")))?;
        let chunk = self.column.chunk(entry).map_err(told)?;
        let decoded = self.decoders.lend(|| self.decoder(), |decoder| decoder.decompress(&chunk));
        let bytes = decoded.map_err(told)?;
        let size = self.geometry.item_size;
        let sides = if product(&extent, size) == Some(bytes.len()) {
            extent.as_slice()
        } else if product(&self.geometry.chunks, size) == Some(bytes.len()) {
            self.geometry.chunks.as_slice()
        } else {
            let words = format!("{} bytes are no box of {extent:?} items", bytes.len());
            return Err(told(Error::corrupt(words).at("chunk", "nbytes", 4)));
        };
        let strides = self.strides_of(sides);
        Ok((start, extent, Cell { bytes, strides }))
    }

    fn decoder(&self) -> Decoder {
        let decoder = Decoder::new().with_limits(self.limits);
        match &self.compress {
            Some(options) => decoder
                .with_executor(options.executor.clone())
                .with_registry(options.registry.clone()),
            None => decoder,
        }
    }

    /// The strides of a chunk of these sides.
    fn strides_of(&self, sides: &[usize]) -> Vec<usize> {
        match self.order {
            Order::C => strides(sides, self.geometry.item_size),
            Order::Fortran => {
                let turned: Vec<usize> = sides.iter().rev().copied().collect();
                strides(&turned, self.geometry.item_size).into_iter().rev().collect()
            }
        }
    }

    /// The strides of rows as callers have them.
    fn row_strides(&self) -> Vec<usize> {
        let sides: Vec<usize> = self.geometry.shape.iter().map(|side| to_usize(*side)).collect();
        strides(&sides, self.geometry.item_size)
    }

    /// Where a chunk's columns begin in row `row` of the caller's rows.
    fn place(&self, start: &[u64], row: u64) -> Result<usize> {
        let strides = self.row_strides();
        let within = start.iter().zip(&strides).skip(1);
        let first = to_usize(row) * index(&strides, 0)?;
        Ok(within.fold(first, |at, (start, stride)| at + to_usize(*start) * stride))
    }

    /// A box of `rows` rows and the other sides of `extent`.
    fn copy(&self, extent: &[usize], rows: usize, src: &[usize], dst: &[usize]) -> Copy {
        let axes = extent.iter().zip(src).zip(dst).enumerate();
        let axes = axes.map(|(axis, ((side, src), dst))| Axis {
            count: if axis == 0 { rows } else { *side },
            src: *src,
            dst: *dst,
        });
        Copy::new(axes, self.geometry.item_size)
    }

    /// The numbers of the chunks of a band.
    fn chunks_of(&self, band: u64, geometry: &Geometry) -> Range<usize> {
        let count = geometry.grid.iter().skip(1).product::<u64>();
        to_usize(band * count)..to_usize((band + 1) * count)
    }

    fn band_rows(&self) -> Result<u64> {
        Ok(index(&self.geometry.chunks, 0)?.max(1) as u64)
    }

    fn row_len(&self) -> Result<usize> {
        index(&self.row_strides(), 0)
    }
}

fn index(values: &[usize], at: usize) -> Result<usize> {
    values.must_get(at).copied()
}

/// Numbers that were checked to lie inside of a buffer.
fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
