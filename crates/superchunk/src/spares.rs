//! Scratch memory that is kept for the next one who needs some.

use std::fmt;
use std::sync::{Mutex, TryLockError};

/// Values that are not at work: at most one for each thread that was ever at work at the same time.
///
/// Nobody ever waits for another thread, which in a child of `fork` would not be there any more.
pub(crate) struct Spares<T>(Mutex<Vec<T>>);

impl<T> Spares<T> {
    /// Lends a kept value to `work`, or else a new one, and keeps it afterwards.
    pub(crate) fn lend<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let mut value = self.kept(Vec::pop).flatten().unwrap_or_else(new);
        let result = work(&mut value);
        self.kept(|kept| kept.push(value));
        result
    }

    /// Calls `access`, unless another thread is just taking or giving back.
    fn kept<R>(&self, access: impl FnOnce(&mut Vec<T>) -> R) -> Option<R> {
        let mut kept = match self.0.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(access(&mut kept))
    }
}

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for Spares<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spares").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lent_is_lent_again() {
        let spares = Spares::default();
        spares.lend(|| 1, |value| *value = 7);
        assert_eq!(spares.lend(|| 1, |value| *value), 7);
        // Both at work at the same time.
        let inner = spares.lend(|| 1, |_| spares.lend(|| 2, |value| *value));
        assert_eq!(inner, 2);
    }

    #[test]
    fn nobody_waits_for_a_lock_that_is_never_given_back() {
        let spares = Spares::default();
        spares.lend(|| 1, |_| {});
        let _held = spares.0.lock();
        assert_eq!(spares.lend(|| 2, |value| *value), 2);
    }
}
