//! What an input may make the library allocate.

use crate::error::{Error, Result};

/// Bounds that are checked before memory is taken, because an input of 32 bytes may claim to hold
/// two gigabytes.
///
/// ```
/// use superchunk::{chunk, CompressOptions, ErrorKind, Limits};
///
/// let zeros = chunk::compress(&vec![0; 1 << 20], &CompressOptions::new(1))?;
/// let mut decoder = chunk::Decoder::new().with_limits(Limits::default().with_max_decoded(1000));
/// assert_eq!(decoder.decompress(&zeros).unwrap_err().kind(), ErrorKind::LimitExceeded);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes one chunk may decode to, and the largest block that a part is read from.
    /// Scratch memory is at most four such lengths, and with `n` threads at most `1 + ln n` times
    /// that: blocks of a chunk are shared, and several chunks are decoded at the same time only if
    /// they have no more bytes together.
    pub max_decoded: usize,
    /// The most bytes that the header, the index and the metadata of a container may take, each as
    /// stored and as decoded.
    pub max_metadata: usize,
}

impl Default for Limits {
    /// Everything the format allows of a chunk, 2 GiB less a few bytes; 256 MiB of metadata, which is
    /// an index of 33 million chunks.
    fn default() -> Self {
        Self { max_decoded: i32::MAX as usize, max_metadata: 256 << 20 }
    }
}

impl Limits {
    /// The same limits with another bound on the decoded length of a chunk.
    #[must_use]
    pub fn with_max_decoded(mut self, bytes: usize) -> Self {
        self.max_decoded = bytes;
        self
    }

    /// The same limits with another bound on the metadata of a container.
    #[must_use]
    pub fn with_max_metadata(mut self, bytes: usize) -> Self {
        self.max_metadata = bytes;
        self
    }

    /// The number of threads, at most `threads`, that may each hold `len` bytes of chunks at the
    /// same time.
    pub(crate) fn threads_holding(&self, len: usize, threads: usize) -> usize {
        let most = self.max_decoded.checked_div(len).unwrap_or(threads);
        most.min(threads).max(1)
    }

    /// Refuses metadata above the bound.
    pub(crate) fn check_metadata(&self, part: &'static str, len: u64) -> Result<()> {
        if usize::try_from(len).is_ok_and(|len| len <= self.max_metadata) {
            return Ok(());
        }
        Err(Error::limit(format!(
            "the {part} takes {len} bytes, the limit is {} (raise Limits::max_metadata)",
            self.max_metadata
        )))
    }

    /// The most bytes of a text that is parsed: two letters become a value of 32 bytes, so that this
    /// is where its values fill the bound.
    pub(crate) fn max_parsed(&self) -> usize {
        self.max_metadata / 16
    }

    /// Refuses a text whose values would not fit the bound.
    pub(crate) fn check_parsed(&self, part: &'static str, len: u64) -> Result<()> {
        if usize::try_from(len).is_ok_and(|len| len <= self.max_parsed()) {
            return Ok(());
        }
        Err(Error::limit(format!(
            "the {part} has {len} bytes, of which {} are parsed (raise Limits::max_metadata)",
            self.max_parsed()
        )))
    }

    /// Refuses a decoded length above the bound.
    #[inline]
    pub(crate) fn check_decoded(&self, nbytes: usize) -> Result<()> {
        if nbytes <= self.max_decoded {
            return Ok(());
        }
        Err(Error::limit(format!(
            "decoding takes {nbytes} bytes, the limit is {} (raise Limits::max_decoded)",
            self.max_decoded
        ))
        .at("chunk", "nbytes", 4))
    }
}
