//! Arrays that change their shape.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::NDArray;
use crate::errors::Outcome;
use crate::index::shape_text;
use crate::strided::Strided;
use crate::values::{cast, contiguous};

#[pymethods]
impl NDArray {
    /// Makes the array longer or shorter; new items are zero.
    fn resize(&self, py: Python<'_>, shape: &Bound<'_, PyAny>) -> Outcome {
        let shape = sides(shape)?;
        let rank = self.handle.read(py, 0, |array| Ok(array.ndim()))?;
        if shape.len() != rank {
            return Err(PyValueError::new_err(format!(
                "the array has {rank} dimensions, the new shape {}: {}",
                shape.len(),
                shape_text(&shape)
            ))
            .into());
        }
        self.handle.write(py, |array| Ok(array.resize(&shape)?))
    }

    /// Appends items along an axis.
    #[pyo3(signature = (values, axis = 0))]
    fn append(&self, values: &Bound<'_, PyAny>, axis: isize) -> Outcome {
        self.insert_values(None, values, axis)
    }

    /// Inserts items before an index of an axis.
    #[pyo3(signature = (index, values, axis = 0))]
    fn insert(&self, index: i64, values: &Bound<'_, PyAny>, axis: isize) -> Outcome {
        self.insert_values(Some(index), values, axis)
    }

    /// Deletes indexes of an axis.
    #[pyo3(signature = (index, count = 1, axis = 0))]
    fn delete(&self, py: Python<'_>, index: i64, count: u64, axis: isize) -> Outcome {
        let shape = self.handle.read(py, 0, |array| Ok(array.shape().to_vec()))?;
        let axis = axis_of(axis, shape.len())?;
        let side = shape.get(axis).copied().unwrap_or(0);
        let start = place(index, axis, side, side)?;
        if count > side - start {
            return Err(outside(index.saturating_add_unsigned(count), axis, side).into());
        }
        self.handle.write(py, |array| Ok(array.delete(axis, start, count)?))
    }
}

impl NDArray {
    /// Inserts values before an index of an axis, or appends them.
    fn insert_values(&self, index: Option<i64>, values: &Bound<'_, PyAny>, axis: isize) -> Outcome {
        let py = values.py();
        let dtype = self.dtype_in(py)?;
        let shape = self.handle.read(py, 0, |array| Ok(array.shape().to_vec()))?;
        let axis = axis_of(axis, shape.len())?;
        let side = shape.get(axis).copied().unwrap_or(0);
        let position = match index {
            Some(index) => place(index, axis, side, side)?,
            None => side,
        };
        let mut values = cast(values, &dtype)?;
        let mut found: Vec<u64> = values.getattr("shape")?.extract()?;
        // One row may come without the axis that it is appended along.
        if found.len() + 1 == shape.len() {
            found.insert(axis, 1);
            values = values.call_method1("reshape", (found.clone(),))?;
        }
        let same = |(number, (found, side)): (usize, (&u64, &u64))| number == axis || found == side;
        if found.len() != shape.len() || !found.iter().zip(&shape).enumerate().all(same) {
            return Err(PyValueError::new_err(format!(
                "values of shape {} do not fit an array of shape {} along axis {axis}",
                shape_text(&found),
                shape_text(&shape)
            ))
            .into());
        }
        let memory = Strided::of(&contiguous(&values, &dtype)?)?;
        let bytes = memory.bytes()?;
        self.handle.write(py, |array| Ok(array.insert(axis, position, bytes)?))
    }
}

/// A shape: a number, or several.
pub(super) fn sides(shape: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let number = |side: &Bound<'_, PyAny>| -> PyResult<u64> {
        let side: i64 = side.extract().map_err(|_| {
            PyTypeError::new_err(format!("a shape is a number or a tuple of numbers, got {side}"))
        })?;
        let negative = |_| PyValueError::new_err("negative dimensions are not allowed");
        u64::try_from(side).map_err(negative)
    };
    match shape.try_iter() {
        Ok(sides) => sides.map(|side| number(&side?)).collect(),
        Err(_) => Ok(vec![number(shape)?]),
    }
}

/// An axis, which may count from the end.
pub(super) fn axis_of(axis: isize, rank: usize) -> PyResult<usize> {
    let from_end = if axis < 0 { rank } else { 0 };
    let found = from_end.checked_add_signed(axis).filter(|axis| *axis < rank);
    found.ok_or_else(|| {
        PyIndexError::new_err(format!("axis {axis} is out of bounds for array of dimension {rank}"))
    })
}

/// An index of an axis, which may count from the end, of at most `last`.
fn place(index: i64, axis: usize, side: u64, last: u64) -> PyResult<u64> {
    let from_end = if index < 0 { side } else { 0 };
    let found = from_end.checked_add_signed(index).filter(|place| *place <= last);
    found.ok_or_else(|| outside(index, axis, side))
}

fn outside(index: i64, axis: usize, side: u64) -> PyErr {
    PyIndexError::new_err(format!(
        "index {index} is out of bounds for axis {axis} with size {side}"
    ))
}
