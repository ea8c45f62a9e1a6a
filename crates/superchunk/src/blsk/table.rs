//! A table: named columns of equally many rows, at any depth.

use std::ops::Range;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::array::read_typed;
use super::attributes::{Attribute, Attributes};
use super::options::{NAMELESS, OpenOptions, Options};
use super::tree::Tree;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::store::Dir;
#[cfg(any(unix, windows))]
use crate::store::Folder;
use crate::superfile::{Leaf, Updates, check_column_name};

/// A table in the `blsk` layout: a folder of columns, each a folder of superchunk files.
///
/// ```
/// use superchunk::blsk::{Options, Table};
/// use superchunk::DType;
/// # let folder = std::env::temp_dir().join(format!("superchunk-blsk-table-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("stations");
///
/// // A column of a group is named by its path.
/// let columns = [("id", DType::of::<u32>()), ("place/x", DType::of::<f32>()), ("place/y", DType::of::<f32>())];
/// let mut stations = Table::create(&path, &columns, &[], &Options::default())?;
/// let (ids, xs, ys) = ([1u32, 2], [0.5f32, 1.5], [-1.0f32, 1.0]);
/// stations.append(&[bytemuck::cast_slice(&ids), bytemuck::cast_slice(&xs), bytemuck::cast_slice(&ys)])?;
/// stations.commit()?; // all columns at once
/// # drop(stations);
///
/// let stations = Table::open(&path)?;
/// let y = stations.find("place/y").unwrap();
/// assert_eq!(stations.read::<f32>(y, 0..2)?, [-1.0, 1.0]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// All columns have the same number of rows, the same row shape and the same chunks. Changes are seen
/// by this handle at once, and by everyone else after [`Table::commit`], which also happens when the
/// table is dropped.
pub struct Table {
    tree: Tree,
    attributes: Attributes,
    names: Vec<String>,
}

impl Table {
    /// Makes an empty table in a new folder. A column is a name, or a path such as `group/name`.
    #[cfg(any(unix, windows))]
    pub fn create(
        path: impl AsRef<Path>,
        columns: &[(&str, DType)],
        row_shape: &[u64],
        options: &Options,
    ) -> Result<Self> {
        let path = path.as_ref();
        let leaves = leaves(columns)?;
        let dir = Arc::new(Folder::create(path)?);
        let name = path.display().to_string();
        Self::of(Tree::create(dir, name, leaves, row_shape, options)?)
    }

    /// Makes an empty table in any folder, which must be empty.
    pub fn create_in(
        dir: Arc<dyn Dir>,
        columns: &[(&str, DType)],
        row_shape: &[u64],
        options: &Options,
    ) -> Result<Self> {
        let leaves = leaves(columns)?;
        Self::of(Tree::create(dir, NAMELESS.to_owned(), leaves, row_shape, options)?)
    }

    /// Opens a table for reading.
    #[cfg(any(unix, windows))]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open_table(path)
    }

    /// Opens a table for reading and writing. Another writer of this kind is kept out.
    #[cfg(any(unix, windows))]
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().edit_table(path)
    }

    pub(super) fn of(tree: Tree) -> Result<Self> {
        if tree.storage.columns.iter().any(|leaf| leaf.path.is_empty()) {
            let words = "this tree has one column without a name: open it as an Array";
            return Err(Error::invalid(words).within(tree.root.name.clone()));
        }
        let names = tree.storage.columns.iter().map(|leaf| leaf.path.join("/")).collect();
        let attributes = Attributes::read(&tree.root)?;
        Ok(Self { tree, attributes, names })
    }

    /// The names of the columns, in order; those of a group are paths.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of the column of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The type of a column's items.
    #[must_use]
    pub fn dtype(&self, column: usize) -> Option<&DType> {
        self.tree.storage.columns.get(column).map(|leaf| &leaf.dtype)
    }

    /// The shape of each column; the first number is the number of rows.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.tree.storage.shape
    }

    /// The shape of a chunk, the same for all columns.
    #[must_use]
    pub fn chunk_shape(&self) -> &[usize] {
        &self.tree.storage.chunkshape
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.tree.rows()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a row of a column.
    #[must_use]
    pub fn row_len(&self, column: usize) -> usize {
        self.tree.row_len(column)
    }

    /// Reads rows of a column into `dst`, in C order; it has exactly their length.
    pub fn read_rows(&self, column: usize, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.tree.read_rows(column, rows, dst)
    }

    /// Rows of a column as numbers of this machine's byte order. `T` must be the column's type.
    pub fn read<T: Element>(&self, column: usize, rows: Range<u64>) -> Result<Vec<T>> {
        let dtype = self.dtype(column);
        let dtype = dtype.ok_or_else(|| Error::invalid(format!("there is no column {column}")))?;
        read_typed(&self.tree, column, dtype, rows)
    }

    /// Reads single rows of a column, in the order of `rows`, into the start of `dst`.
    pub fn gather(&self, column: usize, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        self.tree.gather(column, rows, dst)
    }

    /// Appends rows: the bytes of each column, in order. All must have equally many rows.
    pub fn append(&mut self, columns: &[&[u8]]) -> Result<()> {
        self.tree.append(columns)
    }

    /// Overwrites rows of a column from `start` on; they must exist.
    pub fn write_rows(&mut self, column: usize, start: u64, bytes: &[u8]) -> Result<()> {
        self.tree.write_rows(column, start, bytes)
    }

    /// Keeps the first `rows` rows only.
    pub fn truncate(&mut self, rows: u64) -> Result<()> {
        self.tree.truncate(rows)
    }

    /// The names and values that users keep with the table.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, Attribute)> {
        self.attributes.iter()
    }

    /// The attribute of this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Attribute> {
        self.attributes.get(name)
    }

    /// Sets an attribute. It is stored at once.
    pub fn set_attribute(&mut self, name: &str, value: Attribute) -> Result<()> {
        self.attributes.set(&self.tree.root, name, value)
    }

    /// Removes an attribute; returns whether there was one.
    pub fn remove_attribute(&mut self, name: &str) -> Result<bool> {
        self.attributes.remove(&self.tree.root, name)
    }

    /// Makes all changes of all columns durable, in one step: after a crash at any moment there is
    /// either the old state or the new one.
    pub fn commit(&mut self) -> Result<()> {
        self.tree.commit()
    }

    /// Commits and closes.
    pub fn close(mut self) -> Result<()> {
        self.commit()
    }

    /// The bytes of all files of chunks as of the last commit.
    pub fn stored_len(&self) -> Result<u64> {
        self.tree.stored_len()
    }

    /// What the commits of this handle have cost.
    #[must_use]
    pub fn updates(&self) -> Updates {
        self.tree.updates()
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

/// The columns of a new table, checked: no two alike, none the folder of another.
fn leaves(columns: &[(&str, DType)]) -> Result<Vec<Leaf>> {
    let mut leaves: Vec<Leaf> = Vec::new();
    for (name, dtype) in columns {
        let path: Vec<String> = name.split('/').map(str::to_owned).collect();
        path.iter().try_for_each(|part| check_column_name(part))?;
        // Some file systems do not tell upper from lower case.
        let folded: Vec<String> = path.iter().map(|part| part.to_lowercase()).collect();
        for other in &leaves {
            let other: Vec<String> = other.path.iter().map(|part| part.to_lowercase()).collect();
            if folded.starts_with(&other) || other.starts_with(&folded) {
                return Err(Error::invalid(format!("`{name}` and another column need one folder")));
            }
        }
        leaves.push(Leaf { path, dtype: dtype.clone() });
    }
    Ok(leaves)
}
