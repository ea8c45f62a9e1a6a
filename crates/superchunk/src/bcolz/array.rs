//! One array: opening, making, what it is, its attributes.

use std::sync::{Arc, OnceLock};

use super::load::{Access, Parts, Setup};
use super::notes::Notes;
use super::options::ArrayOptions;
#[cfg(any(unix, windows))]
use crate::carray::remove_beyond;
use crate::carray::{Attrs, Control, Home, ItemType, Origin, Storage, default_bytes};
use crate::dtype::{DKind, DType};
use crate::error::{Error, Result};
use crate::schunk::{OpenOptions, SuperChunk, Verification};
use crate::store::Dir;
use crate::wire::json::Json;

/// Rows of one type in a folder: a carray of bcolz.
///
/// ```
/// use superchunk::bcolz::{Array, ArrayOptions};
/// # let folder = std::env::temp_dir().join(format!("superchunk-carray-doc-{}", std::process::id()));
/// # let path = folder.join("heights");
/// # std::fs::create_dir_all(&folder).unwrap();
///
/// let mut heights = Array::create(&path, &ArrayOptions::of::<f64>())?;
/// heights.append_items(&[1.5, 2.5, 3.5])?;
/// heights.set_attribute("unit", "m")?;
/// heights.close()?;
///
/// let heights = Array::open(&path)?;
/// assert_eq!((heights.row_count(), heights.read::<f64>(1..3)?), (3, vec![2.5, 3.5]));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct Array {
    pub(super) home: Arc<Home>,
    pub(super) storage: Storage,
    pub(super) attrs: Attrs,
    pub(super) control: Arc<Control>,
    pub(super) body: Body,
    pub(super) dtype: DType,
    pub(super) row_shape: Vec<usize>,
    pub(super) row_size: usize,
    pub(super) access: Access,
    /// The bounds of the chunks that are written, where a table wants them.
    pub(super) notes: OnceLock<Arc<Notes>>,
}

/// Where the rows are.
pub(super) enum Body {
    /// In chunks of many.
    Rows(Box<SuperChunk>),
    /// Python objects, this many, each in a file of its own.
    Objects(u64, crate::limits::Limits),
}

impl Array {
    pub(super) fn opened_in(
        dir: Arc<dyn Dir>,
        name: String,
        options: &OpenOptions,
        access: Access,
    ) -> Result<Self> {
        access.lock(dir.as_ref())?;
        let setup = Setup::of(options)?;
        let home = Home::new(dir.clone(), name, setup.durable);
        Self::from_parts(Parts::read(home, dir.as_ref(), &setup.limits)?, &setup, access)
    }

    /// Refuses options before anything is made.
    pub(super) fn check_options(options: &ArrayOptions) -> Result<()> {
        options.storage().map(drop)
    }

    pub(super) fn created_in(
        dir: Arc<dyn Dir>,
        name: String,
        options: &ArrayOptions,
    ) -> Result<Self> {
        dir.lock()?;
        let setup = Setup::creating(options.durability, &options.compress);
        let home = Home::new(dir.clone(), name, setup.durable);
        Self::from_parts(Parts::create(home, dir.as_ref(), options)?, &setup, Access::Write)
    }

    pub(super) fn from_parts(parts: Parts, setup: &Setup, access: Access) -> Result<Self> {
        let control = Arc::new(Control::default());
        let body = match parts.superchunk(&control, setup, &access)? {
            Some(rows) => Body::Rows(Box::new(rows)),
            None => Body::Objects(parts.sizes.rows, setup.limits),
        };
        let row_size = parts.row_size()?;
        let Parts { home, sizes, storage, attrs } = parts;
        let dtype = match &storage.item_type {
            ItemType::Plain(dtype) => dtype.clone(),
            ItemType::Object => DType::plain(DKind::Void, 8),
        };
        let row_shape = sizes.row_shape;
        let notes = OnceLock::new();
        Ok(Self { home, storage, attrs, control, body, dtype, row_shape, row_size, access, notes })
    }

    /// The type of an item. For Python objects, see [`Array::is_object`], it is `|V8`.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Whether the rows are Python objects, which are read one by one with [`Array::object_bytes`] and
    /// [`Array::object`].
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self.body, Body::Objects(..))
    }

    /// The number of rows.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        match &self.body {
            Body::Rows(rows) => rows.item_count(),
            Body::Objects(rows, _) => *rows,
        }
    }

    /// Removes the chunk files that a killed writer has left. Returns their names.
    #[cfg(any(unix, windows))]
    pub(crate) fn remove_leftovers(&self) -> Result<Vec<String>> {
        match &self.body {
            Body::Rows(rows) => remove_beyond(self.home.data()?, rows.chunk_count() as u64),
            // Nothing is ever appended to them.
            Body::Objects(..) => Ok(Vec::new()),
        }
    }

    /// The number of rows, then the shape of a row.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        let sides = self.row_shape.iter().map(|side| *side as u64);
        std::iter::once(self.row_count()).chain(sides).collect()
    }

    /// The shape of a row; empty when a row is one item.
    #[must_use]
    pub fn row_shape(&self) -> &[usize] {
        &self.row_shape
    }

    /// The bytes of a row; 0 for Python objects, which have no size in common.
    #[must_use]
    pub fn row_size(&self) -> usize {
        self.row_size
    }

    /// The rows of a chunk.
    #[must_use]
    pub fn chunk_rows(&self) -> u64 {
        if self.is_object() { 1 } else { self.storage.chunk_len }
    }

    /// How many rows its maker expected; any number.
    #[must_use]
    pub fn expected_rows(&self) -> i64 {
        self.storage.expected_len
    }

    /// Which programs write such files.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.storage.origin
    }

    /// How many decimal digits behind the point floats keep when they are stored; 0 when they stay as they
    /// are. Rows that are appended or overwritten here are rounded as bcolz does.
    #[must_use]
    pub fn quantize(&self) -> i64 {
        self.storage.quantize
    }

    /// The value of rows that a resize adds, as it is stored.
    #[must_use]
    pub fn default_value(&self) -> &Json {
        &self.storage.default
    }

    /// The chunks: how they are compressed, how long they are, and reading them one by one. `None` for
    /// Python objects.
    #[must_use]
    pub fn superchunk(&self) -> Option<&SuperChunk> {
        match &self.body {
            Body::Rows(rows) => Some(rows),
            Body::Objects(..) => None,
        }
    }

    /// Refuses changes of the length and the attributes where only some rows may be changed.
    pub(super) fn check_whole(&self) -> Result<()> {
        self.access.check_whole(self.home.name())
    }

    /// Makes all changes durable. New rows become visible in one step; an interrupted commit leaves the
    /// old length.
    pub fn commit(&mut self) -> Result<()> {
        let staged = self.stage();
        if staged.is_err() {
            self.cancel_attrs();
        }
        staged?;
        self.publish_attrs()
    }

    /// Commits the rows, or stages them where a table commits all columns together, and prepares
    /// the attributes.
    pub(super) fn stage(&mut self) -> Result<()> {
        self.attrs.prepare(&self.home)?;
        match &mut self.body {
            Body::Rows(rows) => rows.commit(),
            Body::Objects(..) => Ok(()),
        }
    }

    /// Whether anything waits for a commit.
    pub(super) fn is_dirty(&self) -> bool {
        self.attrs.has_changed() || self.superchunk().is_some_and(SuperChunk::is_dirty)
    }

    /// Makes prepared attributes visible.
    pub(super) fn publish_attrs(&mut self) -> Result<()> {
        self.attrs.publish(&self.home)
    }

    /// Gives up prepared attributes.
    pub(super) fn cancel_attrs(&self) {
        self.attrs.cancel(&self.home);
    }

    /// Compresses what was left uncompressed for quick commits.
    pub(super) fn pack(&mut self) -> Result<()> {
        match &mut self.body {
            Body::Rows(rows) => rows.pack_tail(),
            Body::Objects(..) => Ok(()),
        }
    }

    /// Commits and closes. What was not committed when an array is dropped is discarded.
    pub fn close(mut self) -> Result<()> {
        self.pack()?;
        self.commit()
    }

    /// Decodes every chunk.
    pub fn verify(&self) -> Result<Verification> {
        match &self.body {
            Body::Rows(rows) => rows.verify(),
            Body::Objects(..) => Err(objects()),
        }
    }

    /// Looks whether another program has changed the length, and follows; returns whether it has.
    pub fn refresh(&mut self) -> Result<bool> {
        match &mut self.body {
            Body::Rows(rows) => rows.refresh(),
            Body::Objects(..) => Ok(false),
        }
    }

    /// What it is called in errors.
    #[cfg(any(unix, windows))]
    pub(crate) fn name(&self) -> &str {
        self.home.name()
    }

    /// One item of the default value.
    pub(super) fn default_item(&self) -> Result<Vec<u8>> {
        default_bytes(&self.dtype, &self.storage.default).ok_or_else(|| {
            Error::corrupt(format!("`dflt` is no value of type `{}`", self.dtype))
                .at("bcolz", "storage", 0)
                .within(self.home.name())
        })
    }
}

impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Array")
            .field("name", &self.home.name())
            .field("dtype", &self.dtype.to_string())
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}

/// What can be done with rows of fixed size only.
pub(super) fn objects() -> Error {
    Error::unsupported("the rows are Python objects: read them one by one, as bytes")
}
