//! A directory on a disk as a folder of stores.
//!
//! A folder may have come from elsewhere, such as an archive, so what stands in it is not trusted:
//! symbolic links, which could lead out of it, are refused like everything else that is no regular
//! file.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[cfg(unix)]
use unix::Directory;
#[cfg(windows)]
use windows::Directory;

use super::around::lock_tables;
use super::file::{FileReader, FileWriter, Links, check_opened, check_regular, named};
use super::identity::Identity;
use super::lock::{LockKind, LockState};
use super::memory::check_name;
use super::temporary::shortened;
use super::wait::patiently;
use super::{Dir, ReadAt, WriteAt};
use crate::error::{Error, ErrorKind, Result};

/// A directory on a disk.
///
/// On Unix it is used through its descriptor, so that nothing that happens to its path meanwhile
/// leads elsewhere. [`lock`](Dir::lock) and [`sync`](Dir::sync) are without effect on Windows,
/// which has neither for directories.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    directory: Directory,
    lock: LockState,
    /// The permission bits of new files, if they are not to be those of any new file; shared by all
    /// folders of a container.
    model: Arc<OnceLock<u32>>,
    /// The tables that what is claimed in this directory, or the directory itself, is a column of.
    tables: Vec<Folder>,
    /// A name in this directory that is not text, after the text that stands for it here.
    stand_in: Option<(String, OsString)>,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Edit,
    /// There must be none of that name.
    Create,
    /// The same, for a file that only its owner may read.
    CreatePrivate,
}

/// What becomes of what has the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A file is replaced: it gets the name that the newcomer had where the system can exchange
    /// names, and is gone elsewhere.
    Over,
    /// It must not exist.
    New,
    /// It gets the name that the newcomer had.
    Exchange,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    File,
    Folder,
    Other,
}

impl Folder {
    /// Opens a directory that exists.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let directory = Directory::open(path).map_err(|error| not_opened(path, error))?;
        Ok(Self::over(path.to_owned(), directory, Arc::default()))
    }

    /// Makes an empty directory; nothing of that name may exist. It survives a power cut from then on.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        std::fs::create_dir(path)
            .map_err(|error| Error::io("cannot create the directory", error).within(named(path)))?;
        let (parent, _) = Self::parent_of(path)?;
        parent.sync()?;
        Self::open(path)
    }

    /// Makes a directory for `fill` to fill; if that fails, it is gone.
    pub(crate) fn filled<T>(path: &Path, fill: impl FnOnce(Arc<Self>) -> Result<T>) -> Result<T> {
        let filled = fill(Arc::new(Self::create(path)?));
        let is_in_place = |error: &Error| error.kind() == ErrorKind::DurabilityUnknown;
        filled.inspect_err(|error| {
            if !is_in_place(error) {
                let _ = std::fs::remove_dir_all(path);
            }
        })
    }

    /// Opens a directory and keeps other writers out, after a wait of at most `wait`. What stands
    /// at `path` then is what was opened, even if somebody has put something else there meanwhile.
    pub(crate) fn claim(path: &Path, wait: Duration) -> Result<Self> {
        Self::claim_as(path, wait, Self::lock)
    }

    /// The same for a writer that shares the directory with others.
    pub(crate) fn claim_shared(path: &Path, wait: Duration) -> Result<Self> {
        Self::claim_as(path, wait, Self::lock_shared)
    }

    /// The same for a directory whatever tables are around it.
    pub(super) fn claim_shared_alone(path: &Path, wait: Duration) -> Result<Self> {
        Self::claim_alone(path, wait, Self::lock_shared)
    }

    /// The directory that holds `path`, of which a writer is going to change what `path` leads to,
    /// and the name of `path` in it.
    pub(crate) fn claim_parent_of(path: &Path, wait: Duration) -> Result<(Self, String)> {
        let tables = lock_tables(path, wait)?;
        let (mut parent, name) = Self::parent_of(path)?;
        parent.tables = tables;
        Ok((parent, name))
    }

    fn claim_as(path: &Path, wait: Duration, lock: fn(&Self) -> Result<()>) -> Result<Self> {
        let tables = lock_tables(path, wait)?;
        let mut folder = Self::claim_alone(path, wait, lock)?;
        folder.tables = tables;
        Ok(folder)
    }

    fn claim_alone(path: &Path, wait: Duration, lock: fn(&Self) -> Result<()>) -> Result<Self> {
        loop {
            let folder = Self::open(path)?;
            patiently(wait, || lock(&folder))?;
            if folder.is_in_place()? {
                return Ok(folder);
            }
        }
    }

    /// Whether the path that this was opened by still leads to it.
    pub(crate) fn is_in_place(&self) -> Result<bool> {
        let failed = |error| not_opened(&self.path, error);
        let now = Self::open(&self.path)?.directory.identity().map_err(failed)?;
        Ok(now == self.directory.identity().map_err(failed)?)
    }

    /// The directory that holds `path`, and the name of `path` in it. For a name that is not UTF-8
    /// this is a text like it, which the returned folder, and no other, takes for that name.
    pub fn parent_of(path: impl AsRef<Path>) -> Result<(Self, String)> {
        let path = path.as_ref();
        let name = path
            .file_name()
            .ok_or_else(|| Error::invalid("the path does not end in a name").within(named(path)))?;
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut folder = Self::open(parent)?;
        if let Some(text) = name.to_str() {
            return Ok((folder, text.to_owned()));
        }
        let text = shortened(&name.to_string_lossy()).to_owned();
        folder.stand_in = Some((text.clone(), name.to_owned()));
        Ok((folder, text))
    }

    /// Where the directory is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stands in this directory under a name; `None` if nothing does.
    pub(super) fn found(&self, name: &str) -> Result<Option<NameKind>> {
        let path = self.join(name)?;
        match self.directory.kind(self.real(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("cannot look at it", error).within(named(&path))),
            Ok(kind) => Ok(Some(kind)),
        }
    }

    /// Opens a file only to lock it, for which it need not be writable.
    pub(super) fn open_to_lock(&self, name: &str) -> Result<FileWriter> {
        let (file, path) = self.open_file(name, Access::Read, "open for locking")?;
        Ok(FileWriter::over(file, path))
    }

    /// Makes a directory in this one that only its owner may use.
    pub(super) fn create_private_folder(&self, name: &str) -> Result<Self> {
        let path = self.join(name)?;
        let made = self.directory.create_private_folder(self.real(name));
        made.and_then(|()| Directory::open(&path))
            .map(|directory| Self::over(path.clone(), directory, Arc::default()))
            .map_err(|error| Error::io("cannot create the directory", error).within(named(&path)))
    }

    /// Gives `name` here the permissions of `old` in another directory.
    pub(super) fn adopt(&self, name: &str, other: &Self, old: &str) -> Result<()> {
        let adopted = self.directory.adopt(self.real(name), &other.directory, other.real(old));
        adopted.map_err(|error| {
            Error::io("cannot set its permissions", error).within(named(&other.path.join(old)))
        })
    }

    /// Makes `name` here a second name of the file `old` in another directory.
    pub(super) fn link(&self, name: &str, other: &Self, old: &str) -> Result<()> {
        let linked = self.directory.link(self.real(name), &other.directory, other.real(old));
        linked.map_err(|error| {
            Error::io("cannot link it", error).within(named(&other.path.join(old)))
        })
    }

    /// Moves a file or folder to another directory. Returns whether what was there has the old
    /// name now.
    pub(super) fn move_to(&self, from: &str, other: &Self, to: &str, how: Arrival) -> Result<bool> {
        let (old, new) = (self.real(from), other.real(to));
        let moved = self.directory.move_to(old, &other.directory, new, how);
        moved.map_err(|error| {
            Error::io("cannot give it its name", error).within(named(&other.path.join(to)))
        })
    }

    fn over(path: PathBuf, directory: Directory, model: Arc<OnceLock<u32>>) -> Self {
        let (lock, tables) = (LockState::default(), Vec::new());
        Self { path, directory, lock, model, tables, stand_in: None }
    }

    /// The path of what has a name in this directory.
    pub(super) fn join(&self, name: &str) -> Result<PathBuf> {
        check_name(name).map_err(|error| error.within(named(&self.path)))?;
        Ok(self.path.join(self.real(name)))
    }

    /// The name that a text stands for.
    fn real<'a>(&'a self, text: &'a str) -> &'a OsStr {
        match &self.stand_in {
            Some((known, name)) if known == text => name,
            _ => OsStr::new(text),
        }
    }

    /// Opens a file, which must be a regular one; `verb` says what for.
    fn open_file(
        &self,
        name: &str,
        access: Access,
        verb: &str,
    ) -> Result<(std::fs::File, PathBuf)> {
        let path = self.join(name)?;
        let opened = self.directory.open_file(&path, self.real(name), access);
        let opened = check_opened(opened, &path, Links::Refuse, verb);
        Ok((opened.map_err(|error| self.missing_or_replaced(error))?, path))
    }

    /// What is missing because another directory has taken the place of this one, whose content is
    /// being removed, is a change and not damage.
    fn missing_or_replaced(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::NotFound || !self.directory.is_replaced(&self.path) {
            return error;
        }
        let words = "another folder has taken the place of this one: open it again";
        Error::new(ErrorKind::Changed, words).within(named(&self.path)).because(error)
    }

    /// The path of a regular file that is there.
    fn existing(&self, name: &str) -> Result<PathBuf> {
        let path = self.join(name)?;
        if self.kind(name, &path)? != NameKind::File {
            let metadata = path.symlink_metadata();
            metadata.map_or(Ok(()), |found| check_regular(&path, found.file_type()))?;
        }
        Ok(path)
    }

    /// The path of a directory that is there.
    fn existing_folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.join(name)?;
        match self.kind(name, &path)? == NameKind::Folder {
            true => Ok(path),
            false => Err(Error::invalid("is not a directory").within(named(&path))),
        }
    }

    fn kind(&self, name: &str, path: &Path) -> Result<NameKind> {
        let kind = self.directory.kind(self.real(name));
        kind.map_err(|error| {
            self.missing_or_replaced(Error::io("cannot look at it", error).within(named(path)))
        })
    }

    /// The names of what is of one kind in this directory.
    fn listed(&self, wanted: NameKind) -> Result<Vec<String>> {
        let entries = self.directory.entries().map_err(self.failed("cannot list the directory"))?;
        Ok(entries.into_iter().filter(|(_, kind)| *kind == wanted).map(|(name, _)| name).collect())
    }

    fn child(&self, name: &str, path: PathBuf) -> Arc<dyn Dir> {
        Arc::new(Self::over(path, self.directory.child(self.real(name)), self.model.clone()))
    }

    /// Takes a lock of the directory, which is held open from then on.
    fn locked(&self, kind: LockKind) -> Result<()> {
        let held = self.directory.held().map_err(|error| not_opened(&self.path, error))?;
        held.map_or(Ok(()), |held| self.lock.take(held, &self.path, kind))
    }

    fn failed(&self, what: &str) -> impl Fn(io::Error) -> Error {
        move |error| Error::io(what, error).within(named(&self.path))
    }

    fn not_renamed<'a>(from: &'a Path, to: &'a Path) -> impl Fn(io::Error) -> Error + 'a {
        move |error| {
            Error::io(format!("cannot rename it to {}", to.display()), error).within(named(from))
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(held) = self.directory.if_held() {
            self.lock.release(held);
        }
    }
}

impl Dir for Folder {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        let (file, path) = self.open_file(name, Access::Read, "open for reading")?;
        Ok(Arc::new(FileReader::over(file, path)))
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        let (file, path) = self.open_file(name, Access::Edit, "open for writing")?;
        Ok(Arc::new(FileWriter::over(file, path)))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        let Some(mode) = self.model.get() else {
            let (file, path) = self.open_file(name, Access::Create, "create")?;
            return Ok(Arc::new(FileWriter::over(file, path)));
        };
        let (file, path) = self.open_file(name, Access::CreatePrivate, "create")?;
        set_mode(&file, *mode).map_err(|error| {
            let _ = self.directory.remove_file(self.real(name));
            Error::io("cannot set its permissions", error).within(named(&path))
        })?;
        Ok(Arc::new(FileWriter::over(file, path)))
    }

    fn create_private(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        let (file, path) = self.open_file(name, Access::CreatePrivate, "create")?;
        Ok(Arc::new(FileWriter::over(file, path)))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (old, new) = (self.existing(from)?, self.join(to)?);
        self.directory.rename(self.real(from), self.real(to)).map_err(Self::not_renamed(&old, &new))
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        let (old, new) = (self.existing(from)?, self.join(to)?);
        let (from, to) = (self.real(from), self.real(to));
        let published = self.directory.publish(from, to, self.model.get().copied());
        published.map_err(Self::not_renamed(&old, &new))
    }

    fn publish_over(&self, from: &str, to: &str) -> Result<bool> {
        let (old, new) = (self.existing(from)?, self.join(to)?);
        let (from, to) = (self.real(from), self.real(to));
        let published = self.directory.publish_over(from, to, self.model.get().copied());
        published.map_err(Self::not_renamed(&old, &new))
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.existing(name)?;
        let removed = self.directory.remove_file(self.real(name));
        removed.map_err(|error| Error::io("cannot remove it", error).within(named(&path)))
    }

    fn names(&self) -> Result<Vec<String>> {
        self.listed(NameKind::File)
    }

    fn identity_of(&self, name: &str) -> Result<Option<Identity>> {
        let path = self.join(name)?;
        let identity = self.directory.identity_of(self.real(name));
        identity.map_err(|error| Error::io("cannot look at it", error).within(named(&path)))
    }

    fn take_as_model(&self, name: &str) -> Result<()> {
        let path = self.existing(name)?;
        let mode = self.directory.mode_of(self.real(name));
        let mode =
            mode.map_err(|error| Error::io("cannot look at it", error).within(named(&path)))?;
        self.model.get_or_init(|| mode);
        Ok(())
    }

    fn open_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        self.existing_folder(name).map(|path| self.child(name, path))
    }

    fn create_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        let path = self.join(name)?;
        let created = match self.model.get() {
            Some(_) => self.directory.create_folder_alike(self.real(name)),
            None => self.directory.create_folder(self.real(name)),
        };
        created.map_err(|error| {
            Error::io("cannot create the directory", error).within(named(&path))
        })?;
        Ok(self.child(name, path))
    }

    fn rename_folder(&self, from: &str, to: &str) -> Result<()> {
        let (old, new) = (self.existing_folder(from)?, self.join(to)?);
        if self.directory.kind(self.real(to)).is_ok() {
            return Err(Error::invalid("something of that name exists").within(named(&new)));
        }
        self.directory.rename(self.real(from), self.real(to)).map_err(Self::not_renamed(&old, &new))
    }

    fn remove_folder(&self, name: &str) -> Result<()> {
        let path = self.existing_folder(name)?;
        let removed = self.directory.remove_folder(self.real(name));
        removed.map_err(|error| Error::io("cannot remove it", error).within(named(&path)))
    }

    fn folder_names(&self) -> Result<Vec<String>> {
        self.listed(NameKind::Folder)
    }

    fn sync(&self) -> Result<()> {
        match self.directory.sync() {
            // Some file systems cannot sync directories, and say so this way.
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
                Err(self.failed("cannot sync the directory")(error))
            }
            _ => Ok(()),
        }
    }

    #[cfg(target_os = "linux")]
    fn sync_all(&self) -> Result<()> {
        self.directory.sync_file_system().map_err(self.failed("cannot sync the file system"))
    }

    fn lock(&self) -> Result<()> {
        self.locked(LockKind::Exclusive)
    }

    fn lock_shared(&self) -> Result<()> {
        self.locked(LockKind::Shared)
    }
}

#[cfg(unix)]
fn set_mode(file: &std::fs::File, mode: u32) -> io::Result<()> {
    super::permissions::set_mode(file, mode)
}

#[cfg(windows)]
fn set_mode(_file: &std::fs::File, _mode: u32) -> io::Result<()> {
    Ok(())
}

fn not_opened(path: &Path, error: io::Error) -> Error {
    let error = match error.kind() {
        io::ErrorKind::NotADirectory => Error::invalid("is not a directory"),
        _ => Error::io("cannot open the directory", error),
    };
    error.within(named(path))
}

#[cfg(test)]
mod tests;
