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
        // SAFETY: 16 bytes can be read at `from`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, `load_part` its array, and `gather` a piece of a
        // group. The load needs no alignment.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 16 bytes can be written at `to`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, `store_part` its array, and `scatter` a piece of a
        // group. The store needs no alignment.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, _lane_stride: usize) -> Self {
        // SAFETY: the 16 bytes of the only lane can be read at `from`: `groups_to_lines` and
        // `bytes_to_rows` of `tiles`, the only callers, pass a piece of a group that is there.
        unsafe { Self::load(from) }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, _lane_stride: usize) {
        // SAFETY: the 16 bytes of the only lane can be written at `to`: `lines_to_groups` and
        // `rows_to_bytes` of `tiles`, the only callers, pass a piece of a group that is there.
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
