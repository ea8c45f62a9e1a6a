//! What is there, opened for changes.

use std::path::Path;

use superchunk::bloscpack::Pack;
use superchunk::detect::{self, Format};
use superchunk::frame::create_lock_file;
use superchunk::{ErrorKind, OpenOptions, SuperChunk};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::foreign;
use crate::interrupt;

/// Whether a format is that of a table, or of an array in a folder that is one of one column.
pub(crate) fn is_of_tables(format: Format) -> bool {
    matches!(format, Format::BcolzTable | Format::BcolzArray | Format::Blsk | Format::Columns)
}

/// Opens a frame for changes. What a change makes beside it goes when it is interrupted.
pub(crate) fn edit_frame(path: &Path, context: &Context) -> Outcome<SuperChunk> {
    let detected = detect::path(path)?;
    if !matches!(detected.format, Format::Frame | Format::SparseFrame) {
        return Err(foreign::refuse(&path.display().to_string(), path, &detected, "a frame"));
    }
    if context.creates_lock_file() && path.exists() {
        create_lock_file(path)?;
    }
    let frame = SuperChunk::edit_with(path, &context.open_options())?;
    let file = if path.is_dir() { path.join("chunks.b2frame") } else { path.to_owned() };
    interrupt::edits(&file);
    Ok(frame)
}

/// The same for a Bloscpack file, opened with these options.
pub(crate) fn edit_pack(path: &Path, options: &OpenOptions) -> Outcome<Pack> {
    let pack = Pack::edit_with(path, options).map_err(|error| match error.kind() {
        ErrorKind::Unsupported => Failure::said(Exit::Unsupported, error.to_string())
            .with_help("`superchunk repack` brings old versions to version 3"),
        _ => error.into(),
    })?;
    interrupt::edits(path);
    Ok(pack)
}
