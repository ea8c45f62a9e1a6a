//! What a caller of the pool may rely on, with as many threads as it takes.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Barrier;
use std::thread::{self, ThreadId};
use std::time::Instant;

use super::Pool;

/// Runs a job of `items` items on `states` states and checks that each item was visited once, with
/// its own index, and that no two threads had a state at a time.
fn check(pool: &Pool, states: usize, items: usize) {
    let busy: Vec<AtomicBool> = (0..states).map(|_| AtomicBool::new(false)).collect();
    let mut states: Vec<(usize, usize)> = (0..states).map(|state| (state, 0)).collect();
    let mut visits: Vec<Vec<usize>> = vec![Vec::new(); items];
    pool.for_each(&mut states, &mut visits, |(state, count), index, visit| {
        assert!(!busy[*state].swap(true, Ordering::SeqCst), "state {state} is in use twice");
        *count += 1;
        visit.push(index);
        busy[*state].store(false, Ordering::SeqCst);
    });
    let each_once: Vec<Vec<usize>> = (0..items).map(|index| vec![index]).collect();
    assert_eq!(visits, each_once);
    assert_eq!(states.iter().map(|(_, count)| count).sum::<usize>(), items);
}

/// Lets the pool expect a long job, so that it wakes helpers at once. Work that waits for other items
/// of its job, as in some tests here, has no right to that otherwise.
fn expect_long(pool: &Pool) {
    let now = Instant::now();
    pool.crew().pace().note(now, now + Duration::from_secs(1), 1);
}

/// A job during which `threads` threads must be at work at the same time, or it never ends.
fn meet(pool: &Pool, threads: usize) -> HashSet<ThreadId> {
    expect_long(pool);
    let barrier = Barrier::new(threads);
    let mut seen: Vec<Option<ThreadId>> = vec![None; threads];
    pool.for_each(&mut vec![(); threads], &mut seen, |(), _, seen| {
        *seen = Some(thread::current().id());
        barrier.wait();
    });
    seen.into_iter().flatten().collect()
}

#[test]
fn every_item_is_visited_once() {
    for helpers in [0, 1, 2, 7] {
        let pool = Pool::new(helpers);
        for states in [1, 2, 3, 8, 20] {
            for items in [0, 1, 2, 3, 8, 100, 1000] {
                check(&pool, states, items);
            }
        }
    }
}

#[test]
fn without_states_or_items_nothing_is_called() {
    let pool = Pool::new(2);
    let mut items = [0_u8; 5];
    pool.for_each(&mut [] as &mut [u8], &mut items, |_, _, item| *item = 1);
    assert_eq!(items, [0; 5]);
    pool.for_each(&mut [0; 3], &mut [] as &mut [u8], |_, _, _| panic!("there is no item"));
}

#[test]
fn helpers_take_part_and_stay() {
    let pool = Pool::new(3);
    assert_eq!(pool.helpers(), 3);
    let first = meet(&pool, 4);
    assert_eq!(first.len(), 4);
    assert!(first.contains(&thread::current().id()));
    for _ in 0..100 {
        assert_eq!(meet(&pool, 4), first);
    }
}

#[test]
fn the_caller_has_the_first_state_and_alone_does_what_needs_no_help() {
    let here = thread::current().id();
    let pool = Pool::new(3);
    for (states, items) in [(1, 50), (4, 1)] {
        let mut states: Vec<usize> = (0..states).collect();
        pool.for_each(&mut states, &mut vec![(); items], |state, _, ()| {
            assert_eq!((thread::current().id(), *state), (here, 0));
        });
    }
    let barrier = Barrier::new(4);
    pool.for_each(&mut [0, 1, 2, 3], &mut [(); 4], |state, _, ()| {
        assert_eq!(*state == 0, thread::current().id() == here);
        barrier.wait();
    });
}

#[test]
fn a_caller_does_not_wait_for_helpers_that_serve_another() {
    let pool = Pool::new(1);
    let (held, released) = (Barrier::new(3), Barrier::new(3));
    thread::scope(|scope| {
        scope.spawn(|| {
            pool.for_each(&mut [(); 2], &mut [(); 2], |(), _, ()| {
                held.wait();
                released.wait();
            });
        });
        held.wait();
        check(&pool, 4, 100);
        released.wait();
    });
}

#[test]
fn a_panic_in_any_thread_reaches_the_caller_and_the_pool_survives() {
    let pool = Pool::new(3);
    let here = thread::current().id();
    for in_caller in [true, false] {
        for round in 0..50_u32 {
            expect_long(&pool);
            let barrier = Barrier::new(4);
            let job = || {
                pool.for_each(&mut [(); 4], &mut [(); 4], |(), _, ()| {
                    barrier.wait();
                    if (thread::current().id() == here) == in_caller {
                        panic_any(round);
                    }
                });
            };
            let payload = catch_unwind(AssertUnwindSafe(job)).unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&round));
            check(&pool, 4, 20);
        }
    }
    assert_eq!(meet(&pool, 4).len(), 4);
}

#[test]
fn a_panic_stops_further_items() {
    let pool = Pool::new(1);
    let barrier = Barrier::new(2);
    let started = AtomicUsize::new(0);
    let job = || {
        pool.for_each(&mut [(); 2], &mut [(); 1000], |(), _, ()| {
            // Both threads are in their first item when both panic.
            started.fetch_add(1, Ordering::Relaxed);
            barrier.wait();
            panic_any("stop");
        });
    };
    assert!(catch_unwind(AssertUnwindSafe(job)).is_err());
    assert_eq!(started.into_inner(), 2);
}

#[test]
fn callers_share_the_helpers() {
    let pool = Pool::new(2);
    thread::scope(|scope| {
        for caller in 0..6 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..300 {
                    check(pool, 1 + caller % 4, round % 40);
                }
            });
        }
    });
    assert_eq!(meet(&pool, 3).len(), 3);
}

#[test]
fn work_may_call_the_pool() {
    let pool = Pool::new(3);
    for _ in 0..50 {
        pool.for_each(&mut [(); 4], &mut [(); 10], |(), _, ()| {
            check(&pool, 4, 10);
            pool.for_each(&mut [(); 3], &mut [(); 3], |(), _, ()| check(&pool, 2, 5));
        });
    }
}

#[test]
fn dropping_the_pool_ends_its_threads() {
    // The helpers' thread-local values are destroyed when they end.
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    static ENDED: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static MARK: Counted<'static> = const { Counted(&ENDED) });
    let here = thread::current().id();
    let pool = Pool::new(3);
    let barrier = Barrier::new(4);
    pool.for_each(&mut [(); 4], &mut [(); 4], |(), _, ()| {
        if thread::current().id() != here {
            MARK.with(|_| ());
        }
        barrier.wait();
    });
    assert_eq!(ENDED.load(Ordering::SeqCst), 0);
    drop(pool);
    assert_eq!(ENDED.load(Ordering::SeqCst), 3);
    drop(Pool::new(5));
}
