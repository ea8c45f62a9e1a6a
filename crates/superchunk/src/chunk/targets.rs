//! Decoding a set of blocks, each into its own place, on as many threads as there are.

use std::ops::Range;

use super::block::{BlockReader, StoredBlock, Stretches};
use super::geometry::Geometry;
use super::layout::Layout;
use super::worker::{self, Output, Worker};
use crate::error::{MustGet, Result};
use crate::exec::Executor;
use crate::filters::Reference;

/// Blocks are decoded in pairs where each thread has so many of them: with fewer, one would wait for another.
const PAIRS_A_THREAD: usize = 2;

/// A part of a block and the place it goes to.
pub(super) struct Target<'d> {
    pub(super) block: usize,
    part: Range<usize>,
    pub(super) dst: &'d mut [u8],
    stretches: Option<Stretches>,
    outcome: Result<()>,
}

impl<'d> Target<'d> {
    /// `part` counts from the start of the block and is as long as `dst`.
    pub(super) fn new(block: usize, part: Range<usize>, dst: &'d mut [u8]) -> Self {
        Self { block, part, dst, stretches: None, outcome: Ok(()) }
    }

    /// The same target, of which only some stretches are looked at.
    pub(super) fn in_stretches(self, stretches: Option<Stretches>) -> Self {
        Self { stretches, ..self }
    }

    /// The parts of blocks that make up the bytes `range`, which is as long as `dst`.
    pub(super) fn cover(
        geometry: Geometry,
        range: &Range<usize>,
        mut dst: &'d mut [u8],
    ) -> Result<Vec<Self>> {
        let mut targets = Vec::new();
        for block in geometry.blocks_of(range) {
            let all = geometry.block_range(block);
            let part = range.start.max(all.start) - all.start..range.end.min(all.end) - all.start;
            let (head, tail) = std::mem::take(&mut dst).must_split_at_mut(part.len())?;
            targets.push(Self::new(block, part, head));
            dst = tail;
        }
        Ok(targets)
    }
}

/// The blocks of one chunk and the way to their bytes.
pub(super) struct Blocks<'a, F> {
    pub(super) layout: &'a Layout<'a>,
    pub(super) reader: &'a BlockReader<'a>,
    /// The position of a block in the chunk and its bytes from there on.
    pub(super) bytes_of: F,
}

impl<'a, F> Blocks<'a, F>
where
    F: Fn(usize) -> Result<(usize, &'a [u8])> + Sync,
{
    /// Decodes all targets. The first block's error is the one that is told.
    pub(super) fn decode(
        &self,
        executor: &Executor,
        workers: &mut Vec<Worker>,
        mut targets: Vec<Target<'_>>,
        output: Output,
    ) -> Result<()> {
        let nbytes = targets.iter().map(|target| target.dst.len()).sum();
        let threads = worker::useful_threads(executor, targets.len(), nbytes);
        let workers = worker::at_least(workers, threads);
        let far = output.is_far(nbytes);
        if !self.reader.pipeline.has_delta() {
            return self.decode_from(executor, workers, &mut targets, Reference::Itself, far);
        }
        let first_len = self.layout.geometry().block_range(0).len();
        match targets.split_first_mut() {
            Some((first, rest)) if first.block == 0 && first.part == (0..first_len) => {
                let alone = std::slice::from_mut(first);
                self.decode_from(executor, workers, alone, Reference::Itself, false)?;
                self.decode_from(executor, workers, rest, Reference::FirstBlock(first.dst), far)
            }
            Some(_) => {
                let mut first_block = vec![0; first_len];
                let mut first = [Target::new(0, 0..first_len, &mut first_block)];
                self.decode_from(executor, workers, &mut first, Reference::Itself, false)?;
                let reference = Reference::FirstBlock(&first_block);
                self.decode_from(executor, workers, &mut targets, reference, far)
            }
            None => Ok(()),
        }
    }

    /// Decodes targets on this thread; `first` is the first block, where the others differ from it.
    pub(super) fn decode_here(
        &self,
        worker: &mut Worker,
        targets: Vec<Target<'_>>,
        first: &[u8],
    ) -> Result<()> {
        let mut targets = targets.into_iter();
        targets.try_for_each(|mut target| {
            self.decode_one(worker, &mut target, Reference::FirstBlock(first), false)
        })
    }

    /// Makes sure that the marks of all blocks are true.
    pub(super) fn check_marks(&self, workers: &mut [Worker]) -> Result<()> {
        let worker = workers.must_get_mut(0)?;
        (0..self.layout.geometry().block_count()).try_for_each(|number| {
            let (position, block) = self.stored(number, Reference::Itself, false)?;
            let checked = self.reader.check_marks(&mut worker.codec, &block);
            checked.map_err(|error| error.moved_by(position))
        })
    }

    /// The bytes of a block without its marks; `None` if it has none.
    pub(super) fn without_marks(&self, number: usize) -> Result<Option<&'a [u8]>> {
        let (_, block) = self.stored(number, Reference::Itself, false)?;
        Ok(self.reader.without_marks(&block))
    }

    fn decode_from(
        &self,
        executor: &Executor,
        workers: &mut [Worker],
        targets: &mut [Target<'_>],
        reference: Reference<'_>,
        far: bool,
    ) -> Result<()> {
        if self.is_worth_pairs(targets, workers.len()) {
            let mut pairs: Vec<_> = targets.chunks_mut(2).collect();
            executor.for_each(workers, &mut pairs, |worker, _, pair| {
                self.decode_pair(worker, pair, reference, far);
            });
        } else {
            executor.for_each(workers, targets, |worker, _, target| {
                target.outcome = self.decode_one(worker, target, reference, far);
            });
        }
        targets.iter_mut().try_for_each(|target| std::mem::replace(&mut target.outcome, Ok(())))
    }

    /// Whether two blocks at once are decoded in less time than one after the other, and there are enough for all threads.
    fn is_worth_pairs(&self, targets: &[Target<'_>], threads: usize) -> bool {
        let is_whole = |target: &Target<'_>| {
            target.part == (0..self.layout.geometry().block_range(target.block).len())
        };
        self.reader.method.decodes_two_at_once()
            && targets.len() >= PAIRS_A_THREAD * 2 * threads.max(1)
            && targets.iter().all(is_whole)
    }

    fn decode_pair(
        &self,
        worker: &mut Worker,
        pair: &mut [Target<'_>],
        reference: Reference<'_>,
        far: bool,
    ) {
        if let [a, b] = pair
            && let Ok((_, first)) = self.stored(a.block, reference, far)
            && let Ok((_, second)) = self.stored(b.block, reference, far)
            && self.reader.decode_two(worker, [&first, &second], [a.dst, b.dst])
        {
            return;
        }
        for target in pair {
            target.outcome = self.decode_one(worker, target, reference, far);
        }
    }

    fn decode_one(
        &self,
        worker: &mut Worker,
        target: &mut Target<'_>,
        reference: Reference<'_>,
        far: bool,
    ) -> Result<()> {
        let (position, block) = self.stored(target.block, reference, far)?;
        let block = StoredBlock { stretches: target.stretches, ..block };
        self.reader
            .decode(worker, &block, target.part.clone(), target.dst)
            .map_err(|error| error.moved_by(position))
    }

    /// A block as it is stored, and where.
    fn stored<'r>(
        &self,
        number: usize,
        reference: Reference<'r>,
        far: bool,
    ) -> Result<(usize, StoredBlock<'r>)>
    where
        'a: 'r,
    {
        let (position, bytes) = (self.bytes_of)(number)?;
        let block = StoredBlock {
            bytes,
            extent: self.layout.next_start(number).and_then(|end| end.checked_sub(position)),
            stream_count: self.layout.stream_count(number, bytes)?,
            len: self.layout.geometry().block_range(number).len(),
            reference: if number == 0 { Reference::Itself } else { reference },
            far,
            stretches: None,
        };
        Ok((position, block))
    }
}
