//! What stands between the brackets in Python, as a key of [`crate::index`].

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PySlice, PyString, PyTuple};

use crate::index::{Array, Item, KeyError, Slice};
use crate::numpy;
use crate::strided::Strided;
use crate::values::contiguous;

pub(crate) const NOT_AN_INDEX: &str = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) \
                            and integer or boolean arrays are valid indices";

/// A key that Python gives.
pub(crate) enum Key<'py> {
    Items(Vec<Item>),
    /// The name of a field of a structured dtype, or a list of them.
    Fields(Bound<'py, PyAny>),
}

impl<'py> Key<'py> {
    pub(crate) fn of(key: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(parts) = key.cast::<PyTuple>() {
            return Ok(Self::Items(parts.iter().map(|part| item(&part)).collect::<PyResult<_>>()?));
        }
        if is_name(key) || is_names(key) {
            return Ok(Self::Fields(key.clone()));
        }
        Ok(Self::Items(vec![item(key)?]))
    }
}

impl From<KeyError> for PyErr {
    fn from(error: KeyError) -> Self {
        match error {
            KeyError::Index(text) => PyIndexError::new_err(text),
            KeyError::Value(text) => PyValueError::new_err(text),
        }
    }
}

fn is_name(key: &Bound<'_, PyAny>) -> bool {
    key.is_instance_of::<PyString>()
}

fn is_names(key: &Bound<'_, PyAny>) -> bool {
    let Ok(list) = key.cast::<PyList>() else { return false };
    !list.is_empty() && list.iter().all(|name| is_name(&name))
}

fn item(part: &Bound<'_, PyAny>) -> PyResult<Item> {
    let py = part.py();
    if let Ok(slice) = part.cast::<PySlice>() {
        return self::slice(slice).map(Item::Slice);
    }
    if part.is_none() {
        return Ok(Item::NewAxis);
    }
    if part.is(py.Ellipsis()) {
        return Ok(Item::Ellipsis);
    }
    if let Ok(bit) = part.cast::<PyBool>() {
        return Ok(Item::Mask(Array { shape: Vec::new(), values: vec![bit.is_true()] }));
    }
    if part.is_instance_of::<PyInt>() {
        return integer(part).map(Item::Int);
    }
    if is_name(part) {
        return Err(PyIndexError::new_err(NOT_AN_INDEX));
    }
    array(part)
}

/// An index of Python, of any size.
fn integer(index: &Bound<'_, PyAny>) -> PyResult<i64> {
    index.extract().map_err(|error: PyErr| {
        match error.is_instance_of::<PyOverflowError>(index.py()) {
            true => PyIndexError::new_err(NOT_AN_INDEX),
            false => error,
        }
    })
}

fn slice(slice: &Bound<'_, PySlice>) -> PyResult<Slice> {
    let number = |name: &str| -> PyResult<Option<i64>> {
        let value = slice.getattr(name)?;
        if value.is_none() {
            return Ok(None);
        }
        let number = value.extract().or_else(|error: PyErr| {
            if error.is_instance_of::<PyOverflowError>(slice.py()) {
                // As far away as can be said, as in Python.
                return Ok(if value.lt(0)? { -i64::MAX } else { i64::MAX });
            }
            Err(PyTypeError::new_err(
                "slice indices must be integers or None or have an __index__ method",
            ))
        });
        number.map(Some)
    };
    Ok(Slice { start: number("start")?, stop: number("stop")?, step: number("step")? })
}

/// Whatever NumPy makes an array of: arrays, lists, integers of NumPy.
fn array(part: &Bound<'_, PyAny>) -> PyResult<Item> {
    let array = numpy::asarray(part)?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let kind = array.getattr("dtype")?.getattr("kind")?;
    let values = |dtype: &str| contiguous(&array, dtype).and_then(|array| Strided::of(&array));
    match kind.cast::<PyString>()?.to_str()? {
        "b" => {
            let bits = values("|b1")?.bytes()?.iter().map(|byte| *byte != 0).collect();
            Ok(Item::Mask(Array { shape, values: bits }))
        }
        "i" | "u" => {
            let numbers = values("<i8")?;
            let (numbers, _) = numbers.bytes()?.as_chunks::<8>();
            let values = numbers.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
            Ok(Item::Ints(Array { shape, values }))
        }
        // An empty list has no type that its elements could have told.
        _ if shape.contains(&0) && part.is_instance_of::<PyList>() => {
            Ok(Item::Ints(Array { shape, values: Vec::new() }))
        }
        _ if shape.is_empty() && part.hasattr("__index__")? => {
            integer(&part.call_method0("__index__")?).map(Item::Int)
        }
        _ if array.is(part) => Err(PyIndexError::new_err(
            "arrays used as indices must be of integer (or boolean) type",
        )),
        _ => Err(PyIndexError::new_err(NOT_AN_INDEX)),
    }
}
