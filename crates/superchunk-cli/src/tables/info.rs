//! What a table is: its columns, rows, attributes.

use std::path::Path;

use superchunk::compat::Compatibility;
use superchunk::table::Column;
use superchunk::{JsonStyle, Value};

use super::Rows;
use super::objects::Objects;
use crate::failure::Outcome;
use crate::names::human;
use crate::output::{self, Document, Table, numbers, object, ratio, rounded};
use crate::readers;
use crate::sizes::size_of_path;

/// Prints what `info` says in text.
pub(crate) fn describe(rows: &Rows, path: &Path, readers: Option<&[Compatibility]>) -> Outcome {
    let (nbytes, stored) = (data_len(rows), size_of_path(path));
    let mut text = format!("{}: {} ({})\n", rows.name, rows.kind(), rows.reason);
    let mut line = |key: &str, value: String| text.push_str(&format!("  {key:<10} {value}\n"));
    line("rows", format!("{}, {}", rows.rows(), column_count(rows)));
    line("data", human(nbytes));
    line("stored", format!("{}, ratio {:.2}", human(stored), ratio(nbytes, stored)));
    for (name, value) in rows.attributes() {
        line("attribute", format!("{name} = {}", shortened(&value.to_text(JsonStyle::Spaced))));
    }
    text.push_str(&readers::text(readers));
    let objects = rows.objects();
    let mut table = Table::new(["column", "type", "row", "rows a chunk"]);
    for column in rows.columns() {
        let row = match column.row_shape.as_slice() {
            [] => "one value".to_owned(),
            sides => sides.iter().map(usize::to_string).collect::<Vec<_>>().join(" x "),
        };
        let dtype = type_of(column, &objects);
        table.row([column.name.clone(), dtype, row, column.chunk_rows.to_string()]);
    }
    output::print(&(text + &table.render()))
}

/// What `ls` tells of it: format, bytes of data, bytes on disk, what it is.
pub(crate) fn summary_line(rows: &Rows, path: &Path) -> Outcome<(u64, u64, String)> {
    let what = format!("{} rows, {}", rows.rows(), column_count(rows));
    Ok((data_len(rows), size_of_path(path), what))
}

/// The document of `info`.
pub(crate) fn document(rows: &Rows, path: &Path) -> Document {
    let (nbytes, stored) = (data_len(rows), size_of_path(path));
    let objects = rows.objects();
    let columns = rows.columns().iter().map(|column| {
        object([
            ("name", column.name.as_str().into()),
            ("dtype", type_of(column, &objects).into()),
            ("row_shape", numbers(column.row_shape.iter().map(|side| *side as u64))),
            ("chunk_rows", column.chunk_rows.into()),
        ])
    });
    let attributes =
        rows.attribute_values().into_iter().map(|(name, value)| (name.as_str().into(), value));
    Document::new("info")
        .with("path", rows.value.clone())
        .with("format", rows.kind())
        .with("reason", rows.reason)
        .with("rows", rows.rows())
        .with("nbytes", nbytes)
        .with("stored", stored)
        .with("ratio", rounded(ratio(nbytes, stored)))
        .with("columns", Value::Array(columns.collect()))
        .with("metadata", Value::Map(attributes.collect()))
}

/// The type as NumPy calls it.
fn type_of(column: &Column, objects: &Objects<'_>) -> String {
    if objects.contain(&column.name) { "object".to_owned() } else { column.dtype.to_string() }
}

fn column_count(rows: &Rows) -> String {
    match rows.columns().len() {
        1 => "1 column".to_owned(),
        count => format!("{count} columns"),
    }
}

/// The bytes of all rows of the columns that are meant.
pub(crate) fn data_len(rows: &Rows) -> u64 {
    let row: u64 = rows.typed_columns().iter().map(|column| column.row_size() as u64).sum();
    row.saturating_mul(rows.rows())
}

/// Attributes of zipline are maps with thousands of keys.
fn shortened(value: &str) -> String {
    const MOST: usize = 200;
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!(
            "{} … ({} characters)",
            &value.get(..end).unwrap_or_default(),
            value.chars().count()
        ),
        None => value.to_owned(),
    }
}
