//! What a caller can choose when compressing.

mod names;

use crate::block_shape::BlockShape;
use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::registry::Registry;

/// The largest block, and the largest item, that a Blosc2 header may state.
pub(crate) const MAX_BLOCKSIZE: usize = 536_866_816;

/// The compressor of the streams.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Blosc's own LZ77: fast, modest ratio.
    BloscLz,
    /// LZ4: the fastest to decompress.
    Lz4,
    /// LZ4 with a slow, thorough search; the same format as LZ4.
    Lz4Hc,
    /// Deflate with a zlib wrapper.
    Zlib,
    /// Zstandard: the best ratio.
    Zstd,
    /// Cells of a 2-D block of bytes; `cell` is 4 or 8. Needs a [`BlockShape`].
    NdLz {
        /// The side of a cell.
        cell: u8,
    },
    /// A codec of the [`Registry`].
    Registered {
        /// Its wire id.
        id: u8,
        /// Its parameter, stored in the header.
        meta: u8,
    },
}

/// One step of the pipeline that prepares a block for the codec.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// All first bytes of the items, then all second bytes, and so on.
    Shuffle,
    /// [`Filter::Shuffle`] by groups of this many bytes instead of the item size. C-Blosc2 before
    /// 2.23 ignores the number.
    ShuffleBy(u8),
    /// All first bits of the items, then all second bits, and so on.
    BitShuffle,
    /// XOR with the first block.
    Delta,
    /// Keeps this many bits of a float's mantissa (negative: drops that many). Lossy.
    TruncPrec(i8),
    /// Differences of neighbouring bytes in each of this many channels (0: the item size). Belongs
    /// after [`Filter::Shuffle`].
    ByteDelta(u8),
    /// Keeps this many bits of an integer (negative: drops that many). Lossy.
    IntTrunc(i8),
    /// Reorders an N-d block into cells of this side. Needs a [`BlockShape`].
    NdCell(u8),
    /// Replaces each cell of this side by its mean. Lossy; floats only. Needs a [`BlockShape`].
    NdMean(u8),
    /// A filter of the [`Registry`].
    Registered {
        /// Its wire id.
        id: u8,
        /// Its parameter, stored in the header.
        meta: u8,
    },
}

/// Whether a block is stored as one stream, or as one stream for each byte of an item.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitMode {
    /// Split where it helps: shuffled items of up to 16 bytes.
    #[default]
    Auto,
    /// Split every block that holds at least one item.
    Always,
    /// Never split.
    Never,
}

/// The generation of the chunk.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChunkFormat {
    /// What C-Blosc 1 and everything later reads: a 16-byte header, at most one shuffle.
    Blosc1,
    /// What C-Blosc2 reads: a 32-byte header, filter pipelines, runs, special values.
    #[default]
    Blosc2,
}

/// All choices of an encoder. Checked once, by [`Encoder::new`](crate::chunk::Encoder::new).
///
/// ```
/// use superchunk::{chunk, Codec, CompressOptions, Filter};
///
/// let options = CompressOptions::new(4).with_codec(Codec::Zstd).with_filters([Filter::BitShuffle]);
/// let packed = chunk::compress(&[7; 4000], &options)?;
/// assert!(packed.len() < 100);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct CompressOptions {
    /// The bytes of one item, 1 and up. Above 255 the chunk does not record it and no filter uses it.
    pub item_size: usize,
    /// The compressor. LZ4 by default.
    pub codec: Codec,
    /// 0 (store) to 9 (smallest). 5 by default.
    pub level: u8,
    /// Up to six steps, applied in order. One [`Filter::Shuffle`] by default.
    pub filters: Vec<Filter>,
    /// The bytes of a block, or `None` for a choice that suits codec, level and item size.
    pub block_size: Option<usize>,
    /// Whether blocks are split into streams.
    pub split: SplitMode,
    /// Whether to make a dictionary shared by the blocks (Zstd, LZ4, LZ4HC).
    pub dictionary: bool,
    /// Whether long streams of LZ4, LZ4HC, BloscLZ and Zlib get marks where that pays off, by which
    /// a few items are found without decoding what precedes them. They take about 0.3 % of such
    /// streams; other readers skip them. Off by default: a reader that uses them
    /// ([`Decoder::with_marks`](crate::chunk::Decoder::with_marks)) has to trust the writer.
    pub marks: bool,
    /// Whether every new chunk is decoded and compared with what went in before it is stored, see
    /// [`with_check`](Self::with_check). Off by default.
    pub check: bool,
    /// The generation of the chunk.
    pub format: ChunkFormat,
    /// The N-d shape of a block, for the N-d filters and codecs.
    pub block_shape: Option<BlockShape>,
    /// Codecs and filters beside the built-in ones.
    pub registry: Registry,
    /// Who does the work. The output is the same whoever does it.
    pub executor: Executor,
}

impl CompressOptions {
    /// Options for items of `item_size` bytes: LZ4 at level 5 after a shuffle, on this thread.
    #[must_use]
    pub fn new(item_size: usize) -> Self {
        Self {
            item_size,
            codec: Codec::Lz4,
            level: 5,
            filters: vec![Filter::Shuffle],
            block_size: None,
            split: SplitMode::Auto,
            dictionary: false,
            marks: false,
            check: false,
            format: ChunkFormat::Blosc2,
            block_shape: None,
            registry: Registry::new(),
            executor: Executor::inline(),
        }
    }

    /// Options for items of type `T`.
    #[must_use]
    pub fn of<T: bytemuck::Pod>() -> Self {
        Self::new(size_of::<T>())
    }

    /// The same options with another codec.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    /// The same options with another level.
    #[must_use]
    pub fn with_level(mut self, level: u8) -> Self {
        self.level = level;
        self
    }

    /// The same options with these filters instead.
    #[must_use]
    pub fn with_filters(mut self, filters: impl IntoIterator<Item = Filter>) -> Self {
        self.filters = filters.into_iter().collect();
        self
    }

    /// The same options with a fixed block size.
    #[must_use]
    pub fn with_block_size(mut self, bytes: usize) -> Self {
        self.block_size = Some(bytes);
        self
    }

    /// The same options with another split mode.
    #[must_use]
    pub fn with_split(mut self, split: SplitMode) -> Self {
        self.split = split;
        self
    }

    /// The same options with or without marks.
    #[must_use]
    pub fn with_marks(mut self, marks: bool) -> Self {
        self.marks = marks;
        self
    }

    /// The same options with or without a check of every new chunk: a hedge against an encoder, a
    /// codec of the [`Registry`] or a memory that makes mistakes.
    ///
    /// Each chunk is decoded right after it was encoded, the way a reader does it, and compared
    /// with what went in. A difference is
    /// [`ErrorKind::Miscompressed`](crate::ErrorKind::Miscompressed), and nothing is stored. Marks
    /// are checked, too. This costs about one decompression, and holds one more decoded chunk in
    /// memory while it lasts.
    ///
    /// A lossy filter changes what is expected: the filters up to the last lossy one are applied to
    /// the input and undone again, and that is what the chunk must decode to. Those after it must
    /// be exact.
    ///
    /// ```
    /// use superchunk::{chunk, CompressOptions};
    ///
    /// let options = CompressOptions::new(4).with_check(true);
    /// let packed = chunk::compress(&[7; 4000], &options)?; // known to decode to these bytes
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    #[must_use]
    pub fn with_check(mut self, check: bool) -> Self {
        self.check = check;
        self
    }

    /// The same options with or without a dictionary.
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: bool) -> Self {
        self.dictionary = dictionary;
        self
    }

    /// The same options for another generation of the chunk format.
    #[must_use]
    pub fn with_format(mut self, format: ChunkFormat) -> Self {
        self.format = format;
        self
    }

    /// The same options for N-d blocks of this shape.
    #[must_use]
    pub fn with_block_shape(mut self, shape: BlockShape) -> Self {
        self.block_shape = Some(shape);
        self
    }

    /// The same options with the user's codecs and filters.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// The same options with the work done by `executor`.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// The checks that need no knowledge of filters and codecs.
    pub(crate) fn validate(&self) -> Result<()> {
        if self.item_size == 0 || self.item_size > MAX_BLOCKSIZE {
            return Err(Error::invalid(format!(
                "the item size is {}, it must be 1 to {MAX_BLOCKSIZE}",
                self.item_size
            )));
        }
        if self.level > 9 {
            return Err(Error::invalid(format!("the level is {}, it must be 0 to 9", self.level)));
        }
        if self.block_size.is_some_and(|size| size == 0 || size > MAX_BLOCKSIZE) {
            return Err(Error::invalid(format!("the block size must be 1 to {MAX_BLOCKSIZE}")));
        }
        if self.dictionary && !matches!(self.codec, Codec::Zstd | Codec::Lz4 | Codec::Lz4Hc) {
            return Err(Error::invalid("dictionaries work with Zstd, LZ4 and LZ4HC only"));
        }
        if self.format == ChunkFormat::Blosc1 { self.validate_blosc1() } else { Ok(()) }
    }

    fn validate_blosc1(&self) -> Result<()> {
        let plain_filters =
            matches!(self.filters.as_slice(), [] | [Filter::Shuffle | Filter::BitShuffle]);
        if !plain_filters {
            return Err(Error::invalid("a Blosc1 chunk takes no filter, Shuffle, or BitShuffle"));
        }
        if matches!(self.codec, Codec::NdLz { .. } | Codec::Registered { .. }) {
            return Err(Error::invalid("a Blosc1 chunk takes BloscLZ, LZ4, LZ4HC, Zlib or Zstd"));
        }
        if self.dictionary {
            return Err(Error::invalid("a Blosc1 chunk has no place for a dictionary"));
        }
        Ok(())
    }
}
