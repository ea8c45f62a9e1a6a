//! Who may read and write what takes the place of a file or folder: the same people as before, and
//! never more of them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{self, Dir, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::{Errno, retry_on_intr};

/// The bits of the mode that are the group's.
const GROUP: u32 = 0o070;

/// The permission bits of what a system call reports.
pub(super) fn mode_of(stat: &Stat) -> u32 {
    // The type differs by system.
    u32::try_from(u64::from(stat.st_mode) & 0o7777).unwrap_or(0o600)
}

/// Changes the permission bits of an open file or folder.
pub(super) fn set_mode(file: impl AsFd, mode: u32) -> io::Result<()> {
    Ok(retry_on_intr(|| fs::fchmod(&file, Mode::from_raw_mode(raw(mode))))?)
}

/// Gives `new` the mode of `old`, and its owner, group and access list as far as the caller may.
/// `opened` is the old file itself, if it could be opened: its list can be read only then.
pub(super) fn copy(old: &Stat, opened: Option<&OwnedFd>, new: &OwnedFd) -> io::Result<()> {
    let mut mode = mode_of(old);
    let now = fs::fstat(new)?;
    if (old.st_uid, old.st_gid) != (now.st_uid, now.st_gid) {
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        if retry_on_intr(|| fs::fchown(new, Some(owner), Some(group))).is_err() {
            mode &= 0o777;
            // What the old group might do is not what another one may.
            if old.st_gid != now.st_gid && fs::fchown(new, None, Some(group)).is_err() {
                mode &= !GROUP;
            }
        }
    }
    // Where there is a list, the bits of the group are the most that the list may grant.
    if !access_list::copy(opened, new) {
        mode &= !GROUP;
    }
    set_mode(new, mode)
}

/// The same for a file or folder that takes the place of either; what is in a new folder may be
/// read by nobody who could not read all that was in the old one.
pub(super) fn copy_to_any_kind(
    old: &Stat,
    opened: Option<&OwnedFd>,
    new: &OwnedFd,
) -> io::Result<()> {
    let is_folder = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let (was_folder, becomes_folder) = (is_folder(old), is_folder(&fs::fstat(new)?));
    copy(old, opened, new)?;
    match (was_folder, becomes_folder) {
        (true, true) => {
            let mut widest = Widest { files: 0o7777, folders: 0o7777 };
            if let Some(opened) = opened {
                walk(opened.as_fd(), &mut |entry, is_folder| widest.meet(entry, is_folder))?;
            }
            Ok(walk(new.as_fd(), &mut |entry, is_folder| widest.apply(entry, is_folder))?)
        }
        // Who may read a folder may also enter it.
        (false, true) => set_mode(new, mode_of(old) | ((mode_of(old) & 0o444) >> 2)),
        (true, false) => set_mode(new, mode_of(old) & 0o666),
        (false, false) => Ok(()),
    }
}

/// The permissions that all files and all folders of a tree have.
struct Widest {
    files: u32,
    folders: u32,
}

impl Widest {
    fn meet(&mut self, entry: &OwnedFd, is_folder: bool) -> Result<(), Errno> {
        let mode = mode_of(&fs::fstat(entry)?);
        let widest = if is_folder { &mut self.folders } else { &mut self.files };
        *widest &= mode;
        Ok(())
    }

    fn apply(&self, entry: &OwnedFd, is_folder: bool) -> Result<(), Errno> {
        let widest = if is_folder { self.folders } else { self.files };
        let mode = mode_of(&fs::fstat(entry)?);
        match mode & widest {
            narrower if narrower == mode => Ok(()),
            narrower => retry_on_intr(|| fs::fchmod(entry, Mode::from_raw_mode(raw(narrower)))),
        }
    }
}

/// Calls `each` for every file and folder below a folder that can be opened.
fn walk(
    folder: BorrowedFd<'_>,
    each: &mut dyn FnMut(&OwnedFd, bool) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        let Ok(opened) = fs::openat(folder, entry.file_name(), flags, Mode::empty()) else {
            continue;
        };
        match FileType::from_raw_mode(fs::fstat(&opened)?.st_mode) {
            FileType::Directory => {
                each(&opened, true)?;
                walk(opened.as_fd(), each)?;
            }
            FileType::RegularFile => each(&opened, false)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(any(target_os = "macos", target_os = "ios"))]
fn raw(mode: u32) -> u16 {
    u16::try_from(mode).unwrap_or(0o600)
}

#[cfg(not(any(target_os = "macos", target_os = "ios")))]
fn raw(mode: u32) -> u32 {
    mode
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod access_list {
    use std::os::fd::OwnedFd;

    use rustix::fs::{self, XattrFlags};
    use rustix::io::{Errno, retry_on_intr};

    /// The lists of who may use a file or folder, and of who may use what is made in a folder.
    const LISTS: [&str; 2] = ["system.posix_acl_access", "system.posix_acl_default"];
    /// The longest list that Linux has.
    const LONGEST: usize = 1 << 16;

    /// Gives `new` the lists of `old`, which may be none; returns whether that could be done.
    pub(super) fn copy(old: Option<&OwnedFd>, new: &OwnedFd) -> bool {
        LISTS.into_iter().all(|list| {
            let mut bytes = vec![0; LONGEST];
            let found = match old {
                Some(old) => fs::fgetxattr(old, list, bytes.as_mut_slice()),
                None => Err(Errno::ACCESS),
            };
            let done = match found {
                Ok(len) => {
                    bytes.truncate(len);
                    retry_on_intr(|| fs::fsetxattr(new, list, &bytes, XattrFlags::empty()))
                }
                Err(Errno::NODATA | Errno::NOTSUP) => {
                    without_list(retry_on_intr(|| fs::fremovexattr(new, list)))
                }
                Err(error) => {
                    without_list(retry_on_intr(|| fs::fremovexattr(new, list))).and(Err(error))
                }
            };
            done.is_ok()
        })
    }

    fn without_list(removed: Result<(), Errno>) -> Result<(), Errno> {
        match removed {
            Err(Errno::NODATA | Errno::NOTSUP | Errno::INVAL) => Ok(()),
            done => done,
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod access_list {
    use std::os::fd::OwnedFd;

    /// Lists are not copied: no list means that only the mode counts.
    pub(super) fn copy(_old: Option<&OwnedFd>, _new: &OwnedFd) -> bool {
        true
    }
}
