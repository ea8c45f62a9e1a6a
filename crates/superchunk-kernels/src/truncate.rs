//! Clears low bits of words: the forward side of the two truncating filters.
//!
//! Fewer different low bits compress better. Which bits are worth keeping is the caller's business;
//! here a word loses its lowest `bits`, whatever it stands for.

use crate::shuffle::copy_tail;

/// Clears the lowest `bits` bits of each little-endian word of `width` (1, 2, 4 or 8) bytes.
///
/// Works on the length that `src` and `dst` have in common. Bytes behind the last whole word are
/// copied; so is everything when `width` is another number. `bits` of `8 * width` or more clear all.
pub fn clear_low_bits(width: usize, bits: u32, src: &[u8], dst: &mut [u8]) {
    let word_mask = match width {
        1 | 2 | 4 | 8 => u64::MAX.checked_shl(bits).unwrap_or(0),
        _ => u64::MAX,
    };
    let mask = match width {
        1 => (word_mask & 0xff) * 0x0101_0101_0101_0101,
        2 => (word_mask & 0xffff) * 0x0001_0001_0001_0001,
        4 => (word_mask & 0xffff_ffff) * 0x0000_0001_0000_0001,
        _ => word_mask,
    };
    let (src, dst) = copy_tail(if matches!(width, 1 | 2 | 4 | 8) { width } else { 0 }, src, dst);
    // Eight bytes are whole words of every width, so one mask serves them all.
    let (from, from_rest) = src.as_chunks::<8>();
    let (to, to_rest) = dst.as_chunks_mut::<8>();
    for (to, from) in to.iter_mut().zip(from) {
        *to = (u64::from_le_bytes(*from) & mask).to_le_bytes();
    }
    for ((to, from), mask) in to_rest.iter_mut().zip(from_rest).zip(mask.to_le_bytes()) {
        *to = from & mask;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    /// Bit by bit: bit `i` of a word is bit `i % 8` of its byte `i / 8`.
    fn by_bit(width: usize, bits: u32, src: &[u8]) -> Vec<u8> {
        let mut out = src.to_vec();
        for word in out.chunks_exact_mut(width) {
            for bit in 0..(bits as usize).min(8 * width) {
                word[bit / 8] &= !(1 << (bit % 8));
            }
        }
        out
    }

    #[test]
    fn equals_the_definition_for_every_width_bit_count_and_length() {
        let bytes: Vec<u8> =
            (0..200u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for width in [1, 2, 4, 8] {
            for bits in (0..=66).chain([1000, u32::MAX]) {
                for len in (0..20).chain([63, 64, 65, 127, 199]) {
                    let src = &bytes[1..1 + len];
                    let mut out = vec![0xa5; len];
                    clear_low_bits(width, bits, src, &mut out);
                    assert_eq!(out, by_bit(width, bits, src), "{bits} bits of {width}, {len}");
                }
            }
        }
    }

    #[test]
    fn a_float_keeps_its_high_bits() {
        let mut out = [0; 4];
        clear_low_bits(4, 13, &core::f32::consts::PI.to_le_bytes(), &mut out);
        assert_eq!(u32::from_le_bytes(out), core::f32::consts::PI.to_bits() & 0xffff_e000);
    }

    #[test]
    fn other_widths_copy() {
        for width in [0, 3, 5, 16] {
            let mut out = [0; 5];
            clear_low_bits(width, 8, &[1, 2, 3, 4, 5, 6], &mut out);
            assert_eq!(out, [1, 2, 3, 4, 5]);
        }
    }
}
