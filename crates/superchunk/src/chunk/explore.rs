//! The streams of some blocks, compressed in several ways to find out which is best.
//!
//! A stream is tried as its level asks for, and in lighter ways until one takes hardly more bytes. The two are tasks of
//! their own, so that two threads share even a block that is one stream:
//!
//! ```text
//!  one thread     | level     | light 1 | light 2 |
//!  two threads    | level     |
//!                 | light 1 | light 2 | light 3 |     until the result of the level is there to compare with
//! ```
//!
//! What is found does not depend on who comes first: a way that was tried in vain, or that a lighter one makes needless, is
//! passed over.

use std::sync::OnceLock;

use superchunk_kernels::runs;

use super::block::{BlockWriter, planes_of};
use super::effort::{Effort, Explored, Tried, allowed_surplus};
use super::stream::longest_coded;
use super::worker::{Worker, at_least};
use crate::codecs::CodecState;
use crate::error::{Error, MustGet, OrBug, Result};
use crate::exec::Executor;
use crate::filters::scratch;

/// What is found out about the first block of each group, and memory for that. Kept from chunk to chunk; no result
/// depends on it.
#[derive(Default)]
pub(super) struct Exploration {
    blocks: Vec<Filtered>,
    /// For each stream of each block: as the level asks for, and in lighter ways.
    full: Vec<Tried>,
    lighter: Vec<Vec<Tried>>,
    explored: Vec<Explored>,
}

/// A block behind the filters, or why it is not.
#[derive(Default)]
struct Filtered {
    bytes: Vec<u8>,
    failed: Option<Error>,
}

/// What becomes of one stream of a block.
enum Task<'a> {
    Full(&'a mut Tried, Option<Error>),
    Lighter(&'a mut Vec<Tried>, Option<Error>),
}

/// A stream that is explored.
struct Subject<'a> {
    bytes: &'a [u8],
    is_run: bool,
    /// The length of the result as the level asks for, once there is one: `None` if it does not become shorter.
    full: OnceLock<Option<usize>>,
}

impl Exploration {
    /// Explores `groups` blocks of `streams` streams each; `filter` puts one of them behind the filters.
    pub(super) fn run(
        &mut self,
        (executor, workers): (&Executor, &mut [Worker]),
        writer: &BlockWriter<'_>,
        (groups, streams): (usize, usize),
        filter: impl Fn(&mut Worker, usize, &mut Vec<u8>) -> Result<()> + Sync,
    ) -> Result<()> {
        let blocks = at_least(&mut self.blocks, groups);
        executor.for_each(workers, blocks, |worker, group, to| {
            to.failed = filter(worker, group, &mut to.bytes).err();
        });
        if let Some(error) = blocks.iter_mut().find_map(|block| block.failed.take()) {
            return Err(error);
        }
        let planes = blocks.iter().flat_map(|block| planes_of(&block.bytes, streams));
        let subjects: Vec<_> =
            planes.map(|bytes| Subject::new(bytes, writer.runs_allowed)).collect();

        let count = subjects.len();
        let full = at_least(&mut self.full, count);
        let lighter = at_least(&mut self.lighter, count);
        let tasks = full.iter_mut().map(|to| Task::Full(to, None));
        let mut tasks: Vec<_> =
            tasks.chain(lighter.iter_mut().map(|to| Task::Lighter(to, None))).collect();
        let block_with = |number| {
            let block = subjects.chunks(streams).nth(number / streams);
            block.or_bug("every stream is one of an explored block")
        };
        executor.for_each(workers, &mut tasks, |worker, number, task| {
            let number = number % count;
            let block = block_with(number);
            task.work(worker, &writer.effort, block, number % streams);
        });
        if let Some(error) = tasks.into_iter().find_map(Task::failed) {
            return Err(error);
        }
        let explored = at_least(&mut self.explored, count).iter_mut();
        let trials = full.iter_mut().zip(lighter).zip(&subjects);
        for (number, (explored, ((full, lighter), subject))) in explored.zip(trials).enumerate() {
            let most = most(block_with(number)?, subject).unwrap_or(0);
            explored.choose(subject.bytes, full, lighter, most);
        }
        Ok(())
    }

    /// Block `group`, behind the filters, and what was found out about its `streams` streams.
    pub(super) fn of(&self, group: usize, streams: usize) -> Result<(&[u8], &[Explored])> {
        let filtered = self.blocks.must_get(group)?;
        let explored = self.explored.must_get(group * streams..(group + 1) * streams)?;
        Ok((&filtered.bytes, explored))
    }
}

impl<'a> Subject<'a> {
    fn new(bytes: &'a [u8], runs_allowed: bool) -> Self {
        let is_run = runs_allowed && runs::repeated_byte(bytes).is_some();
        let full = if is_run { OnceLock::from(None) } else { OnceLock::new() };
        Self { bytes, is_run, full }
    }
}

/// The most bytes that a lighter way may take for a stream of a block, once that is known. Planes that are stored as they are make
/// room for the others: what counts in the end is what the block takes.
fn most(block: &[Subject<'_>], subject: &Subject<'_>) -> Option<usize> {
    let full = (*subject.full.get()?)?;
    let (mut raw, mut coded) = (0, 0);
    for other in block {
        match other.full.get()? {
            Some(_) => coded += 1,
            None if other.is_run => {}
            None => raw += other.bytes.len(),
        }
    }
    Some(full + allowed_surplus(full + raw / coded.max(1)))
}

impl Task<'_> {
    fn failed(self) -> Option<Error> {
        match self {
            Task::Full(_, failed) | Task::Lighter(_, failed) => failed,
        }
    }

    /// Works on stream `number` of a block.
    fn work(
        &mut self,
        worker: &mut Worker,
        effort: &Effort<'_>,
        block: Result<&[Subject<'_>]>,
        number: usize,
    ) {
        let found = block.and_then(|block| Ok((block, block.must_get(number)?)));
        let Worker { codec, streams: spare, .. } = worker;
        match (self, found) {
            (Task::Full(to, failed), Ok((_, subject))) => {
                to.len = None;
                if !subject.is_run {
                    *failed = try_full(codec, effort, subject.bytes, to).err();
                    // Set once: there is one such task for each subject.
                    let _ = subject.full.set(to.len);
                }
            }
            (Task::Lighter(ways, failed), Ok(found)) => {
                *failed = try_lighter(codec, effort, found, spare, ways).err();
            }
            (Task::Full(_, failed) | Task::Lighter(_, failed), Err(error)) => *failed = Some(error),
        }
    }
}

fn try_full(codec: &mut CodecState, effort: &Effort<'_>, src: &[u8], to: &mut Tried) -> Result<()> {
    let dst = scratch(&mut to.bytes, longest_coded(src.len()));
    to.len = codec.compress(effort.method, effort.manner, effort.dict, src, dst, None)?;
    Ok(())
}

/// Tries lighter ways until one is known to be good enough.
fn try_lighter(
    codec: &mut CodecState,
    effort: &Effort<'_>,
    (block, subject): (&[Subject<'_>], &Subject<'_>),
    spare: &mut Vec<u8>,
    ways: &mut Vec<Tried>,
) -> Result<()> {
    ways.iter_mut().for_each(|way| way.len = None);
    let lighter = effort.lighter(block.len());
    for (light, to) in lighter.iter().zip(at_least(ways, lighter.len())) {
        if subject.full.get() == Some(&None) {
            return Ok(());
        }
        // As much room for everyone: what comes out must not depend on what is known by then.
        let dst = scratch(spare, longest_coded(subject.bytes.len()));
        let Some(len) = codec.compress_lightly(*light, subject.bytes, dst, None) else { continue };
        let most = most(block, subject);
        if most.is_some_and(|most| len > most) {
            continue;
        }
        (to.len, to.light) = (Some(len), Some(*light));
        to.bytes.clear();
        to.bytes.extend_from_slice(dst.must_get(..len)?);
        if most.is_some() {
            return Ok(());
        }
    }
    Ok(())
}
