//! Opening what stands under a name without waiting for it, and refusing all but regular files.

use std::fs::{File, FileType, OpenOptions};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
#[cfg(windows)]
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

#[cfg(windows)]
use super::super::lock::in_use;
use crate::error::{Error, Result};

/// Whether a name may be a symbolic link to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Links {
    /// As for every path that a user names.
    Follow,
    /// Inside of a folder that may come from elsewhere, where a link could lead out of it.
    Refuse,
}

/// Opens a file and makes sure that it is a regular one; `verb` says what for.
pub(in crate::store) fn open_regular(
    path: &Path,
    options: &mut OpenOptions,
    links: Links,
    verb: &str,
) -> Result<File> {
    options.custom_flags(flags_of(links));
    check_opened(options.open(path), path, links, verb)
}

/// Makes sure that what was opened is a regular file; `verb` says what for.
pub(in crate::store) fn check_opened(
    opened: io::Result<File>,
    path: &Path,
    links: Links,
    verb: &str,
) -> Result<File> {
    let file = opened.map_err(|error| why_not_opened(path, links, verb, error))?;
    match file.metadata() {
        Ok(metadata) => check_regular(path, metadata.file_type()).map(|()| file),
        Err(error) => Err(Error::io("cannot look at it", error).within(named(path))),
    }
}

/// Refuses everything but regular files.
pub(in crate::store) fn check_regular(path: &Path, file_type: FileType) -> Result<()> {
    if file_type.is_file() {
        return Ok(());
    }
    let what = kind_of(file_type);
    Err(Error::invalid(format!("is {what}, not a regular file")).within(named(path)))
}

/// A path as it is named in errors.
pub(in crate::store) fn named(path: &Path) -> String {
    path.display().to_string()
}

/// A refusal of the system is about what stands under the name rather than about its number.
pub(in crate::store) fn why_not_opened(
    path: &Path,
    links: Links,
    verb: &str,
    error: io::Error,
) -> Error {
    #[cfg(windows)]
    if error.raw_os_error() == Some(windows::SHARING_VIOLATION) {
        return in_use(path);
    }
    let metadata = match links {
        Links::Follow => path.metadata(),
        Links::Refuse => path.symlink_metadata(),
    };
    let exists = error.kind() == io::ErrorKind::AlreadyExists;
    match metadata.map(|metadata| check_regular(path, metadata.file_type())) {
        Ok(Err(other_kind)) if !exists => other_kind,
        _ => Error::io(format!("cannot {verb}"), error).within(named(path)),
    }
}

/// What a name stands for, in words.
#[cfg(unix)]
pub(in crate::store) fn kind_of(file_type: FileType) -> &'static str {
    match file_type {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// What a name stands for, in words.
#[cfg(windows)]
pub(in crate::store) fn kind_of(file_type: FileType) -> &'static str {
    match file_type {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "something else",
    }
}

#[cfg(unix)]
fn flags_of(links: Links) -> i32 {
    use rustix::fs::OFlags;
    let never_wait = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = match links {
        Links::Follow => never_wait,
        Links::Refuse => never_wait | OFlags::NOFOLLOW,
    };
    flags.bits().cast_signed()
}

#[cfg(windows)]
pub(in crate::store) fn flags_of(links: Links) -> u32 {
    match links {
        Links::Follow => 0,
        Links::Refuse => windows::OPEN_REPARSE_POINT,
    }
}

/// Numbers of the Windows interface, by their names there.
#[cfg(windows)]
pub(in crate::store) mod windows {
    pub(in crate::store) const SHARE_READ: u32 = 1;
    pub(in crate::store) const SHARE_DELETE: u32 = 4;
    pub(super) const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    pub(super) const SHARING_VIOLATION: i32 = 32;
}
