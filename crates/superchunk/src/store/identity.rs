//! Which file a handle or a name means, beyond its name, and whether it has changed.

use std::fmt;
#[cfg(any(unix, windows))]
use std::fs::File;
#[cfg(any(unix, windows))]
use std::io;
#[cfg(any(unix, windows))]
use std::time::SystemTime;

/// The file or folder that a handle or a name refers to. Two of them are equal if they refer to the
/// same one, as long as either exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: i128,
    number: i128,
}

impl Identity {
    /// The identity of an open file; `None` where the system does not report it.
    #[cfg(unix)]
    pub(super) fn of_file(file: &File) -> io::Result<Option<Self>> {
        Ok(Some(Self::of_stat(&rustix::fs::fstat(file)?)))
    }

    /// The identity of an open file; `None` where the system does not report it.
    #[cfg(windows)]
    pub(super) fn of_file(_file: &File) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// The identity that a system call reports.
    #[cfg(unix)]
    pub(super) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        // The types differ by system.
        Self { device: stat.st_dev.into(), number: stat.st_ino.into() }
    }
}

/// What changes with the content of a file: its length, and when it was last written.
#[cfg(any(unix, windows))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

#[cfg(any(unix, windows))]
impl Stamp {
    pub(super) fn of_file(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { len: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({}:{})", self.device, self.number)
    }
}
