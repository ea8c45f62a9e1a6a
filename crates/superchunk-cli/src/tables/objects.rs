//! Columns of Python objects: a pickle for each row, which no scan reads. They are shown row by row.

use superchunk::table::Column;
use superchunk::{Error, ErrorKind, Value, bcolz};

use crate::failure::Outcome;
use crate::values::{Escape, csv_value};

/// The columns of Python objects that a table has.
pub(crate) struct Objects<'a>(Vec<(String, &'a bcolz::Array)>);

impl<'a> Objects<'a> {
    /// There are none.
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// Those among these columns that `find` says to be objects.
    pub(super) fn among(
        columns: &[Column],
        find: impl Fn(&str) -> Option<&'a bcolz::Array>,
    ) -> Self {
        let found = columns.iter().filter_map(|column| Some((&column.name, find(&column.name)?)));
        let objects = found.filter(|(_, array)| array.is_object());
        Self(objects.map(|(name, array)| (name.clone(), array)).collect())
    }

    /// Whether a column is one of them.
    pub(super) fn contain(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The object of a row, if the column holds objects.
    pub(super) fn get(&self, name: &str, row: u64) -> Option<Outcome<Object>> {
        self.find(name).map(|array| Object::read(array, row))
    }

    /// The pickle of a row of a column of objects; empty for other columns.
    pub(super) fn bytes(&self, name: &str, row: u64) -> Outcome<Vec<u8>> {
        Ok(self.find(name).map_or_else(|| Ok(Vec::new()), |array| array.object_bytes(row))?)
    }

    /// Why they cannot become what is to be made; `None` if there are none.
    pub(super) fn refusal(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|(name, _)| format!("`{name}`")).collect();
        let (column, hold) =
            if names.len() == 1 { ("column", "holds") } else { ("columns", "hold") };
        let words =
            format!("{column} {} {hold} Python objects, which only text has", names.join(", "));
        (!names.is_empty()).then_some(words)
    }

    fn find(&self, name: &str) -> Option<&'a bcolz::Array> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, array)| *array)
    }
}

/// What a pickle holds.
pub(super) enum Object {
    Plain(Value),
    /// More than plain values; it would have to be run. The bytes of the pickle.
    Other(Vec<u8>),
}

impl Object {
    fn read(array: &bcolz::Array, row: u64) -> Outcome<Self> {
        match array.object(row) {
            Ok(value) => Ok(Self::Plain(value)),
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                Ok(Self::Other(array.object_bytes(row)?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// As a cell of CSV before it is quoted, which bytes that are not text need an escape for.
    pub(super) fn to_csv(&self, escape: Escape) -> superchunk::Result<String> {
        match (self, escape) {
            (Self::Plain(value), _) => csv_value(value, escape),
            (Self::Other(pickle), Escape::Backslash) => {
                csv_value(&Value::Bin(pickle.clone()), escape)
            }
            (Self::Other(pickle), Escape::Never) => {
                Err(Error::unsupported(format!("a pickle of {} bytes is not text", pickle.len())))
            }
        }
    }

    /// As text for people: a text as it is, other values as JSON.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Plain(Value::Str(text)) => text.clone(),
            Self::Plain(value) => value.to_json(),
            Self::Other(pickle) => format!("<pickle of {} bytes>", pickle.len()),
        }
    }

    /// As JSON.
    pub(super) fn to_json(&self) -> String {
        match self {
            Self::Plain(value) => value.to_json(),
            Self::Other(_) => Value::from(self.to_text().as_str()).to_json(),
        }
    }
}
