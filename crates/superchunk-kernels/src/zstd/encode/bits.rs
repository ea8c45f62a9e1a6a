//! Writes bits, the lowest first, as entropy-coded parts of a frame hold them.
//!
//! A decoder reads most of these parts from their end: what is written last is read first, and a
//! single 1 bit behind everything marks where the bits begin.

use crate::copy::store_8;

/// Appends bits where there is room, as the caller knows.
pub(super) struct Unchecked {
    /// Where the next byte goes.
    pub(super) at: *mut u8,
    pub(super) pending: u64,
    /// How many bits wait.
    pub(super) count: u32,
}

impl Unchecked {
    /// Adds the low `count` bits of `value`, whose other bits are zero. At most 63 can wait.
    #[inline(always)]
    pub(super) fn add(&mut self, value: u64, count: u32) {
        self.pending |= value << self.count;
        self.count += count;
    }

    /// Moves whole bytes out, so that at most 7 bits wait.
    ///
    /// # Safety
    ///
    /// `at` is valid for writes of 8 bytes, and `count < 64`.
    #[inline(always)]
    pub(super) unsafe fn flush(&mut self) {
        debug_assert!(self.count < 64, "more bits wait than a word has");
        // SAFETY: 8 bytes can be written at `at`: `write_all_body` of the sequences checks the
        // length of its output for that, and `write_weights_body` has a buffer for the most
        // weights. `count < 64`, so that `at` moves on by at most 7 of these bytes.
        unsafe {
            store_8(self.at, self.pending);
            self.at = self.at.add((self.count >> 3) as usize);
        }
        self.pending >>= self.count & 0x38;
        self.count &= 7;
    }
}

/// Appends bits to a slice. What does not fit is dropped, and [`BitWriter::finish`] says so.
pub(super) struct BitWriter<'a> {
    dst: &'a mut [u8],
    at: usize,
    pending: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        BitWriter { dst, at: 0, pending: 0, count: 0 }
    }

    /// Adds the low `count` bits of `value`, whose other bits are zero. Between two calls of
    /// [`BitWriter::flush`] at most 57 bits can be added.
    #[inline(always)]
    pub(super) fn add(&mut self, value: u64, count: u32) {
        self.pending |= value << self.count;
        self.count += count;
    }

    /// Moves whole bytes out, so that at most 7 bits wait.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        if let Some(place) = self.dst.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut()) {
            *place = self.pending.to_le_bytes();
        } else {
            self.flush_near_end();
        }
        let bytes = self.count / 8;
        self.at += bytes as usize;
        self.pending >>= 8 * bytes;
        self.count &= 7;
    }

    /// As [`BitWriter::flush`], where no 8 bytes are left: only the whole bytes are stored.
    #[cold]
    fn flush_near_end(&mut self) {
        let rest = self.dst.get_mut(self.at..).unwrap_or_default();
        let whole = (self.count / 8) as usize;
        for (place, byte) in rest.iter_mut().zip(self.pending.to_le_bytes()).take(whole) {
            *place = byte;
        }
    }

    /// Fills the last byte with zeros and returns how many bytes were written, if all of them fit.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.flush();
        if self.count > 0 {
            self.count = 8;
            self.flush();
        }
        (self.at <= self.dst.len()).then_some(self.at)
    }
}
