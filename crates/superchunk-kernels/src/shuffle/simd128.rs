//! The 16-byte registers of WebAssembly, when the module is compiled for them.

use core::arch::wasm32::*;

use super::vector::{Kernel, Vector, gathering_map, squeezing_map};

/// One lane in a WebAssembly vector.
#[derive(Clone, Copy)]
pub(super) struct Simd128(v128);

// SAFETY: each pointer method reads or writes 16 bytes at the addresses the trait names, with
// instructions that need no alignment.
unsafe impl Vector for Simd128 {
    const LANES: usize = 1;
    const PERMUTES: bool = true;

    unsafe fn run<K: Kernel>(kernel: K) {
        // SAFETY: the file is compiled only where `simd128` is enabled. What the kernel requires is
        // true: `forward` and `backward` of `shuffle`, the only callers, compare all lengths and
        // sizes.
        unsafe { kernel.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 16 bytes can be read at `from`: the kernels show it for planes and the stage, see
        // `Vector::load`, and below `load_lanes` for items and `permute` for maps. No alignment is
        // needed.
        Self(unsafe { v128_load(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 16 bytes can be written at `to`: the kernels show it for planes and the stage,
        // see `Vector::store`, and `store_lane` and `store_lane_pairs` below for items. No
        // alignment is needed.
        unsafe { v128_store(to.cast(), self.0) }
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
        Self(u64x2_splat(0))
    }

    #[inline(always)]
    unsafe fn gather<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        self.permute(&const { gathering_map(SIZE, WIDTH) })
    }

    #[inline(always)]
    unsafe fn squeeze<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        self.permute(&const { squeezing_map(SIZE, WIDTH) })
    }

    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        let (low, high) = match UNIT {
            1 => (
                u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b),
                u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b),
            ),
            2 => (
                u16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b),
                u16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b),
            ),
            4 => (u32x4_shuffle::<0, 4, 1, 5>(a, b), u32x4_shuffle::<2, 6, 3, 7>(a, b)),
            _ => (u64x2_shuffle::<0, 2>(a, b), u64x2_shuffle::<1, 3>(a, b)),
        };
        (Self(low), Self(high))
    }
}

impl Simd128 {
    /// Byte `i` becomes byte `map[i]`, or 0 where `map[i]` is 0x80.
    #[inline(always)]
    fn permute(self, map: &[u8; 16]) -> Self {
        // SAFETY: the map has 16 bytes.
        let map = unsafe { Self::load(map.as_ptr()) };
        Self(u8x16_swizzle(self.0, map.0))
    }
}
