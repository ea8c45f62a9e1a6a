//! How trees are made.

use crate::frame::Durability;
use crate::options::{ChunkFormat, CompressOptions};
use crate::superfile::{Order, Reserve};

/// How a new tree is made.
///
/// ```
/// use superchunk::blsk::{Options, Reserve};
/// use superchunk::{Codec, CompressOptions};
///
/// let options = Options::default()
///     .with_compress(CompressOptions::new(8).with_codec(Codec::Zstd))
///     .with_chunk_rows(4096)
///     .with_reserve(Reserve::Part(4));
/// # let _ = options;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Options {
    /// Codec, level and filter of the chunks. They are chunks of Blosc1, and their item size is that
    /// of the column. [`Filter::TruncPrec`](crate::Filter::TruncPrec) of 1 to 52 bits is done to new
    /// items before they become chunks.
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
    pub fn with_compress(mut self, compress: CompressOptions) -> Self {
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
