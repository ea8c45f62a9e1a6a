//! Rows behind a table: all of them or none.

use std::ffi::OsString;
use std::path::Path;

use superchunk::table::Column;

use super::Rows;
use super::convert::{each_batch, records_batches};
use super::records::{Records, TextForm};
use super::sink::{Schema, Sink};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::interrupt;
use crate::location::Location;
use crate::verbs::pack::stored_of_path;

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
        return append_rows(sink, columns, &rows, context);
    }
    let path = Path::new(input);
    let mut records = Records::open(path, TextForm::of_name(path), context.memory())?;
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
    let batch = schema.batch_within(context.memory());
    let mut put = |parts: &[Vec<u8>], first| sink.put(&schema.columns, parts, first);
    records_batches(&mut records, &schema.columns, &order, batch, &mut put).map(drop)
}

fn append_rows(sink: &mut Sink, columns: Vec<Column>, rows: &Rows, context: &Context) -> Outcome {
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
    schema.check(&rows.name, context.memory())?;
    let nbytes =
        rows.rows().saturating_mul(schema.columns.iter().map(|c| c.row_size() as u64).sum());
    context.check_output(&rows.name, nbytes, stored_of_path(Path::new(&rows.name)))?;
    each_batch(&*rows.source(), &schema, context.memory(), &mut |parts, first| {
        sink.put(&schema.columns, parts, first)
    })
}

fn lacks(input: &OsString, name: &str) -> Failure {
    Failure::usage(format!("`{}` has no column `{name}`", input.to_string_lossy()))
        .with_help("rows need a value for each column")
}
