//! Copies into outputs that are too large for the caches.
//!
//! An ordinary store first brings the line that it changes into the cache, and pushes another out: a
//! copy of more than the caches hold moves every byte three times. Stores past the caches move it
//! twice, and leave the caches to those who can use them.

use alloc::vec::Vec;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use core::arch::x86_64::*;

#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::cpu::{Isa, isa};

/// Copies what `src` and `dst` have in common, past the caches where the machine can.
///
/// Slower than a plain copy when `dst` is in the cache, or is read soon after.
pub fn copy_far(src: &[u8], dst: &mut [u8]) {
    let len = src.len().min(dst.len());
    // SAFETY: both have `len` bytes, and do not overlap, since one of them is borrowed mutably.
    unsafe { copy(src.as_ptr(), dst.as_mut_ptr(), len) };
    fence();
}

/// Appends `src` to `out` in the same way.
pub fn append_far(src: &[u8], out: &mut Vec<u8>) {
    out.reserve(src.len());
    let room = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
    // SAFETY: by the reservation, `out` owns as many bytes as `src` has behind its content. All of them are written before
    // they count as content.
    unsafe {
        copy(src.as_ptr(), room, src.len());
        fence();
        out.set_len(out.len() + src.len());
    }
}

/// Lets other threads see what was written past the caches, as soon as they see anything that is written afterwards.
pub(crate) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of `x86_64`.
    unsafe {
        _mm_sfence();
    }
}

/// Asks for the line at an address, which may be anything, where the machine can be asked.
#[inline(always)]
pub(crate) fn prefetch(_at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch reads nothing and SSE is part of `x86_64`.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(_at.cast());
    }
}

/// A cache line.
pub(crate) const LINE: usize = 64;

/// Copies in the same way. Other threads may read the output only behind a [`fence`].
///
/// # Safety
///
/// `from` must be valid for reads and `to` for writes of `len` bytes, and they must not overlap.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let head = to.align_offset(LINE).min(len);
    let lines = (len - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: head, lines and tail follow each other and end with `len`. The lines begin at a multiple of their size, or
    // there are none: an offset that cannot be found is longer than everything.
    unsafe {
        from.copy_to_nonoverlapping(to, head);
        copy_lines(from.add(head), to.add(head), lines);
        from.add(tail).copy_to_nonoverlapping(to.add(tail), len - tail);
    }
}

/// Copies lines with the widest stores of the machine: the fewer there are to a line, the sooner it is on its way.
///
/// # Safety
///
/// `from` must be valid for reads and `to` for writes of `lines * LINE` bytes, and they must not
/// overlap. `to` must be a multiple of [`LINE`] unless `lines` is 0.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_lines(from: *const u8, to: *mut u8, lines: usize) {
    debug_assert!(lines == 0 || to.addr().is_multiple_of(LINE));
    let isa = isa();
    // SAFETY: `lines * LINE` bytes lie at both places, and `to` is a multiple of `LINE` unless
    // there are none: `copy` splits them off after the bytes before the first such multiple. `isa`
    // names only what this machine has.
    unsafe {
        match isa {
            Isa::Avx512 => copy_lines_avx512(from, to, lines),
            Isa::Avx2 => copy_lines_avx2(from, to, lines),
            _ => copy_lines_sse2(from, to, lines),
        }
    }
}

/// # Safety
///
/// As for [`copy_lines`], and the machine must have AVX-512.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f")]
unsafe fn copy_lines_avx512(from: *const u8, to: *mut u8, lines: usize) {
    let (from, to) = (from.cast::<__m512i>(), to.cast::<__m512i>());
    for line in 0..lines {
        // SAFETY: these are all lines, and they begin at multiples of their size.
        unsafe { _mm512_stream_si512(to.add(line), _mm512_loadu_si512(from.add(line))) };
    }
}

/// # Safety
///
/// As for [`copy_lines`], and the machine must have AVX2.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2")]
unsafe fn copy_lines_avx2(from: *const u8, to: *mut u8, lines: usize) {
    let (from, to) = (from.cast::<__m256i>(), to.cast::<__m256i>());
    for half in 0..lines * 2 {
        // SAFETY: each half lies in a line; the first one begins at a multiple of 32, and so do all.
        unsafe { _mm256_stream_si256(to.add(half), _mm256_loadu_si256(from.add(half))) };
    }
}

/// # Safety
///
/// As for [`copy_lines`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_lines_sse2(from: *const u8, to: *mut u8, lines: usize) {
    let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
    for quarter in 0..lines * 4 {
        // SAFETY: each quarter lies in a line; the first one begins at a multiple of 16, and so do all. SSE2 is part of
        // `x86_64`.
        unsafe { _mm_stream_si128(to.add(quarter), _mm_loadu_si128(from.add(quarter))) };
    }
}

/// # Safety
///
/// `from` must be valid for reads and `to` for writes of `lines * LINE` bytes, and they must not
/// overlap.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_lines(from: *const u8, to: *mut u8, lines: usize) {
    // SAFETY: `lines * LINE` bytes lie at both places, which do not overlap: `copy` splits them off
    // its own `len` bytes.
    unsafe { from.copy_to_nonoverlapping(to, lines * LINE) };
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn every_byte_arrives_and_no_other_is_touched() {
        let src: Vec<u8> = (0..700_u32).map(|i| (i * 37 % 251).to_le_bytes()[0]).collect();
        for len in (0..260).chain([511, 512, 513, 640]) {
            for (skew, offset) in [(0, 0), (1, 3), (16, 0), (63, 1), (40, 17)] {
                let mut out = vec![0xa5; 800];
                copy_far(&src[offset..offset + len], &mut out[skew..skew + len]);
                assert!(out[skew..skew + len] == src[offset..offset + len], "{len} at {skew}");
                out.drain(skew..skew + len);
                assert!(out.iter().all(|&byte| byte == 0xa5), "{len} at {skew}");
            }
        }
        let mut out = vec![7; 5];
        append_far(&src, &mut out);
        assert!(out[..5] == [7; 5] && out[5..] == src);
        let mut out = [0; 3];
        copy_far(&src, &mut out);
        assert_eq!(out, src[..3]);
    }
}
