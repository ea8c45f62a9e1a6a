//! How trees are made and opened.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use super::tree::Tree;
use super::{Array, Table};
use crate::error::Result;
use crate::exec::Executor;
use crate::frame::Durability;
use crate::limits::Limits;
use crate::options::{ChunkFormat, CompressOptions};
use crate::registry::Registry;
use crate::store::Dir;
#[cfg(any(unix, windows))]
use crate::store::Folder;
use crate::superfile::{Access, Order, Reserve};

/// How a new tree is made.
///
/// ```
/// use superchunk::blsk::{Options, Reserve};
/// use superchunk::{Codec, CompressOptions};
///
/// let options = Options::default()
///     .with_compression(CompressOptions::new(8).with_codec(Codec::Zstd))
///     .with_chunk_rows(4096)
///     .with_reserve(Reserve::Part(4));
/// # let _ = options;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Options {
    /// Codec, level and filter of the chunks. They are chunks of Blosc1, and their item size is that
    /// of the column.
    pub compress: CompressOptions,
    /// The rows of a chunk, or `None` for half a megabyte of the widest column.
    pub chunk_rows: Option<usize>,
    /// The lengths of a chunk along the axes behind the rows, or `None` for whole rows.
    pub chunk_row_shape: Option<Vec<usize>>,
    /// The most chunks of a file.
    pub superchunk_size: usize,
    /// How many bytes stay free behind each chunk.
    pub reserve: Reserve,
    /// The order of the items inside of a chunk.
    pub order: Order,
    /// When a commit returns.
    pub durability: Durability,
}

impl Default for Options {
    /// LZ4 at level 5 after a shuffle, 16 chunks in a file, an eighth of each chunk in reserve.
    fn default() -> Self {
        Self {
            compress: CompressOptions::new(1).with_format(ChunkFormat::Blosc1),
            chunk_rows: None,
            chunk_row_shape: None,
            superchunk_size: 16,
            reserve: Reserve::Part(8),
            order: Order::C,
            durability: Durability::Full,
        }
    }
}

impl Options {
    /// The same options with chunks compressed like this.
    #[must_use]
    pub fn with_compression(mut self, compress: CompressOptions) -> Self {
        self.compress = compress;
        self
    }

    /// The same options with chunks of this many rows.
    #[must_use]
    pub fn with_chunk_rows(mut self, rows: usize) -> Self {
        self.chunk_rows = Some(rows);
        self
    }

    /// The same options with rows that are cut, too: chunks become the cells of a grid.
    #[must_use]
    pub fn with_chunk_row_shape(mut self, shape: impl Into<Vec<usize>>) -> Self {
        self.chunk_row_shape = Some(shape.into());
        self
    }

    /// The same options with another number of chunks in a file.
    #[must_use]
    pub fn with_superchunk_size(mut self, chunks: usize) -> Self {
        self.superchunk_size = chunks;
        self
    }

    /// The same options with other room behind the chunks.
    #[must_use]
    pub fn with_reserve(mut self, reserve: Reserve) -> Self {
        self.reserve = reserve;
        self
    }

    /// The same options with another order of items.
    #[must_use]
    pub fn with_order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// The same options with another moment at which a commit returns.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

/// How a tree is opened.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// What the tree may make the library allocate.
    pub limits: Limits,
    /// When a commit returns.
    pub durability: Durability,
    /// Who does the work.
    pub executor: Executor,
    /// Codecs and filters beside the built-in ones.
    pub registry: Registry,
    /// Whether the smaller number is taken where `nrows` and the shape differ.
    pub recover: bool,
}

impl OpenOptions {
    /// The default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same options with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same options with another moment at which a commit returns.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same options with the work done by `executor`.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// The same options; if `nrows` and the shape differ, as after a crash of a writer that is not
    /// this one, the smaller number of rows is taken.
    #[must_use]
    pub fn with_recovery(mut self, recover: bool) -> Self {
        self.recover = recover;
        self
    }

    /// Opens an array for reading.
    #[cfg(any(unix, windows))]
    pub fn open_array(&self, path: impl AsRef<Path>) -> Result<Array> {
        Array::of(self.at(path.as_ref(), false)?)
    }

    /// Opens an array for reading and writing. Another writer of this kind is kept out.
    #[cfg(any(unix, windows))]
    pub fn edit_array(&self, path: impl AsRef<Path>) -> Result<Array> {
        Array::of(self.at(path.as_ref(), true)?)
    }

    /// Opens a table for reading.
    #[cfg(any(unix, windows))]
    pub fn open_table(&self, path: impl AsRef<Path>) -> Result<Table> {
        Table::of(self.at(path.as_ref(), false)?)
    }

    /// Opens a table for reading and writing. Another writer of this kind is kept out.
    #[cfg(any(unix, windows))]
    pub fn edit_table(&self, path: impl AsRef<Path>) -> Result<Table> {
        Table::of(self.at(path.as_ref(), true)?)
    }

    /// Opens the array of any folder for reading.
    pub fn open_array_in(&self, dir: Arc<dyn Dir>) -> Result<Array> {
        Array::of(Tree::open(dir, NAMELESS.to_owned(), self, self.access(false))?)
    }

    /// Opens the array of any folder for reading and writing.
    pub fn edit_array_in(&self, dir: Arc<dyn Dir>) -> Result<Array> {
        Array::of(Tree::open(dir, NAMELESS.to_owned(), self, self.access(true))?)
    }

    /// Opens the table of any folder for reading.
    pub fn open_table_in(&self, dir: Arc<dyn Dir>) -> Result<Table> {
        Table::of(Tree::open(dir, NAMELESS.to_owned(), self, self.access(false))?)
    }

    /// Opens the table of any folder for reading and writing.
    pub fn edit_table_in(&self, dir: Arc<dyn Dir>) -> Result<Table> {
        Table::of(Tree::open(dir, NAMELESS.to_owned(), self, self.access(true))?)
    }

    #[cfg(any(unix, windows))]
    fn at(&self, path: &Path, writable: bool) -> Result<Tree> {
        let dir = Arc::new(Folder::open(path)?);
        Tree::open(dir, path.display().to_string(), self, self.access(writable))
    }

    fn access(&self, writable: bool) -> Access {
        Access { limits: self.limits, durability: self.durability, writable, recover: self.recover }
    }
}

/// What a tree without a path is called in errors.
pub(super) const NAMELESS: &str = "blsk tree";
