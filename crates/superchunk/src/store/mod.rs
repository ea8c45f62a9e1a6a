//! Where bytes live: files, memory, folders. Positions are explicit and nothing is buffered.
//!
//! Formats see these three traits only, so that a file, a buffer, a memory map, an object in a cloud
//! store or a file system made for a test can stand behind them.

#[cfg(any(unix, windows))]
mod around;
mod bytes;
#[cfg(any(unix, windows))]
mod file;
#[cfg(any(unix, windows))]
mod folder;
mod home;
mod identity;
#[cfg(any(unix, windows))]
mod lock;
mod memory;
#[cfg(not(any(unix, windows)))]
mod no_sidecar;
mod owner;
#[cfg(unix)]
mod permissions;
#[cfg(any(unix, windows))]
mod replacement;
#[cfg(any(unix, windows))]
mod sidecar;
#[cfg(any(unix, windows))]
mod sync;
mod temporary;
mod wait;
mod window;

pub use bytes::Bytes;
#[cfg(feature = "bloscpack")]
pub(crate) use bytes::from as bytes_from;
#[cfg(any(unix, windows))]
pub use file::{FileReader, FileWriter};
#[cfg(any(unix, windows))]
pub use folder::Folder;
pub(crate) use home::{Home, last_sync};
pub use identity::Identity;
pub use memory::{Memory, MemoryFolder};
#[cfg(not(any(unix, windows)))]
pub(crate) use no_sidecar::{Guard, Sidecar};
pub(crate) use owner::Owner;
#[cfg(any(unix, windows))]
pub use replacement::{Replacement, resolve};
#[cfg(any(unix, windows))]
pub(crate) use sidecar::{Guard, Sidecar};
#[cfg(any(unix, windows))]
#[cfg(any(unix, windows))]
pub(crate) use temporary::is_temporary;
pub use temporary::{is_temporary_of, temporary_name};
pub(crate) use wait::{again_if_changed, patiently};
pub use window::Window;

use std::sync::Arc;

use crate::error::{Error, Result};

/// Bytes that can be read at any position, by many threads at once.
pub trait ReadAt: Send + Sync {
    /// How many bytes there are now.
    fn len(&self) -> Result<u64>;

    /// Reads into the start of `dst` from `position` on and returns how many bytes came; fewer than
    /// asked for only where the store ends.
    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize>;

    /// All bytes at once, where they are in memory and cannot change while `self` is borrowed.
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }

    /// Returns the first position from `position` on that may hold a byte other than zero, or the
    /// length if there is none. Stores that know their holes, as sparse files do, let readers skip
    /// them so.
    fn next_data(&self, position: u64) -> Result<u64> {
        Ok(position)
    }

    /// Whether a small read costs next to nothing, as from a file of this machine: then less is read in more reads.
    fn is_near(&self) -> bool {
        false
    }

    /// Returns which file this is, where the system reports that. A writer finds out by it whether
    /// a name still refers to the file that it has opened.
    fn identity(&self) -> Result<Option<Identity>> {
        Ok(None)
    }

    /// Whether there are none.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads exactly `dst.len()` bytes.
    fn read_exact_at(&self, position: u64, dst: &mut [u8]) -> Result<()> {
        let (wanted, found) = (dst.len(), self.read_at(position, dst)?);
        if found == wanted {
            return Ok(());
        }
        Err(Error::truncated(format!(
            "{wanted} bytes were wanted at byte {position}, the store ends after {found} of them"
        )))
    }
}

/// Bytes that can also be changed.
pub trait WriteAt: ReadAt {
    /// Writes all of `src` at `position`; a gap before it reads as zeros.
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()>;

    /// Cuts or extends the store to `len` bytes.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Returns when everything written so far, the length included, survives a power cut.
    fn sync(&self) -> Result<()>;

    /// Keeps other writers out until the store is dropped. [`ErrorKind::Locked`] when another one is
    /// in already; without effect where nobody else can come.
    ///
    /// [`ErrorKind::Locked`]: crate::ErrorKind::Locked
    fn lock(&self) -> Result<()> {
        Ok(())
    }

    /// Lets other writers in again.
    fn unlock(&self) {}
}

/// A folder of named stores, and of folders where the implementation has them. Names are single path
/// components.
pub trait Dir: Send + Sync {
    /// Opens a store for reading.
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>>;

    /// Opens a store for reading and writing.
    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>>;

    /// Makes an empty store; there must be none of that name.
    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>>;

    /// Makes an empty store that only its owner may read until it is [published](Dir::publish);
    /// there must be none of that name.
    fn create_private(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        self.create(name)
    }

    /// Gives a finished store its name, in one step. It gets the permissions of the store that had
    /// that name, which is gone, or those of a new one.
    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.rename(from, to)
    }

    /// [Publishes](Self::publish) a store, but keeps the one that had the name where the system can
    /// exchange names. Returns whether that has the name `from` now.
    fn publish_over(&self, from: &str, to: &str) -> Result<bool> {
        self.publish(from, to).map(|()| false)
    }

    /// Gives new stores the permissions of this one from now on, here and in all folders below.
    fn take_as_model(&self, _name: &str) -> Result<()> {
        Ok(())
    }

    /// Returns which store a name refers to, where the system reports that.
    fn identity_of(&self, _name: &str) -> Result<Option<Identity>> {
        Ok(None)
    }

    /// Gives a store another name, in one step; what had that name is gone.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a store.
    fn remove(&self, name: &str) -> Result<()>;

    /// The names of all stores, in no order.
    fn names(&self) -> Result<Vec<String>>;

    /// Opens a folder inside of this one.
    fn open_folder(&self, _name: &str) -> Result<Arc<dyn Dir>> {
        Err(no_folders())
    }

    /// Makes an empty folder inside of this one; nothing may have that name.
    fn create_folder(&self, _name: &str) -> Result<Arc<dyn Dir>> {
        Err(no_folders())
    }

    /// Gives a folder another name, which nothing may have, in one step.
    fn rename_folder(&self, _from: &str, _to: &str) -> Result<()> {
        Err(no_folders())
    }

    /// Removes a folder with all that is in it.
    fn remove_folder(&self, _name: &str) -> Result<()> {
        Err(no_folders())
    }

    /// The names of all folders inside of this one, in no order.
    fn folder_names(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns when all names made, changed and removed so far survive a power cut.
    fn sync(&self) -> Result<()>;

    /// Returns when all stores in this folder, their content and their names, survive a power cut.
    /// For many small stores this may take far less time than to sync each.
    fn sync_all(&self) -> Result<()> {
        self.names()?.iter().try_for_each(|name| self.edit(name)?.sync())?;
        self.sync()
    }

    /// Keeps other writers out until the folder is dropped, as [`WriteAt::lock`] does for a store.
    fn lock(&self) -> Result<()> {
        Ok(())
    }

    /// Keeps those out who [`lock`](Dir::lock) the folder, but not others who share it like this.
    fn lock_shared(&self) -> Result<()> {
        Ok(())
    }
}

fn no_folders() -> Error {
    Error::unsupported("this kind of folder has no folders in it")
}
