//! A table: named columns of equally many rows, at any depth.

use std::ops::Range;

use super::array::{read_typed, stored_bytes};
use super::tree::Tree;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};

/// A table in the `blsk` layout: a folder of columns, each a folder of superchunk files.
///
/// ```
/// use superchunk::blsk::{Table, TableOptions};
/// use superchunk::DType;
/// # let folder = std::env::temp_dir().join(format!("superchunk-blsk-table-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("stations");
///
/// // A column of a group is named by its path.
/// let options = TableOptions::new()
///     .with_column("id", DType::of::<u32>())
///     .with_column("place/x", DType::of::<f32>())
///     .with_column("place/y", DType::of::<f32>());
/// let mut stations = Table::create(&path, &options)?;
/// let (ids, xs, ys) = ([1u32, 2], [0.5f32, 1.5], [-1.0f32, 1.0]);
/// let bytes: [&[u8]; 3] = [bytemuck::cast_slice(&ids), bytemuck::cast_slice(&xs), bytemuck::cast_slice(&ys)];
/// stations.append(&[("id", bytes[0]), ("place/x", bytes[1]), ("place/y", bytes[2])])?;
/// stations.commit()?; // all columns at once
/// # drop(stations);
///
/// let stations = Table::open(&path)?;
/// assert_eq!(stations.read::<f32>("place/y", 0..2)?, [-1.0, 1.0]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// All columns have the same number of rows, the same row shape and the same chunks. Changes are seen
/// by this handle at once, and by everyone else after [`Table::commit`]; a table that is dropped
/// discards what was not committed.
pub struct Table {
    pub(super) tree: Tree,
    names: Vec<String>,
}

impl Table {
    pub(super) fn of(tree: Tree) -> Result<Self> {
        if tree.storage.columns.iter().any(|leaf| leaf.path.is_empty()) {
            let words = "this tree has one column without a name: open it as an Array";
            return Err(Error::invalid(words).within(tree.root.name.clone()));
        }
        let names = tree.storage.columns.iter().map(|leaf| leaf.path.join("/")).collect();
        Ok(Self { tree, names })
    }

    /// The names of the columns, in order; those of a group are paths.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The type of a column's items.
    pub fn dtype(&self, column: &str) -> Result<&DType> {
        let number = self.find(column)?;
        let leaf = self.tree.storage.columns.get(number);
        leaf.map(|leaf| &leaf.dtype).ok_or_else(|| self.unknown(column))
    }

    /// The bytes of a row of a column.
    pub fn row_size(&self, column: &str) -> Result<usize> {
        self.tree.row_len(self.find(column)?)
    }

    /// Reads rows of a column into `dst`, in C order; it has exactly their length.
    pub fn read_rows(&self, column: &str, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.tree.read_rows(self.find(column)?, rows, dst)
    }

    /// Rows of a column as numbers of this machine's byte order. `T` must be the column's type.
    pub fn read<T: Element>(&self, column: &str, rows: Range<u64>) -> Result<Vec<T>> {
        read_typed(&self.tree, self.find(column)?, self.dtype(column)?, rows)
    }

    /// Reads single rows of a column, in the order of `rows`, into the start of `dst`.
    pub fn gather(&self, column: &str, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        self.tree.gather(self.find(column)?, rows, dst)
    }

    /// Appends rows: the bytes of each column, all of which must be there and have equally many rows.
    pub fn append(&mut self, columns: &[(&str, &[u8])]) -> Result<()> {
        let mut parts: Vec<Option<&[u8]>> = vec![None; self.names.len()];
        for (name, bytes) in columns {
            let number = self.find(name)?;
            let place = parts.get_mut(number).filter(|place| place.is_none());
            *place.ok_or_else(|| Error::invalid(format!("`{name}` is given twice")))? = Some(bytes);
        }
        let missing = parts.iter().zip(&self.names).find(|(part, _)| part.is_none());
        if let Some((_, name)) = missing {
            return Err(Error::invalid(format!("the rows have no `{name}`")));
        }
        self.tree.append(&parts.into_iter().flatten().collect::<Vec<_>>())
    }

    /// Overwrites rows of a column from `start` on; they must exist.
    pub fn write_rows(&mut self, column: &str, start: u64, bytes: &[u8]) -> Result<()> {
        self.tree.write_rows(self.find(column)?, start, bytes)
    }

    /// Overwrites rows of a column with items of its type, in this machine's byte order.
    pub fn write_items<T: Element>(&mut self, column: &str, start: u64, items: &[T]) -> Result<()> {
        let bytes = stored_bytes(self.dtype(column)?, items)?;
        self.write_rows(column, start, &bytes)
    }

    fn find(&self, name: &str) -> Result<usize> {
        let found = self.names.iter().position(|known| known == name);
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Error {
        Error::not_found(format!(
            "there is no column `{name}`: there are {}",
            self.names.join(", ")
        ))
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("name", &self.tree.root.name)
            .field("columns", &self.names)
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
