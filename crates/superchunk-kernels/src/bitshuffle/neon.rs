//! Bit shuffle with the 16-byte registers every `aarch64` processor has.

use core::arch::aarch64::*;

use super::lanes::{Lanes, low_bits};
use super::tiles;

/// Transposes whole groups of items into rows.
pub(super) fn bitshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: NEON is part of `aarch64`.
    unsafe { tiles::bitshuffle::<uint8x16_t>(item_size, src, dst) }
}

/// Transposes rows back into whole groups of items.
pub(super) fn bitunshuffle(item_size: usize, src: &[u8], dst: &mut [u8]) {
    // SAFETY: NEON is part of `aarch64`.
    unsafe { tiles::bitunshuffle::<uint8x16_t, false>(item_size, src, dst) }
}

impl Lanes for uint8x16_t {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: NEON is part of `aarch64`.
        unsafe { vdupq_n_u8(0) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 16 bytes can be read at `from`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, `load_part` its array, and `gather` a piece of a
        // group. The load needs no alignment.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 16 bytes can be written at `to`: `tiles` passes a place in a row or a line, in
        // columns that it has seen to be there, `store_part` its array, and `scatter` a piece of a
        // group. The store needs no alignment.
        unsafe { vst1q_u8(to, self) }
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
        // SAFETY: NEON is part of `aarch64`.
        unsafe { vzip1q_u8(a, b) }
    }

    #[inline(always)]
    unsafe fn zip_high(a: Self, b: Self) -> Self {
        // SAFETY: NEON is part of `aarch64`.
        unsafe { vzip2q_u8(a, b) }
    }

    #[inline(always)]
    unsafe fn exchange<const SHIFT: i32>(a: Self, b: Self) -> (Self, Self) {
        // Selecting bits is one instruction here, so two shifts and two selections do.
        // SAFETY: NEON is part of `aarch64`.
        unsafe {
            let low = vdupq_n_u8(low_bits(SHIFT));
            let (up, down) = (vshlq_n_u8::<SHIFT>(b), vshrq_n_u8::<SHIFT>(a));
            (vbslq_u8(low, a, up), vbslq_u8(low, down, b))
        }
    }
}
