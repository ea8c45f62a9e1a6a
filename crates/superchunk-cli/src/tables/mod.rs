//! Tables and columns in folders: bcolz, blsk and folders of columns, opened as rows, whichever
//! format keeps them.

mod append;
mod array;
mod batch;
mod compare;
mod convert;
mod csv_reader;
mod files;
mod frames;
mod infer;
mod info;
mod names;
mod npy;
mod objects;
mod print;
mod records;
mod rewrite;
mod sample;
mod sink;
mod text_width;
mod totals;
mod unpack;
mod view;
mod widen;

pub(crate) use append::append;
pub(crate) use compare::{TableDifference, compare};
pub(crate) use convert::{Made, Request, convert, refuse_dtype};
pub(crate) use info::{data_len, describe, document, summary_line};
pub(crate) use print::{TableForm, Wanted, show};
pub(crate) use sink::Sink;
pub(crate) use totals::{Totals, show_totals};
pub(crate) use unpack::{Unpacked, unpack};
pub(crate) use view::ColumnView;
pub(crate) use widen::{Widened, append_to_copy};

use std::path::{Path, PathBuf};

use superchunk::table::{Column, Scan, Source};
use superchunk::{Error, Json, Opened, Value, bcolz, blsk};

use crate::attributes::{self, value_of};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::location::Location;
use crate::opened::{Found, Held, changed};
use crate::sizes::stored_of_path;
use crate::span::Span;
use array::ArraySource;
use files::FileSource;
use objects::Objects;

/// A table, or an array as a table of one column.
pub(crate) struct Rows {
    /// How to call it.
    pub(crate) name: String,
    /// How a document calls it.
    pub(crate) value: Value,
    /// Why it was recognised, as half a sentence.
    pub(crate) reason: &'static str,
    path: PathBuf,
    kept: Kept,
    columns: Vec<Column>,
    /// Whether one column of a table is meant.
    is_picked: bool,
}

/// Who keeps the rows.
enum Kept {
    Table(Box<bcolz::Table>),
    Array(Box<bcolz::Array>),
    BlskTable(Box<blsk::Table>),
    BlskArray(Box<blsk::Array>),
    /// A folder of columns; or one without a list, or a single array.
    Files(Box<FileSource>),
}

impl Rows {
    /// Opens a table or an array in a folder, or its column that is meant.
    pub(crate) fn of(found: &Found, context: &Context) -> Outcome<Self> {
        let kept = match found.open(context)? {
            Held::Opened(Opened::BcolzTable(table)) => Kept::Table(table),
            Held::Opened(Opened::BcolzArray(array)) => Kept::Array(array),
            Held::Opened(Opened::BlskTable(table)) => Kept::BlskTable(table),
            Held::Opened(Opened::BlskArray(array)) => Kept::BlskArray(array),
            Held::Opened(Opened::Columns(folder)) => {
                Kept::Files(Box::new(FileSource::over(folder, context)?))
            }
            _ => return Err(changed(&found.path)),
        };
        Self::over(&found.location, kept, found.detected.reason)
    }

    /// Opens anything that has columns: a table, the array of a file, or the arrays of a folder
    /// without a list of columns, as which nothing is found.
    pub(crate) fn of_any(
        location: &Location,
        found: Option<Found>,
        context: &Context,
    ) -> Outcome<Self> {
        let files = match (found, &location.path) {
            (Some(found), _) if found.is_table() => return Self::of(&found, context),
            (Some(found), _) => FileSource::of_file(found, context)?,
            (None, path) => {
                FileSource::of_folder(path.as_deref().unwrap_or(Path::new("-")), context)?
            }
        };
        Self::over(location, Kept::Files(Box::new(files)), "arrays in files")
    }

    fn over(location: &Location, kept: Kept, reason: &'static str) -> Outcome<Self> {
        let columns = kept.source().columns().to_vec();
        let (name, value) = (location.name(), location.value());
        let path = location.path.clone().unwrap_or_default();
        let rows = Self { name, value, path, reason, kept, columns, is_picked: false };
        match &rows.kept {
            // It has no parts: what is meant was refused when it was opened.
            Kept::Files(files) if files.is_array() => Ok(rows),
            _ => rows.only(location.inner.as_deref()),
        }
    }

    /// The same with only the columns that are called so, or stand in a group of that name.
    fn only(mut self, inner: Option<&str>) -> Outcome<Self> {
        let Some(inner) = inner else { return Ok(self) };
        let group = format!("{inner}/");
        let known: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        if !known.iter().any(|name| *name == inner || name.starts_with(&group)) {
            let words = format!("`{}` has no column called `{inner}`", self.name);
            let known = format!("it has {}", known.join(", "));
            return Err(Failure::usage(words).with_help(known));
        }
        self.is_picked = known.contains(&inner);
        self.columns.retain(|column| column.name == inner || column.name.starts_with(&group));
        Ok(self)
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        match &self.kept {
            Kept::Table(table) => table.row_count(),
            Kept::Array(array) => array.row_count(),
            Kept::BlskTable(table) => table.row_count(),
            Kept::BlskArray(array) => array.row_count(),
            Kept::Files(files) => files.rows(),
        }
    }

    /// Refuses to decode columns if this many of their rows are out of proportion to what is stored.
    fn check_expansion<'c>(
        &self,
        columns: impl IntoIterator<Item = &'c Column>,
        rows: u64,
        context: &Context,
    ) -> Outcome {
        context.check_output(&self.name, len_of(columns, rows), self.stored())
    }

    /// The bytes that it takes on the disk.
    fn stored(&self) -> u64 {
        match &self.kept {
            Kept::Files(files) => files.stored(),
            _ => stored_of_path(&self.path),
        }
    }

    /// The columns that are meant. Those of [objects](Rows::objects) have no type that means something.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns that are meant and have a type.
    pub(crate) fn typed_columns(&self) -> Vec<Column> {
        let objects = self.objects();
        let typed = self.columns.iter().filter(|column| !objects.contain(&column.name));
        typed.cloned().collect()
    }

    /// Those of the columns that hold Python objects.
    pub(crate) fn objects(&self) -> Objects<'_> {
        match &self.kept {
            Kept::Table(table) => Objects::among(&self.columns, |name| table.array(name).ok()),
            Kept::Array(array) => Objects::among(&self.columns, |_| Some(array)),
            Kept::BlskTable(_) | Kept::BlskArray(_) | Kept::Files(_) => Objects::none(),
        }
    }

    /// What gives the rows; it has all columns.
    pub(crate) fn source(&self) -> Box<dyn Source + '_> {
        self.kept.source()
    }

    /// What its users have kept with it.
    pub(crate) fn attributes(&self) -> Vec<(String, Json)> {
        let of_json = |attrs: &Json| attrs.as_object().unwrap_or_default().to_vec();
        let of_blsk =
            |(name, value): (&str, blsk::Attribute)| (name.to_owned(), attributes::of_blsk(&value));
        match &self.kept {
            Kept::Table(table) => of_json(table.attributes()),
            Kept::Array(array) => of_json(array.attributes()),
            Kept::BlskTable(table) => table.attributes().map(of_blsk).collect(),
            Kept::BlskArray(array) => array.attributes().map(of_blsk).collect(),
            Kept::Files(files) => files.attributes().to_vec(),
        }
    }

    /// The same as documents and frames have them.
    pub(crate) fn attribute_values(&self) -> Vec<(String, Value)> {
        self.attributes().into_iter().map(|(name, value)| (name, value_of(&value))).collect()
    }

    /// Whether it is an array, or one column of a table.
    pub(crate) fn is_array(&self) -> bool {
        let is_whole_array = match &self.kept {
            Kept::Array(_) | Kept::BlskArray(_) => true,
            Kept::Table(_) | Kept::BlskTable(_) => false,
            Kept::Files(files) => files.is_array(),
        };
        self.is_picked || is_whole_array
    }

    /// Whether a `/` in the name of a column stands for a group of columns.
    pub(crate) fn has_groups(&self) -> bool {
        !matches!(&self.kept, Kept::Files(files) if files.folder().is_none())
    }

    /// The word for what it is.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.kept {
            Kept::Table(_) => "bcolz table",
            Kept::Array(_) => "bcolz array",
            Kept::BlskTable(_) => "blsk table",
            Kept::BlskArray(_) => "blsk array",
            Kept::Files(_) => "folder of columns",
        }
    }
}

impl Kept {
    fn source(&self) -> Box<dyn Source + '_> {
        match self {
            Self::Table(table) => Box::new(table.source()),
            Self::BlskTable(table) => Box::new(table.source()),
            Self::Array(array) => Box::new(ArraySource::of_bcolz(array)),
            Self::BlskArray(array) => Box::new(ArraySource::of_blsk(array)),
            Self::Files(files) => files.source(),
        }
    }
}

/// The bytes of this many rows of some columns.
fn len_of<'c>(columns: impl IntoIterator<Item = &'c Column>, rows: u64) -> u64 {
    let row: u64 = columns.into_iter().map(|column| column.row_size() as u64).sum();
    row.saturating_mul(rows)
}

/// There is no column of that name.
fn no_column(name: &str, columns: &[Column]) -> Failure {
    let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    Failure::usage(format!("there is no column `{name}`"))
        .with_help(format!("the columns are {}", known.join(", ")))
}

/// A scan of the rows for which the condition holds.
fn filtered<'s>(scan: Scan<'s>, condition: Option<&str>) -> Outcome<Scan<'s>> {
    match condition {
        Some(text) => scan.with_condition(text).map_err(|error| of_condition(error, condition)),
        None => Ok(scan),
    }
}

/// An error of a scan, which may be one of its condition.
fn of_condition(error: Error, condition: Option<&str>) -> Failure {
    let text = condition.unwrap_or_default();
    match character_of(&error, text) {
        Some(at) => {
            Failure::usage(format!("--where '{text}', character {at}: {}", error.message()))
        }
        None => error.into(),
    }
}

/// The character of a condition that an error is about, counted from 1.
fn character_of(error: &Error, text: &str) -> Option<usize> {
    let place = error.place().filter(|place| place.format == "expression")?;
    let before = text.get(..usize::try_from(place.offset?).ok()?)?;
    Some(before.chars().count() + 1)
}

/// The rows that a slice means; all without one.
fn span_of(rows: &Rows, slice: Option<&str>) -> Outcome<Span> {
    slice.map_or(Ok(Span::all(rows.rows())), |slice| Span::parse(slice, rows.rows()))
}
