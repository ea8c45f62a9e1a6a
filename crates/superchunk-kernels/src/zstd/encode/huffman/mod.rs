//! Huffman codes for literals.
//!
//! | file | duty |
//! |---|---|
//! | `lengths` | the lengths of the codes for given counts, 11 bits at most |
//! | `describe` | the description of a set of codes, as weights |
//! | `streams` | writes bytes as codes |

mod describe;
mod lengths;
mod streams;

pub(super) use describe::describe;
pub(super) use streams::{write_one, write_two};

/// No code is longer.
pub(super) const MAX_BITS: u32 = 11;

/// A code for each byte that occurs.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    /// The bits of the code at the top, their number in the lowest byte; 0 for a byte without code.
    entries: [u64; 256],
    lengths: [u8; 256],
    /// The longest length.
    longest: u32,
}

impl Default for Codes {
    fn default() -> Self {
        Codes { entries: [0; 256], lengths: [0; 256], longest: 0 }
    }
}

impl Codes {
    /// Codes for these counts, of which at least two are not zero.
    pub(super) fn of_counts(counts: &[u32; 256]) -> Self {
        let mut codes = Codes { lengths: lengths::lengths(counts), ..Codes::default() };
        codes.assign();
        codes
    }

    /// How many bits bytes of these counts take, or `None` if one of them has no code.
    pub(super) fn bits_of(&self, counts: &[u32; 256]) -> Option<u64> {
        // Counts of a block, and 11 times as many bits, fit 32 bits.
        let (mut bits, mut missing) = (0_u32, 0_u32);
        for (&count, &length) in counts.iter().zip(&self.lengths) {
            bits = bits.wrapping_add(count.wrapping_mul(u32::from(length)));
            missing |= if length == 0 { count } else { 0 };
        }
        (missing == 0).then_some(u64::from(bits))
    }

    /// Numbers the codes: the longest first, bytes of one length in their order.
    #[expect(clippy::indexing_slicing, reason = "lengths are at most 11")]
    fn assign(&mut self) {
        let mut number = [0_u64; MAX_BITS as usize + 1];
        for &length in &self.lengths {
            number[usize::from(length)] += 1;
        }
        let mut next = 0;
        for (length, number) in number.iter_mut().enumerate().skip(1).rev() {
            if *number > 0 {
                #[expect(clippy::cast_possible_truncation, reason = "at most 11")]
                let length = length as u32;
                self.longest = self.longest.max(length);
            }
            let begin = next;
            next = (next + *number) >> 1;
            *number = begin;
        }
        for (entry, &length) in self.entries.iter_mut().zip(&self.lengths) {
            if length > 0 {
                let next = &mut number[usize::from(length)];
                *entry = (*next << (64 - u32::from(length))) | u64::from(length);
                *next += 1;
            }
        }
    }
}
