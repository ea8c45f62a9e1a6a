//! Arithmetic on many values at once.
//!
//! Integers never overflow here: the compiler has chosen a lane that is wide enough. Divided by zero,
//! integers give 0 (as in NumPy) and floats infinity or NaN.

use std::cmp::Ordering;

use super::range::to_int;
use super::tree::{Binary, Order};
use super::typed::{Lane, Scalar};

/// A value a row, or one for all rows.
#[derive(Clone, Debug)]
pub(super) enum Values {
    I64(Vec<i64>),
    I128(Vec<i128>),
    F64(Vec<f64>),
    One(Scalar),
}

/// The same, of a known type.
enum Feed<T> {
    Many(Vec<T>),
    One(T),
}

impl Values {
    fn longs(self) -> Feed<i64> {
        match self {
            Self::I64(values) => Feed::Many(values),
            // The compiler says that all of them fit.
            Self::I128(values) => Feed::Many(values.into_iter().map(long).collect()),
            Self::F64(values) => Feed::Many(values.into_iter().map(|x| long(to_int(x))).collect()),
            Self::One(Scalar::Int(value)) => Feed::One(long(value)),
            Self::One(Scalar::Float(value)) => Feed::One(long(to_int(value))),
        }
    }

    fn wides(self) -> Feed<i128> {
        match self {
            Self::I64(values) => Feed::Many(values.into_iter().map(i128::from).collect()),
            Self::I128(values) => Feed::Many(values),
            Self::F64(values) => Feed::Many(values.into_iter().map(to_int).collect()),
            Self::One(Scalar::Int(value)) => Feed::One(value),
            Self::One(Scalar::Float(value)) => Feed::One(to_int(value)),
        }
    }

    fn floats(self) -> Feed<f64> {
        match self {
            Self::I64(values) => Feed::Many(values.into_iter().map(|x| x as f64).collect()),
            Self::I128(values) => Feed::Many(values.into_iter().map(|x| x as f64).collect()),
            Self::F64(values) => Feed::Many(values),
            Self::One(value) => Feed::One(value.float()),
        }
    }

    /// One value for each of `count` rows.
    pub(super) fn spread(self, lane: Lane, count: usize) -> Self {
        match lane {
            Lane::I64 => Self::I64(self.longs().spread(count)),
            Lane::I128 => Self::I128(self.wides().spread(count)),
            Lane::F64 => Self::F64(self.floats().spread(count)),
        }
    }

    /// The floats of a part that gives floats, one a row.
    pub(super) fn into_floats(self, count: usize) -> Vec<f64> {
        self.floats().spread(count)
    }

    /// The integers of a part that gives integers, one a row.
    pub(super) fn into_wides(self, count: usize) -> Vec<i128> {
        self.wides().spread(count)
    }

    /// Applies a function to each float.
    pub(super) fn map_floats(self, function: fn(f64) -> f64) -> Self {
        match self.floats() {
            Feed::Many(mut values) => {
                values.iter_mut().for_each(|value| *value = function(*value));
                Self::F64(values)
            }
            Feed::One(value) => Self::One(Scalar::Float(function(value))),
        }
    }

    pub(super) fn negative(self, lane: Lane) -> Self {
        binary(Binary::Subtract, lane, Self::One(zero(lane)), self)
    }

    /// `-1 - x` is the two's complement inverted.
    pub(super) fn invert(self, lane: Lane) -> Self {
        binary(Binary::Subtract, lane, Self::One(Scalar::Int(-1)), self)
    }

    pub(super) fn absolute(self, lane: Lane) -> Self {
        match lane {
            Lane::F64 => self.map_floats(f64::abs),
            Lane::I64 => self.longs().zip(Feed::One(0), |x, _| x.wrapping_abs()).into(),
            Lane::I128 => self.wides().zip(Feed::One(0), |x, _| x.wrapping_abs()).into(),
        }
    }

    /// This where the mask is set, the other elsewhere.
    pub(super) fn choose(self, lane: Lane, mask: &[u8], other: Self) -> Self {
        let count = mask.len();
        match (self.spread(lane, count), other.spread(lane, count)) {
            (Self::I64(a), Self::I64(b)) => Self::I64(chosen(a, mask, &b)),
            (Self::I128(a), Self::I128(b)) => Self::I128(chosen(a, mask, &b)),
            (Self::F64(a), Self::F64(b)) => Self::F64(chosen(a, mask, &b)),
            (same, _) => same,
        }
    }
}

/// Zero; of floats the negative one, so that 0 - x changes the sign of zero, too.
fn zero(lane: Lane) -> Scalar {
    match lane {
        Lane::F64 => Scalar::Float(-0.0),
        _ => Scalar::Int(0),
    }
}

fn chosen<T: Copy>(mut yes: Vec<T>, mask: &[u8], no: &[T]) -> Vec<T> {
    for ((value, chosen), other) in yes.iter_mut().zip(mask).zip(no) {
        *value = if *chosen != 0 { *value } else { *other };
    }
    yes
}

fn long(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(0)
}

impl<T: Copy> Feed<T> {
    fn spread(self, count: usize) -> Vec<T> {
        match self {
            Self::Many(values) => values,
            Self::One(value) => vec![value; count],
        }
    }

    fn zip(self, other: Self, function: impl Fn(T, T) -> T) -> Self {
        match (self, other) {
            (Self::Many(mut a), Self::Many(b)) => {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = function(*a, b));
                Self::Many(a)
            }
            (Self::Many(mut a), Self::One(b)) => {
                a.iter_mut().for_each(|a| *a = function(*a, b));
                Self::Many(a)
            }
            (Self::One(a), Self::Many(mut b)) => {
                b.iter_mut().for_each(|b| *b = function(a, *b));
                Self::Many(b)
            }
            (Self::One(a), Self::One(b)) => Self::One(function(a, b)),
        }
    }

    fn compare(self, other: Self, count: usize, test: impl Fn(&T, &T) -> bool) -> Vec<u8> {
        let test = |a: &T, b: &T| u8::from(test(a, b));
        match (&self, &other) {
            (Self::Many(a), Self::Many(b)) => a.iter().zip(b).map(|(a, b)| test(a, b)).collect(),
            (Self::Many(a), Self::One(b)) => a.iter().map(|a| test(a, b)).collect(),
            (Self::One(a), Self::Many(b)) => b.iter().map(|b| test(a, b)).collect(),
            (Self::One(a), Self::One(b)) => vec![test(a, b); count],
        }
    }
}

impl From<Feed<i64>> for Values {
    fn from(feed: Feed<i64>) -> Self {
        match feed {
            Feed::Many(values) => Self::I64(values),
            Feed::One(value) => Self::One(Scalar::Int(value.into())),
        }
    }
}

impl From<Feed<i128>> for Values {
    fn from(feed: Feed<i128>) -> Self {
        match feed {
            Feed::Many(values) => Self::I128(values),
            Feed::One(value) => Self::One(Scalar::Int(value)),
        }
    }
}

impl From<Feed<f64>> for Values {
    fn from(feed: Feed<f64>) -> Self {
        match feed {
            Feed::Many(values) => Self::F64(values),
            Feed::One(value) => Self::One(Scalar::Float(value)),
        }
    }
}

macro_rules! integer_arithmetic {
    ($name:ident, $rust:ty) => {
        fn $name(operation: Binary, a: Feed<$rust>, b: Feed<$rust>) -> Feed<$rust> {
            match operation {
                Binary::Add => a.zip(b, <$rust>::wrapping_add),
                Binary::Subtract => a.zip(b, <$rust>::wrapping_sub),
                Binary::Multiply => a.zip(b, <$rust>::wrapping_mul),
                Binary::FloorDivide => a.zip(b, |a, b| {
                    let quotient = a.checked_div(b).unwrap_or(0);
                    let rest = a.checked_rem(b).unwrap_or(0);
                    quotient - <$rust>::from(rest != 0 && (rest < 0) != (b < 0))
                }),
                Binary::Remainder => a.zip(b, |a, b| {
                    let rest = a.checked_rem(b).unwrap_or(0);
                    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
                }),
                Binary::Power => a.zip(b, |a, b| a.wrapping_pow(u32::try_from(b).unwrap_or(0))),
                Binary::And => a.zip(b, |a, b| a & b),
                Binary::Or => a.zip(b, |a, b| a | b),
                Binary::Xor => a.zip(b, |a, b| a ^ b),
                Binary::Least => a.zip(b, <$rust>::min),
                Binary::Greatest => a.zip(b, <$rust>::max),
                // These are rewritten, or give floats.
                Binary::ShiftLeft | Binary::ShiftRight | Binary::Divide | Binary::Arctan2 => a,
            }
        }
    };
}

integer_arithmetic!(longs, i64);
integer_arithmetic!(wides, i128);

fn floats(operation: Binary, a: Feed<f64>, b: Feed<f64>) -> Feed<f64> {
    match operation {
        Binary::Add => a.zip(b, |a, b| a + b),
        Binary::Subtract => a.zip(b, |a, b| a - b),
        Binary::Multiply => a.zip(b, |a, b| a * b),
        Binary::Divide => a.zip(b, |a, b| a / b),
        Binary::FloorDivide => a.zip(b, |a, b| floor_and_remainder(a, b).0),
        Binary::Remainder => a.zip(b, |a, b| floor_and_remainder(a, b).1),
        Binary::Power => a.zip(b, f64::powf),
        Binary::Arctan2 => a.zip(b, f64::atan2),
        Binary::Least => a.zip(b, |a, b| if a.is_nan() || a < b { a } else { b }),
        Binary::Greatest => a.zip(b, |a, b| if a.is_nan() || a > b { a } else { b }),
        // These take integers only.
        Binary::And | Binary::Or | Binary::Xor | Binary::ShiftLeft | Binary::ShiftRight => a,
    }
}

/// The quotient rounded down and the remainder with the sign of the divisor, as Python has them.
fn floor_and_remainder(a: f64, b: f64) -> (f64, f64) {
    let rest = a % b;
    if b == 0.0 {
        return (a / b, rest);
    }
    let quotient = (a - rest) / b;
    let (quotient, rest) = match () {
        () if rest == 0.0 => (quotient, 0f64.copysign(b)),
        () if (rest < 0.0) != (b < 0.0) => (quotient - 1.0, rest + b),
        () => (quotient, rest),
    };
    let floor = match quotient {
        0.0 => 0f64.copysign(a / b),
        _ if quotient - quotient.floor() > 0.5 => quotient.floor() + 1.0,
        _ => quotient.floor(),
    };
    (floor, rest)
}

/// `a op b`, computed in this lane.
pub(super) fn binary(operation: Binary, lane: Lane, a: Values, b: Values) -> Values {
    match lane {
        Lane::I64 => longs(operation, a.longs(), b.longs()).into(),
        Lane::I128 => wides(operation, a.wides(), b.wides()).into(),
        Lane::F64 => floats(operation, a.floats(), b.floats()).into(),
    }
}

/// Compares row by row, without rounding either side; `floats` says which sides are floats.
pub(super) fn compare(
    order: Order,
    a: Values,
    b: Values,
    lanes: (Lane, Lane),
    count: usize,
) -> Vec<u8> {
    match lanes {
        (Lane::F64, Lane::F64) => ordered(order, a.floats(), b.floats(), count),
        (Lane::I64, Lane::I64) => ordered(order, a.longs(), b.longs(), count),
        (Lane::F64, _) => {
            let pairs = a.into_floats(count).into_iter().zip(b.into_wides(count));
            let found = pairs.map(|(a, b)| int_to_float(b, a).map(Ordering::reverse));
            found.map(|found| holds(order, found)).collect()
        }
        (_, Lane::F64) => {
            let pairs = a.into_wides(count).into_iter().zip(b.into_floats(count));
            pairs.map(|(a, b)| holds(order, int_to_float(a, b))).collect()
        }
        _ => ordered(order, a.wides(), b.wides(), count),
    }
}

fn ordered<T: Copy + PartialOrd>(order: Order, a: Feed<T>, b: Feed<T>, count: usize) -> Vec<u8> {
    match order {
        Order::Equal => a.compare(b, count, T::eq),
        Order::NotEqual => a.compare(b, count, T::ne),
        Order::Less => a.compare(b, count, T::lt),
        Order::LessEqual => a.compare(b, count, T::le),
        Order::Greater => a.compare(b, count, T::gt),
        Order::GreaterEqual => a.compare(b, count, T::ge),
    }
}

/// An integer beside a float, exactly; `None` beside NaN.
fn int_to_float(a: i128, b: f64) -> Option<Ordering> {
    // Below 2⁵³ both are floats.
    if a.unsigned_abs() <= 1 << 53 {
        return (a as f64).partial_cmp(&b);
    }
    if b.is_nan() {
        return None;
    }
    let floor = b.floor();
    let fraction = if floor < b { Ordering::Less } else { Ordering::Equal };
    Some(a.cmp(&to_int(floor)).then(fraction))
}

fn holds(order: Order, found: Option<Ordering>) -> u8 {
    let truth = found.map_or(order == Order::NotEqual, |found| super::text::holds(order, found));
    u8::from(truth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(operation: Binary, a: i64, b: i64) -> i64 {
        match binary(operation, Lane::I64, Values::I64(vec![a]), Values::I64(vec![b])) {
            Values::I64(values) => values[0],
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn integers_divide_down_and_by_zero_give_zero() {
        let pairs = [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, 3, 2, 0)];
        for (a, b, quotient, rest) in pairs {
            assert_eq!(ints(Binary::FloorDivide, a, b), quotient, "{a} // {b}");
            assert_eq!(ints(Binary::Remainder, a, b), rest, "{a} % {b}");
        }
        assert_eq!(ints(Binary::FloorDivide, 5, 0), 0);
        assert_eq!(ints(Binary::Remainder, 5, 0), 0);
    }

    #[test]
    fn floats_divide_as_in_python() {
        let pairs = [(7.5, 2.0, 3.0, 1.5), (-7.5, 2.0, -4.0, 0.5), (7.5, -2.0, -4.0, -0.5)];
        for (a, b, quotient, rest) in pairs {
            assert_eq!(floor_and_remainder(a, b), (quotient, rest), "{a} {b}");
        }
        assert_eq!(floor_and_remainder(1.0, 0.0).0, f64::INFINITY);
        assert!(floor_and_remainder(1.0, 0.0).1.is_nan());
        assert!(floor_and_remainder(f64::NAN, 2.0).0.is_nan());
    }

    #[test]
    fn large_integers_and_floats_are_compared_exactly() {
        let float = 9_007_199_254_740_992.0;
        assert_eq!(int_to_float(9_007_199_254_740_993, float), Some(Ordering::Greater));
        assert_eq!(int_to_float(9_007_199_254_740_992, float), Some(Ordering::Equal));
        assert_eq!(int_to_float(3, 3.5), Some(Ordering::Less));
        assert_eq!(int_to_float(1 << 100, f64::INFINITY), Some(Ordering::Less));
        assert_eq!(int_to_float(-(1 << 100), f64::NEG_INFINITY), Some(Ordering::Greater));
        assert_eq!(int_to_float(1 << 60, f64::NAN), None);
        assert_eq!(int_to_float(0, f64::NAN), None);
    }
}
