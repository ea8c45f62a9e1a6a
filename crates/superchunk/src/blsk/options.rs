//! How trees are made.

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::frame::Durability;
use crate::options::{ChunkFormat, CompressOptions};
use crate::superfile::{ItemOrder, Leaf, Reserve, check_column_name};

/// How the chunks and files of a tree are made, whatever its columns are.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct TreeOptions {
    /// Codec, level and filter of the chunks. They are chunks of Blosc1, and their item size is that
    /// of the column. [`Filter::TruncPrec`](crate::Filter::TruncPrec) of 1 to 52 bits is done to new
    /// items before they become chunks.
    pub compress: CompressOptions,
    /// The rows of a chunk, or `None` for half a megabyte of the widest column.
    pub chunk_rows: Option<usize>,
    /// The lengths of a chunk along the axes after the rows, or `None` for whole rows.
    pub chunk_row_shape: Option<Vec<usize>>,
    /// The most chunks of a file.
    pub superchunk_size: usize,
    /// How many bytes stay free after each chunk.
    pub reserve: Reserve,
    /// The order of the items inside of a chunk.
    pub order: ItemOrder,
    /// When a commit returns.
    pub durability: Durability,
}

impl Default for TreeOptions {
    /// LZ4 at level 5 after a shuffle, 16 chunks in a file, an eighth of each chunk in reserve.
    fn default() -> Self {
        Self {
            compress: CompressOptions::new(1).with_format(ChunkFormat::Blosc1),
            chunk_rows: None,
            chunk_row_shape: None,
            superchunk_size: 16,
            reserve: Reserve::Part(8),
            order: ItemOrder::C,
            durability: Durability::Full,
        }
    }
}

/// How a new [`Array`](super::Array) is made.
///
/// ```
/// use superchunk::blsk::{ArrayOptions, Reserve};
/// use superchunk::{Codec, CompressOptions};
///
/// let options = ArrayOptions::of::<f64>()
///     .with_row_shape([3, 3])
///     .with_compress(CompressOptions::new(8).with_codec(Codec::Zstd))
///     .with_chunk_rows(4096)
///     .with_reserve(Reserve::Part(4));
/// # let _ = options;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ArrayOptions {
    /// The type of an item.
    pub dtype: DType,
    /// The shape of a row; empty when a row is one item.
    pub row_shape: Vec<u64>,
    /// Its chunks and files.
    pub tree: TreeOptions,
}

impl ArrayOptions {
    /// An array of this type.
    #[must_use]
    pub fn new(dtype: DType) -> Self {
        Self { dtype, row_shape: Vec::new(), tree: TreeOptions::default() }
    }

    /// An array of numbers of type `T`.
    #[must_use]
    pub fn of<T: Element>() -> Self {
        Self::new(T::dtype())
    }

    /// Its only column, which has no name.
    #[expect(clippy::unnecessary_wraps, reason = "columns of tables are checked")]
    pub(super) fn leaves(&self) -> Result<Vec<Leaf>> {
        Ok(vec![Leaf { path: Vec::new(), dtype: self.dtype.clone() }])
    }
}

/// How a new [`Table`](super::Table) is made: its columns, in order, which share row shape and
/// chunks.
///
/// ```
/// use superchunk::DType;
/// use superchunk::blsk::TableOptions;
///
/// // A column of a group is named by its path.
/// let options = TableOptions::new()
///     .with_column("id", DType::of::<u32>())
///     .with_column("place/x", DType::of::<f32>())
///     .with_chunk_rows(4096);
/// # let _ = options;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// The names of the columns, which may be paths such as `group/name`, and their types.
    pub columns: Vec<(String, DType)>,
    /// The shape of a row of each column; empty when it is one item.
    pub row_shape: Vec<u64>,
    /// The chunks and files.
    pub tree: TreeOptions,
}

impl TableOptions {
    /// A table without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same options with one more column.
    #[must_use]
    pub fn with_column(self, name: impl Into<String>, dtype: DType) -> Self {
        self.with_columns([(name, dtype)])
    }

    /// The same options with more columns.
    #[must_use]
    pub fn with_columns<N: Into<String>>(
        mut self,
        columns: impl IntoIterator<Item = (N, DType)>,
    ) -> Self {
        self.columns.extend(columns.into_iter().map(|(name, dtype)| (name.into(), dtype)));
        self
    }

    /// The columns, checked: no two alike, none the folder of another.
    pub(super) fn leaves(&self) -> Result<Vec<Leaf>> {
        let mut leaves: Vec<Leaf> = Vec::new();
        for (name, dtype) in &self.columns {
            let path: Vec<String> = name.split('/').map(str::to_owned).collect();
            path.iter().try_for_each(|part| check_column_name(part))?;
            // Some file systems do not tell upper from lower case.
            let folded: Vec<String> = path.iter().map(|part| part.to_lowercase()).collect();
            for other in &leaves {
                let other: Vec<String> =
                    other.path.iter().map(|part| part.to_lowercase()).collect();
                if folded.starts_with(&other) || other.starts_with(&folded) {
                    let words = format!("`{name}` and another column need one folder");
                    return Err(Error::invalid(words));
                }
            }
            leaves.push(Leaf { path, dtype: dtype.clone() });
        }
        Ok(leaves)
    }
}

macro_rules! tree_options {
    ($($options:ident $(.$tree:ident)?)*) => {$(
        impl $options {
            /// The same options with chunks compressed like this.
            #[must_use]
            pub fn with_compress(mut self, compress: CompressOptions) -> Self {
                self$(.$tree)?.compress = compress;
                self
            }

            /// The same options with chunks of this many rows.
            #[must_use]
            pub fn with_chunk_rows(mut self, rows: usize) -> Self {
                self$(.$tree)?.chunk_rows = Some(rows);
                self
            }

            /// The same options with rows that are cut, too: chunks become the cells of a grid.
            #[must_use]
            pub fn with_chunk_row_shape(mut self, shape: impl Into<Vec<usize>>) -> Self {
                self$(.$tree)?.chunk_row_shape = Some(shape.into());
                self
            }

            /// The same options with another number of chunks in a file.
            #[must_use]
            pub fn with_superchunk_size(mut self, chunks: usize) -> Self {
                self$(.$tree)?.superchunk_size = chunks;
                self
            }

            /// The same options with other room after the chunks.
            #[must_use]
            pub fn with_reserve(mut self, reserve: Reserve) -> Self {
                self$(.$tree)?.reserve = reserve;
                self
            }

            /// The same options with another order of items.
            #[must_use]
            pub fn with_order(mut self, order: ItemOrder) -> Self {
                self$(.$tree)?.order = order;
                self
            }

            /// The same options with another moment at which a commit returns.
            #[must_use]
            pub fn with_durability(mut self, durability: Durability) -> Self {
                self$(.$tree)?.durability = durability;
                self
            }
        }
    )*};
}

tree_options! { TreeOptions ArrayOptions.tree TableOptions.tree }

macro_rules! row_options {
    ($($options:ident)*) => {$(
        impl $options {
            /// The same options with rows of this shape.
            #[must_use]
            pub fn with_row_shape(mut self, shape: impl Into<Vec<u64>>) -> Self {
                self.row_shape = shape.into();
                self
            }

            /// The same options with chunks and files like this.
            #[must_use]
            pub fn with_tree(mut self, tree: TreeOptions) -> Self {
                self.tree = tree;
                self
            }
        }
    )*};
}

row_options! { ArrayOptions TableOptions }
