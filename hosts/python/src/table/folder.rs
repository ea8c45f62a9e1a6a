//! A folder of columns: an array for each, and their list.

use std::ops::Range;

use superchunk::columns::ColumnFolder;
use superchunk::table::{Column, Source};
use superchunk::{AxisIndexes, AxisSlice, Error, NdArray, OpenOptions, Result};

/// An open folder of columns, whose rows are read.
pub(crate) struct Folder {
    pub(super) list: ColumnFolder,
    arrays: Vec<NdArray>,
    columns: Vec<Column>,
    rows: u64,
}

impl Folder {
    /// Opens the columns of a list.
    pub(crate) fn open(list: ColumnFolder, open: &OpenOptions) -> Result<Self> {
        let (mut arrays, mut columns) = (Vec::new(), Vec::new());
        let mut rows = None;
        for name in list.names() {
            let array = NdArray::open_with(list.place(name), open)?;
            let Some((count, inner)) = array.shape().split_first() else {
                return Err(Error::corrupt(format!("column `{name}` is an array without rows")));
            };
            if *rows.get_or_insert(*count) != *count {
                let words = format!("column `{name}` has {count} rows, others {rows:?}");
                return Err(Error::corrupt(words));
            }
            let inner: Option<Vec<usize>> =
                inner.iter().map(|side| usize::try_from(*side).ok()).collect();
            let inner = inner.ok_or_else(|| Error::limit("more bytes than the memory can hold"))?;
            let chunk = array.chunk_shape().first().map_or(0, |rows| *rows as u64);
            let column = Column::new(name.as_str(), array.dtype().clone());
            columns.push(column.with_row_shape(&inner).with_chunk_rows(chunk));
            arrays.push(array);
        }
        Ok(Self { list, arrays, columns, rows: rows.unwrap_or(0) })
    }

    /// The number of the column of a name.
    pub(super) fn number(&self, name: &str) -> Result<usize> {
        let found = self.columns.iter().position(|column| column.name == name);
        found.ok_or_else(|| Error::not_found(format!("there is no column `{name}`")))
    }

    pub(super) fn stored_len(&self) -> Result<u64> {
        self.arrays.iter().map(|array| array.superchunk().stored_len()).sum()
    }

    fn array(&self, column: usize) -> Result<&NdArray> {
        self.arrays
            .get(column)
            .ok_or_else(|| Error::not_found(format!("there is no column {column}")))
    }
}

impl Source for Folder {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        let array = self.array(column)?;
        let (mut start, mut stop) = (vec![0; array.ndim()], array.shape().to_vec());
        if let (Some(first), Some(last)) = (start.first_mut(), stop.first_mut()) {
            (*first, *last) = (rows.start, rows.end);
        }
        array.read_box(&start, &stop, dst)
    }

    fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        let array = self.array(column)?;
        let whole = |side: &u64| {
            AxisIndexes::Slice(AxisSlice { start: 0, count: *side, step: 1, dropped: false })
        };
        let inner = array.shape().iter().skip(1).map(whole);
        let indexes: Vec<_> = std::iter::once(AxisIndexes::List(rows)).chain(inner).collect();
        array.read_orthogonal_into(&indexes, dst)
    }
}
