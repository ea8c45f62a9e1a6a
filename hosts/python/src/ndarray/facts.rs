//! What there is to know of an array and its chunks.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{NDArray, helper};
use crate::errors::Outcome;

#[pymethods]
impl NDArray {
    /// The length of each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyTuple>> {
        let shape = self.handle.read(py, 0, |array| Ok(array.shape().to_vec()))?;
        Ok(PyTuple::new(py, shape)?)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> Outcome<usize> {
        self.handle.read(py, 0, |array| Ok(array.ndim()))
    }

    /// The type of an item, as NumPy's.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        self.dtype_in(py)
    }

    /// The number of items.
    #[getter]
    fn size(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |array| Ok(array.item_count()))
    }

    /// The bytes of an item.
    #[getter]
    fn itemsize(&self, py: Python<'_>) -> Outcome<usize> {
        self.handle.read(py, 0, |array| Ok(array.item_size()))
    }

    /// The bytes of all items.
    #[getter]
    pub(super) fn nbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |array| Ok(array.item_count() * array.item_size() as u64))
    }

    /// The shape of a chunk.
    #[getter]
    fn chunks<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyTuple>> {
        let shape = self.handle.read(py, 0, |array| Ok(array.chunk_shape().to_vec()))?;
        Ok(PyTuple::new(py, shape)?)
    }

    /// The shape of a block.
    #[getter]
    fn blocks<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyTuple>> {
        let shape = self.handle.read(py, 0, |array| Ok(array.block_shape().to_vec()))?;
        Ok(PyTuple::new(py, shape)?)
    }

    /// A table of what there is to know; `info.to_dict()` has it as values.
    #[getter]
    fn info<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "info_of")?.call1((slf,))
    }

    fn __repr__(slf: Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        helper(py, "text_of")?.call1((slf,))?.extract()
    }

    fn _repr_html_(slf: Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        helper(py, "html_of")?.call1((slf,))?.extract()
    }

    fn __dask_tokenize__<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "token_of")?.call1((slf,))
    }

    /// Every chunk: its coordinates in the grid of chunks, the slices of its box, and its items.
    fn iter_chunks<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "iter_chunks")?.call1((slf,))
    }

    /// What is known of every chunk without decoding it.
    fn iter_chunks_info<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "iter_chunks_info")?.call1((slf,))
    }
}
