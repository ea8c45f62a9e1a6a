//! Values that are written to an array, cast and broadcast as NumPy does.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::access::Source;
use crate::index::{Kind, Plan, shape_text};
use crate::numpy;
use crate::strided::Strided;

/// The values for the items of a plan.
pub(crate) struct Values {
    memory: Strided,
    /// The steps of values that do not lie in C order.
    strides: Option<Vec<usize>>,
    is_one: bool,
}

impl Values {
    /// Casts whatever NumPy makes an array of to `dtype`, and broadcasts it to the result's shape.
    pub(crate) fn of(
        value: &Bound<'_, PyAny>,
        dtype: &Bound<'_, PyAny>,
        plan: &Plan,
    ) -> PyResult<Self> {
        let value = assigned(value, dtype, plan)?;
        let memory = Strided::of(&value)?;
        let shape = memory.shape();
        if plan.kind == Kind::Mask && shape.len() > 1 {
            return Err(PyTypeError::new_err(format!(
                "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input \
                 has {} dimensions",
                shape.len()
            )));
        }
        // NumPy lets go of leading axes of one index.
        let extra = shape.len().saturating_sub(plan.shape.len());
        let extra = shape.iter().take(extra).take_while(|side| **side == 1).count();
        let kept = shape.get(extra..).unwrap_or_default();
        if !broadcasts(kept, &plan.shape) {
            return Err(PyValueError::new_err(format!(
                "could not broadcast input array from shape {} into shape {}",
                shape_text(&shape),
                shape_text(&plan.shape)
            )));
        }
        if shape.iter().product::<usize>() == 1 && plan.takes_one() {
            return Ok(Self { memory, strides: None, is_one: true });
        }
        if kept == plan.shape.as_slice() && memory.is_contiguous() {
            return Ok(Self { memory, strides: None, is_one: false });
        }
        let value =
            if extra > 0 { value.call_method1("reshape", (kept.to_vec(),))? } else { value };
        let value = broadcast(&value, &plan.shape)?;
        let memory = Strided::of(&value)?;
        if let Some(strides) = memory.strides().filter(|_| plan.takes_strides()) {
            return Ok(Self { memory, strides: Some(strides), is_one: false });
        }
        let memory = Strided::of(&contiguous(&value, dtype)?)?;
        Ok(Self { memory, strides: None, is_one: false })
    }

    pub(crate) fn source(&self) -> PyResult<Source<'_>> {
        let bytes = self.memory.bytes()?;
        Ok(match &self.strides {
            _ if self.is_one => Source::One(bytes),
            Some(strides) => Source::Strided(bytes, strides),
            None => Source::Items(bytes),
        })
    }
}

/// The values as an array of `dtype`. For keys without lists NumPy refuses single values that do not
/// fit the type, and sequences with more dimensions than the result; for others it casts.
fn assigned<'py>(
    value: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    plan: &Plan,
) -> PyResult<Bound<'py, PyAny>> {
    if matches!(plan.kind, Kind::Lists | Kind::Mask) {
        return cast(value, dtype);
    }
    let py = value.py();
    let found = numpy::asarray(value)?;
    let (rank, most) = (found.getattr("ndim")?.extract::<usize>()?, plan.shape.len());
    if most > 0 && rank > 0 && (rank <= most || found.is(value)) {
        return cast(value, dtype);
    }
    let one = numpy::empty(py, &vec![1; if rank > 0 { most } else { 0 }], dtype)?;
    match plan.kind {
        Kind::Item => one.set_item(PyTuple::empty(py), value)?,
        _ => one.set_item(py.Ellipsis(), value)?,
    }
    Ok(one)
}

/// `numpy.asarray(value, dtype)`, which casts as NumPy does when it assigns.
pub(crate) fn cast<'py>(
    value: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    AS_ARRAY.import(value.py(), "numpy", "asarray")?.call1((value, dtype))
}

/// `numpy.ascontiguousarray(value, dtype)`.
pub(crate) fn contiguous<'py>(
    value: &Bound<'py, PyAny>,
    dtype: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    static CONTIGUOUS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CONTIGUOUS.import(value.py(), "numpy", "ascontiguousarray")?.call1((value, dtype))
}

fn broadcast<'py>(value: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    static BROADCAST: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    BROADCAST.import(py, "numpy", "broadcast_to")?.call1((value, PyTuple::new(py, shape)?))
}

/// Whether values of one shape can be repeated to fill another.
fn broadcasts(from: &[usize], to: &[usize]) -> bool {
    from.len() <= to.len()
        && from.iter().rev().zip(to.iter().rev()).all(|(from, to)| *from == 1 || from == to)
}
