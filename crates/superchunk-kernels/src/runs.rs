//! Finds buffers that repeat one byte or one item, so that they can be stored as that alone.
//!
//! Both questions are asked of every plane that is compressed, and the answer is nearly always no:
//! they look at a few bytes first, and later stop soon after the first difference.

/// Bytes compared before the next chance to stop.
const STRIDE: usize = 256;

/// The byte that `src` consists of, if it is only one. `None` for an empty `src`.
pub fn repeated_byte(src: &[u8]) -> Option<u8> {
    let first = *src.first()?;
    let (head, rest) = src.split_at(src.len().min(16));
    let (chunks, tail) = rest.as_chunks::<STRIDE>();
    let run = [first; STRIDE];
    let same = head.iter().all(|&byte| byte == first)
        && chunks.iter().all(|chunk| equal(chunk, &run))
        && tail.iter().all(|&byte| byte == first);
    same.then_some(first)
}

/// Whether `src` is its first `period` bytes, once or several times over. A part of a period at the
/// end does not count as one; nor does a `period` of 0, nor an empty `src`.
pub fn repeats_every(period: usize, src: &[u8]) -> bool {
    if src.is_empty() || src.len().checked_rem(period) != Some(0) {
        return false;
    }
    let (Some(earlier), Some(later)) = (src.get(..src.len() - period), src.get(period..)) else {
        return false;
    };
    let (earlier, later) =
        (earlier.split_at(earlier.len().min(16)), later.split_at(later.len().min(16)));
    if earlier.0 != later.0 {
        return false;
    }
    let (earlier, earlier_tail) = earlier.1.as_chunks::<STRIDE>();
    let (later, later_tail) = later.1.as_chunks::<STRIDE>();
    earlier.iter().zip(later).all(|(a, b)| equal(a, b)) && earlier_tail == later_tail
}

/// Whether two strides are equal: written so that the compiler uses whole registers, and decides
/// only once for all of them.
#[inline(always)]
fn equal(a: &[u8; STRIDE], b: &[u8; STRIDE]) -> bool {
    let mut difference = [0; 32];
    let (a, _) = a.as_chunks::<32>();
    let (b, _) = b.as_chunks::<32>();
    for (a, b) in a.iter().zip(b) {
        for ((difference, a), b) in difference.iter_mut().zip(a).zip(b) {
            *difference |= a ^ b;
        }
    }
    difference == [0; 32]
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_run_is_found_at_every_length() {
        assert_eq!(repeated_byte(&[]), None);
        for len in 1..300 {
            assert_eq!(repeated_byte(&vec![7; len]), Some(7));
            assert_eq!(repeated_byte(&vec![0; len]), Some(0));
        }
    }

    #[test]
    fn one_other_byte_anywhere_ends_a_run() {
        for len in (2..100).chain([271, 272, 273, 528, 600]) {
            for at in 0..len {
                let mut bytes = vec![9; len + 1];
                bytes[at + 1] = 8;
                assert_eq!(repeated_byte(&bytes[1..]), None, "byte {at} of {len}");
            }
        }
    }

    #[test]
    fn whole_periods_are_found() {
        for period in (1..40).chain([64, 100, 255]) {
            let item: Vec<u8> = (3..=255).cycle().step_by(7).take(period).collect();
            for count in 1..12 {
                let mut bytes = item.repeat(count);
                assert!(repeats_every(period, &bytes));
                bytes.push(item[0]);
                let longer = bytes.len().is_multiple_of(period);
                assert_eq!(repeats_every(period, &bytes), longer, "{count} periods of {period}");
            }
        }
        assert!(!repeats_every(0, &[]));
        assert!(!repeats_every(0, &[1]));
        assert!(!repeats_every(1, &[]));
        assert!(!repeats_every(3, &[1, 1]));
        assert!(!repeats_every(usize::MAX, &[1, 1]));
    }

    #[test]
    fn one_other_byte_anywhere_ends_a_period() {
        for period in [1, 3, 8, 17, 70] {
            let item: Vec<u8> = (0..=63).cycle().take(period).collect();
            for at in 0..9 * period {
                let mut bytes = item.repeat(9);
                bytes[at] ^= 0x40;
                assert!(!repeats_every(period, &bytes), "byte {at}, period {period}");
            }
        }
    }
}
