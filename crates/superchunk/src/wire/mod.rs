//! Reading and writing stored integers. Those of chunks are little endian, those of frames and of
//! [`msgpack`] big endian.
//!
//! [`Reader`] is the only place where untrusted bytes are cut: it can run out, never overrun. Texts
//! are the matter of [`json`].

pub(crate) mod json;
pub(crate) mod msgpack;
mod reader;

pub(crate) use reader::Reader;

use crate::error::{Error, Result};

/// A stored 32-bit length or position as an index; `None` when negative.
pub(crate) fn index(stored: i32) -> Option<usize> {
    usize::try_from(stored).ok()
}

/// An index as a stored 32-bit integer.
pub(crate) fn stored(index: usize) -> Result<i32> {
    i32::try_from(index)
        .map_err(|_| Error::limit(format!("{index} does not fit a 32-bit field of the chunk")))
}
