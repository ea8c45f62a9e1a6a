//! Bit shuffle in portable Rust: the definition the instruction sets are tested against.
//!
//! One byte of each of the eight items of a group makes a word, an 8 × 8 matrix of bits; transposed,
//! its bytes are one byte of each of eight rows.

#![expect(clippy::indexing_slicing, reason = "the loops below stay within whole groups of items")]

use core::array::from_fn;

use super::columns;

/// Transposes whole groups of items into rows.
pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let columns = columns(item_size, src.len().min(dst.len()));
    for column in 0..columns {
        let group = &src[column * 8 * item_size..][..8 * item_size];
        // Equally long slices, so that one comparison of `byte` does for all eight.
        let items: [&[u8]; 8] = from_fn(|item| &group[item * item_size..][..item_size]);
        for byte in 0..item_size {
            let rows = &mut dst[byte * 8 * columns + column..][..7 * columns + 1];
            for (bit, plane) in transpose(items.map(|item| item[byte])).into_iter().enumerate() {
                rows[bit * columns] = plane;
            }
        }
    }
}

/// Transposes rows back into whole groups of items.
pub(super) fn bitunshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    let columns = columns(item_size, src.len().min(dst.len()));
    for column in 0..columns {
        let group = &mut dst[column * 8 * item_size..][..8 * item_size];
        for byte in 0..item_size {
            let rows = &src[byte * 8 * columns + column..][..7 * columns + 1];
            let items = transpose(from_fn(|bit| rows[bit * columns]));
            let group = &mut group[byte..][..7 * item_size + 1];
            for (item, bits) in items.into_iter().enumerate() {
                group[item * item_size] = bits;
            }
        }
    }
}

/// Swaps bit `b` of byte `a` with bit `a` of byte `b`, for all of them: first within 2 × 2 squares,
/// then 2 × 2 squares within 4 × 4, then 4 × 4 within the whole.
fn transpose(word: [u8; 8]) -> [u8; 8] {
    let mut bits = u64::from_le_bytes(word);
    for (distance, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swapped = (bits ^ (bits >> distance)) & mask;
        bits ^= swapped ^ (swapped << distance);
    }
    bits.to_le_bytes()
}
