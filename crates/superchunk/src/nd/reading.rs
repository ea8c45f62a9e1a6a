//! The parts of a chunk on their way to the caller's memory: which bytes of a block, and where they land.
//!
//! A part that lies in one piece in both is decoded in its place. All others are decoded beside it and copied; where the
//! destination is too large for the caches, several together.

use std::ops::Range;

use superchunk_kernels::boxes::LONGEST_JOINED;

use super::geometry::Geometry;
use super::odometer::{Odometer, chosen};
use super::pick::BlockPart;
use super::strided::{Axis, Copy};
use crate::b2nd::MAX_DIMENSIONS;
use crate::chunk::{Parts, Stretches};
use crate::error::{OrBug, Result};

/// Blocks that are put together before they are written have at most this many bytes: they shall stay in the cache.
const MOST_TOGETHER: usize = 512 * 1024;
/// Shorter stretches of a block are not decoded one by one.
const WORTH_STRETCH: usize = 32;

/// The parts of a chunk that are read, numbered in C order of the blocks along each axis.
pub(super) struct Reading<'a> {
    pub(super) geometry: &'a Geometry,
    pub(super) block_strides: &'a [usize],
    pub(super) axes: Vec<Vec<BlockPart>>,
    pub(super) dst: &'a mut [u8],
    /// Where `dst` begins in the whole destination.
    pub(super) base: usize,
    pub(super) strides: &'a [usize],
    /// The destination is too large for the caches.
    pub(super) far: bool,
    pub(super) copy: Copy,
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

    fn take(&mut self, numbers: Range<usize>, bytes: &[u8]) -> Result<()> {
        if numbers.len() == 1 {
            return self.take_one(numbers.start, bytes);
        }
        let mut joined = Joined::default();
        for number in numbers {
            self.join(number, &mut joined);
        }
        joined.copy.join_far(&joined.pieces, bytes, self.dst, joined.to)
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

    fn take_one(&mut self, number: usize, bytes: &[u8]) -> Result<()> {
        let at = self.parts(number).or_bug("a decoded part was asked for")?;
        let low = self.span(&at).start;
        let counts: Vec<usize> = chosen(&self.axes, &at).map(|part| part.runs.len()).collect();
        let mut odometer = Odometer::new(counts.into_iter());
        while let Some(runs) = odometer.next() {
            let (from, to) = self.prepare(&at, runs, low);
            self.copy.run(bytes, from, self.dst, to)?;
        }
        Ok(())
    }
}
