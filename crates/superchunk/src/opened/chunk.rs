//! A chunk that is all of a file, a buffer, or any store.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::chunk::{ChunkBytes, Content, Decoder, Header, LazyChunk, byte_range};
use crate::error::Result;
use crate::filters::scratch;
use crate::schunk::{OpenOptions, wants_more};
use crate::spare::Spare;
use crate::store::ReadAt;

/// What is read of a store first: header and block starts, or all of a small chunk.
const PREFIX: usize = 8192;

/// One chunk, read as far as is needed.
///
/// A chunk that is in memory is not copied. Of one that is elsewhere, opening reads the header and
/// the block starts, and a small part reads the blocks that hold it, and no others; only
/// what needs most of the chunk reads all of it, once.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use superchunk::store::ReadAt;
/// use superchunk::{chunk, CompressOptions, OpenOptions, Result, StoredChunk};
///
/// /// A chunk behind some getter of byte ranges, such as an object in a cloud.
/// struct Object(Vec<u8>, Arc<AtomicU64>);
///
/// impl ReadAt for Object {
///     fn len(&self) -> Result<u64> {
///         Ok(self.0.len() as u64)
///     }
///     fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
///         let bytes = self.0.get(position as usize..).unwrap_or_default();
///         let found = bytes.len().min(dst.len());
///         dst[..found].copy_from_slice(&bytes[..found]);
///         self.1.fetch_add(found as u64, Ordering::Relaxed);
///         Ok(found)
///     }
/// }
///
/// let numbers: Vec<u32> = (0..1_000_000).map(|i| i % 10_007 * 31).collect();
/// let packed = chunk::compress_items(&numbers, &CompressOptions::of::<u32>())?;
/// let (len, read) = (packed.len() as u64, Arc::new(AtomicU64::new(0)));
///
/// let object = Arc::new(Object(packed, Arc::clone(&read)));
/// let chunk = StoredChunk::open_store(object, &OpenOptions::new())?;
/// let mut two = [0; 8];
/// chunk.read_items(500_000..500_002, &mut two)?;
/// assert_eq!(two[..4], numbers[500_000].to_le_bytes());
/// assert!(read.load(Ordering::Relaxed) < len / 4);
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct StoredChunk {
    store: Arc<dyn ReadAt>,
    header: Header,
    /// Where the blocks are, if a part can be read without the others.
    lazy: Option<LazyChunk>,
    /// All bytes, once they were needed.
    loaded: OnceLock<Vec<u8>>,
    options: OpenOptions,
    /// Decoders that are not at work, with their memory: at most one for each thread that was ever
    /// reading at the same time.
    decoders: Spare<Decoder>,
}

impl StoredChunk {
    /// Reads the chunk with which any store begins, or that begins at the
    /// [offset](OpenOptions::with_offset).
    pub fn open_store(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        let store = options.window(store);
        let (decoders, options) = (Spare::default(), options.clone());
        if let Some(bytes) = store.as_bytes() {
            let header = Header::parse(bytes)?;
            let (lazy, loaded) = (None, OnceLock::new());
            return Ok(Self { store, header, lazy, loaded, options, decoders });
        }
        let len = usize::try_from(store.len()?).unwrap_or(usize::MAX);
        let mut start = read(store.as_ref(), 0..len.min(PREFIX))?;
        let header = Header::parse(&start)?;
        let is_in_blocks = matches!(header.content(), Content::Blocks | Content::Stored);
        let prefix = LazyChunk::prefix_len(&header);
        let mut lazy = None;
        if is_in_blocks && (PREFIX..=len).contains(&header.compressed_len()) && prefix < len / 2 {
            if start.len() < prefix {
                options.limits.check_decoded(prefix)?;
                start = read(store.as_ref(), 0..prefix)?;
            }
            // Where the starts are damaged, all of the chunk tells more.
            lazy = LazyChunk::new(&start, 0, 0).ok();
        }
        let loaded = if start.len() == len { OnceLock::from(start) } else { OnceLock::new() };
        Ok(Self { store, header, lazy, loaded, options, decoders })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The compressed bytes, which are read now if they are not in memory.
    pub fn bytes(&self) -> Result<&[u8]> {
        match self.in_memory() {
            Some(bytes) => Ok(bytes),
            None => {
                let len = self.header.compressed_len();
                self.options.limits.check_decoded(len)?;
                let len = usize::try_from(self.store.len()?).unwrap_or(usize::MAX).min(len);
                let all = read(self.store.as_ref(), 0..len)?;
                Ok(self.loaded.get_or_init(|| all))
            }
        }
    }

    /// Decodes all of it.
    pub fn decompress(&self) -> Result<Vec<u8>> {
        let bytes = self.bytes()?;
        self.with_decoder(|decoder| decoder.decompress(bytes))
    }

    /// Reads decoded bytes into the start of `dst` and returns their number. Only the blocks that
    /// hold them are decoded.
    pub fn read_bytes(&self, range: Range<usize>, dst: &mut [u8]) -> Result<usize> {
        let is_small = range.len() < self.header.byte_len() / 2;
        let lazy = self.lazy.as_ref().filter(|_| is_small && self.in_memory().is_none());
        if let Some(lazy) = lazy {
            let source = &mut Stored(self.store.as_ref());
            let part = range.clone();
            match self.with_decoder(|decoder| decoder.read_lazy_from(lazy, part, source, &mut *dst))
            {
                // All of the chunk may tell more.
                Err(error) if wants_more(&error) => {}
                done => return done,
            }
        }
        let bytes = self.bytes()?;
        self.with_decoder(|decoder| decoder.read_bytes(bytes, range, dst))
    }

    /// Reads items of the size that the header states into the start of `dst` and returns their
    /// length in bytes. Only the blocks that hold them are decoded.
    pub fn read_items(&self, items: Range<usize>, dst: &mut [u8]) -> Result<usize> {
        self.read_bytes(byte_range(&items, self.header.item_size())?, dst)
    }

    fn in_memory(&self) -> Option<&[u8]> {
        self.store.as_bytes().or_else(|| self.loaded.get().map(Vec::as_slice))
    }

    fn with_decoder<T>(&self, read: impl FnOnce(&mut Decoder) -> Result<T>) -> Result<T> {
        let mut decoder = self.decoders.take(|| {
            Decoder::new()
                .with_limits(self.options.limits)
                .with_executor(self.options.executor.clone())
                .with_registry(self.options.registry.clone())
                .with_marks(self.options.uses_marks)
        });
        let done = read(&mut decoder);
        self.decoders.keep(decoder);
        done
    }
}

/// The bytes of a chunk in a store.
struct Stored<'a>(&'a dyn ReadAt);

impl ChunkBytes for Stored<'_> {
    fn fetch(&mut self, wanted: Range<usize>, buffer: &mut Vec<u8>) -> Result<usize> {
        // A block that claims more than there is gets no memory for it.
        let end = usize::try_from(self.0.len()?).map_or(wanted.end, |len| len.min(wanted.end));
        let dst = scratch(buffer, end.saturating_sub(wanted.start));
        self.0.read_at(wanted.start as u64, dst)
    }

    fn fetch_piece(&mut self, position: usize, dst: &mut [u8]) -> Result<bool> {
        Ok(self.0.is_near() && self.0.read_at(position as u64, dst)? == dst.len())
    }
}

fn read(store: &dyn ReadAt, range: Range<usize>) -> Result<Vec<u8>> {
    let mut bytes = vec![0; range.len()];
    store.read_exact_at(range.start as u64, &mut bytes)?;
    Ok(bytes)
}

impl fmt::Debug for StoredChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredChunk").field("header", &self.header).finish_non_exhaustive()
    }
}
