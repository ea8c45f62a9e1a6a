//! Copies into outputs that are too large for the caches.
//!
//! An ordinary store first brings the line that it changes into the cache, and pushes another out: a
//! copy of more than the caches hold moves every byte three times. Stores past the caches move it
//! twice, and leave the caches to those who can use them.

/// Copies what `src` and `dst` have in common, past the caches where the machine can.
///
/// Slower than a plain copy when `dst` is in the cache, or is read soon after.
pub fn copy_far(src: &[u8], dst: &mut [u8]) {
    let len = src.len().min(dst.len());
    let (src, dst) = (src.split_at(len).0, dst.split_at_mut(len).0);
    let head = dst.as_ptr().align_offset(LINE).min(len);
    let ((src_head, src), (dst_head, dst)) = (src.split_at(head), dst.split_at_mut(head));
    dst_head.copy_from_slice(src_head);
    copy_lines(src, dst);
}

/// A cache line.
const LINE: usize = 64;

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn copy_lines(src: &[u8], dst: &mut [u8]) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    let (from, src_tail) = src.as_chunks::<LINE>();
    let (to, dst_tail) = dst.as_chunks_mut::<LINE>();
    if to.first().is_some_and(|line| line.as_ptr().addr().is_multiple_of(16)) {
        for (from, to) in from.iter().zip(to) {
            let (from, to) = (from.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
            for quarter in 0..LINE / 16 {
                // SAFETY: each quarter lies in its line; the first line begins at a multiple of 16,
                // as was just seen, and so do all quarters. SSE2 is part of `x86_64`.
                unsafe { _mm_stream_si128(to.add(quarter), _mm_loadu_si128(from.add(quarter))) };
            }
        }
        // SAFETY: SSE is part of `x86_64`. Other threads may read `dst` once this has returned.
        unsafe { _mm_sfence() };
    } else {
        to.copy_from_slice(from);
    }
    dst_tail.copy_from_slice(src_tail);
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn copy_lines(src: &[u8], dst: &mut [u8]) {
    dst.copy_from_slice(src);
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

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
        let mut out = [0; 3];
        copy_far(&src, &mut out);
        assert_eq!(out, src[..3]);
    }
}
