//! Rows as items of a NumPy file: those of an array, or structures of all columns.

use superchunk::table::Column;
use superchunk::{DKind, DType, npy};

use super::batch::Schema;
use crate::failure::Outcome;

/// What stands in a NumPy file before the rows.
pub(super) fn header(schema: &Schema) -> Outcome<Vec<u8>> {
    Ok(match (schema.is_array, schema.columns.as_slice()) {
        (true, [column]) => {
            let sides = column.row_shape.iter().map(|side| *side as u64);
            let shape: Vec<u64> = std::iter::once(schema.rows).chain(sides).collect();
            npy::write_header(&column.dtype, &shape)
        }
        _ => npy::write_header(&structure(&schema.columns)?, &[schema.rows]),
    })
}

/// The bytes of rows, the columns side by side.
pub(super) fn rows(columns: &[Column], parts: &[Vec<u8>]) -> Vec<u8> {
    let sizes: Vec<usize> = columns.iter().map(Column::row_size).collect();
    let rows =
        parts.first().zip(sizes.first()).map_or(0, |(part, size)| part.len() / (*size).max(1));
    let mut bytes = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for row in 0..rows {
        for (part, size) in parts.iter().zip(&sizes) {
            bytes.extend(part.get(row * size..(row + 1) * size).unwrap_or_default());
        }
    }
    bytes
}

/// The structure that a row is.
fn structure(columns: &[Column]) -> Outcome<DType> {
    let fields = columns.iter().map(|column| {
        let name = column.name.replace('\\', "\\\\").replace('\'', "\\'");
        let dtype = match column.dtype.kind() {
            DKind::Struct => column.dtype.to_string(),
            _ => format!("'{}'", column.dtype),
        };
        let sides: String = column.row_shape.iter().map(|side| format!("{side},")).collect();
        match sides.is_empty() {
            true => format!("('{name}', {dtype})"),
            false => format!("('{name}', {dtype}, ({sides}))"),
        }
    });
    let text = format!("[{}]", fields.collect::<Vec<_>>().join(", "));
    Ok(DType::parse(&text)?)
}
