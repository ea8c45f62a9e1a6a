//! Ctrl-C and progress during long work that does not hold the interpreter lock.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use superchunk::{Executor, Result, Step, Work};

use crate::errors::{Failure, Outcome};

/// How often signals are looked for.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);
/// How often the user is told of progress: at most 20 times a second.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Looks for signals, and tells a callable of the user, now and then: on the thread that made it, as
/// Python handles signals there and users expect to be called there.
#[derive(Debug)]
pub(crate) struct Watch {
    progress: Option<Py<PyAny>>,
    thread: ThreadId,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    looked: Instant,
    told: Option<Instant>,
    /// The bytes that were done when the user was told.
    told_of: u64,
    done: u64,
    /// The bytes of all; 0 if nobody knows how many there are.
    of: u64,
    /// Why the work is to end.
    failure: Option<Failure>,
}

impl Watch {
    /// `progress` is called with the bytes that are done and the bytes of all.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Arc<Self> {
        let state =
            State { looked: Instant::now(), told: None, told_of: 0, done: 0, of: 0, failure: None };
        Arc::new(Self { progress, thread: thread::current().id(), state: Mutex::new(state) })
    }

    /// The same threads, watched at every step; those of this kind are what is counted.
    /// [`Self::outcome`] is to be asked what has become of their work.
    pub(crate) fn over(self: &Arc<Self>, executor: Executor, work: Work) -> Executor {
        let watch = Arc::clone(self);
        executor.with_observer(move |step| watch.observe(step, work))
    }

    fn observe(&self, step: Step, work: Work) -> ControlFlow<()> {
        let mut state = self.state();
        if step.work == work {
            state.done = state.done.saturating_add(step.len);
            state.of = step.total.unwrap_or(0);
        }
        if state.failure.is_none() && thread::current().id() == self.thread {
            state.failure = self.look(&mut state).err();
        }
        if state.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// What came of the work: what a handler of signals or the callable has raised, if that ended it.
    pub(crate) fn outcome<T>(&self, result: Result<T>) -> Outcome<T> {
        let mut state = self.state();
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        let done = result?;
        // Another thread may have done the last step.
        self.look(&mut state)?;
        Ok(done)
    }

    /// To be called after every piece of work that is not watched. An error is what a handler of signals
    /// or the callable has raised: the work ends with it.
    pub(crate) fn step(&self, done: u64, of: u64) -> Outcome {
        let mut state = self.state();
        (state.done, state.of) = (done, of);
        self.look(&mut state)
    }

    fn look(&self, state: &mut State) -> Outcome {
        let wants = self.progress.is_some()
            && state.done > state.told_of
            && (state.done == state.of
                || state.told.is_none_or(|told| told.elapsed() >= PROGRESS_EVERY));
        if !wants && state.looked.elapsed() < SIGNALS_EVERY {
            return Ok(());
        }
        state.looked = Instant::now();
        let told = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) if wants => progress.call1(py, (state.done, state.of)).map(drop),
                _ => Ok(()),
            }
        });
        if wants {
            (state.told, state.told_of) = (Some(Instant::now()), state.done);
        }
        told.map_err(Failure::from)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
