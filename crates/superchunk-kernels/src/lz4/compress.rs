//! The fast LZ4 encoder: one probe a position, longer strides where nothing matches.
//!
//! A table remembers for each hash of 4 (or 5) bytes the last position that had it. The encoder
//! walks the input, looks each position up and takes the first match it meets. Every 64 misses (at
//! acceleration 1) the stride grows by one, so incompressible stretches are crossed quickly.
//!
//! The table has 16 KiB, half of what the fastest cache holds: 8192 positions of 16 bits for inputs
//! up to 64 KiB, 4096 positions of 32 bits for longer ones.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::copy::{load_4, load_8};
use crate::lz4::common::{common_before, common_length, with_history};
use crate::lz4::emit::Block;
use crate::lz4::{LAST_LITERALS, MATCH_MARGIN, MAX_DISTANCE, MIN_MATCH};

/// Encodes LZ4 blocks quickly; keeps its working memory between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Clone, Debug)]
pub struct Encoder {
    table: Box<Table>,
    /// The dictionary and the input in one piece, when there is a dictionary.
    joined: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder with an empty table.
    #[must_use]
    pub fn new() -> Self {
        Encoder { table: Box::new([0; TABLE_SIZE]), joined: Vec::new() }
    }

    /// Encodes `src` into `dst` and returns the length of the block, or `None` if it does not fit.
    ///
    /// `acceleration` is 1 for the best ratio; each step more makes the strides through
    /// incompressible data grow faster (0 counts as 1). Matches may refer to `dict`, of which the
    /// last 64 KiB count; the decoder then needs the same `dict`.
    pub fn compress(
        &mut self,
        acceleration: u32,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        self.table.fill(0);
        let misses = (acceleration.clamp(1, 65_536) as usize) << SKIP_SHIFT;
        let (input, start) = with_history(dict, src, &mut self.joined);
        if input.len() <= SHORT_INPUT {
            encode::<4>(&mut self.table, input, start, misses, dst)
        } else {
            encode::<5>(&mut self.table, input, start, misses, dst)
        }
    }
}

/// The last position of each hash. For a short input, entries are half as long and twice as many.
type Table = [u32; TABLE_SIZE];

const TABLE_BITS: u32 = 12;
const TABLE_SIZE: usize = 1 << TABLE_BITS;

/// The stride grows by one after `1 << SKIP_SHIFT` misses.
const SKIP_SHIFT: u32 = 6;

/// Inputs up to this length are hashed by 4 bytes, longer ones by 5: with more positions than the
/// table can hold, the ones that are likely to match for longer are the ones to keep. All positions
/// of a short input fit 16 bits and lie within reach.
const SHORT_INPUT: usize = 1 << 16;

/// Encodes `input[start..]` with `input[..start]` as history; hashes `KEY` bytes.
fn encode<const KEY: usize>(
    table: &mut Table,
    input: &[u8],
    start: usize,
    first_misses: usize,
    dst: &mut [u8],
) -> Option<usize> {
    let mut block = Block::new(dst);
    let mut anchor = start;
    // The table holds positions of 32 bits; a longer input would be a block of literals.
    if input.len() - start > MATCH_MARGIN && u32::try_from(input.len()).is_ok() {
        // SAFETY: `start + MATCH_MARGIN < input.len()`, as `encode_matches` asks.
        unsafe {
            index_history::<KEY>(table, input, start);
            anchor = encode_matches::<KEY>(table, input, start, first_misses, &mut block)?;
        }
    }
    block.finish(input.get(anchor..)?)
}

/// Enters the positions of the dictionary, every third: their neighbours are found by extending
/// matches backwards.
///
/// # Safety
///
/// At least 8 bytes of input follow `start`.
unsafe fn index_history<const KEY: usize>(table: &mut Table, input: &[u8], start: usize) {
    for at in (0..start).step_by(3) {
        // SAFETY: `at < start`, and 8 bytes follow that.
        unsafe { replace::<KEY>(table, hash::<KEY>(input.as_ptr().add(at)), at) };
    }
}

/// Writes all sequences that have a match; returns where the last literals begin.
///
/// # Safety
///
/// `start + MATCH_MARGIN < input.len()`.
unsafe fn encode_matches<const KEY: usize>(
    table: &mut Table,
    input: &[u8],
    start: usize,
    first_misses: usize,
    block: &mut Block<'_>,
) -> Option<usize> {
    let base = input.as_ptr();
    let last_begin = input.len() - MATCH_MARGIN;
    let match_limit = input.len() - LAST_LITERALS;
    let mut anchor = start;
    // SAFETY: here and below, positions that are looked up are `<= last_begin`, so the 8 bytes
    // read for a hash lie in the input; earlier positions all the more.
    let mut next_hash = unsafe {
        replace::<KEY>(table, hash::<KEY>(base.add(start)), start);
        hash::<KEY>(base.add(start + 1))
    };
    let mut at = start + 1;
    loop {
        let mut misses = first_misses;
        let mut next = at;
        let mut step = 1;
        let mut earlier;
        loop {
            at = next;
            next += step;
            step = misses >> SKIP_SHIFT;
            misses += 1;
            if next > last_begin {
                return Some(anchor);
            }
            let key = next_hash;
            // SAFETY: see above; `earlier <= at`.
            unsafe {
                next_hash = hash::<KEY>(base.add(next));
                earlier = replace::<KEY>(table, key, at);
                if is_match::<KEY>(base, at, earlier) {
                    break;
                }
            }
        }
        let mut distance = at - earlier;
        // SAFETY: `anchor <= at`, `distance <= at` and not zero; the match is 4 long at least.
        unsafe {
            let begin = at - common_before(base, anchor, at, distance);
            at = match_end(base, at, distance, match_limit);
            block.push(input, anchor, begin, distance, at - begin)?;
        }
        loop {
            anchor = at;
            if at > last_begin {
                return Some(anchor);
            }
            // SAFETY: see above; `distance` came out of `replace`, not zero.
            unsafe {
                replace::<KEY>(table, hash::<KEY>(base.add(at - 2)), at - 2);
                earlier = replace::<KEY>(table, hash::<KEY>(base.add(at)), at);
                if !is_match::<KEY>(base, at, earlier) {
                    break;
                }
                distance = at - earlier;
                at = match_end(base, at, distance, match_limit);
                block.push_bare(distance, at - anchor)?;
            }
        }
        at += 1;
        if at > last_begin {
            return Some(anchor);
        }
        // SAFETY: see above.
        next_hash = unsafe { hash::<KEY>(base.add(at)) };
    }
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

/// Whether the 4 bytes at `at` are those at `earlier`, which comes from [`replace`], and within reach.
///
/// # Safety
///
/// 4 bytes from `base + at` are readable.
#[inline(always)]
unsafe fn is_match<const KEY: usize>(base: *const u8, at: usize, earlier: usize) -> bool {
    // SAFETY: the caller's promise; `earlier` lies before `at`.
    (KEY == 4 || at - earlier <= MAX_DISTANCE)
        && unsafe { load_4(base.add(at)) == load_4(base.add(earlier)) }
}

/// The table's slot for the `KEY` bytes at `src`.
///
/// # Safety
///
/// 8 bytes from `src` must be readable.
#[inline(always)]
unsafe fn hash<const KEY: usize>(src: *const u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        if KEY == 4 {
            (load_4(src).wrapping_mul(0x9E37_79B1) >> (32 - TABLE_BITS - 1)) as usize
        } else {
            let bytes = load_8(src) << 24;
            (bytes.wrapping_mul(0x9FB2_1C65_1E98_DF25) >> (64 - TABLE_BITS)) as usize
        }
    }
}
