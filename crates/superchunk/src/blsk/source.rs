//! A table as scans see it.

use std::fmt;
use std::ops::Range;

use super::table::Table;
use crate::error::{Error, Result};
use crate::table::{Column, Source};

/// A table as [scans](crate::table::scan) see it: columns of groups have paths.
pub struct TableSource<'a> {
    table: &'a Table,
    columns: Vec<Column>,
}

impl fmt::Debug for TableSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableSource")
            .field("rows", &self.table.row_count())
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// The table as scans see it.
    #[must_use]
    pub fn source(&self) -> TableSource<'_> {
        let sides = self.row_shape().iter();
        let row_shape: Vec<usize> =
            sides.map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
        let chunk_rows = self.chunk_shape().first().map_or(0, |rows| *rows as u64);
        let columns = self.names().filter_map(|name| {
            let column = Column::new(name, self.dtype(name).ok()?.clone());
            Some(column.with_row_shape(&row_shape).with_chunk_rows(chunk_rows))
        });
        TableSource { columns: columns.collect(), table: self }
    }
}

impl TableSource<'_> {
    fn name(&self, column: usize) -> Result<&str> {
        let found = self.columns.get(column).map(|column| column.name.as_str());
        found.ok_or_else(|| Error::invalid(format!("there is no column {column}")))
    }
}

impl Source for TableSource<'_> {
    fn rows(&self) -> u64 {
        self.table.row_count()
    }

    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn read(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.table.read_rows(self.name(column)?, rows, dst)
    }

    fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        self.table.gather(self.name(column)?, rows, dst)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::blsk::TableOptions;
    use crate::dtype::DType;
    use crate::store::MemoryFolder;
    use crate::table::scan;

    #[test]
    fn a_table_is_scanned_by_paths() {
        let columns = [("id", DType::of::<u32>()), ("place/x", DType::of::<f32>())];
        let dir = Arc::new(MemoryFolder::new());
        let mut table =
            Table::create_in_dir(dir, &TableOptions::new().with_columns(columns.clone())).unwrap();
        let (ids, xs) = ([1u32, 2, 3], [0.5f32, 1.5, 2.5]);
        let rows = [("id", bytemuck::cast_slice(&ids)), ("place/x", bytemuck::cast_slice(&xs))];
        table.append(&rows).unwrap();
        let source = table.source();
        let found = scan(&source).columns(["id"]).filter("place.x > 1 and `place/x` < 2").unwrap();
        let batch = found.batches().unwrap().next().unwrap().unwrap();
        assert_eq!(batch.values::<u32>("id").unwrap(), [2]);
        assert_eq!(scan(&source).summary("place/x").unwrap().mean(), Some(1.5));
        assert!(source.read(9, 0..1, &mut []).is_err());
    }
}
