//! Bit shuffle with 32-byte registers. AVX2 works in two lanes of 16 bytes, so a register takes the
//! two lanes' bytes from places that are 16 columns apart, and no instruction has to cross lanes.

use core::arch::x86_64::*;

use super::lanes::{Lanes, low_bits};
use super::{columns, sse2, tiles, whole};
use crate::far;

/// Transposes whole groups of items into rows.
#[target_feature(enable = "avx2")]
pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    if columns(item_size, src.len().min(dst.len())) < __m256i::WIDTH {
        return sse2::bitshuffle(item_size, src, dst);
    }
    // SAFETY: this function has AVX2.
    unsafe { tiles::bitshuffle::<__m256i>(item_size, src, dst) }
}

/// Transposes rows back into whole groups of items; with `FAR` these are written past the caches.
#[target_feature(enable = "avx2")]
pub(super) fn bitunshuffle<const FAR: bool>(item_size: usize, src: &[u8], dst: &mut [u8]) {
    if columns(item_size, src.len().min(dst.len())) < __m256i::WIDTH {
        return sse2::bitunshuffle(item_size, src, dst);
    }
    // SAFETY: this function has AVX2.
    unsafe {
        if !whole::bitunshuffle::<FAR>(item_size, src, dst) {
            tiles::bitunshuffle::<__m256i, FAR>(item_size, src, dst);
        }
    }
}

impl Lanes for __m256i {
    const WIDTH: usize = 32;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller has AVX2 and vouches for 32 bytes; the load needs no alignment.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller has AVX2 and vouches for 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, lane_stride: usize) -> Self {
        // SAFETY: the caller has AVX2 and vouches for 16 bytes at `from` and a stride later.
        unsafe {
            let low = _mm_loadu_si128(from.cast());
            let high = _mm_loadu_si128(from.add(lane_stride).cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, lane_stride: usize) {
        // SAFETY: the caller has AVX2 and vouches for 16 bytes at `to` and a stride later.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(self));
            _mm_storeu_si128(to.add(lane_stride).cast(), _mm256_extracti128_si256::<1>(self));
        }
    }

    #[inline(always)]
    unsafe fn zip_low(a: Self, b: Self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_unpacklo_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_unpackhi_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn exchange<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the caller has AVX2.
        unsafe {
            let mask = _mm256_set1_epi8(low_bits(SHIFT).cast_signed());
            let moved = _mm256_srli_epi64::<SHIFT>(a);
            let changed = _mm256_and_si256(_mm256_xor_si256(moved, b), mask);
            let back = _mm256_slli_epi64::<SHIFT>(changed);
            (_mm256_xor_si256(a, back), _mm256_xor_si256(b, changed))
        }
    }

    #[inline(always)]
    fn prefetch(at: *const u8) {
        far::prefetch(at);
    }
}
