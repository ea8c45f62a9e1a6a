//! Sets of bytes, and whether some bytes are in one.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// How many bytes are looked at together.
pub(super) const ROW: usize = 32;

/// A set of bytes: for each value of the lower four bits of a byte, a bit for each value of the upper four.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByteSet {
    /// The bytes up to 127, and those above.
    halves: [[u8; 16]; 2],
}

impl ByteSet {
    /// The bytes that were never counted.
    #[expect(clippy::indexing_slicing, reason = "four bits index 16 entries, one bit two")]
    pub(super) fn of_missing(counts: &[u32; 256]) -> Self {
        let mut set = ByteSet::default();
        for (byte, _) in counts.iter().enumerate().filter(|(_, count)| **count == 0) {
            set.halves[byte >> 7][byte & 15] |= 1 << ((byte >> 4) & 7);
        }
        set
    }

    /// Whether any byte of the rows is in the set.
    pub(super) fn has_any<'a>(&self, rows: impl Iterator<Item = &'a [u8; ROW]>) -> bool {
        if self.halves == [[0; 16]; 2] {
            return false;
        }
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::isa().has_avx2() {
            // SAFETY: the processor has AVX2.
            return unsafe { self.has_any_avx2(rows) };
        }
        self.has_any_scalar(rows)
    }

    #[expect(clippy::indexing_slicing, reason = "a byte indexes 256 entries")]
    fn has_any_scalar<'a>(&self, rows: impl Iterator<Item = &'a [u8; ROW]>) -> bool {
        let bits = core::array::from_fn::<u8, 256, _>(|byte| self.bit(byte));
        let found = |found: u8, row: &'a [u8; ROW]| {
            row.iter().fold(found, |found, &byte| found | bits[usize::from(byte)])
        };
        rows.fold(0, found) != 0
    }

    /// Not zero for a byte of the set.
    #[expect(clippy::indexing_slicing, reason = "four bits index 16 entries, one bit two")]
    fn bit(&self, byte: usize) -> u8 {
        self.halves[byte >> 7 & 1][byte & 15] & 1 << ((byte >> 4) & 7)
    }

    /// A look-up in a table of 16 gives nothing where the highest bit of the index is set: so each table of a half answers
    /// for the bytes of that half alone.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn has_any_avx2<'a>(&self, rows: impl Iterator<Item = &'a [u8; ROW]>) -> bool {
        // SAFETY: both tables have 16 bytes.
        let [low, high] = self.halves.map(|half| unsafe {
            _mm256_broadcastsi128_si256(_mm_loadu_si128(half.as_ptr().cast()))
        });
        let bits = _mm256_set1_epi64x(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
        let (index, upper) = (_mm256_set1_epi8(0x8F_u8.cast_signed()), _mm256_set1_epi8(0x07));
        let other_half = _mm256_set1_epi8(0x80_u8.cast_signed());
        let mut found = _mm256_setzero_si256();
        for row in rows {
            // SAFETY: a row has 32 bytes.
            let row = unsafe { _mm256_loadu_si256(row.as_ptr().cast()) };
            let in_low = _mm256_and_si256(row, index);
            let in_high = _mm256_xor_si256(in_low, other_half);
            let of_byte = _mm256_or_si256(
                _mm256_shuffle_epi8(low, in_low),
                _mm256_shuffle_epi8(high, in_high),
            );
            let bit =
                _mm256_shuffle_epi8(bits, _mm256_and_si256(_mm256_srli_epi16::<4>(row), upper));
            found = _mm256_or_si256(found, _mm256_and_si256(of_byte, bit));
        }
        _mm256_testz_si256(found, found) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_in_the_set_or_not() {
        for missing in 0..=255_u8 {
            let is_missing = |byte: u8| byte == missing || byte == missing.rotate_left(3);
            let counts =
                core::array::from_fn(|byte| u32::from(!is_missing(u8::try_from(byte).unwrap())));
            let set = ByteSet::of_missing(&counts);
            let other = (0..=255).find(|byte| !is_missing(*byte)).unwrap();
            for (byte, place) in (0..=255).flat_map(|byte| [(byte, 0), (byte, 9), (byte, 31)]) {
                let mut rows = [[other; ROW]; 3];
                rows[1][place] = byte;
                assert_eq!(set.has_any(rows.iter()), is_missing(byte));
                assert_eq!(set.has_any_scalar(rows.iter()), is_missing(byte));
            }
        }
    }
}
