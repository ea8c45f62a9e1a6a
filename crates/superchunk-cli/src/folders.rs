//! What is in a folder: files, and folders that are one thing, such as a table.

use std::fs;
use std::path::{Path, PathBuf};

use superchunk::detect;

use crate::failure::{Failure, Outcome};

/// Whether a path is a folder of files, and not a table, an array or a sparse frame.
pub(crate) fn is_plain(path: &Path) -> bool {
    path.is_dir() && detect::path(path).is_err()
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
