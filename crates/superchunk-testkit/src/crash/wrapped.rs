//! A folder whose changes go through a hook.

use std::sync::Arc;

use superchunk::Result;
use superchunk::store::{Dir, ReadAt, WriteAt};

/// Who decides what becomes of changes. As it stands it lets all of them through.
pub(super) trait Hook: Send + Sync + 'static {
    fn write(&self, file: &dyn WriteAt, position: u64, src: &[u8]) -> Result<()> {
        file.write_at(position, src)
    }

    fn sync(&self, file: &dyn WriteAt) -> Result<()> {
        file.sync()
    }

    fn sync_names(&self, folder: &dyn Dir) -> Result<()> {
        folder.sync()
    }

    /// Called before every other change.
    fn before(&self) {}
}

/// A folder, and all that is in it, behind a hook.
pub(super) struct Wrapped<H> {
    inner: Arc<dyn Dir>,
    hook: Arc<H>,
}

struct WrappedFile<H> {
    inner: Arc<dyn WriteAt>,
    hook: Arc<H>,
}

impl<H: Hook> Wrapped<H> {
    pub(super) fn folder(inner: Arc<dyn Dir>, hook: Arc<H>) -> Arc<dyn Dir> {
        Arc::new(Self { inner, hook })
    }

    fn file(&self, inner: Arc<dyn WriteAt>) -> Arc<dyn WriteAt> {
        Arc::new(WrappedFile { inner, hook: self.hook.clone() })
    }
}

impl<H: Hook> ReadAt for WrappedFile<H> {
    fn len(&self) -> Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.inner.read_at(position, dst)
    }
}

impl<H: Hook> WriteAt for WrappedFile<H> {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        self.hook.write(self.inner.as_ref(), position, src)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.hook.before();
        self.inner.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        self.hook.sync(self.inner.as_ref())
    }

    fn lock(&self) -> Result<()> {
        self.inner.lock()
    }
}

impl<H: Hook> Dir for Wrapped<H> {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        self.inner.open(name)
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(self.file(self.inner.edit(name)?))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        self.hook.before();
        Ok(self.file(self.inner.create(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.hook.before();
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.hook.before();
        self.inner.remove(name)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.inner.names()
    }

    fn open_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        Ok(Self::folder(self.inner.open_folder(name)?, self.hook.clone()))
    }

    fn create_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        self.hook.before();
        Ok(Self::folder(self.inner.create_folder(name)?, self.hook.clone()))
    }

    fn rename_folder(&self, from: &str, to: &str) -> Result<()> {
        self.hook.before();
        self.inner.rename_folder(from, to)
    }

    fn remove_folder(&self, name: &str) -> Result<()> {
        self.hook.before();
        self.inner.remove_folder(name)
    }

    fn folder_names(&self) -> Result<Vec<String>> {
        self.inner.folder_names()
    }

    fn sync(&self) -> Result<()> {
        self.hook.sync_names(self.inner.as_ref())
    }

    fn lock(&self) -> Result<()> {
        self.inner.lock()
    }
}
