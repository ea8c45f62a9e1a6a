//! Which instruction set the kernels may use, found once and remembered.
//!
//! `x86_64` processors are asked with `cpuid`; AVX2 and AVX-512 count only when the operating system
//! also saves their registers (OSXSAVE set, and XCR0 naming the state). The other architectures
//! decide at compile time: `aarch64` always has NEON, and `wasm32` has what the module was compiled
//! for.
//!
//! Under feature `__internal-test` the environment variable `SUPERCHUNK_CPU` (`scalar`, `sse2`,
//! `avx2` or `avx512`) lowers the answer; it never raises it above what the processor has.

use core::sync::atomic::{AtomicU8, Ordering};

/// An instruction set for which kernels are written. On one architecture a later variant includes
/// the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Isa {
    /// Portable Rust only.
    Scalar = 1,
    /// The `x86_64` baseline: 16-byte registers, without the SSSE3 byte shuffle.
    Sse2 = 2,
    /// 32-byte registers on `x86_64`, and with them everything up to SSE4.2, BMI1, BMI2 and LZCNT.
    Avx2 = 3,
    /// 64-byte registers on `x86_64`: AVX-512 F, BW, VL, VBMI, VBMI2 and VNNI, and GFNI beside them.
    Avx512 = 4,
    /// 16-byte registers on `aarch64`.
    Neon = 5,
    /// 16-byte registers on `wasm32` compiled with `simd128`.
    Simd128 = 6,
}

impl Isa {
    /// Whether this set includes AVX2: that one, or one above it.
    #[inline]
    pub fn has_avx2(self) -> bool {
        matches!(self, Self::Avx2 | Self::Avx512)
    }
}

/// The best instruction set of this machine: one relaxed load after the first call.
#[inline]
pub fn isa() -> Isa {
    match FOUND.load(Ordering::Relaxed) {
        1 => Isa::Scalar,
        2 => Isa::Sse2,
        3 => Isa::Avx2,
        4 => Isa::Avx512,
        5 => Isa::Neon,
        6 => Isa::Simd128,
        _ => find(),
    }
}

/// An [`Isa`] as its number; 0 until the first call of [`isa`]. Threads that race to fill it store
/// the same number, so no ordering is needed.
static FOUND: AtomicU8 = AtomicU8::new(0);

#[cold]
fn find() -> Isa {
    let found = lowered_by_request(detect());
    FOUND.store(found as u8, Ordering::Relaxed);
    found
}

#[cfg(feature = "__internal-test")]
fn lowered_by_request(found: Isa) -> Isa {
    let wanted = match std::env::var("SUPERCHUNK_CPU").as_deref() {
        Ok("scalar") => Isa::Scalar,
        Ok("sse2") => Isa::Sse2,
        Ok("avx2") => Isa::Avx2,
        Ok("avx512") => Isa::Avx512,
        _ => return found,
    };
    // Between architectures the order of variants means nothing: there only `scalar` is lower.
    if wanted == Isa::Scalar || found <= Isa::Avx512 { found.min(wanted) } else { found }
}

#[cfg(not(feature = "__internal-test"))]
fn lowered_by_request(found: Isa) -> Isa {
    found
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    // An interpreter such as Miri has no cpuid to ask, only what is known while compiling.
    if cfg!(miri) {
        return if cfg!(all(
            target_feature = "avx2",
            target_feature = "bmi2",
            target_feature = "lzcnt"
        )) {
            Isa::Avx2
        } else {
            Isa::Sse2
        };
    }
    match Features::ask() {
        Some(features) if features.avx512() => Isa::Avx512,
        Some(features) if features.avx2() => Isa::Avx2,
        _ => Isa::Sse2,
    }
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
fn detect() -> Isa {
    Isa::Neon
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn detect() -> Isa {
    Isa::Simd128
}

#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
fn detect() -> Isa {
    Isa::Scalar
}

/// What `cpuid` and the system say of the wide registers.
#[cfg(target_arch = "x86_64")]
struct Features {
    /// Leaf 1.
    basic_ecx: u32,
    /// Leaf 7.
    extended_ebx: u32,
    extended_ecx: u32,
    /// Leaf 1 of those that AMD began.
    other_ecx: u32,
    /// XCR0.
    enabled_state: u64,
}

#[cfg(target_arch = "x86_64")]
impl Features {
    /// `None` if the processor or the system is too old for any of them.
    #[allow(unused_unsafe, reason = "newer compilers declare the cpuid intrinsics safe")]
    fn ask() -> Option<Self> {
        use core::arch::x86_64::{__cpuid, __cpuid_count};
        const OSXSAVE: u32 = 1 << 27;

        // SAFETY: every x86_64 processor has the cpuid instruction, and leaf 0 always exists.
        let highest_leaf = unsafe { __cpuid(0) }.eax;
        if highest_leaf < 7 {
            return None;
        }
        // SAFETY: leaves 1 and 7 exist, as `highest_leaf` was just seen to be at least 7.
        let (basic, extended) = unsafe { (__cpuid(1), __cpuid_count(7, 0)) };
        if basic.ecx & OSXSAVE == 0 {
            return None;
        }
        // SAFETY: every x86_64 processor has these leaves: they tell that it is one.
        let other = unsafe { __cpuid(0x8000_0001) };
        Some(Self {
            basic_ecx: basic.ecx,
            extended_ebx: extended.ebx,
            extended_ecx: extended.ecx,
            other_ecx: other.ecx,
            // SAFETY: OSXSAVE was just seen to be set: the system has enabled xgetbv.
            enabled_state: unsafe { enabled_state() },
        })
    }

    fn avx2(&self) -> bool {
        /// SSE3, SSSE3, SSE4.1, SSE4.2, POPCNT and AVX: what kernels for AVX2 are compiled with
        /// besides.
        const BASIC: u32 = 1 | 1 << 9 | 1 << 19 | 1 << 20 | 1 << 23 | 1 << 28;
        const BMI1_AVX2_BMI2: u32 = 1 << 3 | 1 << 5 | 1 << 8;
        const LZCNT: u32 = 1 << 5;
        /// Registers of 16 bytes, and their upper halves.
        const STATE: u64 = 0b110;
        let processor = self.basic_ecx & BASIC == BASIC
            && self.extended_ebx & BMI1_AVX2_BMI2 == BMI1_AVX2_BMI2
            && self.other_ecx & LZCNT != 0;
        processor && self.enabled_state & STATE == STATE
    }

    fn avx512(&self) -> bool {
        /// FMA and F16C, which the compiler takes for granted where there is AVX-512.
        const FMA_F16C: u32 = 1 << 12 | 1 << 29;
        const F_BW_VL: u32 = 1 << 16 | 1 << 30 | 1 << 31;
        const VBMI_VBMI2_GFNI_VNNI: u32 = 1 << 1 | 1 << 6 | 1 << 8 | 1 << 11;
        /// Mask registers, upper halves of the first 16 registers, and the 16 further ones.
        const STATE: u64 = 0b1110_0000;
        let processor = self.basic_ecx & FMA_F16C == FMA_F16C
            && self.extended_ebx & F_BW_VL == F_BW_VL
            && self.extended_ecx & VBMI_VBMI2_GFNI_VNNI == VBMI_VBMI2_GFNI_VNNI;
        self.avx2() && processor && self.enabled_state & STATE == STATE
    }
}

/// The register XCR0: which register files the system saves for each thread.
///
/// # Safety
/// The processor must report OSXSAVE.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
unsafe fn enabled_state() -> u64 {
    // SAFETY: XCR0 (number 0) exists where the processor reports OSXSAVE: `Features::ask`, the only
    // caller, returns early where it does not.
    unsafe { core::arch::x86_64::_xgetbv(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_stable_and_possible_here() {
        let first = isa();
        assert_eq!(first, isa());
        assert!(detect() >= first);
    }

    #[cfg(all(feature = "__internal-test", target_arch = "x86_64"))]
    #[test]
    fn the_set_that_is_asked_for_is_used() {
        let expected = match std::env::var("SUPERCHUNK_CPU").as_deref() {
            Ok("scalar") => Isa::Scalar,
            Ok("sse2") => Isa::Sse2,
            Ok("avx2") => Isa::Avx2.min(detect()),
            _ => detect(),
        };
        assert_eq!(isa(), expected);
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[test]
    fn detection_agrees_with_the_standard_library() {
        use std::is_x86_feature_detected as has;

        let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt");
        assert_eq!(detect().has_avx2(), avx2);
        let wide = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("f16c");
        let beside =
            has!("avx512vbmi") && has!("avx512vbmi2") && has!("avx512vnni") && has!("gfni");
        assert_eq!(detect() == Isa::Avx512, avx2 && wide && beside);
    }
}
