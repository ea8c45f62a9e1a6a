//! All columns in one step.
//!
//! ```text
//! chunks of all columns, new sizes beside the old ones │ intent │ sizes take their places │ intent goes
//! ```
//!
//! The intent is the commit: from then on every reader takes the new lengths, and every writer
//! completes them. All space is taken before it, so that only names change afterwards, one directly
//! after the other: bcolz, which knows no intents, sees columns of different lengths only if the
//! process ends between two of them. bcolz takes the length of a table from its first column. That
//! one is the last to grow and the first to shrink, so in every moment all columns have at least
//! the rows that it sees.

use std::sync::Arc;

use super::{Table, TableColumn};
use crate::carray::{Home, Intent, Staged};
use crate::error::{Error, ErrorKind, Result};

/// What is left to do for a column.
type Half = (String, Arc<Home>, Staged);

impl Table {
    /// Makes all changes durable. New rows of all columns become visible in one step: an interrupted
    /// commit leaves the old table, or one that every later opening completes.
    ///
    /// When completing fails, the rows are committed nevertheless and this returns `Ok`:
    /// [`unfinished`](Self::unfinished) reports the failure.
    pub fn commit(&mut self) -> Result<()> {
        self.check_writable()?;
        let committed = self.commit_columns();
        self.broken = committed.is_err() || self.unfinished.is_some();
        committed.map_err(|error| error.within(self.home.name()))
    }

    /// Commits and closes. What was not committed when a table is dropped is discarded.
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    /// What the last commit could not complete. Its rows are in the table and every reader of this
    /// library sees them; the next writer completes it, or [`recover`](crate::recover).
    #[must_use]
    pub fn unfinished(&self) -> Option<&Error> {
        self.unfinished.as_ref()
    }

    /// Commits, and writes down what only a later reader needs.
    pub(in crate::bcolz) fn finish(&mut self) -> Result<()> {
        self.check_writable()?;
        let packed = self.arrays_mut().into_iter().try_for_each(|(_, array)| array.pack());
        self.broken |= packed.is_err();
        packed.map_err(|error| error.within(self.home.name()))?;
        self.commit()?;
        // The rows are in. Bounds that are missing only cost time.
        let _ = self.write_notes();
        Ok(())
    }

    fn commit_columns(&mut self) -> Result<()> {
        let mut halves = Vec::new();
        let staged = self.stage_columns(&mut halves);
        let intent = staged.and_then(|()| self.write_intent(&halves));
        let has_intent = match intent {
            Ok(has_intent) => has_intent,
            Err(error) if error.kind() == ErrorKind::DurabilityUnknown => return Err(error),
            Err(error) => {
                halves.iter().for_each(|(_, home, half)| half.cancel(home));
                self.cancel_attrs();
                return Err(error);
            }
        };
        let shrinks = halves.iter().any(|(_, _, half)| half.sizes.rows < half.old_rows);
        if !shrinks {
            halves.reverse();
        }
        let finished = halves.into_iter().try_for_each(|(_, home, half)| half.finish(&home));
        let finished = finished.and_then(|()| self.publish_attrs());
        if !has_intent {
            return finished;
        }
        let removed = finished.and_then(|()| {
            let root = self.home.root()?;
            root.remove(Intent::FILE)?;
            self.home.sync(root.as_ref())
        });
        self.unfinished = removed.err();
        Ok(())
    }

    /// Places the chunks of all columns and takes the space of everything else.
    fn stage_columns(&mut self, halves: &mut Vec<Half>) -> Result<()> {
        self.prepare_attrs()?;
        for (path, array) in self.arrays_mut() {
            array.stage()?;
            halves.extend(array.control.take().map(|half| (path, array.home.clone(), half)));
        }
        halves.iter_mut().try_for_each(|(_, home, half)| half.prepare(home))
    }

    /// Commits new lengths of several columns; returns whether that was necessary.
    fn write_intent(&self, halves: &[Half]) -> Result<bool> {
        let changes = |(_, _, half): &Half| half.old_rows != half.sizes.rows;
        if self.arrays().len() < 2 || !halves.iter().any(changes) {
            return Ok(false);
        }
        let columns =
            halves.iter().map(|(path, _, half)| (path.clone(), half.old_rows, half.sizes.rows));
        let intent = Intent { columns: columns.collect(), rename: None };
        let root = self.home.root()?;
        self.home.replace(root.as_ref(), Intent::FILE, &intent.write())?;
        Ok(true)
    }

    fn prepare_attrs(&self) -> Result<()> {
        self.tables().try_for_each(Self::prepare_attrs)?;
        self.attrs.prepare(&self.home)
    }

    fn cancel_attrs(&self) {
        self.tables().for_each(Self::cancel_attrs);
        self.attrs.cancel(&self.home);
        self.arrays().iter().for_each(|(_, array)| array.cancel_attrs());
    }

    fn publish_attrs(&mut self) -> Result<()> {
        for (_, column) in &mut self.columns {
            match column {
                TableColumn::Array(array) => array.publish_attrs()?,
                TableColumn::Table(table) => table.publish_attrs()?,
            }
        }
        self.attrs.publish(&self.home)
    }

    /// Whether anything waits for a commit.
    pub(super) fn is_dirty(&self) -> bool {
        self.attrs.has_changed()
            || self.tables().any(Self::is_dirty)
            || self.arrays().iter().any(|(_, array)| array.is_dirty())
    }

    /// The tables that are columns of this one.
    fn tables(&self) -> impl Iterator<Item = &Self> {
        self.columns.iter().filter_map(|(_, column)| match column {
            TableColumn::Table(table) => Some(&**table),
            TableColumn::Array(_) => None,
        })
    }
}
