//! New files and folders appear whole or not at all.
//!
//! They are made in a private folder beside their final place ([`Claim`]), and get their name
//! when they are complete. What they replace is locked from before the command reads its input,
//! which may be the very same file, until the new one has the name: no change of another writer is
//! lost. What fails or is interrupted on the way leaves nothing, and leaves what was there before.

use std::fs;
use std::io;
use std::path::Path;

use superchunk::columns::ColumnFolder;
use superchunk::detect::Format;
use superchunk::{Error, ErrorKind};

use crate::claim::Claim;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::opened::Found;

/// Makes a new file or folder at `target`: `make` gets the path to make it at. Only with `force`
/// may there be one already; of folders only those that are empty or hold a container.
pub(crate) fn replace<T>(
    target: &Path,
    force: bool,
    context: &Context,
    make: impl FnOnce(&Path) -> Outcome<T>,
) -> Outcome<T> {
    check(target, force, context)?;
    let mut claim = match context.take_claim(target) {
        Some(claim) => claim,
        None => Claim::begin(target, context.wait())?,
    };
    let temporary = claim.replacement.path().to_owned();
    let made = make(&temporary)
        .map_err(|failure| renamed(nothing_changed(failure), &temporary, target))?;
    context.check_readers(&temporary)?;
    check(target, force, context)?;
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
    Found::at_path(path).is_ok_and(|found| found.is_frame())
}

/// Refuses to overwrite without `force`, and with it to overwrite a folder of unknown content.
fn check(target: &Path, force: bool, context: &Context) -> Outcome {
    let name = target.display();
    let (message, help) = if target.symlink_metadata().is_err() {
        return Ok(());
    } else if !force {
        (format!("`{name}` exists already"), "overwrite it with -f, or choose another -o")
    } else if !target.is_dir() || is_replaceable(target, context)? {
        // Pipes, sockets and devices are refused when they are to be locked.
        return Ok(());
    } else {
        let message = format!("`{name}` is a folder with other files than those of a container");
        (message, "it is not replaced: choose another output, or move these files elsewhere first")
    };
    Err(Failure::said(Exit::Busy, message).with_help(help))
}

/// Whether a folder is empty or a container.
fn is_replaceable(folder: &Path, context: &Context) -> Outcome<bool> {
    let is_empty = || fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    match Found::at_path(folder) {
        // Any files may be beside the columns.
        Ok(found) if found.format() == Format::Columns => {
            let columns = ColumnFolder::open_with(folder, &context.open_options());
            match columns.and_then(|columns| columns.strays()) {
                // What is beside them is not known.
                Err(error) if error.kind() == ErrorKind::LimitExceeded => Err(error.into()),
                strays => Ok(strays.is_ok_and(|strays| strays.is_empty())),
            }
        }
        Ok(_) => Ok(true),
        Err(_) => Ok(is_empty()),
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
