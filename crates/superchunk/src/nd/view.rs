//! Reading: from picks along each axis to bytes, chunk by chunk, block by block.
//!
//! Only the blocks that hold picked items are decoded: straight into the destination where the picked
//! part of a block lies in one piece in both, else through memory for one block.
//!
//! Large reads are shared among threads. The destination is cut into slabs along the first axis on
//! which more than one item is picked: at the edges of chunks where there are enough of them, else at
//! the edges of blocks. A slab is one piece of the destination, so no two threads write into the same.

use std::ops::Range;

use superchunk_kernels::boxes::LONGEST_JOINED;

use super::geometry::Geometry;
use super::pick::{BlockPart, Group, Picks};
use super::strided::{Axis, Copy};
use crate::b2nd::MAX_DIMENSIONS;
use crate::chunk::{FAR_OUTPUT, Parts, Stretches};
use crate::error::{Error, Result};
use crate::schunk::SuperChunk;

/// Blocks that are put together before they are written have at most this many bytes: they shall stay in the cache.
const MOST_TOGETHER: usize = 512 * 1024;
/// Shorter stretches of a block are not decoded one by one.
const WORTH_STRETCH: usize = 32;
/// Below this many bytes a second thread costs more than it brings.
const WORTH_THREADS: usize = 128 * 1024;

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
        let mut slabs = self.slabs(picks, groups, dst, strides);
        let executor = &self.frame.options().executor;
        let mut states = vec![(); executor.thread_count().min(slabs.len())];
        executor.for_each(&mut states, &mut slabs, |(), _, slab| {
            slab.outcome = self.read_slab(picks, slab, strides, far);
        });
        slabs.into_iter().try_for_each(|slab| slab.outcome)
    }

    /// Cuts the destination for the threads there are.
    fn slabs<'d>(
        &self,
        picks: &[Picks],
        groups: Vec<Vec<Group>>,
        dst: &'d mut [u8],
        strides: &[usize],
    ) -> Vec<Slab<'d>> {
        let threads = self.frame.options().executor.thread_count();
        let items = picks.iter().fold(1usize, |items, picks| items.saturating_mul(picks.count()));
        let large = items.saturating_mul(self.geometry.item_size) >= WORTH_THREADS;
        let axis = picks.iter().position(|picks| picks.count() > 1);
        let cut = axis.filter(|axis| threads > 1 && large && is_nested(picks, strides, *axis));
        let Some(axis) = cut else {
            return vec![Slab { groups, dst, base: 0, outcome: Ok(()) }];
        };
        let mut along = groups.get(axis).cloned().unwrap_or_default();
        if let (true, Some(picks), Some(chunk), Some(block)) = (
            along.len() < 2 * threads,
            picks.get(axis),
            self.geometry.chunks.get(axis),
            self.geometry.blocks.get(axis),
        ) {
            along = along.into_iter().flat_map(|group| picks.cut(group, *chunk, *block)).collect();
        }
        let stride = strides.get(axis).copied().unwrap_or(0);
        let (mut slabs, mut rest, mut base) = (Vec::with_capacity(along.len()), dst, 0);
        for (number, group) in along.iter().enumerate() {
            let end = group.to * stride;
            let last = number + 1 == along.len();
            let len = if last { rest.len() } else { (end - base).min(rest.len()) };
            let (piece, behind) = rest.split_at_mut_checked(len).unwrap_or_default();
            let mut groups = groups.clone();
            if let Some(place) = groups.get_mut(axis) {
                *place = vec![*group];
            }
            slabs.push(Slab { groups, dst: piece, base, outcome: Ok(()) });
            (rest, base) = (behind, base + len);
        }
        slabs
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

/// The parts of a chunk on their way to the destination. They are numbered in C order of the blocks
/// along each axis.
struct Reading<'a> {
    geometry: &'a Geometry,
    block_strides: &'a [usize],
    axes: Vec<Vec<BlockPart>>,
    dst: &'a mut [u8],
    base: usize,
    strides: &'a [usize],
    /// The destination is too large for the caches.
    far: bool,
    copy: Copy,
}

impl Reading<'_> {
    /// The part along each axis that part `number` consists of.
    fn parts(&self, number: usize) -> Option<[usize; MAX_DIMENSIONS]> {
        let mut at = [0; MAX_DIMENSIONS];
        let mut rest = number;
        let rank = self.axes.len().min(MAX_DIMENSIONS);
        for (at, parts) in at.iter_mut().take(rank).zip(&self.axes).rev() {
            *at = rest % parts.len().max(1);
            rest /= parts.len().max(1);
        }
        (rest == 0).then_some(at)
    }

    /// The bytes of its block that a part needs: from its first to its last item.
    fn span(&self, at: &[usize]) -> Range<usize> {
        let (mut low, mut high) = (0, self.geometry.item_size);
        for (part, stride) in chosen(&self.axes, at).zip(self.block_strides) {
            low += part.runs.first().map_or(0, |run| run.within) * stride;
            high += part.runs.last().map_or(0, |run| run.last()) * stride;
        }
        low..high
    }

    /// Prepares the copy of one run along each axis; returns where it begins in the part and in the
    /// destination.
    fn prepare(&mut self, at: &[usize], runs: &[usize], low: usize) -> (usize, usize) {
        let (mut from, mut to) = (0, 0);
        let parts = chosen(&self.axes, at).zip(runs);
        let parts = parts.filter_map(|(part, run)| part.runs.get(*run));
        let axes = parts.zip(self.block_strides).zip(self.strides).map(|((run, src), dst)| {
            from += run.within * src;
            to += run.place * dst;
            Axis { count: run.count, src: run.step * src, dst: *dst }
        });
        self.copy.set(axes, self.geometry.item_size);
        (from - low, to - self.base)
    }
}

impl Parts for Reading<'_> {
    fn range(&self, number: usize) -> Option<Range<usize>> {
        let at = self.parts(number)?;
        let blocks = chosen(&self.axes, &at).zip(&self.geometry.block_grid);
        let block = blocks.fold(0, |block, (part, side)| block * side + part.block);
        let (start, span) = (block * self.geometry.block_bytes, self.span(&at));
        Some(start + span.start..start + span.end)
    }

    fn room(&mut self, number: usize) -> Option<&mut [u8]> {
        let at = self.parts(number)?;
        if chosen(&self.axes, &at).any(|part| part.runs.len() > 1) {
            return None;
        }
        let span = self.span(&at);
        let (_, to) = self.prepare(&at, &[0; MAX_DIMENSIONS], span.start);
        let len = self.copy.whole().filter(|len| *len == span.len())?;
        self.dst.get_mut(to..to + len)
    }

    /// What one index of the outermost axis with several needs, if that is much less than lies between two of them.
    fn stretches(&self, number: usize) -> Option<Stretches> {
        let at = self.parts(number)?;
        let (mut len, mut step) = (self.geometry.item_size, None);
        for (part, stride) in chosen(&self.axes, &at).zip(self.block_strides) {
            let [run] = part.runs.as_slice() else { return None };
            match step {
                None if run.count > 1 => step = Some(run.step * stride),
                None => {}
                Some(_) => len += (run.last() - run.within) * stride,
            }
        }
        step.filter(|step| (WORTH_STRETCH..=step / 2).contains(&len))
            .map(|step| Stretches { len, step })
    }

    /// Parts that lie side by side along the last axis, where the destination is far: their rows are short, and
    /// become whole cache lines only with those of their neighbours.
    fn together(&mut self, number: usize) -> usize {
        let Some(at) = self.parts(number).filter(|_| self.far) else { return 1 };
        let Some((here, parts)) =
            at.get(..self.axes.len()).and_then(<[usize]>::last).zip(self.axes.last())
        else {
            return 1;
        };
        let most = MOST_TOGETHER / self.geometry.block_bytes.max(1);
        let most = most.min(parts.len().saturating_sub(*here)).max(1);
        let mut joined = Joined::default();
        let fits = |number: &usize| self.join(*number, &mut joined) && joined.len <= LONGEST_JOINED;
        (number..number + most).take_while(fits).count().max(1)
    }

    fn take(&mut self, numbers: Range<usize>, bytes: &[u8]) {
        if numbers.len() == 1 {
            return self.take_one(numbers.start, bytes);
        }
        let mut joined = Joined::default();
        for number in numbers {
            self.join(number, &mut joined);
        }
        joined.copy.join_far(&joined.pieces, bytes, self.dst, joined.to);
    }
}

/// Parts whose rows lie side by side in the destination.
#[derive(Default)]
struct Joined {
    copy: Copy,
    /// The first row of each, where the parts lie one behind the other.
    pieces: Vec<Range<usize>>,
    /// The length of a row of all of them, and of all their bytes.
    len: usize,
    bytes: usize,
    /// Where the first row of the first part begins in the destination.
    to: usize,
}

impl Reading<'_> {
    /// Adds a part; false if it does not lie beside the one before, row by row.
    fn join(&mut self, number: usize, joined: &mut Joined) -> bool {
        let Some(at) = self.parts(number) else { return false };
        if chosen(&self.axes, &at).any(|part| part.runs.len() > 1) {
            return false;
        }
        let span = self.span(&at);
        let (from, to) = self.prepare(&at, &[0; MAX_DIMENSIONS], span.start);
        if joined.pieces.is_empty() {
            (joined.copy, joined.to) = (self.copy.clone(), to);
        } else if !joined.copy.is_like(&self.copy) || joined.to + joined.len != to {
            return false;
        }
        let start = joined.bytes + from;
        joined.pieces.push(start..start + self.copy.run_len());
        joined.len += self.copy.run_len();
        joined.bytes += span.len();
        true
    }

    fn take_one(&mut self, number: usize, bytes: &[u8]) {
        let Some(at) = self.parts(number) else { return };
        let low = self.span(&at).start;
        let counts: Vec<usize> = chosen(&self.axes, &at).map(|part| part.runs.len()).collect();
        let mut odometer = Odometer::new(counts.into_iter());
        while let Some(runs) = odometer.next() {
            let (from, to) = self.prepare(&at, runs, low);
            self.copy.run(bytes, from, self.dst, to);
        }
    }
}

/// The element of each list that `at` names.
pub(crate) fn chosen<'l, T>(lists: &'l [Vec<T>], at: &'l [usize]) -> impl Iterator<Item = &'l T> {
    lists.iter().zip(at).filter_map(|(list, at)| list.get(*at))
}

/// All combinations of one number below each count, the last varying fastest.
pub(crate) struct Odometer {
    counts: Vec<usize>,
    at: Vec<usize>,
    started: bool,
}

impl Odometer {
    pub(crate) fn new(counts: impl Iterator<Item = usize>) -> Self {
        let counts: Vec<usize> = counts.collect();
        Self { at: vec![0; counts.len()], counts, started: false }
    }

    /// The next combination.
    pub(crate) fn next(&mut self) -> Option<&[usize]> {
        if !std::mem::replace(&mut self.started, true) {
            return (!self.counts.contains(&0)).then_some(&self.at);
        }
        for (at, count) in self.at.iter_mut().zip(&self.counts).rev() {
            *at += 1;
            if *at < *count {
                return Some(&self.at);
            }
            *at = 0;
        }
        None
    }
}
