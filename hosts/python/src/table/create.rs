//! New tables and columns, of bcolz or blsk.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use superchunk::{CompressOptions, DType, OpenOptions, bcolz, blsk};

use super::{Kind, Rows, unknown};
use crate::errors::Outcome;
use crate::handle::Origin;
use crate::numpy;
use crate::options::Choice;
use crate::threads;

/// A new table without rows. A column is a name, a dtype, and the shape of a row.
#[pyfunction]
#[pyo3(signature = (path, format, columns, **options))]
pub(crate) fn _create_table(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    columns: Vec<(String, Bound<'_, PyAny>, Vec<usize>)>,
    options: Option<&Bound<'_, PyDict>>,
) -> Outcome<Rows> {
    let new = New::of(options)?;
    let columns = columns
        .into_iter()
        .map(|(name, dtype, shape)| Ok((name, numpy::parse_dtype(&numpy::dtype(&dtype)?)?, shape)));
    let columns = columns.collect::<Outcome<Vec<_>>>()?;
    let kind = match format {
        "bcolz" => {
            let mut options = bcolz::TableOptions::new();
            options.bounds = new.has_bounds;
            for (name, dtype, shape) in columns {
                options = options.with_column(name, new.bcolz(dtype, shape));
            }
            threads::run(py, usize::MAX, || {
                Ok(Kind::Bcolz(Arc::new(bcolz::Table::create(&path, &options)?)))
            })?
        }
        "blsk" => {
            let row_shape = same_shape(&columns)?;
            let columns = columns.into_iter().map(|(name, dtype, _)| (name, dtype));
            let options = blsk::TableOptions::new()
                .with_columns(columns)
                .with_row_shape(row_shape)
                .with_tree(new.blsk());
            threads::run(py, usize::MAX, || {
                let table = blsk::Table::create(&path, &options)?;
                Ok(Kind::Blsk(Arc::new(table)))
            })?
        }
        other => return Err(wrong(other).into()),
    };
    Ok(made(kind, path))
}

/// A new column that is none of a table.
#[pyfunction]
#[pyo3(signature = (path, format, dtype, row_shape, **options))]
pub(crate) fn _create_array(
    py: Python<'_>,
    path: PathBuf,
    format: &str,
    dtype: &Bound<'_, PyAny>,
    row_shape: Vec<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> Outcome<Rows> {
    let new = New::of(options)?;
    let dtype = numpy::parse_dtype(&numpy::dtype(dtype)?)?;
    let kind = match format {
        "bcolz" => {
            let options = new.bcolz(dtype, row_shape);
            threads::run(py, usize::MAX, || {
                Ok(Kind::BcolzArray(Box::new(bcolz::Array::create(&path, &options)?)))
            })?
        }
        "blsk" => {
            let options = blsk::ArrayOptions::new(dtype)
                .with_row_shape(sides(&row_shape))
                .with_tree(new.blsk());
            threads::run(py, usize::MAX, || {
                let array = blsk::Array::create(&path, &options)?;
                Ok(Kind::BlskArray(Box::new(array)))
            })?
        }
        other => return Err(wrong(other).into()),
    };
    Ok(made(kind, path))
}

fn made(kind: Kind, path: PathBuf) -> Rows {
    let origin = Origin { path: Some(path), writable: true, keywords: None };
    Rows::new(kind, origin, OpenOptions::new())
}

fn wrong(format: &str) -> PyErr {
    PyValueError::new_err(format!("format: expected 'bcolz' or 'blsk', got '{format}'"))
}

fn sides(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|side| *side as u64).collect()
}

/// The shape of a row, which all columns of a blsk table share.
fn same_shape(columns: &[(String, DType, Vec<usize>)]) -> PyResult<Vec<u64>> {
    let first = columns.first().map_or(&[][..], |(.., shape)| shape.as_slice());
    match columns.iter().all(|(.., shape)| shape == first) {
        true => Ok(sides(first)),
        false => {
            Err(PyValueError::new_err("the rows of all columns of a blsk table have one shape"))
        }
    }
}

/// The keywords of a new table or column.
#[derive(Default)]
struct New {
    choice: Choice,
    chunk_rows: Option<usize>,
    expected_rows: u64,
    has_bounds: bool,
}

impl New {
    fn of(options: Option<&Bound<'_, PyDict>>) -> Outcome<Self> {
        let mut new = Self::default();
        new.choice = Choice::from_some(options, |name, value| {
            match name {
                _ if value.is_none() => {}
                "chunk_rows" => new.chunk_rows = Some(value.extract()?),
                "expected_rows" => new.expected_rows = value.extract()?,
                "bounds" => new.has_bounds = value.is_truthy()?,
                _ => return Err(unknown(name).into()),
            }
            Ok(())
        })?;
        Ok(new)
    }

    fn over(&self, base: CompressOptions) -> CompressOptions {
        self.choice.over(base)
    }

    fn bcolz(&self, dtype: DType, row_shape: Vec<usize>) -> bcolz::ArrayOptions {
        let mut options = bcolz::ArrayOptions::new(dtype).with_row_shape(row_shape);
        options.compress = self.over(options.compress);
        options.chunk_rows = self.chunk_rows.map(|rows| rows as u64);
        options.expected_rows = self.expected_rows;
        options
    }

    fn blsk(&self) -> blsk::TreeOptions {
        let mut options = blsk::TreeOptions::default();
        options.compress = self.over(options.compress);
        options.chunk_rows = self.chunk_rows;
        options
    }
}
