//! [`super::scan`] in 32-byte registers: each lane for itself, then the second lane with the total
//! of the first.

use core::arch::x86_64::*;

/// See [`super::scan::scan`].
#[target_feature(enable = "avx2")]
pub(super) fn scan<const XOR: bool, const WIDTH: usize>(src: &[u8], dst: &mut [u8]) {
    let mut before = _mm256_setzero_si256();
    let (from, from_rest) = src.as_chunks::<32>();
    let (to, to_rest) = dst.as_chunks_mut::<32>();
    for (to, from) in to.iter_mut().zip(from) {
        step::<XOR, WIDTH>(from, to, &mut before);
    }
    let (mut padded, mut totals) = ([0; 32], [0; 32]);
    for (to, &byte) in padded.iter_mut().zip(from_rest) {
        *to = byte;
    }
    step::<XOR, WIDTH>(&padded, &mut totals, &mut before);
    for (to, byte) in to_rest.iter_mut().zip(totals) {
        *to = byte;
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn step<const XOR: bool, const WIDTH: usize>(
    from: &[u8; 32],
    to: &mut [u8; 32],
    before: &mut __m256i,
) {
    // SAFETY: the array has 32 bytes.
    let mut totals = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
    if WIDTH <= 1 {
        totals = combine::<XOR>(totals, _mm256_slli_si256::<1>(totals));
    }
    if WIDTH <= 2 {
        totals = combine::<XOR>(totals, _mm256_slli_si256::<2>(totals));
    }
    if WIDTH <= 4 {
        totals = combine::<XOR>(totals, _mm256_slli_si256::<4>(totals));
    }
    totals = combine::<XOR>(totals, _mm256_slli_si256::<8>(totals));
    let of_lanes = last_of_lanes::<WIDTH>(totals);
    // Nothing for the first lane, the first lane's total for the second.
    totals = combine::<XOR>(totals, _mm256_permute2x128_si256::<0x08>(of_lanes, of_lanes));
    // SAFETY: the array has 32 bytes.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), combine::<XOR>(totals, *before)) };
    let of_both = combine::<XOR>(of_lanes, _mm256_permute2x128_si256::<0x01>(of_lanes, of_lanes));
    *before = combine::<XOR>(*before, of_both);
}

#[target_feature(enable = "avx2")]
#[inline]
fn combine<const XOR: bool>(a: __m256i, b: __m256i) -> __m256i {
    if XOR { _mm256_xor_si256(a, b) } else { _mm256_add_epi8(a, b) }
}

/// The last word of each lane in every place of that lane.
#[target_feature(enable = "avx2")]
#[inline]
fn last_of_lanes<const WIDTH: usize>(totals: __m256i) -> __m256i {
    match WIDTH {
        1 => _mm256_shuffle_epi8(totals, _mm256_set1_epi8(15)),
        2 => _mm256_shuffle_epi8(totals, _mm256_set1_epi16(0x0f0e)),
        4 => _mm256_shuffle_epi32::<0xff>(totals),
        _ => _mm256_shuffle_epi32::<0xee>(totals),
    }
}
