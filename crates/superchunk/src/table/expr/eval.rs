//! A compiled expression over a block of rows.

use std::borrow::Cow;
use std::ops::Range;

use super::compile::Slot;
use super::lanes::{self, Values};
use super::range::{Ranged, Test};
use super::text::compare_rows;
use super::typed::{Cond, Lane, Members, Num, NumKind};
use crate::error::{Error, Result};
use crate::table::values::{Native, numbers, with_native};

/// How many rows are computed at once: what an expression makes of them stays in the cache.
pub(crate) const BLOCK: usize = 8192;
/// Up to how many members of a list are compared one after the other.
const FEW: usize = 12;

/// Where the columns of an expression come from. Each is asked for when it is first needed, which for
/// some it never is.
pub(crate) trait Feeder {
    /// All rows of the column of a slot.
    fn column(&self, slot: usize) -> Result<&[u8]>;
}

/// Some rows of the columns.
pub(super) struct Block<'a> {
    pub(super) feeder: &'a dyn Feeder,
    pub(super) slots: &'a [Slot],
    pub(super) rows: Range<usize>,
}

impl Block<'_> {
    fn count(&self) -> usize {
        self.rows.end.saturating_sub(self.rows.start)
    }

    /// The values of a column in this block, little endian.
    fn column(&self, index: usize) -> Result<(&Slot, Cow<'_, [u8]>)> {
        let slot = self.slots.get(index).ok_or_else(|| Error::invalid("no such column"))?;
        let size = slot.dtype.item_size();
        let place = |row: usize| row.saturating_mul(size);
        let all = self.feeder.column(index)?;
        let bytes = all
            .get(place(self.rows.start)..place(self.rows.end))
            .ok_or_else(|| Error::invalid("a column is shorter than the others"))?;
        Ok((slot, numbers(&slot.dtype, bytes)))
    }

    /// A truth a row: 0 or 1.
    pub(super) fn cond(&self, cond: &Cond) -> Result<Vec<u8>> {
        Ok(match cond {
            Cond::Const(truth) => vec![u8::from(*truth); self.count()],
            Cond::Flag(slot) => {
                let (_, bytes) = self.column(*slot)?;
                bytes.iter().map(|byte| u8::from(*byte != 0)).collect()
            }
            Cond::Range { value, test, outside } => self.range(value, *test, *outside)?,
            Cond::Member { value, list, outside } => self.member(value, list, *outside)?,
            Cond::Absent(value) => self.absent(value)?,
            Cond::Text { slot, test } => {
                let (slot, bytes) = self.column(*slot)?;
                let mut mask = Vec::with_capacity(self.count());
                test.run(&bytes, slot.dtype.item_size(), self.count(), &mut mask);
                mask
            }
            Cond::TextPair { order, left, right } => {
                let ((left, a), (right, b)) = (self.column(*left)?, self.column(*right)?);
                compare_rows(*order, (&left.dtype, &right.dtype), (&a, &b), self.count())
            }
            Cond::Compare { order, left, right } => {
                let lanes = (left.lane(), right.lane());
                lanes::compare(*order, self.num(left)?, self.num(right)?, lanes, self.count())
            }
            Cond::Asks { question, value } => {
                let values = self.num(value)?.into_floats(self.count());
                values.into_iter().map(|value| u8::from(question(value))).collect()
            }
            Cond::And(terms) => self.all_of(terms)?,
            Cond::Or(terms) => self.any_of(terms)?,
            Cond::Xor(left, right) => joined(self.cond(left)?, &self.cond(right)?, |a, b| a ^ b),
            Cond::Not(inner) => {
                let mut mask = self.cond(inner)?;
                mask.iter_mut().for_each(|truth| *truth ^= 1);
                mask
            }
        })
    }

    /// Stops as soon as no row is left, so that columns that nobody needs are not even read.
    fn all_of(&self, terms: &[Cond]) -> Result<Vec<u8>> {
        let mut mask = vec![1; self.count()];
        for term in terms {
            mask = joined(self.cond(term)?, &mask, |a, b| a & b);
            if mask.iter().all(|truth| *truth == 0) {
                break;
            }
        }
        Ok(mask)
    }

    fn any_of(&self, terms: &[Cond]) -> Result<Vec<u8>> {
        let mut mask = vec![0; self.count()];
        for term in terms {
            mask = joined(self.cond(term)?, &mask, |a, b| a | b);
            if mask.iter().all(|truth| *truth == 1) {
                break;
            }
        }
        Ok(mask)
    }

    fn range(&self, value: &Num, test: Test, outside: bool) -> Result<Vec<u8>> {
        let mut mask = Vec::with_capacity(self.count());
        let flip = u8::from(outside);
        if let NumKind::Column(slot) | NumKind::Ticks(slot) = value.kind {
            let (slot, bytes) = self.column(slot)?;
            with_native!(slot.dtype, T => T::within(&bytes, test, flip, &mut mask), else return Err(no_number()));
            return Ok(mask);
        }
        let within = |low: bool, high: bool| (u8::from(low) & u8::from(high)) ^ flip;
        match (self.num(value)?.spread(value.lane(), self.count()), test) {
            (Values::I64(values), Test::Int { low, high }) => {
                let ends = clamped(low, high);
                mask.extend(values.iter().map(|x| within(*x >= ends.0, *x <= ends.1)));
            }
            (Values::I128(values), Test::Int { low, high }) => {
                mask.extend(values.iter().map(|x| within(*x >= low, *x <= high)));
            }
            (Values::F64(values), Test::Float { low, high }) => {
                mask.extend(values.iter().map(|x| within(*x >= low, *x <= high)));
            }
            _ => return Err(no_number()),
        }
        Ok(mask)
    }

    fn member(&self, value: &Num, list: &Members, outside: bool) -> Result<Vec<u8>> {
        let flip = u8::from(outside);
        let values = self.num(value)?.spread(value.lane(), self.count());
        Ok(match (values, list) {
            (Values::I64(values), Members::Int(list)) => {
                let fits = list.iter().filter_map(|member| i64::try_from(*member).ok());
                among(&values, &fits.collect::<Vec<_>>(), flip, i64::cmp)
            }
            (Values::I128(values), Members::Int(list)) => among(&values, list, flip, i128::cmp),
            (Values::F64(mut values), Members::Float(list)) => {
                // The order of all floats knows two zeros, a comparison one.
                values.iter_mut().for_each(|value| *value += 0.0);
                among(&values, list, flip, f64::total_cmp)
            }
            _ => return Err(no_number()),
        })
    }

    fn absent(&self, value: &Num) -> Result<Vec<u8>> {
        if let NumKind::Ticks(slot) = value.kind {
            let (_, bytes) = self.column(slot)?;
            return Ok(i64::each(&bytes).map(|count| u8::from(count == i64::MIN)).collect());
        }
        let values = self.num(value)?.into_floats(self.count());
        Ok(values.into_iter().map(|value| u8::from(value.is_nan())).collect())
    }

    /// A number a row.
    pub(super) fn num(&self, num: &Num) -> Result<Values> {
        let lane = num.lane();
        Ok(match &num.kind {
            NumKind::Const(value) => Values::One(*value),
            NumKind::Column(slot) | NumKind::Ticks(slot) => self.column_values(*slot, lane)?,
            NumKind::Truth(cond) => {
                Values::I64(self.cond(cond)?.into_iter().map(i64::from).collect())
            }
            NumKind::Negative(inner) => self.num(inner)?.negative(lane),
            NumKind::Invert(inner) => self.num(inner)?.invert(lane),
            NumKind::Absolute(inner) => self.num(inner)?.absolute(lane),
            NumKind::Function(function, inner) => self.num(inner)?.map_floats(*function),
            NumKind::Binary(operation, left, right) => {
                lanes::binary(*operation, lane, self.num(left)?, self.num(right)?)
            }
            NumKind::Choose(parts) => {
                let (cond, yes, no) = &**parts;
                self.num(yes)?.choose(lane, &self.cond(cond)?, self.num(no)?)
            }
        })
    }

    fn column_values(&self, slot: usize, lane: Lane) -> Result<Values> {
        let (slot, bytes) = self.column(slot)?;
        with_native!(slot.dtype, T => Ok(match lane {
            Lane::I64 => Values::I64(T::each(&bytes).map(Native::long).collect()),
            Lane::I128 => Values::I128(T::each(&bytes).map(Native::int).collect()),
            Lane::F64 => Values::F64(T::each(&bytes).map(Native::float).collect()),
        }), else Err(no_number()))
    }
}

fn no_number() -> Error {
    Error::invalid("a column changed its type while it was read")
}

/// The ends of a range in the reach of 64 bits.
fn clamped(low: i128, high: i128) -> (i64, i64) {
    let least = i64::try_from(low).unwrap_or(if low < 0 { i64::MIN } else { i64::MAX });
    let most = i64::try_from(high).unwrap_or(if high < 0 { i64::MIN } else { i64::MAX });
    let reached = low <= i64::MAX.into() && high >= i64::MIN.into();
    if reached { (least, most) } else { (1, 0) }
}

fn joined(mut mask: Vec<u8>, other: &[u8], join: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    mask.iter_mut().zip(other).for_each(|(a, b)| *a = join(*a, *b));
    mask
}

fn among<T: Copy + PartialEq>(
    values: &[T],
    list: &[T],
    flip: u8,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Vec<u8> {
    if list.len() <= FEW {
        let found = |x: &T| list.iter().fold(0, |found, member| found | u8::from(x == member));
        return values.iter().map(|x| found(x) ^ flip).collect();
    }
    let found = |x: &T| list.binary_search_by(|member| order(member, x)).is_ok();
    values.iter().map(|x| u8::from(found(x)) ^ flip).collect()
}
