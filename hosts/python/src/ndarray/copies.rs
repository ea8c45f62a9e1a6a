//! Copies of arrays: with other options, of a part, with other axes, in other formats.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use superchunk::FrameOptions;
use superchunk::frame::Kind;

use super::create::{_from_bytes, New};
use super::grow::axis_of;
use super::{NDArray, helper};
use crate::errors::Outcome;
use crate::handle::Origin;
use crate::options::Choice;

#[pymethods]
impl NDArray {
    /// A copy, in memory or at `path`; with other chunks, blocks or options where they are given.
    #[pyo3(signature = (path = None, *, dtype = None, mode = "w-", **options))]
    fn copy<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        path: Option<Bound<'py, PyAny>>,
        dtype: Option<Bound<'py, PyAny>>,
        mode: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "copy")?.call((slf, path, dtype, mode), options)
    }

    /// A copy with the options of this array, where no others are given.
    #[pyo3(signature = (path, **options))]
    fn _copy(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Outcome<Self> {
        let mut made = New::default();
        let base = self.handle.read(py, 0, |array| Ok(array.options()))?;
        let choice = Choice::from_some(options, |name, value| made.set(name, &value))?;
        let mut frame = base.frame.clone();
        frame.kind = Kind::Contiguous;
        frame.compress = choice.over(base.frame.compress);
        if made.chunks.is_none() && made.blocks.is_none() {
            (made.chunks, made.blocks) = (base.chunks, base.blocks);
        }
        let options = made.storage(frame);
        let array = self.handle.read(py, usize::MAX, |array| {
            Ok(match &path {
                Some(path) => array.copy_to(path, &options)?,
                None => array.copy_to_memory(&options)?,
            })
        })?;
        Ok(Self::new(array, Origin { path, writable: true, keywords: None }))
    }

    /// A copy in memory with the axes in another order; reversed without one.
    #[pyo3(signature = (*axes, **options))]
    fn transpose(
        &self,
        py: Python<'_>,
        axes: &Bound<'_, PyTuple>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> Outcome<Self> {
        let (rank, base) = self.handle.read(py, 0, |array| Ok((array.ndim(), array.options())))?;
        let order = order_of(axes, rank)?;
        let mut made = New::default();
        let choice = Choice::from_some(options, |name, value| made.set(name, &value))?;
        let turned = |sides: Vec<usize>| {
            order.iter().filter_map(|axis| sides.get(*axis).copied()).collect::<Vec<_>>()
        };
        if made.chunks.is_none() && made.blocks.is_none() {
            (made.chunks, made.blocks) = (base.chunks.map(turned), base.blocks.map(turned));
        }
        let frame = FrameOptions::new(choice.over(base.frame.compress));
        let options = made.storage(frame);
        let array =
            self.handle.read(py, usize::MAX, |array| Ok(array.transpose(&order, &options)?))?;
        Ok(Self::new(array, Origin { path: None, writable: true, keywords: None }))
    }

    /// A copy in memory with the axes in reverse order.
    #[getter(T)]
    fn t(&self, py: Python<'_>) -> Outcome<Self> {
        self.transpose(py, &PyTuple::empty(py), None)
    }

    /// A new array in memory of what a key selects.
    #[pyo3(signature = (key, **options))]
    fn slice<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        key: Bound<'py, PyAny>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options.unwrap_or_else(|| PyDict::new(py));
        helper(py, "derived")?.call1((slf, key, options))
    }

    /// A copy with items of another type.
    #[pyo3(signature = (dtype, **options))]
    fn astype<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        dtype: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "copy")?.call((slf, py.None(), dtype, "w-"), options)
    }

    /// A copy in memory without axes of one index.
    #[pyo3(signature = (axis = None, **options))]
    fn squeeze<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        axis: Option<Bound<'py, PyAny>>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = helper(py, "squeeze")?.call1((&slf, axis))?;
        Self::slice(slf, py, key, options)
    }

    /// A copy in memory with more axes of one index.
    #[pyo3(signature = (axis, **options))]
    fn expand_dims<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        axis: Bound<'py, PyAny>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let key = helper(py, "expand_dims")?.call1((&slf, axis))?;
        Self::slice(slf, py, key, options)
    }

    /// Stores a copy at `path`; `mode="w"` replaces what is there.
    #[pyo3(signature = (path, *, mode = "w-", **options))]
    fn save<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        path: Bound<'py, PyAny>,
        mode: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        let copy = helper(py, "copy")?.call((slf, path, py.None(), mode), options)?;
        copy.call_method0("close").map(drop)
    }

    /// Writes a `.npy` file.
    fn to_npy(slf: Bound<'_, Self>, py: Python<'_>, path: Bound<'_, PyAny>) -> PyResult<()> {
        helper(py, "to_npy")?.call1((slf, path)).map(drop)
    }

    /// The array of a `.npy` file; takes the keywords of `array`.
    #[staticmethod]
    #[pyo3(signature = (file, **options))]
    fn from_npy<'py>(
        py: Python<'py>,
        file: Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        py.import("superchunk._create")?.getattr("from_npy")?.call((file,), options)
    }

    /// The array that the bytes of a file hold: a copy that can be changed, unless `copy` is false.
    #[staticmethod]
    #[pyo3(signature = (data, copy = true))]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<Self> {
        _from_bytes(py, data, copy)
    }

    /// The same as `from_bytes`.
    #[staticmethod]
    #[pyo3(signature = (data, copy = true))]
    fn from_cframe(py: Python<'_>, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<Self> {
        _from_bytes(py, data, copy)
    }

    /// The bytes of a file that holds the array.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let bytes =
            self.handle.read(py, usize::MAX, |array| Ok(array.superchunk().to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The same as `to_bytes`.
    fn to_cframe<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        self.to_bytes(py)
    }
}

/// The order of axes that the arguments of `transpose` mean.
fn order_of(axes: &Bound<'_, PyTuple>, rank: usize) -> PyResult<Vec<usize>> {
    let first = axes.iter().next();
    let given: Vec<isize> = match first {
        None => return Ok((0..rank).rev().collect()),
        Some(first) if axes.len() == 1 && first.is_none() => return Ok((0..rank).rev().collect()),
        Some(first) if axes.len() == 1 => first.extract().or_else(|_| axes.extract())?,
        Some(_) => axes.extract()?,
    };
    if given.len() != rank {
        return Err(PyValueError::new_err("axes don't match array"));
    }
    let order = given.into_iter().map(|axis| axis_of(axis, rank)).collect::<PyResult<Vec<_>>>()?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    match sorted.into_iter().eq(0..rank) {
        true => Ok(order),
        false => Err(PyValueError::new_err("repeated axis in transpose")),
    }
}
