//! The BloscLZ encoder: a hash of every position it visits, the newest earlier position with the
//! same hash as the only candidate, and the stream written while searching.
//!
//! What makes it quick:
//! - the table is never cleared. Entries are positions counted over the whole life of the encoder,
//!   so an entry left by an earlier call lies before the first byte of this input, is recognised by
//!   that, and cannot change the output;
//! - five or six bytes are hashed and compared: shorter coincidences cost about what they save;
//! - a few samples tell whether there is anything to find before the whole input is read;
//! - the step grows while nothing is found. Noise is crossed in strides, and because literals are
//!   written only when a match follows, it is not copied either before the encoder gives up.
//!
//! What makes it dense: the search after a long match begins one byte before its end. Filtered
//! numbers are mostly runs, `AAAAAAABBBBBB`: the string `ABBBBB` has been seen before where the same
//! step occurred, and leads further than `BBBBBB`, which is found in any run of that byte.

use super::output::Output;
use super::{FAR_BASE, MAX_DISTANCE};
use crate::copy;
use crate::marks::Marker;
use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

/// Inputs shorter than this are never worth a stream.
const MIN_INPUT: usize = 16;

/// A longer one must become smaller by `len >> LONG_GAIN`.
const LONG_GAIN: u32 = 2;

/// Positions nearer than this to the end are not searched: the search loads eight bytes.
const TAIL: usize = 12;

/// Entries of the search table: 16 KiB, so that it stays in the fastest cache. A larger one finds more,
/// but further away, where a match takes two bytes more.
const TABLE_LEN: usize = 1 << TABLE_BITS;
const TABLE_BITS: u32 = 12;

/// Matches of this length give their last byte back to the search.
const GIVE_BACK: usize = 16;

/// So do matches of this length, the first that takes a byte more.
const DEARER: usize = 9;

/// Misses after which the step of the search grows by one byte.
const PATIENCE: usize = 64;

/// How many samples of a short input are looked at first.
const SHORT_SAMPLES: usize = 8;

/// And of a long one: with fewer, blocks of noise in which little repeats itself are taken for more.
const LONG_SAMPLES: usize = 16;

/// Bytes of one sample.
const SAMPLE: usize = 128;

/// What a compression level changes.
struct Effort {
    /// The longest step over bytes that match nothing.
    max_step: usize,
    /// The shortest match at a distance below [`FAR_BASE`]; a far one takes two bytes more.
    min_len: usize,
    /// Inputs up to this length are short. At low levels those of all blocks are: they are chosen for data that gain little.
    short: usize,
    /// The output of a short input must be smaller by `len >> min_gain`: it takes time to decode.
    min_gain: u32,
}

/// A BloscLZ encoder. It owns the search table (16 KiB on the heap), which every call reuses.
pub struct Encoder {
    table: Box<[u32]>,
    /// The life-long position of the next input's first byte: never 0, which means "no entry".
    base: u32,
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl Encoder {
    /// Makes an encoder.
    #[must_use]
    pub fn new() -> Self {
        Self { table: vec![0; TABLE_LEN].into_boxed_slice(), base: 1 }
    }

    /// Compresses `src` into `dst` and returns the length of the stream.
    ///
    /// `level` is 1 (fast) to 9 (small); values outside are taken as the nearest of these. `None`
    /// means that the stream does not fit into `dst`, or that it would save too little to be worth
    /// decoding: store the bytes as they are. Inputs of 4 GiB and more are never compressed. The
    /// result depends on the arguments alone, not on what the encoder did before.
    pub fn compress(&mut self, level: u8, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.encode(level, src, dst, None)
    }

    /// Compresses like [`compress`](Self::compress), and has places of the stream marked.
    pub fn compress_marked(
        &mut self,
        level: u8,
        src: &[u8],
        dst: &mut [u8],
        marker: &mut Marker,
    ) -> Option<usize> {
        self.encode(level, src, dst, Some(marker))
    }

    fn encode(
        &mut self,
        level: u8,
        src: &[u8],
        dst: &mut [u8],
        marker: Option<&mut Marker>,
    ) -> Option<usize> {
        if src.len() < MIN_INPUT {
            return None;
        }
        let effort = match level {
            0..=3 => Effort { max_step: 16, min_len: 6, short: 1 << 16, min_gain: 5 },
            4..=6 => Effort { max_step: 16, min_len: 6, short: 1 << 14, min_gain: 5 },
            7..=8 => Effort { max_step: 16, min_len: 5, short: 1 << 14, min_gain: 6 },
            _ => Effort { max_step: 8, min_len: 5, short: 1 << 14, min_gain: 6 },
        };
        let base = self.reserve(src.len())?;
        let min_gain = if src.len() > effort.short { LONG_GAIN } else { effort.min_gain };
        let room = dst.len().min(src.len() - (src.len() >> min_gain).max(1));
        let mut out = Output::new(dst.get_mut(..room)?, marker);
        let table = self.table.first_chunk_mut::<TABLE_LEN>()?;
        let tail = match level {
            0..=6 => Search::<6> { src, table, base }.run(&effort, &mut out),
            _ => Search::<5> { src, table, base }.run(&effort, &mut out),
        }?;
        out.literals(src, tail, src.len())?;
        // The mark that every writer of this format sets in the first token.
        *out.dst.first_mut()? |= 0x20;
        Some(out.at)
    }

    /// Reserves life-long positions for an input of `len` bytes and returns the first.
    fn reserve(&mut self, len: usize) -> Option<u32> {
        let len = u32::try_from(len).ok()?;
        if self.base.checked_add(len).is_none() {
            self.table.fill(0);
            self.base = 1;
        }
        let base = self.base;
        self.base = base.checked_add(len)?;
        Some(base)
    }
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

/// The search for repetitions, with `BYTES` bytes hashed and compared.
///
/// Invariant, established by [`Encoder::compress`]: `src` has at least [`MIN_INPUT`] bytes.
struct Search<'a, const BYTES: u32> {
    src: &'a [u8],
    table: &'a mut [u32; TABLE_LEN],
    /// The life-long position of `src[0]`; that of its end fits into 32 bits too.
    base: u32,
}

impl<const BYTES: u32> Search<'_, BYTES> {
    /// Writes all matches and the literals before them; returns where the last literals begin.
    fn run(&mut self, effort: &Effort, out: &mut Output<'_>) -> Option<usize> {
        if !self.promising(effort) {
            return None;
        }
        let limit = self.last_visited();
        let mut anchor = 0;
        let mut at = 1;
        // SAFETY: the first position, of at least `MIN_INPUT`.
        unsafe { self.visit(0) };
        while let Some((hit, dist)) = self.find(at, limit, 1, effort.max_step) {
            // SAFETY: `find` returns a position with as many bytes before it as the distance, and four that
            // repeat.
            let end = unsafe { self.end_of(hit, dist) };
            let start = if hit > anchor { self.start_of(hit, dist, anchor.max(1)) } else { hit };
            let min_len = if dist < FAR_BASE { effort.min_len } else { effort.min_len + 2 };
            if end - start < min_len {
                at = hit + 1;
                continue;
            }
            let len = end - start;
            at = end - usize::from(len >= GIVE_BACK || len == DEARER);
            if out.at >= out.due {
                out.mark(anchor..start, dist, at - start);
            }
            if start > anchor {
                out.literals(self.src, anchor, start)?;
            }
            anchor = at;
            out.repeat(at - start, dist)?;
            if at <= limit {
                // SAFETY: `limit` is the last position that may be visited, and a match is not empty.
                unsafe { self.visit(at - 1) };
            }
        }
        Some(anchor)
    }

    /// Whether samples spread over the input contain repetitions worth a closer look.
    ///
    /// Bit-shuffled blocks are noise in one place and runs in another, so a few bytes in many places
    /// tell more than many bytes in one. One byte in sixteen must repeat; of a long input three, and
    /// something in more than five of sixteen places. The rest would be literals, and to decode
    /// the whole takes longer than a quarter of its size is worth.
    fn promising(&mut self, effort: &Effort) -> bool {
        let is_short = self.src.len() <= effort.short;
        let samples = if is_short { SHORT_SAMPLES } else { LONG_SAMPLES };
        let stride = self.src.len() / samples;
        if stride < 2 * SAMPLE {
            return true;
        }
        let mut repeated = 0;
        let mut barren = 0;
        for start in (stride / 2 - SAMPLE / 2..self.src.len() - SAMPLE).step_by(stride) {
            let end = start + SAMPLE;
            let mut at = start;
            let before = repeated;
            while let Some((hit, _)) = self.find(at, end, 2, 2) {
                repeated += 8;
                at = hit + 8;
            }
            barren += usize::from(repeated == before);
        }
        if is_short {
            return repeated * 16 >= samples * SAMPLE;
        }
        barren * 16 < samples * 11 && repeated * 16 >= 3 * samples * SAMPLE
    }

    /// The last position that may be visited.
    #[inline(always)]
    fn last_visited(&self) -> usize {
        self.src.len() - TAIL
    }

    /// The first position from `at` to `limit` that has a candidate, and the distance to it. The
    /// step grows from `step` to `max_step`.
    #[inline(always)]
    fn find(
        &mut self,
        mut at: usize,
        limit: usize,
        step: usize,
        max_step: usize,
    ) -> Option<(usize, usize)> {
        let limit = limit.min(self.last_visited());
        let mut misses = step * PATIENCE;
        while at <= limit {
            // SAFETY: `at` is at most the last position that may be visited.
            if let Some(dist) = unsafe { self.visit(at) } {
                return Some((at, dist));
            }
            at += (misses / PATIENCE).min(max_step);
            misses += 1;
        }
        None
    }

    /// Enters position `at` into the table and returns the distance to the one it replaces, if that
    /// is within reach and begins with the same bytes.
    ///
    /// # Safety
    ///
    /// `at` must be at least eight bytes before the end of `src`.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "positions of one life fit into 32 bits")]
    unsafe fn visit(&mut self, at: usize) -> Option<usize> {
        // SAFETY: `at + 8 <= src.len()`, which `load` asserts: `run` and `find` pass positions up
        // to `last_visited`, `TAIL` (12) bytes before the end.
        let word = unsafe { self.load(at) } << (64 - 8 * BYTES);
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TABLE_BITS);
        let here = self.base.wrapping_add(at as u32);
        let entry = self.table.get_mut(hash as usize & (TABLE_LEN - 1))?;
        let dist = here.wrapping_sub(*entry) as usize;
        *entry = here;
        if dist.wrapping_sub(1) >= at.min(MAX_DISTANCE) {
            return None;
        }
        // SAFETY: `dist` is 1 to `at` (just checked), so this position lies before `at`.
        let there = unsafe { self.load(at - dist) } << (64 - 8 * BYTES);
        (there == word).then_some(dist)
    }

    /// Where a match found at `at` begins, `from` at the earliest.
    #[inline(always)]
    fn start_of(&self, at: usize, dist: usize, from: usize) -> usize {
        let mut start = at;
        while start > from
            && start > dist
            && self.src.get(start - 1) == self.src.get(start - 1 - dist)
        {
            start -= 1;
        }
        start
    }

    /// Where a match found at `at` ends, the last byte but one at the latest, so that the stream ends
    /// in a literal.
    ///
    /// # Safety
    ///
    /// `dist <= at`, and four bytes are known to agree.
    #[inline(always)]
    unsafe fn end_of(&self, at: usize, dist: usize) -> usize {
        let end = self.src.len() - 1;
        let later = at + 4;
        if later + 16 <= end {
            // SAFETY: `end` is less than the length of `src`, and `dist` at most `at`.
            unsafe {
                let diff = self.load(later) ^ self.load(later - dist);
                if diff != 0 {
                    return later + (diff.trailing_zeros() / 8) as usize;
                }
                let diff = self.load(later + 8) ^ self.load(later + 8 - dist);
                if diff != 0 {
                    return later + 8 + (diff.trailing_zeros() / 8) as usize;
                }
            }
        }
        at + self.long_common(at, dist, end)
    }

    /// How many bytes from `at` on agree with those `dist` before, up to `end`; four are known to.
    #[inline(never)]
    fn long_common(&self, at: usize, dist: usize, end: usize) -> usize {
        let earlier = at - dist;
        let mut len = 4;
        while at + len + 32 <= end && self.chunk::<32>(earlier + len) == self.chunk(at + len) {
            len += 32;
        }
        while at + len + 8 <= end {
            let diff = self.difference(earlier + len, at + len);
            if diff != 0 {
                return len + (diff.trailing_zeros() / 8) as usize;
            }
            len += 8;
        }
        while at + len < end && self.src.get(earlier + len) == self.src.get(at + len) {
            len += 1;
        }
        len
    }

    /// Where the eight bytes at two positions differ, as bits of one word.
    #[inline(always)]
    fn difference(&self, one: usize, other: usize) -> u64 {
        match (self.chunk(one), self.chunk(other)) {
            (Some(one), Some(other)) => u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other),
            _ => 1,
        }
    }

    #[inline(always)]
    fn chunk<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        self.src.get(at..)?.first_chunk()
    }

    /// Eight bytes from `at` on.
    ///
    /// # Safety
    ///
    /// `at` must be at least eight bytes before the end of `src`.
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> u64 {
        debug_assert!(at + 8 <= self.src.len(), "the caller left no room for a word");
        // SAFETY: `at + 8 <= src.len()`: `visit` passes positions up to `last_visited`, which lies
        // `TAIL` (12) bytes before the end, and `end_of` compares `later + 16` with the length.
        unsafe { copy::load_8(self.src.as_ptr().add(at)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn text() -> Vec<u8> {
        (0..4000_u32).flat_map(|i| (i * i % 4093 / 7).to_le_bytes()).collect()
    }

    #[test]
    fn life_long_positions_start_again_when_they_run_out() {
        let src = text();
        let mut dst = vec![0; src.len()];
        let len = Encoder::new().compress(5, &src, &mut dst).unwrap();
        let expected = dst[..len].to_vec();
        let mut encoder = Encoder::new();
        encoder.base = u32::MAX - 3 * 16_000 / 2;
        for _ in 0..3 {
            let len = encoder.compress(5, &src, &mut dst).unwrap();
            assert_eq!(dst[..len], expected);
        }
        assert!(encoder.base < 100_000, "the positions began anew");
    }
}
