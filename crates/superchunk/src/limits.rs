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
    /// Scratch memory is at most four such lengths for each thread.
    pub max_decoded: usize,
}

impl Default for Limits {
    /// Everything the format allows: chunks of 2 GiB less a few bytes.
    fn default() -> Self {
        Self { max_decoded: i32::MAX as usize }
    }
}

impl Limits {
    /// The same limits with another bound on the decoded length of a chunk.
    #[must_use]
    pub fn with_max_decoded(mut self, bytes: usize) -> Self {
        self.max_decoded = bytes;
        self
    }

    /// Refuses a decoded length above the bound.
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
