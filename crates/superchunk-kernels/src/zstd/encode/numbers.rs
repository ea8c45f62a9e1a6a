//! The codes of a sequence's three numbers, and the bits beside them.
//!
//! A small number is its own code. A code of larger ones stands for a range, and bits tell which of
//! them is meant; an offset's code is the number of its bits.

#![expect(
    clippy::indexing_slicing,
    reason = "codes are below 64; the rest is evaluated while compiling"
)]

/// A sequence as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coded {
    /// The bits beside the codes: those of the literals lowest, then match, then offset.
    pub(super) extra: u64,
    /// How many they are, 63 at most; then the codes of literals, offset and match.
    summary: u32,
}

impl Coded {
    /// So many literals, then a match of `above` more than 3 bytes. An offset of 1 means the last
    /// distance, or behind no literals the one before it; else it is the distance + 3.
    #[inline(always)]
    pub(super) fn new(literals: u32, above: u32, offset: u32) -> Self {
        let literals = match FEW_LITERALS.get(literals as usize) {
            Some(&part) => part,
            None => part(literals, 19 + literals.ilog2(), literals.ilog2(), LITERALS),
        };
        let length = match SHORT_MATCHES.get(above as usize) {
            Some(&part) => part,
            None => part(above, 36 + above.ilog2(), above.ilog2(), MATCH),
        };
        let code = (offset | 1).ilog2();
        let offset = u64::from(offset & !(1 << code));
        // Lengths are in the lowest byte; of what a word is shifted by, only the lowest 6 bits count.
        let both = literals.wrapping_add(length);
        Coded {
            extra: (literals >> 32)
                | (length >> 32).wrapping_shl(low(literals))
                | offset.wrapping_shl(low(both)),
            summary: low(literals) + low(length) + code * (1 | 1 << OFFSET),
        }
    }

    /// The number of bits beside the codes.
    #[inline(always)]
    pub(super) fn bits(self) -> u32 {
        self.summary & 0xFF
    }

    /// The codes of literals, offset and match.
    #[inline(always)]
    pub(super) fn codes(self) -> [usize; 3] {
        let [_, literals, offset, length] = self.summary.to_le_bytes();
        [literals.into(), offset.into(), length.into()]
    }
}

/// Where the codes stand in a summary.
const LITERALS: u32 = 8;
const OFFSET: u32 = 16;
const MATCH: u32 = 24;

/// Upper half: the bits of `number` beside its code. Lower half: how many, and the code at its place.
const fn part(number: u32, code: u32, bits: u32, place: u32) -> u64 {
    ((number & ((1 << bits) - 1)) as u64) << 32 | (code << place | bits) as u64
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is left out")]
fn low(part: u64) -> u32 {
    part as u32
}

/// The parts of each number of literals below 64.
static FEW_LITERALS: [u64; 64] = parts(16, &[1, 1, 1, 1, 2, 2, 3, 3, 4], LITERALS);

/// The parts of each length of a match below 131, less 3.
static SHORT_MATCHES: [u64; 128] = parts(32, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5], MATCH);

/// Those of the first numbers: no bits for the first codes, then those listed.
#[expect(clippy::cast_possible_truncation, reason = "a code is below 64, a number below 128")]
const fn parts<const N: usize>(none: usize, listed: &[u32], place: u32) -> [u64; N] {
    let mut parts = [0; N];
    let (mut code, mut number) = (0, 0);
    while number < N {
        let bits = if code < none { 0 } else { listed[code - none] };
        let end = number + (1 << bits);
        while number < end {
            parts[number] = part(number as u32, code as u32, bits, place);
            number += 1;
        }
        code += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first number of each code with bits beside it, and these bits: RFC 8878, 3.1.1.3.2.1.1.
    const LITERAL_CODES: [(u32, u32); 20] = [
        (16, 1),
        (18, 1),
        (20, 1),
        (22, 1),
        (24, 2),
        (28, 2),
        (32, 3),
        (40, 3),
        (48, 4),
        (64, 6),
        (128, 7),
        (256, 8),
        (512, 9),
        (1024, 10),
        (2048, 11),
        (4096, 12),
        (8192, 13),
        (16_384, 14),
        (32_768, 15),
        (65_536, 16),
    ];
    const MATCH_CODES: [(u32, u32); 21] = [
        (35, 1),
        (37, 1),
        (39, 1),
        (41, 1),
        (43, 2),
        (47, 2),
        (51, 3),
        (59, 3),
        (67, 4),
        (83, 4),
        (99, 5),
        (131, 7),
        (259, 8),
        (515, 9),
        (1027, 10),
        (2051, 11),
        (4099, 12),
        (8195, 13),
        (16_387, 14),
        (32_771, 15),
        (65_539, 16),
    ];

    /// Code, bits and their number, looked up in the list.
    fn naive(number: u32, first: u32, listed: &[(u32, u32)]) -> (usize, u64, u32) {
        let before = listed[0].0 - first;
        match listed.iter().rposition(|&(least, _)| least <= number) {
            None => ((number - first) as usize, 0, 0),
            Some(i) => (before as usize + i, u64::from(number - listed[i].0), listed[i].1),
        }
    }

    #[test]
    fn codes_are_those_of_the_rfc() {
        for number in (3..3000).chain((3000..131_000).step_by(97)).chain([131_074]) {
            for offset in [1, 4, 7, 8, 1000, 131_075, u32::MAX / 2] {
                let literals = number - 3;
                let coded = Coded::new(literals, number - 3, offset);
                let (literal_code, low, low_bits) = naive(literals, 0, &LITERAL_CODES);
                let (match_code, middle, middle_bits) = naive(number, 3, &MATCH_CODES);
                let code = offset.ilog2();
                let high = u64::from(offset - (1 << code));
                assert_eq!(coded.codes(), [literal_code, code as usize, match_code], "{number}");
                assert_eq!(coded.extra, (high << middle_bits | middle) << low_bits | low);
                assert_eq!(coded.bits(), low_bits + middle_bits + code);
            }
        }
    }
}
