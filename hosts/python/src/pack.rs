//! What the class `Pack` of the Python code stands on: a Bloscpack file.

use std::fmt;
use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use superchunk::bloscpack::{PackArray, PackOptions};
use superchunk::{ItemOrder, Json, JsonStyle, OpenOptions, bloscpack};

use crate::buffers::Input;
use crate::errors::Outcome;
use crate::handle::{Handle, Held, Origin};
use crate::methods::handle_methods;
use crate::numpy;
use crate::options::Choice;
use crate::schunk::existing;
use crate::strided::Strided;
use crate::threads;

/// An open Bloscpack file.
#[pyclass(frozen, weakref, module = "superchunk", name = "PackFile")]
pub(crate) struct Pack {
    handle: Handle<Stored>,
}

handle_methods!(Pack, "superchunk._packs");

impl fmt::Debug for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(f)
    }
}

/// A file, and how it is opened once more.
pub(crate) struct Stored {
    pack: bloscpack::Pack,
    again: Option<(PathBuf, OpenOptions)>,
}

impl Held for Stored {
    fn class(&self) -> &'static str {
        "Bloscpack file"
    }

    fn commit(&mut self) -> superchunk::Result<()> {
        self.pack.commit()
    }

    fn refresh(&mut self) -> superchunk::Result<()> {
        if let Some((path, open)) = &self.again {
            self.pack = bloscpack::Pack::open_with(path, open)?;
        }
        Ok(())
    }
}

/// A new file: of bytes; of objects of this type (`varchar`, `varbinary`, `var-<dtype>`); or of an
/// array of this dtype and shape of a row.
#[pyfunction]
#[pyo3(signature = (path, objects = None, array = None, **options))]
pub(crate) fn _create_pack(
    py: Python<'_>,
    path: PathBuf,
    objects: Option<&str>,
    array: Option<(Bound<'_, PyAny>, Vec<u64>)>,
    options: Option<&Bound<'_, PyDict>>,
) -> Outcome<Pack> {
    let mut made = objects.map_or_else(PackOptions::new, PackOptions::objects);
    if let Some((dtype, shape)) = array {
        let dtype = numpy::parse_dtype(&numpy::dtype(&dtype)?)?;
        made = made.with_array(&PackArray::new(dtype, shape));
    }
    let choice = Choice::from_some(options, |name, value| {
        match name {
            _ if value.is_none() => {}
            "checksum" => made.checksum = value.extract::<String>()?.parse()?,
            "offsets" => made.offsets = value.is_truthy()?,
            "append_slots" => made.append_slots = Some(value.extract()?),
            "chunksize" => made.chunk_size = value.extract()?,
            "expected_len" => made.expected_len = Some(value.extract()?),
            "reserve" => made.reserve = value.extract()?,
            "metadata" => made.metadata = Some(Json::parse(&value.extract::<String>()?)?),
            _ => {
                let words = format!("got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(words).into());
            }
        }
        Ok(())
    })?;
    made.compress = choice.over(made.compress);
    let pack = threads::run(py, usize::MAX, || Ok(bloscpack::Pack::create(&path, &made)?))?;
    let origin = Origin { path: Some(path), writable: true, keywords: None };
    let pack = Pack::new(pack, origin, OpenOptions::new());
    // One that nobody appends to is worth a commit, too.
    pack.handle.write(py, |_| Ok(()))?;
    Ok(pack)
}

impl Pack {
    /// The object of the Python code for it.
    pub(crate) fn wrap(
        py: Python<'_>,
        pack: bloscpack::Pack,
        origin: Origin,
        open: OpenOptions,
    ) -> Outcome<Bound<'_, PyAny>> {
        let pack = Bound::new(py, Self::new(pack, origin, open))?;
        Ok(py.import("superchunk._packs")?.getattr("Pack")?.call1((pack,))?)
    }

    fn new(pack: bloscpack::Pack, origin: Origin, open: OpenOptions) -> Self {
        // Nobody else changes what this handle may change.
        let again = origin.path.clone().filter(|_| !origin.writable).map(|path| (path, open));
        Self { handle: Handle::new(Stored { pack, again }, origin) }
    }
}

#[pymethods]
impl Pack {
    /// What the header says.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        let header = self.handle.read(py, 0, |stored| Ok(stored.pack.header()))?;
        let facts = PyDict::new(py);
        facts.set_item("version", header.version)?;
        facts.set_item("offsets", header.offsets)?;
        facts.set_item("metadata", header.metadata)?;
        facts.set_item("varlen", header.varlen)?;
        facts.set_item("checksum", header.checksum.name())?;
        facts.set_item("typesize", header.item_size)?;
        facts.set_item("chunksize", header.chunk_size)?;
        facts.set_item("last_chunk", header.last_chunk)?;
        facts.set_item("nchunks", header.chunk_count)?;
        facts.set_item("append_slots", header.append_slots)?;
        Ok(facts)
    }

    /// What the file says about its data, as JSON; `None` if it says nothing.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> Outcome<Option<String>> {
        self.handle.read(py, 0, |stored| {
            Ok(stored.pack.metadata().map(|json| json.to_text(JsonStyle::Compact)))
        })
    }

    #[pyo3(signature = (text))]
    fn set_metadata(&self, py: Python<'_>, text: Option<&str>) -> Outcome {
        let json = text.map(Json::parse).transpose()?;
        self.handle.write(py, |stored| Ok(stored.pack.set_metadata(json)?))
    }

    /// The dtype, the shape and the order ('C' or 'F') of the array that the bytes are.
    #[getter]
    fn array<'py>(&self, py: Python<'py>) -> Outcome<Option<Bound<'py, PyTuple>>> {
        let Some(found) = self.handle.read(py, 0, |stored| Ok(stored.pack.array().cloned()))?
        else {
            return Ok(None);
        };
        let order = if found.order == ItemOrder::Fortran { "F" } else { "C" };
        let shape = PyTuple::new(py, &found.shape)?;
        Ok(Some((numpy::dtype_of(py, &found.dtype)?, shape, order).into_pyobject(py)?))
    }

    #[getter]
    fn has_objects(&self, py: Python<'_>) -> Outcome<bool> {
        self.handle.read(py, 0, |stored| Ok(stored.pack.has_objects()))
    }

    /// The number of objects.
    #[getter]
    fn count(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, 0, |stored| Ok(stored.pack.object_count()))
    }

    /// The bytes of all data. Of objects, every one is asked.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, usize::MAX, |stored| Ok(stored.pack.superchunk()?.byte_len()))
    }

    /// The bytes of the compressed chunks.
    #[getter]
    fn cbytes(&self, py: Python<'_>) -> Outcome<u64> {
        self.handle.read(py, usize::MAX, |stored| Ok(stored.pack.superchunk()?.stored_len()?))
    }

    /// Reads bytes from `start` on into an array.
    fn read_into(&self, start: u64, array: &Bound<'_, PyAny>) -> Outcome {
        let mut memory = Strided::writable(array)?;
        let dst = memory.bytes_mut()?;
        let range = start..start.saturating_add(dst.len() as u64);
        self.handle.read(array.py(), dst.len(), |stored| {
            Ok(stored.pack.superchunk()?.read_bytes(range, dst)?)
        })
    }

    /// The bytes from `start` to before `stop`.
    fn read<'py>(&self, py: Python<'py>, start: u64, stop: u64) -> Outcome<Bound<'py, PyBytes>> {
        let len = usize::try_from(stop.saturating_sub(start)).unwrap_or(usize::MAX);
        let read = |dst: &mut [u8]| {
            self.handle.read(py, len, |stored| {
                Ok(stored.pack.superchunk()?.read_bytes(start..stop, dst)?)
            })
        };
        Ok(PyBytes::new_with(py, len, |dst| Ok(read(dst)?))?)
    }

    /// The bytes of an object.
    fn object<'py>(&self, py: Python<'py>, index: i64) -> Outcome<Bound<'py, PyBytes>> {
        let place = existing(index, self.count(py)?)?;
        let bytes = self.handle.read(py, usize::MAX, |stored| Ok(stored.pack.object(place)?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Puts other bytes in the place of an object.
    fn replace(&self, index: i64, object: &Bound<'_, PyAny>) -> Outcome {
        let py = object.py();
        let place = existing(index, self.count(py)?)?;
        let input = Input::of(object)?;
        let bytes = input.as_slice();
        self.handle.write(py, |stored| Ok(stored.pack.replace_object(place, bytes)?))
    }

    /// Appends an object, or bytes; to an array, whole rows.
    fn append(&self, data: &Bound<'_, PyAny>) -> Outcome {
        let input = Input::of(data)?;
        let bytes = input.as_slice();
        self.handle.write(data.py(), |stored| {
            match stored.pack.has_objects() {
                true => stored.pack.append_object(bytes)?,
                false => stored.pack.append(bytes)?,
            }
            Ok(())
        })
    }
}
