//! A store by its name in a folder, to be opened again or replaced.

use std::sync::Arc;
use std::time::Duration;

use super::temporary::create_temporary;
use super::wait::patiently;
use super::{Dir, ReadAt, WriteAt};
use crate::error::{Error, ErrorKind, Result};

/// The folder and the name of a store.
#[derive(Clone)]
pub(crate) struct Home {
    pub(crate) dir: Arc<dyn Dir>,
    pub(crate) name: String,
}

impl Home {
    pub(crate) fn open(&self) -> Result<Arc<dyn ReadAt>> {
        self.dir.open(&self.name).map_err(|error| error.within(self.name.clone()))
    }

    pub(crate) fn edit(&self) -> Result<Arc<dyn WriteAt>> {
        self.dir.edit(&self.name).map_err(|error| error.within(self.name.clone()))
    }

    /// Opens the store for writing and keeps other writers out, after a wait of at most `wait`. It
    /// is the one that has the name then: another writer may have replaced it while this one
    /// waited.
    pub(crate) fn claim(&self, wait: Duration) -> Result<Arc<dyn WriteAt>> {
        loop {
            let file = self.edit()?;
            patiently(wait, || file.lock())?;
            if self.is_named(file.as_ref())? {
                return Ok(file);
            }
        }
    }

    /// Whether the name still means this store.
    pub(crate) fn is_named(&self, store: &dyn WriteAt) -> Result<bool> {
        let Some(known) = store.identity()? else { return Ok(true) };
        match self.dir.identity_of(&self.name) {
            Ok(found) => Ok(found.is_none_or(|found| found == known)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Puts a new store in the place of the old one, in one step: what `write` makes of an empty
    /// one, which it also has to sync. It is locked before it gets the name. When anything fails,
    /// the old one is as it was; whether the name survives a power cut is left to the caller.
    pub(crate) fn replace<T>(
        &self,
        write: impl FnOnce(&dyn WriteAt) -> Result<T>,
    ) -> Result<(Arc<dyn WriteAt>, T)> {
        let (temporary, file) = create_temporary(self.dir.as_ref(), &self.name)?;
        let written = write(file.as_ref()).and_then(|made| {
            self.dir.publish(&temporary, &self.name)?;
            Ok(made)
        });
        let made = written.inspect_err(|_| drop(self.dir.remove(&temporary)))?;
        Ok((file, made))
    }
}

/// The failure of the last sync of a change, which is in place.
pub(crate) fn last_sync(result: Result<()>) -> Result<()> {
    result.map_err(Error::after_change)
}
