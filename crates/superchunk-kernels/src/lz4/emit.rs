//! Writes the sequences of an LZ4 block into a buffer that may be too short for them.

use core::marker::PhantomData;

use crate::copy::{copy_16, copy_exact, copy_wider, store_4};
use crate::lz4::sequences::mark;
use crate::lz4::{MAX_DISTANCE, MIN_MATCH};
use crate::marks::{Mark, Marker};

/// The block being written: where it begins, where the next sequence goes, where the buffer ends.
pub(super) struct Block<'a> {
    start: *mut u8,
    next: *mut u8,
    end: *mut u8,
    /// Up to here the next sequence may be a short one, written without asking for room.
    roomy: *mut u8,
    /// A sequence that is written here or later is to be marked.
    due: usize,
    marker: Option<&'a mut Marker>,
    buffer: PhantomData<&'a mut [u8]>,
}

/// Bytes a sequence needs beside its literals and continuation bytes: a token, a distance, the
/// last byte of both lengths; rounded up so that wide copies of the literals have their slack.
const SEQUENCE_ROOM: usize = 40;

/// Bytes a short sequence may touch: a token, 16 literals, 4 for a distance.
const SHORT_ROOM: usize = 1 + 16 + 4;

impl<'a> Block<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Self::marked(dst, None)
    }

    /// A block whose sequences are marked.
    pub(super) fn marked(dst: &'a mut [u8], marker: Option<&'a mut Marker>) -> Self {
        let len = dst.len();
        let start = dst.as_mut_ptr();
        // SAFETY: both lie in the slice or at its end.
        let (end, last) = unsafe { (start.add(len), start.add(len.saturating_sub(SHORT_ROOM))) };
        // In a buffer that is too small for one short sequence no place is roomy.
        let roomy = if len < SHORT_ROOM { start.wrapping_sub(1) } else { last };
        let mut block =
            Block { start, next: start, end, roomy, due: 0, marker, buffer: PhantomData };
        block.set_due();
        block
    }

    /// Asks the marker when the next mark is due: at an address, so that nothing has to be calculated to compare with it.
    fn set_due(&mut self) {
        let due = self.marker.as_ref().map(|marker| marker.due());
        self.due = due.map_or(usize::MAX, |due| self.start.addr().saturating_add(due));
    }

    #[cold]
    #[inline(never)]
    fn mark(&mut self, from: usize, to: usize, distance: usize, length: usize) {
        let mark = Mark { at: self.len(), out: from };
        if let Some(marker) = &mut self.marker {
            marker.note(mark, to - from, distance, length);
        }
        self.set_due();
    }

    /// How many bytes are written.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        // SAFETY: `next` is never before `start`, in the same buffer.
        unsafe { self.next.offset_from_unsigned(self.start) }
    }

    /// Replaces all that is written by these sequences. `None` when they do not fit.
    pub(super) fn begin_with(&mut self, sequences: &[u8]) -> Option<()> {
        // SAFETY: `start` is never after `end`, in the same buffer.
        if sequences.len() > unsafe { self.end.offset_from_unsigned(self.start) } {
            return None;
        }
        // SAFETY: they fit, and no other buffer overlaps this one.
        unsafe {
            copy_exact(sequences.as_ptr(), self.start, sequences.len());
            self.next = self.start.add(sequences.len());
        }
        if let Some(marker) = &mut self.marker {
            marker.begin_again();
            mark(sequences, marker);
            self.set_due();
        }
        Some(())
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
        debug_assert!(from <= to && to <= input.len() && length >= MIN_MATCH);
        debug_assert!((1..=MAX_DISTANCE).contains(&distance));
        if self.next.addr() >= self.due {
            self.mark(from, to, distance, length);
        }
        let literals = to - from;
        let extra = length - MIN_MATCH;
        if literals < 15 && extra < 15 && self.next <= self.roomy && from + 16 <= input.len() {
            // SAFETY: `SHORT_ROOM` bytes follow, which hold the token, 16 bytes of literals (14 at
            // most count) and the distance; 16 bytes of input follow `from`.
            unsafe {
                copy_16(input.as_ptr().add(from), self.next.add(1));
                *self.next = token_of(literals, extra);
                self.next = put_distance(self.next.add(1 + literals), distance);
            }
            return Some(());
        }
        // SAFETY: `from <= to <= input.len()`, `length >= 4` and `distance` from 1 to 65 535 are
        // what `push` requires, too; `lz4::search::search`, `Pairs::encode`, `Parser::write` and
        // `Lean::write` take them from matches they have compared. `next..end` is the rest of the
        // slice that `Block::marked` borrowed: each write compares its size with that first.
        self.next = unsafe { push_long(self.next, self.end, input, (from, to), distance, length)? };
        Some(())
    }

    /// As [`Block::push`], for a match right after the one before.
    ///
    /// # Safety
    ///
    /// `length >= 4` and `1 <= distance <= 65_535`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a distance of 16 bits and 4 more")]
    pub(super) unsafe fn push_bare(&mut self, distance: usize, length: usize) -> Option<()> {
        debug_assert!(length >= MIN_MATCH && (1..=MAX_DISTANCE).contains(&distance));
        let extra = length - MIN_MATCH;
        if extra < 15 && self.next <= self.roomy {
            // SAFETY: `SHORT_ROOM` bytes follow.
            unsafe {
                store_4(self.next, (distance << 8 | extra) as u32);
                self.next = self.next.add(3);
            }
            return Some(());
        }
        // SAFETY: there are no literals, so the range `0..0` of an empty input will do.
        // `length >= 4` and `distance` from 1 to 65 535: `lz4::search::search`, the only caller,
        // takes them from a match it has compared. `next..end` as in `push`.
        self.next = unsafe { push_long(self.next, self.end, &[], (0, 0), distance, length)? };
        Some(())
    }

    /// Appends the last sequence, which has only literals, and returns the block's length.
    pub(super) fn finish(self, literals: &[u8]) -> Option<usize> {
        let size = 1 + more_bytes(literals.len()) + literals.len();
        // SAFETY: `next` is never after `end`, in the same buffer.
        if size > unsafe { self.end.offset_from_unsigned(self.next) } {
            return None;
        }
        // SAFETY: `size` counts every byte written here, and it fits.
        unsafe {
            *self.next = token_of(literals.len(), 0);
            let mut out = self.next.add(1);
            if literals.len() >= 15 {
                out = put_more(out, literals.len() - 15);
            }
            copy_exact(literals.as_ptr(), out, literals.len());
            Some(self.next.offset_from_unsigned(self.start) + size)
        }
    }
}

/// Writes any sequence at `next`, and returns the place after it.
///
/// # Safety
///
/// As [`Block::push`]; `next <= end`, and all bytes between the two can be written.
#[inline(always)]
unsafe fn push_long(
    next: *mut u8,
    end: *mut u8,
    input: &[u8],
    (from, to): (usize, usize),
    distance: usize,
    length: usize,
) -> Option<*mut u8> {
    debug_assert!(next <= end);
    let literals = to - from;
    let extra = length - MIN_MATCH;
    // SAFETY: `next <= end` in one buffer: `Block::push` and `Block::push_bare` pass those of the
    // block, which `Block::marked` derived from one slice.
    let room = unsafe { end.offset_from_unsigned(next) };
    // Shifting by 7 counts more continuation bytes than there can be, and spares two divisions.
    let roomy = room >= literals + (literals >> 7) + (extra >> 7) + SEQUENCE_ROOM
        && input.len() - from >= literals + 32;
    if !roomy && room < 1 + literals + more_bytes(literals) + 2 + more_bytes(extra) {
        return None;
    }
    // SAFETY: `room` holds the token, the literals, the distance and all continuation bytes; where
    // it is roomy, 32 bytes of slack follow the literals on both sides.
    unsafe {
        let mut out = next.add(1);
        if literals >= 15 {
            out = put_more(out, literals - 15);
        }
        if roomy {
            copy_wider(input.as_ptr().add(from), out, literals);
        } else {
            copy_exact(input.as_ptr().add(from), out, literals);
        }
        out = put_distance(out.add(literals), distance);
        if extra >= 15 {
            out = put_more(out, extra - 15);
        }
        *next = token_of(literals, extra);
        Some(out)
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
    // SAFETY: `rest / 255 + 1` bytes can be written at `out`: `push_long` and `Block::finish` count
    // them in what they compare with the room.
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
    // SAFETY: 2 bytes can be written at `out`: the `SHORT_ROOM` that `Block::push` checks and the
    // size that `push_long` compares with the room include them. `[u8; 2]` has no alignment.
    unsafe {
        out.cast::<[u8; 2]>().write((distance as u16).to_le_bytes());
        out.add(2)
    }
}
