//! Tables and columns in folders: bcolz, blsk and folders of columns, opened as rows, whichever
//! format keeps them.

mod append;
mod array;
mod attributes;
mod compare;
mod convert;
mod files;
mod frames;
mod infer;
mod info;
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
use attributes::value_of;
pub(crate) use compare::{TableDifference, compare, has_columns};
pub(crate) use convert::{Made, Request, convert};
pub(crate) use info::{data_len, describe, document, summary_line};
pub(crate) use print::{TableForm, Wanted, show};
pub(crate) use records::TextForm;
pub(crate) use sink::Sink;
pub(crate) use totals::{Totals, show_totals};
pub(crate) use unpack::{Unpacked, unpack};
pub(crate) use view::ColumnView;
pub(crate) use widen::Widened;

use std::path::{Path, PathBuf};

use superchunk::detect::{self, Format};
use superchunk::table::{Column, Scan, Source};
use superchunk::{Error, Json, Opened, Value, bcolz, blsk};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::folders;
use crate::location::Location;
use crate::span::Span;
use crate::verbs::pack::stored_of_path;
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

/// Whether a format is that of a table, or of an array in a folder that is one of one column.
pub(crate) fn is_of_tables(format: Format) -> bool {
    matches!(format, Format::BcolzTable | Format::BcolzArray | Format::Blsk | Format::Columns)
}

/// Whether a path is the folder of a table or of an array that is one of one column.
pub(crate) fn is_table(path: &Path) -> bool {
    path.is_dir() && detect::path(path).is_ok_and(|found| is_of_tables(found.format))
}

impl Rows {
    /// Opens a folder with a table or a column; `None` if the location is something else.
    pub(crate) fn open(location: &Location, context: &Context) -> Outcome<Option<Self>> {
        let Some(path) = location.path.as_ref().filter(|path| path.is_dir()) else {
            return Ok(None);
        };
        if !is_table(path) {
            return Ok(None);
        }
        let opened = context.open_options().open(path)?;
        let detected = opened.detected();
        let kept = match opened {
            Opened::BcolzTable(table) => Kept::Table(table),
            Opened::BcolzArray(array) => Kept::Array(array),
            Opened::BlskTable(table) => Kept::BlskTable(table),
            Opened::BlskArray(array) => Kept::BlskArray(array),
            Opened::Columns(folder) => Kept::Files(Box::new(FileSource::over(*folder, context)?)),
            _ => return Ok(None),
        };
        Self::over(location, kept, detected.reason).map(Some)
    }

    /// Opens the array of a file, or the arrays of a folder without a list of columns.
    pub(crate) fn of_arrays(location: &Location, context: &Context) -> Outcome<Self> {
        let files = match location.path.as_ref().filter(|path| folders::is_plain(path)) {
            Some(folder) => FileSource::of_folder(folder, context)?,
            None => FileSource::of_file(location, context)?,
        };
        Self::over(location, Kept::Files(Box::new(files)), "arrays in files")
    }

    /// Opens anything that has columns: a table, arrays of a folder, the array of a file.
    pub(crate) fn of_any(location: &Location, context: &Context) -> Outcome<Self> {
        match Self::open(location, context)? {
            Some(rows) => Ok(rows),
            None => Self::of_arrays(location, context),
        }
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

    /// The same of a location that is known to be a table.
    pub(crate) fn need(location: &Location, context: &Context) -> Outcome<Self> {
        let gone = || Failure::said(Exit::Busy, format!("`{}` has changed", location.name()));
        Self::open(location, context)?.ok_or_else(gone)
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
            Kept::Table(table) => table.len(),
            Kept::Array(array) => array.len(),
            Kept::BlskTable(table) => table.len(),
            Kept::BlskArray(array) => array.len(),
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
            Kept::Table(table) => of_json(table.attrs()),
            Kept::Array(array) => of_json(array.attrs()),
            Kept::BlskTable(table) => table.attrs().map(of_blsk).collect(),
            Kept::BlskArray(array) => array.attrs().map(of_blsk).collect(),
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
