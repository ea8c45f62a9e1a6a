//! What there is to know of an array and its chunks.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use superchunk::chunk::Content;
use superchunk::{Filter, SplitMode};

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
    fn nbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |array| Ok(array.item_count() * array.item_size() as u64))
    }

    /// The bytes that the array takes where it is stored.
    #[getter]
    fn cbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |array| Ok(array.superchunk().stored_len()?))
    }

    /// How many times smaller than the items the array is where it is stored.
    #[getter]
    fn cratio(&self, py: Python<'_>) -> Outcome<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a ratio of two sizes, to be read by people"
        )]
        Ok(self.nbytes(py)? as f64 / self.cbytes(py)?.max(1) as f64)
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

    /// The bytes of a chunk.
    #[getter]
    fn chunksize(&self, py: Python<'_>) -> Outcome<usize> {
        self.handle.read(py, 0, |array| Ok(array.superchunk().chunk_size().unwrap_or(0)))
    }

    /// The number of chunks.
    #[getter]
    fn nchunks(&self, py: Python<'_>) -> Outcome<usize> {
        self.handle.read(py, 0, |array| Ok(array.superchunk().chunk_count()))
    }

    /// The file or folder; `None` in memory.
    #[getter]
    fn path(&self) -> Option<String> {
        self.handle.path().map(|path| path.display().to_string())
    }

    /// The same as `path`.
    #[getter]
    fn urlpath(&self) -> Option<String> {
        self.path()
    }

    /// `'r'` or `'r+'`.
    #[getter]
    fn mode(&self) -> &'static str {
        self.handle.mode()
    }

    /// Whether `close` was called.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.handle.is_closed(py)
    }

    /// How it is compressed: codec, level, filters and so on, as the keywords of `asarray`.
    #[getter]
    fn cparams<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        let options = self.handle.read(py, 0, |array| Ok(array.superchunk().options().clone()))?;
        let params = PyDict::new(py);
        params.set_item("codec", options.codec.to_string())?;
        params.set_item("level", options.level)?;
        params.set_item("filters", names(&options.filters))?;
        params.set_item("typesize", options.item_size)?;
        params.set_item("blocksize", options.block_size)?;
        let split = match options.split {
            SplitMode::Always => "always",
            SplitMode::Never => "never",
            _ => "auto",
        };
        params.set_item("split", split)?;
        params.set_item("dictionary", options.dictionary)?;
        params.set_item("nthreads", options.executor.thread_count())?;
        Ok(params)
    }

    /// A table of what there is to know; `info.to_dict()` has it as values.
    #[getter]
    fn info<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "Info")?.call1((slf,))
    }

    fn __repr__(slf: Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        helper(py, "text_of")?.call1((slf,))?.extract()
    }

    fn _repr_html_(slf: Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        helper(py, "html_of")?.call1((slf,))?.extract()
    }

    fn __sizeof__(&self, py: Python<'_>) -> Outcome<u64> {
        let own = size_of::<Self>() as u64;
        if self.handle.path().is_some() || self.handle.is_closed(py) {
            return Ok(own);
        }
        Ok(own + self.handle.read(py, 0, |array| Ok(array.superchunk().stored_len()?))?)
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

    /// What is known of one chunk: codec, filters, sizes, special value.
    fn _chunk_info<'py>(&self, py: Python<'py>, number: usize) -> Outcome<Bound<'py, PyDict>> {
        let header =
            self.handle.read(py, 0, |array| Ok(array.superchunk().chunk_header(number)?))?;
        let special = match header.content() {
            Content::Zeros => Some("zeros"),
            Content::Nans => Some("nans"),
            Content::Uninitialised => Some("uninit"),
            Content::Value { .. } => Some("value"),
            _ => None,
        };
        let info = PyDict::new(py);
        info.set_item("nbytes", header.len())?;
        info.set_item("cbytes", header.compressed_len())?;
        info.set_item("blocksize", header.block_size())?;
        info.set_item("codec", header.codec().map(|codec| codec.to_string()))?;
        info.set_item("filters", names(&header.filters()))?;
        info.set_item("special", special)?;
        Ok(info)
    }

    /// A chunk as it is stored.
    fn get_chunk<'py>(&self, py: Python<'py>, number: usize) -> Outcome<Bound<'py, PyBytes>> {
        let chunk = self
            .handle
            .read(py, usize::MAX, |array| Ok(array.superchunk().compressed_chunk(number)?))?;
        Ok(PyBytes::new(py, &chunk))
    }
}

fn names(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(Filter::to_string).collect()
}
