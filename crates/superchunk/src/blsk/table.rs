//! A table: named columns of equally many rows, at any depth.

use std::ops::Range;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::array::{read_typed, stored_bytes};
use super::attributes::Attribute;
use super::options::Options;
use super::tree::{Mode, NAMELESS, Tree};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::schunk::OpenOptions;
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
    pub fn create_in_dir(
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
        Self::open_with(path, &OpenOptions::new())
    }

    /// The same with other options than the default ones.
    #[cfg(any(unix, windows))]
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::at(path.as_ref(), options, Mode::Read)?)
    }

    /// Opens a table for reading and writing. Another writer of this kind is kept out.
    #[cfg(any(unix, windows))]
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::edit_with(path, &OpenOptions::new())
    }

    /// The same with other options than the default ones.
    #[cfg(any(unix, windows))]
    pub fn edit_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::at(path.as_ref(), options, Mode::Edit)?)
    }

    /// Opens a table for reading and writing whose `nrows` and shape differ, as after a crash of a writer
    /// that is not this one: the smaller number of rows counts, and a journal beyond repair is ignored.
    #[cfg(any(unix, windows))]
    pub fn recover(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::at(path.as_ref(), options, Mode::Recover)?)
    }

    /// Opens a table of any folder for reading.
    pub fn open_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::open(dir, NAMELESS.to_owned(), options, Mode::Read)?)
    }

    /// Opens a table of any folder for reading and writing.
    pub fn edit_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::open(dir, NAMELESS.to_owned(), options, Mode::Edit)?)
    }

    /// [`Table::recover`] for any folder.
    pub fn recover_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::open(dir, NAMELESS.to_owned(), options, Mode::Recover)?)
    }

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

    /// The shape of a row of each column; empty for single items.
    #[must_use]
    pub fn row_shape(&self) -> &[u64] {
        self.shape().split_first().map_or(&[], |(_, row)| row)
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

    /// Makes it `rows` rows long: cuts, or appends zeros.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.tree.resize(rows)
    }

    /// Removes this many rows from the end.
    pub fn trim(&mut self, count: u64) -> Result<()> {
        self.tree.trim(count)
    }

    /// The names and values that users keep with the table.
    pub fn attrs(&self) -> impl Iterator<Item = (&str, Attribute)> {
        self.tree.attributes.iter()
    }

    /// The attribute of this name.
    #[must_use]
    pub fn attr(&self, name: &str) -> Option<Attribute> {
        self.tree.attributes.get(name)
    }

    /// Sets an attribute.
    pub fn set_attr(&mut self, name: &str, value: impl Into<Attribute>) -> Result<()> {
        self.tree.set_attribute(name, &value.into())
    }

    /// Removes an attribute; returns whether there was one.
    pub fn remove_attr(&mut self, name: &str) -> Result<bool> {
        self.tree.remove_attribute(name)
    }

    /// Makes all changes of all columns durable, in one step: after a crash at any moment there is
    /// either the old state or the new one.
    pub fn commit(&mut self) -> Result<()> {
        self.tree.commit()
    }

    /// What the last commit could not complete. Its rows are there and every reader sees them; the
    /// next writer completes it, or [`recover`](crate::recover).
    #[must_use]
    pub fn unfinished(&self) -> Option<String> {
        self.tree.root.unfinished()
    }

    /// Commits and closes. What was not committed when it is dropped is discarded.
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

impl Table {
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
