//! Rows behind a table: all of them or none.

use std::ffi::OsString;
use std::path::Path;

use superchunk::detect::{self, Format};

use super::incoming::append_in_place;
use super::sink::Sink;
use super::widen::{Widened, append_to_copy};
use crate::context::Context;
use crate::failure::Outcome;

/// Appends CSV, JSON-lines or other tables to the table at `path`; `None` if it is something else.
/// Columns of text become as wide as they need if `widens`.
pub(crate) fn append(
    path: &Path,
    inputs: &[OsString],
    widens: bool,
    context: &Context,
) -> Outcome<Option<Widened>> {
    // Nothing makes one commit of those of several frames.
    let is_copied = || detect::path(path).is_ok_and(|found| found.format == Format::Columns);
    let appended = if widens || is_copied() {
        append_to_copy(path, inputs, widens, context)?
    } else {
        let Some(sink) = Sink::edit(path, context)? else { return Ok(None) };
        Widened { counts: append_in_place(sink, inputs, context)?, columns: Vec::new() }
    };
    Sink::warn_if_unfinished(path, context);
    Ok(Some(appended))
}
