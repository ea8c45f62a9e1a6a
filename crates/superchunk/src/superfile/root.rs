//! A `blsk` tree on its folder: the meta files, the lock, and the commit.
//!
//! ```text
//! root/data/…           superchunk files, `__1__.bin` and up, in the folder of their column
//! root/meta/storage     what the columns are
//! root/meta/nrows       how many rows there are
//! root/meta/attributes  what users want to be kept with it
//! ```
//!
//! A commit: finished copies of files that must be rewritten, beside them │ sync │ the journal │ sync │
//! patches, renames, `storage`, `nrows` │ sync │ the journal goes. A crash before the journal has its
//! name leaves the old state; after it, the next writer does the rest, and readers see through it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::journal::{self, Action, FileId, JOURNAL, Patched};
use super::storage::{Storage, parse_nrows};
use crate::container;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::Durability;
use crate::limits::Limits;
use crate::store::{Dir, MemoryFolder, ReadAt, WriteAt};

/// The longest `storage` and `nrows`.
const MAX_META: u64 = 1 << 20;
/// The names under which `storage` was proposed.
const STORAGE: [&str; 3] = ["storage", "dtype", "domain"];
/// How often a reader looks again when a writer is at work.
const RETRIES: usize = 20;
/// The most bytes of patches in a journal; beyond, files are rewritten.
const MAX_PATCHES: usize = 64 << 20;

/// How a tree is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) limits: Limits,
    pub(crate) durability: Durability,
    pub(crate) writable: bool,
    /// Whether the smaller of two numbers of rows is taken where they differ.
    pub(crate) recover: bool,
}

/// The folders of a tree.
pub(crate) struct Root {
    /// Keeps the lock.
    dir: Arc<dyn Dir>,
    data: Arc<dyn Dir>,
    meta: Arc<dyn Dir>,
    pub(crate) name: String,
    pub(crate) access: Access,
    /// What a reader has to see through, if a writer was interrupted.
    journal: Vec<Action>,
    staged: Mutex<Staged>,
    poisoned: AtomicBool,
}

/// What the next commit does.
#[derive(Default)]
struct Staged {
    actions: Vec<Action>,
    /// The bytes of its patches.
    patched: usize,
}

impl Root {
    /// Makes the folders and files of an empty tree. It is one from the moment on that it has `nrows`.
    pub(crate) fn create(
        dir: Arc<dyn Dir>,
        name: String,
        storage: &Storage,
        access: Access,
    ) -> Result<Self> {
        storage.check()?;
        dir.lock()?;
        let data = dir.create_folder("data")?;
        for leaf in &storage.columns {
            let mut folder = data.clone();
            for part in &leaf.path {
                folder = match folder.open_folder(part) {
                    Ok(inner) => inner,
                    Err(_) => {
                        let inner = folder.create_folder(part)?;
                        if access.durability == Durability::Full {
                            folder.sync()?;
                        }
                        inner
                    }
                };
            }
        }
        let meta = dir.create_folder("meta")?;
        let root = Self::new(dir, data, meta, name, access);
        root.replace_meta("storage", &storage.to_text())?;
        root.replace_meta("attributes", "")?;
        root.replace_meta("nrows", "0\n")?;
        root.sync_names(root.dir.as_ref())?;
        Ok(root)
    }

    /// Opens a tree and tells what it holds; an interrupted commit is finished, or seen through.
    pub(crate) fn open(dir: Arc<dyn Dir>, name: String, access: Access) -> Result<(Self, Storage)> {
        let folder = |part: &str| {
            dir.open_folder(part).map_err(|error| match error.kind() {
                ErrorKind::NotFound => {
                    Error::not_found(format!("there is no folder `{part}`: this is no blsk tree"))
                }
                _ => error,
            })
        };
        let (data, meta) = (folder("data")?, folder("meta")?);
        let mut root = Self::new(dir.clone(), data, meta, name, access);
        if access.writable {
            root.dir.lock()?;
            let actions = root.find_journal()?;
            if !actions.is_empty() {
                root.apply(&actions)?;
            }
        }
        let storage = root.read_stable()?;
        Ok((root, storage))
    }

    /// A damaged tree, any part of which may be missing; a journal beyond repair is ignored.
    pub(crate) fn remains(dir: &dyn Dir, limits: Limits) -> Self {
        let folder = |name: &str| -> Arc<dyn Dir> {
            dir.open_folder(name).unwrap_or_else(|_| Arc::new(MemoryFolder::new()))
        };
        let access =
            Access { limits, durability: Durability::Process, writable: false, recover: true };
        // Nothing is locked, so that nobody needs the folder itself.
        let nowhere = Arc::new(MemoryFolder::new());
        let mut root =
            Self::new(nowhere, folder("data"), folder("meta"), "tree".to_owned(), access);
        root.journal = root.find_journal().unwrap_or_default();
        root
    }

    fn new(
        dir: Arc<dyn Dir>,
        data: Arc<dyn Dir>,
        meta: Arc<dyn Dir>,
        name: String,
        access: Access,
    ) -> Self {
        let (journal, staged) = (Vec::new(), Mutex::default());
        Self { dir, data, meta, name, access, journal, staged, poisoned: AtomicBool::new(false) }
    }

    /// Reads `storage` and `nrows` when no writer is between the two.
    fn read_stable(&mut self) -> Result<Storage> {
        for _ in 0..RETRIES {
            self.journal = self.find_journal()?;
            let read = self.read_storage();
            if self.find_journal()? == self.journal {
                return read;
            }
        }
        Err(Error::new(ErrorKind::Changed, "a writer changes it all the time: try again"))
    }

    /// What an interrupted commit wanted; nothing if there was none, or if it is beyond recovery.
    fn find_journal(&self) -> Result<Vec<Action>> {
        match journal::read(self.meta.as_ref(), &self.access.limits) {
            Err(error)
                if self.access.recover
                    && matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated) =>
            {
                Ok(Vec::new())
            }
            found => Ok(found
                .map_err(|error| error.within(self.told(&format!("meta/{JOURNAL}"))))?
                .unwrap_or_default()),
        }
    }

    fn read_storage(&self) -> Result<Storage> {
        let text = String::from_utf8(self.storage_bytes()?)
            .map_err(|error| self.no_text("storage", &error.utf8_error()))?;
        let mut storage =
            Storage::parse(&text).map_err(|error| error.within(self.told("meta/storage")))?;
        let rows = self.rows()?;
        let Some(first) = storage.shape.first_mut() else { return Ok(storage) };
        if *first != rows && !self.access.recover {
            return Err(Error::corrupt(format!(
                "says {rows} rows, the shape {first}: open it with recovery to get the smaller"
            ))
            .at("blsk", "nrows", 0)
            .within(self.told("meta/nrows")));
        }
        *first = rows.min(*first);
        Ok(storage)
    }

    /// The file `storage`, under any of its names.
    pub(crate) fn storage_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Err(Error::not_found("there is no `meta/storage`"));
        for name in STORAGE {
            bytes = self.meta_bytes(name, MAX_META);
            if !matches!(&bytes, Err(error) if error.kind() == ErrorKind::NotFound) {
                break;
            }
        }
        bytes.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::corrupt("`meta/storage` is missing").because(error),
            _ => error,
        })
    }

    /// The file `nrows`.
    pub(crate) fn rows(&self) -> Result<u64> {
        let nrows = self.meta_text("nrows", MAX_META)?;
        parse_nrows(&nrows).map_err(|error| error.within(self.told("meta/nrows")))
    }

    /// The folder of all chunks.
    pub(crate) fn data(&self) -> &Arc<dyn Dir> {
        &self.data
    }

    /// A file of `meta` that is text, as a commit that was interrupted leaves it.
    pub(crate) fn meta_text(&self, name: &str, max: u64) -> Result<String> {
        String::from_utf8(self.meta_bytes(name, max)?)
            .map_err(|error| self.no_text(name, &error.utf8_error()))
    }

    fn no_text(&self, name: &str, error: &std::str::Utf8Error) -> Error {
        let at = error.valid_up_to();
        Error::corrupt("not UTF-8")
            .at("blsk", "meta", at)
            .within(self.told(&format!("meta/{name}")))
    }

    fn meta_bytes(&self, name: &str, max: u64) -> Result<Vec<u8>> {
        let new = self.journal.iter().rev().find_map(|action| match action {
            Action::Meta { name: changed, text } if *changed == name => Some(text.clone()),
            _ => None,
        });
        if let Some(text) = new {
            return Ok(text.into_bytes());
        }
        let told = |error: Error| error.within(self.told(&format!("meta/{name}")));
        let store = self.meta.open(name).map_err(told)?;
        let len = store.len().map_err(told)?;
        let len = usize::try_from(len.min(max + 1)).unwrap_or(usize::MAX);
        if len as u64 > max {
            return Err(told(Error::limit(format!("the file is longer than {max} bytes"))));
        }
        let mut bytes = vec![0; len];
        store.read_exact_at(0, &mut bytes).map_err(told)?;
        Ok(bytes)
    }

    /// Replaces a file of `meta`, in one step.
    pub(crate) fn replace_meta(&self, name: &str, text: &str) -> Result<()> {
        self.replace_file(name, text.as_bytes())?;
        self.sync_names(self.meta.as_ref())
    }

    fn replace_file(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let temporary = format!(".{name}.new");
        let _ = self.meta.remove(&temporary);
        let file = self.meta.create(&temporary)?;
        let written = file
            .write_at(0, bytes)
            .and_then(|()| self.sync(file.as_ref()))
            .and_then(|()| self.meta.rename(&temporary, name));
        if written.is_err() {
            let _ = self.meta.remove(&temporary);
        }
        written
    }

    /// The folder of a column.
    pub(crate) fn column_folder(&self, column: &str) -> Result<Arc<dyn Dir>> {
        let mut folder = self.data.clone();
        for part in column.split('/').filter(|part| !part.is_empty()) {
            folder = folder.open_folder(part).map_err(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::InvalidArgument => {
                    Error::corrupt("the folder of the column is missing")
                        .because(error)
                        .within(self.told(&format!("data/{column}")))
                }
                _ => error,
            })?;
        }
        Ok(folder)
    }

    /// Opens a file of chunks, as a commit that was interrupted leaves it.
    pub(crate) fn open_file(&self, folder: &dyn Dir, file: &FileId) -> Result<Arc<dyn ReadAt>> {
        let replaced =
            self.journal.iter().any(|action| matches!(action, Action::Replace(id) if id == file));
        let name = file_name(file.number);
        let copy = if replaced { folder.open(&copy_name(file.number)).ok() } else { None };
        let store = match copy {
            Some(store) => store,
            None => folder.open(&name).map_err(|error| match error.kind() {
                ErrorKind::NotFound => Error::corrupt("a file of chunks is missing").because(error),
                // A folder, a link or a pipe: the tree is wrong, not the caller.
                ErrorKind::InvalidArgument => {
                    Error::corrupt("a file of chunks is no regular file").because(error)
                }
                _ => error,
            })?,
        };
        let patches: Vec<_> = self
            .journal
            .iter()
            .filter_map(|action| match action {
                Action::Patch { file: id, position, bytes } if id == file => {
                    Some((*position, bytes.clone()))
                }
                _ => None,
            })
            .collect();
        Ok(if patches.is_empty() { store } else { Arc::new(Patched { inner: store, patches }) })
    }

    /// Notes a change for the next [`Root::finish`].
    pub(crate) fn stage(&self, action: Action) {
        let mut staged = self.staged();
        if let Action::Patch { bytes, .. } = &action {
            staged.patched += bytes.len();
        }
        staged.actions.push(action);
    }

    /// Whether patches of this many bytes more still fit into the journal.
    pub(crate) fn has_room_for(&self, len: usize) -> bool {
        self.staged().patched.saturating_add(len) <= MAX_PATCHES
    }

    /// Makes all staged changes the state that everyone sees, and the meta files if they are given.
    pub(crate) fn finish(&self, storage: Option<&Storage>) -> Result<()> {
        self.check_writable()?;
        let mut actions = std::mem::take(&mut *self.staged()).actions;
        if let Some(storage) = storage {
            let rows = storage.shape.first().copied().unwrap_or(0);
            actions.push(Action::Meta { name: "storage", text: storage.to_text() });
            actions.push(Action::Meta { name: "nrows", text: format!("{rows}\n") });
        }
        // What goes is needed until the new number of rows stands.
        actions.sort_by_key(|action| matches!(action, Action::Remove(_)));
        let done = match actions.as_slice() {
            [] => Ok(()),
            // One rename is one step without a journal.
            [Action::Replace(_)] => self.apply(&actions),
            actions => journal::write(actions).and_then(|bytes| {
                self.replace_file(JOURNAL, &bytes)?;
                self.sync_names(self.meta.as_ref())?;
                self.apply(actions)
            }),
        };
        done.inspect_err(|_| self.poison())
    }

    /// Says that this handle does not know any more what is on the disk.
    pub(crate) fn poison(&self) {
        self.poisoned.store(true, Ordering::Release);
        *self.staged() = Staged::default();
    }

    /// Refuses changes of a reader, and after a commit that failed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if !self.access.writable {
            return Err(container::read_only());
        }
        if self.poisoned.load(Ordering::Acquire) {
            let words = "an earlier commit failed half-way: open it again";
            return Err(Error::new(ErrorKind::Io, words));
        }
        Ok(())
    }

    /// Does what a journal says, and removes it.
    fn apply(&self, actions: &[Action]) -> Result<()> {
        let mut folders: BTreeMap<&str, Arc<dyn Dir>> = BTreeMap::new();
        let mut edited: BTreeMap<&FileId, Arc<dyn WriteAt>> = BTreeMap::new();
        let mut renamed: BTreeSet<&str> = BTreeSet::new();
        for action in actions {
            let file = match action {
                Action::Patch { file, .. } | Action::Replace(file) | Action::Remove(file) => file,
                Action::Meta { name, text } => {
                    // The chunks must be there before they count.
                    edited.values().try_for_each(|store| self.sync(store.as_ref()))?;
                    edited.clear();
                    self.sync_folders(&folders, &mut renamed)?;
                    self.replace_meta(name, text)?;
                    continue;
                }
            };
            if !folders.contains_key(file.column.as_str()) {
                folders.insert(&file.column, self.column_folder(&file.column)?);
            }
            let Some(folder) = folders.get(file.column.as_str()) else { continue };
            let name = file_name(file.number);
            match action {
                Action::Patch { position, bytes, .. } => {
                    if !edited.contains_key(file) {
                        edited.insert(file, folder.edit(&name)?);
                    }
                    edited.get(file).map_or(Ok(()), |store| store.write_at(*position, bytes))?;
                }
                Action::Remove(_) => absent_is_fine(folder.remove(&name))?,
                _ => {
                    absent_is_fine(folder.rename(&copy_name(file.number), &name))?;
                    renamed.insert(&file.column);
                }
            }
        }
        edited.values().try_for_each(|store| self.sync(store.as_ref()))?;
        self.sync_folders(&folders, &mut renamed)?;
        absent_is_fine(self.meta.remove(JOURNAL))?;
        // A journal that comes back would find the copies of a later commit.
        self.sync_names(self.meta.as_ref())
    }

    fn sync_folders(
        &self,
        folders: &BTreeMap<&str, Arc<dyn Dir>>,
        renamed: &mut BTreeSet<&str>,
    ) -> Result<()> {
        for column in std::mem::take(renamed) {
            folders.get(column).map_or(Ok(()), |folder| self.sync_names(folder.as_ref()))?;
        }
        Ok(())
    }

    /// Waits until `store` is on the disk, if that was asked for.
    pub(crate) fn sync(&self, store: &dyn WriteAt) -> Result<()> {
        if self.access.durability == Durability::Full { store.sync() } else { Ok(()) }
    }

    /// Waits until the names of `dir` are on the disk, if that was asked for.
    pub(crate) fn sync_names(&self, dir: &dyn Dir) -> Result<()> {
        if self.access.durability == Durability::Full { dir.sync() } else { Ok(()) }
    }

    fn staged(&self) -> MutexGuard<'_, Staged> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, part: &str) -> String {
        format!("{}/{part}", self.name)
    }
}

/// The name of a file of chunks; they count from 1 on.
pub(crate) fn file_name(number: u64) -> String {
    format!("__{}__.bin", number + 1)
}

/// The name of a file that is not finished, or not yet in its place.
pub(crate) fn copy_name(number: u64) -> String {
    format!(".__{}__.bin.new", number + 1)
}

/// What an earlier attempt has done already need not be done again.
fn absent_is_fine(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
