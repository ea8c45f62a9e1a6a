//! Values and metalayers of an array.

use pyo3::prelude::*;

use super::NDArray;
use crate::errors::Outcome;
use crate::metadata;

#[pymethods]
impl NDArray {
    /// Values by name; a mapping that can be changed.
    #[getter]
    fn attrs<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("superchunk._attrs")?.getattr("Attributes")?.call1((slf,))
    }

    /// The same as `attrs`.
    #[getter]
    fn vlmeta<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Self::attrs(slf, py)
    }

    /// The fixed metalayers by name: bytes, but for the one that describes the array.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        let layers =
            self.handle.read(py, 0, |array| Ok(metadata::layers_of(array.superchunk())))?;
        let layers = metadata::layers(py, layers)?;
        Ok(py.import("types")?.getattr("MappingProxyType")?.call1((layers,))?)
    }

    fn _set_layer(&self, py: Python<'_>, name: &str, content: &[u8]) -> Outcome {
        self.handle.write(py, |array| Ok(array.superchunk_mut().set_metalayer(name, content)?))
    }

    fn _value_names(&self, py: Python<'_>) -> Outcome<Vec<String>> {
        self.handle
            .read(py, 0, |array| Ok(array.superchunk().value_names().map(str::to_owned).collect()))
    }

    fn _value<'py>(&self, py: Python<'py>, name: &str) -> Outcome<Bound<'py, PyAny>> {
        let value = self.handle.read(py, 0, |array| Ok(array.superchunk().value(name)?))?;
        Ok(metadata::value(py, &value)?)
    }

    fn _set_value(&self, name: &str, value: &Bound<'_, PyAny>) -> Outcome {
        let stored = metadata::stored(value)?;
        self.handle
            .write(value.py(), |array| Ok(array.superchunk_mut().set_value(name, &stored)?))
    }

    fn _remove_value(&self, py: Python<'_>, name: &str) -> Outcome {
        self.handle.write(py, |array| Ok(array.superchunk_mut().remove_value(name)?))
    }
}
