//! A compiled expression: every part knows its type, names have become columns.

use super::interval::Interval;
use super::range::Test;
use super::text::TextTest;
use super::tree::{Binary, Order};

/// What gives a truth a row.
#[derive(Clone, Debug)]
pub(super) enum Cond {
    Const(bool),
    /// A column of truths.
    Flag(usize),
    /// A number inside of a range (or outside of it). Every comparison with a constant is one.
    Range {
        value: Box<Num>,
        test: Test,
        outside: bool,
    },
    /// A number among others, which are sorted.
    Member {
        value: Box<Num>,
        list: Members,
        outside: bool,
    },
    /// NaN, or NaT if the column counts time.
    Absent(Box<Num>),
    /// A column of text.
    Text {
        slot: usize,
        test: TextTest,
    },
    /// Two columns of text.
    TextPair {
        order: Order,
        left: usize,
        right: usize,
    },
    /// Two numbers.
    Compare {
        order: Order,
        left: Box<Num>,
        right: Box<Num>,
    },
    /// A function of a float that says yes or no.
    Asks {
        question: fn(f64) -> bool,
        value: Box<Num>,
    },
    And(Vec<Cond>),
    Or(Vec<Cond>),
    Xor(Box<Cond>, Box<Cond>),
    Not(Box<Cond>),
}

/// What gives a number a row.
#[derive(Clone, Debug)]
pub(super) struct Num {
    pub(super) kind: NumKind,
    /// The values it can have, if they are integers; a float otherwise.
    pub(super) interval: Option<Interval>,
}

/// Where a number comes from.
#[derive(Clone, Debug)]
pub(super) enum NumKind {
    Const(Scalar),
    /// The column of a slot.
    Column(usize),
    /// The same for a column that counts time, whose least integer is no value.
    Ticks(usize),
    /// 1 or 0.
    Truth(Box<Cond>),
    Negative(Box<Num>),
    Invert(Box<Num>),
    Absolute(Box<Num>),
    /// An integer as a float.
    Function(fn(f64) -> f64, Box<Num>),
    Binary(Binary, Box<Num>, Box<Num>),
    Choose(Box<(Cond, Num, Num)>),
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Int(i128),
    Float(f64),
}

/// The members of a list, sorted.
#[derive(Clone, Debug)]
pub(super) enum Members {
    Int(Vec<i128>),
    Float(Vec<f64>),
}

/// How the values of a part are kept while it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    I64,
    I128,
    F64,
}

impl Num {
    pub(super) fn constant(value: Scalar) -> Self {
        let interval = match value {
            Scalar::Int(value) => Some(Interval::one(value)),
            Scalar::Float(_) => None,
        };
        Self { kind: NumKind::Const(value), interval }
    }

    pub(super) fn as_const(&self) -> Option<Scalar> {
        match self.kind {
            NumKind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// The narrowest lane that holds it and everything it is made of.
    pub(super) fn lane(&self) -> Lane {
        let own = match self.interval {
            None => return Lane::F64,
            Some(interval) if interval.fits_i64() => Lane::I64,
            Some(_) => return Lane::I128,
        };
        let wide = |part: &Num| part.lane() == Lane::I128;
        let inner_wide = match &self.kind {
            NumKind::Negative(inner) | NumKind::Invert(inner) | NumKind::Absolute(inner) => {
                wide(inner)
            }
            NumKind::Binary(_, left, right) => wide(left) || wide(right),
            NumKind::Choose(parts) => wide(&parts.1) || wide(&parts.2),
            _ => false,
        };
        if inner_wide { Lane::I128 } else { own }
    }
}

impl Scalar {
    pub(super) fn float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}
