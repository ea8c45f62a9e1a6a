//! Errors of the library as Python exceptions, and panics as `superchunk.InternalError`.
//!
//! The classes are in `superchunk/_errors.py`: Python lets a class be an `OSError` and one of ours at
//! the same time, PyO3 does not.

use std::any::Any;
use std::error::Error as _;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use superchunk::{Error, ErrorKind};

/// The result of what a call from Python does.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// What ends a call from Python.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Core(Error),
    /// An exception that exists already.
    Python(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Core(error) => Python::attach(|py| exception(py, &error)),
            Failure::Python(error) => error,
        }
    }
}

/// Runs `work`; a panic in it becomes an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    // What a panic has left half done belongs to a handle that its caller closes, or to nobody.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(of_panic(&*payload)))
}

fn of_panic(payload: &(dyn Any + Send)) -> Failure {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("without a message");
    Failure::Core(Error::new(ErrorKind::Bug, format!("panicked: {text}; please report this")))
}

/// The exception for an error of the library.
fn exception(py: Python<'_>, error: &Error) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = MAKE.import(py, "superchunk._errors", "_make").and_then(|make| {
        let place = error.place();
        let fields = (
            place.map(|place| place.format),
            place.map(|place| place.field),
            place.and_then(|place| place.offset),
        );
        make.call1((kind(error), error.to_string(), error.subject(), fields, errno(error)))
    });
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(failed) => failed,
    }
}

/// The kind in a word.
fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Truncated => "truncated",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::InvalidArgument => "invalid_argument",
        ErrorKind::LimitExceeded => "limit_exceeded",
        ErrorKind::NotFound => "not_found",
        ErrorKind::Locked => "locked",
        ErrorKind::Changed => "changed",
        ErrorKind::Io => "io",
        ErrorKind::Miscompressed => "miscompressed",
        ErrorKind::Interrupted => "interrupted",
        ErrorKind::DurabilityUnknown => "durability_unknown",
        _ => "bug",
    }
}

/// The number of the operating system's error that caused this one.
fn errno(error: &Error) -> Option<i32> {
    let mut cause = error.source();
    while let Some(found) = cause {
        if let Some(error) = found.downcast_ref::<io::Error>() {
            return error.raw_os_error().or_else(|| number(error.kind()));
        }
        cause = found.source();
    }
    None
}

/// The number of a kind of error that the library itself has found; it is the same on all systems.
fn number(kind: io::ErrorKind) -> Option<i32> {
    match kind {
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::AlreadyExists => Some(17),
        _ => None,
    }
}

/// Panics, so that a test can see what becomes of that.
#[pyfunction]
pub(crate) fn _panic(message: String) -> Outcome {
    #[expect(clippy::panic, reason = "that is what it is for")]
    caught(|| panic!("{message}"))
}
