//! Values that Python programs store beside the data, to MessagePack and back. No pickle is ever made
//! or read.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PySet, PyString,
    PyTuple,
};
use superchunk::{SuperChunk, Value};

use crate::errors::Outcome;

/// How deep lists and dictionaries may stand inside each other.
const MAX_DEPTH: usize = 64;

/// The value of a name.
pub(crate) fn value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    let all = |values: &[Value]| -> PyResult<Vec<Bound<'py, PyAny>>> {
        values.iter().map(|inner| self::value(py, inner)).collect()
    };
    Ok(match value {
        Value::Nil => py.None().into_bound(py),
        Value::Bool(bit) => PyBool::new(py, *bit).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Uint(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Str(text) => PyString::new(py, text).into_any(),
        Value::Bin(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Array(values) => PyList::new(py, all(values)?)?.into_any(),
        Value::Tuple(values) => PyTuple::new(py, all(values)?)?.into_any(),
        Value::Set(values) => PySet::new(py, all(values)?)?.into_any(),
        Value::Complex(real, imaginary) => {
            PyComplex::from_doubles(py, *real, *imaginary).into_any()
        }
        Value::Map(entries) => {
            let map = PyDict::new(py);
            for (key, inner) in entries {
                map.set_item(self::value(py, key)?, self::value(py, inner)?)?;
            }
            map.into_any()
        }
        other => {
            let words = format!("a value that Python has no type for: {other:?}");
            return Err(PyTypeError::new_err(words));
        }
    })
}

/// A value that Python gives.
pub(crate) fn stored(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    stored_within(object, MAX_DEPTH)
}

fn stored_within(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PyTypeError::new_err(
            "lists and dictionaries stand too deep inside each other",
        ));
    };
    let all = |object: &Bound<'_, PyAny>| -> PyResult<Vec<Value>> {
        object.try_iter()?.map(|inner| stored_within(&inner?, depth)).collect()
    };
    if object.is_none() {
        return Ok(Value::Nil);
    }
    if let Ok(bit) = object.cast::<PyBool>() {
        return Ok(Value::Bool(bit.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        let too_large = |_| PyOverflowError::new_err(format!("{object} does not fit 64 bits"));
        return match object.extract::<i64>() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => object.extract::<u64>().map(Value::Uint).map_err(too_large),
        };
    }
    if object.is_instance_of::<PyFloat>() {
        return object.extract().map(Value::Float);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Str(text.to_str()?.to_owned()));
    }
    if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        return object.extract().map(Value::Bin);
    }
    if object.is_instance_of::<PyList>() {
        return all(object).map(Value::Array);
    }
    if object.is_instance_of::<PyTuple>() {
        return all(object).map(Value::Tuple);
    }
    if object.is_instance_of::<PySet>() {
        return all(object).map(Value::Set);
    }
    if let Ok(number) = object.cast::<PyComplex>() {
        use pyo3::types::PyComplexMethods;
        return Ok(Value::Complex(number.real(), number.imag()));
    }
    if let Ok(map) = object.cast::<PyDict>() {
        let entries = map
            .iter()
            .map(|(key, inner)| Ok((stored_within(&key, depth)?, stored_within(&inner, depth)?)));
        return entries.collect::<PyResult<_>>().map(Value::Map);
    }
    // A scalar of NumPy.
    if object.hasattr("dtype")? && object.getattr("ndim")?.extract::<usize>()? == 0 {
        return stored_within(&object.call_method0("item")?, depth);
    }
    let kind = object.get_type();
    let words = format!(
        "expected None, a bool, int, float, str, bytes, list, tuple, set or dict, got {kind}"
    );
    Err(PyTypeError::new_err(words))
}

/// The fixed metalayers by name; that of arrays decoded, all others as bytes.
pub(crate) fn layers<'py>(
    py: Python<'py>,
    layers: Vec<(String, Vec<u8>)>,
) -> Outcome<Bound<'py, PyDict>> {
    let map = PyDict::new(py);
    for (name, content) in layers {
        match ["b2nd", "caterva"].contains(&name.as_str()) {
            true => map.set_item(name, value(py, &Value::decode(&content)?)?)?,
            false => map.set_item(name, PyBytes::new(py, &content))?,
        }
    }
    Ok(map)
}

/// The names and contents of the fixed metalayers.
pub(crate) fn layers_of(frame: &SuperChunk) -> Vec<(String, Vec<u8>)> {
    let content = |name: &str| frame.metalayer(name).unwrap_or_default().to_vec();
    frame.metalayer_names().map(|name| (name.to_owned(), content(name))).collect()
}

/// A value as MessagePack.
#[pyfunction]
pub(crate) fn _pack<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
) -> Outcome<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &stored(value)?.encode()?))
}

/// The value that MessagePack stands for.
#[pyfunction]
pub(crate) fn _unpack<'py>(py: Python<'py>, data: &[u8]) -> Outcome<Bound<'py, PyAny>> {
    Ok(value(py, &Value::decode(data)?)?)
}
