//! The commit of a `blsk` tree.
//!
//! ```text
//! copies of files that must be rewritten, longer files, new meta files beside the old ones │ sync │
//! the journal │ sync │ patches, renames │ sync │ the journal goes
//! ```
//!
//! The journal is the commit: a crash before it has its name leaves the old state; after it, the
//! next writer does the rest, and readers see through it. All space is taken before, so that a full
//! disk cannot stop what follows. `nrows` is replaced by every commit: by that readers see that
//! there was one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use super::journal::{self, Action, FileId, JOURNAL};
use super::root::{Root, copy_name, file_name};
use crate::error::{Error, ErrorKind, OrBug, Result};
use crate::store::{Dir, WriteAt, last_sync};

/// Why what an action changes is at hand.
const OPENED: &str = "what an action changes was opened before";

/// Whether the meta files of a journal are there already, under other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prepared {
    Yes,
    No,
}

impl Root {
    /// Makes all staged changes the state that everyone sees. When that cannot be completed after
    /// the journal has its name, the changes are in all the same: [`Root::unfinished`] reports it.
    pub(crate) fn finish(&self, rows: u64) -> Result<()> {
        self.check_writable()?;
        let mut actions = std::mem::take(&mut *self.staged()).actions;
        if actions.is_empty() {
            return Ok(());
        }
        actions.push(Action::Meta { name: "nrows", text: format!("{rows}\n") });
        // What goes is needed until the new number of rows stands.
        actions.sort_by_key(|action| matches!(action, Action::Remove(_)));
        if let Err(error) = self.write_journal(&actions) {
            self.poison();
            self.give_up(&actions);
            return Err(error);
        }
        let named = last_sync(self.sync_names(self.meta.as_ref()));
        named.inspect_err(|_| self.poison())?;
        if let Err(error) = self.apply(&actions, Prepared::Yes) {
            self.poison();
            *self.unfinished.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
        Ok(())
    }

    /// What the last commit could not complete.
    pub(crate) fn unfinished(&self) -> Option<String> {
        let unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        unfinished.as_ref().map(Error::to_string)
    }

    /// Takes all space that the changes need, then gives the journal its name.
    fn write_journal(&self, actions: &[Action]) -> Result<()> {
        let bytes = journal::write(actions)?;
        for action in actions {
            match action {
                Action::Patch { file, position, bytes } => self.lengthen(file, *position, bytes)?,
                Action::Meta { name, text } => self.write_aside(name, text.as_bytes())?,
                Action::Replace(_) | Action::Remove(_) => {}
            }
        }
        self.write_aside(JOURNAL, &bytes)?;
        self.publish(JOURNAL)
    }

    /// Writes what a patch adds to the end of a file, where nobody looks yet.
    fn lengthen(&self, file: &FileId, position: u64, bytes: &[u8]) -> Result<()> {
        let store = self.column_folder(&file.column)?.edit(&file_name(file.number))?;
        let known = usize::try_from(store.len()?.saturating_sub(position)).unwrap_or(usize::MAX);
        match bytes.get(known..) {
            Some(new) if !new.is_empty() => store.write_at(position + known as u64, new),
            _ => Ok(()),
        }
    }

    /// Removes what was written for a commit that did not come to be.
    fn give_up(&self, actions: &[Action]) {
        for action in actions {
            match action {
                Action::Meta { name, .. } => self.forget_aside(name),
                Action::Replace(file) => {
                    let folder = self.column_folder(&file.column);
                    let _ = folder.map(|folder| folder.remove(&copy_name(file.number)));
                }
                Action::Patch { .. } | Action::Remove(_) => {}
            }
        }
    }

    /// Does what a journal says, and removes it.
    pub(super) fn apply(&self, actions: &[Action], prepared: Prepared) -> Result<()> {
        let mut folders: BTreeMap<&str, Arc<dyn Dir>> = BTreeMap::new();
        let mut edited: BTreeMap<&FileId, Arc<dyn WriteAt>> = BTreeMap::new();
        let mut renamed: BTreeSet<&str> = BTreeSet::new();
        for action in actions {
            let file = match action {
                Action::Patch { file, .. } | Action::Replace(file) | Action::Remove(file) => file,
                Action::Meta { name, text } => {
                    // The chunks must be there before they count.
                    edited.values().try_for_each(|store| self.sync(store.as_ref()))?;
                    edited.clear();
                    self.sync_folders(&folders, &mut renamed)?;
                    if prepared == Prepared::No {
                        self.write_aside(name, text.as_bytes())?;
                    }
                    self.publish(name)?;
                    self.sync_names(self.meta.as_ref())?;
                    continue;
                }
            };
            if !folders.contains_key(file.column.as_str()) {
                folders.insert(&file.column, self.column_folder(&file.column)?);
            }
            let folder = folders.get(file.column.as_str()).or_bug(OPENED)?;
            let name = file_name(file.number);
            match action {
                Action::Patch { position, bytes, .. } => {
                    if !edited.contains_key(file) {
                        edited.insert(file, folder.edit(&name)?);
                    }
                    edited.get(file).or_bug(OPENED)?.write_at(*position, bytes)?;
                }
                Action::Remove(_) => absent_is_fine(folder.remove(&name))?,
                _ => {
                    absent_is_fine(folder.publish(&copy_name(file.number), &name))?;
                    renamed.insert(&file.column);
                }
            }
        }
        edited.values().try_for_each(|store| self.sync(store.as_ref()))?;
        self.sync_folders(&folders, &mut renamed)?;
        absent_is_fine(self.meta.remove(JOURNAL))?;
        // A journal that comes back would find the copies of a later commit.
        self.sync_names(self.meta.as_ref())
    }

    fn sync_folders(
        &self,
        folders: &BTreeMap<&str, Arc<dyn Dir>>,
        renamed: &mut BTreeSet<&str>,
    ) -> Result<()> {
        for column in std::mem::take(renamed) {
            self.sync_names(folders.get(column).or_bug(OPENED)?.as_ref())?;
        }
        Ok(())
    }
}

/// What an earlier attempt has done already need not be done again.
fn absent_is_fine(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
