//! A table in memory.

use std::fmt;
use std::ops::Range;

use super::bounds::Bounds;
use super::source::{Column, Source, check_rows, column_of};
use crate::dtype::{DType, Element};
use crate::error::{Error, MustGet, Result};

/// A table whose columns are bytes in memory: a result, an import, a test.
///
/// ```
/// use superchunk::table::{self, MemoryTable};
///
/// let table = MemoryTable::new()
///     .with_values("day", &[1u32, 2, 3])?
///     .with_values("close", &[10.5f64, 9.0, 12.25])?;
/// let high = table::scan(&table).with_condition("close > 10")?.count()?;
/// assert_eq!(high, 2);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct MemoryTable {
    columns: Vec<Column>,
    content: Vec<Content>,
    rows: Option<u64>,
}

#[derive(Clone)]
struct Content {
    bytes: Vec<u8>,
    bounds: Vec<Option<Bounds>>,
}

impl fmt::Debug for MemoryTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTable")
            .field("rows", &self.rows)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl MemoryTable {
    /// A table without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same table with one more column, whose rows lie in `bytes` one after the other.
    pub fn with_column(mut self, column: Column, bytes: Vec<u8>) -> Result<Self> {
        let (name, size) = (&column.name, column.row_size());
        if self.columns.iter().any(|other| other.name == *name) {
            return Err(Error::invalid(format!("there are two columns `{name}`")));
        }
        let rows = match size {
            0 => self.rows.unwrap_or(0),
            _ if !bytes.len().is_multiple_of(size) => {
                return Err(Error::invalid(format!(
                    "column `{name}` has {} bytes, which are no whole rows of {size}",
                    bytes.len()
                )));
            }
            _ => (bytes.len() / size) as u64,
        };
        if let Some(others) = self.rows.filter(|others| *others != rows) {
            return Err(Error::invalid(format!(
                "column `{name}` has {rows} rows, the columns before it have {others}"
            )));
        }
        self.rows = Some(rows);
        self.columns.push(column);
        self.content.push(Content { bytes, bounds: Vec::new() });
        Ok(self)
    }

    /// The same table with one more column of numbers.
    pub fn with_values<T: Element>(self, name: &str, values: &[T]) -> Result<Self> {
        let bytes = bytemuck::cast_slice(values).to_vec();
        self.with_column(Column::new(name, DType::of::<T>()), bytes)
    }

    /// The same table with the bounds of every chunk of every column, so that scans can skip.
    pub fn with_bounds(mut self) -> Result<Self> {
        for index in 0..self.columns.len() {
            let bounds = super::bounds::of_column(&self, index)?;
            self.content.must_get_mut(index)?.bounds = bounds;
        }
        Ok(self)
    }

    /// All bytes of a column.
    #[must_use]
    pub fn bytes(&self, column: usize) -> Option<&[u8]> {
        self.content.get(column).map(|content| content.bytes.as_slice())
    }

    fn content(&self, column: usize) -> Result<(&Content, usize)> {
        let size = column_of(&self.columns, column)?.row_size();
        let content = self.content.get(column);
        content.map(|content| (content, size)).ok_or_else(|| Error::invalid("no such column"))
    }
}

impl Source for MemoryTable {
    fn rows(&self) -> u64 {
        self.rows.unwrap_or(0)
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        check_rows(&rows, self.rows())?;
        let (content, size) = self.content(column)?;
        // The rows are there, so their positions fit.
        let place = |row: u64| usize::try_from(row).unwrap_or(usize::MAX).saturating_mul(size);
        let bytes = content.bytes.must_get(place(rows.start)..place(rows.end))?;
        let room = dst.len();
        let dst = dst.get_mut(..bytes.len()).ok_or_else(|| {
            Error::invalid(format!("{} bytes, the buffer has {room}", bytes.len()))
        })?;
        dst.copy_from_slice(bytes);
        Ok(())
    }

    fn bounds(&self, column: usize, chunk: u64) -> Option<Bounds> {
        let bounds = &self.content.get(column)?.bounds;
        *bounds.get(usize::try_from(chunk).ok()?)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_must_have_whole_and_equally_many_rows() {
        let table = || MemoryTable::new().with_values("a", &[1i16, 2, 3]).unwrap();
        let odd = table().with_column(Column::new("b", DType::of::<i32>()), vec![0; 13]);
        assert!(odd.unwrap_err().to_string().contains("no whole rows of 4"));
        let short = table().with_values("b", &[1u8]).unwrap_err();
        assert!(short.to_string().contains("1 rows, the columns before it have 3"));
        let twice = table().with_values("a", &[1u8, 2, 3]).unwrap_err();
        assert!(twice.to_string().contains("two columns `a`"));
        assert_eq!(table().rows(), 3);
    }

    #[test]
    fn ranges_and_single_rows_are_read() {
        let table = MemoryTable::new().with_values("a", &[10u8, 11, 12, 13, 14]).unwrap();
        let mut some = [0; 3];
        table.read(0, 1..4, &mut some).unwrap();
        assert_eq!(some, [11, 12, 13]);
        table.gather(0, &[4, 0, 1], &mut some).unwrap();
        assert_eq!(some, [14, 10, 11]);
        assert!(table.read(0, 3..6, &mut some).is_err());
        assert!(table.gather(0, &[5], &mut some).is_err());
        assert!(table.gather(0, &[0, 1], &mut some[..1]).is_err());
        assert!(table.read(1, 0..1, &mut some).is_err());
    }
}
