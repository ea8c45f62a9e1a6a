//! The memory of NumPy arrays: of any dtype, with any strides.
//!
//! NumPy exports dates and half of its other types only to those who do not ask for a format. The
//! dtype says what the items are, so nobody here asks.

use std::slice;

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The memory of an array, for as long as this lives.
pub(crate) struct Strided {
    /// Never moved: some exporters point into it.
    view: Box<ffi::Py_buffer>,
}

impl Strided {
    /// Memory to read from.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::export(array, ffi::PyBUF_STRIDES)
    }

    /// Memory to write to.
    pub(crate) fn writable(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::export(array, ffi::PyBUF_STRIDES | ffi::PyBUF_WRITABLE)
    }

    fn export(array: &Bound<'_, PyAny>, flags: std::ffi::c_int) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: `array` is an object and `view` is for the exporter to fill; on failure it holds
        // nothing that would have to be released.
        if unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), &raw mut *view, flags) } != 0 {
            return Err(PyErr::fetch(array.py()));
        }
        Ok(Self { view })
    }

    pub(crate) fn item_size(&self) -> usize {
        self.view.itemsize.unsigned_abs()
    }

    /// The length of each dimension.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.numbers(self.view.shape).iter().map(|side| side.unsigned_abs()).collect()
    }

    /// The bytes between neighbours along each dimension; `None` if some are negative. Where there
    /// is one index or none it is 0.
    pub(crate) fn strides(&self) -> Option<Vec<usize>> {
        let axes = self.numbers(self.view.shape).iter().zip(self.numbers(self.view.strides));
        axes.map(|(side, stride)| if *side < 2 { Some(0) } else { usize::try_from(*stride).ok() })
            .collect()
    }

    /// Whether the items lie one after the other, in C order.
    pub(crate) fn is_contiguous(&self) -> bool {
        let mut expected = self.view.itemsize;
        let axes = self.numbers(self.view.shape).iter().zip(self.numbers(self.view.strides)).rev();
        let mut axes = axes.filter(|(side, _)| **side != 1);
        self.view.len == 0
            || axes.all(|(side, stride)| {
                let fits = *stride == expected;
                expected = expected.saturating_mul(*side);
                fits
            })
    }

    /// From the first byte of the first item to the last one of the last, for strides that are not
    /// negative. Other threads must not change the items meanwhile, as with every function of
    /// Python that takes a buffer.
    pub(crate) fn bytes(&self) -> PyResult<&[u8]> {
        let len = self.span()?;
        if len == 0 {
            return Ok(&[]);
        }
        // SAFETY: the items are in memory that the exporter keeps where it is until `drop`, and
        // `span` has checked that they begin at `buf` and how far they reach.
        Ok(unsafe { slice::from_raw_parts(self.view.buf.cast::<u8>(), len) })
    }

    /// The same, to be written. What lies between the items belongs to others: it must be left as it
    /// is. New arrays are not initialised: nothing must be read that was not written before.
    pub(crate) fn bytes_mut(&mut self) -> PyResult<&mut [u8]> {
        let len = self.span()?;
        if self.view.readonly != 0 {
            return Err(PyValueError::new_err("output array is read-only"));
        }
        if len == 0 {
            return Ok(&mut []);
        }
        // SAFETY: as in `bytes`; the exporter said that it can be written, and `&mut self` makes
        // this the only slice. Memory of other allocators has arbitrary content, but not an
        // undefined one.
        Ok(unsafe { slice::from_raw_parts_mut(self.view.buf.cast::<u8>(), len) })
    }

    /// How far the items reach.
    fn span(&self) -> PyResult<usize> {
        if self.view.len == 0 {
            return Ok(0);
        }
        let strides = self.strides().ok_or_else(|| PyValueError::new_err("negative strides"))?;
        let axes = self.shape().into_iter().zip(strides);
        let reach = axes.map(|(side, stride)| side.saturating_sub(1).saturating_mul(stride));
        Ok(reach.fold(self.item_size(), usize::saturating_add))
    }

    fn numbers(&self, start: *const ffi::Py_ssize_t) -> &[ffi::Py_ssize_t] {
        match usize::try_from(self.view.ndim) {
            // SAFETY: shape and strides were asked for, so both have `ndim` numbers.
            Ok(rank) if rank > 0 => unsafe { slice::from_raw_parts(start, rank) },
            _ => &[],
        }
    }
}

impl Drop for Strided {
    fn drop(&mut self) {
        // Values are made and dropped in methods that Python calls, so that it is attached.
        Python::attach(|_| {
            // SAFETY: `export` has filled `view`, which is released once.
            unsafe { ffi::PyBuffer_Release(&raw mut *self.view) };
        });
    }
}
