//! The 16-byte registers every `aarch64` processor has.

use core::arch::aarch64::*;

use super::vector::{Kernel, Vector, gathering_map, squeezing_map};

/// One lane in a NEON register.
#[derive(Clone, Copy)]
pub(super) struct Neon(uint8x16_t);

// SAFETY: each pointer method reads or writes 16 bytes at the addresses the trait names, with
// instructions that need no alignment.
unsafe impl Vector for Neon {
    const LANES: usize = 1;
    const PERMUTES: bool = true;

    unsafe fn run<K: Kernel>(kernel: K) {
        // SAFETY: NEON is part of the baseline. What the kernel requires is true: `forward` and
        // `backward` of `shuffle`, the only callers, compare all lengths and sizes.
        unsafe { kernel.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 16 bytes can be read at `from`: the kernels show it for planes and the stage, see
        // `Vector::load`, and below `load_lanes` for items and `permute` for maps. No alignment is
        // needed.
        Self(unsafe { vld1q_u8(from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 16 bytes can be written at `to`: the kernels show it for planes and the stage,
        // see `Vector::store`, and `store_lane` and `store_lane_pairs` below for items. No
        // alignment is needed.
        unsafe { vst1q_u8(to, self.0) }
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
        // SAFETY: NEON is part of the baseline.
        Self(unsafe { vdupq_n_u8(0) })
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
        // SAFETY: NEON is part of the baseline.
        unsafe {
            match UNIT {
                1 => (Self(vzip1q_u8(a, b)), Self(vzip2q_u8(a, b))),
                2 => {
                    let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
                    let (low, high) = (vzip1q_u16(a, b), vzip2q_u16(a, b));
                    (Self(vreinterpretq_u8_u16(low)), Self(vreinterpretq_u8_u16(high)))
                }
                4 => {
                    let (a, b) = (vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b));
                    let (low, high) = (vzip1q_u32(a, b), vzip2q_u32(a, b));
                    (Self(vreinterpretq_u8_u32(low)), Self(vreinterpretq_u8_u32(high)))
                }
                _ => {
                    let (a, b) = (vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b));
                    let (low, high) = (vzip1q_u64(a, b), vzip2q_u64(a, b));
                    (Self(vreinterpretq_u8_u64(low)), Self(vreinterpretq_u8_u64(high)))
                }
            }
        }
    }
}

impl Neon {
    /// Byte `i` becomes byte `map[i]`, or 0 where `map[i]` is 0x80.
    #[inline(always)]
    fn permute(self, map: &[u8; 16]) -> Self {
        // SAFETY: the map has 16 bytes.
        let map = unsafe { Self::load(map.as_ptr()) };
        // SAFETY: NEON is part of the baseline.
        Self(unsafe { vqtbl1q_u8(self.0, map.0) })
    }
}
