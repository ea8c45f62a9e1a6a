//! Copies matches with byte shuffles, without asking for the distance first: where that varies, a
//! branch on it would often be guessed wrongly.

use core::arch::x86_64::*;

use crate::copy::{copy_wider, fill_wide};

/// Appends a match like [`copy_match`](crate::copy::copy_match).
///
/// # Safety
///
/// As there (slack: 32), and the processor has AVX2.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the distance is at most 16 there")]
pub(super) unsafe fn copy_match(dst: *mut u8, distance: usize, len: usize) {
    debug_assert!(distance >= 1);
    // SAFETY: `distance` bytes before `dst` and `len + 32` from it are initialised bytes of the
    // same buffer; for a distance below 16 the 16 bytes read end at most 15 bytes after `dst`, and
    // the shuffle takes only the first `distance` of them.
    unsafe {
        let from = dst.sub(distance).cast_const();
        if distance == 1 {
            // Runs are common, and a load of one byte need not wait for the literal to be stored.
            return fill_wide(dst, *from, len);
        }
        let near = distance.min(16);
        let order = &ORDER[near];
        let first = _mm_loadu_si128(from.cast());
        let head = _mm_shuffle_epi8(first, _mm_loadu_si128(order.as_ptr().cast()));
        _mm_storeu_si128(dst.cast(), head);
        if len <= 16 {
            // What is written beyond a match delays the next one if that repeats it.
            return;
        }
        // A far match goes on with the 16 bytes that follow, a near one with the same.
        let second = _mm_loadu_si128(from.add(near & 16).cast());
        let tail = _mm_shuffle_epi8(second, _mm_loadu_si128(order.as_ptr().add(16).cast()));
        _mm_storeu_si128(dst.add(16).cast(), tail);
        if len > 32 {
            copy_rest(dst, distance, len, _mm256_set_m128i(tail, head));
        }
    }
}

/// Copies what follows the first 32 bytes, which are `begin`.
///
/// # Safety
///
/// As [`copy_match`].
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "masked to the size of the table")]
unsafe fn copy_rest(dst: *mut u8, distance: usize, len: usize, begin: __m256i) {
    debug_assert!(len > 32 && distance >= 1);
    // SAFETY: `done < len` at each step, so 32 bytes from there are within the `len + 32` that
    // `copy_match`, the only caller, requires; what is read lies `distance` bytes before.
    unsafe {
        let mut done = 32;
        if distance >= 32 {
            while done < len {
                let step = _mm256_loadu_si256(dst.add(done).sub(distance).cast());
                _mm256_storeu_si256(dst.add(done).cast(), step);
                done += 32;
            }
        } else if distance >= 16 {
            copy_wider(dst.add(32).sub(distance), dst.add(32), len - 32);
        } else {
            let step = STEP[distance & 15];
            done = step;
            while done < len {
                _mm256_storeu_si256(dst.add(done).cast(), begin);
                done += step;
            }
        }
    }
}

/// For each distance below 16, which of the bytes there the first 32 are. From 16 on, 16 bytes and
/// the 16 that follow them stay as they are.
static ORDER: [[u8; 32]; 17] = {
    let mut orders = [[0; 32]; 17];
    let mut rest = orders.as_mut_slice();
    let mut distance = 0;
    while let Some((order, others)) = rest.split_first_mut() {
        let mut places = order.as_mut_slice();
        let mut at = 0;
        while let Some((place, following)) = places.split_first_mut() {
            *place = at;
            at = if at + 1 < distance { at + 1 } else { 0 };
            places = following;
        }
        distance += 1;
        rest = others;
    }
    orders
};

/// For each distance below 16, its largest multiple that is at most 32.
static STEP: [usize; 16] = [32, 32, 32, 30, 32, 30, 30, 28, 32, 27, 30, 22, 24, 26, 28, 30];
