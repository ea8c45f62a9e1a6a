//! Which instruction set the kernels may use, found once and remembered.
//!
//! `x86_64` processors are asked with `cpuid`; AVX2 counts only when the operating system also
//! saves the wide registers (OSXSAVE set, and XCR0 naming both SSE and AVX state). The other
//! architectures decide at compile time: `aarch64` always has NEON, and `wasm32` has what the
//! module was compiled for.
//!
//! Under feature `__internal-test` the environment variable `SUPERCHUNK_CPU` (`scalar`, `sse2` or
//! `avx2`) lowers the answer; it never raises it above what the processor has.

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
    /// 32-byte registers on `x86_64`, and with them everything up to SSE4.2.
    Avx2 = 3,
    /// 16-byte registers on `aarch64`.
    Neon = 4,
    /// 16-byte registers on `wasm32` compiled with `simd128`.
    Simd128 = 5,
}

/// The best instruction set of this machine: one relaxed load after the first call.
#[inline]
pub fn isa() -> Isa {
    match FOUND.load(Ordering::Relaxed) {
        1 => Isa::Scalar,
        2 => Isa::Sse2,
        3 => Isa::Avx2,
        4 => Isa::Neon,
        5 => Isa::Simd128,
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
        _ => return found,
    };
    // Between architectures the order of variants means nothing: there only `scalar` is lower.
    if wanted == Isa::Scalar || found <= Isa::Avx2 { found.min(wanted) } else { found }
}

#[cfg(not(feature = "__internal-test"))]
fn lowered_by_request(found: Isa) -> Isa {
    found
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    if has_avx2() { Isa::Avx2 } else { Isa::Sse2 }
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

#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe, reason = "newer compilers declare the cpuid intrinsics safe")]
fn has_avx2() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};

    const OSXSAVE: u32 = 1 << 27;
    const AVX: u32 = 1 << 28;
    const AVX2: u32 = 1 << 5;
    const SSE_AND_AVX_STATE: u64 = 0b110;

    // Known while compiling; an interpreter such as Miri has no cpuid to ask.
    if cfg!(any(target_feature = "avx2", miri)) {
        return cfg!(target_feature = "avx2");
    }
    // SAFETY: every x86_64 processor has the cpuid instruction, and leaf 0 always exists.
    let highest_leaf = unsafe { __cpuid(0) }.eax;
    if highest_leaf < 7 {
        return false;
    }
    // SAFETY: leaves 1 and 7 exist, as `highest_leaf` was just seen to be at least 7.
    let (basic, extended) = unsafe { (__cpuid(1), __cpuid_count(7, 0)) };
    if basic.ecx & OSXSAVE == 0 || basic.ecx & AVX == 0 || extended.ebx & AVX2 == 0 {
        return false;
    }
    // SAFETY: OSXSAVE was just seen to be set: the system has enabled xgetbv.
    let enabled_state = unsafe { enabled_state() };
    enabled_state & SSE_AND_AVX_STATE == SSE_AND_AVX_STATE
}

/// The register XCR0: which register files the system saves for each thread.
///
/// # Safety
/// The processor must report OSXSAVE.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "xsave")]
unsafe fn enabled_state() -> u64 {
    // SAFETY: XCR0 (number 0) exists wherever OSXSAVE is reported, which the caller promises.
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
            _ => detect(),
        };
        assert_eq!(isa(), expected);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn detection_agrees_with_the_standard_library() {
        assert_eq!(has_avx2(), std::is_x86_feature_detected!("avx2"));
    }
}
