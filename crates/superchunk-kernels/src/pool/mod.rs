//! A small persistent thread pool for the blocks of a chunk.
//!
//! [`Pool::for_each`] runs one closure over a slice of items. The calling thread works too; helper
//! threads are extra hands that may or may not turn up in time:
//!
//! ```text
//! caller   claim free helpers ─ offer the job ─ work items 0, 2, 5 … ─ withdraw ─ wait for the joined
//! helper             … asleep ─────── join ─ work items 1, 3, 4 … ─ done ─ spin a little ─ asleep
//! ```
//!
//! - Items are claimed in order from one atomic counter, so a slow item delays nobody.
//! - The caller waits for helpers that joined, never for one that is still waking up: a late helper
//!   finds the offer withdrawn and goes back to sleep. A helper that gets no processor time therefore
//!   costs the caller nothing but the call that wakes it.
//! - Sleepers are woken one at a time, by every thread that starts an item while others are left: a
//!   short job wakes few of them, a very short one none, a long one all of them in a doubling chain.
//! - A thread that waits spins for some microseconds before it sleeps, because going to sleep and
//!   waking up costs more than the gap between two chunks of a loop.
//! - Each helper serves one job at a time. Several threads may call at once and share the helpers that
//!   are free. A call from inside `work` is such a call too: it cannot deadlock, because helpers only
//!   join from outside any job, so who waits for whom is always a tree.
//!
//! # Fork
//!
//! After `fork()` a child has the memory of the pool but none of its threads. The pool keeps its
//! threads in a `Crew` marked with the process that hired it. A child sees a foreign mark, leaves the
//! inherited crew untouched (and unfreed) and hires its own. No lock is taken on the way, so it does
//! not matter what the parent's threads were doing. Only a child forked from inside `work` must not
//! return from that closure: the helpers of that very call are gone.

mod bell;
mod claims;
mod crew;
#[cfg(test)]
#[cfg(loom)]
mod loom_tests;
mod spin;
mod sync;
#[cfg(test)]
#[cfg(not(loom))]
mod tests;

use core::any::Any;
use core::fmt;
use core::ptr;
use core::sync::atomic::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use bell::Bell;
use claims::Claims;
use crew::{Crew, Job, Offer, Seat};
use sync::{AtomicPtr, Instant, Mutex};

/// A set of helper threads that share block work with the calling thread.
///
/// ```
/// use superchunk_kernels::pool::Pool;
///
/// let pool = Pool::new(3);
/// let mut squares = [1, 2, 3, 4];
/// pool.for_each(&mut [(); 4], &mut squares, |_scratch, _index, item| *item *= *item);
/// assert_eq!(squares, [1, 4, 9, 16]);
/// ```
pub struct Pool {
    helpers: usize,
    /// From `Box::into_raw`; null until the first parallel call.
    crew: AtomicPtr<Crew>,
}

impl Pool {
    /// A pool of up to `helpers` threads beside the caller.
    ///
    /// A thread is spawned when a call first has work for it. If the system refuses, the pool goes on
    /// without that thread; callers can always do all the work alone.
    #[cfg(not(all(test, loom)))]
    pub const fn new(helpers: usize) -> Pool {
        Pool { helpers, crew: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The same; loom's atomics cannot be made at compile time.
    #[cfg(all(test, loom))]
    pub fn new(helpers: usize) -> Pool {
        Pool { helpers, crew: AtomicPtr::new(ptr::null_mut()) }
    }

    /// How many threads may help a caller.
    pub const fn helpers(&self) -> usize {
        self.helpers
    }

    /// Calls `work(state, index, item)` once for every item and returns when all calls have returned.
    ///
    /// Each thread that takes part has one of `states` to itself, the caller the first; so at most
    /// `states.len()` threads take part. Without any state nothing is called.
    ///
    /// If `work` panics, no further items are started and the first panic goes on in the caller, once
    /// every thread has left the job. The pool stays usable.
    pub fn for_each<S, T, F>(&self, states: &mut [S], items: &mut [T], work: F)
    where
        S: Send,
        T: Send,
        F: Fn(&mut S, usize, &mut T) + Sync,
    {
        let useful = states.len().min(items.len()).saturating_sub(1).min(self.helpers);
        if useful > 0 {
            let crew = self.crew();
            let seats = crew.claim(useful);
            if !seats.is_empty() {
                return share(crew, &seats, states, items, &work);
            }
        }
        if let Some(state) = states.first_mut() {
            items.iter_mut().enumerate().for_each(|(index, item)| work(state, index, item));
        }
    }

    /// The crew of this process; hires a new one on first use and after a fork.
    fn crew(&self) -> &Crew {
        let present = self.crew.load(Ordering::Acquire);
        // SAFETY: a non-null pointer came from `Box::into_raw` below and is freed only by `drop`,
        // which has the pool to itself; a crew replaced after a fork is never freed.
        if let Some(crew) = unsafe { present.as_ref() }
            && crew.is_ours()
        {
            return crew;
        }
        let fresh = Box::into_raw(Box::new(Crew::new(self.helpers)));
        match self.crew.compare_exchange(present, fresh, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: `fresh` is a live box, now owned by `self.crew` as above.
            Ok(_) => unsafe { &*fresh },
            Err(other) => {
                // SAFETY: `fresh` was not published, so this is its only owner.
                drop(unsafe { Box::from_raw(fresh) });
                // SAFETY: another thread of this process published `other` the same way; it is not
                // null, because only `drop` could make it so.
                unsafe { &*other }
            }
        }
    }
}

impl Drop for Pool {
    /// Ends the helpers and waits for them, in the process that started them.
    fn drop(&mut self) {
        // Relaxed: who has the pool to itself has seen all that happened to it.
        let crew = self.crew.load(Ordering::Relaxed);
        // SAFETY: as in `crew`; `&mut self` proves that no call is under way.
        if unsafe { crew.as_ref() }.is_some_and(Crew::is_ours) {
            // SAFETY: the pointer came from `Box::into_raw` and is not used again.
            drop(unsafe { Box::from_raw(crew) });
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("helpers", &self.helpers).finish_non_exhaustive()
    }
}

/// Does the work together with those of `seats`, just claimed, who come in time.
fn share<S: Send, T: Send>(
    crew: &Crew,
    seats: &[&Seat],
    states: &mut [S],
    items: &mut [T],
    work: &(impl Fn(&mut S, usize, &mut T) + Sync),
) {
    let start = Instant::now();
    let bell = Bell::new(seats, crew.pace(), items.len(), start);
    let (states, items) = (Claims::new(states), Claims::new(items));
    let Some((_, own_state)) = states.claim() else { return };
    let failure = Failure::default();
    let take_part = |state: &mut S| {
        let mut done = 0;
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            while let Some((index, item)) = items.claim() {
                if !items.is_exhausted() {
                    bell.ring();
                }
                work(state, index, item);
                done += 1;
            }
        }));
        if let Err(payload) = attempt {
            items.exhaust();
            failure.keep(payload);
        }
        done
    };
    let help = || {
        if let Some((_, state)) = states.claim() {
            take_part(state);
        }
    };
    let job = Job::new(&help);
    let offer = Offer::publish(&job, seats);
    let done = take_part(own_state);
    crew.pace().note(start, Instant::now(), done);
    drop(offer);
    failure.rethrow();
}

/// The first panic of a job.
#[derive(Default)]
struct Failure(Mutex<Option<Box<dyn Any + Send>>>);

impl Failure {
    fn keep(&self, payload: Box<dyn Any + Send>) {
        let mut first = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match *first {
            None => *first = Some(payload),
            // Dropping a payload may panic again, here outside of any `catch_unwind`.
            Some(_) => core::mem::forget(payload),
        }
    }

    fn rethrow(self) {
        if let Some(payload) = self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
        {
            resume_unwind(payload);
        }
    }
}
