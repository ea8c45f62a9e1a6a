//! `compress`, `decompress` and their reusable form.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use superchunk::chunk::Header;

use crate::buffers::{Input, Memory, new_bytes};
use crate::errors::Outcome;
use crate::options::Choice;
use crate::threads;

/// Compresses a buffer into a chunk.
#[pyfunction]
#[pyo3(signature = (data, /, **options))]
pub(crate) fn compress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> Outcome<Bound<'py, PyBytes>> {
    let choice = Choice::from_all(options)?;
    let input = Input::of(data)?;
    let (src, item_size) = (input.as_slice(), choice.item_size.unwrap_or(input.item_size()));
    let chunk = threads::run(py, src.len(), || {
        threads::with_encoder(&choice, item_size, |encoder| Ok(encoder.compress(src)?))
    })?;
    Ok(PyBytes::new(py, &chunk))
}

/// Decompresses a chunk.
#[pyfunction]
#[pyo3(signature = (data, /, *, nthreads = None))]
pub(crate) fn decompress<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    nthreads: Option<usize>,
) -> Outcome<Bound<'py, PyBytes>> {
    let input = Input::of(data)?;
    let chunk = input.as_slice();
    let len = Header::parse(chunk)?.len();
    new_bytes(py, len, |memory| {
        threads::run(py, len, || {
            threads::with_decoder(nthreads, |decoder| {
                decoder.decompress_into(chunk, memory)?;
                Ok(())
            })
        })
    })
}
