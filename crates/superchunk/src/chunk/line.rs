//! Encoded blocks become a chunk: one behind the other, whoever has encoded them, and when.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::worker::{self, Worker};
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
            let Some(mut streams) = entered(&crowd).begin(block) else { return };
            let held = encode(worker, block, true, &mut streams);
            entered(&crowd).finish(worker, block, held, streams);
        });
        match entered(&crowd).outcome() {
            Some(error) => Err(error),
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
    /// A buffer for a block; `None` when it is not needed any more.
    fn begin(&mut self, block: usize) -> Option<Vec<u8>> {
        if self.line.is_full || self.failed.as_ref().is_some_and(|(first, _)| *first < block) {
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
            && let Some((mut streams, held)) = self.waiting.remove(&self.line.next)
        {
            let block = self.line.next;
            let appended = self.line.append(worker, |_, _, out| {
                worker::append(&streams, out);
                Ok(held)
            });
            streams.clear();
            self.spare.push(streams);
            if let Err(error) = appended {
                self.fail(block, error);
            }
        }
    }

    /// What has gone wrong with a block that was needed.
    fn outcome(&mut self) -> Option<Error> {
        self.failed.take().filter(|_| !self.line.is_full).map(|(_, error)| error)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of 40 blocks: streams, where each begins, and whether all have come or what went wrong.
    fn line_of(
        threads: usize,
        room: usize,
        encode: impl Fn(usize) -> Result<bool> + Sync,
    ) -> (Vec<u8>, Result<bool>) {
        let mut workers = Vec::new();
        let workers = worker::at_least(&mut workers, threads);
        let mut out = vec![0; 40];
        let begin = |block: usize, out: &mut Vec<u8>| {
            let position = u8::try_from(out.len()).unwrap();
            out[block] = position;
            Ok(out.len() < room)
        };
        let write_raw = |_: &mut Worker, block: usize, out: &mut Vec<u8>| {
            out.extend([100, u8::try_from(block).unwrap()]);
            Ok(())
        };
        let mut line = Line::new(&mut out, begin, write_raw);
        let executor = Executor::threads(threads);
        let done =
            line.append_all(&executor, workers, &mut Vec::new(), 40, |_, block, hold, out| {
                let held = encode(block)?;
                match (held, hold) {
                    (true, true) => return Ok(true),
                    (true, false) => out.extend([100, u8::try_from(block).unwrap()]),
                    (false, _) => out.extend(vec![u8::try_from(block).unwrap(); 1 + block % 5]),
                }
                Ok(false)
            });
        let done = done.map(|()| line.is_complete(40));
        (out, done)
    }

    #[test]
    fn any_number_of_threads_makes_the_same_line() {
        let patterns: [fn(usize) -> bool; 5] =
            [|_| false, |_| true, |block| block < 7, |block| block % 3 == 0, |block| block > 30];
        for held in patterns {
            for room in [60, 255] {
                let (one, complete) = line_of(1, room, |block| Ok(held(block)));
                let complete = complete.unwrap();
                for threads in [2, 3, 8] {
                    let (many, done) = line_of(threads, room, |block| Ok(held(block)));
                    assert_eq!(done.unwrap(), complete);
                    assert!(!complete || many == one);
                }
            }
        }
        let (line, complete) = line_of(3, 255, |block| Ok(block < 2));
        assert!(complete.unwrap());
        assert_eq!(line[..4], [40, 42, 44, 47]);
        assert_eq!(line[40..48], [100, 0, 100, 1, 2, 2, 2, 3]);
    }

    #[test]
    fn the_first_block_that_fails_is_told_of_unless_it_is_not_needed() {
        for threads in [1, 2, 5] {
            let fails = |block: usize| match block {
                12 | 13 | 31 => Err(Error::invalid(format!("block {block}"))),
                _ => Ok(false),
            };
            let error = line_of(threads, 255, fails).1.unwrap_err();
            assert!(error.to_string().contains("block 12"), "{error}");
            assert!(!line_of(threads, 50, fails).1.unwrap());
        }
    }
}
