//! What is asked of the peer and what it tells.

use std::path::PathBuf;

/// The content of a metalayer at creation.
#[derive(Clone, Debug)]
pub enum MetaContent {
    /// Stored as it is; at least one byte.
    Raw(Vec<u8>),
    /// A Python `bytes` value, which the peer packs as msgpack.
    Packed(Vec<u8>),
}

/// How a super-chunk shall be made; codecs, filters and split modes are the numbers of the C interface.
#[derive(Clone, Debug)]
pub struct FrameParams {
    /// Where to write it; `None` keeps it in memory. What is there is replaced.
    pub path: Option<PathBuf>,
    /// One file (or one buffer) instead of a directory (or separate chunks).
    pub contiguous: bool,
    /// Whether to use the lock file beside the frame (not in the old peer).
    pub locking: bool,
    /// Bytes per chunk.
    pub chunk_size: u32,
    /// Bytes per item.
    pub item_size: u32,
    /// 0 blosclz, 1 lz4, 2 lz4hc, 4 zlib, 5 zstd.
    pub codec: u8,
    /// 0 to 9.
    pub level: u8,
    /// Bytes per block, or 0 for the library's choice.
    pub block_size: u32,
    /// 1 always, 2 never, 3 automatic, 4 forward compatible.
    pub split: u8,
    /// Whether to train and store a dictionary in each chunk.
    pub dictionary: bool,
    /// Up to six filters with their meta bytes, in the order in which they run.
    pub filters: Vec<(u8, u8)>,
    /// Metalayers, in their order.
    pub metalayers: Vec<(String, MetaContent)>,
}

impl FrameParams {
    /// A contiguous frame in memory: LZ4, level 5, byte shuffle, no metalayers.
    #[must_use]
    pub fn new(item_size: u32, chunk_size: u32) -> Self {
        Self {
            path: None,
            contiguous: true,
            locking: false,
            chunk_size,
            item_size,
            codec: 1,
            level: 5,
            block_size: 0,
            split: 3,
            dictionary: false,
            filters: vec![(1, 0)],
            metalayers: Vec::new(),
        }
    }

    /// The same, at this path.
    #[must_use]
    pub fn at(self, path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), ..self }
    }
}

/// What the peer says of a super-chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameInfo {
    /// Number of chunks.
    pub chunk_count: u64,
    /// Bytes of plain data.
    pub nbytes: u64,
    /// Bytes of compressed data.
    pub cbytes: u64,
    /// Bytes of a full chunk; 0 when chunks vary.
    pub chunk_size: u64,
    /// Bytes per item.
    pub item_size: u64,
    /// Bytes per block, 0 when automatic.
    pub block_size: u64,
    /// Names of the metalayers.
    pub metas: Vec<String>,
    /// Names of the variable-length metalayers.
    pub vlmetas: Vec<String>,
}

/// Values that fill a super-chunk without being stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special<'a> {
    /// Zero bytes.
    Zeros,
    /// Not-a-number of the item size.
    Nans,
    /// This item again and again (not in the old peer).
    Value(&'a [u8]),
    /// Anything.
    Uninit,
}
