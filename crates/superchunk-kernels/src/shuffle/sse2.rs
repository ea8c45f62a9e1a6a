//! The 16-byte registers every `x86_64` processor has.
//!
//! They lack a permutation of bytes: items are moved apart and together by shifts.

use core::arch::x86_64::*;

use super::vector::{Kernel, Vector};

/// One lane in an SSE2 register.
#[derive(Clone, Copy)]
pub(super) struct Sse2(__m128i);

// SAFETY: each pointer method reads or writes 16 bytes at the addresses the trait names, with
// instructions that need no alignment.
unsafe impl Vector for Sse2 {
    const LANES: usize = 1;
    const PERMUTES: bool = false;

    unsafe fn run<K: Kernel>(kernel: K) {
        // SAFETY: SSE2 is part of the baseline. What the kernel requires is true: `forward` and
        // `backward` of `shuffle`, the only callers, compare all lengths and sizes.
        unsafe { kernel.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 16 bytes can be read at `from`: the kernels show it for planes and the stage, see
        // `Vector::load`, and `load_lanes` below for items. No alignment is needed.
        Self(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 16 bytes can be written at `to`: the kernels show it for planes and the stage,
        // see `Vector::store`, and `store_lane` and `store_lane_pairs` below for items. No
        // alignment is needed.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes(from: *const u8, _stride: usize) -> Self {
        // SAFETY: 16 bytes can be read at `from`, the place of the only lane: `Forward::step`, the
        // only caller, requires them where the first item of each register starts.
        unsafe { Self::load(from) }
    }

    #[inline(always)]
    unsafe fn store_lane(self, _lane: usize, to: *mut u8) {
        // SAFETY: 16 bytes can be written at `to`: `Backward::step`, the only caller, requires them
        // where the first item of each register starts.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn store_lane_pairs(self, next: Self, to: *mut u8, _stride: usize) {
        // SAFETY: 32 bytes can be written at `to`, the place of the only lane: `Backward::step`,
        // the only caller, passes registers `i` and `i + 1` of the `WIDTH` that the items of a step
        // fill.
        unsafe {
            self.store(to);
            next.store(to.add(16));
        }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: SSE2 is part of the baseline.
        Self(unsafe { _mm_setzero_si128() })
    }

    #[inline(always)]
    unsafe fn gather<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        // SAFETY: SSE2 is part of the baseline.
        Self(unsafe { spread_items::<SIZE>(self.0) })
    }

    #[inline(always)]
    unsafe fn squeeze<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        // SAFETY: SSE2 is part of the baseline.
        Self(unsafe { squeeze_items::<SIZE>(self.0) })
    }

    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: SSE2 is part of the baseline.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
                2 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
                4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
                _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
            }
        };
        (Self(low), Self(high))
    }
}

/// See [`Vector::gather`]: moves items of `SIZE` bytes to the next power of two apart.
#[target_feature(enable = "sse2")]
#[inline]
fn spread_items<const SIZE: usize>(items: __m128i) -> __m128i {
    match SIZE {
        3 => {
            let pairs = _mm_unpacklo_epi64(items, _mm_srli_si128::<6>(items));
            let first = _mm_and_si128(pairs, _mm_set1_epi64x(0xffff_ffff));
            let second = _mm_srli_epi64::<32>(_mm_slli_epi64::<8>(pairs));
            _mm_or_si128(first, _mm_slli_epi64::<32>(second))
        }
        5 => _mm_unpacklo_epi64(items, _mm_srli_si128::<5>(items)),
        6 => _mm_unpacklo_epi64(items, _mm_srli_si128::<6>(items)),
        7 => _mm_unpacklo_epi64(items, _mm_srli_si128::<7>(items)),
        _ => items,
    }
}

/// See [`Vector::squeeze`].
#[target_feature(enable = "sse2")]
#[inline]
fn squeeze_items<const SIZE: usize>(items: __m128i) -> __m128i {
    match SIZE {
        3 => {
            let first = _mm_and_si128(items, _mm_set1_epi64x(0x00ff_ffff));
            let second = _mm_and_si128(items, _mm_set1_epi64x(0x00ff_ffff << 32));
            join::<6>(_mm_or_si128(first, _mm_srli_epi64::<8>(second)))
        }
        5 => join::<5>(items),
        6 => join::<6>(items),
        7 => join::<7>(items),
        _ => items,
    }
}

/// Joins the first `SIZE` bytes of both halves of a lane.
#[target_feature(enable = "sse2")]
#[inline]
fn join<const SIZE: i32>(items: __m128i) -> __m128i {
    let first = _mm_and_si128(items, _mm_set_epi64x(0, (1 << (8 * SIZE)) - 1));
    _mm_or_si128(first, _mm_slli_si128::<SIZE>(_mm_srli_si128::<8>(items)))
}
