//! Comparisons with a constant, as ranges: exact, whatever the types of both sides are.
//!
//! `x < 2.5` of integers is `x <= 2`; `x < 2⁵³ + 1` of floats is `x <= 2⁵³`. So no value is ever rounded
//! before it is compared, and one kernel does all orders.

use super::tree::Order;
use super::typed::Scalar;
use crate::table::values::{Half, Native, Tick, Truth};

/// A range with both ends; none if the low end is above the high one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Test {
    Int { low: i128, high: i128 },
    Float { low: f64, high: f64 },
}

/// A constant on the scale of integers: the integer at or below it, and whether it is just that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::table) struct Threshold {
    pub(in crate::table) floor: i128,
    pub(in crate::table) exact: bool,
}

const NO_INT: Test = Test::Int { low: 1, high: 0 };
const NO_FLOAT: Test = Test::Float { low: f64::INFINITY, high: f64::NEG_INFINITY };

impl Test {
    /// Of integers against a number: the test, and whether the values outside of it are meant.
    pub(super) fn of_ints(order: Order, constant: Scalar) -> (Self, bool) {
        match constant {
            Scalar::Float(value) if value.is_nan() => (NO_INT, order == Order::NotEqual),
            Scalar::Float(value) => Self::of_threshold(order, Threshold::of(value), i128::MIN),
            Scalar::Int(floor) => {
                Self::of_threshold(order, Threshold { floor, exact: true }, i128::MIN)
            }
        }
    }

    /// Of integers that begin at `least`.
    pub(super) fn of_threshold(order: Order, threshold: Threshold, least: i128) -> (Self, bool) {
        let Threshold { floor, exact } = threshold;
        let up_to = |high| Self::Int { low: least, high };
        let from = |low: i128| Self::Int { low: low.max(least), high: i128::MAX };
        let test = match order {
            Order::Equal | Order::NotEqual if exact => Self::Int { low: floor, high: floor },
            Order::Equal | Order::NotEqual => NO_INT,
            Order::Less if exact => up_to(floor.saturating_sub(1)),
            Order::Less | Order::LessEqual => up_to(floor),
            Order::GreaterEqual if exact => from(floor),
            Order::Greater | Order::GreaterEqual => from(floor.saturating_add(1)),
        };
        (test, order == Order::NotEqual)
    }

    /// Of floats against a number.
    pub(super) fn of_floats(order: Order, constant: Scalar) -> (Self, bool) {
        let (value, sign) = match constant {
            Scalar::Float(value) => (value, 0),
            Scalar::Int(value) => nearest(value),
        };
        let up_to = |high| Self::Float { low: f64::NEG_INFINITY, high };
        let from = |low| Self::Float { low, high: f64::INFINITY };
        let test = match order {
            _ if value.is_nan() => NO_FLOAT,
            Order::Equal | Order::NotEqual if sign == 0 => Self::Float { low: value, high: value },
            Order::Equal | Order::NotEqual => NO_FLOAT,
            // The nearest float lies below the integer, so it is less; or above it, so it is not.
            Order::Less if value == f64::NEG_INFINITY => NO_FLOAT,
            Order::Less if sign < 0 => up_to(value),
            Order::Less => up_to(value.next_down()),
            Order::LessEqual if sign > 0 => up_to(value.next_down()),
            Order::LessEqual => up_to(value),
            Order::Greater if value == f64::INFINITY => NO_FLOAT,
            Order::Greater if sign > 0 => from(value),
            Order::Greater => from(value.next_up()),
            Order::GreaterEqual if sign < 0 => from(value.next_up()),
            Order::GreaterEqual => from(value),
        };
        (test, order == Order::NotEqual)
    }

    /// What lies in both.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Int { low, high }, Self::Int { low: from, high: to }) => {
                Some(Self::Int { low: low.max(from), high: high.min(to) })
            }
            (Self::Float { low, high }, Self::Float { low: from, high: to }) => {
                Some(Self::Float { low: low.max(from), high: high.min(to) })
            }
            _ => None,
        }
    }
}

impl Threshold {
    /// Of a float that is a number.
    pub(super) fn of(value: f64) -> Self {
        let floor = value.floor();
        Self { floor: to_int(floor), exact: value == floor && value.is_finite() }
    }
}

/// A whole float as an integer; what is too large becomes the largest there is.
#[expect(clippy::cast_possible_truncation, reason = "it saturates, which is what is wanted")]
pub(super) fn to_int(value: f64) -> i128 {
    value as i128
}

/// The float nearest to an integer, and whether it lies below (-1), above (1) or just there.
fn nearest(value: i128) -> (f64, i8) {
    let float = value as f64;
    let back = to_int(float);
    (float, if back < value { -1 } else { i8::from(back > value) })
}

/// Numbers that a range can be tested on as they lie in a column.
pub(super) trait Ranged: Native {
    /// Adds a truth for each value; `flip` is 1 to get the others.
    fn within(bytes: &[u8], test: Test, flip: u8, mask: &mut Vec<u8>);
}

/// One comparison where one end is open.
macro_rules! int_within {
    ($rust:ty, $each:ident, $low:ident, $high:ident, $flip:ident, $mask:ident) => {
        match ($low == <$rust>::MIN, $high == <$rust>::MAX) {
            (true, _) => $mask.extend($each.map(|x| u8::from(x <= $high) ^ $flip)),
            (_, true) => $mask.extend($each.map(|x| u8::from(x >= $low) ^ $flip)),
            _ => $mask.extend($each.map(|x| (u8::from(x >= $low) & u8::from(x <= $high)) ^ $flip)),
        }
    };
}

macro_rules! ranged_ints {
    ($($native:ty: $rust:ty;)*) => {$(
        impl Ranged for $native {
            fn within(bytes: &[u8], test: Test, flip: u8, mask: &mut Vec<u8>) {
                let each = <$rust>::each(bytes);
                let Test::Int { low, high } = test else { return mask.extend(each.map(|_| flip)) };
                let least = low.max(<$rust>::MIN.into());
                let most = high.min(<$rust>::MAX.into());
                // Both are in reach of the type, unless nothing is between them.
                let ends = (<$rust>::try_from(least), <$rust>::try_from(most));
                match ends {
                    (Ok(low), Ok(high)) if low <= high => {
                        int_within!($rust, each, low, high, flip, mask)
                    }
                    _ => mask.extend(each.map(|_| flip)),
                }
            }
        }
    )*};
}

ranged_ints! {
    i8: i8;
    i16: i16;
    i32: i32;
    i64: i64;
    u8: u8;
    u16: u16;
    u32: u32;
    u64: u64;
    Tick: i64;
}

impl Ranged for f64 {
    fn within(bytes: &[u8], test: Test, flip: u8, mask: &mut Vec<u8>) {
        let Test::Float { low, high } = test else { return };
        let each = f64::each(bytes);
        mask.extend(each.map(|x| (u8::from(x >= low) & u8::from(x <= high)) ^ flip));
    }
}

impl Ranged for f32 {
    fn within(bytes: &[u8], test: Test, flip: u8, mask: &mut Vec<u8>) {
        let Test::Float { low, high } = test else { return };
        let (low, high) = (at_or_above(low), at_or_below(high));
        let each = f32::each(bytes);
        mask.extend(each.map(|x| (u8::from(x >= low) & u8::from(x <= high)) ^ flip));
    }
}

impl Ranged for Half {
    fn within(bytes: &[u8], test: Test, flip: u8, mask: &mut Vec<u8>) {
        let Test::Float { low, high } = test else { return };
        let each = Half::each(bytes).map(Native::float);
        mask.extend(each.map(|x| (u8::from(x >= low) & u8::from(x <= high)) ^ flip));
    }
}

impl Ranged for Truth {
    fn within(bytes: &[u8], test: Test, flip: u8, mask: &mut Vec<u8>) {
        let Test::Int { low, high } = test else { return };
        let truth = |value: i128| u8::from(low <= value && value <= high) ^ flip;
        let (no, yes) = (truth(0), truth(1));
        mask.extend(Truth::each(bytes).map(|x| if x.0 { yes } else { no }));
    }
}

/// The least 32-bit float that is not below a value.
#[expect(clippy::cast_possible_truncation, reason = "what it rounds to is corrected")]
fn at_or_above(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) < value { near.next_up() } else { near }
}

/// The greatest 32-bit float that is not above a value.
#[expect(clippy::cast_possible_truncation, reason = "what it rounds to is corrected")]
fn at_or_below(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value { near.next_down() } else { near }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    const ORDERS: [Order; 6] = [
        Order::Equal,
        Order::NotEqual,
        Order::Less,
        Order::LessEqual,
        Order::Greater,
        Order::GreaterEqual,
    ];

    fn expected(order: Order, found: Option<Ordering>) -> bool {
        use Ordering::*;
        match order {
            Order::Equal => found == Some(Equal),
            Order::NotEqual => found != Some(Equal),
            Order::Less => found == Some(Less),
            Order::LessEqual => matches!(found, Some(Less | Equal)),
            Order::Greater => found == Some(Greater),
            Order::GreaterEqual => matches!(found, Some(Greater | Equal)),
        }
    }

    const FLOATS: [f64; 16] = [
        0.0,
        -0.0,
        1.0,
        2.5,
        -2.5,
        -3.0,
        9_007_199_254_740_992.0,
        9_007_199_254_740_994.0,
        9_223_372_036_854_775_808.0,
        -9_223_372_036_854_775_808.0,
        18_446_744_073_709_551_616.0,
        1e300,
        -1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    const INTS: [i64; 10] = [
        0,
        1,
        2,
        -3,
        -2,
        9_007_199_254_740_993,
        9_007_199_254_740_992,
        i64::MAX,
        i64::MAX - 1,
        i64::MIN,
    ];

    /// An integer and a float, compared without rounding either.
    fn exact(int: i64, float: f64) -> Option<Ordering> {
        let whole = float.floor();
        match () {
            () if float.is_nan() => None,
            () if whole >= 9_223_372_036_854_775_808.0 => Some(Ordering::Less),
            () if whole < -9_223_372_036_854_775_808.0 => Some(Ordering::Greater),
            () => {
                let order = i128::from(int).cmp(&to_int(whole));
                Some(order.then(if whole < float { Ordering::Less } else { Ordering::Equal }))
            }
        }
    }

    #[test]
    fn integers_and_floats_are_compared_without_rounding() {
        let int_bytes: Vec<u8> = INTS.iter().flat_map(|x| x.to_le_bytes()).collect();
        let float_bytes: Vec<u8> = FLOATS.iter().flat_map(|x| x.to_le_bytes()).collect();
        for order in ORDERS {
            for constant in FLOATS {
                let (test, outside) = Test::of_ints(order, Scalar::Float(constant));
                let mut mask = Vec::new();
                i64::within(&int_bytes, test, u8::from(outside), &mut mask);
                for (int, found) in INTS.iter().zip(&mask) {
                    let wanted = expected(order, exact(*int, constant));
                    assert_eq!(*found == 1, wanted, "{int} {order:?} {constant}");
                }
                let (test, outside) = Test::of_floats(order, Scalar::Float(constant));
                mask.clear();
                f64::within(&float_bytes, test, u8::from(outside), &mut mask);
                for (float, found) in FLOATS.iter().zip(&mask) {
                    let wanted = expected(order, float.partial_cmp(&constant));
                    assert_eq!(*found == 1, wanted, "{float} {order:?} {constant}");
                }
            }
            for constant in INTS {
                let (test, outside) = Test::of_floats(order, Scalar::Int(constant.into()));
                let mut mask = Vec::new();
                f64::within(&float_bytes, test, u8::from(outside), &mut mask);
                for (float, found) in FLOATS.iter().zip(&mask) {
                    let wanted = expected(order, exact(constant, *float).map(Ordering::reverse));
                    assert_eq!(*found == 1, wanted, "{float} {order:?} {constant}");
                }
            }
        }
    }

    #[test]
    fn narrow_types_are_compared_with_wide_constants() {
        let narrow: [f32; 6] = [0.1, 0.5, 16_777_216.0, f32::MAX, -0.1, f32::NAN];
        let bytes: Vec<u8> = narrow.iter().flat_map(|x| x.to_le_bytes()).collect();
        for order in ORDERS {
            for constant in [0.1, f64::from(0.1f32), 16_777_217.0, 1e39, -1e39, 0.5, f64::INFINITY]
            {
                let (test, outside) = Test::of_floats(order, Scalar::Float(constant));
                let mut mask = Vec::new();
                f32::within(&bytes, test, u8::from(outside), &mut mask);
                for (float, found) in narrow.iter().zip(&mask) {
                    let wanted = expected(order, f64::from(*float).partial_cmp(&constant));
                    assert_eq!(*found == 1, wanted, "{float} {order:?} {constant}");
                }
            }
            for constant in [-1, 0, 7, 255, 256, i128::MAX] {
                let (test, outside) = Test::of_ints(order, Scalar::Int(constant));
                let mut mask = Vec::new();
                u8::within(&[0, 7, 255], test, u8::from(outside), &mut mask);
                for (int, found) in [0i128, 7, 255].iter().zip(&mask) {
                    let wanted = expected(order, Some(int.cmp(&constant)));
                    assert_eq!(*found == 1, wanted, "{int} {order:?} {constant}");
                }
            }
        }
    }
}
