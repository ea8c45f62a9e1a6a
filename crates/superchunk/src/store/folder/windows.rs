//! A directory by its path, which is all that Windows has.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Access, Arrival, NameKind};
use crate::store::file::{Links, flags_of, writing};
use crate::store::identity::Identity;

/// A directory.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        match path.metadata()?.is_dir() {
            true => Ok(Self(path.to_owned())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn child(&self, name: &OsStr) -> Self {
        Self(self.0.join(name))
    }

    /// Directories cannot be locked.
    pub(super) fn held(&self) -> io::Result<Option<&File>> {
        Ok(None)
    }

    pub(super) fn if_held(&self) -> Option<&File> {
        None
    }

    pub(super) fn identity(&self) -> io::Result<Option<Identity>> {
        Ok(None)
    }

    /// A directory in which a file is open cannot be renamed there.
    pub(super) fn is_replaced(&self, _path: &Path) -> bool {
        false
    }

    pub(super) fn identity_of(&self, _name: &OsStr) -> io::Result<Option<Identity>> {
        Ok(None)
    }

    pub(super) fn open_file(&self, path: &Path, _name: &OsStr, access: Access) -> io::Result<File> {
        let mut options = match access {
            Access::Read => OpenOptions::new().read(true).clone(),
            Access::Edit => writing(),
            Access::Create | Access::CreatePrivate => writing().create_new(true).clone(),
        };
        options.custom_flags(flags_of(Links::Refuse)).open(path)
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn move_to(
        &self,
        from: &OsStr,
        other: &Self,
        to: &OsStr,
        how: Arrival,
    ) -> io::Result<bool> {
        let (from, to) = (self.0.join(from), other.0.join(to));
        match how {
            Arrival::New if to.symlink_metadata().is_ok() => {
                Err(io::ErrorKind::AlreadyExists.into())
            }
            Arrival::New | Arrival::Over => fs::rename(from, to).map(|()| false),
            Arrival::Exchange => {
                let aside = self.0.join("replaced.tmp");
                fs::rename(&to, &aside)?;
                if let Err(error) = fs::rename(&from, &to) {
                    fs::rename(&aside, &to)?;
                    return Err(error);
                }
                fs::rename(&aside, &from).map(|()| true)
            }
        }
    }

    /// Permissions come from the directory.
    pub(super) fn adopt(&self, _name: &OsStr, _other: &Self, _old: &OsStr) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn link(&self, name: &OsStr, other: &Self, old: &OsStr) -> io::Result<()> {
        fs::hard_link(other.0.join(old), self.0.join(name))
    }

    pub(super) fn create_private_folder(&self, name: &OsStr) -> io::Result<()> {
        self.create_folder(name)
    }

    pub(super) fn publish(&self, from: &OsStr, to: &OsStr, _model: Option<u32>) -> io::Result<()> {
        self.rename(from, to)
    }

    /// Names cannot be exchanged: what had the name is gone.
    pub(super) fn publish_over(
        &self,
        from: &OsStr,
        to: &OsStr,
        model: Option<u32>,
    ) -> io::Result<bool> {
        self.publish(from, to, model).map(|()| false)
    }

    pub(super) fn mode_of(&self, _name: &OsStr) -> io::Result<u32> {
        Ok(0)
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(super) fn create_folder_alike(&self, name: &OsStr) -> io::Result<()> {
        self.create_folder(name)
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir_all(self.0.join(name))
    }

    pub(super) fn kind(&self, name: &OsStr) -> io::Result<NameKind> {
        self.0.join(name).symlink_metadata().map(|found| kind_of(found.file_type()))
    }

    pub(super) fn entries(&self) -> io::Result<Vec<(String, NameKind)>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let kind = kind_of(entry.file_type()?);
            entries.extend(entry.file_name().into_string().map(|name| (name, kind)));
        }
        Ok(entries)
    }

    /// Directories cannot be synced.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn kind_of(file_type: FileType) -> NameKind {
    match file_type {
        kind if kind.is_file() => NameKind::File,
        kind if kind.is_dir() => NameKind::Folder,
        _ => NameKind::Other,
    }
}
