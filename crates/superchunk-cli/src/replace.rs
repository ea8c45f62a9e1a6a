//! New files and folders appear whole or not at all.
//!
//! They are made in a private folder beside their final place ([`Replacement`]), and get their name
//! when they are complete. What they replace is locked from before the command reads its input,
//! which may be the very same file, until the new one has the name: no change of another writer is
//! lost. What fails or is interrupted on the way leaves nothing, and leaves what was there before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use superchunk::columns::ColumnFolder;
use superchunk::detect::{self, Format};
use superchunk::store::{Replacement, temporary_name};
use superchunk::{Error, ErrorKind};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;

/// What a command is going to replace, locked.
#[derive(Debug)]
pub(crate) struct Claim {
    target: PathBuf,
    replacement: Replacement,
    _listed: Listed,
}

/// An entry in the list of what goes when the command is interrupted.
#[derive(Debug)]
struct Listed(PathBuf);

impl Listed {
    fn new(path: PathBuf) -> Self {
        interrupt::began(&path);
        Self(path)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        // What is finished has another place.
        interrupt::discard(&self.0);
    }
}

impl Claim {
    /// Locks what is at `target`; `None` if there is nothing yet.
    pub(crate) fn of(target: &Path, context: &Context) -> Outcome<Option<Self>> {
        match fs::metadata(target) {
            Ok(found) if found.is_file() || found.is_dir() => {
                Self::begin(target, context).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn begin(target: &Path, context: &Context) -> Outcome<Self> {
        if target.file_name().is_none() {
            return Err(Failure::usage(format!("`{}` is not a file name", target.display())));
        }
        let replacement = Replacement::begin(target, context.wait())?;
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

/// Makes a new file or folder at `target`: `make` gets the path to make it at. Only with `force`
/// may there be one already; of folders only those that are empty or hold a container.
pub(crate) fn replace<T>(
    target: &Path,
    force: bool,
    context: &Context,
    make: impl FnOnce(&Path) -> Outcome<T>,
) -> Outcome<T> {
    check(target, force)?;
    let mut claim = match context.take_claim(target) {
        Some(claim) => claim,
        None => Claim::begin(target, context)?,
    };
    let temporary = claim.replacement.path().to_owned();
    let made = make(&temporary)
        .map_err(|failure| renamed(nothing_changed(failure), &temporary, target))?;
    context.check_readers(&temporary)?;
    check(target, force)?;
    if context.creates_lock_file() && is_frame(&temporary) {
        claim.replacement.create_lock_file()?;
    }
    interrupt::hold();
    let finished = claim.replacement.finish();
    let finished = finished.map_err(|error| renamed(error.into(), &temporary, target))?;
    if let Some(error) = finished {
        context.warn(&format!("the old one is replaced, but could not be removed: {error}"));
    }
    Ok(made)
}

/// Whether C-Blosc2 would use a lock file for it.
fn is_frame(path: &Path) -> bool {
    let detected = detect::path(path);
    detected.is_ok_and(|found| matches!(found.format, Format::Frame | Format::SparseFrame))
}

/// A place for temporary files that nobody else may look at; it goes when this is dropped.
pub(crate) struct Scratch {
    path: PathBuf,
    /// A file that has no name any more.
    _nameless: Option<fs::File>,
    _folder: Option<Listed>,
}

impl Scratch {
    /// A path that nobody else uses; nothing is there yet.
    pub(crate) fn new() -> Outcome<Self> {
        let folder = std::env::temp_dir().join(temporary_name("superchunk"));
        let listed = Listed::new(folder.clone());
        let path = folder.join("scratch");
        let made = create_private_folder(&folder);
        made.map_err(|error| Failure::io("make a temporary folder", &folder, error))?;
        Ok(Self { path, _nameless: None, _folder: Some(listed) })
    }

    /// All of a stream, in a file that loses its name at once where the system allows that.
    pub(crate) fn of_stream(stream: &mut dyn io::Read) -> Outcome<Self> {
        let mut this = Self::new()?;
        let path = this.path.clone();
        let failed = |error| Failure::io("keep the input in a temporary file", &path, error);
        let mut file = fs::File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(failed)?;
        #[cfg(unix)]
        {
            let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
            this._folder = None;
            this.path = PathBuf::from(format!("/dev/fd/{descriptor}"));
        }
        io::copy(stream, &mut file).map_err(failed)?;
        this._nameless = Some(file);
        Ok(this)
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes a folder that only its owner may enter.
fn create_private_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(path);
    #[cfg(windows)]
    return fs::create_dir(path);
}

/// Refuses to overwrite without `force`, and with it to overwrite a folder of unknown content.
fn check(target: &Path, force: bool) -> Outcome {
    let name = target.display();
    let (message, help) = if target.symlink_metadata().is_err() {
        return Ok(());
    } else if !force {
        (format!("`{name}` exists already"), "overwrite it with -f, or choose another -o")
    } else if !target.is_dir() || is_replaceable(target) {
        // Pipes, sockets and devices are refused when they are to be locked.
        return Ok(());
    } else {
        let message = format!("`{name}` is a folder with other files than those of a container");
        (message, "it is not replaced: choose another output, or move these files elsewhere first")
    };
    Err(Failure::said(Exit::Busy, message).with_help(help))
}

/// Whether a folder is empty or a container.
fn is_replaceable(folder: &Path) -> bool {
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    match detect::path(folder) {
        // Any files may be beside the columns.
        Ok(found) if found.format == Format::Columns => {
            let columns = ColumnFolder::open(folder);
            columns.and_then(|columns| columns.strays()).is_ok_and(|strays| strays.is_empty())
        }
        Ok(_) => true,
        Err(_) => is_empty(),
    }
}

/// A sync that fails while the new one is made leaves the old one in its place.
fn nothing_changed(failure: Failure) -> Failure {
    let Failure::Library(error) = failure else { return failure };
    if error.kind() != ErrorKind::DurabilityUnknown {
        return Failure::Library(error);
    }
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<Error>());
    let words = cause.unwrap_or(&error).message().to_owned();
    let subject = error.subject().unwrap_or_default().to_owned();
    Error::new(ErrorKind::Io, words).within(subject).into()
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
