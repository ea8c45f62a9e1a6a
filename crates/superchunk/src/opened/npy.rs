//! A `.npy` file: its header, and its items where they are.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::npy::{self, NpyHeader};
use crate::schunk::OpenOptions;
use crate::store::ReadAt;

/// The most bytes of a header, its length field included: more than any file that was seen has.
const MAX_HEADER: u64 = 1 << 20;

/// An array as NumPy stores it.
///
/// ```
/// use superchunk::{DType, Opened, OpenOptions, npy};
///
/// let mut file = npy::write_header(&DType::of::<u8>(), &[3]);
/// file.extend([7, 8, 9]);
/// let Opened::Npy(array) = OpenOptions::new().open_bytes(file)? else { unreachable!() };
/// let mut last = [0];
/// array.read_bytes(2..3, &mut last)?;
/// assert_eq!((array.header().shape.as_slice(), last), (&[3][..], [9]));
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct NpyFile {
    store: Arc<dyn ReadAt>,
    header: NpyHeader,
    /// The bytes of all items.
    len: u64,
}

impl NpyFile {
    pub(super) fn open(store: Arc<dyn ReadAt>, options: &OpenOptions) -> Result<Self> {
        let file_len = store.len()?;
        let most = MAX_HEADER.min(options.limits.max_parsed() as u64);
        let mut start = vec![0; usize::try_from(file_len.min(most)).unwrap_or_default()];
        store.read_exact_at(0, &mut start)?;
        let header = npy::read_header(&start).map_err(|error| match error.kind() {
            ErrorKind::Truncated if file_len > start.len() as u64 => {
                Error::limit(format!("the header takes more than {} bytes", start.len()))
            }
            _ => error,
        })?;
        let len = header.data_len()? as u64;
        let found = file_len.saturating_sub(header.data_offset as u64);
        if found < len {
            let words = format!("the array has {len} bytes, {found} are here");
            return Err(Error::truncated(words).at("npy", "shape", 10));
        }
        Ok(Self { store, header, len })
    }

    /// Type, shape and order of the items.
    #[must_use]
    pub fn header(&self) -> &NpyHeader {
        &self.header
    }

    /// The bytes of all items.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.len
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads bytes of the items, in the order of the file, into `dst`, which is exactly as long.
    pub fn read_bytes(&self, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::invalid(format!(
                "bytes {range:?} of the items, of which there are {}",
                self.len
            )));
        }
        if range.end - range.start != dst.len() as u64 {
            return Err(Error::invalid(format!(
                "bytes {range:?} do not fill a buffer of {}",
                dst.len()
            )));
        }
        self.store.read_exact_at((self.header.data_offset as u64).saturating_add(range.start), dst)
    }
}

impl fmt::Debug for NpyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NpyFile").field("header", &self.header).finish_non_exhaustive()
    }
}
