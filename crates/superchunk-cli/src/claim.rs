//! What a command is going to replace: locked before its input is read, which may be the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use superchunk::store::Replacement;

use crate::failure::{Failure, Outcome};
use crate::interrupt::Listed;

/// What a command is going to replace, locked.
#[derive(Debug)]
pub(crate) struct Claim {
    target: PathBuf,
    pub(crate) replacement: Replacement,
    _listed: Listed,
}

impl Claim {
    /// Locks what is at `target`; `None` if there is nothing yet.
    pub(crate) fn of(target: &Path, wait: Duration) -> Outcome<Option<Self>> {
        match fs::metadata(target) {
            Ok(found) if found.is_file() || found.is_dir() => Self::begin(target, wait).map(Some),
            _ => Ok(None),
        }
    }

    /// Locks what is at `target`, or the name if there is nothing yet.
    pub(crate) fn begin(target: &Path, wait: Duration) -> Outcome<Self> {
        if target.file_name().is_none() {
            return Err(Failure::usage(format!("`{}` is not a file name", target.display())));
        }
        let replacement = Replacement::begin(target, wait)?;
        let listed = Listed::new(replacement.folder().to_owned());
        Ok(Self { target: target.to_owned(), replacement, _listed: listed })
    }

    /// Whether this is about the file or folder at `path`.
    pub(crate) fn is_of(&self, path: &Path) -> bool {
        match (fs::canonicalize(&self.target), fs::canonicalize(path)) {
            (Ok(target), Ok(path)) => target == path,
            _ => self.target == path,
        }
    }
}
