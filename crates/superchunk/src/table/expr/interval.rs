//! Which integers a part of an expression can give. It decides how the part is computed: as long as
//! no value needs more than 126 bits, integers stay exact; beyond that they become floats.

/// The largest magnitude of an exact integer.
const MOST: i128 = 1 << 126;

/// All integers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Interval {
    pub(super) fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    pub(super) fn one(value: i128) -> Self {
        Self::new(value, value)
    }

    pub(super) fn fits_i64(self) -> bool {
        self.low >= i64::MIN.into() && self.high <= i64::MAX.into()
    }

    /// The interval from the least to the greatest of these, if all are there and exact.
    fn around(values: &[Option<i128>]) -> Option<Self> {
        let mut found: Option<Self> = None;
        for value in values {
            let value = (*value).filter(|value| (-MOST..=MOST).contains(value))?;
            let before = found.unwrap_or(Self::one(value));
            found = Some(Self::new(before.low.min(value), before.high.max(value)));
        }
        found
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    pub(super) fn add(self, other: Self) -> Option<Self> {
        Self::around(&[self.low.checked_add(other.low), self.high.checked_add(other.high)])
    }

    pub(super) fn subtract(self, other: Self) -> Option<Self> {
        Self::around(&[self.low.checked_sub(other.high), self.high.checked_sub(other.low)])
    }

    pub(super) fn multiply(self, other: Self) -> Option<Self> {
        Self::around(&[
            self.low.checked_mul(other.low),
            self.low.checked_mul(other.high),
            self.high.checked_mul(other.low),
            self.high.checked_mul(other.high),
        ])
    }

    /// The largest magnitude.
    fn most(self) -> Option<i128> {
        Some(self.low.checked_abs()?.max(self.high.checked_abs()?))
    }

    pub(super) fn floor_divide(self) -> Option<Self> {
        let most = self.most()?;
        Self::around(&[Some(-most), Some(most)])
    }

    /// The remainder has the sign of the divisor, or is 0.
    pub(super) fn remainder(divisor: Self) -> Option<Self> {
        let low = divisor.low.min(0).saturating_add(1).min(0);
        let high = divisor.high.max(0).saturating_sub(1).max(0);
        Self::around(&[Some(low), Some(high)])
    }

    /// To a constant power.
    pub(super) fn power(self, exponent: u32) -> Option<Self> {
        let zero = (self.low <= 0 && self.high >= 0).then_some(0);
        let ends = [self.low.checked_pow(exponent), self.high.checked_pow(exponent)];
        let around = Self::around(&ends)?;
        Some(zero.map_or(around, |zero| around.union(Self::one(zero))))
    }

    /// What bitwise operations can make of both: no more bits than the wider one has.
    pub(super) fn bits(self, other: Self) -> Option<Self> {
        let both = self.union(other);
        let magnitude = both.high.max(both.low.checked_neg()?.saturating_sub(1)).max(0);
        let all = magnitude.checked_add(1)?.checked_next_power_of_two_signed()? - 1;
        Self::around(&[Some(if both.low < 0 { -all - 1 } else { 0 }), Some(all)])
    }

    pub(super) fn negative(self) -> Option<Self> {
        Self::around(&[self.low.checked_neg(), self.high.checked_neg()])
    }

    pub(super) fn invert(self) -> Option<Self> {
        Self::around(&[Some(!self.low), Some(!self.high)])
    }

    pub(super) fn absolute(self) -> Option<Self> {
        let low = if self.low <= 0 && self.high >= 0 {
            Some(0)
        } else {
            Some(self.low.checked_abs()?.min(self.high.checked_abs()?))
        };
        Self::around(&[low, self.most()])
    }
}

trait NextPowerOfTwo: Sized {
    fn checked_next_power_of_two_signed(self) -> Option<Self>;
}

impl NextPowerOfTwo for i128 {
    fn checked_next_power_of_two_signed(self) -> Option<Self> {
        u128::try_from(self).ok()?.checked_next_power_of_two()?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All results of small intervals lie in the interval that was foretold.
    fn holds(
        foretold: impl Fn(Interval, Interval) -> Option<Interval>,
        value: impl Fn(i128, i128) -> i128,
    ) {
        for (low, high) in [(-7, 5), (0, 6), (3, 9), (-8, -2), (0, 0), (-1, 0)] {
            for (from, to) in [(-3, 4), (1, 5), (-6, -1), (0, 2)] {
                let found = foretold(Interval::new(low, high), Interval::new(from, to)).unwrap();
                for a in low..=high {
                    for b in from..=to {
                        let value = value(a, b);
                        assert!(found.low <= value && value <= found.high, "{a} {b}: {value}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_value_lies_outside_of_what_was_foretold() {
        let floor = |a: i128, b: i128| if b == 0 { 0 } else { a.div_euclid(b) };
        holds(Interval::add, |a, b| a + b);
        holds(Interval::subtract, |a, b| a - b);
        holds(Interval::multiply, |a, b| a * b);
        holds(|a, _| a.floor_divide(), |a, b| floor(a, b).clamp(-a.abs(), a.abs()));
        holds(
            |_, b| Interval::remainder(b),
            |a, b| {
                if b == 0 {
                    0
                } else {
                    let rest = a.rem_euclid(b);
                    if b < 0 && rest > 0 { rest + b } else { rest }
                }
            },
        );
        holds(Interval::bits, |a, b| a & b);
        holds(Interval::bits, |a, b| a | b);
        holds(Interval::bits, |a, b| a ^ b);
        holds(|a, _| a.negative(), |a, _| -a);
        holds(|a, _| a.invert(), |a, _| !a);
        holds(|a, _| a.absolute(), |a, _| a.abs());
        holds(|a, _| a.power(2), |a, _| a * a);
        holds(|a, _| a.power(3), |a, _| a * a * a);
    }

    #[test]
    fn what_is_too_large_is_no_integer_any_more() {
        let long = Interval::new(i64::MIN.into(), i64::MAX.into());
        assert!(long.fits_i64());
        assert!(!long.add(long).unwrap().fits_i64());
        let square = long.multiply(long).unwrap();
        assert_eq!(square.multiply(long), None);
        assert_eq!(long.power(3), None);
        assert_eq!(Interval::one(2).power(200), None);
    }
}
