//! What a salvage reads, with somebody who is asked before each read whether it goes on.
//!
//! Only what cannot be read becomes a hole; a read that was stopped is none. So after a stop every
//! other read is refused, which ends the search soon, and whatever was found is given up.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::SalvageOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::exec::{Executor, Work};
use crate::store::{Dir, ReadAt, WriteAt};

/// Who is asked, and whether the answer was to stop.
pub(super) struct Watch {
    executor: Executor,
    is_stopped: AtomicBool,
}

/// A store or a folder that is read.
pub(super) struct Watched<S> {
    source: S,
    watch: Arc<Watch>,
}

impl Watch {
    pub(super) fn new(options: &SalvageOptions) -> Arc<Self> {
        let (executor, is_stopped) = (options.executor.clone(), AtomicBool::new(false));
        Arc::new(Self { executor, is_stopped })
    }

    /// The same source, whose reads are asked for.
    pub(super) fn over<S>(self: &Arc<Self>, source: S) -> Watched<S> {
        Watched { source, watch: Arc::clone(self) }
    }

    /// What the salvage has found, unless it was stopped.
    pub(super) fn finish<T>(&self, found: Result<T>) -> Result<T> {
        self.check().and(found)
    }

    fn check(&self) -> Result<()> {
        match self.is_stopped.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Interrupted, "the salvage was stopped")),
            false => Ok(()),
        }
    }

    fn begin(&self, len: usize) -> Result<()> {
        self.check()?;
        let asked = self.executor.begin(Work::Salvage, len, None);
        asked.inspect_err(|_| self.is_stopped.store(true, Ordering::Relaxed))
    }
}

impl<S: Deref<Target: ReadAt> + Send + Sync> ReadAt for Watched<S> {
    fn len(&self) -> Result<u64> {
        self.source.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.watch.begin(dst.len())?;
        self.source.read_at(position, dst)
    }

    /// Who takes all bytes at once asks for none of them.
    fn as_bytes(&self) -> Option<&[u8]> {
        self.source.as_bytes().filter(|_| !self.watch.executor.is_observed())
    }

    fn next_data(&self, position: u64) -> Result<u64> {
        self.source.next_data(position)
    }

    fn is_near(&self) -> bool {
        self.source.is_near()
    }
}

impl<S: Deref<Target: Dir> + Send + Sync> Dir for Watched<S> {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        self.watch.check()?;
        Ok(Arc::new(self.watch.over(self.source.open(name)?)))
    }

    fn open_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        self.watch.check()?;
        Ok(Arc::new(self.watch.over(self.source.open_folder(name)?)))
    }

    fn names(&self) -> Result<Vec<String>> {
        self.source.names()
    }

    fn folder_names(&self) -> Result<Vec<String>> {
        self.source.folder_names()
    }

    fn edit(&self, _name: &str) -> Result<Arc<dyn WriteAt>> {
        Err(only_read())
    }

    fn create(&self, _name: &str) -> Result<Arc<dyn WriteAt>> {
        Err(only_read())
    }

    fn rename(&self, _from: &str, _to: &str) -> Result<()> {
        Err(only_read())
    }

    fn remove(&self, _name: &str) -> Result<()> {
        Err(only_read())
    }

    fn sync(&self) -> Result<()> {
        Err(only_read())
    }
}

fn only_read() -> Error {
    Error::bug("a salvage changes nothing in what it reads")
}
