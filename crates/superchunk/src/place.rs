//! Where a container is, and what it is opened for: what all ways of opening and making one have in
//! common.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::detect::{self, Detected, Format};
use crate::error::{Error, Result};
use crate::store::{Dir, ReadAt, Window};
#[cfg(any(unix, windows))]
use crate::store::{FileReader, Folder};

/// What a container is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading.
    Read,
    /// Any change, by one writer.
    Edit,
    /// Overwriting some rows, while others overwrite others.
    Share,
}

/// Where a container is.
pub(crate) enum Place<'p> {
    /// A file or folder.
    #[cfg(any(unix, windows))]
    Path(&'p Path),
    /// Bytes of any kind, which are only read.
    Store(Arc<dyn ReadAt>),
    /// A file of any folder.
    File(Arc<dyn Dir>, &'p str),
    /// Any folder.
    Folder(Arc<dyn Dir>),
}

impl<'p> Place<'p> {
    /// The file called `name` of a folder, or the folder itself if there is no name.
    pub(crate) fn in_dir(dir: Arc<dyn Dir>, name: Option<&'p str>) -> Self {
        match name {
            Some(name) => Self::File(dir, name),
            None => Self::Folder(dir),
        }
    }

    /// A folder of that name is a place like any other.
    pub(crate) fn entered(self) -> Self {
        match self {
            Self::File(dir, name) => match dir.open_folder(name) {
                Ok(folder) => Self::Folder(folder),
                Err(_) => Self::File(dir, name),
            },
            other => other,
        }
    }

    /// Tells what is there.
    pub(crate) fn detect(&self, offset: u64) -> Result<Detected> {
        match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => detect::path_at(path, offset),
            Self::Folder(dir) => detect::dir(dir.as_ref()),
            Self::File(dir, name) => match dir.open_folder(name) {
                Ok(folder) => detect::dir(folder.as_ref()),
                Err(_) => detect::store(self.store(offset)?.as_ref()),
            },
            Self::Store(_) => detect::store(self.store(offset)?.as_ref()),
        }
    }

    /// The bytes of a file from `offset` on.
    pub(crate) fn store(&self, offset: u64) -> Result<Arc<dyn ReadAt>> {
        let store: Arc<dyn ReadAt> = match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => Arc::new(FileReader::open(path)?),
            Self::Store(store) => store.clone(),
            Self::File(dir, name) => dir.open(name)?,
            Self::Folder(_) => return Err(Error::invalid("this format is a file, not a folder")),
        };
        Ok(match offset {
            0 => store,
            _ => Arc::new(Window::new(store, offset, None)),
        })
    }

    /// The folder that is there, claimed from those who would disturb; `wait` is how long to wait
    /// for them.
    #[cfg_attr(not(any(unix, windows)), expect(unused_variables, reason = "there are no paths"))]
    pub(crate) fn folder(&self, access: Access, wait: Option<Duration>) -> Result<Arc<dyn Dir>> {
        match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => {
                let wait = wait.unwrap_or_default();
                Ok(Arc::new(match access {
                    Access::Read => Folder::open(path)?,
                    Access::Edit => Folder::claim(path, wait)?,
                    Access::Share => Folder::claim_shared(path, wait)?,
                }))
            }
            Self::Folder(dir) => Ok(dir.clone()),
            Self::Store(_) | Self::File(..) => {
                Err(Error::invalid("this format is a folder, not a file"))
            }
        }
    }

    /// The new folder that a container is made in, where nothing may be yet.
    pub(crate) fn new_folder(&self) -> Result<Arc<dyn Dir>> {
        match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => Ok(Arc::new(Folder::create(path)?)),
            _ => self.folder(Access::Edit, None),
        }
    }

    /// Fills such a folder; if that fails, there is none at a path.
    pub(crate) fn filled<T>(&self, fill: impl FnOnce(Arc<dyn Dir>) -> Result<T>) -> Result<T> {
        match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => Folder::filled(path, |dir| fill(dir)),
            _ => fill(self.new_folder()?),
        }
    }

    /// What a container is called in errors: by its path or name, or as `nameless`.
    pub(crate) fn told(&self, nameless: &str) -> String {
        match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => path.display().to_string(),
            Self::File(_, name) => (*name).to_owned(),
            Self::Store(_) | Self::Folder(_) => nameless.to_owned(),
        }
    }

    /// Names the place in an error that names none.
    pub(crate) fn name(&self, error: Error) -> Error {
        match self.told("") {
            _ if error.subject().is_some() => error,
            name if name.is_empty() => error,
            name => error.within(name),
        }
    }

    /// Says what is there if that is of none of these formats.
    pub(crate) fn explained(&self, error: Error, formats: &[Format], offset: u64) -> Error {
        detect::explained(error, formats, || self.detect(offset))
    }

    /// Refuses to change what is only read; `instead` says what to do.
    pub(crate) fn only_read(&self, access: Access, instead: &str) -> Result<()> {
        match access {
            Access::Read => Ok(()),
            Access::Edit | Access::Share => {
                let words = format!("this is not changed in place: {instead}");
                Err(self.name(Error::unsupported(words)))
            }
        }
    }
}
