//! Ways: the last eight positions with the same hash, of which tags tell the ones to look at.
//!
//! Following a chain, the processor cannot foresee where it ends, and stumbles at every position.
//! Here one comparison of eight tags tells that there is nothing, which is mostly so and foreseen.

use crate::common::common_length;
use crate::copy::{load_4, load_8};
use crate::deflate::finder::Finder;
use crate::deflate::lazy::{Effort, Match};
use crate::deflate::model::Model;
use crate::deflate::symbols::MAX_DISTANCE;

pub(super) struct Ways;

/// Positions that are remembered for each hash.
pub(super) const WAYS: usize = 8;

pub(super) const WAYS_BITS: u32 = 13;

/// What is remembered for a hash: half a line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(super) struct Bucket {
    /// More bits of each position's hash, those of the latest one lowest.
    tags: u64,
    /// The low bits of the positions; they go around.
    positions: [u16; WAYS],
    /// How many positions were entered.
    entered: u32,
    /// The number of the stream that they belong to.
    stream: u32,
}

impl Bucket {
    /// Forgets what belongs to another stream.
    #[inline(always)]
    fn renew(&mut self, stream: u32) {
        if self.stream != stream {
            *self = Bucket { stream, ..Bucket::default() };
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
    fn enter(&mut self, tag: u8, at: usize) {
        self.tags = self.tags << 8 | u64::from(tag);
        // SAFETY: the index is masked.
        unsafe {
            *self.positions.get_unchecked_mut(self.entered as usize & (WAYS - 1)) = at as u16
        };
        self.entered = self.entered.wrapping_add(1);
    }

    /// How far before `at` the position lies that was entered `age` positions before the latest; if
    /// that is further than 16 bits tell, any number.
    #[inline(always)]
    fn distance(&self, age: u32, at: usize) -> usize {
        let index = self.entered.wrapping_sub(1 + age) as usize & (WAYS - 1);
        // SAFETY: the index is masked.
        let position = unsafe { *self.positions.get_unchecked(index) };
        at.wrapping_sub(usize::from(position)) & 0xFFFF
    }
}

/// The bucket and the tag of the first `KEY` bytes of a word.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "parts of the hash")]
fn hash<const KEY: u32>(word: u64) -> (usize, u8) {
    let product = (word << (64 - 8 * KEY)).wrapping_mul(0x9FB2_1C65_1E98_DF25);
    ((product >> (64 - WAYS_BITS)) as usize, (product >> (56 - WAYS_BITS)) as u8)
}

/// For each byte of `tags` that equals `tag`, its highest bit.
#[inline(always)]
fn equal_bytes(tags: u64, tag: u8) -> u64 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let difference = tags ^ (u64::from(tag) * 0x0101_0101_0101_0101);
    !(((difference & LOW) + LOW) | difference | LOW)
}

/// The slot for the 16 bytes at `src` in the table of long strings.
///
/// # Safety
///
/// 16 bytes from `src` are readable.
#[inline(always)]
unsafe fn long_hash(src: *const u8) -> usize {
    // SAFETY: 16 bytes can be read at `src`: `find`, `seek` and `enter` pass a position that is
    // followed by `MARGIN` (16) bytes, as `parse_keyed` keeps all of them below `last_begin`.
    let (first, second) = unsafe { (load_8(src), load_8(src.add(8))) };
    let mixed = first.wrapping_mul(0x9FB2_1C65_1E98_DF25) ^ second.rotate_left(29);
    (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - LONG_BITS)) as usize
}

pub(super) const LONG_BITS: u32 = 13;

impl Ways {
    /// Enters `at` and returns the match there that gains most: one that is longer than
    /// `longer_than`, or one at the last distance. Or [`Match::NONE`]. `KEY` bytes are hashed.
    ///
    /// # Safety
    ///
    /// [`MARGIN`](super::finder::MARGIN) bytes of `src` follow `at`, and `at + longer_than` is not after its end.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits")]
    pub(super) unsafe fn find<const KEY: u32>(
        effort: Effort,
        finder: &mut Finder,
        model: &Model,
        src: &[u8],
        at: usize,
        longer_than: usize,
    ) -> Match {
        let base = src.as_ptr();
        let number = finder.base + at as u32;
        let mut best = Match::NONE;
        // SAFETY: 16 bytes follow `at`, and a hash is a slot of the table. A distance that is used
        // is at most `at`; `at + longest` is below the end of the input where it is read.
        unsafe {
            let word = load_8(base.add(at));
            let (slot, tag) = hash::<KEY>(word);
            let bucket = finder.ways.get_unchecked_mut(slot);
            bucket.renew(finder.stream);
            let mut candidates = equal_bytes(bucket.tags, tag) & effort.ways;
            let reach = at.min(MAX_DISTANCE);
            let mut longest = longer_than.max(3);
            if KEY > 4 {
                let slot = finder.long.get_unchecked_mut(long_hash(base.add(at)));
                let long = number.wrapping_sub(core::mem::replace(slot, number)) as usize;
                for distance in [finder.last_distance, long] {
                    let is_match = distance.wrapping_sub(1) < reach
                        && load_4(base.add(at - distance)) == word as u32;
                    if is_match {
                        let length = 4 + common_length(base, at + 4, distance, src.len());
                        let gain = model.gain(length, distance);
                        if gain > best.gain {
                            best = Match { length, distance, gain };
                        }
                        longest = longest.max(length);
                    }
                }
            }
            while candidates != 0 && at + longest < src.len() && longest < effort.nice {
                let distance = bucket.distance(candidates.trailing_zeros() / 8, at);
                candidates &= candidates - 1;
                if distance.wrapping_sub(1) >= reach {
                    continue;
                }
                let there = base.add(at - distance);
                if load_4(there.add(longest - 3)) != load_4(base.add(at + longest - 3)) {
                    continue;
                }
                let length = common_length(base, at, distance, src.len());
                if length > longest {
                    longest = length;
                    let gain = model.gain(length, distance);
                    if gain > best.gain {
                        best = Match { length, distance, gain };
                    }
                }
            }
            bucket.enter(tag, at);
        }
        best
    }

    /// Enters `at` and every `stride`th position after it, up to the first one that may have a
    /// match; that one is not entered. Returns it, or a position at or after `limit`.
    ///
    /// # Safety
    ///
    /// [`MARGIN`](super::finder::MARGIN) bytes of `src` follow each position below `limit`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits")]
    pub(super) unsafe fn seek<const KEY: u32>(
        effort: Effort,
        finder: &mut Finder,
        src: &[u8],
        mut at: usize,
        limit: usize,
        stride: usize,
    ) -> usize {
        let base = src.as_ptr();
        let first_number = finder.base;
        let (last, stream) = (finder.last_distance, finder.stream);
        let ways = &mut *finder.ways;
        let long = &mut *finder.long;
        while at < limit {
            // SAFETY: 16 bytes follow `at`, and hashes are slots of their tables.
            unsafe {
                let word = load_8(base.add(at));
                let number = first_number + at as u32;
                let (slot, tag) = hash::<KEY>(word);
                let bucket = ways.get_unchecked_mut(slot);
                bucket.renew(stream);
                let mut found = equal_bytes(bucket.tags, tag) & effort.ways;
                if KEY > 4 {
                    let repeated = load_4(base.add(at - last.min(at)));
                    found |= u64::from(repeated == word as u32);
                }
                if found != 0 {
                    return at;
                }
                bucket.enter(tag, at);
                if KEY > 4 {
                    *long.get_unchecked_mut(long_hash(base.add(at))) = number;
                }
            }
            at += stride;
        }
        at
    }

    /// Enters a position.
    ///
    /// # Safety
    ///
    /// [`MARGIN`](super::finder::MARGIN) bytes of `src` follow `at`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits")]
    pub(super) unsafe fn enter<const KEY: u32>(finder: &mut Finder, src: &[u8], at: usize) {
        // SAFETY: 16 bytes follow `at`, and a hash is a slot of the table.
        unsafe {
            let word = load_8(src.as_ptr().add(at));
            let number = finder.base + at as u32;
            let (slot, tag) = hash::<KEY>(word);
            let bucket = finder.ways.get_unchecked_mut(slot);
            bucket.renew(finder.stream);
            bucket.enter(tag, at);
            if KEY > 4 {
                *finder.long.get_unchecked_mut(long_hash(src.as_ptr().add(at))) = number;
            }
        }
    }
}
