//! [`super::adler32`] in 64-byte registers, with the instruction that multiplies bytes by weights
//! and adds them up; see the one in 32-byte registers for how.

use core::arch::x86_64::*;

use super::{MODULUS, WEIGHTS, scalar};

/// A row.
const ROW: usize = 64;

/// So many bytes until the sums must be reduced: below that of the definition.
const MOST: usize = 5504;

/// See [`super::adler32`].
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn add_rows(rows: &[[u8; ROW]]) -> (u32, u32, u32) {
    // SAFETY: the array has 64 bytes.
    let weights = unsafe { _mm512_loadu_si512(WEIGHTS.as_ptr().cast()) };
    let zero = _mm512_setzero_si512();
    let (mut bytes, mut sums) = (zero, zero);
    let mut add = |row: &[u8; ROW], weighted: &mut __m512i| {
        // SAFETY: the row has 64 bytes.
        let row = unsafe { _mm512_loadu_si512(row.as_ptr().cast()) };
        sums = _mm512_add_epi32(sums, bytes);
        bytes = _mm512_add_epi32(bytes, _mm512_sad_epu8(row, zero));
        *weighted = _mm512_dpbusd_epi32(*weighted, row, weights);
    };
    // Rows take turns: such a multiplication takes longer than all the rest of a row.
    let (mut even, mut odd) = (zero, zero);
    let (pairs, rest) = rows.as_chunks::<2>();
    for [first, second] in pairs {
        add(first, &mut even);
        add(second, &mut odd);
    }
    for row in rest {
        add(row, &mut even);
    }
    (total(bytes), total(_mm512_add_epi32(even, odd)), total(sums))
}

/// The sum of the sixteen numbers.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn total(numbers: __m512i) -> u32 {
    let mut parts = [0_u32; 16];
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_storeu_si512(parts.as_mut_ptr().cast(), numbers) };
    parts.iter().sum()
}
