//! An array: one column, whose rows may have a shape.

use std::borrow::Cow;
use std::ops::Range;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::attributes::Attribute;
use super::options::Options;
use super::tree::{Mode, NAMELESS, Tree};
use crate::dtype::{ByteOrder, DType, Element};
use crate::error::{Error, Result};
use crate::schunk::OpenOptions;
use crate::store::Dir;
#[cfg(any(unix, windows))]
use crate::store::Folder;
use crate::superfile::{Leaf, Updates};

/// An array in the `blsk` layout: a folder of superchunk files.
///
/// ```
/// use superchunk::blsk::{Array, Options};
/// use superchunk::DType;
/// # let folder = std::env::temp_dir().join(format!("superchunk-blsk-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("heights");
///
/// let mut heights = Array::create(&path, &DType::of::<f32>(), &[3], &Options::default())?;
/// heights.append_items(&[1.5f32; 3000])?;
/// heights.write_items(10, &[0.0f32, 1.0, 2.0])?;
/// heights.set_attr("unit", "metre")?;
/// heights.commit()?;
/// # drop(heights);
///
/// let heights = Array::open(&path)?;
/// assert_eq!(heights.shape(), [1000, 3]);
/// assert_eq!(heights.read::<f32>(9..11)?, [1.5, 1.5, 1.5, 0.0, 1.0, 2.0]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// Changes are seen by this handle at once, and by everyone else after [`Array::commit`]; an array
/// that is dropped discards what was not committed.
pub struct Array {
    pub(super) tree: Tree,
    dtype: DType,
    row_size: usize,
}

impl Array {
    /// Makes an empty array in a new folder; `row_shape` is the shape of one row, empty for single
    /// items.
    #[cfg(any(unix, windows))]
    pub fn create(
        path: impl AsRef<Path>,
        dtype: &DType,
        row_shape: &[u64],
        options: &Options,
    ) -> Result<Self> {
        let path = path.as_ref();
        let dir = Arc::new(Folder::create(path)?);
        Self::made(dir, path.display().to_string(), dtype, row_shape, options)
    }

    /// Makes an empty array in any folder, which must be empty.
    pub fn create_in_dir(
        dir: Arc<dyn Dir>,
        dtype: &DType,
        row_shape: &[u64],
        options: &Options,
    ) -> Result<Self> {
        Self::made(dir, NAMELESS.to_owned(), dtype, row_shape, options)
    }

    fn made(
        dir: Arc<dyn Dir>,
        name: String,
        dtype: &DType,
        row_shape: &[u64],
        options: &Options,
    ) -> Result<Self> {
        let column = Leaf { path: Vec::new(), dtype: dtype.clone() };
        Self::of(Tree::create(dir, name, vec![column], row_shape, options)?)
    }

    /// Opens an array for reading.
    #[cfg(any(unix, windows))]
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::new())
    }

    /// The same with other options than the default ones.
    #[cfg(any(unix, windows))]
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::at(path.as_ref(), options, Mode::Read)?)
    }

    /// Opens an array for reading and writing. Another writer of this kind is kept out.
    #[cfg(any(unix, windows))]
    pub fn edit(path: impl AsRef<Path>) -> Result<Self> {
        Self::edit_with(path, &OpenOptions::new())
    }

    /// The same with other options than the default ones.
    #[cfg(any(unix, windows))]
    pub fn edit_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::at(path.as_ref(), options, Mode::Edit)?)
    }

    /// Opens an array for reading and writing whose `nrows` and shape differ, as after a crash of a writer
    /// that is not this one: the smaller number of rows counts, and a journal beyond repair is ignored.
    #[cfg(any(unix, windows))]
    pub fn recover(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::at(path.as_ref(), options, Mode::Recover)?)
    }

    /// Opens an array of any folder for reading.
    pub fn open_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::open(dir, NAMELESS.to_owned(), options, Mode::Read)?)
    }

    /// Opens an array of any folder for reading and writing.
    pub fn edit_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::open(dir, NAMELESS.to_owned(), options, Mode::Edit)?)
    }

    /// [`Array::recover`] for any folder.
    pub fn recover_in_dir(dir: Arc<dyn Dir>, options: &OpenOptions) -> Result<Self> {
        Self::of(Tree::open(dir, NAMELESS.to_owned(), options, Mode::Recover)?)
    }

    pub(super) fn of(tree: Tree) -> Result<Self> {
        let [Leaf { path, dtype }] = tree.storage.columns.as_slice() else {
            return Err(has_names(&tree));
        };
        if !path.is_empty() {
            return Err(has_names(&tree));
        }
        let dtype = dtype.clone();
        let row_size = tree.row_len(0)?;
        Ok(Self { tree, dtype, row_size })
    }

    /// The type of an item.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// The length along each axis; the first is the number of rows.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.tree.storage.shape
    }

    /// The shape of a chunk.
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

    /// The shape of a row; empty for single items.
    #[must_use]
    pub fn row_shape(&self) -> &[u64] {
        self.shape().split_first().map_or(&[], |(_, row)| row)
    }

    /// The bytes of a row.
    #[must_use]
    pub fn row_size(&self) -> usize {
        self.row_size
    }

    /// Reads rows into `dst`, in C order; it has exactly their length.
    pub fn read_rows(&self, rows: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.tree.read_rows(0, rows, dst)
    }

    /// The items of rows as numbers of this machine's byte order. `T` must be the array's type.
    pub fn read<T: Element>(&self, rows: Range<u64>) -> Result<Vec<T>> {
        read_typed(&self.tree, 0, self.dtype(), rows)
    }

    /// Reads single rows, in the order of `rows` and as often as they occur, into the start of `dst`.
    pub fn gather(&self, rows: &[u64], dst: &mut [u8]) -> Result<()> {
        self.tree.gather(0, rows, dst)
    }

    /// Appends rows.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.tree.append(&[bytes])
    }

    /// Appends rows of items of the array's type, in this machine's byte order.
    pub fn append_items<T: Element>(&mut self, items: &[T]) -> Result<()> {
        let bytes = stored_bytes(&self.dtype, items)?;
        self.append(&bytes)
    }

    /// Overwrites rows from `start` on; they must exist.
    pub fn write_rows(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        self.tree.write_rows(0, start, bytes)
    }

    /// Overwrites rows with items of the array's type, in this machine's byte order.
    pub fn write_items<T: Element>(&mut self, start: u64, items: &[T]) -> Result<()> {
        let bytes = stored_bytes(&self.dtype, items)?;
        self.write_rows(start, &bytes)
    }

    /// Makes it `rows` rows long: cuts, or appends zeros.
    pub fn resize(&mut self, rows: u64) -> Result<()> {
        self.tree.resize(rows)
    }

    /// Removes this many rows from the end.
    pub fn trim(&mut self, count: u64) -> Result<()> {
        self.tree.trim(count)
    }

    /// The names and values that users keep with the array.
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

    /// Makes all changes durable, in one step: after a crash at any moment there is either the old
    /// state or the new one.
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

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array")
            .field("name", &self.tree.root.name)
            .field("dtype", &self.dtype().to_string())
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}

fn has_names(tree: &Tree) -> Error {
    Error::invalid("this tree has named columns: open it as a Table").within(tree.root.name.clone())
}

/// Refuses a Rust type that is not the column's, and tells whether its bytes lie the other way round.
fn check_type<T: Element>(dtype: &DType) -> Result<bool> {
    let wanted = T::dtype().with_order(dtype.byte_order());
    if wanted != *dtype {
        return Err(Error::invalid(format!("the items are `{dtype}`, not `{wanted}`")));
    }
    Ok(![ByteOrder::native(), ByteOrder::Irrelevant].contains(&dtype.byte_order()))
}

/// Items of this machine's byte order as they are stored.
pub(super) fn stored_bytes<'i, T: Element>(dtype: &DType, items: &'i [T]) -> Result<Cow<'i, [u8]>> {
    let mut bytes = Cow::Borrowed(bytemuck::cast_slice(items));
    if check_type::<T>(dtype)? {
        bytes.to_mut().chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    Ok(bytes)
}

/// Rows of a column as numbers of this machine's byte order.
pub(super) fn read_typed<T: Element>(
    tree: &Tree,
    column: usize,
    dtype: &DType,
    rows: Range<u64>,
) -> Result<Vec<T>> {
    let turned = check_type::<T>(dtype)?;
    let count = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX);
    let len = count.saturating_mul(tree.row_len(column)?);
    // The rows must be there before memory is taken for them.
    tree.check_rows(&rows)?;
    tree.root.access.limits.check_decoded(len)?;
    let mut items: Vec<T> = bytemuck::zeroed_vec(len / size_of::<T>());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut items);
    tree.read_rows(column, rows, bytes)?;
    if turned {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    Ok(items)
}
