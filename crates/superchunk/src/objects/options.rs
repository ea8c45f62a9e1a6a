//! What a caller can choose when creating a store of objects.

use super::packing::ObjectPacking;
use crate::options::{Codec, CompressOptions};
use crate::schunk::FrameOptions;

/// What a block is filled to: short enough to be decoded for one object in a millisecond or two, and
/// long enough for strings to take no more than 5 % above the least space (docs/bench).
const BLOCK_LEN: usize = 3 << 19;

/// What the objects of a store are.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// UTF-8 text; `str` in Python.
    Text,
    /// Bytes; `bytes` in Python.
    Bytes,
    /// Any [`Value`](crate::Value).
    Values,
}

/// How a new store of objects is made.
///
/// ```
/// use superchunk::{Objects, ObjectsOptions};
///
/// // Shorter blocks take more space, and less time to read one object from.
/// let options = ObjectsOptions::texts().with_block_len(64 << 10);
/// let mut names = Objects::in_memory(&options)?;
/// names.extend(["Ada", "Grace"])?;
/// assert_eq!(names.text(1)?, "Grace");
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct ObjectsOptions {
    /// What the objects are.
    pub kind: ObjectKind,
    /// How the objects of a block are written.
    pub packing: ObjectPacking,
    /// The frame that holds them. Item size and chunk size come from the store.
    pub frame: FrameOptions,
    /// About how many bytes a block has before it is compressed. One object is read by decoding one
    /// block; an object that is longer than this has a block of its own.
    pub block_len: usize,
}

impl ObjectsOptions {
    /// Objects of this kind as python-blosc2 has them in a contiguous frame, compressed by Zstandard
    /// at level 5, in blocks of about 1.5 MiB.
    #[must_use]
    pub fn new(kind: ObjectKind) -> Self {
        let compress = CompressOptions::new(1).with_codec(Codec::Zstd).with_filters([]);
        let packing = ObjectPacking::Msgpack;
        Self { kind, packing, frame: FrameOptions::new(compress), block_len: BLOCK_LEN }
    }

    /// The same for UTF-8 texts.
    #[must_use]
    pub fn texts() -> Self {
        Self::new(ObjectKind::Text)
    }

    /// The same for bytes.
    #[must_use]
    pub fn bytes() -> Self {
        Self::new(ObjectKind::Bytes)
    }

    /// The same for values of any kind.
    #[must_use]
    pub fn values() -> Self {
        Self::new(ObjectKind::Values)
    }

    /// The same options with objects written in this way.
    #[must_use]
    pub fn with_packing(mut self, packing: ObjectPacking) -> Self {
        self.packing = packing;
        self
    }

    /// The same options with another frame.
    #[must_use]
    pub fn with_frame(mut self, frame: FrameOptions) -> Self {
        self.frame = frame;
        self
    }

    /// The same options with another compression. The item size is always 1.
    #[must_use]
    pub fn with_compress(mut self, compress: CompressOptions) -> Self {
        self.frame.compress = compress;
        self
    }

    /// The same options with blocks of about this many bytes.
    #[must_use]
    pub fn with_block_len(mut self, bytes: usize) -> Self {
        self.block_len = bytes;
        self
    }
}
