//! NumPy, which is imported when the first array is asked for and is not needed otherwise.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use superchunk::DType;

use crate::errors::Outcome;

/// A function or class of NumPy.
fn numpy<'py>(
    py: Python<'py>,
    kept: &PyOnceLock<Py<PyAny>>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let found = kept.get_or_try_init(py, || {
        let module = py.import("numpy").map_err(|error| {
            let words = "arrays need NumPy: pip install numpy";
            let needed = pyo3::exceptions::PyImportError::new_err(words);
            needed.set_cause(py, Some(error));
            needed
        })?;
        Ok::<_, PyErr>(module.getattr(name)?.unbind())
    })?;
    Ok(found.bind(py).clone())
}

/// A new array with arbitrary content.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[u64],
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    numpy(py, &EMPTY, "empty")?.call1((PyTuple::new(py, shape)?, dtype))
}

/// `numpy.asarray(object)`.
pub(crate) fn asarray<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    numpy(object.py(), &AS_ARRAY, "asarray")?.call1((object,))
}

/// The `numpy.dtype` of anything that NumPy takes for one.
pub(crate) fn dtype<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static DTYPE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    numpy(object.py(), &DTYPE, "dtype")?.call1((object,))
}

/// The `numpy.dtype` of a type of the library.
pub(crate) fn dtype_of<'py>(py: Python<'py>, dtype: &DType) -> PyResult<Bound<'py, PyAny>> {
    let text = dtype.to_string();
    let text = text.into_pyobject(py)?.into_any();
    // Types with fields and sub-arrays are printed as Python literals.
    let literal = py.import("ast")?.getattr("literal_eval")?.call1((&text,));
    self::dtype(&literal.unwrap_or(text))
}

/// The type of the library for a `numpy.dtype`.
pub(crate) fn parse_dtype(dtype: &Bound<'_, PyAny>) -> Outcome<DType> {
    if dtype.getattr("hasobject")?.is_truthy()? {
        let words = "arrays of Python objects are not stored: convert them to a plain dtype, or use \
                     superchunk.Objects";
        return Err(PyTypeError::new_err(words).into());
    }
    let is_plain = dtype.getattr("names")?.is_none() && dtype.getattr("subdtype")?.is_none();
    let text = match is_plain {
        true => dtype.getattr("str")?,
        false => dtype.getattr("descr")?.str()?.into_any(),
    };
    Ok(DType::parse(&text.extract::<String>()?)?)
}
