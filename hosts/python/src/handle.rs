//! What everything that is open has in common: state behind a lock, closing, committing, `with`,
//! pickling by path.
//!
//! Nobody waits for the lock while holding the interpreter lock, and nobody runs Python code while
//! holding the lock, except for signals and progress, during which the handle refuses other calls of
//! the same thread.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, TryLockError};

use pyo3::exceptions::PyResourceWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use superchunk::{Error, ErrorKind};

use crate::errors::{Failure, Outcome, caught};
use crate::threads;

thread_local! {
    /// The addresses of the handles that this thread is at work with.
    static AT_WORK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// What a handle holds.
pub(crate) trait Held: Send + Sync {
    /// What it is, for messages.
    fn class(&self) -> &'static str;

    /// Makes changes final.
    fn commit(&mut self) -> superchunk::Result<()>;

    /// Takes over what other writers have committed.
    fn refresh(&mut self) -> superchunk::Result<()>;
}

/// Where something was opened or made, and how.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// The file or folder; `None` in memory.
    pub(crate) path: Option<PathBuf>,
    /// Whether it may be changed.
    pub(crate) writable: bool,
    /// The keywords of `open` that open it again.
    pub(crate) keywords: Option<Py<PyDict>>,
}

/// An open container.
pub(crate) struct Handle<T: Held> {
    /// `None` when closed.
    held: RwLock<Option<T>>,
    /// What it is, for messages.
    class: &'static str,
    origin: Origin,
    is_changed: AtomicBool,
    /// The process that has opened it.
    process: u32,
}

/// What `pickle` calls to open a handle again, and with what.
type Reduced<'py> = (Bound<'py, PyAny>, (PathBuf, Bound<'py, PyDict>));

impl<T: Held> Handle<T> {
    pub(crate) fn new(held: T, origin: Origin) -> Self {
        let class = held.class();
        let held = RwLock::new(Some(held));
        let process = std::process::id();
        Self { held, class, origin, is_changed: AtomicBool::new(false), process }
    }

    /// Reads about so many bytes of it; see [`threads::run`].
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&T) -> Outcome<R> + Send,
    ) -> Outcome<R> {
        self.refuse_own_callbacks()?;
        let work = |held: &Option<T>| {
            let held = held.as_ref().ok_or_else(|| self.closed())?;
            self.at_work(|| work(held))
        };
        // Waiting for a writer must not keep it from the interpreter lock.
        if threads::is_little(bytes) {
            match self.held.try_read() {
                Ok(held) => return caught(|| work(&held)),
                Err(TryLockError::Poisoned(held)) => return caught(|| work(&held.into_inner())),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.refuse_stuck(self.held.try_read().is_err())?;
        py.detach(|| {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            caught(|| work(&held))
        })
    }

    /// Changes it, which a handle for reading refuses.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> Outcome<R> + Send,
    ) -> Outcome<R> {
        if !self.origin.writable {
            return Err(Error::invalid(format!(
                "the {} is open for reading only: open it with mode='r+'{}",
                self.class,
                self.origin
                    .path
                    .as_ref()
                    .map_or(String::new(), |path| format!(", {}", path.display()))
            ))
            .into());
        }
        self.alone(py, |held| {
            let held = held.as_mut().ok_or_else(|| self.closed())?;
            self.is_changed.store(true, Ordering::Relaxed);
            work(held)
        })
    }

    /// Makes changes final.
    pub(crate) fn commit(&self, py: Python<'_>) -> Outcome {
        self.alone(py, |held| {
            let held = held.as_mut().ok_or_else(|| self.closed())?;
            self.commit_held(held)
        })
    }

    /// Takes over what other writers have committed.
    pub(crate) fn refresh(&self, py: Python<'_>) -> Outcome {
        self.alone(py, |held| Ok(held.as_mut().ok_or_else(|| self.closed())?.refresh()?))
    }

    /// Commits and closes; closing again does nothing. If the commit fails the handle stays open.
    pub(crate) fn close(&self, py: Python<'_>) -> Outcome {
        self.alone(py, |held| {
            if let Some(open) = held.as_mut() {
                self.commit_held(open)?;
            }
            *held = None;
            Ok(())
        })
    }

    /// Discards what is not committed, and closes.
    pub(crate) fn discard(&self, py: Python<'_>) -> Outcome {
        self.alone(py, |held| {
            self.is_changed.store(false, Ordering::Relaxed);
            *held = None;
            Ok(())
        })
    }

    /// The end of a `with`: commits after a clean exit, discards after an exception.
    pub(crate) fn exit(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) -> Outcome {
        if exception.is_none() { self.close(py) } else { self.discard(py) }
    }

    pub(crate) fn is_closed(&self, py: Python<'_>) -> bool {
        match self.read(py, 0, |_| Ok(())) {
            Ok(()) => false,
            Err(_) => !AT_WORK.with_borrow(|at_work| at_work.contains(&self.address())),
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.origin.path.as_deref()
    }

    /// The mode as `open` takes it.
    pub(crate) fn mode(&self) -> &'static str {
        if self.origin.writable { "r+" } else { "r" }
    }

    /// What `pickle` stores of a handle with a path; `None` in memory. Changes that other processes
    /// could not see are refused.
    pub(crate) fn reduce<'py>(&self, py: Python<'py>) -> Outcome<Option<Reduced<'py>>> {
        let Some(path) = self.path() else { return Ok(None) };
        if self.origin.writable {
            let words = format!(
                "a {} that is open for writing is not pickled: only one process may write. Close \
                 it, and open it with mode='r'",
                self.class
            );
            return Err(Error::invalid(words).within(path.display().to_string()).into());
        }
        let keywords = match &self.origin.keywords {
            Some(keywords) => keywords.bind(py).clone(),
            None => PyDict::new(py),
        };
        let opener = py.import("superchunk._core")?.getattr("_reopen")?;
        Ok(Some((opener, (std::path::absolute(path)?, keywords))))
    }

    /// Whether there are changes that are not committed.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed.load(Ordering::Relaxed)
    }

    fn commit_held(&self, held: &mut T) -> Outcome {
        if self.is_changed() {
            held.commit()?;
            self.is_changed.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Runs work that no other thread may see half done.
    fn alone<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<T>) -> Outcome<R> + Send,
    ) -> Outcome<R> {
        self.refuse_own_callbacks()?;
        self.refuse_stuck(self.held.try_write().is_err())?;
        py.detach(|| {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            caught(|| self.at_work(|| work(&mut held)))
        })
    }

    fn closed(&self) -> Error {
        Error::invalid(format!("the {} is closed", self.class))
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Notes that this thread is at work, also where that ends by a panic.
    fn at_work<R>(&self, work: impl FnOnce() -> R) -> R {
        struct Done;
        impl Drop for Done {
            fn drop(&mut self) {
                AT_WORK.with_borrow_mut(|at_work| at_work.pop());
            }
        }
        AT_WORK.with_borrow_mut(|at_work| at_work.push(self.address()));
        let _done = Done;
        work()
    }

    /// A handler of signals or a progress callable would wait for itself.
    fn refuse_own_callbacks(&self) -> Outcome {
        match AT_WORK.with_borrow(|at_work| at_work.contains(&self.address())) {
            true => Err(Error::new(
                ErrorKind::Locked,
                format!("the {} is at work: a callback cannot use it", self.class),
            )
            .into()),
            false => Ok(()),
        }
    }

    /// The lock of a handle that another thread had in use when this process was forked is never
    /// given back.
    fn refuse_stuck(&self, is_taken: bool) -> Outcome {
        match is_taken && self.process != std::process::id() {
            true => Err(Error::new(
                ErrorKind::Locked,
                format!(
                    "another thread was changing the {} when this process was forked: open it again",
                    self.class
                ),
            )
            .into()),
            false => Ok(()),
        }
    }
}

impl<T: Held> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// What nobody has committed is discarded, with a warning.
impl<T: Held> Drop for Handle<T> {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let is_lost = held.is_some() && self.is_changed() && self.origin.path.is_some();
        if !is_lost || self.process != std::process::id() {
            return;
        }
        let place = self.origin.path.as_ref().map(|path| path.display().to_string());
        let words = format!(
            "changes of the {} {} are discarded: commit() or close() it, or use `with`",
            self.class,
            place.unwrap_or_default()
        );
        let words = std::ffi::CString::new(words).unwrap_or_default();
        Python::try_attach(|py| {
            // An exception that is on its way stays the one that is on its way.
            let pending = PyErr::take(py);
            if let Err(error) = PyErr::warn(py, &py.get_type::<PyResourceWarning>(), &words, 1) {
                error.write_unraisable(py, None);
            }
            if let Some(pending) = pending {
                pending.restore(py);
            }
        });
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Python(error.into())
    }
}
