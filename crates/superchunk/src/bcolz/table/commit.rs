//! All columns in one step.
//!
//! ```text
//! chunks of all columns │ intent │ sizes, the first column last │ intent goes        grow
//! (nothing)             │ intent │ sizes, the first column first │ intent goes │ chunks go   shrink
//! ```
//!
//! bcolz takes the length of a table from its first column, so in every moment all columns have at
//! least the rows that it sees.

use std::sync::Arc;

use super::{Column, Table};
use crate::carray::{Attrs, Home, Intent, Staged};
use crate::error::Result;

impl Table {
    /// Makes all changes durable. New rows of all columns become visible in one step: an interrupted
    /// commit leaves the old table, or one that every later opening completes.
    pub fn commit(&mut self) -> Result<()> {
        self.check_writable()?;
        let committed = self.commit_columns();
        self.broken = committed.is_err();
        committed.map_err(|error| error.within(self.home.name()))
    }

    /// Commits and closes. Dropping the table does the same, but cannot tell of errors.
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    /// Commits, and writes down what only a later reader needs.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.check_writable()?;
        let packed = self.arrays_mut().into_iter().try_for_each(|(_, array)| array.pack());
        self.broken |= packed.is_err();
        packed.map_err(|error| error.within(self.home.name()))?;
        self.commit()?;
        self.write_notes()
    }

    fn commit_columns(&mut self) -> Result<()> {
        self.write_attrs()?;
        let mut staged = Vec::new();
        let mut count = 0;
        for (path, array) in self.arrays_mut() {
            array.commit()?;
            count += 1;
            staged.extend(array.control.take().map(|half| (path, array.home.clone(), half)));
        }
        let changed = |(_, _, half): &(String, Arc<Home>, Staged)| half.old_rows != half.sizes.rows;
        if count < 2 || !staged.iter().any(changed) {
            return staged.into_iter().try_for_each(|(_, home, half)| half.finish(&home));
        }
        let columns =
            staged.iter().map(|(path, _, half)| (path.clone(), half.old_rows, half.sizes.rows));
        let intent = Intent { columns: columns.collect(), rename: None };
        let root = self.home.root()?;
        self.home.replace(root.as_ref(), Intent::FILE, &intent.write())?;
        let shrinks = staged.iter().any(|(_, _, half)| half.sizes.rows < half.old_rows);
        if !shrinks {
            staged.reverse();
        }
        for (_, home, half) in staged {
            half.finish(&home)?;
        }
        root.remove(Intent::FILE)?;
        self.home.sync(root.as_ref())
    }

    fn write_attrs(&mut self) -> Result<()> {
        for (_, column) in &mut self.columns {
            if let Column::Table(table) = column {
                table.write_attrs()?;
            }
        }
        if self.attrs.is_changed() {
            let root = self.home.root()?;
            self.home.replace(root.as_ref(), Attrs::FILE, &self.attrs.write())?;
            self.attrs.settle();
        }
        Ok(())
    }
}
