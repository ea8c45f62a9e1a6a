//! The fast LZ4 encoder: one probe a position, longer strides where nothing matches.
//!
//! A table remembers for each hash of 4 (or 5) bytes the last position that had it. The encoder
//! walks the input, looks each position up and takes the first match it meets. Every 64 misses (at
//! acceleration 1) the stride grows by one, so incompressible stretches are crossed quickly.
//!
//! The table holds positions modulo 65 536, 16 bits each. As no distance can exceed 65 535, the
//! nearest earlier position with these low bits is the only one of interest, and it is always
//! inside the input: a stale entry costs one failed comparison, never a bound check.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::copy::{load_4, load_8};
use crate::lz4::common::{common_before, common_length, with_history};
use crate::lz4::emit::Block;
use crate::lz4::{LAST_LITERALS, MATCH_MARGIN, MIN_MATCH};

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

/// The last position of each hash, modulo 65 536.
type Table = [u16; TABLE_SIZE];

const TABLE_BITS: u32 = 13;
const TABLE_SIZE: usize = 1 << TABLE_BITS;

/// The stride grows by one after `1 << SKIP_SHIFT` misses.
const SKIP_SHIFT: u32 = 6;

/// Inputs up to this length are hashed by 4 bytes, longer ones by 5: with more positions than the
/// table can hold, the ones that are likely to match for longer are the ones to keep. All positions
/// of a short input fit the table's entries, so that these need no arithmetic.
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
    if input.len() - start > MATCH_MARGIN {
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
                if load_4(base.add(at)) == load_4(base.add(earlier)) && earlier != at {
                    break;
                }
            }
        }
        let mut distance = at - earlier;
        // SAFETY: `anchor <= at`, and `distance <= at`.
        at -= unsafe { common_before(base, anchor, at, distance) };
        loop {
            // SAFETY: see above; `anchor <= at`, the match is 4 long at least and the distance
            // came out of `replace`, not zero.
            unsafe {
                let length = MIN_MATCH + common_length(base, at + MIN_MATCH, distance, match_limit);
                block.push(input, anchor, at, distance, length)?;
                at += length;
                anchor = at;
                if at > last_begin {
                    return Some(anchor);
                }
                replace::<KEY>(table, hash::<KEY>(base.add(at - 2)), at - 2);
                earlier = replace::<KEY>(table, hash::<KEY>(base.add(at)), at);
                if load_4(base.add(at)) != load_4(base.add(earlier)) || earlier == at {
                    break;
                }
                distance = at - earlier;
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

/// Enters `at` and returns the position that was there before, or `at` itself when the entry is
/// older than the longest distance by just as much.
///
/// The result is never later than `at`: below 65 536 all entries are earlier positions (or the
/// zero of an empty table), and from there on every 16-bit distance is less than `at`.
///
/// # Safety
///
/// `key < TABLE_SIZE`; with a `KEY` of 4 the input is a short one.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "positions are kept modulo 65 536")]
unsafe fn replace<const KEY: usize>(table: &mut Table, key: usize, at: usize) -> usize {
    // SAFETY: the caller's promise.
    let slot = unsafe { table.get_unchecked_mut(key) };
    let before = core::mem::replace(slot, at as u16);
    if KEY == 4 {
        return usize::from(before);
    }
    at - usize::from((at as u16).wrapping_sub(before))
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
            (load_4(src).wrapping_mul(0x9E37_79B1) >> (32 - TABLE_BITS)) as usize
        } else {
            let bytes = load_8(src) << 24;
            (bytes.wrapping_mul(0x9FB2_1C65_1E98_DF25) >> (64 - TABLE_BITS)) as usize
        }
    }
}
