//! Whole chunks: as they are stored, and decoded.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use superchunk::{Fill, SuperChunk, chunk};

use super::SChunk;
use crate::buffers::{Input, Memory};
use crate::errors::Outcome;
use crate::frame::existing;

#[pymethods]
impl SChunk {
    /// The bytes of a chunk; written to `dst` if that is given, and then their number.
    #[pyo3(signature = (number, dst = None))]
    fn decompress_chunk<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        dst: Option<&Bound<'py, PyAny>>,
    ) -> Outcome<Bound<'py, PyAny>> {
        let Some(dst) = dst else {
            let bytes = self
                .handle
                .read(py, usize::MAX, |frame| Ok(frame.read_chunk(existing(frame, number)?)?))?;
            return Ok(PyBytes::new(py, &bytes).into_any());
        };
        let mut memory = Memory::of(dst)?;
        let dst = memory.as_mut_slice();
        let len = self.handle.read(py, usize::MAX, |frame| {
            Ok(frame.read_chunk_into(existing(frame, number)?, dst)?)
        })?;
        Ok(len.into_pyobject(py).map_err(PyErr::from)?.into_any())
    }

    /// Appends a compressed chunk as it is; returns the number of chunks.
    fn append_chunk(&self, chunk: &Bound<'_, PyAny>) -> Outcome<usize> {
        self.with_chunk(chunk, |frame, chunk| frame.append_chunk(chunk))
    }

    /// Inserts a compressed chunk before another; returns the number of chunks.
    fn insert_chunk(&self, number: usize, chunk: &Bound<'_, PyAny>) -> Outcome<usize> {
        self.with_chunk(chunk, |frame, chunk| frame.insert_chunk(number, chunk))
    }

    /// Puts a compressed chunk in the place of another; returns the number of chunks.
    fn update_chunk(&self, number: usize, chunk: &Bound<'_, PyAny>) -> Outcome<usize> {
        self.with_chunk(chunk, |frame, chunk| frame.update_chunk(number, chunk))
    }

    /// Compresses bytes into a chunk before another; returns the number of chunks.
    #[pyo3(signature = (number, data, copy = true))]
    fn insert_data(&self, number: usize, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<usize> {
        let _ = copy;
        self.with_chunk(data, |frame, data| {
            let chunk = chunk::compress(data, frame.options())?;
            frame.insert_chunk(number, &chunk)
        })
    }

    /// Compresses bytes into a chunk in the place of another; returns the number of chunks.
    #[pyo3(signature = (number, data, copy = true))]
    fn update_data(&self, number: usize, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<usize> {
        let _ = copy;
        self.with_chunk(data, |frame, data| {
            let chunk = chunk::compress(data, frame.options())?;
            frame.update_chunk(number, &chunk)
        })
    }

    /// Removes a chunk; returns the number of chunks.
    fn delete_chunk(&self, py: Python<'_>, number: usize) -> Outcome<usize> {
        self.handle.write(py, |frame| {
            frame.delete_chunk(existing(frame, number)?)?;
            Ok(frame.chunk_count())
        })
    }

    /// Puts the chunks into another order: the new chunk `i` is the old chunk `order[i]`.
    fn reorder(&self, py: Python<'_>, order: Vec<usize>) -> Outcome {
        self.handle.write(py, |frame| Ok(frame.reorder(&order)?))
    }

    /// Appends so many items that take no room: 'zeros', 'nans' or 'uninit'.
    fn fill(&self, py: Python<'_>, kind: &str, count: u64) -> Outcome {
        let kind = match kind {
            "zeros" => Fill::Zeros,
            "nans" => Fill::Nans,
            "uninit" => Fill::Uninitialised,
            other => {
                let words = format!("kind: expected 'zeros', 'nans' or 'uninit', got '{other}'");
                return Err(PyValueError::new_err(words).into());
            }
        };
        self.handle.write(py, |frame| Ok(frame.append_fill(kind, count)?))
    }
}

impl SChunk {
    fn with_chunk(
        &self,
        bytes: &Bound<'_, PyAny>,
        work: impl FnOnce(&mut SuperChunk, &[u8]) -> superchunk::Result<()> + Send,
    ) -> Outcome<usize> {
        let input = Input::of(bytes)?;
        let slice = input.as_slice();
        self.handle.write(bytes.py(), |frame| {
            work(frame, slice)?;
            Ok(frame.chunk_count())
        })
    }
}
