//! The search of the fast encoder: one look-up a position, longer strides where nothing matches.

use crate::common::{common_before, common_length};
use crate::copy::{load_4, load_8};
use crate::lz4::emit::Block;
use crate::lz4::{LAST_LITERALS, MATCH_MARGIN, MAX_DISTANCE, MIN_MATCH};

/// The last position of each hash. For a short input, entries are half as long and twice as many.
pub(super) type Table = [u32; TABLE_SIZE];

const TABLE_BITS: u32 = 12;
pub(super) const TABLE_SIZE: usize = 1 << TABLE_BITS;

/// The stride grows by one after `1 << SKIP_SHIFT` misses.
pub(super) const SKIP_SHIFT: u32 = 6;

/// A match is rare when it has less than one byte for so many literals before it, as a power of two.
const RARE_SHIFT: u32 = 7;

/// From the third rare match in a row on the stride is kept, but for what exceeds the first one by
/// so much: where something that repeats begins after all, a longer one would pass over it.
const RARE_AGAIN: u32 = 2;
const KEPT_STRIDE: usize = 16;

/// How far an encoder has come.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// The literals from here on are not written yet.
    pub(super) anchor: usize,
    /// The next position to look up.
    pub(super) at: usize,
    /// How many misses the stride is made for, and how many it begins with.
    pub(super) misses: usize,
    pub(super) first_misses: usize,
    /// How many matches in a row were rare.
    pub(super) rare: u32,
}

/// What was written in a row of sequences.
pub(super) struct Window {
    /// Bytes of input, and of the block.
    pub(super) read: usize,
    pub(super) written: usize,
    /// Rows of matches without literals between them.
    pub(super) sequences: usize,
    /// Those of them whose first distance is a multiple of 4.
    pub(super) aligned: usize,
}

/// Writes sequences whose matches have at least `LEAST` bytes, from `progress` on, until they hold
/// `stretch` bytes of input; tells then what they hold. `None` inside when no further match was
/// found: what follows the anchor are the last literals. `None` when the block is full.
///
/// # Safety
///
/// * `progress.anchor < progress.at`, and `progress.at + MATCH_MARGIN <= input.len()`.
/// * The table holds positions before `progress.at`, entered with the same `KEY`, or zeros.
/// * With a `KEY` of 4 the input has 65 536 bytes at most.
pub(super) unsafe fn search<const KEY: usize, const LEAST: usize>(
    table: &mut Table,
    input: &[u8],
    progress: &mut Progress,
    stretch: usize,
    block: &mut Block<'_>,
) -> Option<Option<Window>> {
    let base = input.as_ptr();
    let last_begin = input.len() - MATCH_MARGIN;
    let match_limit = input.len() - LAST_LITERALS;
    let Progress { mut anchor, mut at, mut misses, first_misses, mut rare } = *progress;
    let (first, before, end) = (anchor, block.len(), anchor + stretch);
    let (mut sequences, mut aligned) = (0, 0);
    while at <= last_begin {
        // SAFETY: `at <= last_begin`.
        let found = unsafe { find::<KEY, LEAST>(table, base, at, last_begin, &mut misses) };
        let Some((place, earlier)) = found else { break };
        let mut distance = place - earlier;
        sequences += 1;
        aligned += usize::from(distance.is_multiple_of(4));
        // SAFETY: `anchor <= place`, `distance <= place` and not zero; the match is 4 long at least.
        unsafe {
            let begin = place - common_before(base, anchor, place, distance);
            at = match_end(base, place, distance, match_limit);
            block.push(input, anchor, begin, distance, at - begin)?;
            rare = if (begin - anchor) >> RARE_SHIFT > at - begin { rare + 1 } else { 0 };
        }
        let kept = if rare <= RARE_AGAIN { 0 } else { KEPT_STRIDE << SKIP_SHIFT };
        misses = misses.min(first_misses + kept);
        loop {
            anchor = at;
            if at > last_begin {
                break;
            }
            // SAFETY: `at <= last_begin`, so that 8 bytes follow it and the position before; the
            // distance came out of `replace`, not zero.
            unsafe {
                replace::<KEY>(table, hash::<KEY>(base.add(at - 2)), at - 2);
                let earlier = replace::<KEY>(table, hash::<KEY>(base.add(at)), at);
                if !is_match::<KEY, LEAST>(base, at, earlier) {
                    break;
                }
                distance = at - earlier;
                at = match_end(base, at, distance, match_limit);
                block.push_bare(distance, at - anchor)?;
            }
        }
        at += 1;
        if anchor >= end && at <= last_begin {
            *progress = Progress { anchor, at, misses, first_misses, rare };
            let (read, written) = (anchor - first, block.len() - before);
            return Some(Some(Window { read, written, sequences, aligned }));
        }
    }
    progress.anchor = anchor;
    Some(None)
}

/// The first position from `at` on that matches, and the earlier one that it matches. Enters all
/// positions that were looked up.
///
/// # Safety
///
/// `0 < at <= last_begin`, and 8 bytes of input follow `last_begin`.
#[inline(always)]
unsafe fn find<const KEY: usize, const LEAST: usize>(
    table: &mut Table,
    base: *const u8,
    mut at: usize,
    last_begin: usize,
    misses: &mut usize,
) -> Option<(usize, usize)> {
    // SAFETY: positions that are looked up are `<= last_begin`, so the 8 bytes read for a hash lie
    // in the input; earlier positions all the more.
    unsafe {
        let mut next_hash = hash::<KEY>(base.add(at));
        let mut step = 1;
        loop {
            let next = at + step;
            step = *misses >> SKIP_SHIFT;
            *misses += 1;
            if next > last_begin {
                return None;
            }
            let key = next_hash;
            next_hash = hash::<KEY>(base.add(next));
            let earlier = replace::<KEY>(table, key, at);
            if is_match::<KEY, LEAST>(base, at, earlier) {
                return Some((at, earlier));
            }
            at = next;
        }
    }
}

/// Enters `at`.
///
/// # Safety
///
/// `at + 8 <= input.len()`, and with a `KEY` of 4 the input has 65 536 bytes at most.
pub(super) unsafe fn enter<const KEY: usize>(table: &mut Table, input: &[u8], at: usize) {
    debug_assert!(at + 8 <= input.len() && (KEY != 4 || input.len() <= 1 << 16));
    // SAFETY: `at + 8 <= input.len()`: `index_history` passes positions up to the start of the
    // source and `encode_long` position 0, and `Encoder::encode` checked that more than
    // `MATCH_MARGIN` (12) bytes follow that start. The slot comes from `hash` with the same `KEY`.
    unsafe { replace::<KEY>(table, hash::<KEY>(input.as_ptr().add(at)), at) };
}

/// Where the match at `at` ends, of which the first 4 bytes are known to agree.
///
/// # Safety
///
/// `at + MIN_MATCH <= limit`, `limit` lies in the input that begins at `base`, and `distance <= at`.
#[inline(always)]
unsafe fn match_end(base: *const u8, at: usize, distance: usize, limit: usize) -> usize {
    // SAFETY: all reads end at or before `limit`.
    unsafe {
        let rest = at + MIN_MATCH;
        if rest + 8 <= limit {
            let difference = load_8(base.add(rest)) ^ load_8(base.add(rest - distance));
            if difference != 0 {
                return rest + (difference.trailing_zeros() / 8) as usize;
            }
        }
        rest + common_length(base, rest, distance, limit)
    }
}

/// Enters `at` and returns the position that was there before, or the zero of an empty slot: always
/// one before `at`, as positions are entered in their order.
///
/// # Safety
///
/// `key` comes from [`hash`] with the same `KEY`; with a `KEY` of 4 the input is a short one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "positions fit the entries")]
unsafe fn replace<const KEY: usize>(table: &mut Table, key: usize, at: usize) -> usize {
    // SAFETY: a hash is less than the number of entries, of either size.
    unsafe {
        if KEY == 4 {
            let slot = table.as_mut_ptr().cast::<u16>().add(key);
            usize::from(slot.replace(at as u16))
        } else {
            table.as_mut_ptr().add(key).replace(at as u32) as usize
        }
    }
}

/// Whether the `LEAST` (4 to 8) bytes at `at` are those at `earlier`, which comes from [`replace`], and
/// within reach.
///
/// # Safety
///
/// `earlier < at`, and 8 bytes from `base + at` are readable.
#[inline(always)]
unsafe fn is_match<const KEY: usize, const LEAST: usize>(
    base: *const u8,
    at: usize,
    earlier: usize,
) -> bool {
    debug_assert!(earlier < at);
    if KEY > 4 && at - earlier > MAX_DISTANCE {
        return false;
    }
    // SAFETY: 8 bytes can be read at `at`: `find` and `search` pass positions up to `last_begin`,
    // which lies `MATCH_MARGIN` (12) bytes before the end of the input. `earlier < at`, as it comes
    // from `replace`, and positions are entered in their order.
    unsafe {
        let (here, there) = (base.add(at), base.add(earlier));
        if LEAST == MIN_MATCH {
            load_4(here) == load_4(there)
        } else {
            (load_8(here) ^ load_8(there)) << (64 - 8 * LEAST) == 0
        }
    }
}

/// The table's slot for the `KEY` bytes at `src`.
///
/// # Safety
///
/// 8 bytes from `src` must be readable.
#[inline(always)]
unsafe fn hash<const KEY: usize>(src: *const u8) -> usize {
    // SAFETY: 8 bytes can be read at `src`: `find` and `search` hash positions up to `last_begin`,
    // which lies `MATCH_MARGIN` (12) bytes before the end of the input, and `enter` requires 8
    // bytes.
    unsafe {
        if KEY == 4 {
            (load_4(src).wrapping_mul(0x9E37_79B1) >> (32 - TABLE_BITS - 1)) as usize
        } else {
            let bytes = load_8(src) << (64 - 8 * KEY);
            (bytes.wrapping_mul(0x9FB2_1C65_1E98_DF25) >> (64 - TABLE_BITS)) as usize
        }
    }
}
