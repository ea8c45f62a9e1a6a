//! Adler-32 (RFC 1950): the checksum of zlib streams.
//!
//! Two sums modulo 65521, the largest prime below 2^16: `a` of all bytes, begun with 1, and `b` of
//! all values that `a` had after a byte. Kernels take so many bytes before they reduce the sums that
//! these just fit 32 bits.

mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
use crate::cpu::{Isa, isa};

/// What the sums are reduced by.
const MODULUS: u32 = 65_521;

/// How often each byte of a row of 64 is added to `b`.
#[cfg(target_arch = "x86_64")]
static WEIGHTS: [i8; 64] = {
    let mut weights = [0; 64];
    let (mut rest, mut weight) = (weights.as_mut_slice(), 64);
    while let Some((first, others)) = rest.split_first_mut() {
        *first = weight;
        weight -= 1;
        rest = others;
    }
    weights
};

/// The checksum of `src` behind bytes whose checksum is `before`; that of no bytes is 1.
#[must_use]
pub fn adler32(before: u32, src: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    match isa() {
        // SAFETY: `isa` names only what this machine has.
        Isa::Avx512 => return unsafe { avx512::adler32(before, src) },
        // SAFETY: likewise.
        Isa::Avx2 => return unsafe { avx2::adler32(before, src) },
        Isa::Sse2 => return sse2::adler32(before, src),
        _ => {}
    }
    scalar::adler32(before, src)
}
