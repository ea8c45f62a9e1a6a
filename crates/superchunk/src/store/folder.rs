//! A directory on a disk as a folder of stores.
//!
//! A folder may have come from elsewhere, such as an archive, so what stands in it is not trusted:
//! symbolic links, which could lead out of it, are refused like everything else that is no regular
//! file.

use std::fs::{self, File, TryLockError};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::file::{FileReader, FileWriter, Links, check_regular, lock_file, named};
use super::memory::check_name;
use super::{Dir, ReadAt, WriteAt};
use crate::error::{Error, Result};

/// A directory on a disk.
///
/// [`lock`](Dir::lock) and [`sync`](Dir::sync) are without effect on Windows, which has neither for
/// directories.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The open directory, which can be synced and locked. One that was found in another is not held
    /// open before it is locked: everything else goes by its path, and there may be thousands of them.
    handle: OnceLock<Option<File>>,
}

impl Folder {
    /// Opens a directory that exists.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let handle = OnceLock::from(open_directory(path).map_err(|e| not_opened(path, e))?);
        Ok(Self { path: path.to_owned(), handle })
    }

    /// Makes an empty directory; nothing of that name may exist. It survives a power cut from then on.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        fs::create_dir(path)
            .map_err(|error| Error::io("cannot create the directory", error).within(named(path)))?;
        let (parent, _) = Self::parent_of(path)?;
        parent.sync()?;
        Self::open(path)
    }

    /// The directory that holds `path`, and the name of `path` in it.
    pub fn parent_of(path: impl AsRef<Path>) -> Result<(Self, String)> {
        let path = path.as_ref();
        let name = path
            .file_name()
            .ok_or_else(|| Error::invalid("the path does not end in a name").within(named(path)))?;
        let name = name
            .to_str()
            .ok_or_else(|| Error::invalid("the name is not valid UTF-8").within(named(path)))?;
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        Ok((Self::open(parent)?, name.to_owned()))
    }

    /// Where the directory is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn join(&self, name: &str) -> Result<PathBuf> {
        check_name(name).map_err(|error| error.within(named(&self.path)))?;
        Ok(self.path.join(name))
    }

    /// The path of a regular file that is there.
    fn existing(&self, name: &str) -> Result<PathBuf> {
        let path = self.join(name)?;
        let metadata = path
            .symlink_metadata()
            .map_err(|error| Error::io("cannot look at it", error).within(named(&path)))?;
        check_regular(&path, metadata.file_type())?;
        Ok(path)
    }

    /// The path of a directory that is there.
    fn existing_folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.join(name)?;
        let metadata = path
            .symlink_metadata()
            .map_err(|error| Error::io("cannot look at it", error).within(named(&path)))?;
        match metadata.is_dir() {
            true => Ok(path),
            false => Err(Error::invalid("is not a directory").within(named(&path))),
        }
    }

    /// The names of what is of one kind in this directory.
    fn listed(&self, is_wanted: impl Fn(fs::FileType) -> bool) -> Result<Vec<String>> {
        let failed = self.failed("cannot list the directory");
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            match entry.file_type() {
                Ok(file_type) if is_wanted(file_type) => {}
                Ok(_) => continue,
                // Removed since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            }
            names.extend(entry.file_name().into_string());
        }
        Ok(names)
    }

    /// A directory that is known to be one, not held open.
    fn known(path: PathBuf) -> Arc<dyn Dir> {
        Arc::new(Self { path, handle: OnceLock::new() })
    }

    /// Takes a lock of the directory, which is held open from then on.
    fn locked(&self, lock: fn(&File) -> std::result::Result<(), TryLockError>) -> Result<()> {
        if self.handle.get().is_none() {
            let opened = open_directory(&self.path).map_err(|e| not_opened(&self.path, e))?;
            self.handle.get_or_init(|| opened);
        }
        let handle = self.handle.get().and_then(Option::as_ref);
        handle.map_or(Ok(()), |handle| lock_file(handle, &self.path, lock))
    }

    fn failed(&self, what: &str) -> impl Fn(io::Error) -> Error {
        move |error| Error::io(what, error).within(named(&self.path))
    }
}

impl Dir for Folder {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(FileReader::with(&self.join(name)?, Links::Refuse)?))
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(Arc::new(FileWriter::with(&self.join(name)?, Links::Refuse)?))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(Arc::new(FileWriter::create_new(self.join(name)?)?))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.existing(from)?, self.join(to)?);
        rename(&from, &to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.existing(name)?;
        fs::remove_file(&path)
            .map_err(|error| Error::io("cannot remove it", error).within(named(&path)))
    }

    fn names(&self) -> Result<Vec<String>> {
        self.listed(|file_type| file_type.is_file())
    }

    fn open_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        self.existing_folder(name).map(Self::known)
    }

    fn create_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        let path = self.join(name)?;
        fs::create_dir(&path).map_err(|error| {
            Error::io("cannot create the directory", error).within(named(&path))
        })?;
        Ok(Self::known(path))
    }

    fn rename_folder(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.existing_folder(from)?, self.join(to)?);
        if to.symlink_metadata().is_ok() {
            return Err(Error::invalid("something of that name exists").within(named(&to)));
        }
        rename(&from, &to)
    }

    fn remove_folder(&self, name: &str) -> Result<()> {
        let path = self.existing_folder(name)?;
        fs::remove_dir_all(&path)
            .map_err(|error| Error::io("cannot remove it", error).within(named(&path)))
    }

    fn folder_names(&self) -> Result<Vec<String>> {
        self.listed(|file_type| file_type.is_dir())
    }

    fn sync(&self) -> Result<()> {
        let synced = match self.handle.get() {
            Some(handle) => handle.as_ref().map(File::sync_all),
            None => open_directory(&self.path)
                .and_then(|handle| handle.as_ref().map(File::sync_all).transpose())
                .transpose(),
        };
        match synced {
            // Some file systems cannot sync directories, and say so this way.
            Some(Err(error)) if error.kind() != io::ErrorKind::InvalidInput => {
                Err(self.failed("cannot sync the directory")(error))
            }
            _ => Ok(()),
        }
    }

    fn lock(&self) -> Result<()> {
        self.locked(File::try_lock)
    }

    fn lock_shared(&self) -> Result<()> {
        self.locked(File::try_lock_shared)
    }
}

fn not_opened(path: &Path, error: io::Error) -> Error {
    let error = match error.kind() {
        io::ErrorKind::NotADirectory => Error::invalid("is not a directory"),
        _ => Error::io("cannot open the directory", error),
    };
    error.within(named(path))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| {
        Error::io(format!("cannot rename it to {}", to.display()), error).within(named(from))
    })
}

/// Opens a directory, and nothing else: a FIFO is refused without waiting for its other end.
#[cfg(unix)]
fn open_directory(path: &Path) -> io::Result<Option<File>> {
    let flags = libc::O_DIRECTORY | libc::O_NONBLOCK;
    fs::OpenOptions::new().read(true).custom_flags(flags).open(path).map(Some)
}

#[cfg(windows)]
fn open_directory(path: &Path) -> io::Result<Option<File>> {
    match path.metadata()?.is_dir() {
        true => Ok(None),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::scratch::Scratch;
    use super::*;
    use crate::error::ErrorKind;

    fn kind<T>(result: Result<T>) -> ErrorKind {
        result.err().unwrap().kind()
    }

    #[test]
    fn a_folder_creates_renames_and_removes() {
        let scratch = Scratch::new();
        let folder = Folder::create(scratch.path("frame")).unwrap();
        folder.create("a").unwrap().write_at(0, b"1").unwrap();
        folder.create("b").unwrap().write_at(0, b"22").unwrap();
        assert_eq!(kind(folder.create("a")), ErrorKind::Io);
        let old = folder.open("a").unwrap();
        folder.rename("b", "a").unwrap();
        folder.sync().unwrap();
        assert_eq!(folder.names().unwrap(), ["a"]);
        // Who has the old one open keeps it.
        assert_eq!(old.len().unwrap(), 1);
        assert_eq!(folder.edit("a").unwrap().len().unwrap(), 2);
        assert_eq!(fs::read(scratch.path("frame/a")).unwrap(), b"22");
        folder.remove("a").unwrap();
        assert_eq!(kind(folder.open("a")), ErrorKind::NotFound);
        assert_eq!(kind(folder.edit("a")), ErrorKind::NotFound);
        assert_eq!(kind(folder.remove("a")), ErrorKind::NotFound);
        assert_eq!(kind(folder.rename("a", "b")), ErrorKind::NotFound);
        assert!(folder.names().unwrap().is_empty());
    }

    #[test]
    fn a_folder_is_made_once_and_opened_as_a_directory_only() {
        let scratch = Scratch::new();
        let path = scratch.path("frame");
        assert_eq!(kind(Folder::open(&path)), ErrorKind::NotFound);
        assert_eq!(kind(Folder::create(path.join("below"))), ErrorKind::NotFound);
        assert_eq!(Folder::create(&path).unwrap().path(), path);
        let error = Folder::create(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().starts_with(&path.display().to_string()));
        fs::write(scratch.path("file"), "").unwrap();
        assert_eq!(kind(Folder::open(scratch.path("file"))), ErrorKind::InvalidArgument);
        #[cfg(unix)]
        assert_eq!(kind(Folder::open(scratch.fifo("fifo"))), ErrorKind::InvalidArgument);
    }

    #[test]
    fn a_path_is_cut_into_its_folder_and_its_name() {
        let scratch = Scratch::new();
        let (folder, name) = Folder::parent_of(scratch.path("x.b2frame")).unwrap();
        assert_eq!((folder.path(), &*name), (scratch.path("x").parent().unwrap(), "x.b2frame"));
        let (folder, name) = Folder::parent_of("x.b2frame").unwrap();
        assert_eq!((folder.path(), &*name), (Path::new("."), "x.b2frame"));
        for path in ["/", "", "a/..", ".."] {
            assert_eq!(kind(Folder::parent_of(path)), ErrorKind::InvalidArgument);
        }
        assert_eq!(kind(Folder::parent_of(scratch.path("none/x"))), ErrorKind::NotFound);
    }

    #[test]
    fn names_stay_inside_of_their_folder() {
        let scratch = Scratch::new();
        fs::write(scratch.path("outside"), "").unwrap();
        let folder = Folder::create(scratch.path("frame")).unwrap();
        folder.create("a").unwrap();
        let absolute = scratch.path("outside");
        for name in
            ["", ".", "..", "../outside", "x/../a", "a\\b", "a\0", absolute.to_str().unwrap()]
        {
            assert_eq!(kind(folder.open(name)), ErrorKind::InvalidArgument);
            assert_eq!(kind(folder.edit(name)), ErrorKind::InvalidArgument);
            assert_eq!(kind(folder.create(name)), ErrorKind::InvalidArgument);
            assert_eq!(kind(folder.remove(name)), ErrorKind::InvalidArgument);
            assert_eq!(kind(folder.rename(name, "b")), ErrorKind::InvalidArgument);
            assert_eq!(kind(folder.rename("a", name)), ErrorKind::InvalidArgument);
        }
        assert_eq!(folder.names().unwrap(), ["a"]);
    }

    #[test]
    #[cfg(unix)]
    fn nothing_but_regular_files_is_touched_or_listed() {
        use std::os::unix::ffi::OsStrExt;
        let scratch = Scratch::new();
        fs::write(scratch.path("outside"), "secret").unwrap();
        let folder = Folder::create(scratch.path("frame")).unwrap();
        fs::create_dir(scratch.path("frame/directory")).unwrap();
        scratch.fifo("frame/fifo");
        std::os::unix::fs::symlink("../outside", scratch.path("frame/link")).unwrap();
        std::os::unix::fs::symlink("nowhere", scratch.path("frame/dangling")).unwrap();
        let not_utf8 = std::ffi::OsStr::from_bytes(b"frame/\xff");
        fs::write(scratch.path("").join(not_utf8), "").unwrap();
        folder.create("file").unwrap();
        for name in ["directory", "fifo", "link", "dangling"] {
            assert_eq!(kind(folder.open(name)), ErrorKind::InvalidArgument, "{name}");
            assert_eq!(kind(folder.edit(name)), ErrorKind::InvalidArgument, "{name}");
            assert_eq!(kind(folder.create(name)), ErrorKind::Io, "{name}");
            assert_eq!(kind(folder.remove(name)), ErrorKind::InvalidArgument, "{name}");
            assert_eq!(kind(folder.rename(name, "new")), ErrorKind::InvalidArgument, "{name}");
        }
        assert_eq!(kind(folder.rename("file", "directory")), ErrorKind::Io);
        assert_eq!(folder.names().unwrap(), ["file"]);
        // A link that is in the way is replaced itself, not what it leads to.
        folder.rename("file", "link").unwrap();
        assert_eq!(fs::read(scratch.path("outside")).unwrap(), b"secret");
        assert_eq!(folder.open("link").unwrap().len().unwrap(), 0);
    }

    #[test]
    fn folders_hold_folders() {
        let scratch = Scratch::new();
        let root = Folder::create(scratch.path("root")).unwrap();
        let inner = root.create_folder("data").unwrap();
        inner.create("a").unwrap();
        assert_eq!(root.open_folder("data").unwrap().names().unwrap(), ["a"]);
        assert_eq!(kind(root.create_folder("data")), ErrorKind::Io);
        root.create("b").unwrap();
        assert_eq!(kind(root.rename_folder("data", "b")), ErrorKind::InvalidArgument);
        assert_eq!(kind(root.open_folder("b")), ErrorKind::InvalidArgument);
        root.rename_folder("data", "other").unwrap();
        assert_eq!(root.names().unwrap(), ["b"]);
        assert_eq!(root.folder_names().unwrap(), ["other"]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("other", scratch.path("root/link")).unwrap();
            assert_eq!(kind(root.open_folder("link")), ErrorKind::InvalidArgument);
            assert_eq!(kind(root.remove_folder("link")), ErrorKind::InvalidArgument);
        }
        root.remove_folder("other").unwrap();
        assert_eq!(kind(root.open_folder("other")), ErrorKind::NotFound);
    }

    #[test]
    fn what_the_system_refuses_is_told_by_name() {
        let scratch = Scratch::new();
        let folder = Folder::create(scratch.path("frame")).unwrap();
        folder.create("a").unwrap();
        let too_long = "x".repeat(300);
        for error in [
            folder.create(&too_long).err(),
            folder.open(&too_long).err(),
            folder.rename("a", &too_long).err(),
        ] {
            let error = error.unwrap();
            assert_eq!(error.kind(), ErrorKind::Io);
            assert!(error.to_string().starts_with(&scratch.path("frame").display().to_string()));
        }
        fs::remove_file(scratch.path("frame/a")).unwrap();
        fs::remove_dir(scratch.path("frame")).unwrap();
        assert_eq!(kind(folder.names()), ErrorKind::NotFound);
        assert_eq!(kind(folder.create("a")), ErrorKind::NotFound);
    }

    #[test]
    #[cfg(unix)]
    fn one_handle_locks_until_it_is_dropped() {
        let scratch = Scratch::new();
        let first = Folder::create(scratch.path("frame")).unwrap();
        let second = Folder::open(scratch.path("frame")).unwrap();
        first.lock().unwrap();
        assert_eq!(kind(second.lock()), ErrorKind::Locked);
        drop(first);
        second.lock().unwrap();
    }
}
