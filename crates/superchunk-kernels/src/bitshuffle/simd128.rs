//! Bit shuffle with the 16-byte registers of WebAssembly.

use core::arch::wasm32::*;

use super::lanes::{Lanes, low_bits};
use super::tiles;

/// Transposes whole groups of items into rows.
pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: this file is compiled only where `simd128` is enabled.
    unsafe { tiles::bitshuffle::<v128>(item_size, src, dst) }
}

/// Transposes rows back into whole groups of items.
pub(super) fn bitunshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: this file is compiled only where `simd128` is enabled.
    unsafe { tiles::bitunshuffle::<v128, false>(item_size, src, dst) }
}

impl Lanes for v128 {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> Self {
        u64x2_splat(0)
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 16 bytes can be read at `from`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, `load_part` its array, and `gather` a piece of a
        // group. The load needs no alignment.
        unsafe { v128_load(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 16 bytes can be written at `to`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, `store_part` its array, and `scatter` a piece of a
        // group. The store needs no alignment.
        unsafe { v128_store(to.cast(), self) }
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
        u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b)
    }

    #[inline(always)]
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b)
    }

    #[inline(always)]
    unsafe fn exchange<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        let shift = SHIFT.unsigned_abs();
        let mask = u8x16_splat(low_bits(SHIFT));
        let changed = v128_and(v128_xor(u64x2_shr(a, shift), b), mask);
        (v128_xor(a, u64x2_shl(changed, shift)), v128_xor(b, changed))
    }
}
