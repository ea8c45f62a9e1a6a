//! The lock file under every order of events that a few preemptions can bring about.
//!
//! Files and their locks are real; loom decides who goes on whenever a thread touches what the threads share. Handles
//! stand for processes: they have nothing in common but the file.

use std::sync::atomic::{AtomicU64, Ordering};

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use super::super::file::scratch::Scratch;
use super::*;

/// What the lock protects. Not loom's: it cannot know that a lock of the system orders the threads.
#[derive(Default)]
struct Protected {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Protected {
    /// A change that others would see half done.
    fn change(&self, guard: &Guard) {
        let before = self.begun.fetch_add(1, Ordering::Relaxed);
        assert_eq!(guard.generation(), before, "a change was not counted");
        thread::yield_now();
        let done = self.done.fetch_add(1, Ordering::Relaxed);
        assert_eq!(done, before, "two writers at once");
    }

    /// What a reader sees: nothing half done, and nothing that the generation does not tell.
    fn look(&self, guard: &Guard) -> u64 {
        let done = self.done.load(Ordering::Relaxed);
        assert_eq!(done, self.begun.load(Ordering::Relaxed), "half of a change");
        thread::yield_now();
        assert_eq!(done, self.begun.load(Ordering::Relaxed), "changed while it was read");
        assert_eq!(guard.generation(), done, "the generation tells of all changes");
        done
    }
}

fn explore(preemptions: usize, model: impl Fn(&Scratch, Arc<Protected>) + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let scratch = Scratch::new();
        model(&scratch, Arc::new(Protected::default()));
    });
}

fn handle(scratch: &Scratch) -> Sidecar {
    Sidecar::for_file(&scratch.path("x"))
}

fn write(sidecar: &Sidecar, protected: &Protected) {
    protected.change(&sidecar.exclusive().unwrap());
}

fn read_twice(sidecar: &Sidecar, protected: &Protected) {
    let first = protected.look(&sidecar.shared().unwrap());
    let second = protected.look(&sidecar.shared().unwrap());
    assert!(second >= first, "the generation went back");
}

#[test]
fn two_processes_write_while_a_third_reads() {
    explore(2, |scratch, protected| {
        let work = [true, false].map(|writes| {
            let (sidecar, protected) = (handle(scratch), Arc::clone(&protected));
            thread::spawn(move || match writes {
                true => write(&sidecar, &protected),
                false => read_twice(&sidecar, &protected),
            })
        });
        write(&handle(scratch), &protected);
        for thread in work {
            thread.join().unwrap();
        }
        assert_eq!(handle(scratch).shared().unwrap().generation(), 2);
    });
}

#[test]
fn threads_of_one_handle_read_and_write() {
    explore(1, |scratch, protected| {
        let sidecar = handle(scratch);
        let work = [true, false].map(|writes| {
            let (sidecar, protected) = (sidecar.clone(), Arc::clone(&protected));
            thread::spawn(move || match writes {
                true => write(&sidecar, &protected),
                false => read_twice(&sidecar, &protected),
            })
        });
        read_twice(&sidecar, &protected);
        for thread in work {
            thread.join().unwrap();
        }
        assert_eq!(handle(scratch).shared().unwrap().generation(), 1);
    });
}

#[test]
fn who_does_not_wait_is_refused_or_alone() {
    explore(2, |scratch, protected| {
        let (ours, theirs) = (handle(scratch), handle(scratch));
        let other = {
            let protected = Arc::clone(&protected);
            thread::spawn(move || match theirs.try_exclusive() {
                Ok(guard) => protected.change(&guard),
                Err(error) => assert_eq!(error.kind(), crate::error::ErrorKind::Locked),
            })
        };
        if let Ok(guard) = ours.try_shared() {
            protected.look(&guard);
        }
        write(&ours, &protected);
        other.join().unwrap();
    });
}
