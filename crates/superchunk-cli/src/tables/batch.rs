//! Rows, a batch at a time.

use superchunk::Json;
use superchunk::table::{Column, Source};

use super::records::Records;
use crate::failure::Outcome;
use crate::memory::Memory;

/// The most bytes of rows that are handled together, unless a single row has more.
const MAX_BATCH_LEN: u64 = 64 << 20;

/// What rows consist of.
pub(super) struct Schema {
    pub(super) columns: Vec<Column>,
    pub(super) rows: u64,
    /// Whether the one column has no name of its own.
    pub(super) is_array: bool,
    pub(super) attributes: Vec<(String, Json)>,
}

impl Schema {
    /// How many rows are handled at once.
    pub(super) fn batch(&self) -> u64 {
        ((1 << 20) / self.widest()).clamp(1, 1 << 17)
    }

    /// The same where many columns are held together.
    pub(super) fn batch_within(&self, memory: Memory) -> u64 {
        self.batch().min(memory.at_most(MAX_BATCH_LEN) / self.row_len()).max(1)
    }

    /// Refuses rows that are too long to be held.
    pub(super) fn check(&self, name: &str, memory: Memory) -> Outcome {
        memory.check(name, self.row_len())
    }

    /// The bytes of a row in the widest column.
    fn widest(&self) -> u64 {
        self.columns.iter().map(Column::row_size).max().unwrap_or(1).max(1) as u64
    }

    /// The bytes of a row in all columns.
    fn row_len(&self) -> u64 {
        self.columns.iter().map(|column| column.row_size() as u64).sum::<u64>().max(1)
    }
}

/// Rows of columns without attributes.
pub(super) fn schema(columns: &[Column], rows: u64) -> Schema {
    Schema { columns: columns.to_vec(), rows, is_array: false, attributes: Vec::new() }
}

/// Reads rows of text to their end.
pub(super) fn records_batches(
    records: &mut Records,
    columns: &[Column],
    order: &[usize],
    batch: u64,
    take: &mut dyn FnMut(&[Vec<u8>]) -> Outcome,
) -> Outcome {
    let mut parts = vec![Vec::new(); columns.len()];
    let mut count = 0;
    while let Some(cells) = records.next()? {
        records.items(columns, order, &cells, &mut parts)?;
        count += 1;
        if count == batch {
            take(&parts)?;
            parts.iter_mut().for_each(Vec::clear);
            count = 0;
        }
    }
    if count > 0 { take(&parts) } else { Ok(()) }
}

/// Reads all rows of the wanted columns.
pub(super) fn each_batch(
    source: &dyn Source,
    schema: &Schema,
    memory: Memory,
    take: &mut dyn FnMut(&[Vec<u8>]) -> Outcome,
) -> Outcome {
    let place = |column: &Column| source.columns().iter().position(|c| c.name == column.name);
    let mut first = 0;
    while first < schema.rows {
        let stop = schema.rows.min(first + schema.batch_within(memory));
        let mut parts = Vec::with_capacity(schema.columns.len());
        for column in &schema.columns {
            let rows = usize::try_from(stop - first).unwrap_or(usize::MAX);
            let mut bytes = vec![0; rows.saturating_mul(column.row_size())];
            source.read(place(column).unwrap_or(usize::MAX), first..stop, &mut bytes)?;
            parts.push(bytes);
        }
        take(&parts)?;
        first = stop;
    }
    Ok(())
}
