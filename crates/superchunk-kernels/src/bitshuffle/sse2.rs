//! Bit shuffle with the 16-byte registers every `x86_64` processor has.

use core::arch::x86_64::*;

use super::lanes::{Lanes, low_bits};
use super::tiles;
use crate::far;

/// Transposes whole groups of items into rows.
pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: SSE2 is part of `x86_64`.
    unsafe { tiles::bitshuffle::<__m128i>(item_size, src, dst) }
}

/// Transposes rows back into whole groups of items.
pub(super) fn bitunshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: SSE2 is part of `x86_64`.
    unsafe { tiles::bitunshuffle::<__m128i, false>(item_size, src, dst) }
}

impl Lanes for __m128i {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: SSE2 is part of `x86_64`.
        unsafe { _mm_setzero_si128() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for 16 bytes; the load needs no alignment.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for 16 bytes; the store needs no alignment.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, _lane_stride: usize) -> Self {
        // SAFETY: there is one lane, for whose 16 bytes the caller vouches.
        unsafe { Self::load(from) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, _lane_stride: usize) {
        // SAFETY: there is one lane, for whose 16 bytes the caller vouches.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn zip_low(a: Self, b: Self) -> Self {
        // SAFETY: SSE2 is part of `x86_64`.
        unsafe { _mm_unpacklo_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        // SAFETY: SSE2 is part of `x86_64`.
        unsafe { _mm_unpackhi_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn exchange<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: SSE2 is part of `x86_64`.
        unsafe {
            let mask = _mm_set1_epi8(low_bits(SHIFT).cast_signed());
            let changed = _mm_and_si128(_mm_xor_si128(_mm_srli_epi64::<SHIFT>(a), b), mask);
            (_mm_xor_si128(a, _mm_slli_epi64::<SHIFT>(changed)), _mm_xor_si128(b, changed))
        }
    }

    #[inline(always)]
    fn prefetch(at: *const u8) {
        far::prefetch(at);
    }
}
