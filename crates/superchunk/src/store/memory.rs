//! Stores in memory: one that grows, and a folder of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::bytes::copy_from;
use super::{Dir, ReadAt, WriteAt};
use crate::error::{Error, MustGet, Result};

/// A store in memory that grows as it is written.
///
/// Clones are handles of the same bytes; a lock belongs to the handle that took it.
#[derive(Clone, Default)]
pub struct Memory {
    bytes: Arc<RwLock<Vec<u8>>>,
    claim: Claim,
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.read().clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.bytes.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Vec<u8>> for Memory {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes: Arc::new(RwLock::new(bytes)), claim: Claim::default() }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("len", &self.read().len()).finish_non_exhaustive()
    }
}

impl ReadAt for Memory {
    fn len(&self) -> Result<u64> {
        Ok(u64::try_from(self.read().len()).unwrap_or(u64::MAX))
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        Ok(copy_from(&self.read(), position, dst))
    }
}

impl WriteAt for Memory {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        if src.is_empty() {
            return Ok(());
        }
        let start = usize::try_from(position).map_err(|_| too_long(position))?;
        let end = start.checked_add(src.len()).ok_or_else(|| too_long(position))?;
        let mut bytes = self.write();
        reserve(&mut bytes, end)?;
        if bytes.len() < start {
            bytes.resize(start, 0);
        }
        // What is there already is replaced, the rest is new.
        let old = bytes.len().min(end) - start;
        let (over, new) = src.split_at(old);
        bytes.must_get_mut(start..start + old)?.copy_from_slice(over);
        bytes.extend_from_slice(new);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let end = usize::try_from(len).map_err(|_| too_long(len))?;
        let mut bytes = self.write();
        reserve(&mut bytes, end)?;
        bytes.resize(end, 0);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self) -> Result<()> {
        self.claim.take()
    }

    fn unlock(&self) {
        self.claim.release();
    }
}

/// A folder of stores in memory.
///
/// Clones are handles of the same folder; a lock belongs to the handle that took it.
#[derive(Clone, Debug, Default)]
pub struct MemoryFolder {
    stores: Arc<RwLock<BTreeMap<String, Memory>>>,
    folders: Arc<RwLock<BTreeMap<String, MemoryFolder>>>,
    claim: Claim,
}

impl MemoryFolder {
    /// An empty folder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn stores(&self) -> RwLockReadGuard<'_, BTreeMap<String, Memory>> {
        self.stores.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn stores_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Memory>> {
        self.stores.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn folders(&self) -> RwLockReadGuard<'_, BTreeMap<String, Self>> {
        self.folders.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn folders_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Self>> {
        self.folders.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, name: &str) -> bool {
        self.stores().contains_key(name) || self.folders().contains_key(name)
    }

    fn find(&self, name: &str) -> Result<Memory> {
        check_name(name)?;
        self.stores().get(name).cloned().ok_or_else(|| missing(name))
    }
}

impl Dir for MemoryFolder {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(self.find(name)?))
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(Arc::new(self.find(name)?))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        check_name(name)?;
        if self.has(name) {
            return Err(taken(name));
        }
        let store = Memory::new();
        self.stores_mut().insert(name.to_owned(), store.clone());
        Ok(Arc::new(store))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        check_name(from)?;
        check_name(to)?;
        if self.folders().contains_key(to) {
            return Err(taken(to));
        }
        let mut stores = self.stores_mut();
        let store = stores.remove(from).ok_or_else(|| missing(from))?;
        stores.insert(to.to_owned(), store);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        check_name(name)?;
        self.stores_mut().remove(name).map(drop).ok_or_else(|| missing(name))
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(self.stores().keys().cloned().collect())
    }

    fn open_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        check_name(name)?;
        let folder = self.folders().get(name).cloned();
        Ok(Arc::new(folder.ok_or_else(|| missing(name))?))
    }

    fn create_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        check_name(name)?;
        if self.has(name) {
            return Err(taken(name));
        }
        let folder = Self::new();
        self.folders_mut().insert(name.to_owned(), folder.clone());
        Ok(Arc::new(folder))
    }

    fn rename_folder(&self, from: &str, to: &str) -> Result<()> {
        check_name(from)?;
        check_name(to)?;
        if self.has(to) {
            return Err(taken(to));
        }
        let folder = self.folders_mut().remove(from).ok_or_else(|| missing(from))?;
        self.folders_mut().insert(to.to_owned(), folder);
        Ok(())
    }

    fn remove_folder(&self, name: &str) -> Result<()> {
        check_name(name)?;
        self.folders_mut().remove(name).map(drop).ok_or_else(|| missing(name))
    }

    fn folder_names(&self) -> Result<Vec<String>> {
        Ok(self.folders().keys().cloned().collect())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self) -> Result<()> {
        self.claim.take()
    }
}

/// Refuses names that are no single path component, so that none leads out of its folder.
pub(super) fn check_name(name: &str) -> Result<()> {
    // On Windows a colon names a stream inside of a file, or a drive.
    let leads_out = |c: char| matches!(c, '/' | '\\' | '\0') || (cfg!(windows) && c == ':');
    if matches!(name, "" | "." | "..") || name.contains(leads_out) {
        return Err(Error::invalid(format!("{name:?} cannot be the name of a store in a folder")));
    }
    Ok(())
}

/// Who holds the lock: one flag for all handles, and whether this handle set it.
#[derive(Debug, Default)]
struct Claim {
    taken: Arc<AtomicBool>,
    mine: AtomicBool,
}

impl Claim {
    fn take(&self) -> Result<()> {
        if self.mine.load(Ordering::Acquire) {
            return Ok(());
        }
        if self.taken.swap(true, Ordering::AcqRel) {
            return Err(Error::locked("another writer holds it; drop that one first"));
        }
        self.mine.store(true, Ordering::Release);
        Ok(())
    }

    fn release(&self) {
        if self.mine.swap(false, Ordering::AcqRel) {
            self.taken.store(false, Ordering::Release);
        }
    }
}

impl Clone for Claim {
    fn clone(&self) -> Self {
        Self { taken: Arc::clone(&self.taken), mine: AtomicBool::new(false) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.release();
    }
}

/// Makes room for `end` bytes in all, or says that there is none: growing would abort.
fn reserve(bytes: &mut Vec<u8>, end: usize) -> Result<()> {
    let more = end.saturating_sub(bytes.len());
    bytes.try_reserve(more).map_err(|source| {
        Error::limit(format!("no memory for a store of {end} bytes")).because(source)
    })
}

fn too_long(position: u64) -> Error {
    Error::limit(format!("memory cannot hold a store that reaches byte {position}"))
}

fn missing(name: &str) -> Error {
    Error::not_found("there is nothing of that name").within(name)
}

fn taken(name: &str) -> Error {
    Error::invalid("something of that name exists").within(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn writes_replace_extend_and_leave_zeros() {
        let mut model: Vec<u8> = Vec::new();
        let store = Memory::new();
        let mut bytes = (1..=255u8).cycle();
        for (position, len) in [(0, 3), (1, 1), (2, 4), (6, 0), (9, 2), (11, 1), (40, 0), (0, 13)] {
            let src: Vec<u8> = bytes.by_ref().take(len).collect();
            store.write_at(position as u64, &src).unwrap();
            if !src.is_empty() {
                model.resize(model.len().max(position + len), 0);
                model[position..position + len].copy_from_slice(&src);
            }
            assert_eq!(store.to_vec(), model);
        }
        for len in [5, 5, 0, 7] {
            store.set_len(len as u64).unwrap();
            model.resize(len, 0);
            assert_eq!(store.to_vec(), model);
            assert_eq!(store.len().unwrap(), len as u64);
        }
        assert!(store.as_bytes().is_none());
        store.sync().unwrap();
    }

    #[test]
    fn no_room_is_an_error() {
        let store = Memory::from(vec![1]);
        for position in [u64::MAX, i64::MAX as u64, u64::MAX / 4] {
            let error = store.write_at(position, &[1, 2]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
            assert_eq!(store.set_len(position).unwrap_err().kind(), ErrorKind::LimitExceeded);
            assert_eq!(store.read_at(position, &mut [0; 2]).unwrap(), 0);
        }
        assert_eq!(store.to_vec(), [1]);
    }

    #[test]
    fn one_handle_locks_until_it_is_dropped() {
        let (first, second) = (Memory::new(), Memory::new());
        second.lock().unwrap();
        let other = first.clone();
        first.lock().unwrap();
        first.lock().unwrap();
        assert_eq!(other.lock().unwrap_err().kind(), ErrorKind::Locked);
        drop(first.clone());
        assert_eq!(other.lock().unwrap_err().kind(), ErrorKind::Locked);
        drop(first);
        other.lock().unwrap();
    }

    #[test]
    fn a_folder_creates_renames_and_removes() {
        let folder = MemoryFolder::new();
        folder.create("a").unwrap().write_at(0, &[1]).unwrap();
        folder.create("b").unwrap().write_at(0, &[2, 2]).unwrap();
        assert_eq!(folder.create("a").err().unwrap().kind(), ErrorKind::InvalidArgument);
        let old = folder.open("a").unwrap();
        folder.rename("b", "a").unwrap();
        assert_eq!(folder.names().unwrap(), ["a"]);
        // Who has the old one open keeps it, as on a disk.
        assert_eq!(old.len().unwrap(), 1);
        assert_eq!(folder.edit("a").unwrap().len().unwrap(), 2);
        folder.rename("a", "a").unwrap();
        folder.remove("a").unwrap();
        for error in [
            folder.open("a").err(),
            folder.edit("a").err(),
            folder.remove("a").err(),
            folder.rename("a", "c").err(),
        ] {
            assert_eq!(error.unwrap().kind(), ErrorKind::NotFound);
        }
        folder.sync().unwrap();
    }

    #[test]
    fn folders_hold_folders() {
        let root = MemoryFolder::new();
        let inner = root.create_folder("data").unwrap();
        inner.create("a").unwrap().write_at(0, b"1").unwrap();
        assert_eq!(root.open_folder("data").unwrap().names().unwrap(), ["a"]);
        assert!(root.create("data").is_err() && root.create_folder("data").is_err());
        root.create("b").unwrap();
        assert!(root.create_folder("b").is_err() && root.rename("b", "data").is_err());
        assert!(root.rename_folder("data", "b").is_err());
        root.rename_folder("data", "other").unwrap();
        assert_eq!(
            (root.names().unwrap(), root.folder_names().unwrap()),
            (vec!["b".to_owned()], vec!["other".to_owned()])
        );
        root.remove_folder("other").unwrap();
        assert_eq!(root.open_folder("other").err().unwrap().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn one_handle_locks_a_folder() {
        let folder = MemoryFolder::new();
        folder.lock().unwrap();
        let other = folder.clone();
        assert_eq!(other.lock().unwrap_err().kind(), ErrorKind::Locked);
        drop(folder);
        other.lock().unwrap();
    }

    #[test]
    fn names_stay_inside_of_their_folder() {
        for name in ["", ".", "..", "a/b", "/a", "a\\b", "a\0"] {
            let folder = MemoryFolder::new();
            assert_eq!(folder.create(name).err().unwrap().kind(), ErrorKind::InvalidArgument);
            assert!(folder.rename("a", name).is_err());
        }
        for name in ["...", "a.b", "00000000.chunk", ".b2lock", "ä", " "] {
            check_name(name).unwrap();
        }
    }
}
