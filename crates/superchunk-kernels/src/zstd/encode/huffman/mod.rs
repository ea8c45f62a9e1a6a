//! Huffman codes for literals.
//!
//! | file | duty |
//! |---|---|
//! | `lengths` | the lengths of the codes for given counts, 11 bits at most |
//! | `describe` | the description of a set of codes, as weights |
//! | `streams` | writes bytes as codes |
//! | `wide` | the same, 64 bytes at a time |

mod describe;
mod lengths;
mod streams;
#[cfg(target_arch = "x86_64")]
mod wide;

pub(super) use describe::describe;
pub(super) use streams::{write_one, write_two, writes_pairs};

/// No code is longer.
pub(super) const MAX_BITS: u32 = 11;

/// A code for each byte that occurs.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    /// The bits of the code at the top, their number in the lowest byte; 0 for a byte without code.
    entries: [u64; 256],
    lengths: [u8; 256],
    /// The same as bytes: the low bytes of the codes; above, the other bits, and the length in the
    /// upper half.
    halves: [[u8; 256]; 2],
    /// How many codes have each length.
    numbers: [u32; MAX_BITS as usize + 1],
    /// The longest length.
    longest: u32,
}

impl Default for Codes {
    fn default() -> Self {
        Codes {
            entries: [0; 256],
            lengths: [0; 256],
            halves: [[0; 256]; 2],
            numbers: [0; MAX_BITS as usize + 1],
            longest: 0,
        }
    }
}

impl Codes {
    /// Codes for these counts, of which at least two are not zero.
    pub(super) fn of_counts(counts: &[u32; 256]) -> Self {
        let mut codes =
            Codes { lengths: lengths::lengths(counts, most_bits(counts)), ..Codes::default() };
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
    #[expect(clippy::cast_possible_truncation, reason = "codes have at most 11 bits")]
    fn assign(&mut self) {
        // Quarters are walked side by side: a number that was just stored is not needed at once.
        let (lengths, _) = self.lengths.as_chunks::<QUARTER>();
        let mut next = [[0_u32; MAX_BITS as usize + 1]; 4];
        for i in 0..QUARTER {
            for (numbers, lengths) in next.iter_mut().zip(lengths) {
                numbers[usize::from(lengths[i])] += 1;
            }
        }
        let mut begin = 0;
        for length in (1..=MAX_BITS as usize).rev() {
            let first = begin;
            for next in &mut next {
                (next[length], begin) = (begin, begin + next[length]);
            }
            self.numbers[length] = begin - first;
            if begin > first {
                self.longest = self.longest.max(length as u32);
            }
            begin >>= 1;
        }
        let [low, high] = &mut self.halves;
        for i in 0..QUARTER {
            for (quarter, next) in next.iter_mut().enumerate() {
                let byte = quarter * QUARTER + i;
                let length = self.lengths[byte];
                if length > 0 {
                    let code = &mut next[usize::from(length)];
                    self.entries[byte] =
                        u64::from(*code) << (64 - u32::from(length)) | u64::from(length);
                    low[byte] = *code as u8;
                    high[byte] = (*code >> 8) as u8 | length << 4;
                    *code += 1;
                }
            }
        }
    }
}

/// A quarter of all bytes there are.
const QUARTER: usize = 64;

/// The longest useful code: few bytes gain less by long codes than their description costs.
fn most_bits(counts: &[u32; 256]) -> u32 {
    let total: u32 = counts.iter().sum();
    total.max(1).ilog2().saturating_sub(1).clamp(9, MAX_BITS)
}
