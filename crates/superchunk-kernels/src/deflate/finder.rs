//! Remembers where strings were seen, and measures how long two agree.
//!
//! Positions count on from stream to stream, with a gap of a window between two, so that what a
//! stream left behind is out of reach for the next and needs no clearing.

use alloc::boxed::Box;
use alloc::vec;

use crate::deflate::ways::{Bucket, LONG_BITS, WAYS_BITS};

/// Bytes that must follow a position that is looked up.
pub(super) const MARGIN: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Finder {
    /// The last positions of each hash.
    pub(super) ways: Box<[Bucket; 1 << WAYS_BITS]>,
    /// The last position of each hash of 16 bytes.
    pub(super) long: Box<[u32; 1 << LONG_BITS]>,
    /// The number of the first position of the stream.
    pub(super) base: u32,
    /// Literals since the last match, at the end of a segment.
    pub(super) calm: usize,
    /// How many bytes are hashed; 0 as long as nobody decided.
    pub(super) key: u32,
    /// The distance of the last match, or 1.
    pub(super) last_distance: usize,
    /// The number of the stream.
    pub(super) stream: u32,
    /// `base` of the next stream.
    next_base: u32,
}

/// The longest distance as a part of a number.
const WINDOW: u32 = 32_768;

/// The longest stream whose positions can be numbered.
pub(super) const MAX_STREAM: usize = 1 << 30;

impl Finder {
    pub(super) fn new() -> Self {
        // Zero is out of the reach of the first position, too.
        let first = WINDOW + 1;
        Finder {
            ways: zeroed(),
            long: zeroed(),
            base: first,
            calm: 0,
            key: 0,
            last_distance: 1,
            stream: 0,
            next_base: first,
        }
    }

    /// Forgets everything; a stream of `len` bytes, at most [`MAX_STREAM`], follows.
    #[expect(clippy::cast_possible_truncation, reason = "at most 1 << 30")]
    pub(super) fn begin(&mut self, len: usize) {
        let numbers = len.min(MAX_STREAM) as u32 + WINDOW + 1;
        if self.next_base.checked_add(numbers).is_none() {
            self.long.fill(0);
            self.next_base = WINDOW + 1;
        }
        self.calm = 0;
        self.key = 0;
        self.last_distance = 1;
        self.stream = self.stream.wrapping_add(1);
        if self.stream == 0 {
            self.ways.fill(Bucket::default());
            self.stream = 1;
        }
        self.base = self.next_base;
        self.next_base += numbers;
    }
}

#[cfg(test)]
impl Finder {
    /// Leaves only so many numbers for positions.
    pub(super) fn use_up(&mut self, left: u32) {
        self.next_base = u32::MAX - left;
        self.stream = u32::MAX - 1;
    }
}

#[expect(clippy::unwrap_used, reason = "the length is that of the array")]
pub(super) fn zeroed<T: Copy + Default, const N: usize>() -> Box<[T; N]> {
    vec![T::default(); N].into_boxed_slice().try_into().ok().unwrap()
}
