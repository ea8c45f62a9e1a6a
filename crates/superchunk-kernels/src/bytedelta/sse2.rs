//! [`super::scan`] in 16-byte registers.

use core::arch::x86_64::*;

/// See [`super::scan::scan`].
#[target_feature(enable = "sse2")]
pub(super) fn scan<const XOR: bool, const WIDTH: usize>(src: &[u8], dst: &mut [u8]) {
    let mut before = _mm_setzero_si128();
    let (from, from_rest) = src.as_chunks::<16>();
    let (to, to_rest) = dst.as_chunks_mut::<16>();
    for (to, from) in to.iter_mut().zip(from) {
        step::<XOR, WIDTH>(from, to, &mut before);
    }
    let (mut padded, mut totals) = ([0; 16], [0; 16]);
    for (to, &byte) in padded.iter_mut().zip(from_rest) {
        *to = byte;
    }
    step::<XOR, WIDTH>(&padded, &mut totals, &mut before);
    for (to, byte) in to_rest.iter_mut().zip(totals) {
        *to = byte;
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn step<const XOR: bool, const WIDTH: usize>(
    from: &[u8; 16],
    to: &mut [u8; 16],
    before: &mut __m128i,
) {
    // SAFETY: the array has 16 bytes.
    let mut totals = unsafe { _mm_loadu_si128(from.as_ptr().cast()) };
    if WIDTH <= 1 {
        totals = combine::<XOR>(totals, _mm_slli_si128::<1>(totals));
    }
    if WIDTH <= 2 {
        totals = combine::<XOR>(totals, _mm_slli_si128::<2>(totals));
    }
    if WIDTH <= 4 {
        totals = combine::<XOR>(totals, _mm_slli_si128::<4>(totals));
    }
    totals = combine::<XOR>(totals, _mm_slli_si128::<8>(totals));
    // SAFETY: the array has 16 bytes.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), combine::<XOR>(totals, *before)) };
    *before = combine::<XOR>(*before, last_everywhere::<WIDTH>(totals));
}

#[target_feature(enable = "sse2")]
#[inline]
fn combine<const XOR: bool>(a: __m128i, b: __m128i) -> __m128i {
    if XOR { _mm_xor_si128(a, b) } else { _mm_add_epi8(a, b) }
}

/// The last word in every place.
#[target_feature(enable = "sse2")]
#[inline]
fn last_everywhere<const WIDTH: usize>(totals: __m128i) -> __m128i {
    match WIDTH {
        1 => {
            let twice = _mm_unpackhi_epi8(totals, totals);
            _mm_shuffle_epi32::<0xff>(_mm_shufflehi_epi16::<0xff>(twice))
        }
        2 => _mm_shuffle_epi32::<0xff>(_mm_shufflehi_epi16::<0xff>(totals)),
        4 => _mm_shuffle_epi32::<0xff>(totals),
        _ => _mm_shuffle_epi32::<0xee>(totals),
    }
}
