//! A new file or folder that takes its place in one step, and in the place of what was there.
//!
//! ```text
//! folder/NAME                                 locked from the start, so that no writer changes
//! what goes folder/.NAME.0123456789abcdef.tmp/NAME      the new one; only its owner may enter the
//! folder around it
//! ```
//!
//! The new one is locked, too, before it gets its name: a writer that waited for the old one finds
//! that its name means another file by now, opens that, and waits again. The old one is there until
//! the new one is: they exchange their names where the system can do that.
//!
//! C-Blosc2 takes no lock but that of its lock file, which may appear at any time. It is looked for
//! again before and after the exchange: an old one that was changed meanwhile gets its name back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::file::{FileWriter, kind_of, named};
use super::folder::{Arrival, Folder, NameKind};
use super::identity::Stamp;
use super::owner::Owner;
use super::sidecar::{Guard, Sidecar};
use super::temporary::create_private_folder;
use super::wait::patiently;
use super::{Dir, ReadAt, WriteAt};
use crate::error::{Error, ErrorKind, Result};

/// The file of a sparse frame that every commit replaces.
const INDEX: &str = "chunks.b2frame";
/// How many links a path may lead through.
const MAX_LINKS: usize = 40;

/// A new file or folder on its way to its name.
///
/// ```
/// use std::time::Duration;
/// use superchunk::store::Replacement;
///
/// # let folder = std::env::temp_dir().join(format!("superchunk-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let target = folder.join("numbers");
/// std::fs::write(&target, "old")?;
/// let new = Replacement::begin(&target, Duration::from_secs(10))?;
/// std::fs::write(new.path(), "new")?;
/// assert_eq!(std::fs::read_to_string(&target)?, "old");
/// new.finish()?;
/// assert_eq!(std::fs::read_to_string(&target)?, "new");
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// When it is dropped without [`finish`](Self::finish), what was made is removed and what was there
/// stays.
#[derive(Debug)]
pub struct Replacement {
    parent: Folder,
    name: String,
    /// The folder around the new one, and its name in `parent`.
    workshop: Folder,
    workshop_name: String,
    path: PathBuf,
    /// How long to wait for other writers.
    wait: Duration,
    old: Option<Old>,
    /// What the old one was when it was locked.
    stamp: Option<Stamp>,
    /// The lock file of C-Blosc2, where the old one has one.
    guard: Option<Guard>,
    /// A child process that drops its copy must leave the files alone.
    owner: Owner,
}

/// What is to be replaced, locked.
#[derive(Debug)]
enum Old {
    File(FileWriter),
    Folder(Folder),
    /// A file that may be replaced but not opened.
    Closed,
}

impl Old {
    /// What changes with its content; `None` of folders other than sparse frames.
    fn stamp(&self) -> Result<Option<Stamp>> {
        match self {
            Self::File(file) => file.stamp().map(Some),
            Self::Folder(folder) if folder.found(INDEX)? == Some(NameKind::File) => {
                folder.open_to_lock(INDEX)?.stamp().map(Some)
            }
            Self::Folder(_) | Self::Closed => Ok(None),
        }
    }
}

impl Replacement {
    /// Locks what is at `target`, after a wait of at most `wait` for other writers. A symbolic link
    /// is followed: what it leads to is replaced.
    ///
    /// # Errors
    ///
    /// `InvalidArgument` for what is neither a file nor a folder, such as a pipe, a socket or a
    /// device: these are never replaced.
    pub fn begin(target: impl AsRef<Path>, wait: Duration) -> Result<Self> {
        let target = resolve(target)?;
        let (parent, name) = Folder::claim_parent_of(&target, wait)?;
        let (old, guard) = claim(&parent, &name, &target, wait)?;
        let stamp = old.as_ref().map_or(Ok(None), Old::stamp)?;
        let (workshop_name, workshop) = create_private_folder(&parent, &name)?;
        workshop.lock()?;
        let path = workshop.path().join(&name);
        let owner = Owner::here();
        Ok(Self { parent, name, workshop, workshop_name, path, wait, old, stamp, guard, owner })
    }

    /// Where the new file or folder is to be made.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder around it, which goes when this is dropped.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.workshop.path()
    }

    /// Whether there is something that is to be replaced.
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.old.is_some()
    }

    /// Gives what is made C-Blosc2's lock file, and takes it until this is dropped.
    pub fn create_lock_file(&mut self) -> Result<()> {
        if self.guard.is_none() {
            let sidecar = match self.workshop.found(&self.name)? {
                Some(NameKind::Folder) => Sidecar::for_folder(&self.path),
                _ => Sidecar::for_file(&self.parent.join(&self.name)?),
            };
            self.guard = Some(sidecar.exclusive()?);
        }
        Ok(())
    }

    /// Gives the new one its name, in one step, and what was there its end. The new one must be on
    /// the disk by then. It gets the permissions of the old one.
    ///
    /// Returns an error of no consequence: that the old one could not be removed.
    ///
    /// # Errors
    ///
    /// `Changed` when another program has changed the old one meanwhile, which stays then.
    pub fn finish(mut self) -> Result<Option<Error>> {
        check_kind(&self.parent, &self.name, self.parent.found(&self.name)?)?;
        let made = self.workshop.found(&self.name)?;
        let _locked = self.lock_new(made)?;
        if self.old.is_some() {
            self.workshop.adopt(&self.name, &self.parent, &self.name)?;
        }
        let target = self.parent.join(&self.name)?;
        let path = self.path.clone();
        self.check_not_overtaken(&target, &target)?;
        self.keep_lock_file(&path)?;
        let how = match (&self.old, made) {
            (None, _) => Arrival::New,
            (Some(Old::File(_) | Old::Closed), Some(NameKind::File)) => Arrival::Over,
            _ => Arrival::Exchange,
        };
        if self.take_name(how)? {
            // Somebody may have opened the old one in between.
            let checked = self.check_not_overtaken(&target, &path);
            if let Err(error) = checked.and_then(|()| self.keep_lock_file(&target)) {
                self.take_name(how)?;
                return Err(error);
            }
        }
        self.parent.sync().map_err(Error::after_change)?;
        Ok(self.parent.remove_folder(&self.workshop_name).err())
    }

    /// Gives what is in the private folder the name. Returns whether what had it is in the private
    /// folder now.
    fn take_name(&self, how: Arrival) -> Result<bool> {
        let moved = self.workshop.move_to(&self.name, &self.parent, &self.name, how);
        moved.map_err(|error| match error.is_about_existing() {
            true => Error::locked("something of that name was made meanwhile; nothing was changed")
                .within(named(&self.parent.path().join(&self.name))),
            false => error,
        })
    }

    /// Takes a lock file that has appeared meanwhile, beside `target` or in the folder `old`, and
    /// makes sure that the old one is what it was when it was locked.
    fn check_not_overtaken(&mut self, target: &Path, old: &Path) -> Result<()> {
        let sidecar = match &self.old {
            None => return Ok(()),
            Some(Old::Folder(_)) => Sidecar::for_folder(old),
            Some(Old::File(_) | Old::Closed) => Sidecar::for_file(target),
        };
        if self.guard.is_none() {
            self.guard = take_lock_file(sidecar.if_existing(), self.wait)?;
        }
        if self.old.as_ref().map_or(Ok(None), Old::stamp)? == self.stamp {
            return Ok(());
        }
        let words = "another program has changed it meanwhile: nothing was replaced";
        Err(Error::new(ErrorKind::Changed, words).within(named(target)))
    }

    /// Locks the new file or folder, which nobody else can know yet.
    fn lock_new(&self, made: Option<NameKind>) -> Result<Option<Old>> {
        match made {
            Some(NameKind::Folder) => {
                Folder::claim(&self.path, Duration::ZERO).map(|folder| Some(Old::Folder(folder)))
            }
            Some(NameKind::File) => lock_file(&self.workshop, &self.name).map(Some),
            _ => Err(Error::not_found("nothing was made").within(named(&self.path))),
        }
    }

    /// The lock file in a sparse frame stays the same one, for peers that have it open: gives it to
    /// the new one, which is at `path`.
    fn keep_lock_file(&self, path: &Path) -> Result<()> {
        let Some(Old::Folder(old)) = &self.old else { return Ok(()) };
        if !path.is_dir() || old.found(Sidecar::IN_FOLDER)? != Some(NameKind::File) {
            return Ok(());
        }
        let new = Folder::open(path)?;
        if new.found(Sidecar::IN_FOLDER)?.is_some() {
            new.remove(Sidecar::IN_FOLDER)?;
        }
        new.link(Sidecar::IN_FOLDER, old, Sidecar::IN_FOLDER)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if self.owner.is_here() {
            // After the end there is none.
            let _ = self.parent.remove_folder(&self.workshop_name);
        }
        self.guard = None;
    }
}

/// The path of what a path leads to: links at its end are followed, also those that lead nowhere
/// yet.
pub fn resolve(path: impl AsRef<Path>) -> Result<PathBuf> {
    let given = path.as_ref();
    let mut path = given.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(leads_to) = fs::read_link(&path) else { return Ok(path) };
        let next = path.parent().unwrap_or(Path::new("")).join(leads_to);
        // What a descriptor shows as a link, such as `/dev/fd/3`, may have no name.
        if path.exists() && !next.exists() {
            return Ok(path);
        }
        path = next;
    }
    Err(Error::invalid("the symbolic link leads through too many others").within(named(given)))
}

/// Locks what is to be replaced, and its lock file if it has one.
fn claim(
    parent: &Folder,
    name: &str,
    target: &Path,
    wait: Duration,
) -> Result<(Option<Old>, Option<Guard>)> {
    loop {
        let found = parent.found(name)?;
        check_kind(parent, name, found)?;
        let old = match found {
            None | Some(NameKind::Other) => return Ok((None, None)),
            Some(NameKind::Folder) => Old::Folder(Folder::claim(target, wait)?),
            Some(NameKind::File) => match patiently(wait, || lock_file(parent, name)) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                locked => locked?,
            },
        };
        return Ok((Some(old), take_lock_file(Sidecar::existing(target), wait)?));
    }
}

fn take_lock_file(sidecar: Option<Sidecar>, wait: Duration) -> Result<Option<Guard>> {
    sidecar.map(|sidecar| patiently(wait, || sidecar.try_exclusive())).transpose()
}

/// Refuses what is neither a file nor a folder: a pipe or a device has no content to replace, and
/// programs that use it would lose it.
fn check_kind(parent: &Folder, name: &str, found: Option<NameKind>) -> Result<()> {
    if found != Some(NameKind::Other) {
        return Ok(());
    }
    let path = parent.path().join(name);
    let kind = path.symlink_metadata().map(|found| kind_of(found.file_type()));
    let kind = kind.unwrap_or("something else");
    let words = format!("is {kind}, which is never replaced: choose the name of a file");
    Err(Error::invalid(words).within(named(&path)))
}

/// Locks a file by its name, if it may be opened at all.
fn lock_file(dir: &Folder, name: &str) -> Result<Old> {
    loop {
        let Ok(file) = dir.open_to_lock(name) else { return Ok(Old::Closed) };
        file.lock()?;
        if dir.identity_of(name)? == file.identity()? {
            return Ok(Old::File(file));
        }
    }
}
