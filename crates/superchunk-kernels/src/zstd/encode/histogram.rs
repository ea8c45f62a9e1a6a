//! Counts bytes.

/// How often each byte occurs in each quarter of the literals: one quarter is one stream of codes.
pub(super) type Quarters = [[u32; 256]; 4];

/// Counts the bytes of each quarter. The first three are as long as `len.div_ceil(4)`.
///
/// A byte of each in turn: in one quarter the same byte often follows, and its count would have to be waited for.
#[expect(clippy::indexing_slicing, reason = "a byte indexes 256 counts")]
pub(super) fn count_quarters(src: &[u8]) -> Quarters {
    let mut counts = [[0_u32; 256]; 4];
    let [a, b, c, d] = quarters(src);
    let even = d.len();
    let (wa, _) = a[..even].as_chunks::<4>();
    let (wb, _) = b[..even].as_chunks::<4>();
    let (wc, _) = c[..even].as_chunks::<4>();
    let (wd, _) = d.as_chunks::<4>();
    for (((a, b), c), d) in wa.iter().zip(wb).zip(wc).zip(wd) {
        for place in 0..4 {
            counts[0][usize::from(a[place])] += 1;
            counts[1][usize::from(b[place])] += 1;
            counts[2][usize::from(c[place])] += 1;
            counts[3][usize::from(d[place])] += 1;
        }
    }
    let done = even / 4 * 4;
    for (quarter, part) in [a, b, c, d].into_iter().enumerate() {
        for &byte in &part[done..] {
            counts[quarter][usize::from(byte)] += 1;
        }
    }
    counts
}

/// Counts the bytes of one [half](half_of) of each quarter. Both halves together are all of the bytes.
#[expect(clippy::indexing_slicing, reason = "a byte indexes 256 counts")]
pub(super) fn count_half(src: &[u8], half: Half, counts: &mut Quarters) {
    let parts = quarters(src);
    let even = parts[3].len() / WINDOW;
    let [a, b, c, d] = parts.map(|part| part.as_chunks::<WINDOW>().0.iter().take(even));
    for (number, (((a, b), c), d)) in a.zip(b).zip(c).zip(d).enumerate() {
        let [a, b, c, d] = [a, b, c, d].map(|window| half_of(window, number, half));
        for place in 0..WINDOW / 2 {
            counts[0][usize::from(a[place])] += 1;
            counts[1][usize::from(b[place])] += 1;
            counts[2][usize::from(c[place])] += 1;
            counts[3][usize::from(d[place])] += 1;
        }
    }
    for (counts, part) in counts.iter_mut().zip(parts).filter(|_| half == Half::First) {
        part[even * WINDOW..].iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    }
}

/// The second half, row by row.
pub(super) fn second_half(src: &[u8]) -> impl Iterator<Item = &[u8; WINDOW / 2]> {
    let parts = quarters(src);
    let even = parts[3].len() / WINDOW;
    let windows = parts.map(|part| part.as_chunks::<WINDOW>().0.iter().take(even).enumerate());
    windows.into_iter().flatten().map(|(number, window)| half_of(window, number, Half::Second))
}

/// One of the two halves of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    First,
    Second,
}

/// Of every 64 bytes 32 belong to the first half, now the first ones, now the last, in an order that no short period of the data follows; it is
/// the same for every [`ORDERED`] bytes of a quarter.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "a window has two halves")]
fn half_of(window: &[u8; WINDOW], number: usize, half: Half) -> &[u8; WINDOW / 2] {
    let is_upper = (UPPER >> (number % (ORDERED / WINDOW)) & 1 == 1) == (half == Half::First);
    &window.as_chunks().0[usize::from(is_upper)]
}

/// The bytes of which one half is counted.
const WINDOW: usize = 64;

/// Of which windows the last bytes belong to the first half: those whose number has an odd count of bits.
const UPPER: u64 = 0x6996_9669_9669_6996;

/// Where as many bytes of each quarter end, both halves end, too.
pub(super) const ORDERED: usize = 4096;

/// The four parts of literals that are coded as a stream each.
pub(super) fn quarters(src: &[u8]) -> [&[u8]; 4] {
    let quarter = src.len().div_ceil(4);
    let (a, rest) = src.split_at(quarter.min(src.len()));
    let (b, rest) = rest.split_at(quarter.min(rest.len()));
    let (c, d) = rest.split_at(quarter.min(rest.len()));
    [a, b, c, d]
}

/// The counts of all four together.
#[expect(clippy::indexing_slicing, reason = "all arrays have 256 entries")]
pub(super) fn sum(quarters: &Quarters) -> [u32; 256] {
    core::array::from_fn(|i| quarters.iter().map(|counts| counts[i]).sum())
}

/// How much two counts of so many bytes differ: the sum of the squares of the differences, each
/// divided by what is expected for bytes of the same kind. Totals are below 2^24.
pub(super) fn divergence(first: &[u32; 256], len: u32, second: &[u32; 256], new: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "below 2^24")]
    let number = |count: u32| count as f32;
    let (len, new) = (number(len), number(new));
    let square = |a: u32, b: u32| {
        let difference = number(a) * new - number(b) * len;
        difference * difference / (number(a + b) + 1e-9)
    };
    let mut sums = [0_f32; 8];
    for (first, second) in first.as_chunks::<8>().0.iter().zip(second.as_chunks::<8>().0) {
        for (sum, (&a, &b)) in sums.iter_mut().zip(first.iter().zip(second)) {
            *sum += square(a, b);
        }
    }
    sums.iter().sum::<f32>() / (len * new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn halves_are_the_whole() {
        let data: Vec<u8> = (0..3000_u32).map(|i| (i * i / 7).to_le_bytes()[0]).collect();
        for len in (0..300).chain([1000, 2047, 2999]) {
            let mut halves = [[0; 256]; 4];
            count_half(&data[..len], Half::First, &mut halves);
            let first: u32 = sum(&halves).iter().sum();
            assert!(first as usize >= len / 2 && first as usize <= len / 2 + 4 * WINDOW, "{len}");
            count_half(&data[..len], Half::Second, &mut halves);
            assert_eq!(halves, count_quarters(&data[..len]), "{len}");
        }
    }

    /// Who writes two streams at a time takes the sum for the counts of all bytes, and writes as far as these say.
    #[test]
    fn first_halves_of_groups_and_the_second_half_of_all_are_the_whole() {
        let data: Vec<u8> =
            (0..32 * ORDERED as u64).map(|i| (i * i / 7).to_le_bytes()[0]).collect();
        for count in 1..=8 {
            let part = &data[..4 * ORDERED * count];
            let mut quarters: Vec<[u32; 256]> = Vec::new();
            for group in part.chunks(4 * ORDERED) {
                let mut halves = [[0; 256]; 4];
                count_half(group, Half::First, &mut halves);
                quarters.extend(halves);
            }
            let mut joined = [[0; 256]; 4];
            for (sums, parts) in joined.iter_mut().zip(quarters.chunks(count)) {
                for (sum, byte) in sums.iter_mut().zip(0..256) {
                    *sum = parts.iter().map(|counts| counts[byte]).sum();
                }
            }
            count_half(part, Half::Second, &mut joined);
            assert_eq!(joined, count_quarters(part), "{count} groups");
        }
    }
}
