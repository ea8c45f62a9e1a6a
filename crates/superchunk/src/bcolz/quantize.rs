//! Rounding of floats, where an array asks for it: fewer digits compress better. bcolz does it when it makes
//! a chunk; here rows are rounded as they come, which gives the same chunks.

use std::borrow::Cow;

use super::array::Array;
use crate::dtype::{ByteOrder, DKind};

/// No float has more digits than that before the point.
const MAX_DIGITS: i64 = 300;

impl Array {
    /// Rows as they are to be stored.
    pub(super) fn rounded<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let digits = self.storage.quantize;
        let float = self.dtype.kind() == DKind::Float && matches!(self.dtype.item_size(), 4 | 8);
        if digits <= 0 || digits > MAX_DIGITS || !float {
            return Cow::Borrowed(bytes);
        }
        let scale = scale(digits as f64);
        let mut bytes = bytes.to_vec();
        let swapped = self.dtype.byte_order() == ByteOrder::Big;
        if self.dtype.item_size() == 4 {
            each(&mut bytes, swapped, |item| {
                f32_rounded(f32::from_le_bytes(item), scale).to_le_bytes()
            });
        } else {
            each(&mut bytes, swapped, |item| {
                f64_rounded(f64::from_le_bytes(item), scale).to_le_bytes()
            });
        }
        Cow::Owned(bytes)
    }
}

/// The power of two that so many decimal digits behind the point take, as bcolz computes it.
fn scale(digits: f64) -> f64 {
    let precision = 10f64.powf(-digits);
    let exponent = (precision.ln() / 10f64.ln()).floor();
    let bits = (10f64.powf(-exponent).ln() / 2f64.ln()).ceil();
    2f64.powf(bits)
}

fn each<const N: usize>(bytes: &mut [u8], swapped: bool, round: impl Fn([u8; N]) -> [u8; N]) {
    for item in bytes.as_chunks_mut::<N>().0 {
        if swapped {
            item.reverse();
        }
        *item = round(*item);
        if swapped {
            item.reverse();
        }
    }
}

fn f64_rounded(value: f64, scale: f64) -> f64 {
    let scaled = value * scale;
    // bcolz makes infinities of these.
    if scaled.is_finite() { scaled.round_ties_even() / scale } else { value }
}

#[expect(clippy::cast_possible_truncation, reason = "the scale is a power of two, or too large")]
fn f32_rounded(value: f32, scale: f64) -> f32 {
    let scale = scale as f32;
    let scaled = value * scale;
    if scaled.is_finite() { scaled.round_ties_even() / scale } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_digit_takes_four_bits_and_what_is_too_large_stays() {
        assert_eq!((scale(1.0), scale(3.0)), (16.0, 1024.0));
        assert_eq!(f64_rounded(1.03, 16.0), 1.0);
        assert_eq!(f64_rounded(1.04, 16.0), 1.0625);
        assert_eq!(f32_rounded(-2.49, 16.0), -2.5);
        assert_eq!(f64_rounded(f64::MAX, 16.0), f64::MAX);
        assert!(f64_rounded(f64::NAN, 16.0).is_nan());
        let mut big = 1.04f64.to_be_bytes();
        each(&mut big, true, |item| f64_rounded(f64::from_le_bytes(item), 16.0).to_le_bytes());
        assert_eq!(f64::from_be_bytes(big), 1.0625);
    }
}
