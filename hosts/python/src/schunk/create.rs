//! New super-chunks: empty, from bytes of a file, copies.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use superchunk::{FrameOptions, SuperChunk};

use super::{SChunk, helper};
use crate::errors::Outcome;
use crate::frame::{NewFrame, owned_bytes};
use crate::handle::Origin;
use crate::options::Choice;
use crate::threads;

/// A new super-chunk without chunks.
#[pyfunction]
#[pyo3(signature = (path = None, **options))]
pub(crate) fn _create_schunk(
    py: Python<'_>,
    path: Option<PathBuf>,
    options: Option<&Bound<'_, PyDict>>,
) -> Outcome<SChunk> {
    let mut new = New::default();
    let choice = Choice::from_some(options, |name, value| new.set(name, &value))?;
    let item_size = choice.item_size.unwrap_or(1);
    let options = new.options(FrameOptions::new(choice.compress_options(item_size)));
    let frame = threads::run(py, usize::MAX, || {
        Ok(match &path {
            Some(path) => SuperChunk::create(path, &options)?,
            None => SuperChunk::in_memory(&options)?,
        })
    })?;
    let made = SChunk::new(frame, Origin { path, writable: true, keywords: None });
    // One that nobody appends to is worth a commit, too.
    made.handle.write(py, |_| Ok(()))?;
    Ok(made)
}

#[pymethods]
impl SChunk {
    /// A new super-chunk, in memory or at `path`; `mode="w"` replaces what is there. It holds `data`
    /// if that is given.
    #[staticmethod]
    #[pyo3(
        signature = (path = None, *, data = None, mode = "w-", **options),
        text_signature = "(path=None, *, data=None, mode='w-', typesize=None, chunksize=None, \
                          variable=False, sparse=False, meta=None, codec='lz4', level=5, \
                          filters='shuffle', blocksize=None, split='auto', dictionary=False, \
                          marks=False, check=False, nthreads=None, cparams=None)"
    )]
    fn create<'py>(
        py: Python<'py>,
        path: Option<Bound<'py, PyAny>>,
        data: Option<Bound<'py, PyAny>>,
        mode: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "create_schunk")?.call((path, data, mode), options)
    }

    /// A copy, in memory or at `path`, with other options where they are given.
    #[pyo3(signature = (path = None, *, mode = "w-", **options))]
    fn copy<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        path: Option<Bound<'py, PyAny>>,
        mode: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "copy")?.call((slf, path, mode), options)
    }

    #[pyo3(signature = (path, **options))]
    fn _copy(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Outcome<Self> {
        let mut new = New::default();
        let choice = Choice::from_some(options, |name, value| new.set(name, &value))?;
        let mut base = self.handle.read(py, 0, |frame| Ok(frame.frame_options()))?;
        base.kind = superchunk::frame::Kind::Contiguous;
        base.compress = choice.over(base.compress);
        let options = new.options(base);
        let frame = self.handle.read(py, usize::MAX, |frame| {
            Ok(match &path {
                Some(path) => frame.copy_to(path, &options)?,
                None => frame.copy_to_memory(&options)?,
            })
        })?;
        Ok(Self::new(frame, Origin { path, writable: true, keywords: None }))
    }

    /// The super-chunk that the bytes of a file hold: a copy that can be changed, unless `copy` is
    /// false.
    #[staticmethod]
    #[pyo3(signature = (data, copy = true))]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<Self> {
        let bytes = owned_bytes(data)?;
        let frame = threads::run(py, usize::MAX, || {
            let frame = SuperChunk::from_bytes(bytes)?;
            Ok(if copy { frame.copy_to_memory(&frame.frame_options())? } else { frame })
        })?;
        Ok(Self::new(frame, Origin { path: None, writable: copy, keywords: None }))
    }

    /// The same as `from_bytes`.
    #[staticmethod]
    #[pyo3(signature = (data, copy = true))]
    fn from_cframe(py: Python<'_>, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<Self> {
        Self::from_bytes(py, data, copy)
    }

    /// The bytes of a file that holds it.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let bytes = self.handle.read(py, usize::MAX, |frame| Ok(frame.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The same as `to_bytes`.
    fn to_cframe<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        self.to_bytes(py)
    }
}

/// The keywords of a new super-chunk that are not about compression.
#[derive(Default)]
struct New {
    chunk_size: Option<usize>,
    is_variable: bool,
    frame: NewFrame,
}

impl New {
    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> Outcome {
        match name {
            "chunksize" => self.chunk_size = value.extract()?,
            "variable" => self.is_variable = value.is_truthy()?,
            _ if self.frame.set(name, value)? => {}
            _ => {
                let words = format!("got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(words).into());
            }
        }
        Ok(())
    }

    fn options(self, base: FrameOptions) -> FrameOptions {
        let mut frame = self.frame.over(base);
        frame.chunk_size = self.chunk_size.or(frame.chunk_size);
        frame.variable |= self.is_variable;
        frame
    }
}
