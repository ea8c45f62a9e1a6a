//! Which symbols stand for lengths and distances (RFC 1951, 3.2.5), and the fixed codes.
//!
//! A length or distance is a symbol and a few *extra bits*, its offset from the least number of
//! that symbol.

#![expect(clippy::indexing_slicing, reason = "indices are masked or bounded by their loops")]

/// Literals, the end of a block, and lengths.
pub(super) const LITLEN_SYMBOLS: usize = 286;
/// Distances.
pub(super) const DISTANCE_SYMBOLS: usize = 30;
/// The symbol that ends a block.
pub(super) const END: usize = 256;

pub(super) const MIN_MATCH: usize = 3;
pub(super) const MAX_MATCH: usize = 258;
pub(super) const MAX_DISTANCE: usize = 32_768;

/// For `length - 3`: the symbol, less 257.
pub(super) const LENGTH_SLOT: [u8; 256] = length_slots();

/// For `length - 3`: the symbol, less 257, and above 8 bits for that the value of the extra bits.
pub(super) const LENGTHS: [u16; 256] = lengths();

/// For a symbol of a length, less 257: its number of extra bits.
pub(super) const LENGTH_EXTRA: [u8; 29] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];

/// For a symbol of a length, less 257: the least length, less 3.
pub(super) const LENGTH_BASE: [u8; 29] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128,
    160, 192, 224, 255,
];

/// The symbol of a distance from 1 to 32768.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 16 bits")]
pub(super) fn distance_slot(distance: usize) -> usize {
    let from_0 = (distance - 1) as u32;
    // Below 2 there is nothing below the highest bit, and the number is the symbol.
    let top = (from_0 | 2).ilog2();
    (2 * top - 2 + (from_0 >> (top - 1))) as usize
}

/// How many extra bits the symbol of a distance has.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "there are 30 symbols")]
pub(super) fn distance_extra(slot: usize) -> u32 {
    ((slot >> 1) as u32).saturating_sub(1)
}

/// The lengths of the fixed codes for literals and lengths; the last two stand for nothing.
pub(super) fn fixed_litlen_lengths() -> [u8; 288] {
    let mut lengths = [8; 288];
    lengths[144..256].fill(9);
    lengths[256..280].fill(7);
    lengths
}

/// The lengths of the fixed codes for distances.
pub(super) const FIXED_DISTANCE_LENGTHS: [u8; DISTANCE_SYMBOLS] = [5; DISTANCE_SYMBOLS];

#[expect(clippy::cast_possible_truncation, reason = "there are 29 symbols")]
const fn length_slots() -> [u8; 256] {
    let mut slots = [28; 256];
    let mut slot = 0;
    while slot < 28 {
        let mut at = LENGTH_BASE[slot] as usize;
        while at < LENGTH_BASE[slot + 1] as usize {
            slots[at] = slot as u8;
            at += 1;
        }
        slot += 1;
    }
    slots
}

#[expect(clippy::cast_possible_truncation, reason = "an extra value is below 32")]
const fn lengths() -> [u16; 256] {
    let mut lengths = [0; 256];
    let mut at = 0;
    while at < 256 {
        let slot = LENGTH_SLOT[at];
        let extra = at - LENGTH_BASE[slot as usize] as usize;
        lengths[at] = slot as u16 | (extra as u16) << 8;
        at += 1;
    }
    lengths
}
