//! Rows that have something in common.

use std::collections::HashMap;

use super::aggregate::{Accumulator, Summary, check_numbers};
use super::keys::Keys;
use super::memory::MemoryTable;
use super::number::Number;
use super::scan::{Batch, Scan};
use super::source::Column;
use super::values::{Native, numbers, with_native};
use crate::dtype::{DKind, DType};
use crate::error::{Error, MustGet, OrBug, Result};

/// What is computed of each group.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// How many values there are; nulls do not count.
    Count,
    /// The sum: integers stay integers.
    Sum,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
    /// The mean.
    Mean,
    /// The standard deviation of the population.
    Std,
}

/// A [`Measure`] of a column, and the name of the column that it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    measure: Measure,
    column: String,
    name: String,
}

impl Aggregate {
    /// A measure of a column; the result is called like `sum(volume)`.
    pub fn new(measure: Measure, column: impl Into<String>) -> Self {
        let column = column.into();
        let word = format!("{measure:?}").to_lowercase();
        Self { measure, name: format!("{word}({column})"), column }
    }

    /// The name of the column that is measured.
    #[must_use]
    pub fn column(&self) -> &str {
        &self.column
    }

    /// The same with another name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}

impl Scan<'_> {
    /// A row for each combination of values of the columns `by`, in the order in which they first
    /// occur: these values, the number of rows (`count`), and the aggregates. NaN and NaT are one
    /// value each. A group that has nothing but nulls has the measures of nothing: NaN, NaT, or 0.
    ///
    /// ```
    /// use superchunk::table::{self, Aggregate, Measure, MemoryTable};
    ///
    /// let table = MemoryTable::new()
    ///     .with_values("id", &[7u8, 9, 7])?
    ///     .with_values("volume", &[100u32, 50, 11])?;
    /// let sums = table::scan(&table).group_by(&["id"], &[Aggregate::new(Measure::Sum, "volume")])?;
    /// let all = table::scan(&sums).batches()?.next().unwrap()?;
    /// assert_eq!(all.values::<u8>("id")?, [7, 9]);
    /// assert_eq!(all.values::<u64>("count")?, [2, 1]);
    /// assert_eq!(all.values::<i64>("sum(volume)")?, [111, 50]);
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    pub fn group_by(&self, by: &[&str], aggregates: &[Aggregate]) -> Result<MemoryTable> {
        let groups = self.groups(by, aggregates)?;
        let counts = bytemuck::cast_slice(&groups.rows).to_vec();
        let mut table = groups.key_table()?;
        table = table.with_column(Column::new("count", DType::of::<u64>()), counts)?;
        for aggregate in aggregates {
            let (column, bytes) = groups.result(aggregate)?;
            table = table.with_column(column, bytes)?;
        }
        Ok(table)
    }

    /// The different combinations of values of these columns, in the order in which they first occur.
    pub fn distinct(&self, columns: &[&str]) -> Result<MemoryTable> {
        self.groups(columns, &[])?.key_table()
    }

    fn groups(&self, by: &[&str], aggregates: &[Aggregate]) -> Result<Groups> {
        let mut names: Vec<&str> = by.to_vec();
        for aggregate in aggregates {
            if !names.contains(&aggregate.column.as_str()) {
                names.push(&aggregate.column);
            }
        }
        let batches = self.clone().with_columns(names).batches()?;
        let columns = batches.columns();
        let keys: Vec<Column> = columns.iter().take(by.len()).cloned().collect();
        let measured: Vec<Column> = columns
            .into_iter()
            .filter(|column| aggregates.iter().any(|wanted| wanted.column == column.name))
            .collect();
        measured.iter().try_for_each(check_numbers)?;
        let mut groups = Groups::new(keys, measured);
        for batch in batches {
            groups.add(&batch?)?;
            self.check_memory(groups.memory())?;
        }
        Ok(groups)
    }
}

/// The groups found so far.
struct Groups {
    keys: Vec<Column>,
    measured: Vec<Column>,
    /// The number of the group of a combination of keys.
    places: HashMap<Vec<u8>, usize>,
    /// The values of each group as they are stored, by key column.
    values: Vec<Vec<u8>>,
    rows: Vec<u64>,
    /// As many a group as there are measured columns.
    accumulators: Vec<Accumulator>,
}

impl Groups {
    fn new(keys: Vec<Column>, measured: Vec<Column>) -> Self {
        let values = keys.iter().map(|_| Vec::new()).collect();
        let (rows, accumulators) = (Vec::new(), Vec::new());
        Self { keys, measured, places: HashMap::new(), values, rows, accumulators }
    }

    fn memory(&self) -> usize {
        let key: usize = self.keys.iter().map(Column::row_size).sum();
        let group = 2 * key + 64 + self.measured.len() * size_of::<Accumulator>();
        self.rows.len().saturating_mul(group)
    }

    fn add(&mut self, batch: &Batch) -> Result<()> {
        let members = self.members(batch)?;
        let measured = self.measured.len();
        for (index, column) in self.measured.iter().enumerate() {
            let data = batch.column(&column.name)?;
            let bytes = numbers(&column.dtype, data.bytes());
            let accumulators = &mut self.accumulators;
            let mut add = |group: &usize, value: Option<Number>| -> Result<()> {
                let accumulator = accumulators.must_get_mut(group * measured + index)?;
                match value {
                    Some(value) => accumulator.add_one(value),
                    None => accumulator.add_null(),
                }
                Ok(())
            };
            let dtype = &column.dtype;
            with_native!(dtype, T => {
                for (group, value) in members.iter().zip(T::each(&bytes)) {
                    add(group, number(dtype, value))?;
                }
            }, else return Err(Error::unsupported("no numbers")));
        }
        Ok(())
    }

    /// The group of each row of a batch; new ones are added.
    fn members(&mut self, batch: &Batch) -> Result<Vec<usize>> {
        let keys = self
            .keys
            .iter()
            .map(|column| Keys::of(column, batch.column(&column.name)?.bytes(), false));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let mut members = Vec::with_capacity(batch.len());
        let mut key = Vec::new();
        // Rows often follow others of the same group.
        let (mut last_key, mut last): (Vec<u8>, Option<usize>) = (Vec::new(), None);
        for row in 0..batch.len() {
            key.clear();
            keys.iter().for_each(|column| key.extend_from_slice(column.get(row)));
            let group = match last {
                Some(last) if last_key == key => last,
                _ => match self.places.get(&key) {
                    Some(known) => *known,
                    None => self.begin(&key, batch, row)?,
                },
            };
            *self.rows.must_get_mut(group)? += 1;
            std::mem::swap(&mut last_key, &mut key);
            last = Some(group);
            members.push(group);
        }
        Ok(members)
    }

    /// A new group, of which a row is the first.
    fn begin(&mut self, key: &[u8], batch: &Batch, row: usize) -> Result<usize> {
        for (column, values) in self.keys.iter().zip(&mut self.values) {
            values.extend_from_slice(
                batch.column(&column.name)?.row(row).or_bug("a batch has each of its rows")?,
            );
        }
        let group = self.rows.len();
        self.places.insert(key.to_vec(), group);
        self.rows.push(0);
        let accumulators = self.accumulators.len() + self.measured.len();
        self.accumulators.resize(accumulators, Accumulator::default());
        Ok(group)
    }

    fn key_table(&self) -> Result<MemoryTable> {
        let mut pairs = self.keys.iter().zip(&self.values);
        pairs.try_fold(MemoryTable::new(), |table, (column, bytes)| {
            table.with_column(column.clone().with_chunk_rows(0), bytes.clone())
        })
    }

    /// A measure of all groups as a column.
    fn result(&self, aggregate: &Aggregate) -> Result<(Column, Vec<u8>)> {
        let index = super::source::find_column(&self.measured, &aggregate.column)?;
        let column = super::source::column_of(&self.measured, index)?;
        let own = self.accumulators.iter().skip(index).step_by(self.measured.len().max(1));
        let summaries = own.map(|accumulator| accumulator.summary(&column.dtype));
        let values: Vec<Option<Number>> =
            summaries.map(|summary| measured(aggregate.measure, &summary)).collect();
        let dtype = result_type(aggregate.measure, &column.dtype, &values)?;
        let nothing = nothing(&dtype);
        let bytes = values.iter().flat_map(|value| {
            value.and_then(|value| value.to_item(&dtype)).unwrap_or_else(|| nothing.clone())
        });
        let bytes = bytes.collect();
        Ok((Column::new(&aggregate.name, dtype), bytes))
    }
}

fn number<T: Native>(dtype: &DType, value: T) -> Option<Number> {
    match dtype.kind() {
        DKind::Float => Some(value.float()).filter(|value| !value.is_nan()).map(Number::Float),
        DKind::Datetime { .. } | DKind::Timedelta { .. } => {
            Some(value.int()).filter(|value| *value != i64::MIN.into()).map(Number::Int)
        }
        _ => Some(Number::Int(value.int())),
    }
}

fn measured(measure: Measure, summary: &Summary) -> Option<Number> {
    match measure {
        Measure::Count => Some(Number::Int(summary.count.into())),
        Measure::Sum => summary.sum,
        Measure::Min => summary.min,
        Measure::Max => summary.max,
        Measure::Mean => summary.mean().map(Number::Float),
        Measure::Std => summary.std(0).map(Number::Float),
    }
}

/// Sums of integers get 64 bits, with a sign if that is enough; if nothing is, they become floats.
fn result_type(measure: Measure, column: &DType, values: &[Option<Number>]) -> Result<DType> {
    let fit = |dtype: &DType| values.iter().flatten().all(|value| value.to_item(dtype).is_some());
    Ok(match (measure, column.kind()) {
        (Measure::Count, _) => DType::of::<u64>(),
        (Measure::Mean | Measure::Std, _) => DType::of::<f64>(),
        // A half has no item of its own here.
        (Measure::Min | Measure::Max, DKind::Float) if column.item_size() == 2 => {
            DType::of::<f32>()
        }
        (Measure::Min | Measure::Max, _) => column.clone(),
        (Measure::Sum, DKind::Float) => DType::of::<f64>(),
        (Measure::Sum, DKind::Timedelta { .. }) if fit(column) => column.clone(),
        (Measure::Sum, DKind::Datetime { .. }) => {
            return Err(Error::unsupported("moments are not added"));
        }
        (Measure::Sum, _) => {
            let types = [DType::of::<i64>(), DType::of::<u64>()];
            types.into_iter().find(fit).unwrap_or_else(DType::of::<f64>)
        }
    })
}

/// The item that stands for no value.
fn nothing(dtype: &DType) -> Vec<u8> {
    let value = match dtype.kind() {
        DKind::Float => Number::Float(f64::NAN),
        DKind::Datetime { .. } | DKind::Timedelta { .. } => Number::Int(i64::MIN.into()),
        _ => Number::Int(0),
    };
    value.to_item(dtype).unwrap_or_else(|| vec![0; dtype.item_size()])
}

#[cfg(test)]
mod tests;
