//! A store by its name in a folder, to be opened again or replaced.

use std::sync::Arc;

use super::{Dir, ReadAt, WriteAt};
use crate::error::Result;

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

    /// A name for what is not finished yet. Nobody else makes it: writers keep each other out.
    pub(crate) fn temporary(&self) -> String {
        format!(".{}.{}.tmp", self.name, std::process::id())
    }

    /// Puts a new store in the place of the old one, in one step and durably: what `write` makes of an
    /// empty one. It is locked as the old one was. When anything fails, the old one is as it was.
    #[cfg(feature = "bloscpack")]
    pub(crate) fn replace<T>(
        &self,
        write: impl FnOnce(&dyn WriteAt) -> Result<T>,
    ) -> Result<(Arc<dyn WriteAt>, T)> {
        let temporary = self.temporary();
        // Debris of a process of the same number.
        let _ = self.dir.remove(&temporary);
        let file = self.dir.create(&temporary)?;
        let written = write(file.as_ref()).and_then(|made| {
            file.sync()?;
            file.lock()?;
            self.dir.rename(&temporary, &self.name)?;
            Ok(made)
        });
        let made = written.inspect_err(|_| drop(self.dir.remove(&temporary)))?;
        self.dir.sync()?;
        Ok((file, made))
    }
}
