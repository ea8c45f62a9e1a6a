//! `superchunk.open`: whatever is there, as an object of its class.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use superchunk::frame::Locking;
use superchunk::{Error, OpenOptions, Opened};

use crate::errors::Outcome;
use crate::handle::Origin;
use crate::ndarray::NDArray;
use crate::objects::Objects;
use crate::pack::Pack;
use crate::schunk::SChunk;
use crate::table::{Kind, Rows};
use crate::threads;

/// Opens a file or folder of any format.
#[pyfunction]
#[pyo3(
    signature = (path = None, mode = "r", **options),
    text_signature = "(path=None, mode='r', *, urlpath=None, offset=0, nthreads=None, limits=None, \
                      follow=False, lock=None, trust=False, marks=False, check=False, \
                      dparams=None, mmap_mode=None)"
)]
pub(crate) fn open<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    mode: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> Outcome<Bound<'py, PyAny>> {
    let mut arguments = Arguments { path, ..Arguments::default() };
    for (name, value) in options.into_iter().flatten() {
        arguments.set(name.cast::<PyString>().map_err(PyErr::from)?.to_str()?, &value)?;
    }
    let path = arguments.path.ok_or_else(|| PyTypeError::new_err("open() requires a path"))?;
    let writable = match mode {
        "r" => false,
        "r+" | "a" => true,
        "w" | "w-" | "x" => {
            let words = format!("mode='{mode}': open() does not create; use asarray(…, path=…)");
            return Err(PyValueError::new_err(words).into());
        }
        _ => {
            let words = format!("mode: expected 'r' or 'r+', got '{mode}'");
            return Err(PyValueError::new_err(words).into());
        }
    };
    let executor = threads::executor(arguments.nthreads);
    let open = arguments.open.with_executor(executor);
    let opened = threads::run(py, usize::MAX, || {
        Ok(if writable { open.edit(&path)? } else { open.open(&path)? })
    })?;
    let keywords = options.map(|options| options.copy()).transpose()?.map(Bound::unbind);
    wrap(py, opened, Origin { path: Some(path), writable, keywords }, open)
}

/// Opens what was pickled.
#[pyfunction]
pub(crate) fn _reopen<'py>(
    py: Python<'py>,
    path: PathBuf,
    keywords: &Bound<'py, PyDict>,
) -> Outcome<Bound<'py, PyAny>> {
    keywords.del_item("urlpath").or_else(|_| Ok::<_, PyErr>(()))?;
    open(py, Some(path), "r", Some(keywords))
}

/// The object for something that is open: one line for each class.
fn wrap(
    py: Python<'_>,
    opened: Opened,
    origin: Origin,
    open: OpenOptions,
) -> Outcome<Bound<'_, PyAny>> {
    let path = origin.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let hint = match opened {
        Opened::Array(array) => {
            return Ok(Bound::new(py, NDArray::new(*array, origin))?.into_any());
        }
        Opened::SuperChunk(frame) => {
            return Ok(Bound::new(py, SChunk::new(*frame, origin))?.into_any());
        }
        Opened::Objects(objects) => {
            return Ok(Bound::new(py, Objects::new(*objects, origin))?.into_any());
        }
        Opened::Pack(pack) => return Pack::wrap(py, *pack, origin, open),
        Opened::Chunk(_) => "a single chunk: superchunk.decompress takes its bytes",
        Opened::Npy(_) => "a .npy file: numpy.load reads it",
        other => {
            let kind = threads::run(py, usize::MAX, || Ok(Kind::of(other, &open)?))?;
            return Rows::wrap(py, kind, origin, open);
        }
    };
    Err(Error::unsupported(format!("this is {hint}")).within(path).into())
}

/// The keywords of `open`.
#[derive(Default)]
struct Arguments {
    path: Option<PathBuf>,
    nthreads: Option<usize>,
    open: OpenOptions,
}

impl Arguments {
    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> Outcome {
        match name {
            "urlpath" => self.path = Some(value.extract()?),
            // Files are read where they are asked for, which needs no mapping.
            "mmap_mode" => {}
            _ if value.is_none() => {}
            "offset" => self.open.offset = value.extract()?,
            "nthreads" => self.nthreads = Some(threads::checked(value.extract()?)?),
            "dparams" => self.set_params(value)?,
            "limits" => self.set_limits(value)?,
            "follow" => self.open.follows_writer = value.is_truthy()?,
            "trust" => self.open.ignores_fingerprint = value.is_truthy()?,
            "marks" => self.open.uses_marks = value.is_truthy()?,
            "check" => self.open.checks_chunks = value.is_truthy()?,
            "lock" => self.open.locking = locking(value)?,
            _ => {
                let words = format!("open() got an unexpected keyword argument '{name}'");
                return Err(PyTypeError::new_err(words).into());
            }
        }
        Ok(())
    }

    /// The `dparams` of python-blosc2, of which only the number of threads is of use.
    fn set_params(&mut self, value: &Bound<'_, PyAny>) -> Outcome {
        let nthreads = match value.cast::<PyDict>() {
            Ok(params) => params.get_item("nthreads")?,
            Err(_) => value.getattr_opt("nthreads")?,
        };
        match nthreads {
            Some(nthreads) => self.set("nthreads", &nthreads),
            None => Ok(()),
        }
    }

    fn set_limits(&mut self, value: &Bound<'_, PyAny>) -> Outcome {
        for (name, value) in value.cast::<PyDict>().map_err(PyErr::from)? {
            let limit = value.extract()?;
            match name.extract::<String>()?.as_str() {
                "max_decoded" => self.open.limits.max_decoded = limit,
                "max_metadata" => self.open.limits.max_metadata = limit,
                other => {
                    return Err(PyValueError::new_err(format!(
                        "limits: expected 'max_decoded' or 'max_metadata', got '{other}'"
                    ))
                    .into());
                }
            }
        }
        Ok(())
    }
}

fn locking(value: &Bound<'_, PyAny>) -> PyResult<Locking> {
    Ok(match value.extract::<String>()?.as_str() {
        "writers" => Locking::Writers,
        "existing" => Locking::Existing,
        "sidecar" => Locking::Sidecar,
        "sidecar-nowait" => Locking::SidecarNoWait,
        other => {
            return Err(PyValueError::new_err(format!(
                "lock: expected 'writers', 'existing', 'sidecar' or 'sidecar-nowait', got '{other}'"
            )));
        }
    })
}
