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
    // SAFETY: the processor has AVX2, for which this function is compiled, and there are `WIDTH`
    // groups or more, as was just compared.
    unsafe { tiles::bitshuffle::<__m256i>(item_size, src, dst) }
}

/// Transposes rows back into whole groups of items; with `FAR` these are written past the caches.
#[target_feature(enable = "avx2")]
pub(super) fn bitunshuffle<const FAR: bool>(item_size: usize, src: &[u8], dst: &mut [u8]) {
    if columns(item_size, src.len().min(dst.len())) < __m256i::WIDTH {
        return sse2::bitunshuffle(item_size, src, dst);
    }
    // SAFETY: the processor has AVX2, for which this function is compiled, and there are `WIDTH`
    // groups or more, as was just compared.
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
        // SAFETY: the processor has AVX2: `bitshuffle` and `bitunshuffle` above, into which this is
        // inlined, are compiled for it.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 32 bytes can be read at `from`: `tiles` and `whole` pass a place in a row or a
        // line, in columns that they have seen to be there, or `load_part` its array. The load
        // needs no alignment. AVX2: see `zero`.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 32 bytes can be written at `to`: `tiles` and `whole` pass a place in a row, a
        // line or a group, in columns that they have seen to be there, or `store_part` its array.
        // The store needs no alignment. AVX2: see `zero`.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, lane_stride: usize) -> Self {
        // SAFETY: 16 bytes can be read at `from` and a stride later: `tiles` passes a piece of a
        // group, of which `WIDTH` are there, and the stride of 16 groups; `whole` a line of a tile,
        // 16 lines before another. AVX2: see `zero`.
        unsafe {
            let low = _mm_loadu_si128(from.cast());
            let high = _mm_loadu_si128(from.add(lane_stride).cast());
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
        }
    }

    #[inline(always)]
    unsafe fn scatter(self, to: *mut u8, lane_stride: usize) {
        // SAFETY: 16 bytes can be written at `to` and a stride later: `tiles`, the only caller,
        // passes a piece of a group, of which `WIDTH` are there, and the stride of 16 groups. AVX2:
        // see `zero`.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(self));
            _mm_storeu_si128(to.add(lane_stride).cast(), _mm256_extracti128_si256::<1>(self));
        }
    }

    #[inline(always)]
    unsafe fn zip_low(a: Self, b: Self) -> Self {
        // SAFETY: the processor has AVX2: `bitshuffle` and `bitunshuffle` above, into which this is
        // inlined, are compiled for it.
        unsafe { _mm256_unpacklo_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        // SAFETY: the processor has AVX2: `bitshuffle` and `bitunshuffle` above, into which this is
        // inlined, are compiled for it.
        unsafe { _mm256_unpackhi_epi8(a, b) }
    }

    #[inline(always)]
    unsafe fn exchange<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // SAFETY: the processor has AVX2: `bitshuffle` and `bitunshuffle` above, into which this is
        // inlined, are compiled for it.
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
