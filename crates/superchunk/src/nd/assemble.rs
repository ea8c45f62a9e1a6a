//! New chunks out of old ones and new data.
//!
//! An array that changes its shape is a list of [`Piece`]s: boxes that come from the old array or from
//! the caller; everything else is zero. A chunk whose box is a whole old chunk is kept as it is.

use super::geometry::{Geometry, strides};
use super::odometer::{Odometer, chosen};
use super::pick::{BlockPart, Group, Picks};
use super::strided::{Axis, Copy};
use super::view::{View, block_parts};
use crate::error::{MustGet, Result};
use crate::schunk::Change;

/// A box of the new array and where its items come from.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) start: Vec<u64>,
    pub(crate) stop: Vec<u64>,
    pub(crate) source: Source<'a>,
}

/// Where the items of a piece come from.
#[derive(Clone, Debug)]
pub(crate) enum Source<'a> {
    /// The old array, from this item on.
    Old(Vec<u64>),
    /// Bytes in C order of the piece.
    Data(&'a [u8]),
}

/// The part of a piece that lies in a chunk, in items of the new array.
struct Hit<'p> {
    piece: &'p Piece<'p>,
    start: Vec<u64>,
    extent: Vec<usize>,
}

/// Puts the bytes of chunk `number` of the new array into `buffer`, unless nothing is to be put.
pub(crate) fn assemble(
    old: View<'_>,
    new: &Geometry,
    pieces: &[Piece<'_>],
    number: usize,
    buffer: &mut [u8],
) -> Result<Change> {
    let start = new.chunk_start(number);
    let extent = new.chunk_extent(&start);
    let hits: Vec<Hit<'_>> =
        pieces.iter().filter_map(|piece| Hit::new(piece, &start, &extent)).collect();
    if hits.is_empty() {
        return Ok(Change::Zeros);
    }
    let base = aligned_chunk(old.geometry, &start, &hits);
    if let (Some(number), [hit]) = (base, hits.as_slice())
        && hit.extent == extent
        && old.geometry.chunk_extent(&old.geometry.chunk_start(number)) == extent
    {
        return Ok(Change::Keep(number));
    }
    buffer.fill(0);
    for hit in &hits {
        match &hit.piece.source {
            Source::Data(bytes) => hit.put(new, &start, bytes, buffer)?,
            Source::Old(_) => {
                let bytes = old.read_box(&hit.old_start(), &hit.extent)?;
                hit.put_own(new, &start, &bytes, buffer)?;
            }
        }
    }
    // A chunk that only gained or lost padding may have had nothing there.
    if let Some(number) = base
        && old.frame.read_chunk(number)? == buffer
    {
        return Ok(Change::Keep(number));
    }
    Ok(Change::Fresh)
}

/// The old chunk whose box begins where this chunk's does, if all of the chunk comes from one box of
/// the old array.
fn aligned_chunk(old: &Geometry, start: &[u64], hits: &[Hit<'_>]) -> Option<usize> {
    let [hit @ Hit { piece: Piece { source: Source::Old(_), .. }, .. }] = hits else { return None };
    let from = hit.old_start();
    let mut coordinates = Vec::with_capacity(from.len());
    let axes = start.iter().zip(&hit.start).zip(&from).zip(&old.chunks);
    for (((start, hit), from), chunk) in axes {
        let begin = from.checked_sub(hit - start)?;
        if !begin.is_multiple_of(*chunk as u64) {
            return None;
        }
        coordinates.push(begin / *chunk as u64);
    }
    Some(old.chunk_number(coordinates.into_iter()))
}

impl<'p> Hit<'p> {
    fn new(piece: &'p Piece<'p>, start: &[u64], extent: &[usize]) -> Option<Self> {
        let mut hit = Self { piece, start: Vec::with_capacity(start.len()), extent: Vec::new() };
        let axes = piece.start.iter().zip(&piece.stop).zip(start.iter().zip(extent));
        for ((piece_start, piece_stop), (start, extent)) in axes {
            let low = *piece_start.max(start);
            let high = (*piece_stop).min(start + *extent as u64);
            if low >= high {
                return None;
            }
            hit.start.push(low);
            hit.extent.push(usize::try_from(high - low).ok()?);
        }
        Some(hit)
    }

    /// The first item of the hit in the old array.
    fn old_start(&self) -> Vec<u64> {
        let Source::Old(origin) = &self.piece.source else { return Vec::new() };
        let axes = self.start.iter().zip(&self.piece.start).zip(origin);
        axes.map(|((start, piece), origin)| start - piece + origin).collect()
    }

    /// Packs the caller's bytes, of which the hit is a part.
    fn put(&self, new: &Geometry, chunk: &[u64], bytes: &[u8], buffer: &mut [u8]) -> Result<()> {
        let sides = self.piece.start.iter().zip(&self.piece.stop);
        let sides: Vec<usize> = sides
            .map(|(start, stop)| usize::try_from(stop - start).unwrap_or(usize::MAX))
            .collect();
        let strides = strides(&sides, new.item_size);
        let offsets = self.start.iter().zip(&self.piece.start).zip(&strides);
        let from = offsets.fold(0, |from, ((start, piece), stride)| {
            from + usize::try_from(start - piece).unwrap_or(usize::MAX) * stride
        });
        self.pack(new, chunk, (bytes, from, &strides), buffer)
    }

    /// Packs bytes that are the hit.
    fn put_own(
        &self,
        new: &Geometry,
        chunk: &[u64],
        bytes: &[u8],
        buffer: &mut [u8],
    ) -> Result<()> {
        self.pack(new, chunk, (bytes, 0, &strides(&self.extent, new.item_size)), buffer)
    }

    fn pack(
        &self,
        new: &Geometry,
        chunk: &[u64],
        source: (&[u8], usize, &[usize]),
        buffer: &mut [u8],
    ) -> Result<()> {
        let picks: Vec<Picks> = self
            .start
            .iter()
            .zip(&self.extent)
            .map(|(start, count)| Picks::Range { start: *start, step: 1, count: *count })
            .collect();
        let groups: Vec<Group> = chunk
            .iter()
            .zip(&new.chunks)
            .zip(&self.extent)
            .map(|((start, side), count)| Group {
                chunk: start / (*side).max(1) as u64,
                from: 0,
                to: *count,
            })
            .collect();
        pack(new, &block_parts(new, &picks, &groups), source, buffer)
    }
}

/// Copies picked items from a buffer, given with the first item's place and the strides of the picks,
/// to where they belong in a chunk.
pub(crate) fn pack(
    geometry: &Geometry,
    axes: &[Vec<BlockPart>],
    source: (&[u8], usize, &[usize]),
    chunk: &mut [u8],
) -> Result<()> {
    let mut blocks = Odometer::new(axes.iter().map(Vec::len));
    while let Some(at) = blocks.next() {
        let parts: Vec<&BlockPart> = chosen(axes, at).collect();
        let grid = parts.iter().zip(&geometry.block_grid);
        let block = grid.fold(0, |block, (part, side)| block * side + part.block);
        let place = block * geometry.block_bytes..(block + 1) * geometry.block_bytes;
        pack_block(geometry, &parts, source, chunk.must_get_mut(place)?)?;
    }
    Ok(())
}

/// The same for block `number` alone.
pub(crate) fn pack_one(
    geometry: &Geometry,
    axes: &[Vec<BlockPart>],
    source: (&[u8], usize, &[usize]),
    number: usize,
    block: &mut [u8],
) -> Result<()> {
    let mut rest = number;
    let place_of = |(parts, side): (&'_ Vec<BlockPart>, &usize)| {
        let at = rest % side.max(&1);
        rest /= side.max(&1);
        parts.binary_search_by_key(&at, |part| part.block).ok()
    };
    // From the innermost axis outwards.
    let places: Option<Vec<usize>> =
        axes.iter().zip(&geometry.block_grid).rev().map(place_of).collect();
    // A block that is nothing but padding has no parts.
    let Some(mut places) = places else { return Ok(()) };
    places.reverse();
    let parts: Vec<&BlockPart> = chosen(axes, &places).collect();
    pack_block(geometry, &parts, source, block)
}

fn pack_block(
    geometry: &Geometry,
    parts: &[&BlockPart],
    (bytes, first, strides): (&[u8], usize, &[usize]),
    block: &mut [u8],
) -> Result<()> {
    let block_strides = geometry.block_strides();
    let mut copy = Copy::default();
    let mut runs = Odometer::new(parts.iter().map(|part| part.runs.len()));
    while let Some(at) = runs.next() {
        let (mut from, mut to) = (first, 0);
        let chosen = parts.iter().zip(at).filter_map(|(part, run)| part.runs.get(*run));
        let sides = chosen.zip(strides).zip(&block_strides).map(|((run, src), dst)| {
            from += run.place * src;
            to += run.within * dst;
            Axis { count: run.count, src: *src, dst: run.step * dst }
        });
        copy.set(sides, geometry.item_size);
        copy.run(bytes, from, block, to)?;
    }
    Ok(())
}
