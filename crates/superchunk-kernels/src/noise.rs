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

/// Shorter inputs are never called noise: too few bytes to tell.
const MIN_LEN: usize = 4096;

/// Bytes that stand together in a sample.
const WINDOW: usize = 64;

/// How many windows the counts are made of: a few first, which settle most cases.
const WINDOWS: [usize; 2] = [16, 64];

/// Bytes between the places that are looked up for repetitions.
const STRIDE: usize = 16;

/// So many repetitions may be chance.
const CHANCE: usize = 3;

const TABLE_BITS: u32 = 12;

/// Whether `src` is noise, as far as a sample shows.
#[must_use]
pub fn is_noise(src: &[u8]) -> bool {
    src.len() >= MIN_LEN
        && WINDOWS.iter().all(|&windows| has_flat_counts(src, windows))
        && repetitions(src) <= CHANCE
}

/// Whether bytes and differences of neighbours in so many windows are as frequent as those of dice.
fn has_flat_counts(src: &[u8], windows: usize) -> bool {
    let mut bytes = [0_u32; 256];
    let mut differences = [0_u32; 256];
    let mut total = 0;
    for window in src.chunks(src.len() / windows).filter_map(|part| part.first_chunk::<WINDOW>()) {
        let mut before = window[WINDOW - 1];
        for &byte in window {
            bytes[usize::from(byte)] += 1;
            differences[usize::from(byte.wrapping_sub(before))] += 1;
            before = byte;
        }
        total += WINDOW;
    }
    is_flat(&bytes, total) && is_flat(&differences, total)
}

/// Whether counts that sum up to `total` could be those of dice with 256 sides.
///
/// The sum of squares, times 256 and divided by the total, exceeds the total by 255 on average, and
/// by 368 once in 300 000 times.
fn is_flat(counts: &[u32; 256], total: usize) -> bool {
    let squares: u64 = counts.iter().map(|&count| u64::from(count) * u64::from(count)).sum();
    squares * 256 < (total as u64 + 368) * total as u64
}

/// How many strings of 8 bytes were found to come again. Every 16th place is remembered, every place that is
/// one byte further apart looked up: so a string that comes again is found once in 16 times,
/// whatever the distance.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "a position too large is only not found")]
pub fn repetitions(src: &[u8]) -> usize {
    let mut table = [u32::MAX; 1 << TABLE_BITS];
    let word_at = |at: usize| src.get(at..).and_then(|rest| rest.first_chunk::<8>());
    let slot_of = |word: &[u8; 8]| {
        (u64::from_le_bytes(*word).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TABLE_BITS))
            as usize
    };
    let mut found = 0;
    let mut remembered = 0;
    for at in (STRIDE..src.len()).step_by(STRIDE + 1) {
        while remembered < at {
            if let Some(word) = word_at(remembered) {
                table[slot_of(word)] = remembered as u32;
            }
            remembered += STRIDE;
        }
        let Some(word) = word_at(at) else { break };
        found += usize::from(word_at(table[slot_of(word)] as usize) == Some(word));
    }
    found
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
