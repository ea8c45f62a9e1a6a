//! The class `NDArray`.
//!
//! | file | duty |
//! |---|---|
//! | `items` | between the brackets: reading and writing |
//! | `facts` | shapes, sizes, chunks |
//! | `grow` | `resize`, `append`, `insert`, `delete` |
//! | `copies` | copies, parts, other orders of axes |
//! | `create` | new arrays |

mod copies;
mod create;
mod facts;
mod grow;
mod items;

use std::fmt;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use superchunk::{NdArray, SuperChunk};

use crate::errors::Outcome;
use crate::frame::Framed;
use crate::handle::{Handle, Held, Origin};
use crate::index::Rule;
use crate::methods::{frame_methods, handle_methods};
use crate::numpy;

pub(crate) use create::{_create, _from_bytes};
pub(crate) use items::Indexer;

/// An N-d array of items of one type, cut into compressed chunks and blocks. Made by `open`, `array`,
/// `asarray`, `zeros` and their like.
#[pyclass(frozen, weakref, module = "superchunk")]
pub(crate) struct NDArray {
    handle: Handle<NdArray>,
    dtype: PyOnceLock<Py<PyAny>>,
}

impl fmt::Debug for NDArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

handle_methods!(NDArray, "superchunk._arrays");
frame_methods!(NDArray);

impl Held for NdArray {
    fn class(&self) -> &'static str {
        "array"
    }

    fn commit(&mut self) -> superchunk::Result<()> {
        Self::commit(self)
    }

    fn refresh(&mut self) -> superchunk::Result<()> {
        Self::refresh(self).map(drop)
    }
}

impl Framed for NdArray {
    fn frame(&self) -> &SuperChunk {
        self.superchunk()
    }

    fn frame_mut(&mut self) -> superchunk::Result<&mut SuperChunk> {
        Ok(self.superchunk_mut())
    }
}

impl NDArray {
    pub(crate) fn new(array: NdArray, origin: Origin) -> Self {
        Self { handle: Handle::new(array, origin), dtype: PyOnceLock::new() }
    }

    /// The type of an item, as NumPy's.
    fn dtype_in<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        let made = self.dtype.get_or_try_init(py, || -> Outcome<Py<PyAny>> {
            let dtype = self.handle.read(py, 0, |array| Ok(array.dtype().clone()))?;
            Ok(numpy::dtype_of(py, &dtype)?.unbind())
        })?;
        Ok(made.bind(py).clone())
    }
}

/// A function of `superchunk/_arrays.py`, which does what is simpler in Python.
fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("superchunk._arrays")?.getattr(name)
}

#[pymethods]
impl NDArray {
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyAny>> {
        self.item(key, Rule::NumPy)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Outcome {
        self.set_item(key, value, Rule::NumPy)
    }

    /// Reads `self[key]` into a given array and returns it; into a new one without `out`.
    #[pyo3(signature = (key, *, out = None))]
    fn get<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> Outcome<Bound<'py, PyAny>> {
        match out {
            Some(out) => self.get_into(key, out),
            None => self.item(key, Rule::NumPy),
        }
    }

    /// Orthogonal indexing: a list for an axis picks indexes of this axis alone.
    #[getter]
    fn oindex(slf: Bound<'_, Self>) -> Indexer {
        Indexer::new(slf.unbind(), Rule::Outer)
    }

    /// Vectorised indexing: lists go together, and their axes come first.
    #[getter]
    fn vindex(slf: Bound<'_, Self>) -> Indexer {
        Indexer::new(slf.unbind(), Rule::Vectorised)
    }

    /// The fields of a structured dtype by name: `array.fields["x"][2:5]`.
    #[getter]
    fn fields<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "Fields")?.call1((slf,))
    }

    #[pyo3(signature = (dtype = None, *, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> Outcome<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let words = "an array that is stored compressed cannot be used without a copy";
            return Err(pyo3::exceptions::PyValueError::new_err(words).into());
        }
        let all = self.whole(py)?;
        match dtype {
            Some(dtype) => Ok(crate::values::cast(&all, &dtype)?),
            None => Ok(all),
        }
    }

    /// All items as a NumPy array.
    fn to_numpy<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        self.whole(py)
    }

    /// All items as bytes, in C order.
    fn tobytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        Ok(self.whole(py)?.call_method0("tobytes")?)
    }

    fn __len__(&self, py: Python<'_>) -> Outcome<usize> {
        let first = self.handle.read(py, 0, |array| Ok(array.shape().first().copied()))?;
        let unsized_object = || pyo3::exceptions::PyTypeError::new_err("len() of unsized object");
        Ok(usize::try_from(first.ok_or_else(unsized_object)?).unwrap_or(usize::MAX))
    }

    fn __iter__<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "rows")?.call1((slf,))
    }

    /// Gives back the room of what was replaced or deleted.
    fn compact(&self, py: Python<'_>) -> Outcome {
        self.handle.write(py, |array| Ok(array.superchunk_mut().compact()?))
    }
}
