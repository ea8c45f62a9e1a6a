//! What a caller can choose when creating an array.

use crate::dtype::{DType, Element};
use crate::options::CompressOptions;
use crate::schunk::FrameOptions;

/// What a new array is filled with; it takes no time and hardly any space.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FillValue {
    /// Zero bytes.
    Zeros,
    /// NaN; for floats of 4 or 8 bytes in little-endian order.
    Nans,
    /// Nothing: the items read as zeros, and the file says that nobody has set them.
    Uninitialised,
    /// The bytes of one item.
    Value(Vec<u8>),
}

/// How an array is stored, whatever it holds: what copies and results of operations can differ in.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct NdStorage {
    /// The frame that holds it. Item size, chunk size, block size and block shape come from the array.
    pub frame: FrameOptions,
    /// The shape of a chunk; chosen when `None`.
    pub chunks: Option<Vec<usize>>,
    /// The shape of a block; chosen when `None`.
    pub blocks: Option<Vec<usize>>,
}

impl NdStorage {
    /// An array in a frame like this, with chunk and block shapes that suit it
    /// (`docs/guide/chunk-and-block-shapes.md`).
    #[must_use]
    pub fn new(frame: FrameOptions) -> Self {
        Self { frame, chunks: None, blocks: None }
    }
}

impl Default for NdStorage {
    /// A contiguous frame of LZ4 chunks at level 5.
    fn default() -> Self {
        Self::new(FrameOptions::new(CompressOptions::new(1)))
    }
}

/// How a new array is made: its shape, its type, and how it is stored.
///
/// ```
/// use superchunk::{Codec, CompressOptions, FrameOptions, NdArray, NdOptions};
///
/// let frame = FrameOptions::new(CompressOptions::of::<f32>().with_codec(Codec::Zstd));
/// let options = NdOptions::of::<f32>(&[1000, 1000])
///     .with_frame(frame)
///     .with_chunks(&[100, 100])
///     .with_blocks(&[25, 50]);
/// let array = NdArray::in_memory(&options)?;
/// assert_eq!(array.chunk_shape(), [100, 100]);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct NdOptions {
    /// The length of each dimension.
    pub shape: Vec<u64>,
    /// The type of an item.
    pub dtype: DType,
    /// What its items are.
    pub fill: FillValue,
    /// How it is stored.
    pub storage: NdStorage,
}

impl NdOptions {
    /// An array of zeros of this shape and type, in a contiguous frame of LZ4 chunks at level 5.
    #[must_use]
    pub fn new(shape: &[u64], dtype: DType) -> Self {
        let storage = NdStorage::default();
        Self { shape: shape.to_vec(), dtype, fill: FillValue::Zeros, storage }
    }

    /// The same for numbers of type `T`.
    #[must_use]
    pub fn of<T: Element>(shape: &[u64]) -> Self {
        Self::new(shape, T::dtype())
    }

    /// The same options with other items than zeros.
    #[must_use]
    pub fn with_fill(mut self, fill: FillValue) -> Self {
        self.fill = fill;
        self
    }

    /// The same options for an array that is stored like this.
    #[must_use]
    pub fn with_storage(mut self, storage: NdStorage) -> Self {
        self.storage = storage;
        self
    }
}

macro_rules! storage_options {
    ($($options:ident $(.$storage:ident)?)*) => {$(
        impl $options {
            /// The same options with another frame.
            #[must_use]
            pub fn with_frame(mut self, frame: FrameOptions) -> Self {
                self$(.$storage)?.frame = frame;
                self
            }

            /// The same options with chunks of this shape.
            #[must_use]
            pub fn with_chunks(mut self, shape: &[usize]) -> Self {
                self$(.$storage)?.chunks = Some(shape.to_vec());
                self
            }

            /// The same options with blocks of this shape.
            #[must_use]
            pub fn with_blocks(mut self, shape: &[usize]) -> Self {
                self$(.$storage)?.blocks = Some(shape.to_vec());
                self
            }
        }
    )*};
}

storage_options! { NdStorage NdOptions.storage }
