//! Bytes of Python objects, in and out, without copies: `bytes`, and whatever has the buffer protocol.

use std::ffi::CStr;
use std::slice;

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::errors::Outcome;

/// Bytes to read.
pub(crate) enum Input<'py> {
    /// A `bytes` object, which nobody changes: itself, or a copy of items of this size.
    Bytes(Bound<'py, PyBytes>, usize),
    /// Contiguous memory of any other object.
    Buffer(PyUntypedBuffer),
}

impl<'py> Input<'py> {
    /// The bytes of an object, in C order. What is not contiguous is copied.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone(), 1));
        }
        let buffer = export(object)?;
        if has_references(buffer.format()) {
            return Err(PyTypeError::new_err(
                "an array of Python objects has no bytes to store: convert it to a plain dtype",
            ));
        }
        if buffer.is_c_contiguous() {
            return Ok(Self::Buffer(buffer));
        }
        let view =
            PyMemoryView::from(object).or_else(|_| PyMemoryView::from(&raw_view(object)?))?;
        let copy = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
        Ok(Self::Bytes(copy, buffer.item_size().max(1)))
    }

    /// The bytes. Nothing of Python may run while they are in use, except in other threads: those
    /// must not change them, as with every function of Python that takes a buffer.
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes, _) => bytes.as_bytes(),
            // SAFETY: `of` has made sure that the buffer is contiguous, and the export keeps its
            // memory where it is.
            Self::Buffer(buffer) => unsafe { memory(buffer) },
        }
    }

    /// The bytes of an item; 1 for plain bytes.
    pub(crate) fn item_size(&self) -> usize {
        match self {
            Self::Bytes(_, item_size) => *item_size,
            Self::Buffer(buffer) => buffer.item_size().max(1),
        }
    }
}

/// Contiguous memory to write to.
pub(crate) struct Memory(PyUntypedBuffer);

impl Memory {
    /// The memory of an object.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = export(object)?;
        if buffer.readonly() {
            return Err(PyValueError::new_err("the output buffer is read-only"));
        }
        if !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err("the output buffer is not C-contiguous"));
        }
        if has_references(buffer.format()) {
            return Err(PyTypeError::new_err("the output buffer holds Python objects"));
        }
        Ok(Self(buffer))
    }

    /// The same memory, unless some of it is also that of the input.
    pub(crate) fn apart_from(self, input: &[u8]) -> PyResult<Self> {
        let own = self.0.buf_ptr().addr();
        let own = own..own + self.0.len_bytes();
        let other = input.as_ptr_range();
        if own.start < other.end.addr() && other.start.addr() < own.end {
            return Err(PyValueError::new_err("the input and the output share memory"));
        }
        Ok(self)
    }

    /// The bytes. Other threads of Python must not use them meanwhile, as with every function that
    /// fills a buffer.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        let pointer = self.0.buf_ptr().cast::<u8>();
        if self.0.len_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: `of` has made sure that the memory is writable and contiguous, and the export keeps
        // it where it is. `&mut self` makes this the only slice of this export.
        unsafe { slice::from_raw_parts_mut(pointer, self.0.len_bytes()) }
    }
}

/// New `bytes` of this length, which `fill` fills. The memory is not zeroed first: `fill` must write
/// all of it, or fail, and must not read it.
pub(crate) fn new_bytes<'py>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Outcome,
) -> Outcome<Bound<'py, PyBytes>> {
    let size = isize::try_from(len).map_err(|_| PyValueError::new_err("too many bytes"))?;
    // SAFETY: without a source Python allocates `size` bytes, which belong to nobody else until the
    // object is returned. Null is an exception, which `from_owned_ptr_or_err` takes.
    let bytes = unsafe {
        let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
        Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked::<PyBytes>()
    };
    if len > 0 {
        // SAFETY: the memory comes from Python's allocator, of which the compiler knows nothing: its
        // content is arbitrary, but not undefined. It is all written before anybody reads it.
        let memory = unsafe {
            let start = ffi::PyBytes_AsString(bytes.as_ptr()).cast::<u8>();
            slice::from_raw_parts_mut(start, len)
        };
        fill(memory)?;
    }
    Ok(bytes)
}

/// # Safety
///
/// The buffer is contiguous.
unsafe fn memory(buffer: &PyUntypedBuffer) -> &[u8] {
    if buffer.len_bytes() == 0 {
        return &[];
    }
    // SAFETY: a contiguous export has this many bytes there, for as long as it lives.
    unsafe { slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), buffer.len_bytes()) }
}

/// The buffer of an object.
fn export(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    PyUntypedBuffer::get(object).or_else(|_| {
        // Arrays of `ctypes` leave out their strides, which a view of them works out.
        let view = PyMemoryView::from(object).map(Bound::into_any);
        PyUntypedBuffer::get(&view.or_else(|error| raw_view(object).map_err(|_| error))?)
    })
}

/// An array of NumPy as one of raw items: it exports neither dates nor some of its newer types.
fn raw_view<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let dtype = object.getattr("dtype")?;
    if dtype.getattr("hasobject")?.is_truthy()? {
        return Err(PyTypeError::new_err("an array of Python objects"));
    }
    let item_size: usize = dtype.getattr("itemsize")?.extract()?;
    object.call_method1("view", (format!("V{item_size}"),))
}

/// Whether items of this format hold references to Python objects.
fn has_references(format: &CStr) -> bool {
    // Names of fields stand between colons.
    let parts = format.to_bytes().split(|byte| *byte == b':');
    parts.step_by(2).any(|types| types.contains(&b'O'))
}
