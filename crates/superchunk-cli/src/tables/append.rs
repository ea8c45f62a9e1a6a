//! Rows behind a table: all of them or none.

use std::ffi::OsString;
use std::path::Path;

use superchunk::detect::Format;
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
use crate::opened::Found;
use crate::text_form::TextForm;

/// Appends CSV, JSON-lines or other tables to a table in one commit; returns the number of rows that
/// came, and of all.
pub(crate) fn append(
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
        if input != "-" && (path.is_file() || path.is_dir()) {
            let found = Found::at_path(path)?;
            if found.is_table() {
                return Ok(Self::Rows(Rows::of(&found, context)?));
            }
            refuse_other(&found)?;
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
fn refuse_other(found: &Found) -> Outcome {
    if found.format() != Format::Raw {
        return Err(found.refuse_as_table());
    }
    if TextForm::of_name(&found.path).is_none() && foreign::is_binary(&found.path) {
        return Err(found.refuse("a table, CSV or JSON-lines"));
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
