//! Matches: bytes that were written before, once more.

use super::here::here;
use crate::copy::{copy_16, copy_near_match};

/// Appends a match, as [`crate::copy::copy_match`] does. Most are short: 32 bytes are copied at once.
///
/// # Safety
///
/// * `distance >= 1`, and the `distance` bytes before `dst` belong to the same buffer.
/// * `dst` must be valid for reads and writes of `len + 32` initialised bytes (slack: 32).
/// * With `AVX2` the processor must have it.
#[inline(always)]
pub(super) unsafe fn copy_match<const AVX2: bool>(dst: *mut u8, distance: usize, len: usize) {
    debug_assert!(distance >= 1, "a match of distance 0");
    // SAFETY: `execute_inlined` calls this after `Place::has_room` returned `true`: `distance`
    // bytes lie before `dst`, and `len` and `SLACK` = 32 more follow. `take_distance` never returns
    // 0. Each arm writes at most 32 bytes past `len`, and reads between `dst - distance` and there.
    // With `AVX2` the processor has it: `execute_best` checks that.
    unsafe {
        if distance >= 16 {
            let src = dst.sub(distance);
            copy_16(src, dst);
            copy_16(src.add(16), dst.add(16));
            if len > 32 {
                copy_long(src.add(32), dst.add(32), len - 32);
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if AVX2 {
            return repeat_near(dst, distance, len);
        }
        copy_near_match(dst, distance, len);
    }
}

/// As [`crate::copy::copy_wider`], as a short loop.
///
/// # Safety
///
/// * `src` must be valid for reads and `dst` for writes of `len + 32` bytes (slack: 32).
/// * The two pieces, with their slack, do not overlap, or `dst` lies at least 16 bytes after `src`.
#[inline(always)]
pub(super) unsafe fn copy_long(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: `done <= len` at each step, so 32 bytes from `done` lie within `len + 32`:
    // `copy_match` and `copy_literals` have copied 32 of their `len + 32` bytes, and pass the rest.
    unsafe {
        let mut done = 0;
        loop {
            copy_16(src.add(done), dst.add(done));
            copy_16(src.add(done + 16), dst.add(done + 16));
            done = here(done + 32);
            if done >= len {
                return;
            }
        }
    }
}

/// Repeats the bytes before `dst`: a pattern of 16 bytes is made of them and stored again and again,
/// at steps of the largest multiple of the distance that is at most 16.
///
/// # Safety
///
/// As [`copy_match`], `distance < 16`, and the processor must have SSSE3.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn repeat_near(dst: *mut u8, distance: usize, len: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storeu_si128};

    // SAFETY: the 16 bytes that are loaded begin in the buffer and end in the slack; what is not of
    // the period is not in the pattern. Stores begin at `len` or before.
    unsafe {
        let order = PATTERNS.as_ptr().add(distance);
        let raw = _mm_loadu_si128(dst.sub(distance).cast::<__m128i>());
        let pattern = _mm_shuffle_epi8(raw, _mm_loadu_si128(order.cast::<__m128i>()));
        let step = usize::from(*STEPS.as_ptr().add(distance));
        _mm_storeu_si128(dst.cast(), pattern);
        _mm_storeu_si128(dst.add(step.min(len)).cast(), pattern);
        let mut done = 2 * step;
        while done < len {
            _mm_storeu_si128(dst.add(done).cast(), pattern);
            done = here(done + step);
        }
    }
}

/// For each distance: which of the bytes from there on come next.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::indexing_slicing, reason = "while compiling")]
const PATTERNS: [[u8; 16]; 16] = {
    let mut patterns = [[0; 16]; 16];
    let mut distance = 1;
    while distance < 16 {
        let mut at = 0;
        while at < 16 {
            patterns[distance as usize][at as usize] = at % distance;
            at += 1;
        }
        distance += 1;
    }
    patterns
};

/// For each distance: its largest multiple that is at most 16.
#[cfg(target_arch = "x86_64")]
const STEPS: [u8; 16] = [16, 16, 16, 15, 16, 15, 12, 14, 16, 9, 10, 11, 12, 13, 14, 15];
