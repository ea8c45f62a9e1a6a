//! What every salvaged folder must be, whatever has happened to the one before it.

use std::collections::HashSet;

use superchunk::salvage::{ATTRIBUTE, SalvageReport};
use superchunk::verify;

use crate::scratch::Scratch;
use crate::trees::{Files, write_to};

/// The chunks that the attribute `salvaged` names, in a text in which its lines stand between
/// quotes: those of a column, or of the whole if `column` is empty.
#[must_use]
pub fn named_chunks(text: &str, column: &str) -> HashSet<usize> {
    let range = |line: &str| {
        let line = match column {
            "" => line,
            column => line.strip_prefix("column ")?.strip_prefix(column)?.strip_prefix(": ")?,
        };
        let (numbers, _) = line.strip_prefix("chunk")?.split_once(':')?;
        let numbers = numbers.trim_start_matches('s');
        let (first, last) = numbers.split_once(" to ").unwrap_or((numbers, numbers));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse().ok()?)
    };
    text.split(['"', '\'']).filter_map(range).flatten().collect()
}

/// Fails unless the files are whole in themselves, and their file of attributes lists what is lost
/// or uncertain if anything is.
///
/// # Panics
///
/// When that is so, with `told`.
#[track_caller]
#[expect(clippy::panic, reason = "a test fails by panicking")]
pub fn check_folder(files: &Files, attributes: &str, report: &SalvageReport, told: &str) {
    let scratch = Scratch::new();
    let path = scratch.path("saved");
    write_to(files, &path).unwrap_or_else(|error| panic!("{told}: {error}"));
    let verified = verify::path(&path, &verify::VerifyOptions::new());
    let verified = verified.unwrap_or_else(|error| panic!("{told}: {error}"));
    if let Some(finding) = verified.corrupt().next() {
        panic!("{told}: what was saved is damaged: {}", finding.words);
    }
    let text = files.get(attributes).map(|bytes| String::from_utf8_lossy(bytes));
    let is_listed = text.is_some_and(|text| text.contains(ATTRIBUTE));
    assert_eq!(is_listed, !report.uncertain().is_empty(), "{told}");
}
