//! How far two places of an input are alike: what all searches for matches ask.

use crate::copy::load_8;

/// How many bytes from `at` on equal those `distance` before, up to `limit`.
///
/// # Safety
///
/// `at <= limit`, `limit` lies in the input that begins at `base`, and `distance <= at`.
#[inline(always)]
pub(crate) unsafe fn common_length(
    base: *const u8,
    at: usize,
    distance: usize,
    limit: usize,
) -> usize {
    let mut end = at;
    // SAFETY: each read ends at or before `limit`, and the other side lies before it.
    unsafe {
        while end + 8 <= limit {
            let difference = load_8(base.add(end)) ^ load_8(base.add(end - distance));
            if difference != 0 {
                return end - at + (difference.trailing_zeros() / 8) as usize;
            }
            end += 8;
        }
        while end < limit && *base.add(end) == *base.add(end - distance) {
            end += 1;
        }
    }
    end - at
}

/// How many bytes before `at` equal those `distance` before, down to `low`.
///
/// # Safety
///
/// `low <= at`, `at` lies in the input that begins at `base`, and `distance <= at`.
#[inline(always)]
pub(crate) unsafe fn common_before(
    base: *const u8,
    low: usize,
    at: usize,
    distance: usize,
) -> usize {
    let low = low.max(distance);
    let mut begin = at;
    // SAFETY: `begin - 1 >= low >= distance`, so both bytes lie in the input.
    unsafe {
        while begin > low && *base.add(begin - 1) == *base.add(begin - 1 - distance) {
            begin -= 1;
        }
    }
    at - begin
}
