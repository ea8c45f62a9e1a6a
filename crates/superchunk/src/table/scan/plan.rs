//! Which rows are read together, and which need not be read.

use std::ops::Range;

use crate::table::expr::{Filter, Verdict};
use crate::table::source::{Column, Source};

/// Spans have about this many rows, unless chunks have more.
const SPAN_ROWS: u64 = 65_536;
/// The most rows of a span, however large chunks are.
const MAX_SPAN_ROWS: u64 = 1 << 20;
/// The most bytes of a span, of all columns that are read whole.
const MAX_SPAN_BYTES: u64 = 64 << 20;

/// How many rows are worked on together: whole chunks of the columns, if they are not too large.
pub(super) fn span_rows<'a>(columns: impl Iterator<Item = &'a Column> + Clone) -> u64 {
    let largest = columns.clone().map(|column| column.chunk_rows).max().unwrap_or(0).max(1);
    let row_size = columns.map(|column| column.row_size() as u64).fold(1, u64::saturating_add);
    let most = (MAX_SPAN_BYTES / row_size).clamp(1, MAX_SPAN_ROWS);
    match largest {
        _ if largest > most => most,
        _ => largest * (SPAN_ROWS.min(most) / largest).max(1),
    }
}

/// The bytes that working on a span takes: those of its rows, or of the longest chunk if that is
/// more.
pub(super) fn span_len<'a>(columns: impl Iterator<Item = &'a Column> + Clone) -> usize {
    let rows = span_rows(columns.clone());
    let row_size = |column: &Column| column.row_size() as u64;
    let all = columns.clone().map(row_size).fold(0, u64::saturating_add).saturating_mul(rows);
    let chunks = columns.map(|column| row_size(column).saturating_mul(column.chunk_rows));
    usize::try_from(chunks.fold(all, u64::max)).unwrap_or(usize::MAX)
}

/// The span that begins at `row`: up to the next multiple of the span's length.
pub(super) fn span_at(row: u64, end: u64, span_rows: u64) -> Range<u64> {
    let next = (row / span_rows).saturating_add(1).saturating_mul(span_rows);
    row..next.min(end)
}

/// The stretches of a span about which the bounds of chunks tell the same.
pub(super) fn stretches(
    source: &dyn Source,
    filter: &Filter,
    span: Range<u64>,
) -> Vec<(Range<u64>, Verdict)> {
    let columns = source.columns();
    let chunk_rows = |slot: usize| {
        let column = columns.get(filter.slots().get(slot)?.column)?;
        Some(column.chunk_rows).filter(|rows| *rows > 0)
    };
    let mut found: Vec<(Range<u64>, Verdict)> = Vec::new();
    let mut row = span.start;
    while row < span.end {
        // Up to where the first of the columns begins another chunk.
        let ends = (0..filter.slots().len()).filter_map(|slot| {
            let rows = chunk_rows(slot)?;
            Some((row / rows).saturating_add(1).saturating_mul(rows))
        });
        let end = ends.min().unwrap_or(span.end).min(span.end);
        let verdict = filter.verdict(&|slot| {
            let rows = chunk_rows(slot)?;
            source.bounds(filter.slots().get(slot)?.column, row / rows)
        });
        match found.last_mut() {
            Some((before, same)) if *same == verdict => before.end = end,
            _ => found.push((row..end, verdict)),
        }
        row = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    #[test]
    fn spans_are_whole_chunks_unless_these_are_huge() {
        let column = |rows| Column::new("a", DType::of::<f64>()).with_chunk_rows(rows);
        let of = |rows: &[u64]| {
            let columns: Vec<Column> = rows.iter().map(|rows| column(*rows)).collect();
            span_rows(columns.iter())
        };
        assert_eq!(of(&[]), SPAN_ROWS);
        assert_eq!(of(&[1000, 30_000]), 60_000);
        assert_eq!(of(&[100_000]), 100_000);
        assert_eq!(of(&[u64::MAX]), MAX_SPAN_ROWS);
        let wide = Column::new("a", DType::of::<f32>()).with_row_shape(&[1 << 30]);
        assert_eq!(span_rows([wide].iter()), 1);
        assert_eq!(span_at(70_000, 1_000_000, 60_000), 70_000..120_000);
        assert_eq!(span_at(0, 10, 60_000), 0..10);
    }
}
