//! Arithmetic: which lane, and what can be computed now.

use super::super::lanes::{self, Values};
use super::super::typed::Lane;
use super::wrong;
use super::{Binary, Compiler, Cond, Const, Interval, Num, NumKind, Result, Scalar, Tree, Typed};

/// Larger exponents make floats of everything but -1, 0 and 1.
const MAX_EXPONENT: i128 = 126;

impl Compiler<'_> {
    pub(super) fn binary(
        &mut self,
        binary: Binary,
        left: &Tree,
        right: &Tree,
        at: usize,
    ) -> Result<Typed> {
        let (first, second) = (self.typed(left)?, self.typed(right)?);
        if matches!(binary, Binary::And | Binary::Or | Binary::Xor) {
            return bits(binary, first, second, at);
        }
        let names = (first.name(), second.name());
        let unknown = || {
            let sign = binary.sign();
            wrong(at, format!("`{sign}` takes numbers, not {} and {}", names.0, names.1))
        };
        let first = first.into_num().ok_or_else(unknown)?;
        let second = second.into_num().ok_or_else(unknown)?;
        match binary {
            Binary::ShiftLeft | Binary::ShiftRight => shift(binary, first, second, at),
            Binary::Power => Ok(power(first, second)),
            _ => Ok(arithmetic(binary, first, second)),
        }
    }
}

/// One of the operations on two numbers.
pub(super) fn arithmetic(binary: Binary, a: Num, b: Num) -> Typed {
    let interval = a.interval.zip(b.interval).and_then(|(a, b)| match binary {
        Binary::Add => a.add(b),
        Binary::Subtract => a.subtract(b),
        Binary::Multiply => a.multiply(b),
        Binary::FloorDivide => a.floor_divide(),
        Binary::Remainder => Interval::remainder(b),
        Binary::And | Binary::Or | Binary::Xor => a.bits(b),
        Binary::Least => Some(Interval::new(a.low.min(b.low), a.high.min(b.high))),
        Binary::Greatest => Some(Interval::new(a.low.max(b.low), a.high.max(b.high))),
        Binary::Power => {
            u32::try_from(b.low).ok().filter(|_| b.low == b.high).and_then(|n| a.power(n))
        }
        Binary::Divide | Binary::Arctan2 | Binary::ShiftLeft | Binary::ShiftRight => None,
    });
    folded(NumKind::Binary(binary, Box::new(a), Box::new(b)), interval)
}

/// Exact for integers with a constant exponent that is not negative, a float otherwise.
fn power(base: Num, exponent: Num) -> Typed {
    let small =
        exponent.interval.filter(|n| n.low == n.high && (0..=MAX_EXPONENT).contains(&n.low));
    match (small, base.interval) {
        (Some(_), Some(_)) => arithmetic(Binary::Power, base, exponent),
        _ => folded(NumKind::Binary(Binary::Power, Box::new(base), Box::new(exponent)), None),
    }
}

/// By a constant: a multiplication or a division by a power of two.
fn shift(binary: Binary, value: Num, by: Num, at: usize) -> Result<Typed> {
    let Some(Scalar::Int(bits @ 0..=100)) = by.as_const().filter(|_| value.interval.is_some())
    else {
        return Err(wrong(at, "integers are shifted by a constant from 0 to 100"));
    };
    let factor = Num::constant(Scalar::Int(1 << bits));
    let operation =
        if binary == Binary::ShiftLeft { Binary::Multiply } else { Binary::FloorDivide };
    Ok(arithmetic(operation, value, factor))
}

/// `& | ^` of two truths or two integers.
fn bits(binary: Binary, first: Typed, second: Typed, at: usize) -> Result<Typed> {
    let truth = |typed: &Typed| matches!(typed, Typed::Cond(_) | Typed::Const(Const::Bool(_)));
    if truth(&first) && truth(&second) {
        let cond = |typed| match typed {
            Typed::Cond(cond) => cond,
            Typed::Const(Const::Bool(truth)) => Cond::Const(truth),
            _ => Cond::Const(false),
        };
        let (a, b) = (cond(first), cond(second));
        return Ok(Typed::Cond(match binary {
            Binary::And => super::all_of(vec![a, b]),
            Binary::Or => super::any_of(vec![a, b]),
            _ => Cond::Xor(Box::new(a), Box::new(b)),
        }));
    }
    let names = (first.name(), second.name());
    let whole = |typed: Typed| typed.into_num().filter(|num| num.interval.is_some());
    match (whole(first), whole(second)) {
        (Some(a), Some(b)) => Ok(arithmetic(binary, a, b)),
        _ => Err(wrong(
            at,
            format!(
                "`{}` takes two conditions or two integers, not {} and {}: comparisons beside it stand in parentheses",
                binary.sign(),
                names.0,
                names.1
            ),
        )),
    }
}

/// A number, computed now if it is a constant.
pub(super) fn folded(kind: NumKind, interval: Option<Interval>) -> Typed {
    let num = Num { kind, interval };
    let lane = match num.lane() {
        Lane::I64 => Lane::I128,
        lane => lane,
    };
    let one = |part: &Num| part.as_const().map(Values::One);
    let value = match &num.kind {
        NumKind::Negative(inner) => one(inner).map(|value| value.negative(lane)),
        NumKind::Invert(inner) => one(inner).map(|value| value.invert(lane)),
        NumKind::Absolute(inner) => one(inner).map(|value| value.absolute(lane)),
        NumKind::Function(function, inner) => one(inner).map(|value| value.map_floats(*function)),
        NumKind::Binary(binary, left, right) => {
            one(left).zip(one(right)).map(|(a, b)| lanes::binary(*binary, lane, a, b))
        }
        _ => None,
    };
    match value {
        Some(Values::One(Scalar::Int(value))) => Typed::Const(Const::Int(value)),
        Some(Values::One(Scalar::Float(value))) => Typed::Const(Const::Float(value)),
        _ => Typed::Num(num),
    }
}
