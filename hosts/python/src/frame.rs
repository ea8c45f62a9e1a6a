//! What there is to know of a frame and its chunks, whatever class shows it.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use superchunk::chunk::{Content, Header};
use superchunk::frame::Kind;
use superchunk::{CompressOptions, Filter, FrameOptions, SplitMode, SuperChunk};

use crate::errors::Outcome;
use crate::handle::Held;

/// Something that is held in a frame.
pub(crate) trait Framed: Held {
    fn frame(&self) -> &SuperChunk;

    /// The frame to change its metadata, where that is possible.
    fn frame_mut(&mut self) -> superchunk::Result<&mut SuperChunk>;
}

/// The choices of a frame, named as the keywords that make them.
pub(crate) fn params<'py>(
    py: Python<'py>,
    options: &CompressOptions,
) -> Outcome<Bound<'py, PyDict>> {
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

/// What the header of a chunk says.
pub(crate) fn chunk_info<'py>(py: Python<'py>, header: &Header) -> Outcome<Bound<'py, PyDict>> {
    let special = match header.content() {
        Content::Zeros => Some("zeros"),
        Content::Nans => Some("nans"),
        Content::Uninitialised => Some("uninit"),
        Content::Value { .. } => Some("value"),
        _ => None,
    };
    let info = PyDict::new(py);
    info.set_item("nbytes", header.byte_len())?;
    info.set_item("cbytes", header.compressed_len())?;
    info.set_item("blocksize", header.block_size())?;
    info.set_item("codec", header.codec().map(|codec| codec.to_string()))?;
    info.set_item("filters", names(&header.filters()))?;
    info.set_item("special", special)?;
    Ok(info)
}

/// The number of a chunk, if there is such a chunk.
pub(crate) fn existing(frame: &SuperChunk, number: usize) -> PyResult<usize> {
    let count = frame.chunk_count();
    match number < count {
        true => Ok(number),
        false => {
            Err(PyIndexError::new_err(format!("there is no chunk {number}: there are {count}")))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of two sizes, to be read by people")]
pub(crate) fn ratio(nbytes: u64, cbytes: u64) -> f64 {
    nbytes as f64 / cbytes.max(1) as f64
}

fn names(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(Filter::to_string).collect()
}

/// The keywords of anything new in a frame.
#[derive(Default)]
pub(crate) struct NewFrame {
    is_sparse: bool,
    metalayers: Vec<(String, Vec<u8>)>,
}

impl NewFrame {
    /// Sets one; returns whether there is one of that name.
    pub(crate) fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> Outcome<bool> {
        match name {
            "sparse" => self.is_sparse = value.is_truthy()?,
            "meta" if value.is_none() => {}
            "meta" => {
                for (name, content) in value.cast::<PyDict>().map_err(PyErr::from)? {
                    self.metalayers.push((name.extract()?, content.extract()?));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// These options with what the call says in their place.
    pub(crate) fn over(self, mut frame: FrameOptions) -> FrameOptions {
        if self.is_sparse {
            frame.kind = Kind::Sparse;
        }
        let layers = self.metalayers.into_iter();
        layers.fold(frame, |frame, (name, content)| frame.with_metalayer(name, content))
    }
}

/// The bytes of an object, to be kept: those of a `bytes` object itself, of others a copy.
pub(crate) fn owned_bytes(data: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    if let Ok(bytes) = data.extract::<PyBackedBytes>() {
        return Ok(bytes);
    }
    let copy = data.py().get_type::<PyBytes>().call1((data,))?;
    Ok(copy.cast_into::<PyBytes>()?.into())
}
