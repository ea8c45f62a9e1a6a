//! 32-byte registers of `x86_64`: two lanes, each transposed on its own.

use core::arch::x86_64::*;

use super::vector::{Kernel, Vector, gathering_map, squeezing_map};

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
        // SAFETY: the caller vouches for AVX2 and for the kernel's own needs.
        unsafe { kernel.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for AVX2 and 32 readable bytes.
        Self(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for AVX2 and 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn load_lanes(from: *const u8, stride: usize) -> Self {
        // SAFETY: the caller vouches for AVX2 and 16 readable bytes at both addresses.
        unsafe {
            let low = _mm_loadu_si128(from.cast());
            let high = _mm_loadu_si128(from.add(stride).cast());
            Self(_mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high))
        }
    }

    #[inline(always)]
    unsafe fn store_lane(self, lane: usize, to: *mut u8) {
        // SAFETY: the caller vouches for AVX2 and 16 writable bytes.
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
            // SAFETY: as below, and both addresses are multiples of 16, as the type asks.
            unsafe {
                _mm_stream_si128(to.cast(), _mm256_castsi256_si128(self.0));
                _mm_stream_si128(to.add(16).cast(), _mm256_castsi256_si128(next.0));
                let to = to.add(stride);
                _mm_stream_si128(to.cast(), _mm256_extracti128_si256::<1>(self.0));
                _mm_stream_si128(to.add(16).cast(), _mm256_extracti128_si256::<1>(next.0));
            }
            return;
        }
        // SAFETY: the caller vouches for AVX2 and 32 writable bytes at both addresses.
        unsafe {
            Self(_mm256_permute2x128_si256::<0x20>(self.0, next.0)).store(to);
            Self(_mm256_permute2x128_si256::<0x31>(self.0, next.0)).store(to.add(stride));
        }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller vouches for AVX2.
        Self(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    unsafe fn gather<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe { self.permute(&const { gathering_map(SIZE, WIDTH) }) }
    }

    #[inline(always)]
    unsafe fn squeeze<const SIZE: usize, const WIDTH: usize>(self) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe { self.permute(&const { squeezing_map(SIZE, WIDTH) }) }
    }

    #[inline(always)]
    unsafe fn zip<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let (a, b) = (self.0, other.0);
        // SAFETY: the caller vouches for AVX2.
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
        // SAFETY: the map has 16 bytes; the caller vouches for AVX2.
        unsafe {
            let map = Self::load_lanes(map.as_ptr(), 0);
            Self(_mm256_shuffle_epi8(self.0, map.0))
        }
    }
}
