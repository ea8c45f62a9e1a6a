//! What an input may make the library take.

use std::sync::Arc;

use superchunk::store::{Bytes, ReadAt};
use superchunk::{ErrorKind, Executor, Limits, OpenOptions, Result};
use superchunk_testkit::alloc::peak_of;

/// The most bytes that a chunk or the metadata of a container may decode to.
pub(crate) const LIMIT: usize = 1 << 16;

/// A chunk, the scratch memory of its decoder, metadata as stored and as decoded, and what was read ahead.
const MOST: usize = 20 * LIMIT;

/// The limits of all targets.
pub(crate) fn limits() -> Limits {
    Limits::default().with_max_decoded(LIMIT).with_max_metadata(LIMIT)
}

/// How containers are opened: within the limits, on this thread, whose memory is counted.
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new().with_limits(limits()).with_executor(Executor::inline())
}

/// Runs `work` on an input of `len` bytes and checks how much memory that took.
pub(crate) fn bounded<T>(len: usize, work: impl FnOnce() -> T) -> T {
    let (result, peak) = peak_of(work);
    assert!(peak <= MOST + 8 * len, "{peak} bytes at once for an input of {len}");
    result
}

/// What the library says of an input, which may be any error but a broken rule of its own. Where debug assertions are on, as in
/// `fuzz` and in tests, the library panics already where it finds one.
pub(crate) fn no_bug<T>(said: Result<T>) -> Result<T> {
    said.inspect_err(|error| assert_ne!(error.kind(), ErrorKind::Bug, "{error}"))
}

/// Bytes that are not all at hand at once, as those of a file.
pub(crate) struct Remote(Bytes<Vec<u8>>);

impl Remote {
    pub(crate) fn of(bytes: &[u8]) -> Arc<Self> {
        Arc::new(Self(Bytes::new(bytes.to_vec())))
    }
}

impl ReadAt for Remote {
    fn len(&self) -> Result<u64> {
        self.0.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.0.read_at(position, dst)
    }
}
