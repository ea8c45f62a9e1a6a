//! 32-byte registers of `x86_64`: two lanes, each transposed on its own.

use core::arch::x86_64::*;

use super::vector::{Kernel, Vector, gathering_map, squeezing_map};
use crate::cpu::isa;

/// Two lanes in an AVX2 register. `FAR` ones store pairs of lanes past the caches, to
/// multiples of 16 only.
#[derive(Clone, Copy)]
pub(super) struct Avx2<const FAR: bool = false>(__m256i);

// SAFETY: each pointer method reads or writes exactly the bytes the trait names, with instructions
// that need no alignment beyond what the type says.
unsafe impl<const FAR: bool> Vector for Avx2<FAR> {
    const LANES: usize = 2;
    const PERMUTES: bool = true;

    #[target_feature(enable = "avx2")]
    unsafe fn run<K: Kernel>(kernel: K) {
        debug_assert!(isa().has_avx2());
        // SAFETY: the machine has AVX2, for which this is compiled: `items_to_planes`,
        // `planes_to_items` and `far_planes_to_items` of `shuffle` choose this type by it. What the
        // kernel requires is true: `forward`, `backward` and `backward_far`, the only callers,
        // compare all lengths and sizes.
        unsafe { kernel.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: 32 bytes can be read at `from`: the kernels show it for planes and the stage, see
        // `Vector::load`. The load needs no alignment. The machine has AVX2: kernels run inside
        // `run`, which is compiled for it.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: 32 bytes can be written at `to`: the kernels show it for planes and the stage,
        // see `Vector::store`, and `store_lane_pairs` below for items. The store needs no
        // alignment. The machine has AVX2: kernels run inside `run`, which is compiled for it.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes(from: *const u8, stride: usize) -> Self {
        // SAFETY: 16 bytes can be read at `from` and at `from + stride`: `Forward::step` requires
        // them where the first item of each lane starts, and `permute`, the only other caller,
        // passes a map of 16 bytes and no stride. The machine has AVX2: kernels run inside `run`,
        // which is compiled for it.
        unsafe {
            let low = _mm_loadu_si128(from.cast());
            let high = _mm_loadu_si128(from.add(stride).cast());
            Self(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
        }
    }

    #[inline(always)]
    unsafe fn store_lane(self, lane: usize, to: *mut u8) {
        debug_assert!(lane < Self::LANES);
        // SAFETY: 16 bytes can be written at `to`: `Backward::step`, the only caller, requires them
        // where the first item of each lane starts. The machine has AVX2: kernels run inside `run`,
        // which is compiled for it.
        unsafe {
            let half = if lane == 0 {
                _mm256_castsi256_si128(self.0)
            } else {
                _mm256_extracti128_si256::<1>(self.0)
            };
            _mm_storeu_si128(to.cast(), half);
        }
    }

    #[inline(always)]
    unsafe fn store_lane_pairs(self, next: Self, to: *mut u8, stride: usize) {
        if FAR {
            debug_assert!(to.addr().is_multiple_of(16) && stride.is_multiple_of(16));
            // SAFETY: 32 bytes can be written at `to` and at `to + stride`, and the machine has
            // AVX2, as below. Both are multiples of 16, since all steps begin at such:
            // `backward_far`, which alone chooses `FAR`, checks the address and the length of the
            // output.
            unsafe {
                _mm_stream_si128(to.cast(), _mm256_castsi256_si128(self.0));
                _mm_stream_si128(to.add(16).cast(), _mm256_castsi256_si128(next.0));
                let to = to.add(stride);
                _mm_stream_si128(to.cast(), _mm256_extracti128_si256::<1>(self.0));
                _mm_stream_si128(to.add(16).cast(), _mm256_extracti128_si256::<1>(next.0));
            }
            return;
        }
        // SAFETY: 32 bytes can be written at `to` and at `to + stride`: `Backward::step`, the only
        // caller, passes registers `i` and `i + 1` of the `WIDTH` that the items of a step fill,
        // and what a lane has of all of them as the stride. The machine has AVX2: kernels run
        // inside `run`, which is compiled for it.
        unsafe {
            Self(_mm256_permute2x128_si256::<0x20>(self.0, next.0)).store(to);
            Self(_mm256_permute2x128_si256::<0x31>(self.0, next.0)).store(to.add(stride));
        }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the machine has AVX2: kernels run inside `run`, which is compiled for it.
        Self(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    unsafe fn gather<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        // SAFETY: the machine has AVX2: kernels run inside `run`, which is compiled for it.
        unsafe { self.permute(&const { gathering_map(SIZE, WIDTH) }) }
    }

    #[inline(always)]
    unsafe fn squeeze<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        // SAFETY: the machine has AVX2: kernels run inside `run`, which is compiled for it.
        unsafe { self.permute(&const { squeezing_map(SIZE, WIDTH) }) }
    }

    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: the machine has AVX2: kernels run inside `run`, which is compiled for it.
        let (low, high) = unsafe {
            match UNIT {
                1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
                2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
            }
        };
        (Self(low), Self(high))
    }
}

impl<const FAR: bool> Avx2<FAR> {
    /// Byte `i` of each lane becomes byte `map[i]` of that lane, or 0 where `map[i]` is 0x80.
    ///
    /// # Safety
    /// The machine must have AVX2.
    #[inline(always)]
    unsafe fn permute(self, map: &[u8; 16]) -> Self {
        // SAFETY: the map has 16 bytes, which both lanes read, as the stride is 0. The machine has
        // AVX2: `gather` and `squeeze`, the only callers, require it.
        unsafe {
            let map = Self::load_lanes(map.as_ptr(), 0);
            Self(_mm256_shuffle_epi8(self.0, map.0))
        }
    }
}
