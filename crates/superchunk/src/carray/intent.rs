//! `.b2commit`: what a table is about to become.
//!
//! The columns of a table get their new `sizes` one after the other. This file says, while they do,
//! how long each was and will be; their chunks are all there by then. Whoever opens the table and
//! finds it takes the new lengths for all columns, and a writer completes them. bcolz never sees it.
//!
//! ```text
//! {"version": 1, "columns": [["open", 60, 85], ["close", 60, 85]]}
//!                              column, old rows, new rows
//! {"version": 1, "columns": [], "rename": ["bid", "buy"]}
//! ```
//!
//! A column that gets another name is a second case: folder and list of names change one after the
//! other.

use super::sizes::{line, object};
use crate::error::{Error, Result};
use crate::wire::json::Json;

/// A change of the lengths of several columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Intent {
    /// The path of each column below the table, its old and its new rows.
    pub(crate) columns: Vec<(String, u64, u64)>,
    /// The old and the new name of a column.
    pub(crate) rename: Option<(String, String)>,
}

impl Intent {
    pub(crate) const FILE: &str = ".b2commit";

    pub(crate) fn parse(text: &str) -> Result<Self> {
        let json = object(text, Self::FILE)?;
        let version = json.get("version").and_then(Json::as_u64);
        if version != Some(1) {
            return Err(Error::unsupported(
                "the version of this file is not 1: a newer library made it",
            )
            .at("bcolz", Self::FILE, 0));
        }
        let columns = json.get("columns").and_then(Json::as_array).unwrap_or_default();
        let columns = columns.iter().map(|column| match column.as_array() {
            Some([name, old, new]) => {
                Some((name.as_str()?.to_owned(), old.as_u64()?, new.as_u64()?))
            }
            _ => None,
        });
        let columns = columns.collect::<Option<_>>().ok_or_else(|| {
            Error::corrupt("a column is not its name and two lengths").at("bcolz", Self::FILE, 0)
        })?;
        let rename = match json.get("rename").and_then(Json::as_array) {
            Some([Json::Str(old), Json::Str(new)]) => Some((old.clone(), new.clone())),
            _ => None,
        };
        Ok(Self { columns, rename })
    }

    pub(crate) fn write(&self) -> String {
        let columns = self.columns.iter().map(|(name, old, new)| {
            Json::Array(vec![name.as_str().into(), (*old).into(), (*new).into()])
        });
        let mut entries = vec![
            ("version".to_owned(), 1u64.into()),
            ("columns".to_owned(), Json::Array(columns.collect())),
        ];
        if let Some((old, new)) = &self.rename {
            let names = vec![old.as_str().into(), new.as_str().into()];
            entries.push(("rename".to_owned(), Json::Array(names)));
        }
        line(&Json::Object(entries))
    }

    /// The length that a column of `rows` rows is to have.
    ///
    /// `None` when it was neither the old nor the new one: another program has gone on from there,
    /// and the intent means nothing any more.
    pub(crate) fn rows_of(&self, column: &str, rows: u64) -> Option<u64> {
        let (_, old, new) = self.columns.iter().find(|(name, ..)| name == column)?;
        (rows == *old || rows == *new).then_some(*new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_intent_is_read_as_it_was_written() {
        let columns = vec![("open".to_owned(), 60, 85), ("pos/x".to_owned(), 60, 85)];
        let mut intent = Intent { columns, rename: None };
        assert_eq!(Intent::parse(&intent.write()).unwrap(), intent);
        intent.rename = Some(("a".to_owned(), "b".to_owned()));
        assert_eq!(Intent::parse(&intent.write()).unwrap(), intent);
        assert_eq!(intent.rows_of("open", 60), Some(85));
        assert_eq!(intent.rows_of("open", 85), Some(85));
        assert_eq!(intent.rows_of("open", 61), None);
        assert_eq!(intent.rows_of("close", 60), None);
    }

    #[test]
    fn other_texts_are_no_intents() {
        for text in ["", "{}", "{\"version\": 2}", "{\"version\": 1, \"columns\": [[\"a\", 1]]}"] {
            assert!(Intent::parse(text).is_err(), "{text}");
        }
    }
}
