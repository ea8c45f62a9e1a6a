//! [`super::scan`] in 16-byte registers.

use core::arch::aarch64::*;

/// See [`super::scan::scan`].
#[target_feature(enable = "neon")]
pub(super) fn scan<const XOR: bool, const WIDTH: usize>(src: &[u8], dst: &mut [u8]) {
    let mut before = vdupq_n_u8(0);
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

#[target_feature(enable = "neon")]
#[inline]
fn step<const XOR: bool, const WIDTH: usize>(
    from: &[u8; 16],
    to: &mut [u8; 16],
    before: &mut uint8x16_t,
) {
    let zero = vdupq_n_u8(0);
    // SAFETY: the array has 16 bytes.
    let mut totals = unsafe { vld1q_u8(from.as_ptr()) };
    if WIDTH <= 1 {
        totals = combine::<XOR>(totals, vextq_u8::<15>(zero, totals));
    }
    if WIDTH <= 2 {
        totals = combine::<XOR>(totals, vextq_u8::<14>(zero, totals));
    }
    if WIDTH <= 4 {
        totals = combine::<XOR>(totals, vextq_u8::<12>(zero, totals));
    }
    totals = combine::<XOR>(totals, vextq_u8::<8>(zero, totals));
    // SAFETY: the array has 16 bytes.
    unsafe { vst1q_u8(to.as_mut_ptr(), combine::<XOR>(totals, *before)) };
    *before = combine::<XOR>(*before, last_everywhere::<WIDTH>(totals));
}

#[target_feature(enable = "neon")]
#[inline]
fn combine<const XOR: bool>(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    if XOR { veorq_u8(a, b) } else { vaddq_u8(a, b) }
}

/// The last word in every place.
#[target_feature(enable = "neon")]
#[inline]
fn last_everywhere<const WIDTH: usize>(totals: uint8x16_t) -> uint8x16_t {
    match WIDTH {
        1 => vdupq_laneq_u8::<15>(totals),
        2 => vreinterpretq_u8_u16(vdupq_laneq_u16::<7>(vreinterpretq_u16_u8(totals))),
        4 => vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(totals))),
        _ => vreinterpretq_u8_u64(vdupq_laneq_u64::<1>(vreinterpretq_u64_u8(totals))),
    }
}
