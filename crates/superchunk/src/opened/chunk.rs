//! A chunk that is all of a file or buffer.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::chunk::{Decoder, Header};
use crate::error::Result;
use crate::schunk::OpenOptions;
use crate::spares::Spares;
use crate::store::ReadAt;

/// One chunk, and what is needed to decode it.
///
/// ```
/// use superchunk::{CompressOptions, Opened, OpenOptions, chunk};
///
/// let packed = chunk::compress(&[7; 5000], &CompressOptions::new(1))?;
/// let Opened::Chunk(chunk) = OpenOptions::new().open_bytes(packed)? else { unreachable!() };
/// let mut some = [0; 2];
/// chunk.read_bytes(100..102, &mut some)?;
/// assert_eq!((chunk.header().len(), some), (5000, [7, 7]));
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct StoredChunk {
    bytes: ChunkBytes,
    header: Header,
    options: OpenOptions,
    decoders: Spares<Decoder>,
}

/// The bytes of the chunk.
enum ChunkBytes {
    /// In memory already.
    Store(Arc<dyn ReadAt>),
    /// Read from elsewhere.
    Loaded(Vec<u8>),
}

impl StoredChunk {
    pub(super) fn open(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        let len = usize::try_from(store.len()?).unwrap_or(usize::MAX);
        let bytes = match store.as_bytes() {
            Some(_) => ChunkBytes::Store(store),
            None => {
                options.limits.check_decoded(len)?;
                let mut bytes = vec![0; len];
                store.read_exact_at(0, &mut bytes)?;
                ChunkBytes::Loaded(bytes)
            }
        };
        let header = Header::parse(bytes.as_slice())?;
        Ok(Self { bytes, header, options: options.clone(), decoders: Spares::default() })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The compressed bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Decodes all of it.
    pub fn decompress(&self) -> Result<Vec<u8>> {
        self.with_decoder(|decoder| decoder.decompress(self.as_bytes()))
    }

    /// Reads decoded bytes into the start of `dst` and returns their number. Only the blocks that
    /// hold them are decoded.
    pub fn read_bytes(&self, range: Range<usize>, dst: &mut [u8]) -> Result<usize> {
        self.with_decoder(|decoder| decoder.read_bytes(self.as_bytes(), range, dst))
    }

    /// Reads items of the size that the header states into the start of `dst` and returns their
    /// length in bytes. Only the blocks that hold them are decoded.
    pub fn read_items(&self, items: Range<usize>, dst: &mut [u8]) -> Result<usize> {
        self.with_decoder(|decoder| decoder.read_items(self.as_bytes(), items, dst))
    }

    fn with_decoder<T>(&self, read: impl FnOnce(&mut Decoder) -> Result<T>) -> Result<T> {
        let new = || {
            Decoder::new()
                .with_limits(self.options.limits)
                .with_executor(self.options.executor.clone())
                .with_registry(self.options.registry.clone())
                .with_marks(self.options.marks)
        };
        self.decoders.lend(new, read)
    }
}

impl ChunkBytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            // A store that has bytes keeps them as long as it lives.
            Self::Store(store) => store.as_bytes().unwrap_or_default(),
            Self::Loaded(bytes) => bytes,
        }
    }
}

impl fmt::Debug for StoredChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredChunk").field("header", &self.header).finish_non_exhaustive()
    }
}
