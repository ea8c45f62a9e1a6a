//! How far two places of an input are alike: what all searches for matches ask.

use core::hint::select_unpredictable;

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

/// Where the match at `at` ends, whose first 8 bytes differ so.
///
/// # Safety
///
/// As [`long_common`], and 8 bytes can be read at `at`.
#[inline(always)]
pub(crate) unsafe fn match_end(
    base: *const u8,
    at: usize,
    distance: usize,
    difference: u64,
    limit: usize,
) -> usize {
    let second = at + 8;
    // SAFETY: the caller's promise; 8 bytes more are read where they lie before `limit`.
    unsafe {
        if second + 8 > limit {
            if difference != 0 {
                return at + (difference.trailing_zeros() / 8) as usize;
            }
            return second + long_common(base, second, distance, limit);
        }
        // Whether the first 8 bytes are alike is hard to foresee: no branch depends on it.
        let next = load_8(base.add(second)) ^ load_8(base.add(second - distance));
        let differs = difference != 0;
        let (from, difference) = select_unpredictable(differs, (at, difference), (second, next));
        if difference != 0 {
            return from + (difference.trailing_zeros() / 8) as usize;
        }
        second + 8 + long_common(base, second + 8, distance, limit)
    }
}

/// How many bytes from `at` on equal those `distance` before, up to `limit`: probably many.
///
/// # Safety
///
/// `at <= limit`, `limit` lies in the input that begins at `base`, and `distance <= at`.
#[inline(always)]
unsafe fn long_common(base: *const u8, at: usize, distance: usize, limit: usize) -> usize {
    let mut end = at;
    // SAFETY: each read ends at or before `limit`, and the other side lies before it.
    unsafe {
        let differ = |end: usize| load_8(base.add(end)) != load_8(base.add(end - distance));
        if end + 16 <= limit && !differ(end) && !differ(end + 8) {
            end += 16;
            while end + 32 <= limit {
                let here = base.add(end).cast::<[u8; 32]>().read();
                if here != base.add(end - distance).cast::<[u8; 32]>().read() {
                    break;
                }
                end += 32;
            }
        }
        end - at + common_length(base, end, distance, limit)
    }
}

/// As [`common_before`]; mostly there are less than 8, and how many is hard to foresee.
///
/// # Safety
///
/// `low <= at`, `at` lies in the input that begins at `base`, and `distance <= at`.
#[inline(always)]
pub(crate) unsafe fn few_before(base: *const u8, low: usize, at: usize, distance: usize) -> usize {
    let most = (at - low).min(at - distance);
    // SAFETY: 8 bytes are read where 8 bytes lie before both places.
    unsafe {
        if at - distance >= 8 {
            let difference = load_8(base.add(at - 8)) ^ load_8(base.add(at - distance - 8));
            let same = ((difference.leading_zeros() / 8) as usize).min(most);
            if same < 8 {
                return same;
            }
        }
        common_before(base, low, at, distance)
    }
}
