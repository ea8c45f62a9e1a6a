//! Who does the block work: the calling thread alone, or with the help of a pool; and who is asked
//! before each chunk whether it goes on.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

#[cfg(feature = "threads")]
use superchunk_kernels::pool::Pool;

use crate::error::{Error, ErrorKind, Result};

/// The threads that compress and decompress the blocks of a chunk.
///
/// The default is [`Executor::inline`]: everything happens on the calling thread. With
/// [`Executor::threads`] the calling thread shares the blocks of a chunk with helper threads. Clones
/// share the same helpers, so one executor can serve a whole program, from several threads at once;
/// the helpers end with the last clone. Small chunks stay on the calling thread either way, and what
/// is computed never depends on the number of threads.
///
/// An executor survives `fork()`: a child process that uses an inherited one starts helpers of its
/// own.
///
/// ```
/// use superchunk::{CompressOptions, Executor};
///
/// let options = CompressOptions::new(8).with_executor(Executor::threads(4));
/// ```
#[derive(Clone, Default)]
pub struct Executor {
    /// `None`: inline.
    #[cfg(feature = "threads")]
    pool: Option<Arc<Pool>>,
    observer: Option<Arc<Observer>>,
}

/// Who is asked before each step.
type Observer = dyn Fn(Step) -> ControlFlow<()> + Send + Sync;

/// A part of some long work, about which an [observer](Executor::with_observer) is asked.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is to be done.
    pub work: Work,
    /// How many decoded bytes it is about.
    pub len: u64,
    /// How many decoded bytes all steps of this work are about, where that is known.
    pub total: Option<u64>,
}

/// What a [`Step`] does.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Compresses a chunk.
    Compress,
    /// Decompresses a chunk, or a part of one.
    Decompress,
    /// Copies a chunk, or some rows, to another container; compressing and decompressing what is
    /// copied are steps of their own.
    Copy,
    /// Looks whether a chunk is still what was written: [`verify`](crate::verify).
    Verify,
    /// Looks for what can be saved, and saves it: [`salvage`](crate::salvage). The bytes are stored
    /// ones.
    Salvage,
}

impl Executor {
    /// Does all work on the calling thread.
    pub fn inline() -> Executor {
        Executor::default()
    }

    /// Works with `threads` threads, the calling one included; 0 stands for as many as the machine
    /// runs at once.
    ///
    /// Helper threads are started when there is first work for them. If the system refuses to start
    /// one, the others do its share. Without the feature `threads` and on WebAssembly this is
    /// [`Executor::inline`].
    pub fn threads(threads: usize) -> Executor {
        #[cfg(feature = "threads")]
        if !cfg!(target_family = "wasm") {
            let threads = match threads {
                0 => std::thread::available_parallelism().map_or(1, |available| available.get()),
                given => given,
            };
            let pool = (threads > 1).then(|| Arc::new(Pool::new(threads - 1)));
            return Executor { pool, observer: None };
        }
        let _ = threads;
        Executor::inline()
    }

    /// The same threads, whose user asks `observer` before each [`Step`] whether it goes on: to stop
    /// long work, and to show how far it is.
    ///
    /// If the answer is [`Break`](ControlFlow::Break), the work ends with
    /// [`ErrorKind::Interrupted`]. A change that ends so has not happened, as after any other error,
    /// and can be tried again. Reading, writing, copying, verifying and salvaging ask; a chunk that
    /// has begun is finished first. Where several threads work on several chunks, each of them asks.
    /// Clones of the executor have the same observer; a second one takes the place of the first.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    /// use superchunk::{CompressOptions, ErrorKind, Executor, FrameOptions, SuperChunk};
    ///
    /// let stop = Arc::new(AtomicBool::new(false)); // set by a signal, or by a button
    /// let is_set = Arc::clone(&stop);
    /// let executor = Executor::threads(4).with_observer(move |_step| {
    ///     if is_set.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// });
    /// let compress = CompressOptions::new(1).with_executor(executor);
    /// let mut bytes = SuperChunk::in_memory(&FrameOptions::new(compress).with_chunk_size(1000))?;
    /// bytes.append(&[7; 10_000])?;
    ///
    /// stop.store(true, Ordering::Relaxed);
    /// assert_eq!(bytes.append(&[8; 10_000]).unwrap_err().kind(), ErrorKind::Interrupted);
    /// assert_eq!(bytes.byte_len(), 10_000);
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    #[must_use]
    pub fn with_observer(
        mut self,
        observer: impl Fn(Step) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Executor {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// The same threads, which ask nobody.
    pub(crate) fn unobserved(&self) -> Executor {
        let mut executor = self.clone();
        executor.observer = None;
        executor
    }

    /// Whether there is somebody to ask.
    pub(crate) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Asks whether a step of `len` bytes goes on, of `total` bytes in all.
    #[inline]
    pub(crate) fn begin(&self, work: Work, len: usize, total: Option<u64>) -> Result<()> {
        match &self.observer {
            None => Ok(()),
            Some(observer) => ask(&**observer, Step { work, len: len as u64, total }),
        }
    }

    /// How many threads may work on a chunk, the calling one included.
    pub fn thread_count(&self) -> usize {
        #[cfg(feature = "threads")]
        if let Some(pool) = &self.pool {
            return pool.helpers().saturating_add(1);
        }
        1
    }

    /// Calls `work(state, index, item)` once for every item, and returns when all calls have returned.
    ///
    /// Each thread that takes part has one of `states` to itself, the calling thread the first; so
    /// `states` bounds the number of threads. Without any state nothing is called.
    pub(crate) fn for_each<S: Send, T: Send>(
        &self,
        states: &mut [S],
        items: &mut [T],
        work: impl Fn(&mut S, usize, &mut T) + Sync,
    ) {
        #[cfg(feature = "threads")]
        if let Some(pool) = &self.pool {
            return pool.for_each(states, items, work);
        }
        match states.first_mut() {
            Some(state) => {
                items.iter_mut().enumerate().for_each(|(index, item)| work(state, index, item));
            }
            None => debug_assert!(items.is_empty(), "nobody works on these items"),
        }
    }
}

#[cold]
#[inline(never)]
fn ask(observer: &Observer, step: Step) -> Result<()> {
    match observer(step) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::new(ErrorKind::Interrupted, "the work was stopped")),
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("threads", &self.thread_count())
            .field("is_observed", &self.is_observed())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(executor: &Executor, states: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..100).collect();
        let mut counts = vec![0; states];
        executor.for_each(&mut counts, &mut items, |count, index, item| {
            *count += 1;
            *item *= index;
        });
        assert_eq!(counts.iter().sum::<usize>(), 100);
        items
    }

    #[test]
    fn every_executor_computes_the_same() {
        let expected: Vec<usize> = (0..100).map(|i| i * i).collect();
        for executor in [Executor::inline(), Executor::threads(0), Executor::threads(3)] {
            for states in [1, 2, 5] {
                assert_eq!(squares(&executor, states), expected, "{executor:?}");
            }
        }
    }

    #[test]
    fn one_thread_is_the_calling_one() {
        assert_eq!(Executor::inline().thread_count(), 1);
        assert_eq!(Executor::default().thread_count(), 1);
        assert_eq!(Executor::threads(1).thread_count(), 1);
        assert!(Executor::threads(0).thread_count() >= 1);
    }

    #[test]
    fn threads_are_counted_with_the_caller() {
        let expected = if cfg!(feature = "threads") { 4 } else { 1 };
        let executor = Executor::threads(4);
        assert_eq!(executor.thread_count(), expected);
        assert_eq!(executor.clone().thread_count(), expected);
        assert_eq!(
            format!("{executor:?}"),
            format!("Executor {{ threads: {expected}, is_observed: false }}")
        );
    }
}
