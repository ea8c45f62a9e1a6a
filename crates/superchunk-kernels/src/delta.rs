//! Delta by XOR, on words: against the word before in the first block of a chunk, against the first
//! block in all others.
//!
//! XOR does not care how a word is ordered in memory, so everything here is bytes at a distance of
//! one word. Bytes behind the last whole word are copied.
//!
//! ```text
//! first block   in   a        b          c          d
//!               out  a        a^b        b^c        c^d
//! other blocks  in   e        f          g          h
//!               out  e^a      f^b        g^c        h^d
//! ```

use crate::bytedelta::scan;
use crate::cpu::{Isa, isa};
use crate::shuffle::copy_tail;

/// The bytes of a word for items of this size: 1, 2, 4 or 8.
pub fn word_width(item_size: usize) -> usize {
    match item_size {
        1 | 2 | 4 | 8 => item_size,
        0 => 1,
        _ if item_size.is_multiple_of(8) => 8,
        _ => 1,
    }
}

/// Encodes the first block of a chunk: each word is XORed with the one before.
///
/// Works on the length that `src` and `dst` have in common; a `width` of 0 copies.
pub fn encode_first(width: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_tail(width, src, dst);
    let (first, later) = dst.split_at_mut(width.min(dst.len()));
    for (to, &byte) in first.iter_mut().zip(src) {
        *to = byte;
    }
    let following = src.iter().skip(width);
    for ((to, &byte), &before) in later.iter_mut().zip(following).zip(src) {
        *to = byte ^ before;
    }
}

/// Decodes the first block of a chunk: the inverse of [`encode_first`].
pub fn decode_first(width: usize, src: &[u8], dst: &mut [u8]) {
    let (src, dst) = copy_tail(width, src, dst);
    // SAFETY: `isa` names only what this machine has.
    unsafe { running_xor(isa(), width, src, dst) }
}

/// Encodes or decodes a later block: each word is XORed with the one at the same place in
/// `reference`, the beginning of the first block.
///
/// Works on the length that `src` and `dst` have in common. Words that the reference does not
/// wholly cover are copied.
pub fn xor_against(width: usize, reference: &[u8], src: &[u8], dst: &mut [u8]) {
    let len = src.len().min(dst.len());
    let covered = len.min(reference.len());
    let covered = covered - covered.checked_rem(width).unwrap_or(covered);
    let (src, src_rest) = src.split_at(covered);
    let (dst, dst_rest) = dst.split_at_mut(covered);
    for ((to, byte), other) in dst.iter_mut().zip(src).zip(reference) {
        *to = byte ^ other;
    }
    for (to, &byte) in dst_rest.iter_mut().zip(src_rest) {
        *to = byte;
    }
}

/// The XOR of all words up to each.
///
/// # Safety
/// The machine must have the instruction set `isa`.
unsafe fn running_xor(isa: Isa, width: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: the machine has `isa`: `decode_first` passes what `cpu::isa` has found.
    let done = unsafe {
        match width {
            1 => scan::<true, 1>(isa, src, dst),
            2 => scan::<true, 2>(isa, src, dst),
            4 => scan::<true, 4>(isa, src, dst),
            8 => scan::<true, 8>(isa, src, dst),
            _ => false,
        }
    };
    if done || width == 0 {
        return;
    }
    let mut before: &[u8] = &[];
    for (to, from) in dst.chunks_exact_mut(width).zip(src.chunks_exact(width)) {
        to.copy_from_slice(from);
        for (to, before) in to.iter_mut().zip(before) {
            *to ^= before;
        }
        before = to;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    fn noise(len: usize) -> Vec<u8> {
        (7_u32..).take(len).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect()
    }

    /// Word 0 kept, `out[i] = x[i] ^ x[i - 1]`, tail verbatim.
    fn first_by_formula(width: usize, src: &[u8]) -> Vec<u8> {
        let mut out = src.to_vec();
        for i in 1..src.len().checked_div(width).unwrap_or(0) {
            for b in 0..width {
                out[i * width + b] = src[i * width + b] ^ src[(i - 1) * width + b];
            }
        }
        out
    }

    #[test]
    fn examples_of_the_format() {
        let src = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        for (width, expected) in [
            (1, [0x01, 0x03, 0x01, 0x07, 0x01, 0x03, 0x01, 0x0f, 0x01]),
            (2, [0x01, 0x02, 0x02, 0x06, 0x06, 0x02, 0x02, 0x0e, 0x09]),
            (4, [0x01, 0x02, 0x03, 0x04, 0x04, 0x04, 0x04, 0x0c, 0x09]),
        ] {
            let mut out = [0; 9];
            encode_first(width, &src, &mut out);
            assert_eq!(out, expected, "width {width}");
            let mut back = [0; 9];
            decode_first(width, &out, &mut back);
            assert_eq!(back, src, "width {width}");
        }
    }

    #[test]
    fn first_block_equals_the_formula_and_comes_back() {
        for width in [0, 1, 2, 3, 4, 5, 8, 16, 100] {
            for len in (0..300).chain([4096, 5001]) {
                let buffer = noise(len + 1);
                let src = &buffer[1..];
                let mut out = vec![0xa5; len];
                encode_first(width, src, &mut out);
                assert_eq!(out, first_by_formula(width, src), "width {width}, {len} bytes");
                let mut back = vec![0xa5; len];
                decode_first(width, &out, &mut back);
                assert_eq!(back, src, "width {width}, {len} bytes");
            }
        }
    }

    #[test]
    fn every_instruction_set_decodes_alike() {
        let best = isa();
        let mut sets = vec![Isa::Scalar, best];
        if best.has_avx2() {
            sets.push(Isa::Sse2);
        }
        for set in sets {
            for width in [1, 2, 4, 8, 3] {
                for words in (0..150).chain([1000]) {
                    let src = noise(words * width);
                    let encoded = first_by_formula(width, &src);
                    let mut out = vec![0xa5; src.len()];
                    // SAFETY: the list holds only what this machine has.
                    unsafe { running_xor(set, width, &encoded, &mut out) };
                    assert_eq!(out, src, "{set:?}, {words} words of {width}");
                }
            }
        }
    }

    #[test]
    fn other_blocks_use_whole_words_of_the_reference() {
        let reference = noise(200);
        for width in [0, 1, 2, 4, 8] {
            for len in 0..230 {
                for covered in [0, 1, 7, 8, 50, 199, 200] {
                    let src: Vec<u8> = noise(len).iter().rev().copied().collect();
                    let words = len.min(covered).checked_div(width).unwrap_or(0) * width;
                    let expected: Vec<u8> = (0..len)
                        .map(|i| if i < words { src[i] ^ reference[i] } else { src[i] })
                        .collect();
                    let mut out = vec![0xa5; len + 3];
                    xor_against(width, &reference[..covered], &src, &mut out);
                    assert_eq!(&out[..len], expected, "width {width}, {covered} covered");
                    assert_eq!(&out[len..], [0xa5; 3]);
                }
            }
        }
    }

    #[test]
    fn words_follow_the_item_size() {
        let widths: Vec<usize> =
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 255].into_iter().map(word_width).collect();
        assert_eq!(widths, [1, 1, 2, 1, 4, 1, 1, 1, 8, 1, 8, 1, 8, 1]);
    }
}
