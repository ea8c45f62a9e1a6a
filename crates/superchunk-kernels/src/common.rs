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

/// Where the match at `at` ends, whose first 8 bytes differ so; `WIDE` only if AVX2 is there to tell it.
///
/// # Safety
///
/// `at + 8 <= limit`, `limit` lies in the input that begins at `base`, and `distance <= at`. If it
/// is `WIDE`, the processor has AVX2 and BMI1.
#[inline(always)]
pub(crate) unsafe fn match_end<const WIDE: bool>(
    base: *const u8,
    at: usize,
    distance: usize,
    difference: u64,
    limit: usize,
) -> usize {
    debug_assert!(at + 8 <= limit && distance <= at);
    #[cfg(target_arch = "x86_64")]
    if WIDE {
        // SAFETY: `at + 8 <= limit` and `distance <= at`: `find` of both callers (`deflate::quick`
        // and `zstd::encode::search`) returns only such positions. Both pass `WIDE` only in a
        // function that is compiled for AVX2 and BMI1.
        return unsafe { match_end_avx2(base, at, distance, limit) };
    }
    let second = at + 8;
    // SAFETY: `second <= limit`, since `at + 8 <= limit`, so `long_common` may start there. The 8
    // bytes at `second` are read only where `second + 8 <= limit`. `distance <= at` keeps the
    // earlier bytes in the input.
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

/// Where the match at `at` ends: one comparison tells it for up to 31 bytes, so that hardly anything has to be foreseen.
///
/// # Safety
///
/// `at <= limit`, `limit` lies in the input that begins at `base`, `distance <= at`, and the
/// processor has AVX2 and BMI1.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1")]
#[inline]
pub(crate) unsafe fn match_end_avx2(
    base: *const u8,
    at: usize,
    distance: usize,
    limit: usize,
) -> usize {
    use core::arch::x86_64::{_mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8};
    debug_assert!(at <= limit && distance <= at);
    // SAFETY: 32 bytes are read at `at` only where `at + 32 <= limit`, and `distance <= at` keeps
    // the earlier ones in the input. `match_end`, the only caller, requires `at + 8 <= limit`, and
    // AVX2 and BMI1 where it is `WIDE`.
    unsafe {
        if at + 32 > limit {
            return at + common_length(base, at, distance, limit);
        }
        let here = _mm256_loadu_si256(base.add(at).cast());
        let there = _mm256_loadu_si256(base.add(at - distance).cast());
        let differing = !_mm256_movemask_epi8(_mm256_cmpeq_epi8(here, there));
        if differing != 0 {
            return at + differing.trailing_zeros() as usize;
        }
        at + 32 + long_common(base, at + 32, distance, limit)
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_way_finds_the_same_end() {
        if !crate::cpu::isa().has_avx2() {
            return;
        }
        for distance in [1, 3, 8, 31, 32, 33, 100] {
            for same in (0..80).chain([127, 128, 200]) {
                let mut data: Vec<u8> =
                    (0..400_u32).map(|i| (i * i / 5).to_le_bytes()[0]).collect();
                for at in distance..distance + same {
                    data[at] = data[at - distance];
                }
                data[distance + same] = !data[same];
                for limit in (distance + 8..distance + 90).chain([data.len()]) {
                    let base = data.as_ptr();
                    let at = distance;
                    // SAFETY: `at + 8 <= limit`, which lies in the data, and the processor has AVX2.
                    let (plain, wide) = unsafe {
                        let difference = load_8(base.add(at)) ^ load_8(base);
                        (
                            match_end::<false>(base, at, distance, difference, limit),
                            match_end::<true>(base, at, distance, difference, limit),
                        )
                    };
                    assert_eq!(plain, (at + same).min(limit), "{distance} {same} {limit}");
                    assert_eq!(wide, plain, "{distance} {same} {limit}");
                }
            }
        }
    }
}
