//! The least and the greatest of many numbers.
//!
//! One definition for all types and instruction sets: eight numbers side by side, which the compiler turns into
//! whole registers. With AVX2 it has instructions for 64-bit integers, too, which SSE2 lacks.

#[cfg(target_arch = "x86_64")]
use crate::cpu::isa;

/// What is found in a list of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes<T> {
    /// The least one; what the search began with if there is none.
    pub min: T,
    /// The greatest one; what the search began with if there is none.
    pub max: T,
    /// How many are not equal to themselves, such as NaN, and neither less nor greater than any.
    pub unordered: u64,
}

/// Searches numbers of `N` bytes, which `value` reads, beginning with `start`: the highest and the lowest number there
/// can be.
pub fn extremes<T: Copy + PartialOrd, const N: usize>(
    items: &[[u8; N]],
    value: impl Fn([u8; N]) -> T,
    start: [T; 2],
) -> Extremes<T> {
    #[cfg(target_arch = "x86_64")]
    if isa().has_avx2() {
        // SAFETY: `isa` names only what this machine has.
        return unsafe { with_avx2(items, value, start) };
    }
    search(items, value, start)
}

/// [`search`], compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<T: Copy + PartialOrd, const N: usize>(
    items: &[[u8; N]],
    value: impl Fn([u8; N]) -> T,
    start: [T; 2],
) -> Extremes<T> {
    search(items, value, start)
}

#[inline(always)]
fn search<T: Copy + PartialOrd, const N: usize>(
    items: &[[u8; N]],
    value: impl Fn([u8; N]) -> T,
    [highest, lowest]: [T; 2],
) -> Extremes<T> {
    let (groups, rest) = items.as_chunks::<8>();
    let (mut mins, mut maxs, mut unordered) = ([highest; 8], [lowest; 8], [0u64; 8]);
    let mut see = |group: &[[u8; N]]| {
        let lanes = mins.iter_mut().zip(&mut maxs).zip(&mut unordered);
        for (item, ((min, max), unordered)) in group.iter().zip(lanes) {
            let x = value(*item);
            *min = lesser(x, *min);
            *max = greater(x, *max);
            *unordered += u64::from(x.partial_cmp(&x).is_none());
        }
    };
    groups.iter().for_each(|group| see(group));
    see(rest);
    Extremes {
        min: mins.into_iter().fold(highest, |min, x| lesser(x, min)),
        max: maxs.into_iter().fold(lowest, |max, x| greater(x, max)),
        unordered: unordered.iter().sum(),
    }
}

/// As the processor's own instruction has it: `found` where `x` is no number.
#[inline(always)]
fn lesser<T: PartialOrd>(x: T, found: T) -> T {
    if x < found { x } else { found }
}

#[inline(always)]
fn greater<T: PartialOrd>(x: T, found: T) -> T {
    if x > found { x } else { found }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Numbers without an order, always the same, of every length up to some groups.
    fn lists() -> impl Iterator<Item = Vec<[u8; 8]>> {
        let number = |i: u64| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        (0..40).map(move |len| (len..2 * len).map(number).collect())
    }

    #[test]
    fn integers_are_as_the_standard_library_finds_them() {
        for items in lists() {
            let numbers = || items.iter().map(|item| i64::from_le_bytes(*item));
            let found = extremes(&items, i64::from_le_bytes, [i64::MAX, i64::MIN]);
            assert_eq!(found.min, numbers().min().unwrap_or(i64::MAX));
            assert_eq!(found.max, numbers().max().unwrap_or(i64::MIN));
            assert_eq!(found.unordered, 0);
            let bytes: Vec<[u8; 1]> = items.iter().map(|item| [item[5]]).collect();
            let found = extremes(&bytes, u8::from_le_bytes, [u8::MAX, u8::MIN]);
            let least = bytes.iter().flatten().min();
            assert_eq!(Some(&found.min), least.or(Some(&u8::MAX)));
        }
    }

    #[test]
    fn what_is_no_number_is_counted_wherever_it_stands() {
        for items in lists() {
            // Small ones, of which no bits happen to be NaN.
            let plain: Vec<f64> = items.iter().map(|item| f64::from(item[3]) - 100.0).collect();
            for at in 0..plain.len() {
                let mut numbers = plain.clone();
                numbers[at] = f64::NAN;
                let bytes: Vec<[u8; 8]> = numbers.iter().map(|x| x.to_le_bytes()).collect();
                let start = [f64::INFINITY, f64::NEG_INFINITY];
                let found = extremes(&bytes, f64::from_le_bytes, start);
                assert_eq!(found.unordered, 1);
                assert_eq!(found.min, numbers.iter().copied().fold(start[0], f64::min));
                assert_eq!(found.max, numbers.iter().copied().fold(start[1], f64::max));
            }
        }
    }

    #[test]
    fn every_instruction_set_finds_the_same() {
        for items in lists() {
            let start = [u64::MAX, u64::MIN];
            let read = u64::from_le_bytes;
            assert_eq!(extremes(&items, read, start), search(&items, read, start));
        }
    }
}
