//! Who does the work: the number of threads, the interpreter lock, and encoders and decoders that
//! each thread keeps.
//!
//! The number of threads is, first to last: that of the call, that of `with nthreads(n)` around it,
//! that of `set_nthreads`, one in the children of `fork` and of `multiprocessing`, one for each core.

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use superchunk::Executor;
use superchunk::chunk::{Decoder, Encoder};

use crate::errors::{Outcome, caught};
use crate::options::Choice;

/// Bytes from which on other Python threads run during the work: below, giving up the interpreter
/// lock and getting it back takes longer than the work.
const DETACH_FROM: usize = 16 << 10;
/// The largest number of threads.
const MAX_THREADS: usize = 256;
/// The encoders that a thread keeps.
const KEPT_ENCODERS: usize = 4;
/// The most bytes of output memory that an encoder keeps.
const MAX_KEPT_OUTPUT: usize = 4 << 20;

/// What `set_nthreads` was last called with; 0 if it was not.
static CHOSEN: AtomicUsize = AtomicUsize::new(0);
/// Whether this process was made to be one of many.
static IS_WORKER: AtomicBool = AtomicBool::new(false);
/// The executors that were ever asked for. There is no lock that a forked child could find taken.
static EXECUTORS: [OnceLock<Executor>; MAX_THREADS + 1] =
    [const { OnceLock::new() }; MAX_THREADS + 1];

thread_local! {
    /// That of the innermost `with nthreads(n)` of this thread; 0 outside.
    static NESTED: Cell<usize> = const { Cell::new(0) };
    #[expect(clippy::vec_box, reason = "an encoder is large, and moves with every call")]
    static ENCODERS: RefCell<Vec<Box<Kept>>> = const { RefCell::new(Vec::new()) };
    /// The number of its threads and the decoder.
    static DECODER: Cell<Option<Box<(usize, Decoder)>>> = const { Cell::new(None) };
}

/// Runs work on about so many bytes. Other Python threads may run meanwhile; the work must not touch
/// Python objects. A panic is an `InternalError`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    bytes: usize,
    work: impl FnOnce() -> Outcome<T> + Send,
) -> Outcome<T> {
    if is_little(bytes) { caught(work) } else { py.detach(|| caught(work)) }
}

/// Whether work on so many bytes is done while holding the interpreter lock.
pub(crate) fn is_little(bytes: usize) -> bool {
    bytes < DETACH_FROM
}

/// The executor for a call that asks for this number of threads.
pub(crate) fn executor(asked: Option<usize>) -> Executor {
    let threads = asked.unwrap_or_else(current);
    let Some(kept) = EXECUTORS.get(threads) else { return Executor::threads(threads) };
    kept.get_or_init(|| Executor::threads(threads)).clone()
}

/// Checks a number of threads that Python code gives.
pub(crate) fn checked(threads: usize) -> PyResult<usize> {
    match threads {
        1..=MAX_THREADS => Ok(threads),
        _ => Err(PyValueError::new_err(format!(
            "nthreads: expected 1 to {MAX_THREADS}, got {threads}"
        ))),
    }
}

/// Compresses with the encoder that this thread keeps for these choices and this item size, and
/// hands the chunk to `finish`.
pub(crate) fn encode<T>(
    py: Python<'_>,
    choice: &Choice,
    item_size: usize,
    src: &[u8],
    finish: impl FnOnce(&[u8]) -> Outcome<T>,
) -> Outcome<T> {
    let threads = choice.nthreads.unwrap_or_else(current);
    let mut kept = ENCODERS.with_borrow_mut(|all| {
        match all.iter().rposition(|kept| kept.fits(choice, item_size, threads)) {
            Some(place) => Ok(all.remove(place)),
            None => Kept::new(choice, item_size, threads),
        }
    })?;
    // An encoder that fails is not kept: nobody knows what a panic has left of it.
    let Kept { encoder, out, .. } = kept.as_mut();
    run(py, src.len(), || {
        out.clear();
        Ok(encoder.compress_into(src, out)?)
    })?;
    let done = finish(out);
    if out.capacity() > MAX_KEPT_OUTPUT {
        *out = Vec::new();
    }
    ENCODERS.with_borrow_mut(|all| {
        if all.len() >= KEPT_ENCODERS {
            all.remove(0);
        }
        all.push(kept);
    });
    done
}

/// An encoder, what it is for, and the memory for what it makes.
struct Kept {
    choice: Choice,
    item_size: usize,
    threads: usize,
    encoder: Encoder,
    out: Vec<u8>,
}

impl Kept {
    fn new(choice: &Choice, item_size: usize, threads: usize) -> Outcome<Box<Self>> {
        let options = choice.compress_options(item_size).with_executor(executor(Some(threads)));
        let encoder = Encoder::new(&options)?;
        Ok(Box::new(Self { choice: *choice, item_size, threads, encoder, out: Vec::new() }))
    }

    fn fits(&self, choice: &Choice, item_size: usize, threads: usize) -> bool {
        self.item_size == item_size && self.threads == threads && self.choice == *choice
    }
}

/// Calls `work` with the decoder that this thread keeps.
pub(crate) fn with_decoder<T>(
    nthreads: Option<usize>,
    work: impl FnOnce(&mut Decoder) -> Outcome<T>,
) -> Outcome<T> {
    let threads = nthreads.unwrap_or_else(current);
    // While it is at work it is nowhere else: a panic loses it.
    let kept = DECODER.take().filter(|kept| kept.0 == threads);
    let new = || Box::new((threads, Decoder::new().with_executor(executor(Some(threads)))));
    let mut kept = kept.unwrap_or_else(new);
    let done = work(&mut kept.1);
    DECODER.set(Some(kept));
    done
}

fn current() -> usize {
    match (NESTED.get(), CHOSEN.load(Ordering::Relaxed)) {
        (0, 0) => automatic(),
        (0, chosen) => chosen,
        (nested, _) => nested,
    }
}

fn automatic() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    if IS_WORKER.load(Ordering::Relaxed) {
        return 1;
    }
    let count = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    *CORES.get_or_init(|| count().min(MAX_THREADS))
}

/// Sets the number of threads of all calls that do not say it, `None` for one for each core; returns
/// the one before.
#[pyfunction]
pub(crate) fn set_nthreads(nthreads: Option<usize>) -> PyResult<usize> {
    let before = current();
    CHOSEN.store(nthreads.map_or(Ok(0), checked)?, Ordering::Relaxed);
    Ok(before)
}

/// The number of threads of calls that do not say it.
#[pyfunction]
pub(crate) fn get_nthreads() -> usize {
    current()
}

/// From now on one thread is enough: there are other processes for the other cores.
#[pyfunction]
pub(crate) fn _become_worker() {
    IS_WORKER.store(true, Ordering::Relaxed);
}

/// `with nthreads(n):` sets the number of threads of the calls of this thread inside.
#[pyclass(frozen, name = "nthreads", module = "superchunk")]
#[derive(Debug)]
pub(crate) struct NThreads {
    inside: usize,
    outside: AtomicUsize,
}

#[pymethods]
impl NThreads {
    #[new]
    fn new(n: usize) -> PyResult<Self> {
        Ok(Self { inside: checked(n)?, outside: AtomicUsize::new(0) })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        let this = slf.get();
        this.outside.store(NESTED.replace(this.inside), Ordering::Relaxed);
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        NESTED.set(self.outside.load(Ordering::Relaxed));
    }
}
