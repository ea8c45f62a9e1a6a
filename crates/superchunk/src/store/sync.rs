//! What the threads of one lock file agree by: the standard library, or loom, which tries all orders of events.
//!
//! A test build with `--cfg loom` is for `sidecar/loom_tests.rs` alone. Its threads take turns on one thread of the
//! system, which must not stop to wait for a lock: it asks again, and lets the others work meanwhile.

use std::fs::{File, TryLockError};

#[cfg(not(all(test, loom)))]
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};

#[cfg(all(test, loom))]
pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Waits for the lock of the system.
#[cfg(not(all(test, loom)))]
pub(super) fn wait_shared(file: &File) -> Result<(), TryLockError> {
    file.lock_shared().map_err(TryLockError::Error)
}

/// Waits for the lock of the system, for this handle alone.
#[cfg(not(all(test, loom)))]
pub(super) fn wait_exclusive(file: &File) -> Result<(), TryLockError> {
    file.lock().map_err(TryLockError::Error)
}

#[cfg(all(test, loom))]
pub(super) fn wait_shared(file: &File) -> Result<(), TryLockError> {
    ask_again(|| file.try_lock_shared())
}

#[cfg(all(test, loom))]
pub(super) fn wait_exclusive(file: &File) -> Result<(), TryLockError> {
    ask_again(|| file.try_lock())
}

#[cfg(all(test, loom))]
fn ask_again(ask: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    loop {
        match ask() {
            Err(TryLockError::WouldBlock) => loom::thread::yield_now(),
            answer => return answer,
        }
    }
}
