//! Where something is: detects it there, and opens it as one type.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use crate::bcolz;
#[cfg(feature = "bloscpack")]
use crate::bloscpack::Pack;
use crate::blsk;
#[cfg(any(unix, windows))]
use crate::columns::ColumnFolder;
use crate::detect::{self, Detected};
use crate::error::{Error, Result};
use crate::schunk::{OpenOptions, SuperChunk};
#[cfg(any(unix, windows))]
use crate::store::FileReader;
use crate::store::{Dir, ReadAt, Window};

/// What something is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Reading.
    Read,
    /// Reading and writing.
    Edit,
}

/// Where something is.
pub(super) enum Place<'p> {
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

/// Opens a type that is a folder.
macro_rules! open_folder {
    ($container:ty, $place:expr, $options:expr, $access:expr) => {
        match ($place, $access) {
            #[cfg(any(unix, windows))]
            (Place::Path(path), Access::Read) => <$container>::open_with(path, $options),
            #[cfg(any(unix, windows))]
            (Place::Path(path), Access::Edit) => <$container>::edit_with(path, $options),
            (Place::Folder(dir), Access::Read) => <$container>::open_in_dir(dir.clone(), $options),
            (Place::Folder(dir), Access::Edit) => <$container>::edit_in_dir(dir.clone(), $options),
            (Place::Store(_) | Place::File(..), _) => Err(not_a_folder()),
        }
    };
}

impl<'p> Place<'p> {
    /// The file or folder called `name` of a folder, or the folder itself if there is no name.
    pub(super) fn in_dir(dir: Arc<dyn Dir>, name: Option<&'p str>) -> Self {
        let Some(name) = name else { return Self::Folder(dir) };
        match dir.open_folder(name) {
            Ok(folder) => Self::Folder(folder),
            Err(_) => Self::File(dir, name),
        }
    }

    /// Tells what is there.
    pub(super) fn detect(&self, offset: u64) -> Result<Detected> {
        match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => detect::path_at(path, offset),
            Self::Folder(dir) => detect::dir(dir.as_ref()),
            Self::Store(_) | Self::File(..) => detect::store(self.store(offset)?.as_ref()),
        }
    }

    /// The bytes of a file from `offset` on.
    pub(super) fn store(&self, offset: u64) -> Result<Arc<dyn ReadAt>> {
        let store: Arc<dyn ReadAt> = match self {
            #[cfg(any(unix, windows))]
            Self::Path(path) => Arc::new(FileReader::open(path)?),
            Self::Store(store) => store.clone(),
            Self::File(dir, name) => dir.open(name)?,
            Self::Folder(_) => return Err(Error::invalid("a folder has no bytes of its own")),
        };
        Ok(match offset {
            0 => store,
            _ => Arc::new(Window::new(store, offset, None)),
        })
    }

    /// Names the place in an error that names none.
    pub(super) fn name(&self, error: Error) -> Error {
        match self {
            _ if error.subject().is_some() => error,
            #[cfg(any(unix, windows))]
            Self::Path(path) => error.within(path.display().to_string()),
            Self::File(_, name) => error.within(*name),
            Self::Store(_) | Self::Folder(_) => error,
        }
    }

    /// Refuses to change what is only read; `instead` says what to do.
    pub(super) fn only_read(&self, access: Access, instead: &str) -> Result<()> {
        match access {
            Access::Read => Ok(()),
            Access::Edit => {
                let words = format!("this is not changed in place: {instead}");
                Err(self.name(Error::unsupported(words)))
            }
        }
    }

    pub(super) fn super_chunk(&self, options: &OpenOptions, access: Access) -> Result<SuperChunk> {
        match (self, access) {
            #[cfg(any(unix, windows))]
            (Self::Path(path), Access::Read) => SuperChunk::open_with(path, options),
            #[cfg(any(unix, windows))]
            (Self::Path(path), Access::Edit) => SuperChunk::edit_with(path, options),
            (Self::Store(store), _) => SuperChunk::open_store(store.clone(), options),
            (Self::File(dir, name), Access::Read) => {
                SuperChunk::open_in_dir(dir.clone(), Some(name), options)
            }
            (Self::File(dir, name), Access::Edit) => {
                SuperChunk::edit_in_dir(dir.clone(), Some(name), options)
            }
            (Self::Folder(dir), Access::Read) => {
                SuperChunk::open_in_dir(dir.clone(), None, options)
            }
            (Self::Folder(dir), Access::Edit) => {
                SuperChunk::edit_in_dir(dir.clone(), None, options)
            }
        }
    }

    #[cfg(any(unix, windows))]
    pub(super) fn columns(&self, options: &OpenOptions, access: Access) -> Result<ColumnFolder> {
        let wait = options.wait.unwrap_or_default();
        match (self, access) {
            (Self::Path(path), Access::Read) => ColumnFolder::open(path, &options.limits),
            (Self::Path(path), Access::Edit) => ColumnFolder::edit(path, &options.limits, wait),
            _ => Err(Error::unsupported("a folder of columns is opened by its path")),
        }
    }

    #[cfg(feature = "bloscpack")]
    pub(super) fn pack(&self, options: &OpenOptions, access: Access) -> Result<Pack> {
        match (self, access) {
            #[cfg(any(unix, windows))]
            (Self::Path(path), Access::Read) => Pack::open_with(path, options),
            #[cfg(any(unix, windows))]
            (Self::Path(path), Access::Edit) => Pack::edit_with(path, options),
            (Self::Store(store), _) => Pack::open_store(store.clone(), options),
            (Self::File(dir, name), Access::Read) => Pack::open_in_dir(dir.clone(), name, options),
            (Self::File(dir, name), Access::Edit) => Pack::edit_in_dir(dir.clone(), name, options),
            (Self::Folder(_), _) => Err(Error::invalid("a Bloscpack file is not a folder")),
        }
    }

    pub(super) fn bcolz_array(
        &self,
        options: &OpenOptions,
        access: Access,
    ) -> Result<bcolz::Array> {
        open_folder!(bcolz::Array, self, options, access)
    }

    pub(super) fn bcolz_table(
        &self,
        options: &OpenOptions,
        access: Access,
    ) -> Result<bcolz::Table> {
        open_folder!(bcolz::Table, self, options, access)
    }

    pub(super) fn blsk_array(&self, options: &OpenOptions, access: Access) -> Result<blsk::Array> {
        open_folder!(blsk::Array, self, options, access)
    }

    pub(super) fn blsk_table(&self, options: &OpenOptions, access: Access) -> Result<blsk::Table> {
        open_folder!(blsk::Table, self, options, access)
    }
}

/// The error for a format of folders at a place that is a file.
fn not_a_folder() -> Error {
    Error::invalid("this format is a folder, not a file")
}
