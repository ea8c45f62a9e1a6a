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

    /// Makes an empty store that is to take the place of the old one.
    pub(crate) fn draft(&self) -> Result<Draft<'_>> {
        let (temporary, file) = create_temporary(self.dir.as_ref(), &self.name)?;
        Ok(Draft { home: self, temporary, file, is_temporary: true })
    }

    /// Puts a new store in the place of the old one, in one step: what `write` makes of an empty
    /// one, which it also has to sync. When anything fails, the old one is as it was.
    #[cfg(any(feature = "bloscpack", test))]
    pub(crate) fn replace<T>(
        &self,
        write: impl FnOnce(&dyn WriteAt) -> Result<T>,
    ) -> Result<(Arc<dyn WriteAt>, T)> {
        let draft = self.draft()?;
        let made = write(draft.file())?;
        Ok((draft.publish(|| Ok(()))?, made))
    }
}

/// A new store on its way to its name, locked before it gets that. It is removed when this is
/// dropped without [`publish`](Self::publish).
pub(crate) struct Draft<'h> {
    home: &'h Home,
    temporary: String,
    file: Arc<dyn WriteAt>,
    /// Whether the temporary name is that of something that nobody needs.
    is_temporary: bool,
}

impl Draft<'_> {
    pub(crate) fn file(&self) -> &dyn WriteAt {
        self.file.as_ref()
    }

    /// Puts the new store, which must be synced, in the place of the old one, in one step. When
    /// anything fails, the old one is as it was; whether the name survives a power cut is left to
    /// the caller.
    ///
    /// `check` makes sure that nobody has changed the old one. It is called before the new one gets
    /// the name, and again after that, for those who have opened the old one in between: if that
    /// fails, the old one gets its name back, where the system can exchange names.
    pub(crate) fn publish(
        mut self,
        mut check: impl FnMut() -> Result<()>,
    ) -> Result<Arc<dyn WriteAt>> {
        check()?;
        let Home { dir, name } = self.home;
        let is_old_kept = dir.publish_over(&self.temporary, name)?;
        self.is_temporary = is_old_kept;
        if is_old_kept && let Err(error) = check() {
            let put_back = dir.publish_over(&self.temporary, name);
            // The only copy of what others have written stays under whatever name it has.
            self.is_temporary = put_back.is_ok();
            return Err(error);
        }
        Ok(self.file.clone())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if self.is_temporary {
            // A file that stays is debris: `recover` removes it.
            let _ = self.home.dir.remove(&self.temporary);
        }
    }
}

/// The failure of the last sync of a change, which is in place.
pub(crate) fn last_sync(result: Result<()>) -> Result<()> {
    result.map_err(Error::after_change)
}
