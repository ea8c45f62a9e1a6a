//! Entries of two literals.
//!
//! Finding one entry takes longer than everything else that a literal needs, and the next cannot be
//! looked for before the length of the code is known. So an index that begins with the codes of two
//! literals leads to both.
//!
//! If codes are too long for that, the bits of an index that follow the code of a literal often
//! still tell how long the next code is and that it stands for a literal, even if they do not tell
//! for which one. Then the entry counts two literals and takes the bits of both codes; the second
//! one is looked up beside the search for the entry after both.

use crate::inflate::code::Code;
use crate::inflate::table::{Entry, with_code};

/// What an entry of literals holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Literals {
    One,
    /// One, or both.
    Two,
    /// One, and whether there is a second.
    Counted,
}

/// The bits of an index that has room for two literals.
pub(super) const BITS: u32 = 12;

impl Literals {
    /// What serves a code best: each entry is as likely as the others.
    pub(super) fn of(code: &Code) -> Self {
        let entries = |length| code.literals(length) << (BITS - length);
        let (mut pairs, mut second) = (0, 0);
        for length in 1..BITS {
            second += entries(length);
            pairs += second * entries(BITS - length);
        }
        if pairs > 1 << (2 * BITS - 2) {
            Literals::Two
        } else if second > 1 << (BITS - 1) {
            Literals::Counted
        } else {
            Literals::One
        }
    }
}

/// Places the pairs of literals whose codes have just so many bits together.
#[expect(clippy::indexing_slicing, reason = "the index is masked to the entries")]
pub(super) fn place_pairs(code: &Code, bits: u32, entries: &mut [Entry; 1 << BITS]) {
    for bits_of_first in code.shortest..=bits.saturating_sub(code.shortest) {
        let bits_of_second = bits - bits_of_first;
        for (first, low) in code.literals_of_length(bits_of_first) {
            let first = with_code(first, bits_of_first);
            for (second, high) in code.literals_of_length(bits_of_second) {
                let index = low | (high << bits_of_first);
                // One more literal and its bits; and the byte, behind the first one.
                let second = second + bits_of_second;
                let second = (second & 0xff) | ((second & 0xff00) << 8);
                entries[(index % (1 << BITS)) as usize] = first + second;
            }
        }
    }
}

/// Counts a second literal in the entries of one, where it is certain that one follows.
pub(super) fn count_pairs(code: &Code, entries: &mut [Entry; 1 << BITS]) -> Option<()> {
    let following = Following::new(entries)?;
    for bits in code.shortest..BITS {
        let seconds = following.after(BITS - bits)?;
        for (_, word) in code.literals_of_length(bits) {
            let mut index = word as usize & ((1 << bits) - 1);
            for &second in seconds {
                // SAFETY: the index has `bits` low bits of the word and above them those of the
                // place in `seconds`, of which there are `1 << (BITS - bits)`: together `BITS`.
                unsafe { *entries.get_unchecked_mut(index) += Entry::from(second) };
                index += 1 << bits;
            }
        }
    }
    Some(())
}

/// What is known of the next code from its first bits: what its entry would add to another's.
///
/// At `1 << n` begins the part for `n` bits, the first in the stream lowest.
struct Following([u8; 2 << BITS]);

impl Following {
    /// All bits of an index tell as much as its entry, if that is a literal. One bit less tells
    /// only what is the same for both values of the bit that is missing.
    fn new(entries: &[Entry; 1 << BITS]) -> Option<Self> {
        let mut following = [0; 2 << BITS];
        let whole = following.get_mut(1 << BITS..)?;
        for (to, entry) in whole.iter_mut().zip(entries) {
            let [low, ..] = entry.to_le_bytes();
            *to = if low >> 6 == 0 { 0 } else { low };
        }
        for fewer in (0..BITS).rev() {
            let (head, tail) = following.split_at_mut_checked(2 << fewer)?;
            let (zeros, ones) = tail.split_at_checked(1 << fewer)?;
            let to = head.get_mut(1 << fewer..)?;
            for ((to, &zero), &one) in to.iter_mut().zip(zeros).zip(ones) {
                *to = if zero == one { zero } else { 0 };
            }
        }
        Some(Following(following))
    }

    fn after(&self, bits: u32) -> Option<&[u8]> {
        self.0.get(1 << bits..2 << bits)
    }
}
