//! Tells noise from everything else, so that no codec spends its time on it.
//!
//! The low bytes of measured numbers are noise: no codec makes them shorter, and thorough ones take
//! longest to find that out. Three questions are asked, each of a sample, the cheapest first; one
//! "yes" is enough to let the codec try:
//!
//! 1. Are some bytes more frequent than others? Then their codes can be shorter.
//! 2. Are some differences of neighbours more frequent? Counters and slow signals have flat bytes.
//! 3. Does anything come twice? Shuffled cards have flat bytes and flat differences.
//!
//! The first two compare counts with those of fair dice. A plane that passes for noise could have
//! been shortened by about 0.3 % at most.

#![expect(clippy::indexing_slicing, reason = "a byte indexes 256 counts, a hash its own table")]

use crate::copy::load_8;

/// Shorter inputs are never called noise: too few bytes to tell.
const MIN_LEN: usize = 4096;

/// Bytes that stand together in a sample.
const WINDOW: usize = 64;

/// How many windows the counts are made of, and into how many rounds these are divided: the first round settles most cases.
const WINDOWS: usize = 64;
const ROUNDS: usize = 4;

/// So many windows are looked at first.
const FEW: usize = 4;

/// Bytes between the places that are looked up for repetitions.
const STRIDE: usize = 16;
const PERIOD: usize = STRIDE * (STRIDE + 1);

/// So many repetitions may be chance.
const CHANCE: usize = 3;

const TABLE_BITS: u32 = 12;

/// Whether `src` is noise, as far as a sample shows.
#[must_use]
pub fn is_noise(src: &[u8]) -> bool {
    src.len() >= MIN_LEN && has_flat_counts(src) && repetitions(src) <= CHANCE
}

/// Whether bytes and differences of neighbours in some windows are as frequent as those of dice.
fn has_flat_counts(src: &[u8]) -> bool {
    let mut bytes = [0_u32; 256];
    let distance = src.len() / WINDOWS;
    let mut total = 0;
    for round in 0..ROUNDS {
        for window in windows(src, round * distance, ROUNDS * distance) {
            window.iter().for_each(|&byte| bytes[usize::from(byte)] += 1);
            total += WINDOW;
            // Most of what has frequent bytes shows them at once.
            if total == FEW * WINDOW && !is_flat(&bytes, total) {
                return false;
            }
        }
        // Counts of two rounds tell little more than those of one.
        let is_telling = round == 0 || round + 1 == ROUNDS;
        if is_telling && !is_flat(&bytes, total) {
            return false;
        }
        if round == 0 && !has_flat_differences(src, ROUNDS * distance) {
            return false;
        }
    }
    has_flat_differences(src, distance)
}

/// Whether differences of neighbours in windows at this distance are as frequent as those of dice.
fn has_flat_differences(src: &[u8], distance: usize) -> bool {
    let mut differences = [0_u32; 256];
    let mut total = 0;
    for window in windows(src, 0, distance) {
        let mut before = window[WINDOW - 1];
        for &byte in window {
            differences[usize::from(byte.wrapping_sub(before))] += 1;
            before = byte;
        }
        total += WINDOW;
    }
    is_flat(&differences, total)
}

/// The windows at this distance from each other.
fn windows(src: &[u8], first: usize, distance: usize) -> impl Iterator<Item = &[u8; WINDOW]> {
    let of_round = src.get(first..).unwrap_or_default();
    of_round.chunks(distance).filter_map(|part| part.first_chunk())
}

/// Whether counts that sum up to `total`, at most 2^16, could be those of dice with 256 sides.
///
/// The sum of squares, times 256 and divided by the total, exceeds the total by 255 on average, and
/// by 368 once in 300 000 times.
fn is_flat(counts: &[u32; 256], total: usize) -> bool {
    let squares: u32 = counts.iter().map(|&count| count * count).sum();
    u64::from(squares) * 256 < (total as u64 + 368) * total as u64
}

/// How many strings of 8 bytes were found to come again. Every 16th place is remembered, every place that is
/// one byte further apart looked up: so a string that comes again is found once in 16 times,
/// whatever the distance.
#[must_use]
pub fn repetitions(src: &[u8]) -> usize {
    let mut table = [0_u32; 1 << TABLE_BITS];
    let mut found = 0;
    // Both sequences of places meet again after a period, which has a loop of its own: one without surprises.
    for start in (0..src.len().saturating_sub(PERIOD + STRIDE + 8)).step_by(PERIOD) {
        // SAFETY: places are at most a period and a stride after the start, and 8 bytes follow them.
        let hash_at = |at: usize| hash(unsafe { load_8(src.as_ptr().add(start + at)) });
        for step in 0..STRIDE {
            let (slot, tag) = hash_at(step * STRIDE);
            table[slot] = tag;
            let (slot, tag) = hash_at(STRIDE + step * (STRIDE + 1));
            found += usize::from(table[slot] == tag);
        }
        let (slot, tag) = hash_at(STRIDE * STRIDE);
        table[slot] = tag;
    }
    found
}

/// A slot of the table, and what is put there: never 0, and once in a billion times that of another string.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "parts of the product")]
fn hash(word: u64) -> (usize, u32) {
    let product = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((product >> (64 - TABLE_BITS)) as usize, (product >> (32 - TABLE_BITS)) as u32 | 1)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn dice(len: usize, mut seed: u64) -> Vec<u8> {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (seed >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn dice_are_noise() {
        for seed in 1..200 {
            assert!(is_noise(&dice(65_536, seed)), "seed {seed}");
        }
        assert!(is_noise(&dice(MIN_LEN, 7)) && is_noise(&dice(1_000_003, 7)));
    }

    #[test]
    fn what_a_codec_can_shorten_is_not() {
        let noise = dice(65_536, 1);
        let seven_bits: Vec<u8> = noise.iter().map(|byte| byte & 0x7f).collect();
        let uneven: Vec<u8> = noise.iter().map(|&b| if b < 16 { b / 2 } else { b }).collect();
        let counter: Vec<u8> = (0..65_536_u32).map(|i| i.to_le_bytes()[0]).collect();
        let mut sum = 0_u8;
        let walk = noise.iter().map(|byte| {
            sum = sum.wrapping_add(byte & 63);
            sum
        });
        let walk: Vec<u8> = walk.collect();
        let twice = [&noise[..30_001], &noise[..30_001]].concat();
        let partly = [&noise[..60_000], &noise[7..4007]].concat();
        let cases = [seven_bits, uneven, counter, walk, twice, partly, alloc::vec![7; 70_000]];
        for (number, case) in cases.iter().enumerate() {
            assert!(!is_noise(case), "case {number}");
        }
    }

    #[test]
    fn short_inputs_are_left_to_the_codec() {
        let noise = dice(MIN_LEN, 3);
        assert!((0..MIN_LEN).step_by(97).all(|len| !is_noise(&noise[..len])));
    }
}
