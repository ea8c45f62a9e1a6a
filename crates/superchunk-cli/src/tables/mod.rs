//! Tables and columns in folders: bcolz and blsk, opened as rows, whoever keeps them.

mod append;
mod array;
mod attributes;
mod compare;
mod convert;
mod files;
mod infer;
mod info;
mod manifest;
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
pub(crate) use attributes::value_of;
pub(crate) use compare::{Columns, TableDifference, compare, has_columns};
pub(crate) use convert::{Made, Request, convert};
pub(crate) use info::{data_len, describe, document, summary_line};
pub(crate) use manifest::are_columns;
pub(crate) use print::{TableForm, Wanted, show};
pub(crate) use records::TextForm;
pub(crate) use sink::Sink;
pub(crate) use totals::{Totals, show_totals};
pub(crate) use unpack::{Unpacked, unpack};
pub(crate) use view::ColumnView;
pub(crate) use widen::{Widened, append_wider};

use std::path::{Path, PathBuf};

use superchunk::detect::{self, Detected, Format};
use superchunk::table::{Column, Scan, Source};
use superchunk::{Error, Json, Opened, Value, bcolz, blsk};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::location::Location;
use crate::span::Span;
use crate::verbs::pack::size_of_path;
use array::ArraySource;
use objects::Objects;

/// A table, or an array as a table of one column.
pub(crate) struct Rows {
    /// How to call it.
    pub(crate) name: String,
    /// How a document calls it.
    pub(crate) value: Value,
    /// What it was recognised as.
    pub(crate) detected: Detected,
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
}

/// Whether a path is the folder of a table or of an array that is one of one column.
pub(crate) fn is_table(path: &Path) -> bool {
    let is_one = |found: Detected| {
        matches!(found.format, Format::BcolzTable | Format::BcolzArray | Format::Blsk)
    };
    path.is_dir() && detect::path(path).is_ok_and(is_one)
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
            _ => return Ok(None),
        };
        let columns = kept.source().columns().to_vec();
        let (name, value) = (location.name(), location.value());
        let path = path.clone();
        let rows = Self { name, value, path, detected, kept, columns, is_picked: false };
        rows.only(location.inner.as_deref()).map(Some)
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
        }
    }

    /// Refuses to decode columns if this many of their rows are out of proportion to what is stored.
    fn check_expansion<'c>(
        &self,
        columns: impl IntoIterator<Item = &'c Column>,
        rows: u64,
        context: &Context,
    ) -> Outcome {
        let len = len_of(columns, rows);
        context.check_output(&self.name, len, size_of_path(&self.path))
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
            Kept::BlskTable(_) | Kept::BlskArray(_) => Objects::none(),
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
        }
    }

    /// Whether it is an array, or one column of a table.
    pub(crate) fn is_array(&self) -> bool {
        self.is_picked || matches!(self.kept, Kept::Array(_) | Kept::BlskArray(_))
    }

    /// The word for what it is.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.kept {
            Kept::Table(_) => "bcolz table",
            Kept::Array(_) => "bcolz array",
            Kept::BlskTable(_) => "blsk table",
            Kept::BlskArray(_) => "blsk array",
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
        Some(text) => scan.filter(text).map_err(|error| of_condition(error, condition)),
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
