//! New files and folders appear whole or not at all.
//!
//! They are made under a temporary name beside their final one, and renamed when they are complete.
//! What fails or is interrupted on the way leaves nothing behind, and leaves what was there before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use superchunk::Error;

use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;

/// Makes a new file or folder at `target`: `make` gets the path to make it at. Only with `force` may
/// there be one already.
pub(crate) fn replace<T>(
    target: &Path,
    force: bool,
    make: impl FnOnce(&Path) -> Outcome<T>,
) -> Outcome<T> {
    check(target, force)?;
    // A link stays a link: what it points at is replaced.
    let real = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    if real.file_name().is_none() {
        return Err(Failure::usage(format!("`{}` is no name for a file", target.display())));
    }
    let temporary = Unfinished::new(real.with_file_name(format!(".{}", unique())));
    let made = make(&temporary.0).map_err(|failure| renamed(failure, &temporary.0, target))?;
    check(target, force)?;
    temporary.finish(&real)?;
    Ok(made)
}

/// A file or folder that is removed unless it is finished.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: PathBuf) -> Self {
        interrupt::began(&path);
        Self(path)
    }

    /// Gives it its final name.
    fn finish(self, target: &Path) -> Outcome {
        if let Ok(old) = fs::metadata(target)
            && old.is_file()
        {
            fs::set_permissions(&self.0, old.permissions())
                .map_err(|error| Failure::io("set its permissions", target, error))?;
        }
        interrupt::finish(&self.0, || rename(&self.0, target))?;
        // The name is to survive a power cut, too; where folders cannot be synced it does anyway.
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = fs::File::open(folder.unwrap_or(Path::new("."))).and_then(|file| file.sync_all());
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // What is finished has another name.
        interrupt::discard(&self.0);
    }
}

fn rename(from: &Path, target: &Path) -> Outcome {
    let failed = |error| Failure::io("rename the finished file to its name", target, error);
    if !target.is_dir() {
        return fs::rename(from, target).map_err(failed);
    }
    // A folder does not take the place of another one in one step.
    let old = target.with_file_name(format!(".{}", unique()));
    fs::rename(target, &old).map_err(failed)?;
    if let Err(error) = fs::rename(from, target) {
        let _ = fs::rename(&old, target);
        return Err(failed(error));
    }
    fs::remove_dir_all(&old).map_err(|error| Failure::io("remove the old folder", &old, error))
}

/// A temporary file in the system's folder for them; it goes when this is dropped.
pub(crate) struct Scratch(Unfinished);

impl Scratch {
    /// A path that nobody uses; nothing is made yet.
    pub(crate) fn new() -> Self {
        Self(Unfinished::new(std::env::temp_dir().join(unique())))
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.0.0
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

/// An error about the temporary name, told of the final one.
fn renamed(failure: Failure, temporary: &Path, target: &Path) -> Failure {
    let Failure::Library(error) = failure else { return failure };
    let names = [temporary, target].map(|path| path.display().to_string());
    let subject = error.subject().unwrap_or_default();
    let [from, to] = &names;
    if !subject.contains(from) {
        return Failure::Library(error);
    }
    let mut told =
        Error::new(error.kind(), error.message().to_owned()).within(subject.replace(from, to));
    if let Some(place) = error.place() {
        let offset = place.offset.and_then(|offset| usize::try_from(offset).ok());
        told = told.at(place.format, place.field, offset.unwrap_or(0));
    }
    let source =
        std::error::Error::source(&error).and_then(|source| source.downcast_ref::<io::Error>());
    match source {
        Some(source) => told.because(io::Error::from(source.kind())).into(),
        None => told.into(),
    }
}

/// A name that no other command uses at this moment.
fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("superchunk-{}-{count}.tmp", std::process::id())
}
