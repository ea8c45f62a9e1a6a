//! What the classes `Table` and `Column` of the Python code stand on.
//!
//! | file | duty |
//! |---|---|
//! | `kind` | one table or column of any format |
//! | `folder` | a folder of columns |
//! | `attrs` | values that users keep with it |
//! | `create` | new ones |
//! | `scan` | scans, and what is computed of them |

mod attrs;
mod create;
mod folder;
mod kind;
mod scan;

use std::fmt;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use superchunk::{OpenOptions, bcolz};

use crate::buffers::Input;
use crate::errors::Outcome;
use crate::handle::{Handle, Held, Origin};
use crate::methods::handle_methods;
use crate::numpy;
use crate::options::Choice;

pub(crate) use create::{_create_array, _create_table};
use folder::Folder;
pub(crate) use kind::Kind;
pub(crate) use scan::{Batches, Scan};

/// An open table, or a column that is none of a table, which has one column without a name.
#[pyclass(frozen, weakref, module = "superchunk")]
pub(crate) struct Rows {
    handle: Handle<Stored>,
}

handle_methods!(Rows, "superchunk._tables");

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

/// A table or column, and how it is opened once more.
pub(crate) struct Stored {
    kind: Kind,
    again: Option<(std::path::PathBuf, OpenOptions)>,
}

impl Held for Stored {
    fn class(&self) -> &'static str {
        if self.kind.is_table() { "table" } else { "column" }
    }

    fn commit(&mut self) -> superchunk::Result<()> {
        self.kind.commit()
    }

    fn refresh(&mut self) -> superchunk::Result<()> {
        if let Some((path, open)) = &self.again {
            self.kind = Kind::of(open.open(path)?, open)?;
        }
        Ok(())
    }
}

impl Rows {
    /// The object of the Python code for it.
    pub(crate) fn wrap(
        py: Python<'_>,
        kind: Kind,
        origin: Origin,
        open: OpenOptions,
    ) -> Outcome<Bound<'_, PyAny>> {
        let rows = Bound::new(py, Self::new(kind, origin, open))?;
        Ok(py.import("superchunk._tables")?.getattr("opened")?.call1((rows,))?)
    }

    fn new(kind: Kind, origin: Origin, open: OpenOptions) -> Self {
        // Nobody else changes what this handle may change.
        let again = origin.path.clone().filter(|_| !origin.writable).map(|path| (path, open));
        Self { handle: Handle::new(Stored { kind, again }, origin) }
    }

    fn empty<'py>(&self, py: Python<'py>, name: &str, rows: usize) -> Outcome<Bound<'py, PyAny>> {
        let column = self.handle.read(py, 0, |stored| Ok(stored.kind.column(name)?))?;
        let inner = column.row_shape.iter().map(|side| *side as u64);
        let shape: Vec<u64> = std::iter::once(rows as u64).chain(inner).collect();
        Ok(numpy::empty(py, &shape, &numpy::dtype_of(py, &column.dtype)?)?)
    }
}

#[pymethods]
impl Rows {
    /// 'bcolz', 'blsk' or 'columns'.
    #[getter]
    fn format(&self, py: Python<'_>) -> Outcome<&'static str> {
        self.handle.read(py, 0, |stored| Ok(stored.kind.format()))
    }

    #[getter]
    fn is_table(&self, py: Python<'_>) -> Outcome<bool> {
        self.handle.read(py, 0, |stored| Ok(stored.kind.is_table()))
    }

    fn names(&self, py: Python<'_>) -> Outcome<Vec<String>> {
        self.handle.read(py, 0, |stored| {
            Ok(stored.kind.columns().into_iter().map(|column| column.name).collect())
        })
    }

    /// The type of an item, the shape of a row, the rows of a chunk, and whether the rows are Python
    /// objects.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> Outcome<Bound<'py, PyTuple>> {
        let (column, is_object) = self
            .handle
            .read(py, 0, |stored| Ok((stored.kind.column(name)?, stored.kind.is_object(name))))?;
        let dtype = match is_object {
            true => numpy::dtype(&pyo3::types::PyString::new(py, "O"))?,
            false => numpy::dtype_of(py, &column.dtype)?,
        };
        let shape = PyTuple::new(py, &column.row_shape)?;
        Ok((dtype, shape, column.chunk_rows, is_object).into_pyobject(py)?)
    }

    fn __len__(&self, py: Python<'_>) -> Outcome<usize> {
        let count = self.handle.read(py, 0, |stored| Ok(stored.kind.len()))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// The bytes of all rows before compression.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |stored| {
            let columns = stored.kind.columns();
            let row: u64 = columns.iter().map(|column| column.row_size() as u64).sum();
            Ok(row.saturating_mul(stored.kind.len()))
        })
    }

    /// The bytes that it takes where it is stored.
    #[getter]
    fn cbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |stored| Ok(stored.kind.stored_len()?))
    }

    fn read<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        start: u64,
        stop: u64,
    ) -> Outcome<Bound<'py, PyAny>> {
        let count = usize::try_from(stop.saturating_sub(start)).unwrap_or(usize::MAX);
        let result = self.empty(py, name, count)?;
        let mut memory = crate::strided::Strided::writable(&result)?;
        let dst = memory.bytes_mut()?;
        self.handle
            .read(py, dst.len(), |stored| Ok(stored.kind.read(name, start..stop, dst)?))?;
        drop(memory);
        Ok(result)
    }

    fn gather<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        rows: Vec<u64>,
    ) -> Outcome<Bound<'py, PyAny>> {
        let result = self.empty(py, name, rows.len())?;
        let mut memory = crate::strided::Strided::writable(&result)?;
        let dst = memory.bytes_mut()?;
        let work = dst.len().saturating_mul(16);
        self.handle.read(py, work, |stored| Ok(stored.kind.gather(name, &rows, dst)?))?;
        drop(memory);
        Ok(result)
    }

    /// Rows that are Python objects: plain values only, no pickle is run.
    fn objects<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        rows: Vec<u64>,
    ) -> Outcome<Bound<'py, PyList>> {
        let values = self.handle.read(py, usize::MAX, |stored| {
            let values = rows.iter().map(|row| stored.kind.object(name, *row));
            Ok(values.collect::<superchunk::Result<Vec<_>>>()?)
        })?;
        let values = values.iter().map(|value| crate::metadata::value(py, value));
        Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?)
    }

    /// Overwrites rows with an array of the type of the column, in C order.
    fn write(&self, name: &str, start: u64, values: &Bound<'_, PyAny>) -> Outcome {
        let input = Input::of(values)?;
        let bytes = input.as_slice();
        self.handle.write(values.py(), |stored| Ok(stored.kind.write(name, start, bytes)?))
    }

    /// Appends rows: a name and an array for every column.
    fn append(&self, columns: &Bound<'_, PyDict>) -> Outcome {
        let inputs = columns
            .iter()
            .map(|(name, values)| Ok((name.extract::<String>()?, Input::of(&values)?)));
        let inputs = inputs.collect::<PyResult<Vec<_>>>()?;
        let parts: Vec<(&str, &[u8])> =
            inputs.iter().map(|(name, input)| (name.as_str(), input.as_slice())).collect();
        self.handle.write(columns.py(), |stored| Ok(stored.kind.append(&parts)?))
    }

    fn resize(&self, py: Python<'_>, rows: u64) -> Outcome {
        self.handle.write(py, |stored| Ok(stored.kind.resize(rows)?))
    }

    /// Adds a column with an array of all its rows; commits what was changed before.
    #[pyo3(signature = (name, values, row_shape, **options))]
    fn add_column(
        &self,
        name: &str,
        values: &Bound<'_, PyAny>,
        row_shape: Vec<usize>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Outcome {
        let dtype = numpy::parse_dtype(&values.getattr("dtype")?)?;
        let choice = Choice::from_all(options)?;
        let mut options = bcolz::ArrayOptions::new(dtype).with_row_shape(row_shape);
        options.compress = choice.over(options.compress);
        let input = Input::of(values)?;
        let bytes = input.as_slice();
        self.handle.write(values.py(), |stored| {
            Ok(stored.kind.bcolz_mut()?.add_column(name, &options, bytes)?)
        })
    }

    fn remove_column(&self, py: Python<'_>, name: &str) -> Outcome {
        self.handle.write(py, |stored| Ok(stored.kind.bcolz_mut()?.remove_column(name)?))
    }

    fn rename_column(&self, py: Python<'_>, name: &str, new: &str) -> Outcome {
        self.handle.write(py, |stored| Ok(stored.kind.bcolz_mut()?.rename_column(name, new)?))
    }

    /// Writes down the least and the greatest value of every chunk, so that scans skip chunks.
    fn refresh_bounds(&self, py: Python<'_>) -> Outcome {
        self.handle.write(py, |stored| Ok(stored.kind.bcolz_mut()?.refresh_bounds()?))
    }
}

/// A keyword that nobody knows.
fn unknown(name: &str) -> PyErr {
    PyTypeError::new_err(format!("got an unexpected keyword argument '{name}'"))
}
