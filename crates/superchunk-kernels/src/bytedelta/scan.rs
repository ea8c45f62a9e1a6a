//! Running totals with wide registers, for sums of bytes and for the XOR of words.
//!
//! Inside a register by doubling distances: each word with the one before, then with the total two
//! before, four before, eight before. The total of everything earlier is kept, repeated, in a second
//! register; only combining it waits for the step before. What is left behind the last whole
//! register is padded to one.

use crate::cpu::{self, Isa};

/// Writes to each word of `dst` the total of all words of `src` up to there: their XOR if `XOR`,
/// else their sum, bytes by bytes, modulo 256. Words have `WIDTH` = 1, 2, 4 or 8 bytes, and the
/// slices the same whole number of them.
///
/// `false`, and nothing done, where the instruction set has no wide registers.
///
/// # Safety
/// The machine must have the instruction set.
#[cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(unused_variables, reason = "no instruction set of this machine has a scan")
)]
pub(crate) unsafe fn scan<const XOR: bool, const WIDTH: usize>(
    isa: Isa,
    src: &[u8],
    dst: &mut [u8],
) -> bool {
    debug_assert!(isa <= cpu::isa(), "the machine does not have {isa:?}");
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::Avx512 => {
            // SAFETY: the machine has AVX2, which AVX-512 includes: `running_sum` and
            // `delta::running_xor`, the only callers, pass what `cpu::isa` has found.
            unsafe { super::avx2::scan::<XOR, WIDTH>(src, dst) };
            true
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Sse2 => {
            // SAFETY: SSE2 is part of the baseline.
            unsafe { super::sse2::scan::<XOR, WIDTH>(src, dst) };
            true
        }
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        Isa::Neon => {
            // SAFETY: NEON is part of the baseline.
            unsafe { super::neon::scan::<XOR, WIDTH>(src, dst) };
            true
        }
        _ => false,
    }
}
