//! [`super::adler32`] in 32-byte registers.
//!
//! For a row of `n` bytes `x`, `a` grows by their sum, and `b` by `n` times what `a` was before and
//! by `n * x[0] + (n - 1) * x[1] + …`. The sums of `a` at the begin of each row are added up in a
//! register of their own and multiplied by the length of a row at the end.

use core::arch::x86_64::*;

use super::{MODULUS, WEIGHTS, scalar};

/// A row.
const ROW: usize = 64;

/// So many bytes until the sums must be reduced: below that of the definition.
const MOST: usize = 5504;

/// See [`super::adler32`].
#[target_feature(enable = "avx2")]
pub(super) fn adler32(before: u32, src: &[u8]) -> u32 {
    let (mut a, mut b) = (before & 0xffff, before >> 16);
    let (rows, rest) = src.as_chunks::<ROW>();
    for rows in rows.chunks(MOST / ROW) {
        let (of_bytes, of_weighted, of_sums) = add_rows(rows);
        let len = u32::try_from(rows.len() * ROW).unwrap_or(0);
        let row = u32::try_from(ROW).unwrap_or(0);
        b = (b + a * len + of_sums * row + of_weighted) % MODULUS;
        a = (a + of_bytes) % MODULUS;
    }
    scalar::adler32((b << 16) | a, rest)
}

/// The sum of all bytes, that of the bytes by their weights in each row, and that of the sums of
/// bytes at the begin of each row.
#[target_feature(enable = "avx2")]
#[inline]
fn add_rows(rows: &[[u8; ROW]]) -> (u32, u32, u32) {
    let zero = _mm256_setzero_si256();
    let ones = _mm256_set1_epi16(1);
    let (of_head, of_tail) = WEIGHTS.split_at(32);
    // SAFETY: both parts of the array have 32 bytes.
    let (of_head, of_tail) = unsafe {
        (_mm256_loadu_si256(of_head.as_ptr().cast()), _mm256_loadu_si256(of_tail.as_ptr().cast()))
    };
    let (mut bytes, mut weighted, mut sums) = (zero, zero, zero);
    for row in rows {
        let (head, tail) = row.split_at(32);
        // SAFETY: both parts of the row have 32 bytes.
        let (x, y) = unsafe {
            (_mm256_loadu_si256(head.as_ptr().cast()), _mm256_loadu_si256(tail.as_ptr().cast()))
        };
        sums = _mm256_add_epi32(sums, bytes);
        let sad = _mm256_add_epi32(_mm256_sad_epu8(x, zero), _mm256_sad_epu8(y, zero));
        bytes = _mm256_add_epi32(bytes, sad);
        let x = _mm256_madd_epi16(_mm256_maddubs_epi16(x, of_head), ones);
        let y = _mm256_madd_epi16(_mm256_maddubs_epi16(y, of_tail), ones);
        weighted = _mm256_add_epi32(weighted, _mm256_add_epi32(x, y));
    }
    (total(bytes), total(weighted), total(sums))
}

/// The sum of the eight numbers.
#[target_feature(enable = "avx2")]
#[inline]
fn total(numbers: __m256i) -> u32 {
    let mut parts = [0_u32; 8];
    // SAFETY: the array has 32 bytes.
    unsafe { _mm256_storeu_si256(parts.as_mut_ptr().cast(), numbers) };
    parts.iter().sum()
}
