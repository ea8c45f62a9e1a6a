//! After a writer was killed: what it began is completed, and what it left is removed.
//!
//! No container needs this: opening one for writing completes a begun commit, too, and leftovers
//! are ignored. It is for people who want to see the folder as it was, or whose other programs know
//! nothing of the journals of tables.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bcolz;
#[cfg(feature = "bloscpack")]
use crate::bloscpack::Pack;
use crate::columns::ColumnFolder;
use crate::detect::{self, Format};
use crate::error::{Error, ErrorKind, Result};
use crate::schunk::{OpenOptions, SuperChunk};
use crate::store::{Dir, Folder, is_temporary, is_temporary_of, resolve};

/// What was done.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Whether a commit was completed that a writer had begun.
    pub completed: bool,
    /// The files and folders that were removed.
    pub removed: Vec<PathBuf>,
}

/// Completes and tidies up the container at `path`, whatever its format, and removes what commands
/// have left beside it that were killed while they made it. What a process still works on is not
/// touched.
///
/// ```no_run
/// use superchunk::{OpenOptions, recover};
///
/// let done = recover::path("quotes.bcolz", &OpenOptions::new())?;
/// println!("{} leftovers removed", done.removed.len());
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// # Errors
///
/// `Locked` when a writer is at work, and whatever opening the container for writing can fail with.
pub fn path(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Recovered> {
    let path = resolve(path)?;
    let (parent, name) = Folder::parent_of(&path)?;
    let mut recovered = Recovered::default();
    let exists = path.symlink_metadata().is_ok();
    if exists {
        container(&path, options, &mut recovered)?;
    }
    beside(&parent, &name, &mut recovered)?;
    if !exists && recovered.removed.is_empty() {
        let words = "there is nothing of that name, and nothing that was to become it";
        return Err(Error::not_found(words).within(path.display().to_string()));
    }
    Ok(recovered)
}

/// Completes a container by opening it for writing, and removes what is left in its folder.
fn container(path: &Path, options: &OpenOptions, recovered: &mut Recovered) -> Result<()> {
    let wait = options.wait.unwrap_or_default();
    let format = match detect::path(path) {
        // Nothing is ever begun in what is of no known format.
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
        detected => detected?.format,
    };
    match format {
        Format::Frame => SuperChunk::edit_with(path, options)?.close(),
        Format::SparseFrame => {
            let mut frame = SuperChunk::edit_with(path, options)?;
            let removed = frame.remove_leftovers()?;
            recovered.removed.extend(removed.into_iter().map(|name| path.join(name)));
            frame.close()
        }
        #[cfg(feature = "bloscpack")]
        Format::Bloscpack => match Pack::edit_with(path, options) {
            Ok(pack) => pack.close(),
            // Old versions are only read, and nothing is ever begun in them.
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(()),
            Err(error) => Err(error),
        },
        Format::BcolzTable => {
            recovered.completed = path.join(".b2commit").exists();
            let table = bcolz::Table::edit_with(path, options)?;
            for (column, array) in table.arrays() {
                add_removed(recovered, &path.join(column), array.remove_leftovers()?);
            }
            table.close()?;
            folder(path, wait, recovered)
        }
        Format::BcolzArray => {
            let array = bcolz::Array::edit_with(path, options)?;
            add_removed(recovered, path, array.remove_leftovers()?);
            array.close()?;
            folder(path, wait, recovered)
        }
        Format::Blsk => {
            recovered.completed = path.join("meta/.b2journal").exists();
            options.edit(path)?.close()?;
            folder(path, wait, recovered)
        }
        Format::Columns => {
            let root = ColumnFolder::edit_with(path, options)?;
            let places = root.names().iter().map(|name| root.place(name));
            let places = places.chain([path.join(ColumnFolder::LIST)]);
            let places: Vec<PathBuf> = places.filter(|place| place.exists()).collect();
            // Each is locked by itself.
            drop(root);
            for place in places {
                recovered.removed.extend(self::path(place, options)?.removed);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Notes the chunk files that were removed of a column.
fn add_removed(recovered: &mut Recovered, column: &Path, names: Vec<String>) {
    recovered.removed.extend(names.into_iter().map(|name| column.join("data").join(name)));
}

/// Removes what writers leave in the folders of bcolz and of a `blsk` tree, while other writers are
/// kept out.
fn folder(path: &Path, wait: Duration, recovered: &mut Recovered) -> Result<()> {
    let root = Folder::claim(path, wait)?;
    tidy(&root, path, recovered)
}

fn tidy(dir: &dyn Dir, path: &Path, recovered: &mut Recovered) -> Result<()> {
    for name in dir.names()?.into_iter().filter(|name| is_leftover(name)) {
        dir.remove(&name)?;
        recovered.removed.push(path.join(name));
    }
    for name in dir.folder_names()? {
        tidy(dir.open_folder(&name)?.as_ref(), &path.join(&name), recovered)?;
    }
    Ok(())
}

/// Whether only a writer that was stopped leaves a file of that name.
fn is_leftover(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('.') else { return false };
    let is_aside = rest.ends_with(".b2new") || rest.ends_with(".new");
    is_aside || rest.starts_with("b2new.") || rest == "b2spill" || is_temporary(name)
}

/// Removes what was to become `name` and has lost its maker, who held a lock of it.
fn beside(parent: &Folder, name: &str, recovered: &mut Recovered) -> Result<()> {
    for found in parent.names()?.into_iter().filter(|found| is_temporary_of(found, name)) {
        let file = parent.edit(&found)?;
        if is_free(file.lock())? {
            parent.remove(&found)?;
            recovered.removed.push(parent.path().join(found));
        }
    }
    for found in parent.folder_names()?.into_iter().filter(|found| is_temporary_of(found, name)) {
        let path = parent.path().join(&found);
        // It goes before its lock does.
        let folder = Folder::open(&path)?;
        if is_free(folder.lock())? {
            parent.remove_folder(&found)?;
            recovered.removed.push(path);
        }
    }
    Ok(())
}

/// Whether a lock was taken; `false` if somebody else has it.
fn is_free(locked: Result<()>) -> Result<bool> {
    match locked {
        Err(error) if error.kind() == ErrorKind::Locked => Ok(false),
        locked => locked.map(|()| true),
    }
}
