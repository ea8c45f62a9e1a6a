//! Comparisons, by what stands on both sides.

use std::collections::HashSet;

use super::super::moment::{self, Moment};
use super::super::range::{Test, Threshold};
use super::super::text::{Question, TextTest, encoded, holds, without_padding};
use super::super::typed::Members;
use super::{Binary, Compiler, Cond, Const, Num, Order, Result, Scalar, Tree, Typed};
use super::{all_of, any_of, numbers, ticks, wrong};
use crate::dtype::{DKind, DType, TimeUnit};
use crate::error::Error;

/// The least count of a moment: the one below is `NaT`.
const FIRST_TICK: i128 = i64::MIN as i128 + 1;

impl Compiler<'_> {
    /// `a < b < c`: all of the pairs.
    pub(super) fn compare_chain(
        &mut self,
        first: &Tree,
        links: &[(Order, Tree)],
        at: usize,
    ) -> Result<Typed> {
        let mut left = first;
        let mut pairs = Vec::with_capacity(links.len());
        for (order, right) in links {
            pairs.push(self.compare(*order, left, right, at)?);
            left = right;
        }
        Ok(Typed::Cond(all_of(pairs)))
    }

    pub(super) fn compare(
        &mut self,
        order: Order,
        left: &Tree,
        right: &Tree,
        at: usize,
    ) -> Result<Cond> {
        let (first, second) = (self.typed(left)?, self.typed(right)?);
        match (&first, &second) {
            // The constant goes to the right.
            (Typed::Const(_), Typed::Const(_)) => constants(order, first, second, at),
            (Typed::Const(_), _) => self.pair(order.mirrored(), second, first, left.at, at),
            _ => self.pair(order, first, second, right.at, at),
        }
    }

    /// Something that depends on the row on the left; `at_value` is where a constant stands.
    fn pair(
        &self,
        order: Order,
        left: Typed,
        right: Typed,
        at_value: usize,
        at: usize,
    ) -> Result<Cond> {
        let names = (left.name(), right.name());
        match (left, right) {
            (Typed::Text(slot), Typed::Const(value)) => {
                let dtype = self.dtype(slot)?;
                let text = in_form_of(dtype, &value, at_value)?;
                let test = TextTest::new(dtype, Question::Compare(order, text));
                Ok(Cond::Text { slot, test })
            }
            (Typed::Text(left), Typed::Text(right)) => {
                let is_unicode = |slot| Ok::<_, Error>(self.dtype(slot)?.kind() == DKind::Unicode);
                if is_unicode(left)? != is_unicode(right)? {
                    return Err(wrong(at, "one column is bytes, the other Unicode text"));
                }
                Ok(Cond::TextPair { order, left, right })
            }
            (Typed::Time { slot, unit, moments }, Typed::Const(value)) => {
                let threshold = time(&value, unit, moments, at_value)?;
                let (test, outside) = Test::of_threshold(order, threshold, FIRST_TICK);
                Ok(Cond::Range { value: Box::new(ticks(slot)), test, outside })
            }
            (
                Typed::Time { slot: left, unit: a, moments },
                Typed::Time { slot: right, unit: b, moments: same },
            ) if moments == same => times(order, (left, a), (right, b), at),
            (left, right) => match (left.into_num(), right.into_num()) {
                (Some(left), Some(right)) => Ok(two_numbers(order, left, right)),
                _ => Err(wrong(at, format!("{} is not compared with {}", names.0, names.1))),
            },
        }
    }

    /// `value in (…)`.
    pub(super) fn member(&mut self, value: &Tree, list: &[Tree], at: usize) -> Result<Cond> {
        let typed = self.typed(value)?;
        let mut constants = Vec::with_capacity(list.len());
        for item in list {
            match self.typed(item)? {
                Typed::Const(constant) => constants.push((constant, item.at)),
                // A column among the members: compare one by one.
                _ => {
                    let each = list.iter().map(|item| self.compare(Order::Equal, value, item, at));
                    return Ok(any_of(each.collect::<Result<_>>()?));
                }
            }
        }
        if let Typed::Text(slot) = typed {
            let dtype = self.dtype(slot)?;
            let texts = constants.iter().map(|(constant, at)| in_form_of(dtype, constant, *at));
            let texts = texts.collect::<Result<HashSet<_>>>()?;
            return Ok(Cond::Text { slot, test: TextTest::new(dtype, Question::Among(texts)) });
        }
        if let Typed::Time { slot, unit, moments } = typed {
            let mut counts = Vec::new();
            for (constant, at) in &constants {
                let threshold = time(constant, unit, moments, *at)?;
                counts.extend(threshold.exact.then_some(threshold.floor));
            }
            return Ok(among_ints(ticks(slot), counts));
        }
        let name = typed.name();
        let scalars = constants.iter().map(|(constant, at)| {
            scalar(constant).ok_or_else(|| {
                let other = Typed::Const(constant.clone()).name();
                wrong(*at, format!("{other} is never {name}"))
            })
        });
        let scalars = scalars.collect::<Result<Vec<_>>>()?;
        let num = typed.into_num().ok_or_else(|| wrong(at, format!("{name} is not in a list")))?;
        Ok(among(num, &scalars))
    }

    pub(super) fn dtype(&self, slot: usize) -> Result<&DType> {
        let slot = self.slots.get(slot).ok_or_else(|| Error::invalid("no such column"))?;
        Ok(&slot.dtype)
    }
}

/// A text in the form of a column.
pub(super) fn in_form_of(dtype: &DType, value: &Const, at: usize) -> Result<Vec<u8>> {
    match (dtype.kind(), value) {
        (_, Const::Text(text)) => Ok(encoded(dtype, text)),
        (DKind::Bytes, Const::Bytes(bytes)) => Ok(without_padding(bytes)),
        (_, Const::Bytes(_)) => Err(wrong(at, "the column is Unicode text: leave the b away")),
        _ => Err(wrong(at, "the column is text: a text was expected, such as 'this'")),
    }
}

/// A constant on the scale of a column of moments or durations.
fn time(value: &Const, unit: TimeUnit, moments: bool, at: usize) -> Result<Threshold> {
    let text = match value {
        Const::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let threshold = match moments {
        true => text.and_then(Moment::parse).and_then(|moment| moment.threshold(unit)),
        false => text.and_then(|text| moment::duration(text, unit)),
    };
    threshold.ok_or_else(|| {
        wrong(
            at,
            match moments {
                true => "the column holds moments: write '2024-02-29' or '2024-02-29T12:30:00'",
                false => "the column holds durations: write '90s' or '3 days'",
            },
        )
    })
}

/// Two columns of moments or of durations.
fn times(
    order: Order,
    left: (usize, TimeUnit),
    right: (usize, TimeUnit),
    at: usize,
) -> Result<Cond> {
    let scaled = |slot: usize, factor: i128| -> Option<Num> {
        match factor {
            1 => Some(ticks(slot)),
            _ => {
                let factor = Num::constant(Scalar::Int(factor));
                let product = numbers::arithmetic(Binary::Multiply, ticks(slot), factor);
                product.into_num().filter(|num| num.interval.is_some())
            }
        }
    };
    let scales = moment::common_scale(left.1, right.1);
    let nums = scales.and_then(|(a, b)| scaled(left.0, a).zip(scaled(right.0, b)));
    let Some((a, b)) = nums else {
        return Err(wrong(at, "the units of these columns have no common measure"));
    };
    let compared = Cond::Compare { order, left: Box::new(a), right: Box::new(b) };
    let absent = |slot| Cond::Absent(Box::new(ticks(slot)));
    Ok(match order {
        Order::NotEqual => Cond::Or(vec![absent(left.0), absent(right.0), compared]),
        _ => Cond::And(vec![
            Cond::Not(Box::new(absent(left.0))),
            Cond::Not(Box::new(absent(right.0))),
            compared,
        ]),
    })
}

fn two_numbers(order: Order, left: Num, right: Num) -> Cond {
    match (left.as_const(), right.as_const()) {
        (_, Some(constant)) => against(order, left, constant),
        (Some(constant), None) => against(order.mirrored(), right, constant),
        _ => Cond::Compare { order, left: Box::new(left), right: Box::new(right) },
    }
}

/// A number against a constant, as a range.
fn against(order: Order, value: Num, constant: Scalar) -> Cond {
    let (test, outside) = match value.interval {
        Some(_) => Test::of_ints(order, constant),
        None => Test::of_floats(order, constant),
    };
    Cond::Range { value: Box::new(value), test, outside }
}

fn constants(order: Order, left: Typed, right: Typed, at: usize) -> Result<Cond> {
    let names = (left.name(), right.name());
    if let (Typed::Const(a), Typed::Const(b)) = (&left, &right) {
        match (a, b) {
            (Const::Text(a), Const::Text(b)) => return Ok(Cond::Const(holds(order, a.cmp(b)))),
            (Const::Bytes(a), Const::Bytes(b)) => return Ok(Cond::Const(holds(order, a.cmp(b)))),
            _ => {}
        }
    }
    let value = left.into_num();
    let constant = right.into_num().and_then(|num| num.as_const());
    match (value, constant) {
        (Some(value), Some(constant)) => Ok(Cond::Const(match (value.as_const(), order) {
            (Some(value), order) => scalars(order, value, constant),
            (None, _) => false,
        })),
        _ => Err(wrong(at, format!("{} is not compared with {}", names.0, names.1))),
    }
}

/// Two constants, by the test that a column would get.
fn scalars(order: Order, value: Scalar, constant: Scalar) -> bool {
    let (within, outside) = match value {
        Scalar::Int(value) => match Test::of_ints(order, constant) {
            (Test::Int { low, high }, outside) => (low <= value && value <= high, outside),
            (_, outside) => (false, outside),
        },
        Scalar::Float(value) => match Test::of_floats(order, constant) {
            (Test::Float { low, high }, outside) => (low <= value && value <= high, outside),
            (_, outside) => (false, outside),
        },
    };
    within != outside
}

fn scalar(constant: &Const) -> Option<Scalar> {
    match constant {
        Const::Int(value) => Some(Scalar::Int(*value)),
        Const::Float(value) => Some(Scalar::Float(*value)),
        Const::Bool(value) => Some(Scalar::Int((*value).into())),
        Const::Text(_) | Const::Bytes(_) => None,
    }
}

/// A number among constants: those that it can never equal are left out.
fn among(value: Num, list: &[Scalar]) -> Cond {
    if value.interval.is_some() {
        let whole = list.iter().filter_map(|member| match Test::of_ints(Order::Equal, *member).0 {
            Test::Int { low, high } if low == high => Some(low),
            _ => None,
        });
        return among_ints(value, whole.collect());
    }
    let exact = list.iter().filter_map(|member| match Test::of_floats(Order::Equal, *member).0 {
        Test::Float { low, high } if low == high => Some(low + 0.0),
        _ => None,
    });
    let mut list: Vec<f64> = exact.collect();
    list.sort_by(f64::total_cmp);
    list.dedup();
    Cond::Member { value: Box::new(value), list: Members::Float(list), outside: false }
}

fn among_ints(value: Num, mut list: Vec<i128>) -> Cond {
    list.sort_unstable();
    list.dedup();
    let value = Box::new(value);
    match list.as_slice() {
        [] => Cond::Const(false),
        // Without gaps it is a range.
        [low, .., high] if high.checked_sub(*low) == Some(list.len() as i128 - 1) => {
            Cond::Range { value, test: Test::Int { low: *low, high: *high }, outside: false }
        }
        _ => Cond::Member { value, list: Members::Int(list), outside: false },
    }
}
