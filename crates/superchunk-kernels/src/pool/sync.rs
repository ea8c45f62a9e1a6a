//! What the pool coordinates its threads with: the standard library, or loom, which tries all orders of events.
//!
//! A test build with `--cfg loom` is for `loom_tests.rs` alone. Time does not pass in it as in the world: waiting awake ends
//! at once, and every job is taken for a long one, so that helpers are woken.

#[cfg(not(all(test, loom)))]
pub(super) use std::{
    sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

#[cfg(all(test, loom))]
pub(super) use self::clock::Instant;
#[cfg(all(test, loom))]
pub(super) use loom::{
    sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize},
    sync::{Arc, Mutex},
    thread,
};

#[cfg(all(test, loom))]
mod clock {
    use core::ops::Add;
    use core::time::Duration;

    /// A moment, a second away from every other one.
    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    pub(in super::super) struct Instant;

    impl Instant {
        pub(in super::super) fn now() -> Instant {
            Instant
        }

        pub(in super::super) fn elapsed(self) -> Duration {
            self.saturating_duration_since(self)
        }

        pub(in super::super) fn saturating_duration_since(self, _: Instant) -> Duration {
            Duration::from_secs(1)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Instant;

        fn add(self, _: Duration) -> Instant {
            Instant
        }
    }
}
