//! Reading: from picks along each axis to bytes, chunk by chunk, block by block.
//!
//! Only the blocks that hold picked items are decoded: straight into the destination where the picked
//! part of a block lies in one piece in both, else through memory for a few blocks.
//!
//! Large reads are shared among threads. The destination is cut into slabs along the first axis on
//! which more than one item is picked: at the edges of chunks where there are enough of them, else at
//! the edges of blocks. A slab is one piece of the destination, so no two threads write into the same.

use super::geometry::Geometry;
use super::odometer::{Odometer, chosen};
use super::pick::{BlockPart, Group, Picks};
use super::reading::Reading;
use super::strided::Copy;
use crate::chunk::FAR_OUTPUT;
use crate::error::{Error, MustGet, Result};
use crate::schunk::SuperChunk;

/// Below this many bytes a second thread costs more than it brings.
pub(super) const WORTH_THREADS: usize = 128 * 1024;

/// An array that is being read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) frame: &'a SuperChunk,
    pub(crate) geometry: &'a Geometry,
}

/// A piece of the destination and the picks that fill it, along each axis.
struct Slab<'d> {
    groups: Vec<Vec<Group>>,
    dst: &'d mut [u8],
    /// Where `dst` begins in the whole destination.
    base: usize,
    outcome: Result<()>,
}

impl View<'_> {
    /// Reads the picked items into `dst`, whose axes have these strides. All of them fit.
    pub(crate) fn read(&self, picks: &[Picks], dst: &mut [u8], strides: &[usize]) -> Result<()> {
        if picks.iter().any(|picks| picks.count() == 0) {
            return Ok(());
        }
        let groups: Vec<Vec<Group>> = picks
            .iter()
            .zip(&self.geometry.chunks)
            .map(|(picks, side)| picks.groups(*side))
            .collect();
        let far = dst.len() >= FAR_OUTPUT;
        let mut slabs = self.slabs(picks, groups, dst, strides)?;
        let executor = &self.frame.options().executor;
        let mut states = vec![(); self.threads().min(slabs.len())];
        executor.for_each(&mut states, &mut slabs, |(), _, slab| {
            slab.outcome = self.read_slab(picks, slab, strides, far);
        });
        slabs.into_iter().try_for_each(|slab| slab.outcome)
    }

    /// The number of threads that may work, each on a chunk of its own.
    fn threads(&self) -> usize {
        self.frame.threads_for_chunks(self.geometry.chunk_bytes)
    }

    /// Cuts the destination for the threads there are.
    fn slabs<'d>(
        &self,
        picks: &[Picks],
        groups: Vec<Vec<Group>>,
        dst: &'d mut [u8],
        strides: &[usize],
    ) -> Result<Vec<Slab<'d>>> {
        let threads = self.threads();
        let items = picks.iter().fold(1usize, |items, picks| items.saturating_mul(picks.count()));
        let large = items.saturating_mul(self.geometry.item_size) >= WORTH_THREADS;
        let axis = picks.iter().position(|picks| picks.count() > 1);
        let cut = axis.filter(|axis| threads > 1 && large && is_nested(picks, strides, *axis));
        let Some(axis) = cut else {
            return Ok(vec![Slab { groups, dst, base: 0, outcome: Ok(()) }]);
        };
        let mut along = groups.must_get(axis)?.clone();
        if let (true, Some(picks), Some(chunk), Some(block)) = (
            along.len() < 2 * threads,
            picks.get(axis),
            self.geometry.chunks.get(axis),
            self.geometry.blocks.get(axis),
        ) {
            along = along.into_iter().flat_map(|group| picks.cut(group, *chunk, *block)).collect();
        }
        let stride = *strides.must_get(axis)?;
        let (mut slabs, mut rest, mut base) = (Vec::with_capacity(along.len()), dst, 0);
        for (number, group) in along.iter().enumerate() {
            let end = group.to * stride;
            let last = number + 1 == along.len();
            let len = if last { rest.len() } else { (end - base).min(rest.len()) };
            let (piece, behind) = rest.must_split_at_mut(len)?;
            let mut groups = groups.clone();
            *groups.must_get_mut(axis)? = vec![*group];
            slabs.push(Slab { groups, dst: piece, base, outcome: Ok(()) });
            (rest, base) = (behind, base + len);
        }
        Ok(slabs)
    }

    fn read_slab(
        &self,
        picks: &[Picks],
        slab: &mut Slab<'_>,
        strides: &[usize],
        far: bool,
    ) -> Result<()> {
        let block_strides = self.geometry.block_strides();
        let mut odometer = Odometer::new(slab.groups.iter().map(Vec::len));
        while let Some(at) = odometer.next() {
            let here: Vec<Group> = chosen(&slab.groups, at).copied().collect();
            let number = self.geometry.chunk_number(here.iter().map(|group| group.chunk));
            let axes = block_parts(self.geometry, picks, &here);
            let mut parts = Reading {
                geometry: self.geometry,
                block_strides: &block_strides,
                axes,
                dst: slab.dst,
                base: slab.base,
                strides,
                far,
                copy: Copy::default(),
            };
            self.frame.read_parts(number, &mut parts)?;
        }
        Ok(())
    }

    /// The bytes of a box in C order.
    pub(crate) fn read_box(&self, start: &[u64], extent: &[usize]) -> Result<Vec<u8>> {
        let picks: Vec<Picks> = start
            .iter()
            .zip(extent)
            .map(|(start, count)| Picks::Range { start: *start, step: 1, count: *count })
            .collect();
        let len = super::geometry::product(extent, self.geometry.item_size)
            .ok_or_else(|| Error::limit("more bytes than the memory can hold"))?;
        self.frame.check_memory(len)?;
        let mut bytes = vec![0; len];
        let strides = super::geometry::strides(extent, self.geometry.item_size);
        self.read(&picks, &mut bytes, &strides)?;
        Ok(bytes)
    }
}

/// The blocks of a chunk that picks lie in, along each axis.
pub(crate) fn block_parts(
    geometry: &Geometry,
    picks: &[Picks],
    groups: &[Group],
) -> Vec<Vec<BlockPart>> {
    let sides = geometry.chunks.iter().zip(&geometry.blocks);
    let axes = picks.iter().zip(groups).zip(sides);
    axes.map(|((picks, group), (chunk, block))| picks.block_parts(*group, *chunk, *block)).collect()
}

/// Whether what one index of `axis` fills ends before the next index begins.
fn is_nested(picks: &[Picks], strides: &[usize], axis: usize) -> bool {
    let in_order = matches!(picks.get(axis), Some(Picks::Range { .. }));
    let inner = picks.iter().zip(strides).enumerate().filter(|(other, _)| *other != axis);
    let reach = inner.map(|(_, (picks, stride))| (picks.count() - 1).saturating_mul(*stride));
    let reach = reach.fold(0, usize::saturating_add);
    in_order && strides.get(axis).is_some_and(|stride| reach < *stride)
}
