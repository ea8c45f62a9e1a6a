//! Earlier positions in rows: all that share a hash of 4 bytes lie in one cache line.
//!
//! ```text
//!          16 tags            16 tags of           16 positions,
//!          of bytes 0..4      bytes 4..8           modulo 65 536
//!        ┌──────────────────┬────────────────────┬───────────────────┐
//!  a row │ 1 byte each      │ 1 byte each        │ 2 bytes each      │
//!        └──────────────────┴────────────────────┴───────────────────┘
//! ```
//!
//! The 16 entries are a ring, the latest is known. A search compares all tags at once and looks only
//! at entries that agree, the latest first: at those that agree in 8 bytes if there are any, else at
//! those that agree in 4. So a search waits for one cache line, and seldom looks at something in vain.
//! What a tag or a position of old promises wrongly is found out by comparing the bytes.

#![expect(clippy::indexing_slicing, reason = "every index is taken modulo the width of a row")]

use alloc::vec::Vec;

use crate::common::common_length;
use crate::copy::{load_2, load_4, load_8};
use crate::lz4::MIN_MATCH;
use crate::lz4::hc::chains::{ENOUGH, leads};

/// The rows of one input.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// Where in its ring the latest entry of each row is.
    latest: Vec<u8>,
    /// 56 less the base-2 logarithm of how many rows are in use: what is left of a hash are the
    /// number of a row and the 8 bits of a tag.
    shift: u32,
    /// The first position that has not been entered.
    next: usize,
    /// How many of the latest entries of a row are looked at.
    effort: Effort,
}

/// How much is remembered, and looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// There are as many entries as the input has positions, but not more rows than this power of two.
    pub(super) most_bits: u32,
    /// So many of the latest entries of a row are looked at where some agree in 8 bytes.
    pub(super) long: u32,
    /// So many where none does.
    pub(super) short: u32,
    /// So many where none does and a few are enough.
    pub(super) few: u32,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Row {
    tags: [u8; WIDTH],
    after: [u8; WIDTH],
    places: [u16; WIDTH],
}

/// What of a position decides where its entry lies and what it holds.
struct Key {
    row: usize,
    tag: u8,
    after: u8,
}

/// Entries of a row.
const WIDTH: usize = 16;

const EMPTY: Row = Row { tags: [0; WIDTH], after: [0; WIDTH], places: [0; WIDTH] };

/// The fewest rows, as a power of two.
const FEWEST_BITS: u32 = 8;

/// Of more positions at once than this, only the first and the last ones are entered. Most of them
/// are inside a match: what begins there has begun earlier, too, and would push others out of the rows.
const MANY: usize = 10;
const ENDS: usize = 3;

impl Rows {
    /// Forgets all positions, and prepares for an input of `len` bytes.
    pub(super) fn clear(&mut self, len: usize, effort: Effort) {
        let bits = len.max(WIDTH).ilog2() - WIDTH.ilog2();
        let bits = bits.clamp(FEWEST_BITS, effort.most_bits.max(FEWEST_BITS));
        self.rows.clear();
        self.rows.resize(1 << bits, EMPTY);
        self.latest.clear();
        self.latest.resize(1 << bits, 0);
        self.shift = 56 - bits;
        self.next = 0;
        self.effort = effort;
    }

    /// Enters the positions before `end`, or some of them where they are many.
    ///
    /// # Safety
    ///
    /// `end + 7 <= input.len()`, and [`Self::clear`] was called.
    #[inline(always)]
    pub(super) unsafe fn enter_until(&mut self, input: &[u8], end: usize) {
        let base = input.as_ptr();
        let mut next = self.next;
        // SAFETY: 8 bytes follow each position before `end`.
        unsafe {
            if end > next + MANY {
                for at in next..next + ENDS {
                    self.enter(base, at);
                }
                next = end - ENDS;
            }
            for at in next..end {
                self.enter(base, at);
            }
        }
        self.next = end.max(next);
    }

    /// Enters one position.
    ///
    /// # Safety
    ///
    /// 8 bytes at `base + at` are readable, and [`Self::clear`] was called.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions are kept modulo 65 536")]
    unsafe fn enter(&mut self, base: *const u8, at: usize) {
        // SAFETY: the number of a row is below the number of rows.
        unsafe {
            let key = self.key(load_8(base.add(at)));
            let latest = self.latest.get_unchecked_mut(key.row);
            *latest = latest.wrapping_sub(1) % WIDTH as u8;
            let slot = usize::from(*latest) % WIDTH;
            let row = self.rows.get_unchecked_mut(key.row);
            row.tags[slot] = key.tag;
            row.after[slot] = key.after;
            row.places[slot] = at as u16;
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a tag is what remains of a hash")]
    fn key(&self, here: u64) -> Key {
        let hash = (here << 32).wrapping_mul(0x9FB2_1C65_1E98_DF25) >> self.shift;
        let after = ((here >> 32) as u32).wrapping_mul(0x9E37_79B1) >> 24;
        Key { row: (hash >> 8) as usize, tag: hash as u8, after: after as u8 }
    }

    /// Calls `weigh` with the length and the distance of matches at `at`, from the nearest on. It
    /// returns that length, and how many bytes before `at` belong to the match, too. Only what is longer
    /// is of interest from then on, or goes further back; and that only within the last `room` bytes
    /// before `at`. Where no entry agrees in 8 bytes, only a few are looked at unless `all` are wanted.
    /// Enters all positions before `at`.
    ///
    /// # Safety
    ///
    /// * [`Self::clear`] was called for this input, and `at + MATCH_MARGIN <= input.len()`;
    /// * `limit = input.len() - LAST_LITERALS`, where matches end at the latest;
    /// * `weigh` returns the length it was called with;
    /// * `room <= at`;
    /// * no position after `at` was searched before.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions are kept modulo 65 536")]
    pub(super) unsafe fn search(
        &mut self,
        input: &[u8],
        at: usize,
        limit: usize,
        all: bool,
        room: usize,
        mut weigh: impl FnMut(usize, usize) -> (usize, usize),
    ) {
        let base = input.as_ptr();
        let (mut known, mut lead) = (MIN_MATCH - 1, 0);
        // SAFETY: `known` ends at `limit` at most, so that the 2 bytes which hold its last byte
        // and the one after it lie in the input, and what they are compared with lies before. All
        // entries are positions before `at`, or zero: no distance modulo 65 536 exceeds `at`.
        unsafe {
            self.enter_until(input, at);
            let here = load_8(base.add(at));
            let key = self.key(here);
            let row = self.rows.get_unchecked(key.row);
            let latest = usize::from(*self.latest.get_unchecked(key.row));
            let near = equal(&row.tags, key.tag);
            let Effort { long, short, few, .. } = self.effort;
            let both = near & equal(&row.after, key.after);
            let (wanted, depth) =
                if both != 0 { (both, long) } else { (near, if all { short } else { few }) };
            let mut wanted = u32::from(wanted.rotate_right(latest as u32)) & ((1 << depth) - 1);
            let mut tail = load_2(base.add(at + known - 1));
            while wanted != 0 {
                let slot = (latest + wanted.trailing_zeros() as usize) % WIDTH;
                wanted &= wanted - 1;
                let distance = usize::from((at as u16).wrapping_sub(row.places[slot]));
                // Most of what is no longer than the known length differs at its end.
                let hopeful = load_2(base.add(at + known - 1 - distance)) == tail
                    || leads(base, at, lead, room, distance);
                if hopeful && load_4(base.add(at - distance)) == here as u32 && distance != 0 {
                    let length = MIN_MATCH + common_length(base, at + MIN_MATCH, distance, limit);
                    let (longer, further) = weigh(length, distance);
                    if at + length >= limit || length >= ENOUGH {
                        break;
                    }
                    if longer > known || (longer == known && further > lead) {
                        (known, lead) = (longer, further);
                        tail = load_2(base.add(at + known - 1));
                    }
                }
            }
        }
    }
}

/// Which of the tags are this one: the first one is the lowest bit.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "16 bytes have 16 signs"
)]
fn equal(tags: &[u8; WIDTH], tag: u8) -> u16 {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: every x86-64 processor has SSE2, and there are 16 tags.
    unsafe {
        let tags = _mm_loadu_si128(tags.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(tag.cast_signed()))) as u16
    }
}

/// Which of the tags are this one: the first one is the lowest bit.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn equal(tags: &[u8; WIDTH], tag: u8) -> u16 {
    tags.iter().rev().fold(0, |bits, other| bits << 1 | u16::from(*other == tag))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::lz4::LAST_LITERALS;

    const EFFORT: Effort = Effort { most_bits: 12, long: 16, short: 16, few: 4 };

    /// What a search tells about `at` when all is of interest: lengths and distances.
    fn found(rows: &mut Rows, input: &[u8], at: usize, all: bool) -> Vec<(usize, usize)> {
        let mut told = Vec::new();
        let weigh = |length, distance| {
            told.push((length, distance));
            (length, 0)
        };
        // SAFETY: the rows were cleared for this input, and the tests search in order, away from its
        // end. Positions are entered one by one, so that none is left out.
        unsafe {
            (0..=at).for_each(|end| rows.enter_until(input, end));
            rows.search(input, at, input.len() - LAST_LITERALS, all, 0, weigh);
        }
        told
    }

    #[test]
    fn tags_are_compared_as_one_by_one() {
        let tags: [u8; WIDTH] = core::array::from_fn(|i| [7, 0, 255, 128][i * i % 4 + i % 2]);
        for tag in 0..=255 {
            let naive = (0..WIDTH).filter(|&i| tags[i] == tag).map(|i| 1 << i).sum::<u16>();
            assert_eq!(equal(&tags, tag), naive, "{tag}");
        }
    }

    #[test]
    fn the_longer_of_two_is_told_last() {
        let input = b"....abcdefghijk....abcdefgh____abcdX....abcdefghijklmnopqrstuvwxyz";
        let mut rows = Rows::default();
        rows.clear(input.len(), EFFORT);
        assert_eq!(found(&mut rows, input, 31, true), [(4, 12)]);
        rows.clear(input.len(), EFFORT);
        assert_eq!(found(&mut rows, input, 40, true), [(8, 21), (11, 36)]);
    }

    #[test]
    fn short_ones_are_sought_among_a_few_or_all() {
        let input = b"abcdefg  abcd1  abcd2  abcd3  abcd4  abcdefgh, and so on to the end";
        let mut rows = Rows::default();
        rows.clear(input.len(), EFFORT);
        assert_eq!(found(&mut rows, input, 37, true), [(4, 7), (7, 37)]);
        rows.clear(input.len(), EFFORT);
        assert_eq!(found(&mut rows, input, 37, false), [(4, 7)]);
    }

    #[test]
    fn no_distance_is_longer_than_a_block_can_hold() {
        for (apart, expected) in [(65_535, vec![(8, 65_535)]), (65_536, vec![]), (65_540, vec![])] {
            let mut input = vec![0_u8; apart + 40];
            for (i, byte) in (0_u64..).zip(&mut input) {
                [*byte, ..] = (((i * i) >> 9) ^ i).to_le_bytes();
            }
            for begin in [4, apart + 4] {
                input[begin..begin + 8].copy_from_slice(b"repeated");
            }
            (input[3], input[apart + 12]) = (b'1', !input[12]);
            let mut rows = Rows::default();
            rows.clear(input.len(), EFFORT);
            assert_eq!(found(&mut rows, &input, apart + 4, false), expected, "{apart}");
        }
    }
}
