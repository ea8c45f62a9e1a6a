//! Writes the sequences of an LZ4 block into a buffer that may be too short for them.

use crate::copy::{copy_exact, copy_wider};
use crate::lz4::MIN_MATCH;

/// The block being written: a buffer and how much of it is used.
pub(super) struct Block<'a> {
    dst: &'a mut [u8],
    used: usize,
}

/// Bytes a sequence needs beside its literals and continuation bytes: a token, a distance, the
/// last byte of both lengths; rounded up so that wide copies of the literals have their slack.
const SEQUENCE_ROOM: usize = 40;

impl<'a> Block<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Block { dst, used: 0 }
    }

    /// Appends a sequence: the literals `input[from..to]`, then a match of `length` bytes from
    /// `distance` back. `None` when it does not fit.
    ///
    /// # Safety
    ///
    /// `from <= to <= input.len()`, `length >= 4` and `1 <= distance <= 65_535`.
    #[inline(always)]
    pub(super) unsafe fn push(
        &mut self,
        input: &[u8],
        from: usize,
        to: usize,
        distance: usize,
        length: usize,
    ) -> Option<()> {
        let literals = to - from;
        let extra = length - MIN_MATCH;
        let room = self.dst.len() - self.used;
        // The common case: slack on both sides. Shifting by 7 counts more continuation bytes than
        // there can be, and spares two divisions.
        if room >= literals + (literals >> 7) + (extra >> 7) + SEQUENCE_ROOM
            && input.len() - from >= literals + 32
        {
            // SAFETY: `room` holds the token, the literals with 32 bytes of slack, the distance
            // and all continuation bytes; the input goes on 32 bytes after the literals.
            unsafe {
                let token = self.dst.as_mut_ptr().add(self.used);
                let mut out = token.add(1);
                if literals >= 15 {
                    out = put_more(out, literals - 15);
                }
                copy_wider(input.as_ptr().add(from), out, literals);
                out = put_distance(out.add(literals), distance);
                if extra >= 15 {
                    out = put_more(out, extra - 15);
                }
                *token = token_of(literals, extra);
                self.used = out.offset_from_unsigned(self.dst.as_ptr());
            }
            return Some(());
        }
        // SAFETY: the caller's promises are the same.
        unsafe { self.push_exact(input, from, to, distance, length) }
    }

    /// As [`Block::push`], for the ends of the buffers.
    #[cold]
    unsafe fn push_exact(
        &mut self,
        input: &[u8],
        from: usize,
        to: usize,
        distance: usize,
        length: usize,
    ) -> Option<()> {
        let extra = length - MIN_MATCH;
        let literals = to - from;
        let size = 1 + literals + more_bytes(literals) + 2 + more_bytes(extra);
        if size > self.dst.len() - self.used {
            return None;
        }
        // SAFETY: `size` counts every byte written here, and it fits; the literals are in `input`.
        unsafe {
            let token = self.dst.as_mut_ptr().add(self.used);
            *token = token_of(literals, extra);
            let mut out = token.add(1);
            if literals >= 15 {
                out = put_more(out, literals - 15);
            }
            copy_exact(input.as_ptr().add(from), out, literals);
            out = put_distance(out.add(literals), distance);
            if extra >= 15 {
                put_more(out, extra - 15);
            }
        }
        self.used += size;
        Some(())
    }

    /// Appends the last sequence, which has only literals, and returns the block's length.
    pub(super) fn finish(self, literals: &[u8]) -> Option<usize> {
        let size = 1 + more_bytes(literals.len()) + literals.len();
        if size > self.dst.len() - self.used {
            return None;
        }
        // SAFETY: `size` counts every byte written here, and it fits.
        unsafe {
            let token = self.dst.as_mut_ptr().add(self.used);
            *token = token_of(literals.len(), 0);
            let mut out = token.add(1);
            if literals.len() >= 15 {
                out = put_more(out, literals.len() - 15);
            }
            copy_exact(literals.as_ptr(), out, literals.len());
        }
        Some(self.used + size)
    }
}

/// How many bytes continue a length whose nibble is 15 at most.
fn more_bytes(length: usize) -> usize {
    if length < 15 { 0 } else { (length - 15) / 255 + 1 }
}

/// The token of a sequence with so many literals and match bytes beyond the minimum.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "both nibbles are at most 15")]
fn token_of(literals: usize, extra: usize) -> u8 {
    (literals.min(15) << 4 | extra.min(15)) as u8
}

/// Writes what a length has beyond 15, and returns the place after it.
///
/// # Safety
///
/// `out` must be valid for writes of `rest / 255 + 1` bytes.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the remainder is below 255")]
unsafe fn put_more(out: *mut u8, rest: usize) -> *mut u8 {
    // SAFETY: `rest / 255` bytes and one more are the caller's promise.
    unsafe {
        if rest < 255 {
            *out = rest as u8;
            return out.add(1);
        }
        let full = rest / 255;
        out.write_bytes(255, full);
        *out.add(full) = (rest % 255) as u8;
        out.add(full + 1)
    }
}

/// Writes a distance, and returns the place after it.
///
/// # Safety
///
/// `out` must be valid for writes of 2 bytes.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the caller's distance is at most 65 535")]
unsafe fn put_distance(out: *mut u8, distance: usize) -> *mut u8 {
    // SAFETY: 2 bytes are the caller's promise; `[u8; 2]` has no alignment.
    unsafe {
        out.cast::<[u8; 2]>().write((distance as u16).to_le_bytes());
        out.add(2)
    }
}
