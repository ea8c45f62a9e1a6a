//! `array[key]` and its relatives.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{NDArray, helper};
use crate::access;
use crate::errors::Outcome;
use crate::index::{Kind, Plan, Rule, plan, shape_text};
use crate::key::{Key, NOT_AN_INDEX};
use crate::numpy;
use crate::strided::Strided;
use crate::values::Values;

/// Bytes that are read in one go: between them Ctrl-C is noticed.
const PIECE: usize = 64 << 20;

impl NDArray {
    /// The items of a key as a new NumPy array, or as a scalar where NumPy gives one.
    pub(super) fn item<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        rule: Rule,
    ) -> Outcome<Bound<'py, PyAny>> {
        let py = key.py();
        let dtype = self.dtype_in(py)?;
        let plan = match self.plan(key, &dtype, rule)? {
            Planned::Items(plan) => plan,
            Planned::Fields(names) => return Ok(self.whole(py)?.get_item(names)?),
        };
        let result = new_array(py, &plan, &dtype)?;
        self.read_into(&plan, &result)?;
        match plan.kind {
            Kind::Item => Ok(result.get_item(PyTuple::empty(py))?),
            _ => Ok(result),
        }
    }

    /// All items as a NumPy array.
    pub(super) fn whole<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        self.item(&py.Ellipsis().into_bound(py), Rule::NumPy)
    }

    /// Reads the items of a key into an array of the caller's.
    pub(super) fn get_into<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
    ) -> Outcome<Bound<'py, PyAny>> {
        let py = key.py();
        let dtype = self.dtype_in(py)?;
        let Planned::Items(plan) = self.plan(key, &dtype, Rule::NumPy)? else {
            return Err(PyIndexError::new_err("get() takes no names of fields").into());
        };
        if !out.getattr("dtype")?.eq(&dtype)? {
            let words = format!("out: expected an array of {dtype}, got {}", out.getattr("dtype")?);
            return Err(PyTypeError::new_err(words).into());
        }
        let mut memory = Strided::writable(out)?;
        if memory.shape() != plan.shape {
            return Err(PyValueError::new_err(format!(
                "out: expected an array of shape {}, got {}",
                shape_text(&plan.shape),
                shape_text(&memory.shape())
            ))
            .into());
        }
        if memory.is_contiguous() {
            self.read_memory(py, &plan, &mut memory)?;
            return Ok(out.clone());
        }
        if let Some(strides) = memory.strides() {
            let dst = memory.bytes_mut()?;
            let work = |array: &_| Ok(access::read_strided(array, &plan, dst, &strides)?);
            if self.handle.read(py, usize::MAX, work)? {
                return Ok(out.clone());
            }
        }
        let between = new_array(py, &plan, &dtype)?;
        self.read_into(&plan, &between)?;
        out.set_item(py.Ellipsis(), between)?;
        Ok(out.clone())
    }

    /// Writes the items of a key.
    pub(super) fn set_item(
        &self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        rule: Rule,
    ) -> Outcome {
        let py = key.py();
        let dtype = self.dtype_in(py)?;
        let plan = match self.plan(key, &dtype, rule)? {
            Planned::Items(plan) => plan,
            Planned::Fields(names) => {
                let all = self.whole(py)?;
                all.set_item(names, value)?;
                return self.set_item(&py.Ellipsis().into_bound(py), &all, rule);
            }
        };
        let values = Values::of(value, &dtype, &plan)?;
        let source = values.source()?;
        self.handle.write(py, |array| Ok(access::write(array, &plan, &source)?))
    }

    fn plan<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        dtype: &Bound<'py, PyAny>,
        rule: Rule,
    ) -> Outcome<Planned<'py>> {
        let items = match Key::of(key)? {
            Key::Items(items) => items,
            Key::Fields(names) if !dtype.getattr("names")?.is_none() => {
                return Ok(Planned::Fields(names));
            }
            Key::Fields(_) => return Err(PyIndexError::new_err(NOT_AN_INDEX).into()),
        };
        let planned = |array: &superchunk::NdArray| Ok(plan(items, array.shape(), rule));
        let plan = self.handle.read(key.py(), 0, planned)?.map_err(PyErr::from)?;
        Ok(Planned::Items(plan))
    }

    /// Reads into a new array.
    fn read_into(&self, plan: &Plan, result: &Bound<'_, PyAny>) -> Outcome {
        self.read_memory(result.py(), plan, &mut Strided::writable(result)?)
    }

    fn read_memory(&self, py: Python<'_>, plan: &Plan, memory: &mut Strided) -> Outcome {
        let dst = memory.bytes_mut()?;
        let pieces = match dst.len() > 2 * PIECE {
            true => self.handle.read(py, 0, |array| Ok(access::pieces(array, plan, PIECE)))?,
            false => None,
        };
        let Some(pieces) = pieces else {
            return self
                .handle
                .read(py, plan.work(dst.len()), |array| Ok(access::read(array, plan, dst)?));
        };
        let (len, rows) = (dst.len(), plan.shape.first().copied().unwrap_or(1).max(1));
        let mut rest = dst;
        for piece in &pieces {
            let here = len / rows * piece.shape.first().copied().unwrap_or(0);
            let Some((dst, behind)) = rest.split_at_mut_checked(here) else { break };
            rest = behind;
            self.handle.read(py, here, |array| Ok(access::read(array, piece, dst)?))?;
            py.check_signals()?;
        }
        Ok(())
    }
}

/// A new array for the items of a plan.
fn new_array<'py>(
    py: Python<'py>,
    plan: &Plan,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape: Vec<u64> = plan.shape.iter().map(|side| *side as u64).collect();
    numpy::empty(py, &shape, dtype)
}

/// What a key asks for.
enum Planned<'py> {
    Items(Plan),
    /// The whole array, of which these fields.
    Fields(Bound<'py, PyAny>),
}

/// What `oindex` and `vindex` are: brackets with another rule.
#[pyclass(frozen, module = "superchunk")]
#[derive(Debug)]
pub(crate) struct Indexer {
    array: Py<NDArray>,
    rule: Rule,
}

impl Indexer {
    pub(super) fn new(array: Py<NDArray>, rule: Rule) -> Self {
        Self { array, rule }
    }
}

#[pymethods]
impl Indexer {
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyAny>> {
        self.array.get().item(key, self.rule)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Outcome {
        self.array.get().set_item(key, value, self.rule)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = if self.rule == Rule::Outer { "oindex" } else { "vindex" };
        let array: String = helper(py, "text_of")?.call1((&self.array,))?.extract()?;
        Ok(format!("<{name} of {array}>"))
    }
}
