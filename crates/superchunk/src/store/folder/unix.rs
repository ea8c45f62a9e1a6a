//! A directory by its descriptor: what is done in it cannot be led elsewhere by a link that
//! somebody puts in its path meanwhile.
//!
//! Only the outermost directory is held open, and those that are locked: a table may have thousands
//! of folders. The others are reached from there, one component after the other, links refused.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{Access, Arrival, NameKind};
use crate::store::identity::Identity;
use crate::store::permissions;
use crate::store::temporary::temporary_name;

/// A directory.
#[derive(Debug)]
pub(super) struct Directory {
    base: Arc<File>,
    /// The names of the directories from `base` to this one.
    below: Vec<OsString>,
    /// This directory, once it was locked.
    held: OnceLock<File>,
}

impl Directory {
    /// Opens a directory, and nothing else: a FIFO is refused without waiting for its other end.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let open = || fs::open(path, DIRECTORY | OFlags::NONBLOCK, Mode::empty());
        let opened = retry_on_intr(open)?;
        Ok(Self { base: Arc::new(opened.into()), below: Vec::new(), held: OnceLock::new() })
    }

    /// A directory in this one, which is looked for when it is used.
    pub(super) fn child(&self, name: &OsStr) -> Self {
        let below = self.below.iter().cloned().chain([name.to_owned()]).collect();
        Self { base: self.base.clone(), below, held: OnceLock::new() }
    }

    /// The directory, held open from now on.
    pub(super) fn held(&self) -> io::Result<Option<&File>> {
        if self.below.is_empty() {
            return Ok(Some(&self.base));
        }
        if self.held.get().is_none() {
            let opened = self.reach()?;
            self.held.get_or_init(|| opened.into());
        }
        Ok(self.held.get())
    }

    /// The directory, if it is held open.
    pub(super) fn if_held(&self) -> Option<&File> {
        if self.below.is_empty() { Some(&self.base) } else { self.held.get() }
    }

    pub(super) fn identity(&self) -> io::Result<Option<Identity>> {
        self.with(|dir| fs::fstat(dir)).map(|stat| Some(Identity::of_stat(&stat)))
    }

    /// Whether another directory has taken the place of the outermost one, which `path` leads
    /// through.
    pub(super) fn is_replaced(&self, path: &Path) -> bool {
        let outermost = path.ancestors().nth(self.below.len()).map(fs::stat);
        match (outermost, fs::fstat(&self.base)) {
            (Some(Ok(now)), Ok(known)) => Identity::of_stat(&now) != Identity::of_stat(&known),
            _ => false,
        }
    }

    pub(super) fn identity_of(&self, name: &OsStr) -> io::Result<Option<Identity>> {
        self.stat(name).map(|stat| Some(Identity::of_stat(&stat)))
    }

    pub(super) fn open_file(&self, _path: &Path, name: &OsStr, access: Access) -> io::Result<File> {
        let never_wait = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (flags, mode) = match access {
            Access::Read => (OFlags::RDONLY, Mode::empty()),
            Access::Edit => (OFlags::RDWR, Mode::empty()),
            Access::Create => (CREATE, Mode::from_bits_truncate(0o666)),
            Access::CreatePrivate => (CREATE, Mode::from_bits_truncate(0o600)),
        };
        self.with(|dir| fs::openat(dir, name, flags | never_wait, mode)).map(File::from)
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.with(|dir| fs::renameat(dir, from, dir, to))
    }

    /// Moves a file or folder to another directory. Returns whether what was there has the old
    /// name now.
    pub(super) fn move_to(
        &self,
        from: &OsStr,
        other: &Self,
        to: &OsStr,
        how: Arrival,
    ) -> io::Result<bool> {
        self.with(|dir| other.with(|target| arrive(dir, from, target, to, how)).map_err(errno))
    }

    /// Gives the file or folder `name` the permissions of `old` in another directory; what is in a
    /// folder may be read by nobody who could not read all that was in the old one.
    pub(super) fn adopt(&self, name: &OsStr, other: &Self, old: &OsStr) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let new = self.with(|dir| fs::openat(dir, name, flags, Mode::empty()))?;
        let stat = other.stat(old)?;
        let opened = other.with(|dir| fs::openat(dir, old, flags, Mode::empty())).ok();
        permissions::copy_to_any_kind(&stat, opened.as_ref(), &new)
    }

    /// Makes `name` a second name of the file `old` in another directory.
    pub(super) fn link(&self, name: &OsStr, other: &Self, old: &OsStr) -> io::Result<()> {
        self.with(|dir| {
            other.with(|target| fs::linkat(target, old, dir, name, AtFlags::empty())).map_err(errno)
        })
    }

    /// Makes a directory that only its owner may use.
    pub(super) fn create_private_folder(&self, name: &OsStr) -> io::Result<()> {
        self.with(|dir| fs::mkdirat(dir, name, Mode::from_bits_truncate(0o700)))
    }

    /// Gives a file the permissions of the file `to`, or of a new one, and then its name.
    pub(super) fn publish(&self, from: &OsStr, to: &OsStr, model: Option<u32>) -> io::Result<()> {
        self.prepare(from, to, model)?;
        self.rename(from, to)
    }

    /// The same, but keeps what had the name. Returns whether that has the name `from` now.
    pub(super) fn publish_over(
        &self,
        from: &OsStr,
        to: &OsStr,
        model: Option<u32>,
    ) -> io::Result<bool> {
        self.prepare(from, to, model)?;
        self.move_to(from, self, to, Arrival::Over)
    }

    /// Gives a file the permissions of the file `to`, or of a new one.
    fn prepare(&self, from: &OsStr, to: &OsStr, model: Option<u32>) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let open = |name: &OsStr| self.with(|dir| fs::openat(dir, name, flags, Mode::empty()));
        let new = open(from)?;
        match self.stat(to) {
            Ok(old) if FileType::from_raw_mode(old.st_mode) == FileType::RegularFile => {
                permissions::copy(&old, open(to).ok().as_ref(), &new)?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mode = model.map_or_else(|| self.mode_of_new_file(to), Ok)?;
                permissions::set_mode(&new, mode)?;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The permissions that the system gives to a new file here, by making one: the mask of the
    /// process cannot be read without changing it, and the directory may have rules of its own.
    fn mode_of_new_file(&self, name: &OsStr) -> io::Result<u32> {
        let probe = OsString::from(temporary_name(&name.to_string_lossy()));
        let file = self.open_file(Path::new(&probe), &probe, Access::Create)?;
        let mode = fs::fstat(&file).map(|stat| permissions::mode_of(&stat));
        self.remove_file(&probe)?;
        Ok(mode?)
    }

    pub(super) fn mode_of(&self, name: &OsStr) -> io::Result<u32> {
        self.stat(name).map(|stat| permissions::mode_of(&stat))
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.with(|dir| fs::unlinkat(dir, name, AtFlags::empty()))
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        self.with(|dir| fs::mkdirat(dir, name, Mode::from_bits_truncate(0o777)))
    }

    /// Makes a directory with the permissions of this one.
    pub(super) fn create_folder_alike(&self, name: &OsStr) -> io::Result<()> {
        self.with(|dir| fs::mkdirat(dir, name, Mode::from_bits_truncate(0o700)))?;
        self.with(|dir| {
            let mode = fs::fstat(dir)?.st_mode;
            let made = fs::openat(dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
            fs::fchmod(&made, Mode::from_bits_truncate(mode & 0o7777))
        })
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.with(|dir| remove_tree(dir, name))
    }

    pub(super) fn kind(&self, name: &OsStr) -> io::Result<NameKind> {
        self.stat(name).map(|stat| kind_of(FileType::from_raw_mode(stat.st_mode)))
    }

    /// All names that are text, with what they stand for.
    pub(super) fn entries(&self) -> io::Result<Vec<(String, NameKind)>> {
        let mut entries = Vec::new();
        for entry in self.with(|dir| Dir::read_from(dir))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => match self.kind(OsStr::new(name)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    kind => kind?,
                },
                known => kind_of(known),
            };
            if name != "." && name != ".." {
                entries.push((name.to_owned(), kind));
            }
        }
        Ok(entries)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.with(|dir| fs::fsync(dir))
    }

    /// Syncs all that was written to the file system of this directory.
    #[cfg(target_os = "linux")]
    pub(super) fn sync_file_system(&self) -> io::Result<()> {
        self.with(|dir| fs::syncfs(dir))
    }

    fn stat(&self, name: &OsStr) -> io::Result<fs::Stat> {
        self.with(|dir| fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
    }

    /// Calls `act` with the descriptor of this directory.
    fn with<T>(&self, mut act: impl FnMut(BorrowedFd<'_>) -> Result<T, Errno>) -> io::Result<T> {
        let done = match self.if_held() {
            Some(held) => retry_on_intr(|| act(held.as_fd())),
            None => {
                let reached = self.reach()?;
                retry_on_intr(|| act(reached.as_fd()))
            }
        };
        Ok(done?)
    }

    fn reach(&self) -> io::Result<OwnedFd> {
        let mut reached = self.base.as_fd().try_clone_to_owned()?;
        for name in &self.below {
            let open = || {
                fs::openat(&reached, name.as_os_str(), DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
            };
            reached = retry_on_intr(open)
                .map_err(|error| if error == Errno::LOOP { Errno::NOTDIR } else { error })?;
        }
        Ok(reached)
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

/// Renames, in one step where the system has that. Returns whether what was there has the old name
/// now.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn arrive(
    dir: BorrowedFd<'_>,
    from: &OsStr,
    target: BorrowedFd<'_>,
    to: &OsStr,
    how: Arrival,
) -> Result<bool, Errno> {
    use rustix::fs::RenameFlags;
    let flags = match how {
        Arrival::New => RenameFlags::NOREPLACE,
        Arrival::Over | Arrival::Exchange => RenameFlags::EXCHANGE,
    };
    match (fs::renameat_with(dir, from, target, to, flags), how) {
        (Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP), _)
        | (Err(Errno::NOENT), Arrival::Over) => arrive_in_steps(dir, from, target, to, how),
        (done, _) => done.map(|()| how != Arrival::New),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
use arrive_in_steps as arrive;

/// Renames where the system, or its file system, neither exchanges names nor refuses taken ones.
fn arrive_in_steps(
    dir: BorrowedFd<'_>,
    from: &OsStr,
    target: BorrowedFd<'_>,
    to: &OsStr,
    how: Arrival,
) -> Result<bool, Errno> {
    match how {
        Arrival::New if fs::statat(target, to, AtFlags::SYMLINK_NOFOLLOW).is_ok() => {
            Err(Errno::EXIST)
        }
        Arrival::New | Arrival::Over => fs::renameat(dir, from, target, to).map(|()| false),
        Arrival::Exchange => {
            let aside = temporary_name(&to.to_string_lossy());
            fs::renameat(target, to, dir, aside.as_str())?;
            if let Err(error) = fs::renameat(dir, from, target, to) {
                fs::renameat(dir, aside.as_str(), target, to)?;
                return Err(error);
            }
            fs::renameat(dir, aside.as_str(), dir, from).map(|()| true)
        }
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const CREATE: OFlags = OFlags::RDWR.union(OFlags::CREATE).union(OFlags::EXCL);

/// Removes a directory with all that is in it; links in it are removed, not followed.
fn remove_tree(parent: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    let folder = fs::openat(parent, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    // Names that go while they are listed may make the list leave out others: it is made anew until
    // it is empty.
    loop {
        let mut removed = false;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            removed = true;
            match retry_on_intr(|| fs::unlinkat(&folder, name, AtFlags::empty())) {
                Err(Errno::ISDIR | Errno::PERM) => {
                    remove_tree(folder.as_fd(), OsStr::from_bytes(name.to_bytes()))?;
                }
                Err(Errno::NOENT) => {}
                done => done?,
            }
        }
        if !removed {
            return fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
    }
}

fn kind_of(file_type: FileType) -> NameKind {
    match file_type {
        FileType::RegularFile => NameKind::File,
        FileType::Directory => NameKind::Folder,
        _ => NameKind::Other,
    }
}
