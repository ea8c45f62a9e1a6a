//! Rows behind a table: all of them or none.

use std::ffi::OsString;
use std::path::Path;

use superchunk::detect::{self, Format};
use superchunk::table::Column;

use super::Rows;
use super::convert::{each_batch, records_batches};
use super::records::{Records, TextForm};
use super::sink::{Schema, Sink};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::foreign;
use crate::interrupt;
use crate::location::Location;

/// Appends CSV, JSON-lines or other tables; tells how many rows came, and how many there are.
pub(crate) fn append(
    mut sink: Sink,
    inputs: &[OsString],
    context: &Context,
) -> Outcome<(u64, u64)> {
    let before = sink.rows();
    for input in inputs {
        append_one(&mut sink, input, context)?;
    }
    let after = sink.rows();
    interrupt::hold();
    sink.close()?;
    Ok((after - before, after))
}

fn append_one(sink: &mut Sink, input: &OsString, context: &Context) -> Outcome {
    let columns = sink.columns();
    let location = Location::whole(Some(Path::new(input).to_owned()));
    if let Some(rows) = Rows::open(&location, context)? {
        return append_rows(sink, columns, &rows);
    }
    let path = Path::new(input);
    if input != "-" && path.is_file() {
        refuse_other(path)?;
    }
    let mut records = Records::open(path, TextForm::of_name(path))?;
    records.is_strict = true;
    let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    if let Some(name) = records.names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::usage(format!("the table has no column `{name}`"))
            .with_help(format!("it has {}", known.join(", "))));
    }
    let mut order = Vec::new();
    for name in &known {
        let place = records.names.iter().position(|found| found == name);
        order.push(place.ok_or_else(|| lacks(input, name))?);
    }
    let schema = Schema { columns, rows: 0, is_array: false, attributes: Vec::new() };
    let batch = schema.batch();
    let mut put = |parts: &[Vec<u8>], first| sink.put(&schema.columns, parts, first);
    records_batches(&mut records, &schema.columns, &order, batch, &mut put).map(drop)
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

fn append_rows(sink: &mut Sink, columns: Vec<Column>, rows: &Rows) -> Outcome {
    let known = rows.typed_columns();
    for column in &columns {
        let found = known.iter().find(|found| found.name == column.name);
        let found = found.ok_or_else(|| lacks(&rows.name.clone().into(), &column.name))?;
        if found.dtype != column.dtype || found.row_shape != column.row_shape {
            let (name, theirs, ours) = (&column.name, &found.dtype, &column.dtype);
            let words = format!("column `{name}` is {theirs} in `{}`, here {ours}", rows.name);
            return Err(Failure::usage(words));
        }
    }
    let schema = Schema { columns, rows: rows.rows(), is_array: false, attributes: Vec::new() };
    each_batch(&*rows.source(), &schema, &mut |parts, first| {
        sink.put(&schema.columns, parts, first)
    })
}

fn lacks(input: &OsString, name: &str) -> Failure {
    Failure::usage(format!("`{}` has no column `{name}`", input.to_string_lossy()))
        .with_help("rows need a value for each column")
}
