//! What both encoders share: measuring matches, and the history before the source.

use alloc::vec::Vec;

use crate::copy::load_8;
use crate::lz4::{MAX_DISTANCE, MIN_MATCH};

/// How many bytes from `at` on equal those `distance` before, up to `limit`.
///
/// # Safety
///
/// `at <= limit`, `limit` lies in the input that begins at `base`, and `distance <= at`.
#[inline(always)]
pub(super) unsafe fn common_length(
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
pub(super) unsafe fn common_before(
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

/// What an encoder searches, and where the source begins in it: the source itself, or the last
/// 64 KiB of `dict` and the source behind each other in `joined`.
pub(super) fn with_history<'a>(
    dict: &[u8],
    src: &'a [u8],
    joined: &'a mut Vec<u8>,
) -> (&'a [u8], usize) {
    let dict = dict.get(dict.len().saturating_sub(MAX_DISTANCE)..).unwrap_or(dict);
    if dict.len() < MIN_MATCH {
        return (src, 0);
    }
    joined.clear();
    joined.extend_from_slice(dict);
    joined.extend_from_slice(src);
    (joined.as_slice(), dict.len())
}
