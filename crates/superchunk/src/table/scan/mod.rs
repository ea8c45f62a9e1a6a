//! Scans: some columns of some rows, where a condition holds.
//!
//! ```text
//! rows ─ cut into spans at chunk boundaries
//!    plan     bounds of chunks: never (skipped) │ always (not tested) │ perhaps
//!    stretch  columns of the condition, each when first needed → a truth a row
//!    stretch  the other columns: whole where many rows match, single rows where few do
//!    batch    row numbers and columns, in the order of rows
//! ```

mod batch;
mod plan;
mod run;
mod stretch;

pub use batch::{Batch, ColumnData};
pub use run::Batches;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::expr::Expr;
use super::memory::MemoryTable;
use super::params::Params;
use super::source::Source;
use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::limits::Limits;

/// How many rows a batch has at most, unless told.
const BATCH_ROWS: usize = 65_536;

/// A scan of a source; it reads nothing until its results are asked for.
///
/// The source is borrowed, owned, or shared (`&T`, `T`, `Arc<T>`). With one that is not borrowed, the scan
/// and its [`Batches`] are `'static`: they can be kept, returned, and moved to other threads.
#[must_use]
pub fn scan<'a>(source: impl Source + 'a) -> Scan<'a> {
    Scan {
        source: Arc::new(source),
        columns: None,
        rows: None,
        filters: Vec::new(),
        params: Params::new(),
        batch_rows: BATCH_ROWS,
        executor: Executor::inline(),
        skip: 0,
        limit: u64::MAX,
        limits: Limits::default(),
    }
}

/// What is to be read of a [`Source`]: made by [`scan`], narrowed by its methods, run by
/// [`batches`](Scan::batches) and others.
#[derive(Clone)]
pub struct Scan<'a> {
    source: Arc<dyn Source + 'a>,
    columns: Option<Vec<String>>,
    rows: Option<Range<u64>>,
    /// All of them must hold.
    filters: Vec<Expr>,
    params: Params,
    batch_rows: usize,
    executor: Executor,
    skip: u64,
    limit: u64,
    limits: Limits,
}

/// What a scan did.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Rows that bounds of chunks told not to match; nothing of them was read.
    pub rows_skipped: u64,
    /// Rows that bounds of chunks told to match, all of them.
    pub rows_foretold: u64,
    /// Rows that the condition was computed for.
    pub rows_tested: u64,
    /// Rows that are in the result.
    pub rows_selected: u64,
    /// How often a range of a column was read.
    pub reads: u64,
    /// How many rows were read one by one, of all columns.
    pub rows_gathered: u64,
    /// The bytes of all that was read.
    pub bytes_read: u64,
}

impl fmt::Debug for Scan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("columns", &self.columns)
            .field("rows", &self.rows)
            .field("filters", &self.filters)
            .field("skip", &self.skip)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl<'a> Scan<'a> {
    /// Reads these columns, in this order; without this call, all.
    #[must_use]
    pub fn with_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Reads only rows of this range.
    #[must_use]
    pub fn with_rows(mut self, rows: Range<u64>) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Reads only the rows for which this expression holds, beside those that were given before.
    #[must_use]
    pub fn with_filter(mut self, filter: Expr) -> Self {
        self.filters.push(filter);
        self
    }

    /// [`with_filter`](Self::with_filter) of an expression as text, such as `close > open`.
    pub fn with_condition(self, text: &str) -> Result<Self> {
        Ok(self.with_filter(Expr::parse(text)?))
    }

    /// Gives the parameters of the expression their values.
    #[must_use]
    pub fn with_params(mut self, params: Params) -> Self {
        self.params = params;
        self
    }

    /// Gives batches of at most this many rows; 65536 without this call.
    #[must_use]
    pub fn with_batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows.max(1);
        self
    }

    /// Reads and tests several spans of rows at once, with these threads. The result is the same.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// Leaves out this many matching rows, the first ones.
    #[must_use]
    pub fn with_skip(mut self, rows: u64) -> Self {
        self.skip = rows;
        self
    }

    /// Stops after this many matching rows, not counting those that are left out.
    #[must_use]
    pub fn with_limit(mut self, rows: u64) -> Self {
        self.limit = rows;
        self
    }

    /// Bounds the memory that the scan and what stands on it may take at once.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The matching rows, batch by batch.
    ///
    /// Names of columns and types of the expression are checked here.
    pub fn batches(&self) -> Result<Batches<'a>> {
        Batches::new(self)
    }

    /// How many rows match. Only columns of the condition are read.
    pub fn count(&self) -> Result<u64> {
        let batches = self.clone().with_columns::<String>([]).batches()?;
        batches.map(|batch| batch.map(|batch| batch.len() as u64)).sum()
    }

    /// The numbers of the matching rows. Only columns of the condition are read.
    pub fn row_numbers(&self) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for batch in self.clone().with_columns::<String>([]).batches()? {
            let batch = batch?;
            self.check_memory((numbers.len() + batch.len()).saturating_mul(8))?;
            numbers.extend(batch.row_numbers());
        }
        Ok(numbers)
    }

    /// The matching rows as a table in memory.
    pub fn to_table(&self) -> Result<MemoryTable> {
        let batches = self.batches()?;
        let columns = batches.columns();
        let mut parts: Vec<Vec<u8>> = columns.iter().map(|_| Vec::new()).collect();
        let mut total = 0usize;
        for batch in batches {
            for (part, column) in parts.iter_mut().zip(batch?.columns()) {
                total = total.saturating_add(column.bytes().len());
                self.check_memory(total)?;
                part.extend_from_slice(column.bytes());
            }
        }
        let mut pairs = columns.into_iter().zip(parts);
        pairs.try_fold(MemoryTable::new(), |table, (column, bytes)| {
            table.with_column(column.with_chunk_rows(0), bytes)
        })
    }

    /// The source.
    pub(crate) fn source(&self) -> &(dyn Source + 'a) {
        &*self.source
    }

    /// The columns that are read, in order.
    pub(crate) fn wanted(&self) -> Result<Vec<usize>> {
        let known = self.source.columns();
        match &self.columns {
            None => Ok((0..known.len()).collect()),
            Some(names) => {
                names.iter().map(|name| super::source::find_column(known, name)).collect()
            }
        }
    }

    /// Refuses to hold more bytes at once than was allowed.
    pub(crate) fn check_memory(&self, bytes: usize) -> Result<()> {
        if bytes <= self.limits.max_decoded {
            return Ok(());
        }
        Err(Error::limit(format!(
            "the result takes more than {} bytes (raise Limits::max_decoded, or go batch by batch)",
            self.limits.max_decoded
        )))
    }
}

impl ScanStats {
    fn add(&mut self, other: &Self) {
        self.rows_skipped += other.rows_skipped;
        self.rows_foretold += other.rows_foretold;
        self.rows_tested += other.rows_tested;
        self.rows_selected += other.rows_selected;
        self.reads += other.reads;
        self.rows_gathered += other.rows_gathered;
        self.bytes_read += other.bytes_read;
    }
}

#[cfg(test)]
mod tests;
