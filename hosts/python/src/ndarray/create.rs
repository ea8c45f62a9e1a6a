//! New arrays: of one value, from bytes.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use superchunk::{FillValue, FrameOptions, NdArray, NdOptions, NdStorage};

use super::NDArray;
use super::grow::sides;
use crate::errors::Outcome;
use crate::frame::{NewFrame, owned_bytes};
use crate::handle::Origin;
use crate::numpy;
use crate::options::Choice;
use crate::strided::Strided;
use crate::threads;
use crate::values::contiguous;

/// A new array of one value. `value` is that value; without one the items are zero, or what
/// `special` says: `nans`, `uninit`.
#[pyfunction]
#[pyo3(signature = (shape, dtype, value = None, special = None, path = None, **options))]
pub(crate) fn _create(
    py: Python<'_>,
    shape: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    value: Option<&Bound<'_, PyAny>>,
    special: Option<&str>,
    path: Option<PathBuf>,
    options: Option<&Bound<'_, PyDict>>,
) -> Outcome<NDArray> {
    let mut shape = sides(shape)?;
    let mut dtype = numpy::dtype(dtype)?;
    // As with NumPy, the axes of a sub-array become axes of the array.
    if let Ok((base, inner)) = dtype.getattr("subdtype")?.extract::<(Bound<'_, PyAny>, Vec<u64>)>()
    {
        dtype = base;
        shape.extend(inner);
    }
    let dtype = numpy::parse_dtype(&dtype)?;
    let mut made = New::default();
    let choice = Choice::from_some(options, |name, value| made.set(name, &value))?;
    let storage = made.storage(FrameOptions::new(choice.compress_options(dtype.item_size())));
    let item = value.map(|value| contiguous(value, py.None())).transpose()?;
    let item = item.map(|item| Strided::of(&item)).transpose()?;
    let item = item.as_ref().map(Strided::bytes).transpose()?;
    let fill = match (item, special) {
        (Some(item), _) => FillValue::Value(item.to_vec()),
        (None, Some("nans")) => FillValue::Nans,
        (None, Some("uninit")) => FillValue::Uninitialised,
        (None, _) => FillValue::Zeros,
    };
    let options = NdOptions::new(&shape, dtype).with_fill(fill).with_storage(storage);
    let array = threads::run(py, usize::MAX, || {
        Ok(match &path {
            Some(path) => NdArray::create(path, &options)?,
            None => NdArray::in_memory(&options)?,
        })
    })?;
    let array = NDArray::new(array, Origin { path, writable: true, keywords: None });
    // One that nobody writes to is worth a commit, too.
    array.handle.write(py, |_| Ok(()))?;
    Ok(array)
}

/// The array that bytes of a file hold; a copy that can be changed, unless `copy` is false.
#[pyfunction]
#[pyo3(signature = (data, copy = true))]
pub(crate) fn _from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<NDArray> {
    let bytes = owned_bytes(data)?;
    let array = threads::run(py, usize::MAX, || {
        let array = NdArray::from_bytes(bytes)?;
        Ok(if copy { array.copy_to_memory(&array.options())? } else { array })
    })?;
    Ok(NDArray::new(array, Origin { path: None, writable: copy, keywords: None }))
}

/// The keywords of a new array that are not about compression.
#[derive(Default)]
pub(super) struct New {
    pub(super) chunks: Option<Vec<usize>>,
    pub(super) blocks: Option<Vec<usize>>,
    frame: NewFrame,
}

impl New {
    pub(super) fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> Outcome {
        match name {
            _ if value.is_none() => {}
            "chunks" => self.chunks = Some(lengths(value)?),
            "blocks" => self.blocks = Some(lengths(value)?),
            _ if self.frame.set(name, value)? => {}
            _ => {
                let words = format!("got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(words).into());
            }
        }
        Ok(())
    }

    pub(super) fn storage(self, frame: FrameOptions) -> NdStorage {
        let mut options = NdStorage::new(self.frame.over(frame));
        (options.chunks, options.blocks) = (self.chunks, self.blocks);
        options
    }
}

/// The shape of chunks or blocks.
fn lengths(value: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let sides = sides(value)?.into_iter().map(usize::try_from).collect::<Result<_, _>>();
    sides.map_err(|_| PyValueError::new_err("a chunk is too large"))
}
