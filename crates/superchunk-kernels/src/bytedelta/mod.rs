//! Byte delta: differences of neighbouring bytes, channel by channel.
//!
//! The buffer is cut into channels of equal length, one after the other, as a shuffle leaves its
//! planes. In each, the first byte stays and every other becomes its difference, modulo 256, to the
//! one before. Decoding is a running sum. Bytes behind the last channel are copied.
//!
//! ```text
//! channel     v0     v1      v2      v3
//! encoded     v0  v1-v0   v2-v1   v3-v2
//! ```
//!
//! An older filter, known by its own number, forgot the byte before where its 16-byte registers
//! ended: there the last `len % 16` bytes of a channel of at least 16 bytes start anew.

mod scalar;
mod scan;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

pub(crate) use scan::scan;

use crate::cpu::{Isa, isa};
use crate::shuffle::copy_tail;

/// Replaces bytes by their differences in each of `channels` equal parts of `src`.
///
/// Works on the length that `src` and `dst` have in common; copies all of it when `channels` is 0
/// or more than that length.
pub fn encode(channels: usize, src: &[u8], dst: &mut [u8]) {
    for_each_channel(channels, src, dst, scalar::differences);
}

/// The inverse of [`encode`].
pub fn decode(channels: usize, src: &[u8], dst: &mut [u8]) {
    let isa = isa();
    // SAFETY: `isa` names only what this machine has.
    for_each_channel(channels, src, dst, |src, dst| unsafe { running_sum(isa, src, dst) });
}

/// Decodes the older filter, whose sums start anew in the last `len % 16` bytes of each channel of
/// `len >= 16` bytes.
pub fn decode_restarting(channels: usize, src: &[u8], dst: &mut [u8]) {
    let isa = isa();
    for_each_channel(channels, src, dst, |src, dst| {
        let whole = if src.len() < 16 { src.len() } else { src.len() - src.len() % 16 };
        let (src, src_rest) = src.split_at(whole);
        let (dst, dst_rest) = dst.split_at_mut(whole);
        // SAFETY: `isa` names only what this machine has.
        unsafe {
            running_sum(isa, src, dst);
            running_sum(isa, src_rest, dst_rest);
        }
    });
}

/// Calls `work` with each channel of both slices, which have the same length there.
fn for_each_channel(channels: usize, src: &[u8], dst: &mut [u8], work: impl Fn(&[u8], &mut [u8])) {
    let (src, dst) = copy_tail(channels, src, dst);
    let len = src.len().checked_div(channels).unwrap_or(0);
    if len > 0 {
        for (src, dst) in src.chunks_exact(len).zip(dst.chunks_exact_mut(len)) {
            work(src, dst);
        }
    }
}

/// [`scalar::running_sum`] with the given instruction set.
///
/// # Safety
/// The machine must have the instruction set `isa`.
unsafe fn running_sum(isa: Isa, src: &[u8], dst: &mut [u8]) {
    // SAFETY: the machine has `isa`: `decode` and `decode_restarting` pass what `cpu::isa` has
    // found.
    if !unsafe { scan::<false, 1>(isa, src, dst) } {
        scalar::running_sum(src, dst);
    }
}
