//! Ctrl-C and progress during long work that does not hold the interpreter lock.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::errors::{Failure, Outcome, throw};

/// How often signals are looked for.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);
/// How often the user is told of progress: at most 20 times a second.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Looks for signals, and tells a callable of the user, now and then.
#[derive(Debug)]
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    looked: Instant,
    told: Option<Instant>,
    /// The bytes that [`Self::add`] has counted.
    done: u64,
}

impl Watch {
    /// `progress` is called with the bytes that are done and the bytes of all.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { progress, looked: Instant::now(), told: None, done: 0 }
    }

    /// To be called after every piece of work, without or with the interpreter lock. An error is
    /// what a handler of signals or the callable has raised: the work ends with it.
    pub(crate) fn step(&mut self, done: u64, of: u64) -> Outcome {
        let wants = self.progress.is_some()
            && (done == of || self.told.is_none_or(|told| told.elapsed() >= PROGRESS_EVERY));
        if !wants && self.looked.elapsed() < SIGNALS_EVERY {
            return Ok(());
        }
        self.looked = Instant::now();
        let told = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) if wants => progress.call1(py, (done, of)).map(drop),
                _ => Ok(()),
            }
        });
        if wants {
            self.told = Some(Instant::now());
        }
        told.map_err(Failure::from)
    }

    /// Counts bytes that are done; `of` is 0 if nobody knows how many there are. For callbacks of the
    /// library, which cannot fail: an error leaves the library on the way of a panic, which undoes what is
    /// not committed, and `errors::caught` returns it.
    pub(crate) fn add(&mut self, bytes: u64, of: u64) {
        self.done = self.done.saturating_add(bytes);
        if let Err(failure) = self.step(self.done, of) {
            throw(failure);
        }
    }
}
