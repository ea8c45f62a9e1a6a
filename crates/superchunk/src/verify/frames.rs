//! Frames in one file or in a folder, and what they hold: arrays, objects, bytes.

use std::collections::BTreeSet;
use std::path::Path;

use super::report::{Level, Verdict};
use super::walk::Walk;
use crate::error::{Error, Result};
use crate::frame::{INDEX, chunk_id, chunk_name};
use crate::nd::NdArray;
use crate::objects::Objects;
use crate::schunk::SuperChunk;
use crate::store::{Dir, Folder};

/// Files of a sparse frame that are no chunks.
const KNOWN: [&str; 2] = [INDEX, ".b2lock"];

/// Looks at the frame of a file or folder.
pub(super) fn frame(walk: &mut Walk<'_>, path: &Path) -> Result<()> {
    let Some(frame) = open(walk, path)? else { return Ok(()) };
    let damaged = walk.frame(&frame);
    if walk.report.wants(Level::Files) {
        if path.is_dir() {
            files(walk, path, &frame)?;
        }
        contents(walk, frame, &damaged);
    }
    Ok(())
}

/// Opens a frame, if need be without believing its fingerprint.
pub(super) fn open(walk: &mut Walk<'_>, path: &Path) -> Result<Option<SuperChunk>> {
    let error = match SuperChunk::open_with(path, &walk.options.open) {
        Ok(frame) => {
            walk.report.count(Level::Structure, Verdict::Verified);
            return Ok(Some(frame));
        }
        Err(error) => error,
    };
    let is_fingerprint = error.place().is_some_and(|place| place.field == "fingerprint");
    match SuperChunk::open_with(path, &walk.options.open.clone().with_trust(true)) {
        Ok(frame) if is_fingerprint => {
            walk.report.count(Level::Structure, Verdict::Verified);
            walk.report.tell(Level::Checksums, Verdict::Corrupt, None, &error);
            Ok(Some(frame))
        }
        _ if super::is_damage(&error) => {
            walk.report.tell(Level::Structure, Verdict::Corrupt, None, &error);
            Ok(None)
        }
        _ => Err(error),
    }
}

/// Compares the files of a sparse frame with its index.
fn files(walk: &mut Walk<'_>, path: &Path, frame: &SuperChunk) -> Result<()> {
    let names = Folder::open(path)?.names()?;
    let found: BTreeSet<u64> = names.iter().filter_map(|name| chunk_id(name)).collect();
    let named: BTreeSet<u64> = frame.stored_slots().collect();
    for id in &named {
        match found.contains(id) {
            true => walk.report.count(Level::Files, Verdict::Verified),
            false => {
                let words = format!("the index names {}, which is not there", chunk_name(*id));
                walk.report.tell(Level::Files, Verdict::Corrupt, None, words);
            }
        }
    }
    for name in &names {
        let is_named = chunk_id(name).map(|id| named.contains(&id));
        if is_named == Some(false) || (is_named.is_none() && !KNOWN.contains(&name.as_str())) {
            let words = format!("the index does not name the file {name}");
            walk.report.tell(Level::Files, Verdict::Stray, None, words);
        }
    }
    Ok(())
}

/// Compares what a frame says that it holds with its chunks.
fn contents(walk: &mut Walk<'_>, frame: SuperChunk, damaged: &[u64]) {
    if ["b2nd", "caterva"].iter().any(|name| frame.metalayer(name).is_some()) {
        walk.report.result(Level::Files, NdArray::from_superchunk(frame));
    } else if Objects::are_in(&frame) {
        let Some(objects) = walk.report.result(Level::Files, Objects::from_superchunk(frame))
        else {
            return;
        };
        let total = objects.superchunk().chunk_count() as u64;
        for chunk in walk.options.sample.numbers(total) {
            if damaged.contains(&chunk) {
                continue;
            }
            let number = usize::try_from(chunk).unwrap_or(usize::MAX);
            match objects.count_chunk(number) {
                Ok(()) => walk.report.count(Level::Files, Verdict::Verified),
                Err(error) => {
                    let error: Error = objects.superchunk().told(number, error);
                    walk.report.tell(Level::Files, Verdict::Corrupt, Some(chunk), error);
                }
            }
        }
    }
}
