//! How often each symbol occurs, and what that costs.

#![expect(clippy::indexing_slicing, reason = "a byte or symbol indexes counts of that many")]

use crate::deflate::parsed::Unit;
use crate::deflate::symbols::{END, LENGTH_EXTRA, distance_extra};

/// How often each symbol occurs.
#[derive(Clone)]
pub(super) struct Counts {
    /// The last two stand for nothing.
    pub(super) litlen: [u32; 289],
    /// The last two stand for nothing.
    pub(super) distance: [u32; 32],
}

/// So many fraction bits the costs of this module have.
pub(super) const COST_BITS: u32 = 8;

/// From so many literals on it pays to count them in several tables.
const LONG_RUN: usize = 256;

impl Counts {
    pub(super) fn new() -> Self {
        Counts { litlen: [0; 289], distance: [0; 32] }
    }

    /// Counts the match of a unit.
    #[inline(always)]
    pub(super) fn add_match(&mut self, unit: Unit) {
        self.litlen[END + 1 + unit.length_slot()] += 1;
        self.distance[unit.distance_slot()] += 1;
    }

    /// Counts the literals beside the matches, and the end of a block.
    pub(super) fn finish(&mut self, literals: &[u8]) {
        self.add_literals(literals);
        self.litlen[END] = 1;
    }

    /// Counts literals. Neighbours go to different tables, as an addition to a count has to wait
    /// for the one before it.
    pub(super) fn add_literals(&mut self, literals: &[u8]) {
        let mut short = literals;
        if literals.len() >= LONG_RUN {
            let (steps, tail) = literals.as_chunks::<8>();
            let mut tables = [[0_u32; 256]; 4];
            for step in steps {
                for (at, &byte) in step.iter().enumerate() {
                    tables[at & 3][usize::from(byte)] += 1;
                }
            }
            for (at, count) in self.litlen[..256].iter_mut().enumerate() {
                *count += tables[0][at] + tables[1][at] + tables[2][at] + tables[3][at];
            }
            short = tail;
        }
        for &byte in short {
            self.litlen[usize::from(byte)] += 1;
        }
    }

    /// Adds those of the piece that follows.
    pub(super) fn add(&mut self, other: &Counts) {
        for (count, more) in self.litlen.iter_mut().zip(&other.litlen) {
            *count += more;
        }
        for (count, more) in self.distance.iter_mut().zip(&other.distance) {
            *count += more;
        }
        self.litlen[END] = 1;
    }

    /// Bits that codes of these lengths take, with extra bits.
    pub(super) fn bits(&self, litlen: &[u8], distance: &[u8]) -> u64 {
        let codes = |counts: &[u32], lengths: &[u8]| -> u64 {
            counts.iter().zip(lengths).map(|(&n, &len)| u64::from(n) * u64::from(len)).sum()
        };
        codes(&self.litlen, litlen) + codes(&self.distance, distance) + self.extra_bits()
    }

    fn extra_bits(&self) -> u64 {
        let lengths = self.litlen[END + 1..].iter().zip(LENGTH_EXTRA);
        let of_lengths: u64 = lengths.map(|(&n, extra)| u64::from(n) * u64::from(extra)).sum();
        let distances = self.distance.iter().enumerate();
        let of_distances: u64 =
            distances.map(|(slot, &n)| u64::from(n) * u64::from(distance_extra(slot))).sum();
        of_lengths + of_distances
    }

    /// About how many bits a block of these symbols takes, with the description of its codes.
    pub(super) fn estimate(&self) -> u64 {
        let (litlen, litlen_used) = entropy(&self.litlen);
        let (distance, distance_used) = entropy(&self.distance);
        let codes = (litlen + distance) >> COST_BITS;
        codes + self.extra_bits() + HEADER_BITS + SYMBOL_BITS * (litlen_used + distance_used)
    }
}

/// What the description of codes takes at least, and more for every symbol.
const HEADER_BITS: u64 = 70;
const SYMBOL_BITS: u64 = 4;

/// The bits that ideal codes take, with fraction bits, and how many symbols occur.
fn entropy(counts: &[u32]) -> (u64, u64) {
    let total: u32 = counts.iter().sum();
    let mut used = 0;
    let mut gained = 0;
    for &count in counts {
        gained += u64::from(count) * u64::from(log2(count));
        used += u64::from(count > 0);
    }
    (u64::from(total) * u64::from(log2(total)) - gained, used)
}

/// The binary logarithm with [`COST_BITS`] fraction bits; that of 0 counts as 0.
#[inline(always)]
pub(super) fn log2(number: u32) -> u32 {
    let zeros = (number | 1).leading_zeros();
    let mantissa = (number | 1) << zeros;
    (31 - zeros) << COST_BITS | u32::from(LOG_TABLE[(mantissa >> 23 & 255) as usize])
}

/// For `i`: the fraction of the logarithm of `1 + (i + 0.5) / 256`, but exactly 0 for `i = 0`.
const LOG_TABLE: [u8; 256] = log_table();

#[expect(clippy::cast_possible_truncation, reason = "a fraction of 8 bits")]
const fn log_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 1;
    while i < 256 {
        // Squaring doubles the logarithm; its whole part is the next bit of the fraction.
        let mut x = (256 + i as u64) << 22;
        let mut fraction = 0_u32;
        let mut bit = 0;
        while bit < COST_BITS {
            x = (x * x) >> 30;
            fraction <<= 1;
            if x >= 2 << 30 {
                x >>= 1;
                fraction |= 1;
            }
            bit += 1;
        }
        table[i] = fraction as u8;
        i += 1;
    }
    table
}
