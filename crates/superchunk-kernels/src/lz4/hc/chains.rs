//! Every earlier position, chained by the hash of its first 4 bytes.
//!
//! `head` holds for each hash the latest position that has it; `back` holds for each of the last
//! 65 536 positions how far before it the previous one with the same hash lies; where there is none
//! within reach, the largest step, which leads out of reach from anywhere. A search follows these
//! steps back in time and compares.

use alloc::boxed::Box;
use alloc::vec;

use crate::common::common_length;
use crate::copy::{load_2, load_4};
use crate::lz4::{MAX_DISTANCE, MIN_MATCH};

/// The chains of one input.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    head: Box<[u32]>,
    /// 32 less the base-2 logarithm of how many heads are in use.
    shift: u32,
    back: Box<[u16]>,
    /// The first position that has not been entered.
    next: usize,
}

/// What a search found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) begin: usize,
    pub(super) length: usize,
    pub(super) distance: usize,
}

impl Match {
    pub(super) fn end(&self) -> usize {
        self.begin + self.length
    }
}

/// How long a search goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// So many earlier positions are compared at most.
    pub(super) depth: usize,
    /// After so many it ends unless a match of `fair` bytes was found: where the first ones are
    /// short, the others are, too.
    pub(super) doubt: usize,
    pub(super) fair: usize,
}

/// No search looks for a match longer than this: the gain would be a few bytes in hundreds.
pub(super) const ENOUGH: usize = 256;

/// There are as many heads as the input has positions, within these bounds. With fewer the chains of
/// data that hardly repeats are longer, and every step that only leads to another hash is a wait for
/// memory; more than a short input needs would only have to be cleared.
const HEAD_BITS: core::ops::RangeInclusive<u32> = 12..=16;

const REACH: usize = 1 << 16;

impl Default for Chains {
    fn default() -> Self {
        Chains {
            head: vec![0; 1 << *HEAD_BITS.end()].into_boxed_slice(),
            shift: 32 - *HEAD_BITS.end(),
            back: vec![0; REACH].into_boxed_slice(),
            next: 0,
        }
    }
}

impl Chains {
    /// Forgets all positions, and prepares for an input of `len` bytes and searches from `start` on.
    /// The steps back need no clearing: each is written before it is read.
    pub(super) fn clear(&mut self, len: usize, start: usize) {
        let bits = len.max(1).ilog2().clamp(*HEAD_BITS.start(), *HEAD_BITS.end());
        self.shift = 32 - bits;
        self.head.iter_mut().take(1 << bits).for_each(|head| *head = 0);
        self.next = start.saturating_sub(MAX_DISTANCE);
    }

    /// Enters all positions before `end`.
    ///
    /// # Safety
    ///
    /// `end + 3 <= input.len()`, and positions fit 32 bits.
    #[inline(always)]
    pub(super) unsafe fn enter_until(&mut self, input: &[u8], end: usize) {
        let base = input.as_ptr();
        while self.next < end {
            // SAFETY: 4 bytes follow each position before `end`; a hash is below the table's size
            // and a position modulo `REACH` below that.
            unsafe { self.enter(base, self.next) };
            self.next += 1;
        }
    }

    /// Enters one position.
    ///
    /// # Safety
    ///
    /// 4 bytes at `base + at` are readable.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions fit 32 bits, steps 16")]
    unsafe fn enter(&mut self, base: *const u8, at: usize) {
        // SAFETY: the hash is below the table's size, the remainder below `REACH`.
        unsafe {
            let head = self.head.get_unchecked_mut(hash(load_4(base.add(at)), self.shift));
            let step = at - *head as usize;
            *head = at as u32;
            let step = if step.wrapping_sub(1) < MAX_DISTANCE { step as u16 } else { u16::MAX };
            *self.back.get_unchecked_mut(at % REACH) = step;
        }
    }

    /// Calls `weigh` with the length and the distance of matches at `at`, from the nearest on, among
    /// the latest positions of the chain, as long as `patience` lasts. It returns what it knows from
    /// then on: a length, and how many bytes before `at` belong to a match. Only what is longer is of
    /// interest, or goes further back; and that only within the last `room` bytes before `at`.
    /// Enters all positions before `at`.
    ///
    /// # Safety
    ///
    /// * `at + MATCH_MARGIN <= input.len()`, and positions fit 32 bits;
    /// * `limit = input.len() - LAST_LITERALS`, where matches end at the latest;
    /// * `weigh` returns the length it was called with;
    /// * `room <= at`;
    /// * no position after `at` was searched before.
    #[inline(always)]
    pub(super) unsafe fn search(
        &mut self,
        input: &[u8],
        at: usize,
        limit: usize,
        patience: Patience,
        room: usize,
        mut weigh: impl FnMut(usize, usize) -> (usize, usize),
    ) {
        let base = input.as_ptr();
        let mut known = MIN_MATCH - 1;
        let mut tail = 0;
        let mut lead = 0;
        // SAFETY: `known` ends at `limit` at most, so that the 2 bytes which hold its last byte
        // and the one after it lie in the input, and what they are compared with lies before.
        // Steps lead from entered positions to earlier ones, and no distance exceeds `at`.
        unsafe {
            self.enter_until(input, at);
            let begin = load_4(base.add(at));
            let mut distance = at - *self.head.get_unchecked(hash(begin, self.shift)) as usize;
            if distance == 0 {
                return;
            }
            for tried in 0..patience.depth {
                let hopeless = tried >= patience.doubt && known < patience.fair;
                if hopeless || distance > MAX_DISTANCE {
                    break;
                }
                // Most of what is no longer than the known length differs at its end.
                let hopeful = known < MIN_MATCH
                    || load_2(base.add(at + known - 1 - distance)) == tail
                    || leads(base, at, lead, room, distance);
                if hopeful && load_4(base.add(at - distance)) == begin {
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
                distance += usize::from(*self.back.get_unchecked((at - distance) % REACH));
            }
        }
    }
}

/// Whether the byte before the last `lead` bytes before `at` is among the `room` bytes that count,
/// and the same as `distance` before.
///
/// # Safety
///
/// `room <= at`, and `at` lies in the input that begins at `base`.
#[inline(always)]
pub(super) unsafe fn leads(
    base: *const u8,
    at: usize,
    lead: usize,
    room: usize,
    distance: usize,
) -> bool {
    if lead >= room || at - lead <= distance {
        return false;
    }
    // SAFETY: both bytes lie before `at`, and not before the input, as was just seen.
    unsafe {
        let before = base.add(at - lead - 1);
        *before == *before.sub(distance)
    }
}

/// The slot of these 4 bytes.
#[inline(always)]
fn hash(bytes: u32, shift: u32) -> usize {
    (bytes.wrapping_mul(0x9E37_79B1) >> shift) as usize
}
