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
        // SAFETY: the caller vouches for 16 bytes; the load needs no alignment.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for 16 bytes; the store needs no alignment.
        unsafe { vst1q_u8(to, self) }
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
