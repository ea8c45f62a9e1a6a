//! A table as scans see it, and what they need not read: bounds of chunks in `meta/b2bounds`.
//!
//! bcolz does not know that file and leaves it alone. Each of its entries names the chunk that it is
//! about by length and hash, so that a chunk that bcolz has changed is read again, never skipped
//! by what it held before.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::array::Array;
use super::table::Table;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::schunk::SuperChunk;
use crate::table::{self, Bounds, BoundsFile, ChunkToken, chunk_bounds, column_of};

/// The file of bounds, in the folder `meta` of a column.
const FILE: &str = "b2bounds";

/// A table as [scans](crate::table::scan) see it: nested columns have paths such as `position/x`.
///
/// `T` is what holds the table: `&Table`, `Table`, or `Arc<Table>`.
///
/// ```
/// use superchunk::bcolz::{ArrayOptions, Table, TableOptions};
/// use superchunk::store::MemoryFolder;
/// use superchunk::table;
///
/// let options = TableOptions::new().with_column("close", ArrayOptions::of::<f64>());
/// let mut quotes = Table::create_in_dir(std::sync::Arc::new(MemoryFolder::new()), &options)?;
/// quotes.append(&[("close", bytemuck::cast_slice(&[10.5f64, 9.0, 12.25]))])?;
///
/// let source = quotes.source();
/// assert_eq!(table::scan(&source).with_condition("close > 10")?.row_numbers()?, [0, 2]);
///
/// // One that owns the table can be kept in a scan, returned, and moved to another thread.
/// let scan = table::scan(quotes.into_source()).with_condition("close < 10")?;
/// assert_eq!(std::thread::spawn(move || scan.count()).join().unwrap()?, 1);
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct TableSource<T = Table> {
    table: T,
    columns: Vec<table::Column>,
    /// What the files of bounds say, each read when it is first asked.
    files: Vec<OnceLock<Option<BoundsFile>>>,
    /// What was found to hold, by column and chunk: a chunk is hashed once.
    known: Mutex<HashMap<(usize, u64), Option<Bounds>>>,
}

impl<T: Borrow<Table>> fmt::Debug for TableSource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableSource")
            .field("rows", &self.table.borrow().len())
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// The table as scans see it.
    #[must_use]
    pub fn source(&self) -> TableSource<&Self> {
        TableSource::new(self)
    }

    /// The table as scans see it, owned by them.
    #[must_use]
    pub fn into_source(self) -> TableSource {
        TableSource::new(self)
    }

    /// Commits, and writes down the least and the greatest value of every chunk of every column of
    /// numbers, so that scans can skip chunks. Chunks whose bounds are known are not decoded again.
    ///
    /// A table that has them once, or was made [with them](super::TableOptions::with_bounds), keeps them:
    /// its writers find the bounds of what they write, and write them down when they are closed. Call it
    /// for tables that have none, or that bcolz has changed; until then scans read such chunks.
    pub fn refresh_bounds(&mut self) -> Result<()> {
        self.keep_bounds();
        self.commit()?;
        let source = self.source();
        (0..source.columns.len()).try_for_each(|column| source.refresh(column))
    }
}

impl<T: Borrow<Table>> TableSource<T> {
    /// A table as scans see it.
    pub fn new(table: T) -> Self {
        let arrays = table.borrow().arrays().into_iter();
        let columns: Vec<_> = arrays
            .map(|(path, array)| {
                table::Column::new(path, array.dtype().clone())
                    .with_row_shape(array.row_shape())
                    .with_chunk_rows(array.chunk_len())
            })
            .collect();
        let files = columns.iter().map(|_| OnceLock::new()).collect();
        Self { table, columns, files, known: Mutex::default() }
    }

    fn array(&self, column: usize) -> Result<&Array> {
        self.table.borrow().array(&column_of(&self.columns, column)?.name)
    }

    /// The rows of a chunk.
    fn rows_of(&self, array: &Array, chunk: u64) -> u64 {
        let start = chunk.saturating_mul(array.chunk_len());
        array.len().saturating_sub(start).min(array.chunk_len())
    }

    /// The token of a chunk, by its bytes as they are now.
    fn token(&self, chunks: &SuperChunk, chunk: u64) -> Result<ChunkToken> {
        let number = usize::try_from(chunk).map_err(|_| Error::limit("too many chunks"))?;
        chunks.compressed_chunk(number).map(|bytes| ChunkToken::of(&bytes))
    }

    fn file(&self, column: usize) -> Option<&BoundsFile> {
        let array = self.array(column).ok()?;
        let read = || array.read_bounds().ok().flatten();
        self.files.get(column)?.get_or_init(read).as_ref()
    }

    fn look_up(&self, column: usize, chunk: u64) -> Option<Bounds> {
        let array = self.array(column).ok()?;
        let file = self.file(column)?;
        let number = usize::try_from(chunk).ok().filter(|number| *number < file.len())?;
        // Without an entry there is no need to hash.
        let token = self.token(array.chunks()?, chunk).ok()?;
        file.get(number, token, self.rows_of(array, chunk))
    }
}

impl TableSource<&Table> {
    /// Brings the file of bounds of a column up to date.
    fn refresh(&self, column: usize) -> Result<()> {
        let array = self.array(column)?;
        let Some(chunks) = array.chunks().filter(|_| array.chunk_len() > 0) else { return Ok(()) };
        let count = array.len().div_ceil(array.chunk_len());
        let old = self.file(column).cloned().unwrap_or_default();
        let mut new = BoundsFile::new(array.chunk_len());
        for (number, chunk) in (0..count).enumerate() {
            let rows = self.rows_of(array, chunk);
            if let Some(note) = array.note(chunk, rows) {
                new.set(number, note.token, rows, note.bounds);
                continue;
            }
            let token = self.token(chunks, chunk)?;
            let bounds = match old.get(number, token, rows) {
                Some(bounds) => Some(bounds),
                None => chunk_bounds(self, column, chunk)?,
            };
            match bounds {
                Some(bounds) => new.set(number, token, rows, bounds),
                // The type has no bounds.
                None => return Ok(()),
            }
        }
        if new == old { Ok(()) } else { array.write_bounds(&new) }
    }
}

impl<T: Borrow<Table> + Send + Sync> table::Source for TableSource<T> {
    fn rows(&self) -> u64 {
        self.table.borrow().len()
    }

    fn columns(&self) -> &[table::Column] {
        &self.columns
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.array(column)?.read_rows(rows, dst)
    }

    fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        self.array(column)?.gather(rows, dst)
    }

    fn bounds(&self, column: usize, chunk: u64) -> Option<Bounds> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bounds) = known().get(&(column, chunk)) {
            return *bounds;
        }
        let bounds = self.look_up(column, chunk);
        known().insert((column, chunk), bounds);
        bounds
    }
}

impl Array {
    /// Whether there is a file of bounds.
    pub(super) fn has_bounds(&self) -> bool {
        self.home.meta().and_then(|meta| meta.open(FILE)).is_ok()
    }

    /// The file of bounds, if there is one that can be read.
    pub(super) fn read_bounds(&self) -> Result<Option<BoundsFile>> {
        let limits = Limits::default();
        let store = match self.home.meta()?.open(FILE) {
            Ok(store) => store,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let len = store.len()?;
        limits.check_metadata("file of bounds", len)?;
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
        store.read_exact_at(0, &mut bytes)?;
        let file = BoundsFile::parse(&bytes, &limits)?;
        Ok(Some(file).filter(|file| file.chunk_rows() == self.chunk_len()))
    }

    pub(super) fn write_bounds(&self, file: &BoundsFile) -> Result<()> {
        self.home.replace(self.home.meta()?, FILE, &file.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::bcolz::{ArrayOptions, TableOptions};
    use crate::schunk::OpenOptions;
    use crate::store::{Dir, MemoryFolder};
    use crate::table::{Source, scan};

    const CHUNK: u64 = 1000;

    fn bytes_of(values: Range<u32>) -> Vec<u8> {
        values.flat_map(u32::to_le_bytes).collect()
    }

    fn table(dir: &Arc<MemoryFolder>) -> Table {
        let array = || ArrayOptions::of::<u32>().with_chunk_len(CHUNK);
        let options = TableOptions::new().with_column("n", array()).with_column("m", array());
        let mut table = Table::create_in_dir(dir.clone(), &options).unwrap();
        let (n, m) = (bytes_of(0..5500), bytes_of(10_000..15_500));
        table.append(&[("n", &n), ("m", &m)]).unwrap();
        table
    }

    /// How many chunks of `n` were tested by a scan of `n == value`, and how many rows it found.
    fn tested(table: &Table, value: u32) -> (u64, u64) {
        let source = table.source();
        let scan =
            scan(&source).with_columns(["m"]).with_condition(&format!("n == {value}")).unwrap();
        let mut batches = scan.batches().unwrap();
        let found = batches.by_ref().map(|batch| batch.unwrap().len() as u64).sum();
        (batches.stats().rows_tested, found)
    }

    #[test]
    fn bounds_are_kept_and_chunks_are_skipped() {
        let dir = Arc::new(MemoryFolder::new());
        let mut table = table(&dir);
        table.commit().unwrap();
        assert_eq!(tested(&table, 3210), (5500, 1));
        table.refresh_bounds().unwrap();
        assert_eq!(tested(&table, 3210), (CHUNK, 1));
        assert_eq!(tested(&table, 5400), (500, 1));
        assert_eq!(tested(&table, 9999), (0, 0));
        drop(table);
        let table = Table::open_in_dir(dir, &OpenOptions::new()).unwrap();
        assert_eq!(tested(&table, 77), (CHUNK, 1));
        assert_eq!(table.source().bounds(1, 5).unwrap().nulls, 0);
    }

    #[test]
    fn a_chunk_that_was_changed_is_read_again() {
        let dir = Arc::new(MemoryFolder::new());
        let mut table = table(&dir);
        table.refresh_bounds().unwrap();
        table.write_rows("n", 2500, &bytes_of(77..78)).unwrap();
        table.append(&[("n", &bytes_of(77..78)), ("m", &bytes_of(0..1))]).unwrap();
        table.commit().unwrap();
        // The first chunk, the changed one, and the last, which has more rows now.
        assert_eq!(tested(&table, 77), (CHUNK + CHUNK + 501, 3));
        table.refresh_bounds().unwrap();
        // The last chunk reaches from 77 to 5499 now.
        assert_eq!(tested(&table, 4000), (CHUNK + 501, 1));
        assert_eq!(tested(&table, 60), (CHUNK, 1));
        assert_eq!(tested(&table, 9999), (0, 0));
    }

    #[test]
    fn a_damaged_file_of_bounds_costs_time_only() {
        let dir = Arc::new(MemoryFolder::new());
        let mut table = table(&dir);
        table.refresh_bounds().unwrap();
        let meta = dir.open_folder("n").unwrap().open_folder("meta").unwrap();
        let file = meta.edit(FILE).unwrap();
        file.write_at(40, b"damage").unwrap();
        assert_eq!(tested(&table, 3210), (5500, 1));
        table.refresh_bounds().unwrap();
        assert_eq!(tested(&table, 3210), (CHUNK, 1));
    }
}
