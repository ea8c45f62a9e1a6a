//! New files and folders appear whole or not at all.
//!
//! They are made under a temporary name beside their final one, and renamed when they are complete.
//! What fails or is interrupted on the way leaves nothing behind, and leaves what was there before.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;

/// A file or folder in the making.
#[derive(Debug)]
pub(crate) struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
    force: bool,
}

impl Replacement {
    /// Prepares a new file or folder at `target`; only with `force` may there be one.
    pub(crate) fn new(target: &Path, force: bool) -> Outcome<Self> {
        check(target, force)?;
        // A link stays a link: what it points at is replaced.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let name = target.file_name().ok_or_else(|| {
            Failure::usage(format!("`{}` is no name for a file", target.display()))
        })?;
        let temporary =
            target.with_file_name(format!(".{}.{}", name.to_string_lossy(), unique()));
        interrupt::began(&temporary);
        Ok(Self { target, temporary, force })
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives it its final name.
    pub(crate) fn finish(self) -> Outcome {
        check(&self.target, self.force)?;
        if let Ok(old) = fs::metadata(&self.target)
            && old.is_file()
        {
            fs::set_permissions(&self.temporary, old.permissions())
                .map_err(|error| Failure::io("set its permissions", &self.temporary, error))?;
        }
        interrupt::finish(&self.temporary, || self.rename())
    }

    fn rename(&self) -> Outcome {
        let failed = |error| Failure::io("rename the finished file to its name", &self.target, error);
        if !self.target.is_dir() {
            return fs::rename(&self.temporary, &self.target).map_err(failed);
        }
        // A folder does not take the place of another one in one step.
        let old = self.target.with_extension(format!("old-{}", unique()));
        fs::rename(&self.target, &old).map_err(failed)?;
        if let Err(error) = fs::rename(&self.temporary, &self.target) {
            let _ = fs::rename(&old, &self.target);
            return Err(failed(error));
        }
        fs::remove_dir_all(&old).map_err(|error| Failure::io("remove the old folder", &old, error))
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // After `finish` there is nothing of that name.
        interrupt::discard(&self.temporary);
    }
}

/// A temporary file in the system's folder for them; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A path that nobody uses; nothing is made yet.
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(unique());
        interrupt::began(&path);
        Self(path)
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        interrupt::discard(&self.0);
    }
}

/// Refuses to overwrite without `force`.
fn check(target: &Path, force: bool) -> Outcome {
    if force || target.symlink_metadata().is_err() {
        return Ok(());
    }
    let message = format!("`{}` exists already", target.display());
    Err(Failure::said(Exit::Busy, message).with_help("overwrite it with -f, or choose another -o"))
}

/// A name that no other command uses at this moment.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("superchunk-{}-{count}.tmp", std::process::id())
}
