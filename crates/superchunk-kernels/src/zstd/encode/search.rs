//! The fast search: two positions a step, longer strides where nothing is found.
//!
//! A table remembers for each hash of some bytes the last position that had it. Beside the two
//! positions that are looked up, a third one is compared with what stands the last distance before.

use crate::common::{common_length, few_before, match_end};
use crate::copy::{load_4, load_8};
use crate::zstd::encode::block::MAX_BLOCK;
use crate::zstd::encode::parsed::{MIN_MATCH, Parsed};

/// The stride grows by one after so many bytes without a match.
const PATIENCE: usize = 128;

/// What a position is stored as.
pub(super) trait Entry: Copy {
    fn of(at: usize) -> Self;
    fn position(self) -> usize;
}

impl Entry for u16 {
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "only positions of short inputs are stored"
    )]
    fn of(at: usize) -> Self {
        at as u16
    }

    #[inline(always)]
    fn position(self) -> usize {
        usize::from(self)
    }
}

impl Entry for u32 {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits")]
    fn of(at: usize) -> Self {
        at as u32
    }

    #[inline(always)]
    fn position(self) -> usize {
        self as usize
    }
}

/// The last distance and the one before, as a frame begins with.
pub(super) const FIRST_DISTANCES: [usize; 2] = [1, 4];

/// The bytes from `begin` to `end` of an input.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) input: &'a [u8],
    pub(super) begin: usize,
    pub(super) end: usize,
}

/// A match that was found.
enum Found {
    /// At a place, of the last distance; where the 8 bytes there differ.
    Repeated(usize, u64),
    /// At a place, at an earlier place; where the 8 bytes there differ.
    Earlier(usize, usize, u64),
    Nothing,
}

/// Takes the block apart; matches may go back to all of the input before.
///
/// # Safety
///
/// * `begin <= end <= input.len()`, and `end - begin <= MAX_BLOCK`; all positions fit `T`.
/// * The table has `1 << BITS` entries, all of them positions before `begin`, or zero.
/// * `distances` are those that the search of an earlier block has left, or [`FIRST_DISTANCES`].
/// * If it is `WIDE`, the processor has AVX2 and BMI1.
#[inline(always)]
pub(super) unsafe fn search<T: Entry, const BITS: u32, const KEY: u32, const WIDE: bool>(
    table: &mut [T],
    block: Block<'_>,
    distances: &mut [usize; 2],
    parsed: &mut Parsed,
) {
    let Block { input, begin, end } = block;
    debug_assert!(input.get(begin..end).is_some(), "the block is not in the input");
    debug_assert!(end - begin <= MAX_BLOCK, "the block is too long");
    debug_assert!(table.len() == 1 << BITS, "the table has another size");
    let base = input.as_ptr();
    let table = table.as_mut_ptr();
    let mut sink = parsed.begin(end - begin);
    let mut anchor = begin;
    let mut at = begin.max(1);
    let [mut last, mut second] = *distances;
    // Where 8 bytes of the block are left.
    let limit = end.saturating_sub(8);
    // SAFETY: positions up to `limit` are looked up, where 8 bytes can be read; what the table
    // holds lies before them, as do the places one of the distances before.
    unsafe {
        while at < limit {
            let looked_up;
            match find::<T, BITS, KEY>(table, base, at, last, limit) {
                Found::Nothing => break,
                Found::Repeated(place, difference) => {
                    at = match_end::<WIDE>(base, place, last, difference, end);
                    looked_up = place - 2;
                    // At least one literal stays before it: else the distance had another name.
                    let begin =
                        place - usize::from(*base.add(place - 1) == *base.add(place - 1 - last));
                    sink.push(input, anchor, begin, 1, at - begin);
                }
                Found::Earlier(place, earlier, difference) => {
                    let distance = place - earlier;
                    at = match_end::<WIDE>(base, place, distance, difference, end);
                    looked_up = place;
                    let begin = place - few_before(base, anchor, place, distance);
                    (last, second) = (distance, last);
                    sink.push(input, anchor, begin, offset_of(distance), at - begin);
                }
            }
            anchor = at;
            if at < limit {
                enter::<T, BITS, KEY>(table, base, looked_up + 1);
                enter::<T, BITS, KEY>(table, base, looked_up + 2);
                enter::<T, BITS, KEY>(table, base, at - 2);
            }
            while at < limit && load_4(base.add(at)) == load_4(base.add(at - second)) {
                enter::<T, BITS, KEY>(table, base, at);
                let rest = at + MIN_MATCH;
                at = rest + common_length(base, rest, second, end);
                (last, second) = (second, last);
                sink.push(input, anchor, anchor, 1, at - anchor);
                anchor = at;
            }
        }
        sink.finish(input, anchor, end);
    }
    *distances = [last, second];
}

/// Looks from `at` on for a match.
///
/// # Safety
///
/// * `table` is as for [`search`], and all its entries are less than `at`.
/// * `0 < at < limit`, `last <= at`, and the input that begins at `base` has `limit + 8` bytes.
#[inline(always)]
unsafe fn find<T: Entry, const BITS: u32, const KEY: u32>(
    table: *mut T,
    base: *const u8,
    mut at: usize,
    last: usize,
    limit: usize,
) -> Found {
    debug_assert!((1..limit).contains(&at) && last <= at, "the search leaves the input");
    let mut stride = 2;
    // SAFETY: `search` sets `limit` to 8 bytes before the end of the block, and calls this while
    // `at < limit`. The positions that are read, 8 bytes each, are at most `third`, which is at
    // most `limit`. Entries are less than `at`: both functions enter only positions before those
    // that they look up later. `last <= at`: it is the distance of an earlier match, or 1 of
    // `FIRST_DISTANCES`.
    unsafe {
        let mut word = load_8(base.add(at));
        loop {
            let end = (at + PATIENCE).min((limit + 1).saturating_sub(stride));
            while at < end {
                let third = at + stride;
                let earlier = replace::<T, BITS, KEY>(table, word, at);
                let third_word = load_8(base.add(third));
                let difference = third_word ^ load_8(base.add(third - last));
                if difference & 0xFFFF_FFFF == 0 {
                    return Found::Repeated(third, difference);
                }
                let difference = word ^ load_8(base.add(earlier));
                if difference & 0xFFFF_FFFF == 0 {
                    return Found::Earlier(at, earlier, difference);
                }
                at += 1;
                let second_word = load_8(base.add(at));
                let earlier = replace::<T, BITS, KEY>(table, second_word, at);
                let difference = second_word ^ load_8(base.add(earlier));
                if difference & 0xFFFF_FFFF == 0 {
                    return Found::Earlier(at, earlier, difference);
                }
                at = third;
                word = third_word;
            }
            if at + stride > limit {
                return Found::Nothing;
            }
            stride += 1;
        }
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits")]
fn offset_of(distance: usize) -> u32 {
    distance as u32 + 3
}

/// Enters a position, where `word` is read, and returns the one that was there before.
///
/// # Safety
///
/// `table` is valid for reads and writes of `1 << BITS` entries, and `at` fits `T`.
#[inline(always)]
unsafe fn replace<T: Entry, const BITS: u32, const KEY: u32>(
    table: *mut T,
    word: u64,
    at: usize,
) -> usize {
    let slot = word.wrapping_mul(0x9FB2_1C65_1E98_DF25 << (64 - 8 * KEY)) >> (64 - BITS);
    debug_assert!(T::of(at).position() == at, "the position does not fit an entry");
    // SAFETY: `slot < 1 << BITS`, because the shift leaves `BITS` bits, and the table has
    // `1 << BITS` entries: `Fast::clear_table` resizes it to that.
    #[expect(clippy::cast_possible_truncation, reason = "a slot has at most 14 bits")]
    unsafe {
        table.add(slot as usize).replace(T::of(at)).position()
    }
}

/// Enters a position.
///
/// # Safety
///
/// As [`replace`], and `base` is valid for reads of `at + 8` bytes.
#[inline(always)]
unsafe fn enter<T: Entry, const BITS: u32, const KEY: u32>(
    table: *mut T,
    base: *const u8,
    at: usize,
) {
    // SAFETY: `search` passes positions below `limit`, which is 8 bytes before the end of the
    // block. The table has `1 << BITS` entries: `Fast::clear_table` resizes it to that.
    unsafe { replace::<T, BITS, KEY>(table, load_8(base.add(at)), at) };
}
