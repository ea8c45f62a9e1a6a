//! What is in a folder: files, and folders that are one thing, such as a table.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use superchunk::detect::{self, Detected};
use superchunk::store::{Dir, Folder};

use crate::failure::{Exit, Failure, Outcome};

/// Whether a path is a folder of files, and not a table, an array or a sparse frame.
pub(crate) fn is_plain(path: &Path) -> bool {
    path.is_dir() && detect::path(path).is_err()
}

/// What a path is; a folder of files is refused as such.
pub(crate) fn detect(path: &Path) -> Outcome<Detected> {
    detect::path(path).map_err(|error| match is_plain(path) {
        true => {
            let why = error.message().trim_start_matches("this folder ");
            let words = format!("the folder `{}` {why}", path.display());
            Failure::said(Exit::Unsupported, words).with_help(format!(
                "`superchunk ls {0}` and `superchunk verify -r {0}` look at what is in it",
                path.display()
            ))
        }
        false => error.into(),
    })
}

/// The files of a folder, and the folders that are one thing, in order; with those of all folders
/// in it if `is_deep`. What begins with a dot is passed over.
pub(crate) fn entries(folder: &Path, is_deep: bool) -> Outcome<Vec<PathBuf>> {
    let failed = |error| Failure::io("list it", folder, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default();
        if !name.as_encoded_bytes().starts_with(b".") {
            paths.push(path.strip_prefix(".").unwrap_or(&path).to_owned());
        }
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        // A link to a folder may lead back to where it is.
        match is_plain(&path) {
            true if is_deep && !path.is_symlink() => found.extend(entries(&path, is_deep)?),
            true => {}
            false => found.push(path),
        }
    }
    Ok(found)
}

/// Makes a copy of a folder and all files and folders in it, but for those that `is_left_out` names.
/// Links are passed over. The copy is on the disk in the end.
pub(crate) fn copy(from: &Path, to: &Path, is_left_out: &dyn Fn(&Path) -> bool) -> Outcome {
    let failed = |error| Failure::io("copy it", from, error);
    fs::create_dir(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(failed)?;
        if is_left_out(&path) {
            continue;
        } else if kind.is_dir() {
            copy(&path, &target, is_left_out)?;
        } else if kind.is_file() {
            copy_file(&path, &target).map_err(|error| Failure::io("copy it", &path, error))?;
        }
    }
    let permissions = fs::metadata(from).map_err(failed)?.permissions();
    fs::set_permissions(to, permissions).map_err(failed)?;
    Ok(Folder::open(to)?.sync()?)
}

/// Makes a copy of a file, or of a folder with all in it.
pub(crate) fn copy_any(from: &Path, to: &Path) -> Outcome {
    match from.is_dir() {
        true => copy(from, to, &|_| false),
        false => copy_file(from, to).map_err(|error| Failure::io("copy it", from, error)),
    }
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let (mut old, mut new) = (File::open(from)?, File::create_new(to)?);
    io::copy(&mut old, &mut new)?;
    new.set_permissions(old.metadata()?.permissions())?;
    new.sync_all()
}
