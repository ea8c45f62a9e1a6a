//! 64-byte registers of `x86_64`, for items of 2, 4, 8 and 16 bytes.
//!
//! A step is 64 items, so that every row is one cache line of its plane: planes that compete for
//! the same places of a cache need no staging. Steps begin where lines are written whole; the
//! first and the last overlap their neighbours.

#![expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "indices are constants once unrolled; iterator adapters are not always inlined into \
              functions that are compiled for another instruction set"
)]

use core::arch::x86_64::*;
use core::ptr;

use super::Planes;
use crate::rows512::{STEP, Steps, items_to_rows, rows_to_items};

/// Items to planes: `false`, and nothing done, for other items and for less than a step.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) fn items_to_planes(item_size: usize, src: &[u8], dst: &mut [u8]) -> bool {
    let len = src.len().min(dst.len()).checked_div(item_size).unwrap_or(0);
    if !matches!(item_size, 2 | 4 | 8 | 16) || len < STEP {
        return false;
    }
    let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
    // SAFETY: both slices hold `item_size * len` bytes, as `len` was derived from the shorter one,
    // and `len` is at least a step, as was just compared. The machine has AVX-512: this function is
    // compiled for it.
    unsafe {
        match item_size {
            2 => forward::<2>(len, from, to),
            4 => forward::<4>(len, from, to),
            8 => forward::<8>(len, from, to),
            _ => forward::<16>(len, from, to),
        }
    }
    true
}

/// Planes to items: `false`, and nothing done, for other items and for less than a step. `FAR`
/// writes past the caches.
///
/// Within the caches 32-byte registers are faster for items of 2 bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) fn planes_to_items<const FAR: bool>(planes: Planes<'_>, dst: &mut [u8]) -> bool {
    let (item_size, len) = (planes.count(), planes.len());
    let takes = matches!(item_size, 4 | 8 | 16) || item_size == 2 && FAR;
    if !takes || len < STEP || dst.len() / item_size < len {
        return false;
    }
    let to = dst.as_mut_ptr();
    // SAFETY: `dst` holds `item_size * len` bytes, and `len` is at least a step, as was just
    // compared. The machine has AVX-512: this function is compiled for it. The fence lets other
    // threads see what was written past the caches.
    unsafe {
        match item_size {
            2 => backward::<2, FAR>(planes, to),
            4 => backward::<4, FAR>(planes, to),
            8 => backward::<8, FAR>(planes, to),
            _ => backward::<16, FAR>(planes, to),
        }
        if FAR {
            _mm_sfence();
        }
    }
    true
}

/// # Safety
/// The machine has AVX-512; both pointers are valid for `W * len` bytes; `len` is at least a step.
#[inline(always)]
unsafe fn forward<const W: usize>(len: usize, from: *const u8, to: *mut u8) {
    let mut steps = Steps::new(len, to.align_offset(STEP));
    while let Some(e) = steps.next() {
        debug_assert!(e + STEP <= len);
        // SAFETY: `e + STEP <= len`, as `Steps` ends at `len - STEP`, so the step reads and writes
        // existing items and planes: `items_to_planes` derived `len` from the shorter slice. It is
        // compiled for AVX-512, and this is inlined into it.
        unsafe {
            let mut regs = [_mm512_setzero_si512(); W];
            for i in 0..W {
                regs[i] = _mm512_loadu_si512(from.add(e * W + i * STEP).cast());
            }
            regs = items_to_rows::<W>(regs);
            for b in 0..W {
                _mm512_storeu_si512(to.add(b * len + e).cast(), regs[b]);
            }
        }
    }
}

/// # Safety
/// The machine has AVX-512; there are `W` planes of at least a step; `to` is valid for all of them.
#[inline(always)]
unsafe fn backward<const W: usize, const FAR: bool>(planes: Planes<'_>, to: *mut u8) {
    let mut rows = [ptr::null(); W];
    for b in 0..W {
        let plane = planes.plane(b);
        debug_assert!(plane.len() >= planes.len());
        rows[b] = plane.as_ptr();
    }
    let mut steps = Steps::new(planes.len(), to.align_offset(STEP) / W);
    while let Some(e) = steps.next() {
        debug_assert!(e + STEP <= planes.len());
        // SAFETY: `e + STEP <= len`, as `Steps` ends at `len - STEP`, so the step reads and writes
        // existing planes and items: `planes_to_items` compared the number of planes with `W` and
        // `dst` with all items. It is compiled for AVX-512, and this is inlined into it. Stores
        // past the caches go only to multiples of `STEP`, their alignment.
        unsafe {
            let mut regs = [_mm512_setzero_si512(); W];
            for b in 0..W {
                regs[b] = _mm512_loadu_si512(rows[b].add(e).cast());
            }
            regs = rows_to_items::<W>(regs);
            let to = to.add(e * W);
            let far = FAR && to.addr().is_multiple_of(STEP);
            for i in 0..W {
                let to = to.add(i * STEP).cast();
                if far {
                    _mm512_stream_si512(to, regs[i]);
                } else {
                    _mm512_storeu_si512(to, regs[i]);
                }
            }
        }
    }
}
