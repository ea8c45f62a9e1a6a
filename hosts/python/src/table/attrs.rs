//! Values that users keep with a table or a column: JSON in bcolz and in folders of columns, arrays in
//! blsk.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use superchunk::blsk::Attribute;
use superchunk::{Error, Json, JsonStyle, Result};

use super::kind::alone;
use super::{Kind, Rows};
use crate::buffers::Input;
use crate::errors::Outcome;
use crate::numpy;
use crate::values::contiguous;

/// A value, as it is stored.
enum Attr {
    Json(Json),
    Items(Attribute),
}

#[pymethods]
impl Rows {
    #[pyo3(signature = (column = None))]
    fn _value_names(&self, py: Python<'_>, column: Option<&str>) -> Outcome<Vec<String>> {
        self.handle.read(py, 0, |stored| Ok(stored.kind.attr_names(column)?))
    }

    #[pyo3(signature = (name, column = None))]
    fn _value<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        column: Option<&str>,
    ) -> Outcome<Bound<'py, PyAny>> {
        let found = self.handle.read(py, 0, |stored| Ok(stored.kind.attr(name, column)?))?;
        match found {
            None => Err(PyKeyError::new_err(name.to_owned()).into()),
            Some(Attr::Json(value)) => {
                let text = value.to_text(JsonStyle::Compact);
                Ok(py.import("json")?.call_method1("loads", (text,))?)
            }
            Some(Attr::Items(Attribute::Items { dtype, shape, bytes })) => {
                let dtype = numpy::dtype_of(py, &dtype)?;
                let from = py.import("numpy")?.getattr("frombuffer")?;
                let items = from.call1((PyBytes::new(py, &bytes), dtype))?;
                let items = items.call_method1("reshape", (shape.clone(),))?;
                let copied = items.call_method0("copy")?;
                Ok(if shape.is_empty() { copied.get_item(PyTuple::empty(py))? } else { copied })
            }
            Some(Attr::Items(other)) => Ok(other
                .as_text()
                .unwrap_or_default()
                .into_pyobject(py)
                .map_err(PyErr::from)?
                .into_any()),
        }
    }

    #[pyo3(signature = (name, value, column = None))]
    fn _set_value(&self, name: &str, value: &Bound<'_, PyAny>, column: Option<&str>) -> Outcome {
        let py = value.py();
        let format = self.format(py)?;
        let attr = if format == "blsk" { items(value)? } else { Attr::Json(json(value)?) };
        self.handle.write(py, |stored| Ok(stored.kind.set_attr(name, attr, column)?))
    }

    #[pyo3(signature = (name, column = None))]
    fn _remove_value(&self, py: Python<'_>, name: &str, column: Option<&str>) -> Outcome {
        self.handle.write(py, |stored| Ok(stored.kind.remove_attr(name, column)?))
    }
}

/// A value of Python as JSON; arrays and scalars of NumPy as lists and numbers.
fn json(value: &Bound<'_, PyAny>) -> Outcome<Json> {
    let py = value.py();
    let plain = match value.hasattr("tolist")? {
        true => value.call_method0("tolist")?,
        false => value.clone(),
    };
    let text: String = py.import("json")?.call_method1("dumps", (plain,))?.extract()?;
    Ok(Json::parse(&text)?)
}

/// A value of Python as items of a type of NumPy.
fn items(value: &Bound<'_, PyAny>) -> Outcome<Attr> {
    if let Ok(text) = value.extract::<String>() {
        return Ok(Attr::Items(Attribute::from(text.as_str())));
    }
    let array = numpy::asarray(value)?;
    // `ascontiguousarray` makes an axis of a single value.
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let array = contiguous(&array, value.py().None())?;
    let dtype = numpy::parse_dtype(&array.getattr("dtype")?)?;
    let bytes = Input::of(&array)?.as_slice().to_vec();
    Ok(Attr::Items(Attribute::Items { dtype, shape, bytes }))
}

impl Kind {
    /// The JSON of the attributes of a table, or of one of its columns.
    fn attrs_json(&self, column: Option<&str>) -> Result<Option<&Json>> {
        match (self, column) {
            (Self::Bcolz(table), Some(column)) => Ok(Some(table.array(column)?.attributes())),
            (Self::Bcolz(table), None) => Ok(Some(table.attributes())),
            (Self::BcolzArray(array), _) => Ok(Some(array.attributes())),
            (Self::Folder(folder), None) => Ok(Some(folder.list.attributes())),
            (Self::Folder(_) | Self::Blsk(_), Some(_)) => Err(of_table()),
            (Self::Blsk(_) | Self::BlskArray(_), _) => Ok(None),
        }
    }

    fn attr_names(&self, column: Option<&str>) -> Result<Vec<String>> {
        if let Some(json) = self.attrs_json(column)? {
            let entries = json.as_object().unwrap_or_default();
            return Ok(entries.iter().map(|(name, _)| name.clone()).collect());
        }
        Ok(match self {
            Self::Blsk(table) => table.attributes().map(|(name, _)| name.to_owned()).collect(),
            Self::BlskArray(array) => array.attributes().map(|(name, _)| name.to_owned()).collect(),
            _ => Vec::new(),
        })
    }

    fn attr(&self, name: &str, column: Option<&str>) -> Result<Option<Attr>> {
        if let Some(json) = self.attrs_json(column)? {
            return Ok(json.get(name).cloned().map(Attr::Json));
        }
        Ok(match self {
            Self::Blsk(table) => table.attribute(name).map(Attr::Items),
            Self::BlskArray(array) => array.attribute(name).map(Attr::Items),
            _ => None,
        })
    }

    fn set_attr(&mut self, name: &str, value: Attr, column: Option<&str>) -> Result<()> {
        match (self, value, column) {
            (Self::Bcolz(table), Attr::Json(value), None) => {
                alone(table)?.set_attribute(name, value)
            }
            (Self::Bcolz(table), Attr::Json(value), Some(column)) => {
                alone(table)?.set_column_attribute(column, name, value)
            }
            (Self::BcolzArray(array), Attr::Json(value), _) => array.set_attribute(name, value),
            (Self::Folder(folder), Attr::Json(value), None) => {
                alone(folder)?.list.set_attribute(name, value)
            }
            (Self::Blsk(table), Attr::Items(value), None) => {
                alone(table)?.set_attribute(name, value)
            }
            (Self::BlskArray(array), Attr::Items(value), _) => array.set_attribute(name, value),
            _ => Err(of_table()),
        }
    }

    fn remove_attr(&mut self, name: &str, column: Option<&str>) -> Result<()> {
        match (self, column) {
            (Self::Bcolz(table), None) => alone(table)?.remove_attribute(name).map(drop),
            (Self::BcolzArray(array), _) => array.remove_attribute(name).map(drop),
            (Self::Folder(folder), None) => alone(folder)?.list.remove_attribute(name).map(drop),
            (Self::Blsk(table), None) => alone(table)?.remove_attribute(name).map(drop),
            (Self::BlskArray(array), _) => array.remove_attribute(name).map(drop),
            _ => Err(Error::unsupported("attributes of a column of a table are set, not removed")),
        }
    }
}

fn of_table() -> Error {
    Error::unsupported(
        "columns of this table have no attributes of their own: use those of the table",
    )
}
