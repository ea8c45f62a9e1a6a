//! Scans of tables, and what is computed of the rows that they find.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};
use superchunk::table::{
    self, Aggregate, Const, Measure, MemoryTable, Number, Params, SortBy, Source,
};
use superchunk::{DType, Error, ErrorKind};

use super::Rows;
use crate::errors::{Outcome, caught};
use crate::numpy;
use crate::signals::Watch;
use crate::threads;

/// What is to be read of a table; nothing is read before results are asked for.
#[pyclass(frozen, module = "superchunk")]
pub(crate) struct Scan {
    scan: table::Scan<'static>,
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scan.fmt(f)
    }
}

#[pymethods]
impl Rows {
    /// A scan; `rows` are the first one and the one after the last.
    #[pyo3(signature = (columns = None, condition = None, params = None, rows = None, limit = None,
                        batch_size = None, nthreads = None))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of Table.scan")]
    fn scan(
        &self,
        py: Python<'_>,
        columns: Option<Vec<String>>,
        condition: Option<&str>,
        params: Option<&Bound<'_, PyDict>>,
        rows: Option<(u64, u64)>,
        limit: Option<u64>,
        batch_size: Option<usize>,
        nthreads: Option<usize>,
    ) -> Outcome<Scan> {
        let mut scan = self.handle.read(py, 0, |stored| Ok(stored.kind.scan()?))?;
        let threads = nthreads.map(threads::checked).transpose()?;
        scan = scan.with_executor(threads::executor(threads));
        if let Some(columns) = columns {
            scan = scan.with_columns(columns);
        }
        if let Some(condition) = condition {
            scan = scan.with_condition(condition)?;
        }
        let mut given = Params::new();
        for (name, value) in params.into_iter().flatten() {
            given = given.with(name.extract::<String>()?, constant(&value)?);
        }
        scan = scan.with_params(given);
        if let Some((start, stop)) = rows {
            scan = scan.with_rows(start..stop);
        }
        if let Some(limit) = limit {
            scan = scan.with_limit(limit);
        }
        if let Some(size) = batch_size {
            scan = scan.with_batch_rows(size);
        }
        Ok(Scan { scan })
    }
}

/// A parameter of an expression.
fn constant(value: &Bound<'_, PyAny>) -> PyResult<Const> {
    if let Ok(bit) = value.cast::<PyBool>() {
        return Ok(Const::Bool(bit.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        let too_large = |_| PyOverflowError::new_err(format!("{value} does not fit 64 bits"));
        return match value.extract::<i64>() {
            Ok(number) => Ok(Const::Int(number.into())),
            Err(_) => value.extract::<u64>().map(|n| Const::Int(n.into())).map_err(too_large),
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return value.extract().map(Const::Float);
    }
    if value.is_instance_of::<PyString>() {
        return value.extract().map(Const::Text);
    }
    if value.is_instance_of::<PyBytes>() {
        return value.extract().map(Const::Bytes);
    }
    if value.hasattr("isoformat")? {
        return value.call_method0("isoformat")?.extract().map(Const::Text);
    }
    if value.hasattr("dtype")? && value.getattr("ndim")?.extract::<usize>()? == 0 {
        let kind: String = value.getattr("dtype")?.getattr("kind")?.extract()?;
        return match kind.as_str() {
            // As the library reads moments.
            "M" => value.str()?.extract().map(Const::Text),
            _ => constant(&value.call_method0("item")?),
        };
    }
    let kind = value.get_type();
    Err(PyTypeError::new_err(format!(
        "a parameter is a number, a text, bytes or a date, got {kind}"
    )))
}

#[pymethods]
impl Scan {
    /// The matching rows, batch by batch.
    fn batches(&self, py: Python<'_>) -> Outcome<Batches> {
        let batches = threads::run(py, usize::MAX, || Ok(self.scan.batches()?))?;
        Ok(Batches { batches: Mutex::new(batches) })
    }

    /// The number of matching rows.
    fn count(&self, py: Python<'_>) -> Outcome<u64> {
        let mut count = 0;
        self.each(py, |batch| count += batch.len() as u64)?;
        Ok(count)
    }

    /// The numbers of the matching rows.
    fn row_numbers<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        let mut numbers = Vec::new();
        self.each(py, |batch| numbers.extend(batch.row_numbers()))?;
        numbers_of(py, numbers.into_iter())
    }

    /// All matching rows, as an array for each column.
    fn to_dict<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        arrays(py, &threads::run(py, usize::MAX, || Ok(self.scan.to_table()?))?)
    }

    /// Count, nulls, sum, least, greatest, mean and variance of the values of a column.
    fn summary<'py>(&self, py: Python<'py>, column: &str) -> Outcome<Bound<'py, PyDict>> {
        let found = threads::run(py, usize::MAX, || Ok(self.scan.summary(column)?))?;
        let summary = PyDict::new(py);
        summary.set_item("count", found.count)?;
        summary.set_item("nulls", found.nulls)?;
        summary.set_item("sum", number(py, found.sum)?)?;
        summary.set_item("min", number(py, found.min)?)?;
        summary.set_item("max", number(py, found.max)?)?;
        summary.set_item("mean", found.mean())?;
        summary.set_item("var", found.variance(0))?;
        summary.set_item("std", found.std(0))?;
        Ok(summary)
    }

    /// A row for each combination of values of columns. A measure is its word, its column, and the
    /// name of the result.
    fn group_by<'py>(
        &self,
        py: Python<'py>,
        by: Vec<String>,
        measures: Vec<(String, String, String)>,
    ) -> Outcome<Bound<'py, PyDict>> {
        let aggregate = |(word, column, name): (String, String, String)| -> PyResult<Aggregate> {
            Ok(Aggregate::new(measure(&word)?, column).named(name))
        };
        let aggregates = measures.into_iter().map(aggregate).collect::<PyResult<Vec<_>>>()?;
        let by: Vec<&str> = by.iter().map(String::as_str).collect();
        let found = threads::run(py, usize::MAX, || Ok(self.scan.group_by(&by, &aggregates)?))?;
        arrays(py, &found)
    }

    /// The different combinations of values of columns.
    fn unique<'py>(&self, py: Python<'py>, columns: Vec<String>) -> Outcome<Bound<'py, PyDict>> {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        arrays(py, &threads::run(py, usize::MAX, || Ok(self.scan.distinct(&columns)?))?)
    }

    /// The matching rows in another order; a column is a name, and whether the greatest come first.
    fn sorted<'py>(&self, py: Python<'py>, by: Vec<(String, bool)>) -> Outcome<Bound<'py, PyDict>> {
        let by = orders(by);
        arrays(py, &threads::run(py, usize::MAX, || Ok(self.scan.sorted(&by)?))?)
    }

    /// The numbers of the matching rows in another order.
    fn order<'py>(&self, py: Python<'py>, by: Vec<(String, bool)>) -> Outcome<Bound<'py, PyAny>> {
        let by = orders(by);
        let order = threads::run(py, usize::MAX, || Ok(self.scan.order(&by)?))?;
        numbers_of(py, order.into_iter())
    }
}

impl Scan {
    /// Shows every batch without columns; Ctrl-C ends it.
    fn each(&self, py: Python<'_>, mut see: impl FnMut(&table::Batch) + Send) -> Outcome {
        let watch = Watch::new(None);
        threads::run(py, usize::MAX, || {
            for batch in self.scan.clone().with_columns::<String>([]).batches()? {
                let batch = batch?;
                see(&batch);
                watch.step(0, 1)?;
            }
            Ok(())
        })
    }
}

/// The batches of a scan.
#[pyclass(frozen, module = "superchunk")]
pub(crate) struct Batches {
    batches: Mutex<table::Batches<'static>>,
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batches").finish_non_exhaustive()
    }
}

#[pymethods]
impl Batches {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The numbers of the rows of the next batch, and an array for each column.
    fn __next__<'py>(
        &self,
        py: Python<'py>,
    ) -> Outcome<Option<(Bound<'py, PyAny>, Bound<'py, PyDict>)>> {
        let next = py.detach(|| {
            caught(|| {
                // A thread that finds it taken is told so: it would wait for ever in a forked child.
                let mut batches = match self.batches.try_lock() {
                    Ok(batches) => batches,
                    Err(std::sync::TryLockError::Poisoned(batches)) => {
                        PoisonError::into_inner(batches)
                    }
                    Err(std::sync::TryLockError::WouldBlock) => {
                        let words = "another thread is at work with this scan";
                        return Err(Error::new(ErrorKind::Locked, words).into());
                    }
                };
                Ok(batches.next().transpose()?)
            })
        })?;
        let Some(batch) = next else { return Ok(None) };
        let columns = PyDict::new(py);
        for column in batch.columns() {
            let array = array(py, column.dtype(), column.row_shape(), batch.len(), column.bytes())?;
            columns.set_item(column.name(), array)?;
        }
        Ok(Some((numbers_of(py, batch.row_numbers())?, columns)))
    }
}

fn orders(by: Vec<(String, bool)>) -> Vec<SortBy> {
    by.into_iter()
        .map(
            |(name, descends)| {
                if descends { SortBy::descending(name) } else { SortBy::ascending(name) }
            },
        )
        .collect()
}

fn measure(word: &str) -> PyResult<Measure> {
    Ok(match word {
        "count" => Measure::Count,
        "sum" => Measure::Sum,
        "min" => Measure::Min,
        "max" => Measure::Max,
        "mean" => Measure::Mean,
        "std" => Measure::Std,
        other => {
            return Err(PyValueError::new_err(format!(
                "a measure is 'count', 'sum', 'min', 'max', 'mean' or 'std', got '{other}'"
            )));
        }
    })
}

fn number<'py>(py: Python<'py>, number: Option<Number>) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match number {
        None => None,
        // By its digits: the stable interface of Python has no integers of 128 bits.
        Some(Number::Int(value)) => Some(py.get_type::<PyInt>().call1((value.to_string(),))?),
        Some(Number::Float(value)) => Some(PyFloat::new(py, value).into_any()),
    })
}

/// The columns of a table in memory.
fn arrays<'py>(py: Python<'py>, table: &MemoryTable) -> Outcome<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let rows = usize::try_from(table.rows()).unwrap_or(usize::MAX);
    for (number, column) in table.columns().iter().enumerate() {
        let bytes = table.bytes(number).unwrap_or_default();
        columns
            .set_item(&column.name, array(py, &column.dtype, &column.row_shape, rows, bytes)?)?;
    }
    Ok(columns)
}

fn array<'py>(
    py: Python<'py>,
    dtype: &DType,
    row_shape: &[usize],
    rows: usize,
    bytes: &[u8],
) -> Outcome<Bound<'py, PyAny>> {
    let inner = row_shape.iter().map(|side| *side as u64);
    let shape: Vec<u64> = std::iter::once(rows as u64).chain(inner).collect();
    let array = numpy::empty(py, &shape, &numpy::dtype_of(py, dtype)?)?;
    let mut memory = crate::strided::Strided::writable(&array)?;
    memory.bytes_mut()?.copy_from_slice(bytes);
    drop(memory);
    Ok(array)
}

fn numbers_of(py: Python<'_>, numbers: impl Iterator<Item = u64>) -> Outcome<Bound<'_, PyAny>> {
    let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
    array(py, &DType::parse("<i8")?, &[], bytes.len() / 8, &bytes)
}
