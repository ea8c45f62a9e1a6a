//! Tables as text, by the names of their files.

use std::path::Path;

/// How rows of text are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextForm {
    Csv,
    Jsonl,
}

impl TextForm {
    /// What the name of a file tells.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            _ => None,
        }
    }
}
