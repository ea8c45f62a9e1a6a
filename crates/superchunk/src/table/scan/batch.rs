//! Rows that a scan found.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::zeroed_vec;

use crate::dtype::{ByteOrder, DType, Element};
use crate::error::{Error, MustGet, Result};
use crate::table::source::{Column, find_column};
use crate::table::values::in_order;
use crate::text::Bytes;

/// Some of the rows of a scan: their numbers and their columns.
#[derive(Clone)]
pub struct Batch {
    rows: Rows,
    columns: Vec<ColumnData>,
}

/// Which rows.
#[derive(Clone)]
pub(super) enum Rows {
    All(Range<u64>),
    Some(Vec<u64>),
}

/// The values of a column in a [`Batch`].
#[derive(Clone)]
pub struct ColumnData {
    column: Arc<Column>,
    bytes: Vec<u8>,
}

impl fmt::Debug for ColumnData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnData")
            .field("column", &self.column)
            .field("bytes", &Bytes(&self.bytes))
            .finish()
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("len", &self.len())
            .field("first_row", &self.first_row())
            .field("columns", &self.columns)
            .finish()
    }
}

impl Batch {
    pub(super) fn new(rows: Rows, columns: Vec<ColumnData>) -> Self {
        Self { rows, columns }
    }

    /// How many rows it has; never 0 in a batch of a scan.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of its first row in the source.
    #[must_use]
    pub fn first_row(&self) -> u64 {
        match &self.rows {
            Rows::All(rows) => rows.start,
            Rows::Some(rows) => rows.first().map_or(0, |first| *first),
        }
    }

    /// The numbers of its rows in the source, ascending.
    pub fn row_numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let (range, some): (Range<u64>, &[u64]) = match &self.rows {
            Rows::All(rows) => (rows.clone(), &[]),
            Rows::Some(rows) => (0..0, rows),
        };
        range.chain(some.iter().copied())
    }

    /// The columns, in the order they were asked for.
    #[must_use]
    pub fn columns(&self) -> &[ColumnData] {
        &self.columns
    }

    /// The column of a name.
    pub fn column(&self, name: &str) -> Result<&ColumnData> {
        self.columns.iter().find(|data| data.column.name == name).ok_or_else(|| {
            let known: Vec<Column> =
                self.columns.iter().map(|data| Column::clone(&data.column)).collect();
            match find_column(&known, name) {
                Err(error) => error,
                Ok(_) => Error::not_found("no such column"),
            }
        })
    }

    /// The values of a column of numbers.
    pub fn values<T: Element>(&self, name: &str) -> Result<Vec<T>> {
        self.column(name)?.values()
    }
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::All(rows) => {
                usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX)
            }
            Self::Some(rows) => rows.len(),
        }
    }

    /// Cuts off the first `count` rows and returns them.
    pub(super) fn take_front(&mut self, count: usize) -> Self {
        match self {
            Self::All(rows) => {
                let middle = rows.start.saturating_add(count as u64).min(rows.end);
                let front = rows.start..middle;
                rows.start = middle;
                Self::All(front)
            }
            Self::Some(rows) => {
                let rest = rows.split_off(count.min(rows.len()));
                Self::Some(std::mem::replace(rows, rest))
            }
        }
    }
}

impl ColumnData {
    pub(super) fn new(column: Arc<Column>, bytes: Vec<u8>) -> Self {
        Self { column, bytes }
    }

    /// The name of the column.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.column.name
    }

    /// The type of a value.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.column.dtype
    }

    /// The shape of a row; empty for a single value.
    #[must_use]
    pub fn row_shape(&self) -> &[usize] {
        &self.column.row_shape
    }

    /// All rows as they are stored, one after the other.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of one row.
    #[must_use]
    pub fn row(&self, index: usize) -> Option<&[u8]> {
        let size = self.column.row_size();
        let start = index.checked_mul(size)?;
        self.bytes.get(start..start.checked_add(size)?)
    }

    /// One row as text.
    #[must_use]
    pub fn format_row(&self, index: usize) -> Option<String> {
        let row = self.row(index)?;
        let dtype = &self.column.dtype;
        if self.column.row_shape.is_empty() {
            return Some(dtype.format_item(row));
        }
        let items = row.chunks(dtype.item_size().max(1)).map(|item| dtype.format_item(item));
        Some(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
    }

    /// One row as JSON ([`DType::to_json`]).
    #[must_use]
    pub fn row_to_json(&self, index: usize) -> Option<String> {
        Some(self.column.dtype.to_json(self.row(index)?, &self.column.row_shape))
    }

    /// The values as numbers of this machine; they must be of that kind and size.
    pub fn values<T: Element>(&self) -> Result<Vec<T>> {
        let (found, wanted) = (&self.column.dtype, DType::of::<T>());
        if (found.kind(), found.item_size()) != (wanted.kind(), wanted.item_size()) {
            return Err(Error::invalid(format!(
                "column `{}` has the type {found}, not {wanted}",
                self.column.name
            )));
        }
        let mut values: Vec<T> = zeroed_vec(self.bytes.len() / wanted.item_size().max(1));
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        let source = in_order(found, &self.bytes, ByteOrder::native());
        bytes.copy_from_slice(source.must_get(..bytes.len())?);
        Ok(values)
    }
}
