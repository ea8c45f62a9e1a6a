//! The class `Objects`: a list of texts, bytes or values of any length.

use std::fmt;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice};
use superchunk::{Error, ObjectKind, ObjectsOptions, SuperChunk, Value};

use crate::errors::Outcome;
use crate::frame::{Framed, NewFrame, owned_bytes};
use crate::handle::{Handle, Held, Origin};
use crate::metadata;
use crate::methods::{frame_methods, handle_methods};
use crate::options::Choice;
use crate::schunk::{existing, places};
use crate::threads;

/// What is assumed to be decoded for a list: more than [`threads::run`] does with the interpreter lock.
const MUCH: usize = usize::MAX;

/// A list of texts, bytes or values of any length, compressed in batches. Made by `open` and
/// `create_objects`.
#[pyclass(frozen, weakref, module = "superchunk")]
pub(crate) struct Objects {
    handle: Handle<superchunk::Objects>,
}

handle_methods!(Objects, "superchunk._frames");
frame_methods!(Objects);

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

impl Held for superchunk::Objects {
    fn class(&self) -> &'static str {
        "list of objects"
    }

    fn commit(&mut self) -> superchunk::Result<()> {
        Self::commit(self)
    }

    fn refresh(&mut self) -> superchunk::Result<()> {
        Self::refresh(self).map(drop)
    }
}

impl Framed for superchunk::Objects {
    fn frame(&self) -> &SuperChunk {
        self.superchunk()
    }

    fn frame_mut(&mut self) -> superchunk::Result<&mut SuperChunk> {
        Err(Error::unsupported("the metadata of a list of objects is not changed"))
    }
}

/// A new list of objects: 'text', 'bytes', or 'values' of any kind.
#[pyfunction]
#[pyo3(signature = (path, kind, **options))]
pub(crate) fn _create_objects(
    py: Python<'_>,
    path: Option<PathBuf>,
    kind: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> Outcome<Objects> {
    let mut made = match kind {
        "text" => ObjectsOptions::texts(),
        "bytes" => ObjectsOptions::bytes(),
        "values" => ObjectsOptions::values(),
        other => {
            let words = format!("kind: expected 'text', 'bytes' or 'values', got '{other}'");
            return Err(PyValueError::new_err(words).into());
        }
    };
    let mut frame = NewFrame::default();
    let choice = Choice::from_some(options, |name, value| {
        if frame.set(name, &value)? {
            return Ok(());
        }
        let words = format!("got an unexpected keyword argument '{name}'");
        Err(PyTypeError::new_err(words).into())
    })?;
    made.block_len = choice.block_size.unwrap_or(made.block_len);
    let choice = Choice { block_size: None, ..choice };
    made.frame.compress = choice.over(made.frame.compress.clone());
    made.frame = frame.over(made.frame.clone());
    let objects = threads::run(py, usize::MAX, || {
        Ok(match &path {
            Some(path) => superchunk::Objects::create(path, &made)?,
            None => superchunk::Objects::in_memory(&made)?,
        })
    })?;
    let objects = Objects::new(objects, Origin { path, writable: true, keywords: None });
    // One that nobody appends to is worth a commit, too.
    objects.handle.write(py, |_| Ok(()))?;
    Ok(objects)
}

impl Objects {
    pub(crate) fn new(objects: superchunk::Objects, origin: Origin) -> Self {
        Self { handle: Handle::new(objects, origin) }
    }

    fn list<'py>(&self, slice: &Bound<'py, PySlice>) -> Outcome<Bound<'py, PyAny>> {
        let py = slice.py();
        let places = places(slice, self.__len__(py)?)?;
        let values = self.handle.read(py, MUCH, |objects| {
            let (first, last) = (places.first().copied(), places.last().copied());
            if let (Some(first), Some(last)) = (first, last)
                && last.checked_sub(first) == Some(places.len() as u64 - 1)
            {
                return Ok(objects
                    .values(first..last + 1)?
                    .collect::<superchunk::Result<Vec<_>>>()?);
            }
            let values = places.iter().map(|place| objects.value(*place));
            Ok(values.collect::<superchunk::Result<Vec<_>>>()?)
        })?;
        let values = values.iter().map(|value| metadata::value(py, value));
        Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }

    /// A value, if it is of the kind of this list.
    fn fitting(&self, object: &Bound<'_, PyAny>) -> Outcome<Value> {
        let kind = self.handle.read(object.py(), 0, |objects| Ok(objects.kind()))?;
        let value = metadata::stored(object)?;
        let expected = match (kind, &value) {
            (ObjectKind::Text, Value::Str(_)) | (ObjectKind::Bytes, Value::Bin(_)) => {
                return Ok(value);
            }
            (ObjectKind::Text, _) => "str",
            (ObjectKind::Bytes, _) => "bytes",
            _ => return Ok(value),
        };
        let words = format!("this list holds {expected}, got {}", object.get_type());
        Err(PyTypeError::new_err(words).into())
    }
}

#[pymethods]
impl Objects {
    fn __len__(&self, py: Python<'_>) -> Outcome<usize> {
        let count = self.handle.read(py, 0, |objects| Ok(objects.len()))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyAny>> {
        let py = key.py();
        if let Ok(slice) = key.cast::<PySlice>() {
            return self.list(slice);
        }
        let place = existing(index(key)?, self.__len__(py)? as u64)?;
        let value = self.handle.read(py, MUCH, |objects| Ok(objects.value(place)?))?;
        Ok(metadata::value(py, &value)?)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Outcome {
        let py = key.py();
        let place = existing(index(key)?, self.__len__(py)? as u64)?;
        let value = self.fitting(value)?;
        self.handle.write(py, |objects| Ok(objects.replace_value(place, &value)?))
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> Outcome {
        let py = key.py();
        let len = self.__len__(py)?;
        let mut places = match key.cast::<PySlice>() {
            Ok(slice) => places(slice, len)?,
            Err(_) => vec![existing(index(key)?, len as u64)?],
        };
        places.sort_unstable();
        let kept = (len as u64).saturating_sub(places.len() as u64);
        self.handle.write(py, |objects| {
            if places.first().is_none_or(|first| *first == kept) {
                return Ok(objects.truncate(kept)?);
            }
            Ok(places.iter().rev().try_for_each(|place| objects.remove(*place))?)
        })
    }

    fn __iter__<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        helper(py, "objects")?.call1((slf,))
    }

    /// Appends an object.
    fn append(&self, object: &Bound<'_, PyAny>) -> Outcome {
        let value = self.fitting(object)?;
        self.handle.write(object.py(), |objects| Ok(objects.append_value(&value)?))
    }

    /// Appends many objects: all, or none if one of them is refused.
    fn extend(&self, objects: &Bound<'_, PyAny>) -> Outcome {
        let values = objects.try_iter()?.map(|object| self.fitting(&object?));
        let values = values.collect::<Outcome<Vec<_>>>()?;
        self.handle.write(objects.py(), |objects| {
            let before = objects.len();
            let appended = values.iter().try_for_each(|value| objects.append_value(value));
            if appended.is_err() {
                objects.truncate(before)?;
            }
            Ok(appended?)
        })
    }

    /// Inserts an object before another.
    fn insert(&self, index: i64, object: &Bound<'_, PyAny>) -> Outcome {
        let value = self.fitting(object)?;
        self.handle.write(object.py(), |objects| {
            let len = objects.len();
            let from_end = if index < 0 { len } else { 0 };
            let place = from_end.saturating_add_signed(index).min(len);
            Ok(objects.insert_value(place, &value)?)
        })
    }

    /// Removes an object and returns it; the last one without an index.
    #[pyo3(signature = (index = -1), text_signature = "($self, index=-1)")]
    fn pop<'py>(&self, py: Python<'py>, index: i64) -> Outcome<Bound<'py, PyAny>> {
        let place = existing(index, self.__len__(py)? as u64)?;
        let value = self.handle.write(py, |objects| {
            let value = objects.value(place)?;
            match place + 1 == objects.len() {
                true => objects.truncate(place)?,
                false => objects.remove(place)?,
            }
            Ok(value)
        })?;
        Ok(metadata::value(py, &value)?)
    }

    /// Removes all objects.
    fn clear(&self, py: Python<'_>) -> Outcome {
        self.handle.write(py, |objects| Ok(objects.truncate(0)?))
    }

    /// What the objects are: 'text', 'bytes' or 'values'.
    #[getter]
    fn kind(&self, py: Python<'_>) -> Outcome<&'static str> {
        self.handle.read(py, 0, |objects| {
            Ok(match objects.kind() {
                ObjectKind::Text => "text",
                ObjectKind::Bytes => "bytes",
                _ => "values",
            })
        })
    }

    /// The bytes of all objects as they are written before compression.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |objects| Ok(objects.superchunk().byte_len()))
    }

    /// Gives back the room of what was replaced or deleted.
    fn compact(&self, py: Python<'_>) -> Outcome {
        self.handle.write(py, |objects| Ok(objects.compact()?))
    }

    /// The bytes of a file that holds the list. What was changed is committed first.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        self.handle.commit(py)?;
        let bytes = self.handle.read(py, MUCH, |objects| Ok(objects.superchunk().to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The list that the bytes of a file hold: a copy that can be changed, unless `copy` is false.
    #[staticmethod]
    #[pyo3(signature = (data, copy = true))]
    fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>, copy: bool) -> Outcome<Self> {
        let bytes = owned_bytes(data)?;
        let objects = threads::run(py, usize::MAX, || {
            let frame = SuperChunk::from_bytes(bytes)?;
            let frame = if copy { frame.copy_to_memory(&frame.frame_options())? } else { frame };
            Ok(superchunk::Objects::from_superchunk(frame)?)
        })?;
        Ok(Self::new(objects, Origin { path: None, writable: copy, keywords: None }))
    }

    fn __repr__(slf: Bound<'_, Self>, py: Python<'_>) -> PyResult<String> {
        helper(py, "text_of")?.call1((slf,))?.extract()
    }
}

/// A function of `superchunk/_frames.py`, which does what is simpler in Python.
fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("superchunk._frames")?.getattr(name)
}

fn index(key: &Bound<'_, PyAny>) -> PyResult<i64> {
    key.extract().map_err(|_| {
        PyTypeError::new_err("a list of objects takes an integer or a slice between its brackets")
    })
}
