//! What a scan reads: columns of rows, whoever keeps them.

use std::ops::Range;
use std::sync::Arc;

use super::bounds::Bounds;
use crate::dtype::{DKind, DType};
use crate::error::{Error, MustGet, Result};

/// Rows in columns, read by ranges or one by one.
///
/// bcolz and blsk tables and [`MemoryTable`](super::MemoryTable) are sources; anything that can give
/// ranges of a column as bytes can be one.
///
/// ```
/// use superchunk::table::{Column, Source};
/// use superchunk::DType;
///
/// /// Row `i` holds `i`.
/// struct Count([Column; 1]);
///
/// impl Source for Count {
///     fn rows(&self) -> u64 {
///         1 << 40
///     }
///     fn columns(&self) -> &[Column] {
///         &self.0
///     }
///     fn read(&self, _: usize, rows: std::ops::Range<u64>, dst: &mut [u8]) -> superchunk::Result<()> {
///         for (row, item) in rows.zip(dst.chunks_mut(8)) {
///             item.copy_from_slice(&row.to_ne_bytes());
///         }
///         Ok(())
///     }
/// }
///
/// let count = Count([Column::new("i", DType::of::<u64>())]);
/// let mut two = [0; 16];
/// count.gather(0, &[7, 1 << 30], &mut two)?;
/// assert_eq!(two[..8], 7u64.to_ne_bytes());
/// # Ok::<(), superchunk::Error>(())
/// ```
pub trait Source: Send + Sync {
    /// How many rows every column has.
    fn rows(&self) -> u64;

    /// The columns, in order.
    fn columns(&self) -> &[Column];

    /// Reads `rows` of a column into the start of `dst`, row after row.
    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()>;

    /// Reads single rows of a column, in the order of `rows`. As it is here, neighbours are read
    /// together; a source that can do better should.
    fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        let size = column_of(self.columns(), column)?.row_size();
        let (mut rest, mut dst) = (rows, dst);
        while let Some(first) = rest.first().copied() {
            let follows = |(row, place): (&u64, u64)| first.checked_add(place) == Some(*row);
            let run = rest.iter().zip(0..).take_while(|pair| follows(*pair)).count().max(1);
            let (part, behind) = dst
                .split_at_mut_checked(run.saturating_mul(size))
                .ok_or_else(|| Error::invalid("the buffer is too short for the rows"))?;
            self.read(column, first..first.saturating_add(run as u64), part)?;
            (rest, dst) = (rest.must_get(run..)?, behind);
        }
        Ok(())
    }

    /// What is known of the values of a chunk of a column, rows `chunk × chunk_rows` on, without
    /// reading it. It must hold for every row of the chunk: a scan skips what cannot match.
    fn bounds(&self, column: usize, chunk: u64) -> Option<Bounds> {
        let _ = (column, chunk);
        None
    }
}

/// Whoever borrows, owns or shares a source is one.
macro_rules! source_through {
    ($($pointer:ty),*) => {$(
        impl<T: Source + ?Sized> Source for $pointer {
            fn rows(&self) -> u64 {
                (**self).rows()
            }

            fn columns(&self) -> &[Column] {
                (**self).columns()
            }

            fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
                (**self).read(column, rows, dst)
            }

            fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
                (**self).gather(column, rows, dst)
            }

            fn bounds(&self, column: usize, chunk: u64) -> Option<Bounds> {
                (**self).bounds(column, chunk)
            }
        }
    )*};
}

source_through!(&T, Box<T>, Arc<T>);

/// A column of a [`Source`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub dtype: DType,
    /// The shape of one row; empty for a single value.
    pub row_shape: Vec<usize>,
    /// How many rows are stored together: what is read at once, and what [bounds](Source::bounds)
    /// are about. 0 if there is no such number.
    pub chunk_rows: u64,
}

impl Column {
    /// A column with one value a row that is not cut into chunks.
    pub fn new(name: impl Into<String>, dtype: DType) -> Self {
        Self { name: name.into(), dtype, row_shape: Vec::new(), chunk_rows: 0 }
    }

    /// The same column with rows that are arrays.
    #[must_use]
    pub fn with_row_shape(mut self, shape: &[usize]) -> Self {
        self.row_shape = shape.to_vec();
        self
    }

    /// The same column, stored in chunks of so many rows.
    #[must_use]
    pub fn with_chunk_rows(mut self, rows: u64) -> Self {
        self.chunk_rows = rows;
        self
    }

    /// The bytes of a row.
    #[must_use]
    pub fn row_size(&self) -> usize {
        let size = self.dtype.item_size();
        self.row_shape.iter().fold(size, |size, side| size.saturating_mul(*side))
    }

    /// Whether its values are numbers, truths or moments: what has a least and a greatest.
    pub(crate) fn is_ordered(&self) -> bool {
        let size = self.dtype.item_size();
        self.row_shape.is_empty()
            && match self.dtype.kind() {
                DKind::Bool | DKind::Int | DKind::Uint => true,
                DKind::Datetime { .. } | DKind::Timedelta { .. } => true,
                DKind::Float => size <= 8,
                _ => false,
            }
    }
}

/// Column number `index`.
pub(crate) fn column_of(columns: &[Column], index: usize) -> Result<&Column> {
    columns.get(index).ok_or_else(|| {
        Error::invalid(format!("there is no column {index}, the table has {}", columns.len()))
    })
}

/// The number of the column of a name; if there is none, the error names one that is spelled alike.
pub(crate) fn find_column(columns: &[Column], name: &str) -> Result<usize> {
    columns.iter().position(|column| column.name == name).ok_or_else(|| {
        let names = columns.iter().map(|column| column.name.as_str());
        let hint = super::suggest::hint(name, names);
        Error::not_found(format!("there is no column `{name}`{hint}"))
    })
}

/// Refuses rows that a source does not have.
pub(crate) fn check_rows(rows: &Range<u64>, count: u64) -> Result<()> {
    if rows.start <= rows.end && rows.end <= count {
        return Ok(());
    }
    Err(Error::invalid(format!("rows {rows:?} are not inside of the {count} there are")))
}
