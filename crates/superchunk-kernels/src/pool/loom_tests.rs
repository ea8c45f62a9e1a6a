//! The pool under every order of events that up to three preemptions can bring about.
//!
//! Items and what the work looks at are loom's cells: two threads that touch one without order between them fail.

use core::panic::AssertUnwindSafe;
use std::panic::{catch_unwind, resume_unwind};

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use super::Pool;

/// Tries all orders with so many preemptions.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A number that loom watches.
struct Watched(UnsafeCell<u32>);

// SAFETY: loom fails the test when two threads use the cell at once.
unsafe impl Sync for Watched {}

impl Watched {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn get(&self) -> u32 {
        // SAFETY: loom tells when somebody writes at the same time.
        self.0.with(|number| unsafe { *number })
    }

    fn add(&self, more: u32) {
        // SAFETY: loom tells when somebody else is here at the same time.
        self.0.with_mut(|number| unsafe { *number += more });
    }
}

/// One call: every item is worked on once, all of it is seen afterwards, and nobody is still at it.
fn check(pool: &Pool, items: usize) {
    let job = Watched::new();
    let mut items: Vec<Watched> = (0..items).map(|_| Watched::new()).collect();
    let mut states = [Watched::new(), Watched::new()];
    pool.for_each(&mut states, &mut items, |state, _, item| {
        item.add(1 + job.get());
        state.add(1);
    });
    // A helper that still reads the job now is caught here.
    job.add(1);
    assert!(items.iter().all(|item| item.get() == 1));
    assert_eq!(states.iter().map(Watched::get).sum::<u32>() as usize, items.len());
}

#[test]
fn every_item_is_worked_on_once_and_seen() {
    explore(3, || {
        let pool = Pool::new(1);
        check(&pool, 2);
    });
}

#[test]
fn a_helper_serves_one_job_after_the_other() {
    explore(2, || {
        let pool = Pool::new(1);
        check(&pool, 2);
        check(&pool, 2);
    });
}

#[test]
fn callers_share_a_helper_and_the_first_hires_it() {
    explore(2, || {
        let pool = Arc::new(Pool::new(1));
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || check(&pool, 2))
        };
        check(&pool, 2);
        other.join().unwrap();
    });
}

#[test]
fn two_helpers_wake_each_other() {
    explore(2, || {
        let pool = Pool::new(2);
        let mut items: Vec<Watched> = (0..3).map(|_| Watched::new()).collect();
        pool.for_each(&mut [(); 3], &mut items, |(), _, item| item.add(1));
        assert!(items.iter().all(|item| item.get() == 1));
    });
}

#[test]
fn work_may_call_the_pool() {
    explore(1, || {
        let pool = Pool::new(1);
        pool.for_each(&mut [(); 2], &mut [(); 2], |(), _, ()| check(&pool, 2));
    });
}

#[test]
fn a_panic_reaches_the_caller_when_all_have_left() {
    explore(2, || {
        let pool = Pool::new(1);
        let job = Watched::new();
        let work = || {
            pool.for_each(&mut [(); 2], &mut [(); 2], |(), _, ()| {
                let _ = job.get();
                resume_unwind(Box::new("stop"));
            });
        };
        assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
        job.add(1);
        check(&pool, 2);
    });
}
