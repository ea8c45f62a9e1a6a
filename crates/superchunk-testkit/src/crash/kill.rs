//! A process that ends itself by `SIGKILL` at a chosen change of a real folder.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superchunk::Result;
use superchunk::store::{Dir, WriteAt};

use super::half;
use super::wrapped::{Hook, Wrapped};

/// When to end; changes count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Never.
    Never,
    /// Right before this change.
    Before(usize),
    /// In the middle of this change, where it is a write; else right before it.
    Inside(usize),
}

/// Ends the process when the moment has come.
#[derive(Debug)]
pub struct Killer {
    moment: Moment,
    changes: AtomicUsize,
}

impl Killer {
    /// Waits for this moment.
    #[must_use]
    pub fn new(moment: Moment) -> Arc<Self> {
        Arc::new(Self { moment, changes: AtomicUsize::new(0) })
    }

    /// The folder, each change of which may be the last.
    pub fn folder(self: &Arc<Self>, inner: Arc<dyn Dir>) -> Arc<dyn Dir> {
        Wrapped::folder(inner, self.clone())
    }

    /// How many changes there were.
    pub fn changes(&self) -> usize {
        self.changes.load(Ordering::Relaxed)
    }
}

impl Hook for Killer {
    fn write(&self, file: &dyn WriteAt, position: u64, src: &[u8]) -> Result<()> {
        let number = self.changes.fetch_add(1, Ordering::Relaxed);
        if self.moment == Moment::Before(number) {
            end();
        }
        if self.moment == Moment::Inside(number) {
            let done = half(usize::try_from(position).unwrap_or(0), src.len());
            file.write_at(position, src.get(..done).unwrap_or_default())?;
            end();
        }
        file.write_at(position, src)
    }

    fn sync(&self, file: &dyn WriteAt) -> Result<()> {
        self.before();
        file.sync()
    }

    fn sync_names(&self, folder: &dyn Dir) -> Result<()> {
        self.before();
        folder.sync()
    }

    fn before(&self) {
        let number = self.changes.fetch_add(1, Ordering::Relaxed);
        if matches!(self.moment, Moment::Before(at) | Moment::Inside(at) if at == number) {
            end();
        }
    }
}

fn end() {
    // SAFETY: a process may send itself a signal. This one cannot be caught, and nothing runs after it.
    unsafe { libc::raise(libc::SIGKILL) };
}
