//! What a caller can choose when creating an array.

use crate::options::CompressOptions;
use crate::schunk::FrameOptions;

/// How a new array is made.
///
/// ```
/// use superchunk::{Codec, CompressOptions, DType, FrameOptions, NdArray, NdOptions};
///
/// let frame = FrameOptions::new(CompressOptions::of::<f32>().with_codec(Codec::Zstd));
/// let options = NdOptions::new(frame).with_chunks(&[100, 100]).with_blocks(&[25, 50]);
/// let array = NdArray::in_memory(&[1000, 1000], &DType::of::<f32>(), &options)?;
/// assert_eq!(array.chunk_shape(), [100, 100]);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct NdOptions {
    /// The frame that holds it. Item size, chunk size, block size and block shape come from the array.
    pub frame: FrameOptions,
    /// The shape of a chunk; chosen when `None`.
    pub chunks: Option<Vec<usize>>,
    /// The shape of a block; chosen when `None`.
    pub blocks: Option<Vec<usize>>,
}

impl NdOptions {
    /// An array in a frame like this, with chunk and block shapes that suit it
    /// (`docs/guide/chunk-and-block-shapes.md`).
    #[must_use]
    pub fn new(frame: FrameOptions) -> Self {
        Self { frame, chunks: None, blocks: None }
    }

    /// The same options with chunks of this shape.
    #[must_use]
    pub fn with_chunks(mut self, shape: &[usize]) -> Self {
        self.chunks = Some(shape.to_vec());
        self
    }

    /// The same options with blocks of this shape.
    #[must_use]
    pub fn with_blocks(mut self, shape: &[usize]) -> Self {
        self.blocks = Some(shape.to_vec());
        self
    }
}

impl Default for NdOptions {
    /// A contiguous frame of LZ4 chunks at level 5.
    fn default() -> Self {
        Self::new(FrameOptions::new(CompressOptions::new(1)))
    }
}
