//! Sums, means and extremes of columns.
//!
//! Nulls (NaN, NaT) are counted and left out. Integers are added exactly. Floats are added in lanes
//! of short blocks, and the blocks with a correction of what rounding lost, so that the error does not
//! grow with the number of rows.

use super::number::Number;
use super::scan::Scan;
use super::source::{Column, column_of};
use super::values::{Native, numbers, with_native};
use crate::dtype::{DKind, DType};
use crate::error::{Error, Result};

/// How many values are added up before the correction.
const BLOCK: usize = 1024;
/// How many sums a block has.
const LANES: usize = 8;

/// What is known of the values of a column.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many values there are.
    pub count: u64,
    /// How many rows are null: NaN or NaT.
    pub nulls: u64,
    /// Of all values; exact if they are integers.
    pub sum: Option<Number>,
    /// The least.
    pub min: Option<Number>,
    /// The greatest.
    pub max: Option<Number>,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
}

impl Summary {
    /// The mean of the values; `None` if there are none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        match (self.count, self.sum) {
            (0, _) | (_, None) => None,
            (count, Some(sum)) => Some(sum.to_f64() / count as f64),
        }
    }

    /// The variance with `count - ddof` below: 0 as NumPy does, 1 for a sample.
    #[must_use]
    pub fn variance(&self, ddof: u64) -> Option<f64> {
        let below = self.count.checked_sub(ddof).filter(|below| *below > 0)?;
        self.sum.map(|_| self.squares / below as f64)
    }

    /// The standard deviation.
    #[must_use]
    pub fn std(&self, ddof: u64) -> Option<f64> {
        self.variance(ddof).map(f64::sqrt)
    }
}

impl Scan<'_> {
    /// What the matching rows of a column of numbers have in common.
    ///
    /// ```
    /// use superchunk::table::{self, MemoryTable, Number};
    ///
    /// let table = MemoryTable::new().with_values("x", &[1u8, 2, 3, 250])?;
    /// let all = table::scan(&table).summary("x")?;
    /// assert_eq!((all.sum, all.mean()), (Some(Number::Int(256)), Some(64.0)));
    /// assert_eq!(table::scan(&table).with_condition("x < 100")?.summary("x")?.max, Some(Number::Int(3)));
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    pub fn summary(&self, column: &str) -> Result<Summary> {
        let batches = self.clone().with_columns([column]).batches()?;
        let columns = batches.columns();
        let wanted = column_of(&columns, 0)?;
        check_numbers(wanted)?;
        let mut accumulator = Accumulator::default();
        for batch in batches {
            for data in batch?.columns() {
                accumulator.add_bytes(&wanted.dtype, data.bytes());
            }
        }
        Ok(accumulator.summary(&wanted.dtype))
    }
}

/// Refuses columns that cannot be added or compared.
pub(super) fn check_numbers(column: &Column) -> Result<()> {
    if column.is_ordered() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "column `{}` holds items of type {}, which have no sums",
        column.name, column.dtype
    )))
}

/// Values seen so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accumulator {
    count: u64,
    nulls: u64,
    int_sum: i128,
    int_ends: (i128, i128),
    float_sum: f64,
    /// What rounding took from the sum.
    lost: f64,
    float_ends: (f64, f64),
    mean: f64,
    squares: f64,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self {
            count: 0,
            nulls: 0,
            int_sum: 0,
            int_ends: (i128::MAX, i128::MIN),
            float_sum: 0.0,
            lost: 0.0,
            float_ends: (f64::INFINITY, f64::NEG_INFINITY),
            mean: 0.0,
            squares: 0.0,
        }
    }
}

impl Accumulator {
    /// Adds all values of a column.
    pub(super) fn add_bytes(&mut self, dtype: &DType, bytes: &[u8]) {
        let bytes = numbers(dtype, bytes);
        let ticks = matches!(dtype.kind(), DKind::Datetime { .. } | DKind::Timedelta { .. });
        with_native!(dtype, T => {
            let step = BLOCK * size_of_item(dtype);
            for block in bytes.chunks(step) {
                let each = T::each(block);
                match dtype.kind() {
                    DKind::Float => self.add_floats(each.map(Native::float)),
                    _ => self.add_ints(each.map(Native::int), ticks),
                }
            }
        }, else {});
    }

    /// Adds a single value: groups see their rows one by one.
    pub(super) fn add_one(&mut self, value: Number) {
        match value {
            Number::Int(value) => self.add_ints(std::iter::once(value), false),
            Number::Float(value) => self.add_floats(std::iter::once(value)),
        }
    }

    pub(super) fn add_null(&mut self) {
        self.nulls += 1;
    }

    fn add_ints(&mut self, values: impl Iterator<Item = i128> + Clone, ticks: bool) {
        let is_value = |value: &i128| !ticks || *value != i64::MIN.into();
        let (mut count, mut sum) = (0u64, 0i128);
        let (mut min, mut max) = self.int_ends;
        for value in values.clone() {
            if is_value(&value) {
                count += 1;
                // At most 2⁶⁴ values of 64 bits: 128 bits hold their sum.
                sum = sum.wrapping_add(value);
                (min, max) = (min.min(value), max.max(value));
            } else {
                self.nulls += 1;
            }
        }
        self.int_ends = (min, max);
        self.int_sum = self.int_sum.wrapping_add(sum);
        let mean = sum as f64 / count.max(1) as f64;
        let squares = values.filter(is_value).map(|value| (value as f64 - mean).powi(2)).sum();
        self.merge_moments(count, mean, squares);
    }

    fn add_floats(&mut self, values: impl Iterator<Item = f64> + Clone) {
        let mut lanes = [0f64; LANES];
        let (mut count, mut seen) = (0u64, 0u64);
        let (mut min, mut max) = self.float_ends;
        let mut left = values.clone();
        'values: loop {
            for lane in &mut lanes {
                let Some(value) = left.next() else { break 'values };
                seen += 1;
                if !value.is_nan() {
                    count += 1;
                    *lane += value;
                    (min, max) = (min.min(value), max.max(value));
                }
            }
        }
        self.nulls += seen - count;
        self.float_ends = (min, max);
        let sum: f64 = lanes.iter().sum();
        self.add_corrected(sum);
        let mean = sum / count.max(1) as f64;
        let squares =
            values.filter(|value| !value.is_nan()).map(|value| (value - mean).powi(2)).sum();
        self.merge_moments(count, mean, squares);
    }

    /// Neumaier's sum.
    fn add_corrected(&mut self, value: f64) {
        let sum = self.float_sum + value;
        self.lost += match self.float_sum.abs() >= value.abs() {
            true => (self.float_sum - sum) + value,
            false => (value - sum) + self.float_sum,
        };
        self.float_sum = sum;
    }

    /// Joins the mean and the squares of another set of values (Chan, Golub and LeVeque).
    fn merge_moments(&mut self, count: u64, mean: f64, squares: f64) {
        if count == 0 {
            return;
        }
        let (before, more) = (self.count as f64, count as f64);
        let distance = mean - self.mean;
        self.count += count;
        let total = self.count as f64;
        self.mean += distance * more / total;
        self.squares += squares + distance * distance * before * more / total;
    }

    pub(super) fn summary(&self, dtype: &DType) -> Summary {
        let some = self.count > 0;
        let is_float = dtype.kind() == DKind::Float;
        let float = |value| some.then_some(Number::Float(value));
        let int = |value| some.then_some(Number::Int(value));
        // Beside infinity nothing was lost.
        let lost = if self.float_sum.is_finite() { self.lost } else { 0.0 };
        let (sum, min, max) = match is_float {
            true => {
                let sum = Some(Number::Float(self.float_sum + lost));
                (sum, float(self.float_ends.0), float(self.float_ends.1))
            }
            false => (Some(Number::Int(self.int_sum)), int(self.int_ends.0), int(self.int_ends.1)),
        };
        let (count, nulls) = (self.count, self.nulls);
        Summary { count, nulls, sum, min, max, squares: self.squares }
    }
}

fn size_of_item(dtype: &DType) -> usize {
    dtype.item_size().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{MemoryTable, scan};

    fn of<T: crate::dtype::Element>(values: &[T]) -> Summary {
        let table = MemoryTable::new().with_values("x", values).unwrap();
        scan(&table).summary("x").unwrap()
    }

    #[test]
    fn integers_are_added_exactly() {
        let all = of(&vec![u64::MAX; 5000]);
        assert_eq!(all.sum, Some(Number::Int(i128::from(u64::MAX) * 5000)));
        assert_eq!((all.count, all.nulls, all.std(0)), (5000, 0, Some(0.0)));
        let mixed = of(&[i64::MIN, i64::MAX, -5]);
        assert_eq!(mixed.sum, Some(Number::Int(-6)));
        assert_eq!(mixed.min, Some(Number::Int(i64::MIN.into())));
        assert_eq!(mixed.max, Some(Number::Int(i64::MAX.into())));
    }

    #[test]
    fn floats_do_not_lose_what_is_small() {
        let plain = of(&vec![0.1f64; 1_000_000]);
        assert!((plain.sum.unwrap().to_f64() - 100_000.0).abs() < 1e-9);
        let one_by_one = {
            let mut sum = Accumulator::default();
            for value in [1.0, 1e100, 1.0, -1e100] {
                sum.add_one(Number::Float(value));
            }
            sum.summary(&DType::of::<f64>())
        };
        assert_eq!(one_by_one.sum, Some(Number::Float(2.0)));
    }

    #[test]
    fn means_and_deviations_are_those_of_the_definition() {
        let values: Vec<f32> = (0..5000).map(|i| (i % 97) as f32 * 0.5 + 1e4).collect();
        let all = of(&values);
        let mean = values.iter().map(|x| f64::from(*x)).sum::<f64>() / 5000.0;
        let variance = values.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / 5000.0;
        assert!((all.mean().unwrap() - mean).abs() < 1e-9);
        assert!((all.variance(0).unwrap() - variance).abs() < 1e-9);
        assert!((all.variance(1).unwrap() - variance * 5000.0 / 4999.0).abs() < 1e-9);
    }

    #[test]
    fn nulls_are_counted_and_left_out() {
        let all = of(&[1.0, f64::NAN, 3.0]);
        assert_eq!((all.count, all.nulls, all.mean()), (2, 1, Some(2.0)));
        let none = of(&[f64::NAN]);
        assert_eq!((none.count, none.mean(), none.min, none.std(0)), (0, None, None, None));
        assert_eq!(of(&[f64::INFINITY, 1.0]).sum, Some(Number::Float(f64::INFINITY)));
        let dtype = DType::parse("<M8[D]").unwrap();
        let days: Vec<u8> = [5i64, i64::MIN, 3].iter().flat_map(|x| x.to_le_bytes()).collect();
        let table = MemoryTable::new().with_column(Column::new("d", dtype), days).unwrap();
        let days = scan(&table).summary("d").unwrap();
        assert_eq!((days.count, days.nulls, days.min), (2, 1, Some(Number::Int(3))));
    }

    #[test]
    fn text_has_no_sum() {
        let column = Column::new("s", DType::parse("S1").unwrap());
        let table = MemoryTable::new().with_column(column, vec![65]).unwrap();
        let error = scan(&table).summary("s").unwrap_err();
        assert!(error.to_string().contains("have no sums"));
    }
}
