//! Things that any thread may use next: memory for decoding, blocks that were decoded.
//!
//! They stand behind a mutex that is never waited for. In a forked child a mutex stays locked for
//! ever if another thread of the parent held it at that moment; and what it guards here can always
//! be made anew.

use std::hint::spin_loop;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// How often a lock is tried: another thread holds it only to put something in or to take it out.
const ATTEMPTS: usize = 64;

/// Things to be used by one thread at a time, and kept for the next one.
pub(crate) struct Spare<T>(Mutex<Vec<T>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Spare<T> {
    /// One that was kept, or a new one.
    pub(crate) fn take(&self, new: impl FnOnce() -> T) -> T {
        attempt(&self.0).and_then(|mut kept| kept.pop()).unwrap_or_else(new)
    }

    /// Keeps one for the next use.
    pub(crate) fn keep(&self, item: T) {
        if let Some(mut kept) = attempt(&self.0) {
            kept.push(item);
        }
    }
}

/// The lock of a mutex, unless it stays taken by a thread that may not exist in this process.
pub(crate) fn attempt<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..ATTEMPTS {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => spin_loop(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_given_out_once() {
        let spare = Spare::default();
        spare.keep(7);
        assert_eq!([spare.take(|| 1), spare.take(|| 2)], [7, 2]);
    }

    #[test]
    fn a_lock_that_nobody_will_release_is_not_waited_for() {
        let spare = Spare::default();
        spare.keep(7);
        let held = spare.0.lock().unwrap();
        assert_eq!(spare.take(|| 1), 1);
        spare.keep(8);
        drop(held);
        assert_eq!([spare.take(|| 1), spare.take(|| 2)], [7, 2]);
    }
}
