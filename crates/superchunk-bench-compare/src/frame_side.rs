//! What both sides of the frame benches must be able to do.

use std::ops::Range;
use std::path::Path;

use crate::contestant::Answer;

/// An implementation that writes and opens contiguous frames in files.
pub(crate) trait FrameSide {
    /// Creates a frame of full chunks, appends the pieces one by one, makes it complete and closes it.
    fn write(&self, path: &Path, chunk_size: usize, pieces: &[&[u8]]) -> Answer<()>;

    /// Opens a frame for reading.
    fn open<'a>(&'a self, path: &Path) -> Answer<Box<dyn FrameReader + 'a>>;
}

/// An open frame.
pub(crate) trait FrameReader {
    fn chunk_count(&self) -> u64;

    /// Bytes of plain data.
    fn len(&self) -> u64;

    /// Decodes a chunk into a buffer that has room for it; returns its length.
    fn read_chunk(&mut self, index: u64, dst: &mut [u8]) -> Answer<usize>;

    /// Decodes the items of a range into a buffer of exactly their size.
    fn read_items(&mut self, items: Range<u64>, dst: &mut [u8]) -> Answer<()>;
}
