//! Folders with an array in a frame for each column of a table.

use std::path::Path;

use super::columns::check_found;
use super::frames;
use super::report::{Level, Verdict};
use super::walk::Walk;
use crate::columns::ColumnFolder;
use crate::error::{ErrorKind, Result};
use crate::nd::NdArray;
use crate::schunk::SuperChunk;

/// Looks at the arrays of all columns, and whether they fit together.
pub(super) fn folder(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    let folder = match ColumnFolder::open_with(path, &walk.options.open) {
        Ok(folder) => {
            walk.report.count(Level::Structure, Verdict::Verified);
            folder
        }
        Err(error) if super::is_damage(&error) => {
            walk.report.tell(Level::Structure, Verdict::Corrupt, None, error);
            ColumnFolder::without_list(path)?
        }
        Err(error) => return Err(error),
    };
    let wanted = folder.names().iter().filter(|name| walk.options.wants_column(name));
    let wanted: Vec<&String> = wanted.collect();
    check_found(walk, wanted.is_empty(), path)?;
    let mut frames = Vec::new();
    for name in wanted {
        match frames::open(walk, &folder.place(name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                walk.report.tell(Level::Files, Verdict::Corrupt, None, error);
            }
            frame => frames.extend(frame?.map(|frame| (name, frame))),
        }
    }
    for (_, frame) in &frames {
        walk.expect(frame.byte_len(), frame.chunk_count() as u64);
    }
    columns(walk, frames);
    if walk.report.wants(Level::Files) {
        for stray in folder.strays()? {
            let words = format!("no column is called like the file {}", stray.display());
            walk.report.tell(Level::Files, Verdict::Stray, None, words);
        }
    }
    Ok(())
}

/// Looks at the frames of columns, and compares their rows.
fn columns(walk: &mut Walk<'_>, frames: Vec<(&String, SuperChunk)>) {
    let mut first: Option<(&String, u64)> = None;
    let mut checksums = None;
    for (name, frame) in frames {
        walk.expected_frame(&frame);
        // What vouches for some of the columns only does not vouch for the table.
        let own = walk.report.checksums;
        checksums = Some(if checksums.is_none_or(|all| all == own) { own } else { "unverified" });
        if !walk.report.wants(Level::Files) {
            continue;
        }
        let array = NdArray::from_superchunk(frame)
            .map_err(|error| error.within(format!("column `{name}`")));
        let Some(array) = walk.report.result(Level::Files, array) else { continue };
        let rows = array.shape().first().map_or(0, |rows| *rows);
        let (known, count) = *first.get_or_insert((name, rows));
        if rows != count {
            let words = format!("column `{name}` has {rows} rows, `{known}` has {count}");
            walk.report.tell(Level::Files, Verdict::Corrupt, None, words);
        }
    }
    walk.report.checksums = checksums.unwrap_or(walk.report.checksums);
}
