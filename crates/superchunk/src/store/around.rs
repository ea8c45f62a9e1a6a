//! The tables that a file or folder is a column of.
//!
//! ```text
//! quotes/__rootdirs__     position/__rootdirs__     position/x     a bcolz table, a table in it, a column
//! quotes/columns.json     eu/close.b2nd                            a folder of columns, a column in a group
//! ```
//!
//! A writer of a whole table locks its folder and none of its columns, which may be thousands. So a
//! writer of one column locks the table, too: not against the writers of other columns, but against
//! that of the table, which would overwrite or replace the column.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::folder::Folder;
use crate::error::{ErrorKind, Result};

/// How many folders up a table is looked for.
const MAX_DEPTH: usize = 16;

/// The file that makes a folder a table of bcolz.
const BCOLZ_LIST: &str = "__rootdirs__";
/// The file that makes a folder one of columns, and how the names of its columns end.
const COLUMNS_LIST: &str = "columns.json";
const COLUMN_EXTENSION: &str = "b2nd";

/// Locks the tables around `path`, shared with the writers of other columns, after a wait of at most
/// `wait` for a writer of the table.
pub(super) fn lock_tables(path: &Path, wait: Duration) -> Result<Vec<Folder>> {
    let mut locked = Vec::new();
    // Outer tables first: everybody locks in the same order.
    for table in tables(path).into_iter().rev() {
        match Folder::claim_shared_alone(&table, wait) {
            Ok(folder) => locked.push(folder),
            Err(error) if error.kind() == ErrorKind::Locked => return Err(error),
            // A folder that may be entered but not read.
            Err(_) => {}
        }
    }
    Ok(locked)
}

/// The folders of the tables around `path`, inner ones first.
fn tables(path: &Path) -> Vec<PathBuf> {
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let Ok(parent) = fs::canonicalize(parent.unwrap_or(Path::new("."))) else { return Vec::new() };
    let has = |folder: &Path, list: &str| folder.join(list).is_file();
    let folders = || parent.ancestors().take(MAX_DEPTH);
    let of_bcolz = folders().take_while(|folder| has(folder, BCOLZ_LIST));
    let is_column = path.extension().is_some_and(|extension| extension == COLUMN_EXTENSION);
    let of_columns = folders().find(|folder| is_column && has(folder, COLUMNS_LIST));
    of_bcolz.chain(of_columns).map(Path::to_owned).collect()
}
