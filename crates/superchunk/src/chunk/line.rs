//! Encoded blocks become a chunk: one behind the other, whoever has encoded them, and when.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::worker::Worker;
use crate::error::{Error, Result};
use crate::exec::Executor;

/// A chunk that grows by a block at a time.
pub(super) struct Line<'a, B, R> {
    out: &'a mut Vec<u8>,
    /// Is told where a block begins, and whether there is room for more is its answer.
    begin: B,
    /// Appends a block that was held back.
    write_raw: R,
    /// The block to come.
    next: usize,
    /// Blocks from the first on that were held back: they are written when one was not.
    held: usize,
    is_full: bool,
}

impl<'a, B, R> Line<'a, B, R>
where
    B: Fn(usize, &mut Vec<u8>) -> Result<bool>,
    R: Fn(&mut Worker, usize, &mut Vec<u8>) -> Result<()>,
{
    pub(super) fn new(out: &'a mut Vec<u8>, begin: B, write_raw: R) -> Self {
        Self { out, begin, write_raw, next: 0, held: 0, is_full: false }
    }

    /// Appends `count` blocks. `encode` appends one, or tells that nothing makes it shorter, and that it was
    /// held back; with a false flag it may not hold one back. The work is shared by the workers.
    pub(super) fn append_all(
        &mut self,
        executor: &Executor,
        workers: &mut [Worker],
        spare: &mut Vec<Vec<u8>>,
        count: usize,
        encode: impl Fn(&mut Worker, usize, bool, &mut Vec<u8>) -> Result<bool> + Sync,
    ) -> Result<()>
    where
        B: Send,
        R: Send,
    {
        if let [worker] = workers {
            while self.next < count && !self.is_full {
                let block = self.next;
                self.append(worker, |worker, may_hold, out| encode(worker, block, may_hold, out))?;
            }
            return Ok(());
        }
        let crowd = Mutex::new(Crowd { line: self, waiting: BTreeMap::new(), spare, failed: None });
        executor.for_each(workers, &mut vec![(); count], |worker, block, ()| {
            let Some(mut streams) = entered(&crowd).begin() else { return };
            let held = encode(worker, block, true, &mut streams);
            entered(&crowd).finish(worker, block, held, streams);
        });
        match entered(&crowd).failed.take() {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Whether the chunk has all `count` blocks, and not only such as were held back.
    pub(super) fn is_complete(&self, count: usize) -> bool {
        !self.is_full && self.next == count && self.held < count
    }

    /// Appends the next block.
    fn append(
        &mut self,
        worker: &mut Worker,
        encode: impl FnOnce(&mut Worker, bool, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<()> {
        let block = self.next;
        self.next += 1;
        if !(self.begin)(block, self.out)? {
            self.is_full = true;
            return Ok(());
        }
        let start = self.out.len();
        let all_held = self.held == block;
        match (encode(worker, all_held, self.out)?, all_held) {
            (true, true) => self.held += 1,
            (true, false) => (self.write_raw)(worker, block, self.out)?,
            (false, true) if block > 0 => {
                let last = self.out.split_off(start);
                for raw in 0..block {
                    (self.begin)(raw, self.out)?;
                    (self.write_raw)(worker, raw, self.out)?;
                }
                (self.begin)(block, self.out)?;
                self.out.extend(last);
            }
            (false, _) => {}
        }
        Ok(())
    }
}

/// Blocks that were encoded before their turn, and buffers for others.
struct Crowd<'c, 'a, B, R> {
    line: &'c mut Line<'a, B, R>,
    /// The streams of a block, and whether it was held back.
    waiting: BTreeMap<usize, (Vec<u8>, bool)>,
    spare: &'c mut Vec<Vec<u8>>,
    /// The first block that failed, and why.
    failed: Option<(usize, Error)>,
}

impl<B, R> Crowd<'_, '_, B, R>
where
    B: Fn(usize, &mut Vec<u8>) -> Result<bool>,
    R: Fn(&mut Worker, usize, &mut Vec<u8>) -> Result<()>,
{
    /// A buffer for a block; `None` when no more are needed.
    fn begin(&mut self) -> Option<Vec<u8>> {
        if self.line.is_full || self.failed.is_some() {
            return None;
        }
        Some(self.spare.pop().unwrap_or_default())
    }

    /// Takes a block, and appends it and others if their turn has come.
    fn finish(&mut self, worker: &mut Worker, block: usize, held: Result<bool>, streams: Vec<u8>) {
        match held {
            Ok(held) => _ = self.waiting.insert(block, (streams, held)),
            Err(error) => self.fail(block, error),
        }
        while !self.line.is_full
            && self.failed.is_none()
            && let Some((mut streams, held)) = self.waiting.remove(&self.line.next)
        {
            let block = self.line.next;
            let appended = self.line.append(worker, |_, _, out| {
                out.extend_from_slice(&streams);
                Ok(held)
            });
            streams.clear();
            self.spare.push(streams);
            if let Err(error) = appended {
                self.fail(block, error);
            }
        }
    }

    fn fail(&mut self, block: usize, error: Error) {
        if self.failed.as_ref().is_none_or(|(first, _)| block < *first) {
            self.failed = Some((block, error));
        }
    }
}

/// The crowd, for one thread at a time. What a thread that panicked has left is never used.
fn entered<T>(crowd: &Mutex<T>) -> MutexGuard<'_, T> {
    crowd.lock().unwrap_or_else(PoisonError::into_inner)
}
