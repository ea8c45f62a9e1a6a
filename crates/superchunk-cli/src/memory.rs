//! How much memory a command may take, as `--limit-mem` says.

use superchunk::{Error, Limits};

use crate::failure::Outcome;

/// The number of buffers, each as long as a chunk, that a command holds at most on one thread: the
/// chunk as it is stored, decoded, between its filters, and all of that again for what is written.
const BUFFERS: u64 = 8;
/// The number of buffers more whenever there are twice as many threads. They share the blocks of a chunk, so
/// that the `n`th thread never has a block longer than an `n`th of one: `4 (1 + 1/2 + 1/3 + …)` buffers.
const BUFFERS_PER_DOUBLING: u64 = 3;

/// The least limit for each thread: every one has a stack, and the tables of a codec at a high
/// level, for itself.
const BYTES_PER_THREAD: u64 = 64 << 20;

/// The bytes that a value of MessagePack or JSON takes in memory, about.
const VALUE_LEN: u64 = 32;

/// The number of threads for which a limit has room, at most `wanted`; 0 stands for those of the
/// machine.
pub(crate) fn threads_within(limit: Option<u64>, wanted: usize) -> usize {
    let Some(limit) = limit else { return wanted };
    let wanted = match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        wanted => wanted,
    };
    usize::try_from(limit / BYTES_PER_THREAD).unwrap_or(usize::MAX).clamp(1, wanted)
}

/// The most bytes of a buffer; `None` leaves the limits of the library, 2 GiB a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory(Option<u64>);

impl Memory {
    /// At most this many bytes, for this many threads together, of a command that may decode what
    /// it writes.
    pub(crate) fn new(limit: Option<u64>, threads: usize, verifies_writes: bool) -> Self {
        let doublings = u64::from(threads.max(1).next_power_of_two().ilog2());
        // A new chunk is decoded into one more.
        let buffers = BUFFERS + doublings * BUFFERS_PER_DOUBLING + u64::from(verifies_writes);
        Self(limit.map(|limit| limit / buffers))
    }

    /// The same for the library: a chunk, and metadata, fill one buffer each.
    pub(crate) fn limits(self) -> Limits {
        let limits = Limits::default();
        let Some(most) = self.0 else { return limits };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        limits.with_max_decoded(most.min(limits.max_decoded)).with_max_metadata(most)
    }

    /// The bytes to hold at once: this many, or fewer if the limit is lower.
    pub(crate) fn at_most(self, wanted: u64) -> u64 {
        self.0.map_or(wanted, |most| most.min(wanted))
    }

    /// The most bytes of a text that is taken apart: a byte or two become a value of 32 bytes.
    pub(crate) fn text(self) -> usize {
        usize::try_from(self.buffer() / VALUE_LEN).unwrap_or(usize::MAX)
    }

    /// Refuses to take apart texts, or other values, that have `len` bytes together.
    pub(crate) fn check_text(self, name: &str, len: u64) -> Outcome {
        self.check(name, len.saturating_mul(VALUE_LEN))
    }

    /// Refuses to hold `len` bytes of something at once if that is beyond the limit.
    pub(crate) fn check(self, name: &str, len: u64) -> Outcome {
        let most = self.buffer();
        if len <= most {
            return Ok(());
        }
        let words = format!("{len} bytes must be held at once, the limit is {most}");
        Err(Error::limit(words).within(name).into())
    }

    fn buffer(self) -> u64 {
        self.0.unwrap_or(Limits::default().max_decoded as u64)
    }
}

/// A length that must fit the memory.
pub(crate) fn to_usize(len: u64) -> Outcome<usize> {
    usize::try_from(len).map_err(|_| Error::limit("more bytes than the memory has").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_leave_less_for_a_chunk() {
        let chunk = |threads| Memory::new(Some(64 << 20), threads, false).limits().max_decoded;
        assert_eq!(
            [1, 2, 3, 4].map(chunk),
            [8 << 20, (64 << 20) / 11, (64 << 20) / 14, (64 << 20) / 14]
        );
        assert!(chunk(64) > 2 << 20);
        assert_eq!(
            [1, 2, 4, 64].map(|wanted| threads_within(Some(128 << 20), wanted)),
            [1, 2, 2, 2]
        );
        assert_eq!(threads_within(Some(1 << 10), 4), 1);
        assert_eq!([0, 7].map(|wanted| threads_within(None, wanted)), [0, 7]);
        assert_eq!(Memory::new(None, 4, true).limits(), Limits::default());
    }
}
