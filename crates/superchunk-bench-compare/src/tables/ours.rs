//! What superchunk does with the table, in a folder as bcolz makes it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use superchunk::bcolz::{ArrayOptions, Table, TableOptions};
use superchunk::frame::Durability;
use superchunk::table::{self, Batch};
use superchunk::{DType, Error, OpenOptions, Result};

use super::data::{Data, number};
use super::{Appends, Outcome};
use crate::rounds::{Times, set_aside};

/// Our side: the data, and the folder that holds it as a table.
pub(super) struct Ours<'a> {
    pub(super) data: &'a Data,
    pub(super) path: PathBuf,
}

impl Ours<'_> {
    /// Makes the table from columns in memory; then tells its rows.
    pub(super) fn make(&self, durability: Durability, bounds: bool) -> Outcome {
        set_aside(&self.path)?;
        let (made, times) =
            Times::of(|| self.create(&self.path, 0..self.data.rows, durability, bounds));
        let rows = made.and_then(|()| Table::open(&self.path)).map_err(told)?.len();
        Ok((rows as f64, times))
    }

    /// Appends batches to a table that has one; then tells the sum of `price`.
    pub(super) fn append(&self, appends: Appends, durability: Durability) -> Outcome {
        let path = self.path.with_extension("append");
        set_aside(&path)?;
        self.create(&path, 0..appends.rows, Durability::Process, false).map_err(told)?;
        let work = || -> Result<()> {
            let options = OpenOptions::new().with_durability(durability);
            let mut table = Table::edit_with(&path, &options)?;
            for batch in 1..=appends.count {
                table.append(&self.part(batch * appends.rows..(batch + 1) * appends.rows)?)?;
                if appends.commit_each {
                    table.commit()?;
                }
            }
            table.close()
        };
        let (done, times) = Times::of(work);
        let sum = done.and_then(|()| {
            let table = Table::open(&path)?;
            let source = table.source();
            sum_of(table::scan(&source).with_columns(["price"]).batches()?)
        });
        Ok((sum.map_err(told)?, times))
    }

    /// Opens the table and adds two columns.
    pub(super) fn scan(&self) -> Outcome {
        timed(|| {
            let table = Table::open(&self.path)?;
            let source = table.source();
            sum_of(table::scan(&source).with_columns(["price", "volume"]).batches()?)
        })
    }

    /// The same by the ready-made summary, which also finds least, greatest and variance.
    pub(super) fn summaries(&self) -> Outcome {
        timed(|| {
            let table = Table::open(&self.path)?;
            let source = table.source();
            let sum = |column| -> Result<f64> {
                let sum = table::scan(&source).summary(column)?.sum;
                sum.map(|sum| sum.to_f64()).ok_or_else(|| Error::invalid("no sum"))
            };
            Ok(sum("price")? + sum("volume")?)
        })
    }

    /// Opens the table and adds `price` where a column is in a range.
    pub(super) fn where_in(&self, column: &str, range: [usize; 2]) -> Outcome {
        let [low, high] = range;
        timed(|| {
            let table = Table::open(&self.path)?;
            let source = table.source();
            let condition = format!("{column} >= {low} and {column} < {high}");
            sum_of(
                table::scan(&source)
                    .with_condition(&condition)?
                    .with_columns(["price"])
                    .batches()?,
            )
        })
    }

    /// Reads whole rows of the open table, one by one; then adds all up.
    pub(super) fn one_by_one(&self) -> Outcome {
        let table = Table::open(&self.path).map_err(told)?;
        let arrays = table.arrays();
        let row_len = arrays.iter().map(|(_, array)| array.row_size()).sum();
        let work = || -> Result<Vec<Vec<u8>>> {
            let read = |row: &usize| {
                let (mut bytes, row) = (vec![0; row_len], *row as u64);
                let mut rest = bytes.as_mut_slice();
                for (_, array) in &arrays {
                    let (value, behind) = rest
                        .split_at_mut_checked(array.row_size())
                        .ok_or_else(|| Error::invalid("a row is longer than its columns"))?;
                    array.read_rows(row..row + 1, value)?;
                    rest = behind;
                }
                Ok(bytes)
            };
            self.data.picks.iter().map(read).collect()
        };
        let (rows, times) = Times::of(work);
        let rows = rows.map_err(told)?;
        let sum = rows.iter().map(|row| self.sum_of_row(row)).sum();
        Ok((sum, times))
    }

    fn create(
        &self,
        path: &Path,
        rows: Range<usize>,
        durability: Durability,
        bounds: bool,
    ) -> Result<()> {
        let mut options = TableOptions::new().with_durability(durability);
        for column in &self.data.columns {
            let array = ArrayOptions::new(DType::parse(column.dtype)?);
            let array = array.with_expected_len(self.data.rows as u64);
            options = options.with_column(&column.name, array);
        }
        if bounds {
            options = options.with_bounds();
        }
        let mut table = Table::create(path, &options)?;
        table.append(&self.part(rows)?)?;
        table.close()
    }

    /// Some rows of all columns.
    fn part(&self, rows: Range<usize>) -> Result<Vec<(&str, &[u8])>> {
        let parts = self.data.columns.iter().map(|column| {
            let size = column.bytes.len() / self.data.rows;
            let bytes = column.bytes.get(rows.start * size..rows.end * size);
            bytes.map(|bytes| (column.name.as_str(), bytes))
        });
        parts.collect::<Option<_>>().ok_or_else(|| Error::invalid("there are not so many rows"))
    }

    fn sum_of_row(&self, row: &[u8]) -> f64 {
        let mut rest = row;
        let values = self.data.columns.iter().filter_map(|column| {
            let (value, behind) = rest.split_at_checked(column.bytes.len() / self.data.rows)?;
            rest = behind;
            number(column.dtype, value)
        });
        values.sum()
    }
}

fn timed(work: impl FnOnce() -> Result<f64>) -> Outcome {
    let (sum, times) = Times::of(work);
    sum.map(|sum| (sum, times)).map_err(told)
}

/// The sum of all columns of all batches.
fn sum_of(batches: impl Iterator<Item = Result<Batch>>) -> Result<f64> {
    let mut sum = 0.0;
    for batch in batches {
        for column in batch?.columns() {
            sum += match column.dtype().to_string().as_str() {
                "<i8" => column.values::<i64>()?.iter().sum::<i64>() as f64,
                _ => sum_of_floats(&column.values()?),
            };
        }
    }
    Ok(sum)
}

/// Eight sums side by side, as the processor can, and NumPy does.
fn sum_of_floats(values: &[f64]) -> f64 {
    let (groups, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for group in groups {
        for (sum, value) in sums.iter_mut().zip(group) {
            *sum += value;
        }
    }
    sums.iter().chain(rest).sum()
}

fn told(error: Error) -> String {
    error.to_string()
}
