//! A table as scans see it.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Range;

use super::table::Table;
use crate::error::Result;
use crate::table::{Column, Source, column_of};

/// A table as [scans](crate::table::scan) see it: columns of groups have paths.
///
/// `T` is what holds the table: `&Table`, `Table`, or `Arc<Table>`.
pub struct TableSource<T = Table> {
    table: T,
    columns: Vec<Column>,
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
}

impl<T: Borrow<Table>> TableSource<T> {
    /// A table as scans see it.
    pub fn new(held: T) -> Self {
        let table = held.borrow();
        let sides = table.row_shape().iter();
        let row_shape: Vec<usize> =
            sides.map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
        let chunk_rows = table.chunk_shape().first().map_or(0, |rows| *rows as u64);
        let columns = table.names().filter_map(|name| {
            let column = Column::new(name, table.dtype(name).ok()?.clone());
            Some(column.with_row_shape(&row_shape).with_chunk_rows(chunk_rows))
        });
        Self { columns: columns.collect(), table: held }
    }

    fn name(&self, column: usize) -> Result<&str> {
        column_of(&self.columns, column).map(|column| column.name.as_str())
    }
}

impl<T: Borrow<Table> + Send + Sync> Source for TableSource<T> {
    fn rows(&self) -> u64 {
        self.table.borrow().len()
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.table.borrow().read_rows(self.name(column)?, rows, dst)
    }

    fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        self.table.borrow().gather(self.name(column)?, rows, dst)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::blsk::Options;
    use crate::dtype::DType;
    use crate::store::MemoryFolder;
    use crate::table::scan;

    #[test]
    fn a_table_is_scanned_by_paths() {
        let columns = [("id", DType::of::<u32>()), ("place/x", DType::of::<f32>())];
        let dir = Arc::new(MemoryFolder::new());
        let mut table = Table::create_in_dir(dir, &columns, &[], &Options::default()).unwrap();
        let (ids, xs) = ([1u32, 2, 3], [0.5f32, 1.5, 2.5]);
        let rows = [("id", bytemuck::cast_slice(&ids)), ("place/x", bytemuck::cast_slice(&xs))];
        table.append(&rows).unwrap();
        let source = table.source();
        let found = scan(&source)
            .with_columns(["id"])
            .with_condition("place.x > 1 and `place/x` < 2")
            .unwrap();
        let batch = found.batches().unwrap().next().unwrap().unwrap();
        assert_eq!(batch.values::<u32>("id").unwrap(), [2]);
        assert_eq!(scan(&source).summary("place/x").unwrap().mean(), Some(1.5));
        assert!(source.read(9, 0..1, &mut []).is_err());
    }
}
