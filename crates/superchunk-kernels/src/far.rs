//! Copies into outputs that are too large for the caches.
//!
//! An ordinary store first brings the line that it changes into the cache, and pushes another out: a
//! copy of more than the caches hold moves every byte three times. Stores past the caches move it
//! twice, and leave the caches to those who can use them.

use alloc::vec::Vec;

/// Copies what `src` and `dst` have in common, past the caches where the machine can.
///
/// Slower than a plain copy when `dst` is in the cache, or is read soon after.
pub fn copy_far(src: &[u8], dst: &mut [u8]) {
    let len = src.len().min(dst.len());
    // SAFETY: both have `len` bytes, and do not overlap, since one of them is borrowed mutably.
    unsafe { copy(src.as_ptr(), dst.as_mut_ptr(), len) };
}

/// Appends `src` to `out` in the same way.
pub fn append_far(src: &[u8], out: &mut Vec<u8>) {
    out.reserve(src.len());
    let room = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
    // SAFETY: by the reservation, `out` owns as many bytes as `src` has behind its content. All of them are written before
    // they count as content.
    unsafe {
        copy(src.as_ptr(), room, src.len());
        out.set_len(out.len() + src.len());
    }
}

/// A cache line.
const LINE: usize = 64;

/// # Safety
///
/// `from` must be valid for reads and `to` for writes of `len` bytes, and they must not overlap.
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
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

/// # Safety
///
/// As for [`copy`], with `lines` times [`LINE`] bytes, and `to` a multiple of [`LINE`] unless there are none.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_lines(from: *const u8, to: *mut u8, lines: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
    for quarter in 0..lines * (LINE / 16) {
        // SAFETY: each quarter lies in a line; the first one begins at a multiple of 16, and so do all. SSE2 is part of
        // `x86_64`.
        unsafe { _mm_stream_si128(to.add(quarter), _mm_loadu_si128(from.add(quarter))) };
    }
    // SAFETY: SSE is part of `x86_64`. Other threads may read the output once this has returned.
    unsafe { _mm_sfence() };
}

/// # Safety
///
/// As for [`copy`], with `lines` times [`LINE`] bytes.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy_lines(from: *const u8, to: *mut u8, lines: usize) {
    // SAFETY: the caller's promise.
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
