//! The class `SChunk`.
//!
//! | file | duty |
//! |---|---|
//! | `items` | between the brackets: bytes of items, reading, writing, appending |
//! | `chunks` | whole chunks |
//! | `create` | new ones, and copies |

mod chunks;
mod create;
mod items;

use std::fmt;

use pyo3::prelude::*;
use superchunk::SuperChunk;

use crate::errors::Outcome;
use crate::frame::Framed;
use crate::handle::{Handle, Held, Origin};
use crate::methods::{frame_methods, handle_methods};

pub(crate) use create::_create_schunk;
pub(crate) use items::{existing, places};

/// Bytes, cut into compressed chunks: items of one size, or chunks of any. Made by `open` and
/// `SChunk.create`.
#[pyclass(frozen, weakref, module = "superchunk")]
pub(crate) struct SChunk {
    handle: Handle<SuperChunk>,
}

handle_methods!(SChunk, "superchunk._frames");
frame_methods!(SChunk);

impl fmt::Debug for SChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

impl Held for SuperChunk {
    fn class(&self) -> &'static str {
        "super-chunk"
    }

    fn commit(&mut self) -> superchunk::Result<()> {
        Self::commit(self)
    }

    fn refresh(&mut self) -> superchunk::Result<()> {
        Self::refresh(self).map(drop)
    }
}

impl Framed for SuperChunk {
    fn frame(&self) -> &SuperChunk {
        self
    }

    fn frame_mut(&mut self) -> superchunk::Result<&mut SuperChunk> {
        Ok(self)
    }
}

impl SChunk {
    pub(crate) fn new(frame: SuperChunk, origin: Origin) -> Self {
        Self { handle: Handle::new(frame, origin) }
    }
}

/// A function of `superchunk/_frames.py`, which does what is simpler in Python.
fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("superchunk._frames")?.getattr(name)
}

#[pymethods]
impl SChunk {
    /// The bytes of an item.
    #[getter]
    fn typesize(&self, py: Python<'_>) -> Outcome<usize> {
        self.handle.read(py, 0, |frame| Ok(frame.item_size()))
    }

    /// The number of items.
    #[getter]
    fn size(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |frame| Ok(frame.item_count()))
    }

    /// The bytes of a block, if one size was chosen for all.
    #[getter]
    fn blocksize(&self, py: Python<'_>) -> Outcome<Option<usize>> {
        self.handle.read(py, 0, |frame| Ok(frame.options().block_size))
    }

    /// The bytes of all items.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |frame| Ok(frame.byte_len()))
    }

    /// Whether it is one file or piece of memory, not a folder with a file for each chunk.
    #[getter]
    fn contiguous(&self, py: Python<'_>) -> Outcome<bool> {
        self.handle.read(py, 0, |frame| Ok(!frame.is_sparse()))
    }

    /// Gives back the room of what was replaced or deleted.
    fn compact(&self, py: Python<'_>) -> Outcome {
        self.handle.write(py, |frame| Ok(frame.compact()?))
    }

    fn __repr__(slf: Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        helper(py, "text_of")?.call1((slf,))?.extract()
    }

    /// A table of what there is to know; `info.to_dict()` has it as values.
    #[getter]
    fn info<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "info_of")?.call1((slf,))
    }
}
