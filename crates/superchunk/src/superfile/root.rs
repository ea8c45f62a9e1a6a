//! A `blsk` tree on its folder: the meta files, the lock, and the commit.
//!
//! ```text
//! root/data/…           superchunk files, `__1__.bin` and up, in the folder of their column
//! root/meta/storage     what the columns are
//! root/meta/nrows       how many rows there are
//! root/meta/attributes  what users want to be kept with it
//! ```
//!
//! How a commit is made: [`commit`](super::commit).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::commit::Prepared;
use super::journal::{self, Action, FileId, JOURNAL, Patched};
use super::storage::{Storage, parse_nrows};
use crate::container;
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::frame::Durability;
use crate::limits::Limits;
use crate::store::{Dir, MemoryFolder, ReadAt, WriteAt, last_sync};

/// The longest `storage` and `nrows`.
const MAX_META: u64 = 1 << 20;
/// The names under which `storage` was proposed.
const STORAGE: [&str; 3] = ["storage", "dtype", "domain"];
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
    pub(super) meta: Arc<dyn Dir>,
    pub(crate) name: String,
    pub(crate) access: Access,
    /// What a reader has to see through, if a writer was interrupted.
    journal: Vec<Action>,
    /// The file `nrows` of the state that a reader knows.
    counted: Option<Arc<dyn ReadAt>>,
    staged: Mutex<Staged>,
    poisoned: AtomicBool,
    /// Why the last commit could not be completed.
    pub(super) unfinished: Mutex<Option<Error>>,
}

/// What the next commit does.
#[derive(Default)]
pub(super) struct Staged {
    pub(super) actions: Vec<Action>,
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
            // Trees of older drafts have another name for it.
            let _ = root.meta.take_as_model("storage");
            let actions = root.find_journal()?;
            if !actions.is_empty() {
                root.apply(&actions, Prepared::No)?;
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
        Self {
            dir,
            data,
            meta,
            name,
            access,
            journal: Vec::new(),
            counted: None,
            staged: Mutex::default(),
            poisoned: AtomicBool::new(false),
            unfinished: Mutex::default(),
        }
    }

    /// Reads `storage` and `nrows` as of one commit; [`ErrorKind::Changed`] when a writer was
    /// faster.
    fn read_stable(&mut self) -> Result<Storage> {
        // Every commit replaces this file. While the old one is open, no other is taken for it.
        let counted = self.meta.open("nrows").ok();
        self.journal = self.find_journal()?;
        self.counted = counted.filter(|_| !self.access.writable);
        let read = self.read_storage();
        self.checked(read)
    }

    /// Takes what a reader has found only if no commit has come between: then it, or its failure,
    /// means nothing.
    pub(crate) fn checked<T>(&self, found: Result<T>) -> Result<T> {
        match self.is_unchanged() {
            Ok(false) => Err(Error::new(
                ErrorKind::Changed,
                "a writer has changed it meanwhile: open it again",
            )),
            _ => found,
        }
    }

    /// Whether the tree is what it was when this reader opened it. Writers keep each other out.
    fn is_unchanged(&self) -> Result<bool> {
        let Some(counted) = &self.counted else { return Ok(true) };
        let now = self.meta.open("nrows")?;
        let is_same = match (now.identity()?, counted.identity()?) {
            (Some(now), Some(known)) => now == known,
            _ => bytes_of(now.as_ref(), MAX_META)? == bytes_of(counted.as_ref(), MAX_META)?,
        };
        Ok(is_same && self.find_journal()? == self.journal)
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
        let first = storage.shape.must_get_mut(0)?;
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
        bytes_of(store.as_ref(), max).map_err(told)
    }

    /// Replaces a file of `meta`, in one step.
    pub(crate) fn replace_meta(&self, name: &str, text: &str) -> Result<()> {
        self.write_aside(name, text.as_bytes())?;
        self.publish(name)?;
        last_sync(self.sync_names(self.meta.as_ref()))
    }

    /// Writes what is to become a file of `meta`, under another name.
    pub(super) fn write_aside(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let aside = aside(name);
        let _ = self.meta.remove(&aside);
        let file = self.meta.create_private(&aside)?;
        let written = file.write_at(0, bytes).and_then(|()| self.sync(file.as_ref()));
        written.inspect_err(|_| self.forget_aside(name))
    }

    /// Makes what was written aside the file of `meta`.
    pub(super) fn publish(&self, name: &str) -> Result<()> {
        let published = self.meta.publish(&aside(name), name);
        published.inspect_err(|_| self.forget_aside(name))
    }

    /// Removes what was written aside.
    pub(super) fn forget_aside(&self, name: &str) {
        let _ = self.meta.remove(&aside(name));
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

    /// Notes the new content of a file of `meta` for the next [`Root::finish`].
    pub(crate) fn stage_meta(&self, name: &'static str, text: String) {
        self.stage(Action::Meta { name, text });
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

    /// Waits until `store` is on the disk, if that was asked for.
    pub(crate) fn sync(&self, store: &dyn WriteAt) -> Result<()> {
        if self.access.durability == Durability::Full { store.sync() } else { Ok(()) }
    }

    /// Waits until the names of `dir` are on the disk, if that was asked for.
    pub(crate) fn sync_names(&self, dir: &dyn Dir) -> Result<()> {
        if self.access.durability == Durability::Full { dir.sync() } else { Ok(()) }
    }

    pub(super) fn staged(&self) -> MutexGuard<'_, Staged> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, part: &str) -> String {
        format!("{}/{part}", self.name)
    }
}

/// Where the next content of a file of `meta` is written.
fn aside(name: &str) -> String {
    format!(".{name}.new")
}

fn bytes_of(store: &dyn ReadAt, max: u64) -> Result<Vec<u8>> {
    let len = store.len()?;
    if len > max {
        return Err(Error::limit(format!("the file is longer than {max} bytes")));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    store.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

/// The name of a file of chunks; they count from 1 on.
pub(crate) fn file_name(number: u64) -> String {
    format!("__{}__.bin", number + 1)
}

/// The name of a file that is not finished, or not yet in its place.
pub(crate) fn copy_name(number: u64) -> String {
    format!(".__{}__.bin.new", number + 1)
}
