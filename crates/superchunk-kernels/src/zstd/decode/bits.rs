//! The bits of sequences, which are read from the end of their stream to its begin.

use super::Result;
use super::codes::{Codes, Next, Number};
use super::here::here;
use super::sequences::WRONG;
use crate::copy::load_8;

/// The stream is read in words of 8 bytes, which may begin before it: by 8 bytes when that is found
/// out, and 7 more for each of the other loads of a sequence.
pub(super) const MARGIN: usize = 32;

/// The bits that a word has at least when it was just loaded.
const WORD: u8 = 56;
/// The most bits of the next three states.
const STATE_BITS: u8 = 9 + 8 + 9;
/// The extra bits of a sequence that a word has beside those of the next states.
pub(super) const FEW_EXTRA: u8 = WORD - STATE_BITS;

/// How far a stream was read.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    /// 8 bytes, of which the lowest `left` bits are not read yet.
    word: u64,
    left: u32,
    /// Where they were loaded from.
    input: *const u8,
}

impl Bits {
    /// The stream that `bytes` end with, behind `before` bytes, which are [`MARGIN`] at least. Also
    /// gives the lowest place from which a word of it can come.
    #[inline(always)]
    pub(super) fn new(bytes: &[u8], before: usize) -> Result<(Self, *const u8)> {
        let word = bytes.last_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word));
        if before < MARGIN || bytes.len() <= before || word >> 56 == 0 {
            return Err(WRONG);
        }
        // SAFETY: there are more bytes than `before`, and that are more than 8.
        let (lowest, input) =
            unsafe { (bytes.as_ptr().add(before - 8), bytes.as_ptr().add(bytes.len() - 8)) };
        Ok((Self { word, left: 63 - word.leading_zeros(), input }, lowest))
    }

    /// Reads a number of at most 31 bits. It is wrong when they are not left in the word.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "cut to the bits that are asked for")]
    pub(super) fn take(&mut self, bits: u32) -> usize {
        self.left = self.left.wrapping_sub(bits);
        // SAFETY: the numbers of bits are those of entries, all below 32.
        unsafe { core::hint::assert_unchecked(bits < 32) };
        (self.word.wrapping_shr(self.left) & ((1_u64 << bits) - 1)) as usize
    }

    /// Reads the numbers of a sequence: literals, distance, match. After that the word has enough bits
    /// for the next states.
    ///
    /// # Safety
    ///
    /// * The word was just loaded by [`Bits::refill`], and [`Bits::is_below`] returned `false` for
    ///   it: this function refills up to two times more.
    /// * With `FEW`, the three states have at most [`FEW_EXTRA`] extra bits together.
    #[inline(always)]
    pub(super) unsafe fn numbers<const FEW: bool>(
        &mut self,
        codes: &Codes,
        state_l: usize,
        state_d: usize,
        state_m: usize,
    ) -> [usize; 3] {
        debug_assert!(
            !FEW || codes.extra(state_l, state_d, state_m) <= FEW_EXTRA,
            "a sequence has more extra bits than the word"
        );
        if FEW || codes.extra(state_l, state_d, state_m) <= FEW_EXTRA {
            let distance = self.number(codes.distances.number(state_d));
            let matched = self.number(codes.matches.number(state_m));
            return [self.number(codes.literals.number(state_l)), distance, matched];
        }
        let distance = self.number(codes.distances.number(state_d));
        // SAFETY: this is the first refill since `is_below` returned `false`: `execute_inlined` and
        // `note_inlined` call it right before this function. At most 31 of 56 bits were read.
        unsafe { self.refill() };
        let matched = self.number(codes.matches.number(state_m));
        let literals = self.number(codes.literals.number(state_l));
        // SAFETY: this is the second refill since `is_below` returned `false`, as above. At most 32
        // of 56 bits were read.
        unsafe { self.refill() };
        [literals, distance, matched]
    }

    #[inline(always)]
    fn number(&mut self, number: Number) -> usize {
        here((number.base as usize).wrapping_add(self.take(u32::from(number.extra))))
    }

    /// Reads what is to be added to the number of the next state.
    #[inline(always)]
    pub(super) fn state(&mut self, next: Next) -> usize {
        here(usize::from(next.base) + self.take(u32::from(next.bits)))
    }

    /// Loads the word of which [`WORD`] bits at least are not read.
    ///
    /// # Safety
    ///
    /// * This is at most the third refill since [`Bits::is_below`] returned `false`, or since
    ///   [`Bits::new`]: `input` was at or after the lowest place then.
    /// * No more bits were read than the word has: `left < 64`.
    #[inline(always)]
    pub(super) unsafe fn refill(&mut self) {
        debug_assert!(self.left < 64, "more bits were read than the word has");
        let back = (63 - self.left) >> 3;
        self.left |= 56;
        // SAFETY: `back <= 7`, because `left < 64`. Three refills go back by at most 21 bytes from
        // the lowest place, which `new` sets at least `MARGIN - 8` = 24 bytes after the start of
        // the buffer. 8 bytes follow `input`: `new` sets it 8 bytes before the end, and it only
        // decreases.
        unsafe {
            self.input = self.input.sub(back as usize);
            self.word = load_8(self.input);
        }
    }

    /// Whether the word comes from below the lowest place, which means that all bits were read and
    /// more.
    #[inline(always)]
    pub(super) fn is_below(&self, lowest: *const u8) -> bool {
        self.input < lowest
    }

    /// Whether all bits were read.
    pub(super) fn is_at_begin(&self, bytes: &[u8], before: usize) -> bool {
        let input = self.input.addr() - bytes.as_ptr().addr();
        8 * input + self.left as usize == 8 * before
    }
}
