//! What is appended to a table: other tables, CSV, JSON-lines.

use std::ffi::OsString;
use std::path::Path;

use superchunk::detect::{self, Format};
use superchunk::table::Column;

use super::Rows;
use super::batch::{each_batch, records_batches, schema};
use super::records::Records;
use super::sink::Sink;
use super::text_width::{filled_up, fits, is_same_text};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::foreign;
use crate::interrupt;
use crate::location::Location;
use crate::text_form::TextForm;

/// Appends to a table in one commit; tells how many rows came, and how many there are.
pub(super) fn append_in_place(
    mut sink: Sink,
    inputs: &[OsString],
    context: &Context,
) -> Outcome<(u64, u64)> {
    let counts = append_all(&mut sink, inputs, context)?;
    interrupt::hold();
    sink.close()?;
    Ok(counts)
}

/// Appends without a commit.
pub(super) fn append_all(
    sink: &mut Sink,
    inputs: &[OsString],
    context: &Context,
) -> Outcome<(u64, u64)> {
    let (before, columns) = (sink.rows(), sink.columns());
    for input in inputs {
        match Incoming::open(input, &columns, context)? {
            Incoming::Rows(rows) => append_rows(sink, &columns, &rows, context)?,
            Incoming::Text(mut records, order) => {
                let schema = schema(&columns, 0);
                let mut put = |parts: &[Vec<u8>]| sink.put(&columns, parts);
                records_batches(&mut records, &columns, &order, schema.batch(), &mut put)?;
            }
        }
    }
    let after = sink.rows();
    Ok((after - before, after))
}

/// What is appended to a table, opened.
pub(super) enum Incoming {
    Rows(Rows),
    /// Rows of text, and which of their cells each column has.
    Text(Box<Records>, Vec<usize>),
}

impl Incoming {
    /// Opens a file or folder, which must have all of the columns; one of text no others.
    pub(super) fn open(input: &OsString, columns: &[Column], context: &Context) -> Outcome<Self> {
        let path = Path::new(input);
        if let Some(rows) = Rows::open(&Location::whole(Some(path.to_owned())), context)? {
            return Ok(Self::Rows(rows));
        }
        if input != "-" && path.is_file() {
            refuse_other(path)?;
        }
        let mut records = Records::open(path, TextForm::of_name(path), context.memory())?;
        records.is_strict = true;
        let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        if let Some(name) = records.names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(Failure::usage(format!("the table has no column `{name}`"))
                .with_help(format!("it has {}", known.join(", "))));
        }
        let mut order = Vec::new();
        for name in &known {
            let place = records.names.iter().position(|found| found == name);
            order.push(place.ok_or_else(|| lacks(&input.to_string_lossy(), name))?);
        }
        Ok(Self::Text(Box::new(records), order))
    }
}

/// Refuses a file that has no rows of text in it.
fn refuse_other(path: &Path) -> Outcome {
    let name = path.display().to_string();
    let detected = detect::path(path)?;
    if detected.format != Format::Raw {
        return Err(foreign::refuse_as_table(&name, path, &detected));
    }
    if TextForm::of_name(path).is_none() && foreign::is_binary(path) {
        return Err(foreign::refuse(&name, path, &detected, "a table, CSV or JSON-lines"));
    }
    Ok(())
}

fn append_rows(sink: &mut Sink, columns: &[Column], rows: &Rows, context: &Context) -> Outcome {
    let stored = matching(columns, rows)?;
    for (ours, theirs) in columns.iter().zip(&stored) {
        if !fits(theirs, ours) {
            let words = format!(
                "column `{}` is {} in `{}`, here {}",
                ours.name, theirs.dtype, rows.name, ours.dtype
            );
            let refusal = Failure::usage(words);
            return Err(match is_same_text(theirs, ours) {
                true => refusal.with_help("`append --widen` makes the column wider"),
                false => refusal,
            });
        }
    }
    rows.check_expansion(&stored, rows.rows(), context)?;
    let schema = schema(&stored, rows.rows());
    schema.check(&rows.name, context.memory())?;
    each_batch(&*rows.source(), &schema, context.memory(), &mut |parts| {
        sink.put(columns, &filled_up(parts, &stored, columns))
    })
}

/// The columns of these names, as another table has them.
pub(super) fn matching(columns: &[Column], rows: &Rows) -> Outcome<Vec<Column>> {
    let known = rows.typed_columns();
    let find = |name: &str| known.iter().find(|column| column.name == name).cloned();
    let found = columns
        .iter()
        .map(|column| find(&column.name).ok_or_else(|| lacks(&rows.name, &column.name)));
    found.collect()
}

fn lacks(input: &str, name: &str) -> Failure {
    Failure::usage(format!("`{input}` has no column `{name}`"))
        .with_help("rows need a value for each column")
}
