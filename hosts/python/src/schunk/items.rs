//! Bytes of items: `schunk[i]`, `schunk[i:j]`, and what is appended.

use std::ops::Range;

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PySlice};

use super::{SChunk, helper};
use crate::buffers::{Input, Memory};
use crate::errors::Outcome;

/// What stands between the brackets.
enum Items {
    /// Neighbours.
    Range(Range<u64>),
    /// Any items, by number.
    List(Vec<u64>),
}

#[pymethods]
impl SChunk {
    fn __len__(&self, py: Python<'_>) -> Outcome<usize> {
        let count = self.handle.read(py, 0, |frame| Ok(frame.item_count()))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyBytes>> {
        self.bytes_of(key.py(), &self.items(key)?)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Outcome {
        let py = key.py();
        let Items::Range(range) = self.items(key)? else {
            return Err(PyValueError::new_err("items are written one after the other").into());
        };
        let value = Input::of(value)?;
        let (bytes, count) = (value.as_slice(), range.end - range.start);
        let len = self.byte_len(py, count)?;
        if bytes.len() != len {
            return Err(PyValueError::new_err(format!(
                "{count} items have {len} bytes, got {}: items are overwritten, not inserted",
                bytes.len()
            ))
            .into());
        }
        self.handle.write(py, |frame| {
            let position = range.start * frame.item_size() as u64;
            Ok(frame.write_bytes(position, bytes)?)
        })
    }

    fn __iter__<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "items")?.call1((slf,))
    }

    /// Appends bytes, any number of items; returns the number of chunks.
    fn append(&self, data: &Bound<'_, PyAny>) -> Outcome<usize> {
        let input = Input::of(data)?;
        let bytes = input.as_slice();
        self.handle.write(data.py(), |frame| {
            frame.append(bytes)?;
            Ok(frame.chunk_count())
        })
    }

    /// The same as `append`.
    fn append_data(&self, data: &Bound<'_, PyAny>) -> Outcome<usize> {
        self.append(data)
    }

    /// The bytes of items; written to `out` if that is given, which is returned then.
    #[pyo3(signature = (start = None, stop = None, out = None))]
    fn get_slice<'py>(
        &self,
        py: Python<'py>,
        start: Option<isize>,
        stop: Option<isize>,
        out: Option<Bound<'py, PyAny>>,
    ) -> Outcome<Bound<'py, PyAny>> {
        let key = py.get_type::<PySlice>().call1((start, stop))?;
        let items = self.items(&key)?;
        let (Some(out), Items::Range(range)) = (out, &items) else {
            return Ok(self.bytes_of(py, &items)?.into_any());
        };
        let len = self.byte_len(py, range.end - range.start)?;
        let mut memory = Memory::of(&out)?;
        let place = memory.as_mut_slice();
        let found = place.len();
        let Some(place) = place.get_mut(..len) else {
            let words = format!("out: expected at least {len} bytes, got {found}");
            return Err(PyValueError::new_err(words).into());
        };
        self.handle.read(py, len, |frame| Ok(frame.read_items(range.clone(), place)?))?;
        Ok(out)
    }

    /// The bytes of items of any numbers, one behind the other.
    fn gather<'py>(&self, py: Python<'py>, indexes: Vec<i64>) -> Outcome<Bound<'py, PyBytes>> {
        let len = self.__len__(py)?;
        let place = |index: i64| existing(index, len as u64);
        let places = indexes.into_iter().map(place).collect::<PyResult<_>>()?;
        self.bytes_of(py, &Items::List(places))
    }

    /// Makes it so many items long: cuts, or appends zeros.
    fn resize(&self, py: Python<'_>, count: u64) -> Outcome {
        self.handle.write(py, |frame| Ok(frame.resize(count)?))
    }

    /// Chunk after chunk as bytes; as a NumPy array of items if there is a `dtype`.
    #[pyo3(signature = (dtype = None))]
    fn iter_chunks<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "iter_chunks")?.call1((slf, dtype))
    }

    /// The same as `iter_chunks`.
    #[pyo3(signature = (dtype = None))]
    fn iterchunks<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::iter_chunks(slf, py, dtype)
    }

    /// What is known of every chunk without decoding it.
    fn iter_chunks_info<'py>(
        slf: Bound<'py, Self>,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "iter_chunks_info")?.call1((slf,))
    }
}

impl SChunk {
    fn items(&self, key: &Bound<'_, PyAny>) -> Outcome<Items> {
        let len = self.__len__(key.py())?;
        if let Ok(slice) = key.cast::<PySlice>() {
            return Ok(sliced(slice, len)?);
        }
        let index: i64 = key.extract().map_err(|_| {
            PyTypeError::new_err("a super-chunk takes an integer or a slice between its brackets")
        })?;
        let place = existing(index, len as u64)?;
        Ok(Items::Range(place..place + 1))
    }

    fn byte_len(&self, py: Python<'_>, count: u64) -> Outcome<usize> {
        let item_size = self.handle.read(py, 0, |frame| Ok(frame.item_size()))?;
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(item_size));
        Ok(len.ok_or_else(|| PyValueError::new_err("more bytes than the memory can hold"))?)
    }

    fn bytes_of<'py>(&self, py: Python<'py>, items: &Items) -> Outcome<Bound<'py, PyBytes>> {
        let count = match items {
            Items::Range(range) => range.end - range.start,
            Items::List(list) => list.len() as u64,
        };
        let len = self.byte_len(py, count)?;
        let read = |dst: &mut [u8]| {
            self.handle.read(py, len, |frame| {
                match items {
                    Items::Range(range) => frame.read_items(range.clone(), dst)?,
                    Items::List(list) => frame.gather(list, dst)?,
                }
                Ok(())
            })
        };
        Ok(PyBytes::new_with(py, len, |dst| Ok(read(dst)?))?)
    }
}

/// The items of a slice, as Python cuts it.
fn sliced(slice: &Bound<'_, PySlice>, len: usize) -> PyResult<Items> {
    let found = slice.indices(isize::try_from(len).unwrap_or(isize::MAX))?;
    if found.step == 1 {
        let start = u64::try_from(found.start).unwrap_or(0);
        return Ok(Items::Range(start..start + found.slicelength as u64));
    }
    Ok(Items::List(places(slice, len)?))
}

/// The indexes of a slice, as Python cuts it.
pub(crate) fn places(slice: &Bound<'_, PySlice>, len: usize) -> PyResult<Vec<u64>> {
    let found = slice.indices(isize::try_from(len).unwrap_or(isize::MAX))?;
    let place = |number: usize| {
        let step = isize::try_from(number).unwrap_or(isize::MAX).saturating_mul(found.step);
        u64::try_from(found.start.saturating_add(step)).unwrap_or(0)
    };
    Ok((0..found.slicelength).map(place).collect())
}

/// An index that may count from the end.
pub(crate) fn existing(index: i64, len: u64) -> PyResult<u64> {
    let from_end = if index < 0 { len } else { 0 };
    let found = from_end.checked_add_signed(index).filter(|place| *place < len);
    found.ok_or_else(|| {
        PyIndexError::new_err(format!("index {index} is out of range: there are {len}"))
    })
}
