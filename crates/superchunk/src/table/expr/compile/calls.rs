//! Functions by name.

use super::super::lexer::wrong;
use super::super::text::{Question, TextTest};
use super::super::tree::Absence;
use super::compare::in_form_of;
use super::{Binary, Compiler, Cond, Const, Interval, Num, NumKind, Result, Tree, Typed};
use super::{negated, numbers};
use crate::table::suggest;

/// A function of one float and its name.
type Named = (&'static str, fn(f64) -> f64);

/// Functions of one float.
const FLOAT_FUNCTIONS: [Named; 20] = [
    ("sqrt", f64::sqrt),
    ("exp", f64::exp),
    ("expm1", f64::exp_m1),
    ("log", f64::ln),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("log1p", f64::ln_1p),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("arcsin", f64::asin),
    ("arccos", f64::acos),
    ("arctan", f64::atan),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
    ("tanh", f64::tanh),
    ("arcsinh", f64::asinh),
    ("arccosh", f64::acosh),
    ("arctanh", f64::atanh),
    ("float32", single),
];

/// Functions that leave integers as they are.
const ROUNDING: [Named; 4] = [
    ("floor", f64::floor),
    ("ceil", f64::ceil),
    ("trunc", f64::trunc),
    ("round", f64::round_ties_even),
];

/// All others, for suggestions.
const OTHERS: [&str; 11] = [
    "abs",
    "min",
    "max",
    "arctan2",
    "isnan",
    "isinf",
    "isfinite",
    "startswith",
    "endswith",
    "contains",
    "where",
];

impl Compiler<'_> {
    pub(super) fn call(&mut self, name: &str, arguments: &[Tree], at: usize) -> Result<Typed> {
        let of = |table: &[Named]| {
            table.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
        };
        match (name, arguments) {
            ("isnan", [value]) => Ok(negated(self.absent(value, Absence::Nan)?, false)),
            ("isinf", [value]) => self.asks(f64::is_infinite, value),
            ("isfinite", [value]) => self.asks(f64::is_finite, value),
            ("abs", [value]) => {
                let value = self.num(value)?;
                let interval = value.interval.and_then(Interval::absolute);
                Ok(numbers::folded(NumKind::Absolute(Box::new(value)), interval))
            }
            ("min", [_, _, ..]) => self.extreme(Binary::Least, arguments),
            ("max", [_, _, ..]) => self.extreme(Binary::Greatest, arguments),
            ("arctan2", [y, x]) => {
                Ok(numbers::arithmetic(Binary::Arctan2, self.num(y)?, self.num(x)?))
            }
            ("where", [cond, yes, no]) => self.choose(cond, yes, no),
            ("startswith" | "endswith" | "contains", [value, text]) => self.text(name, value, text),
            (_, [value]) => match (of(&ROUNDING), of(&FLOAT_FUNCTIONS)) {
                (Some(function), _) => {
                    let value = self.num(value)?;
                    Ok(match value.interval {
                        Some(_) => Typed::Num(value),
                        None => numbers::folded(NumKind::Function(function, Box::new(value)), None),
                    })
                }
                (None, Some(function)) => {
                    let value = Box::new(self.num(value)?);
                    Ok(numbers::folded(NumKind::Function(function, value), None))
                }
                (None, None) => Err(unknown(name, 1, at)),
            },
            _ => Err(unknown(name, arguments.len(), at)),
        }
    }

    fn asks(&mut self, question: fn(f64) -> bool, value: &Tree) -> Result<Typed> {
        let value = self.num(value)?;
        Ok(Typed::Cond(Cond::Asks { question, value: Box::new(value) }))
    }

    fn extreme(&mut self, binary: Binary, arguments: &[Tree]) -> Result<Typed> {
        let mut best: Option<Typed> = None;
        for argument in arguments {
            let value = self.num(argument)?;
            best = Some(match best.and_then(Typed::into_num) {
                Some(before) => numbers::arithmetic(binary, before, value),
                None => Typed::Num(value),
            });
        }
        best.ok_or_else(|| wrong(0, "no arguments"))
    }

    fn choose(&mut self, cond: &Tree, yes: &Tree, no: &Tree) -> Result<Typed> {
        let (cond, yes, no) = (self.cond(cond)?, self.num(yes)?, self.num(no)?);
        let interval = yes.interval.zip(no.interval).map(|(a, b)| a.union(b));
        Ok(Typed::Num(Num { kind: NumKind::Choose(Box::new((cond, yes, no))), interval }))
    }

    fn text(&mut self, name: &str, value: &Tree, text: &Tree) -> Result<Typed> {
        let Typed::Text(slot) = self.typed(value)? else {
            return Err(wrong(value.at, format!("`{name}` asks a column of text")));
        };
        let Typed::Const(constant @ (Const::Text(_) | Const::Bytes(_))) = self.typed(text)? else {
            return Err(wrong(text.at, format!("`{name}` takes a text, such as 'this'")));
        };
        let dtype = self.dtype(slot)?;
        let text = in_form_of(dtype, &constant, text.at)?;
        let question = match name {
            "startswith" => Question::Starts(text),
            "endswith" => Question::Ends(text),
            _ => Question::Contains(text),
        };
        Ok(Typed::Cond(Cond::Text { slot, test: TextTest::new(dtype, question) }))
    }
}

/// Rounds to what a 32-bit float can hold.
#[expect(clippy::cast_possible_truncation, reason = "rounding is what it is for")]
fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

fn unknown(name: &str, arguments: usize, at: usize) -> crate::error::Error {
    let known = FLOAT_FUNCTIONS.iter().chain(&ROUNDING).map(|(name, _)| *name).chain(OTHERS);
    if known.clone().any(|word| word == name) {
        return wrong(at, format!("`{name}` does not take {arguments} arguments"));
    }
    wrong(at, format!("there is no function `{name}`{}", suggest::hint(name, known)))
}
