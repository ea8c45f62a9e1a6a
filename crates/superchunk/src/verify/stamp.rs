//! Whether a container was changed while it was looked at: what seems to be damage then may be the
//! middle of a commit.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::Path;

/// Content counts up to this length: the headers and small files that commits write.
const CONTENT: u64 = 4096;

/// A number that changes with the names, lengths and times of the files at a path, and with the
/// content of small ones.
pub(super) fn stamp(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    add(path, true, &mut hasher);
    hasher.finish()
}

fn add(path: &Path, is_outermost: bool, hasher: &mut DefaultHasher) {
    // What cannot be looked at is not there, which counts, too.
    let Ok(found) = path.metadata() else { return };
    path.hash(hasher);
    (found.len(), found.modified().ok()).hash(hasher);
    if found.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort_unstable();
        paths.iter().for_each(|path| add(path, false, hasher));
    } else if found.is_file() && (is_outermost || found.len() <= CONTENT) {
        let mut start = Vec::new();
        let read = fs::File::open(path).and_then(|file| file.take(CONTENT).read_to_end(&mut start));
        (read.is_ok(), start).hash(hasher);
    }
}
