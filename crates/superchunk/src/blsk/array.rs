//! An array: one column, whose rows may have a shape.

use std::borrow::Cow;
use std::ops::Range;

use super::tree::Tree;
use crate::dtype::{ByteOrder, DType, Element};
use crate::error::{Error, Result};
use crate::superfile::Leaf;

/// An array in the `blsk` layout: a folder of superchunk files.
///
/// ```
/// use superchunk::blsk::{Array, ArrayOptions};
/// # let folder = std::env::temp_dir().join(format!("superchunk-blsk-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("heights");
///
/// let mut heights = Array::create(&path, &ArrayOptions::of::<f32>().with_row_shape([3]))?;
/// heights.append_items(&[1.5f32; 3000])?;
/// heights.write_items(10, &[0.0f32, 1.0, 2.0])?;
/// heights.set_attribute("unit", "metre")?;
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
