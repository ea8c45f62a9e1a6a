//! Rows of a table: all columns together.

use std::ops::Range;

use super::Table;
use crate::dtype::Element;
use crate::error::{Error, Result};

impl Table {
    /// Decodes rows of one column into the start of `dst`.
    pub fn read_rows(&self, column: &str, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.array(column)?.read_rows(rows, dst)
    }

    /// Appends rows: the bytes of each column, all of which must be there and have the same number of
    /// rows.
    pub fn append(&mut self, columns: &[(&str, &[u8])]) -> Result<()> {
        self.check_whole()?;
        let parts = self.matched(columns)?;
        let old = self.row_count();
        let mut arrays: Vec<_> = self.arrays_mut().into_iter().map(|(_, array)| array).collect();
        let done = arrays.iter_mut().zip(&parts).try_for_each(|(array, bytes)| array.append(bytes));
        let Err(error) = done else { return Ok(()) };
        // As if nothing had happened.
        let mut longer = arrays.into_iter().filter(|array| array.row_count() > old);
        let undone = longer.try_for_each(|array| array.resize(old));
        self.broken = undone.is_err();
        Err(error)
    }

    /// Overwrites rows of one column from `start` on; they must exist.
    pub fn write_rows(&mut self, column: &str, start: u64, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        self.array_mut(column)?.write_rows(start, bytes)
    }

    /// Overwrites rows of one column with items of its type.
    pub fn write_items<T: Element>(&mut self, column: &str, start: u64, items: &[T]) -> Result<()> {
        self.check_writable()?;
        self.array_mut(column)?.write_items(start, items)
    }

    /// Makes it `rows` rows long: cuts, or appends rows of the default values.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.check_whole()?;
        let mut arrays = self.arrays_mut().into_iter();
        let done = arrays.try_for_each(|(_, array)| array.resize(rows));
        self.broken |= done.is_err();
        done
    }

    /// The bytes for each array, in their order; each must be named once.
    fn matched<'b>(&self, columns: &[(&str, &'b [u8])]) -> Result<Vec<&'b [u8]>> {
        let arrays = self.arrays();
        if let Some((extra, _)) = columns.iter().find(|(name, _)| self.array(name).is_err()) {
            return Err(self.no_column(extra));
        }
        let mut count = None;
        let mut matched = Vec::with_capacity(arrays.len());
        for (path, array) in &arrays {
            let mut named = columns.iter().filter(|(name, _)| name == path);
            let (Some((_, bytes)), None) = (named.next(), named.next()) else {
                let words = format!("the rows must have column `{path}` exactly once");
                return Err(Error::invalid(words).within(self.home.name()));
            };
            let rows = bytes.len().checked_div(array.row_size()).unwrap_or(0);
            if *count.get_or_insert(rows) != rows {
                let words =
                    format!("column `{path}` comes with {rows} rows, others with other many");
                return Err(Error::invalid(words).within(self.home.name()));
            }
            matched.push(*bytes);
        }
        Ok(matched)
    }
}
