//! The lightest way to encode thoroughly: two tables, one candidate each.
//!
//! One table remembers the last position of each hash of 8 bytes, the other of 4. A long match is
//! taken at once. A short one is taken if the next position has no longer one. There is no chain to
//! follow and nothing to weigh.

use alloc::boxed::Box;
use alloc::vec;

use crate::common::{common_before, common_length};
use crate::copy::{load_4, load_8};
use crate::lz4::emit::Block;
use crate::lz4::{LAST_LITERALS, MATCH_MARGIN, MAX_DISTANCE, MIN_MATCH};

/// The positions of one input.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    long: Box<[u32]>,
    short: Box<[u32]>,
    /// 64 less the base-2 logarithm of how many entries are in use.
    shift: u32,
}

/// There are half as many entries as the input has positions, within these bounds.
const BITS: core::ops::RangeInclusive<u32> = 11..=14;

/// After so many literals, as a power of two, every second position is looked up; after twice as many
/// every third, and so on.
const PATIENCE_SHIFT: u32 = 9;

impl Default for Pairs {
    fn default() -> Self {
        let table = || vec![0; 1 << *BITS.end()].into_boxed_slice();
        Pairs { long: table(), short: table(), shift: 64 - *BITS.end() }
    }
}

impl Pairs {
    /// Writes all sequences that have a match; returns where the last literals begin.
    ///
    /// # Safety
    ///
    /// `start + MATCH_MARGIN < input.len()`, and positions fit 32 bits.
    pub(super) unsafe fn encode(
        &mut self,
        input: &[u8],
        start: usize,
        block: &mut Block<'_>,
    ) -> Option<usize> {
        self.clear(input.len());
        let base = input.as_ptr();
        let last_begin = input.len() - MATCH_MARGIN;
        let limit = input.len() - LAST_LITERALS;
        let mut anchor = start;
        let mut at = start + 1;
        // SAFETY: positions that are looked up or entered are `<= last_begin`, so that 8 bytes
        // follow them; what the tables return lies before. Matches begin there, too, with 4 bytes
        // at least, and end at `limit` at most.
        unsafe {
            for earlier in 0..=start {
                self.enter(base, earlier);
            }
            while at <= last_begin {
                let Some((place, distance)) = self.find(base, at, last_begin, limit) else {
                    at += 1 + ((at - anchor) >> PATIENCE_SHIFT);
                    continue;
                };
                let begin = place - common_before(base, anchor, place, distance);
                let end = match_end(base, place, distance, limit);
                block.push(input, anchor, begin, distance, end - begin)?;
                (anchor, at) = (end, end);
                if end > last_begin {
                    break;
                }
                self.enter_match(base, place, end);
            }
        }
        Some(anchor)
    }

    /// Forgets all positions, and prepares for an input of `len` bytes.
    fn clear(&mut self, len: usize) {
        let bits = (len.max(1).ilog2().saturating_sub(1)).clamp(*BITS.start(), *BITS.end());
        self.shift = 64 - bits;
        for table in [&mut self.long, &mut self.short] {
            table.iter_mut().take(1 << bits).for_each(|entry| *entry = 0);
        }
    }

    /// A match at `at` or right after it: where it begins, and its distance. Enters what it looks up.
    ///
    /// # Safety
    ///
    /// `0 < at <= last_begin`; 12 bytes of input follow `last_begin`, and `limit` is not before 7 of
    /// them.
    #[inline(always)]
    unsafe fn find(
        &mut self,
        base: *const u8,
        at: usize,
        last_begin: usize,
        limit: usize,
    ) -> Option<(usize, usize)> {
        // SAFETY: as `encode` says.
        unsafe {
            let here = load_8(base.add(at));
            let short = self.replace_short(here, at);
            if let Some(distance) = self.long_match(base, here, at) {
                return Some((at, distance));
            }
            let distance = at - short;
            if distance > MAX_DISTANCE || load_4(base.add(short)) != load_4(base.add(at)) {
                return None;
            }
            let end = match_end(base, at, distance, limit);
            let next = at + 1;
            if next <= last_begin
                && let Some(other) = self.long_match(base, load_8(base.add(next)), next)
                && match_end(base, next, other, limit) > end + 1
            {
                return Some((next, other));
            }
            Some((at, distance))
        }
    }

    /// Enters some positions of a match: those near its end, where the next one may begin, and two
    /// that only long matches are wanted from.
    ///
    /// # Safety
    ///
    /// `0 < place`, `place + MIN_MATCH <= end`, and 7 bytes of input follow `end`.
    #[inline(always)]
    unsafe fn enter_match(&mut self, base: *const u8, place: usize, end: usize) {
        // SAFETY: all lie in the input, the last of them before `end`.
        unsafe {
            for at in [place + 2, end - 5] {
                self.replace_long(load_8(base.add(at)), at);
            }
            for at in [end - 3, end - 2, end - 1] {
                self.enter(base, at);
            }
        }
    }

    /// The distance of a match of 8 bytes at `at`. Enters it.
    ///
    /// # Safety
    ///
    /// `here` are the 8 bytes of the input at `at > 0`.
    #[inline(always)]
    unsafe fn long_match(&mut self, base: *const u8, here: u64, at: usize) -> Option<usize> {
        let distance = at - self.replace_long(here, at);
        // SAFETY: what the table holds lies before `at`, or is 0.
        let same = distance <= MAX_DISTANCE && unsafe { load_8(base.add(at - distance)) } == here;
        same.then_some(distance)
    }

    /// Enters `at` into both tables.
    ///
    /// # Safety
    ///
    /// 8 bytes of the input that begins at `base` can be read at `at`, and the position fits 32
    /// bits.
    #[inline(always)]
    unsafe fn enter(&mut self, base: *const u8, at: usize) {
        // SAFETY: 8 bytes can be read at `at`: `encode` passes positions up to `start`, and
        // `enter_match` those before an `end` that `encode` compared with `last_begin`. Both lie
        // `MATCH_MARGIN` (12) bytes or more before the end of the input.
        let here = unsafe { load_8(base.add(at)) };
        self.replace_long(here, at);
        self.replace_short(here, at);
    }

    /// Enters `at` by its 8 bytes, and returns what was there before.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits; hashes are small")]
    fn replace_long(&mut self, here: u64, at: usize) -> usize {
        let slot = (here.wrapping_mul(0x9FB2_1C65_1E98_DF25) >> self.shift) as usize;
        // SAFETY: a hash is below the number of entries.
        let entry = unsafe { self.long.get_unchecked_mut(slot) };
        core::mem::replace(entry, at as u32) as usize
    }

    /// As [`Self::replace_long`], by the first 4 of them.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits; hashes are small")]
    fn replace_short(&mut self, here: u64, at: usize) -> usize {
        let slot = ((here << 32).wrapping_mul(0x9FB2_1C65_1E98_DF25) >> self.shift) as usize;
        // SAFETY: a hash is below the number of entries.
        let entry = unsafe { self.short.get_unchecked_mut(slot) };
        core::mem::replace(entry, at as u32) as usize
    }
}

/// Where the match at `at` ends, of which the first 4 bytes are known to agree.
///
/// # Safety
///
/// `at + MIN_MATCH <= limit`, `limit` lies in the input that begins at `base`, and `distance <= at`.
#[inline(always)]
unsafe fn match_end(base: *const u8, at: usize, distance: usize, limit: usize) -> usize {
    debug_assert!(at + MIN_MATCH <= limit && distance <= at);
    let rest = at + MIN_MATCH;
    // SAFETY: `rest <= limit`: `encode` and `find` pass positions up to `last_begin`, and `limit`
    // lies `MATCH_MARGIN - LAST_LITERALS` (7) bytes after that. `distance <= at < rest`, as the
    // tables hold only earlier positions.
    rest + unsafe { common_length(base, rest, distance, limit) }
}
