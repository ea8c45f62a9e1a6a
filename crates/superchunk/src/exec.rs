//! Who does the block work: the calling thread alone, or with the help of a pool.

use std::fmt;
#[cfg(feature = "threads")]
use std::sync::Arc;

#[cfg(feature = "threads")]
use superchunk_kernels::pool::Pool;

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
            return Executor { pool };
        }
        let _ = threads;
        Executor::inline()
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

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("threads", &self.thread_count()).finish()
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
        assert_eq!(format!("{executor:?}"), format!("Executor {{ threads: {expected} }}"));
    }
}
