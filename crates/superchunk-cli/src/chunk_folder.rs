//! The chunk files of a folder: which were there before a command, and which it has added.
//!
//! ```text
//! 0000002A.chunk        a sparse frame
//! __42.blp  .b2new.42   an array or a column of bcolz: beyond its length; to take the place of another
//! ```
//!
//! They are removed by name: when a signal ends the process, no folder can be opened any more.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The index of a sparse frame.
const INDEX: &str = "chunks.b2frame";
/// The search ends after this many numbers without a file: new files take the lowest free numbers.
const MOST_ABSENT: u32 = 64;
/// How deep folders are looked for: tables may stand in tables.
const MAX_DEPTH: usize = 20;

/// A folder with chunk files, as it was when a command began.
#[derive(Debug)]
pub(crate) struct ChunkFolder {
    path: PathBuf,
    /// The numbers of the files that were there.
    known: BTreeSet<u32>,
    /// When the index of a sparse frame was written, which others may do who do not wait.
    index: Option<SystemTime>,
}

impl ChunkFolder {
    /// Finds the folders with chunk files in a container.
    pub(crate) fn find(container: &Path, found: &mut Vec<Self>) {
        Self::find_below(container, MAX_DEPTH, found);
    }

    fn find_below(folder: &Path, depth: usize, found: &mut Vec<Self>) {
        let mut this = Self::empty(folder);
        let is_data = folder.file_name().is_some_and(|name| name == "data");
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if let Some(number) = name.to_str().and_then(number_of) {
                this.known.insert(number);
            } else if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                Self::find_below(&entry.path(), depth - 1, found);
            }
        }
        if is_data || this.index.is_some() {
            found.push(this);
        }
    }

    fn empty(folder: &Path) -> Self {
        let (path, known) = (folder.to_owned(), BTreeSet::new());
        Self { path, known, index: index_of(folder) }
    }

    /// Removes the chunk files that have come since.
    pub(crate) fn clear(&self) {
        // Somebody else has committed, and may have added files.
        if index_of(&self.path) != self.index {
            return;
        }
        match self.index {
            Some(_) => self.remove(|number| format!("{number:08X}.chunk"), &self.known),
            None => {
                self.remove(|number| format!("__{number}.blp"), &self.known);
                self.remove(|number| format!(".b2new.{number}"), &BTreeSet::new());
            }
        }
    }

    /// Removes the files of these names whose numbers are not known.
    fn remove(&self, name: impl Fn(u32) -> String, known: &BTreeSet<u32>) {
        let mut absent = 0;
        for number in (0..).filter(|number| !known.contains(number)) {
            let removed = fs::remove_file(self.path.join(name(number)));
            absent = if removed.is_ok() { 0 } else { absent + 1 };
            if absent > MOST_ABSENT {
                break;
            }
        }
    }
}

fn index_of(folder: &Path) -> Option<SystemTime> {
    folder.join(INDEX).metadata().and_then(|found| found.modified()).ok()
}

/// The number in the name of a chunk file.
fn number_of(name: &str) -> Option<u32> {
    if let Some(digits) = name.strip_suffix(".chunk") {
        return u32::from_str_radix(digits, 16).ok();
    }
    name.strip_prefix("__")?.strip_suffix(".blp")?.parse().ok()
}
