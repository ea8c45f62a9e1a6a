//! The helper threads of one process and how a job passes to them.
//!
//! A helper has a [`Slot`], which it shares with whoever wants its help. All coordination is the
//! slot's state:
//!
//! ```text
//!            claim            publish           join               leave
//!    IDLE ──────────▶ CLAIMED ──────▶ OFFERED ──────▶ JOINED ──────────────▶ DONE ─┐ collect
//!     ▲  ▲               ▲               │               │ owner goes to sleep ▲    │
//!     │  └──────────────────── withdraw ─┘               └──────▶ AWAITED ────┘    │
//!     └────────────────────────────────────────────────────────────────────────────┘
//!   VACANT ── claim spawns the thread ─▶ CLAIMED, or LOST if the system refuses;  IDLE ─▶ RETIRED
//! ```
//!
//! From `CLAIMED` until it is `IDLE` again a slot belongs to one calling thread, its owner. Only the
//! helper leaves `OFFERED` by `JOINED`, and only it makes `DONE`; all other steps are the owner's.
//!
//! The job lives on the owner's stack. A helper may look at it from `JOINED` to `DONE` and at no other
//! time, and the owner does not let go of the job before each slot is withdrawn or `DONE`.

use core::ptr;
use core::sync::atomic::Ordering;
use std::process;
use std::sync::OnceLock;

use super::bell::Pace;
use super::spin::{PATIENCE, PATIENCE_WITH_LAST, Spin};
use super::sync::thread::{self, JoinHandle, Thread};
use super::sync::{Arc, AtomicPtr, AtomicU32};

/// The helpers of one process.
pub(super) struct Crew {
    process: u32,
    seats: Box<[Seat]>,
    pace: Pace,
}

impl Crew {
    pub(super) fn new(helpers: usize) -> Crew {
        let seats = (0..helpers).map(|_| Seat::new()).collect();
        Crew { process: this_process(), seats, pace: Pace::new() }
    }

    /// Whether this process hired the crew. The threads of an inherited crew do not exist here.
    pub(super) fn is_ours(&self) -> bool {
        self.process == this_process()
    }

    pub(super) fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Up to `wanted` helpers that are free, now `CLAIMED`.
    pub(super) fn claim(&self, wanted: usize) -> Vec<&Seat> {
        let mut claimed = Vec::with_capacity(wanted);
        for seat in &self.seats {
            if claimed.len() == wanted {
                break;
            }
            if seat.claim() {
                claimed.push(seat);
            }
        }
        claimed
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for seat in &self.seats {
            seat.slot.state.store(RETIRED, Ordering::Relaxed);
            seat.wake();
        }
        for seat in &mut self.seats {
            if let Some(thread) = seat.thread.take() {
                // A helper catches the panics of its work, and there is nobody to tell of another.
                let _ = thread.join();
            }
        }
    }
}

/// A helper as its callers see it.
pub(super) struct Seat {
    slot: Arc<Slot>,
    thread: OnceLock<JoinHandle<()>>,
}

impl Seat {
    fn new() -> Seat {
        let slot = Slot { state: AtomicU32::new(VACANT), job: AtomicPtr::new(ptr::null_mut()) };
        Seat { slot: Arc::new(slot), thread: OnceLock::new() }
    }

    fn claim(&self) -> bool {
        // Relaxed look: only the exchange decides.
        match self.slot.state.load(Ordering::Relaxed) {
            IDLE => self.slot.pass(IDLE, CLAIMED),
            VACANT => self.slot.pass(VACANT, CLAIMED) && self.hire(),
            _ => false,
        }
    }

    /// Starts the thread of a seat that was `VACANT`.
    fn hire(&self) -> bool {
        let slot = Arc::clone(&self.slot);
        let spawned = thread::Builder::new()
            .name("superchunk".into())
            // Given, so that the standard library need not look into the environment, whose lock
            // another thread may have held when this process was forked.
            .stack_size(STACK_SIZE)
            .spawn(move || slot.serve());
        match spawned {
            Ok(thread) => self.thread.set(thread).is_ok(),
            Err(_) => {
                self.slot.state.store(LOST, Ordering::Relaxed);
                false
            }
        }
    }

    /// Whether this helper has been offered a job that it has not joined.
    pub(super) fn is_expected(&self) -> bool {
        self.slot.state.load(Ordering::Relaxed) == OFFERED
    }

    /// Ends the helper's sleep, or its next one.
    pub(super) fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.thread().unpark();
        }
    }
}

/// What a helper is asked to do.
pub(super) struct Job<'a> {
    run: &'a (dyn Fn() + Sync),
    owner: Thread,
}

impl<'a> Job<'a> {
    /// A job of the current thread. `run` must not panic.
    pub(super) fn new(run: &'a (dyn Fn() + Sync)) -> Job<'a> {
        Job { run, owner: thread::current() }
    }
}

/// A published job. Dropping it takes the job back from the helpers that have not joined and waits
/// for those that have.
pub(super) struct Offer<'a> {
    seats: &'a [&'a Seat],
}

impl<'a> Offer<'a> {
    /// Offers `job` to `seats`, which the current thread has claimed. Nobody is woken.
    pub(super) fn publish(job: &'a Job<'a>, seats: &'a [&'a Seat]) -> Offer<'a> {
        let job = ptr::from_ref(job).cast::<Job<'static>>().cast_mut();
        for seat in seats {
            seat.slot.job.store(job, Ordering::Relaxed);
            // Release: who sees the offer sees the job.
            seat.slot.state.store(OFFERED, Ordering::Release);
        }
        Offer { seats }
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        // All late ones first: other callers can use them while this one waits.
        let joined: Vec<_> =
            self.seats.iter().filter(|seat| !seat.slot.pass(OFFERED, IDLE)).collect();
        for seat in joined {
            seat.slot.collect();
        }
    }
}

/// Where a helper and its owner of the moment meet. Alone on its cache lines, as helpers spin on it.
#[repr(align(128))]
struct Slot {
    state: AtomicU32,
    /// Valid from `OFFERED` until withdrawn or `DONE`.
    job: AtomicPtr<Job<'static>>,
}

const VACANT: u32 = 0;
const IDLE: u32 = 1;
const CLAIMED: u32 = 2;
const OFFERED: u32 = 3;
const JOINED: u32 = 4;
const AWAITED: u32 = 5;
const DONE: u32 = 6;
const LOST: u32 = 7;
const RETIRED: u32 = 8;

/// What the standard library gives a thread by default.
const STACK_SIZE: usize = 2 << 20;

impl Slot {
    /// Takes the slot from state `from` to state `to`, if it is in `from`.
    fn pass(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The life of a helper.
    fn serve(&self) {
        let mut spin = Spin::new(PATIENCE);
        loop {
            match self.state.load(Ordering::Relaxed) {
                RETIRED => return,
                OFFERED => {
                    if self.pass(OFFERED, JOINED) {
                        self.help();
                        spin = Spin::new(PATIENCE);
                    }
                }
                _ => {
                    if !spin.turn() {
                        thread::park();
                    }
                }
            }
        }
    }

    /// Works on the job that was just joined.
    fn help(&self) {
        // SAFETY: this helper has just made the state `JOINED`. `publish` stored the pointer before
        // `OFFERED`, and the `Offer`, which borrows the job and what it refers to, is not dropped
        // before `collect` has seen `DONE`, stored below after the last use of `job`.
        let job = unsafe { &*self.job.load(Ordering::Relaxed) };
        let owner = job.owner.clone();
        (job.run)();
        // Release: the owner that sees `DONE` sees what was done.
        if self.state.swap(DONE, Ordering::AcqRel) == AWAITED {
            owner.unpark();
        }
    }

    /// The owner's wait for a helper that has joined; the slot is then free for all.
    fn collect(&self) {
        let mut spin = Spin::new(PATIENCE_WITH_LAST);
        while self.state.load(Ordering::Acquire) != DONE {
            if spin.turn() {
                continue;
            }
            // A failed step says that the helper got done, or that this is a second sleep.
            if self.pass(JOINED, AWAITED) || self.state.load(Ordering::Relaxed) == AWAITED {
                thread::park();
            }
        }
        self.state.store(IDLE, Ordering::Release);
    }
}

/// Tells processes apart that share the memory of a pool. WebAssembly has neither ids nor `fork`.
fn this_process() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { process::id() }
}
