//! Reading and writing stored integers. Those of chunks are little endian, those of frames and of
//! [`msgpack`] big endian.
//!
//! [`Reader`] is the only place where untrusted bytes are cut: it can run out, never overrun. Texts
//! are the matter of [`json`].

pub(crate) mod json;
pub(crate) mod msgpack;
mod reader;

pub(crate) use reader::Reader;

use crate::error::{Error, ErrorKind, Result};

/// A stored 32-bit length or position as an index; `None` when negative.
pub(crate) fn index(stored: i32) -> Option<usize> {
    usize::try_from(stored).ok()
}

/// The bytes that a store has put into `dst`, by its own count of them. Stores are also those of
/// callers.
pub(crate) fn filled(dst: &[u8], count: usize) -> Result<&[u8]> {
    dst.get(..count).ok_or_else(|| {
        let words = format!("the store returned {count} bytes where {} were asked for", dst.len());
        Error::new(ErrorKind::Io, words)
    })
}

/// The first `len` bytes; all where there are fewer.
pub(crate) fn at_most(bytes: &[u8], len: usize) -> &[u8] {
    bytes.split_at_checked(len).map_or(bytes, |(first, _)| first)
}

/// An index as a stored 32-bit integer.
pub(crate) fn stored(index: usize) -> Result<i32> {
    i32::try_from(index)
        .map_err(|_| Error::limit(format!("{index} does not fit a 32-bit field of the chunk")))
}
