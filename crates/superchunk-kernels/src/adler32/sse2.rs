//! [`super::adler32`] in 16-byte registers; see the one in 32-byte registers for how.

use core::arch::x86_64::*;

use super::{MODULUS, scalar};

/// A row.
const ROW: usize = 16;

/// So many bytes until the sums must be reduced: below that of the definition.
const MOST: usize = 5504;

/// See [`super::adler32`].
pub(super) fn adler32(before: u32, src: &[u8]) -> u32 {
    let (mut a, mut b) = (before & 0xffff, before >> 16);
    let (rows, rest) = src.as_chunks::<ROW>();
    for rows in rows.chunks(MOST / ROW) {
        // SAFETY: every processor of this architecture has SSE2.
        let (of_bytes, of_weighted, of_sums) = unsafe { add_rows(rows) };
        let len = u32::try_from(rows.len() * ROW).unwrap_or(0);
        let row = u32::try_from(ROW).unwrap_or(0);
        b = (b + a * len + of_sums * row + of_weighted) % MODULUS;
        a = (a + of_bytes) % MODULUS;
    }
    scalar::adler32((b << 16) | a, rest)
}

/// The sum of all bytes, that of the bytes by their weights in each row, and that of the sums of
/// bytes at the begin of each row.
#[target_feature(enable = "sse2")]
#[inline]
fn add_rows(rows: &[[u8; ROW]]) -> (u32, u32, u32) {
    let zero = _mm_setzero_si128();
    let low = _mm_set_epi16(9, 10, 11, 12, 13, 14, 15, 16);
    let high = _mm_set_epi16(1, 2, 3, 4, 5, 6, 7, 8);
    let (mut bytes, mut weighted, mut sums) = (zero, zero, zero);
    for row in rows {
        // SAFETY: the row has 16 bytes.
        let x = unsafe { _mm_loadu_si128(row.as_ptr().cast()) };
        sums = _mm_add_epi32(sums, bytes);
        bytes = _mm_add_epi32(bytes, _mm_sad_epu8(x, zero));
        let of_low = _mm_madd_epi16(_mm_unpacklo_epi8(x, zero), low);
        let of_high = _mm_madd_epi16(_mm_unpackhi_epi8(x, zero), high);
        weighted = _mm_add_epi32(weighted, _mm_add_epi32(of_low, of_high));
    }
    (total(bytes), total(weighted), total(sums))
}

/// The sum of the four numbers.
#[target_feature(enable = "sse2")]
#[inline]
fn total(numbers: __m128i) -> u32 {
    let mut parts = [0_u32; 4];
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_storeu_si128(parts.as_mut_ptr().cast(), numbers) };
    parts.iter().sum()
}
