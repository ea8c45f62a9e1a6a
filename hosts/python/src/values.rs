//! Values that are written to an array, cast and broadcast as NumPy does.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::access::Source;
use crate::index::{Plan, shape_text};
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
        if plan.is_mask && shape.len() > 1 {
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

/// The values as an array of `dtype`, cast by the rules by which NumPy assigns them: of single values
/// it refuses those that do not fit.
fn assigned<'py>(
    value: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    plan: &Plan,
) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let is_one = plan.shape.is_empty() || numpy::asarray(value)?.getattr("ndim")?.eq(0)?;
    if !is_one {
        return cast(value, dtype);
    }
    let one = numpy::empty(py, &[], dtype)?;
    if plan.is_item {
        one.set_item(PyTuple::empty(py), value)?;
    } else {
        one.set_item(py.Ellipsis(), value)?;
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
