//! The least and the greatest value of a chunk.

use super::source::{Source, column_of};
use super::values::{Native, numbers, with_native};
use crate::dtype::DType;
use crate::error::{Error, Result};

/// What the values of some rows have in common. Nulls (NaN of floats, NaT of moments and durations)
/// are counted, and stand outside of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// From the least value to the greatest; `None` if there are only nulls.
    pub range: Option<BoundRange>,
    /// How many rows are null.
    pub nulls: u64,
}

/// A range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundRange {
    /// Of integers, truths (0 and 1), and counts of moments and durations.
    Int {
        /// The least.
        min: i128,
        /// The greatest.
        max: i128,
    },
    /// Of floats.
    Float {
        /// The least; it may be negative infinity.
        min: f64,
        /// The greatest.
        max: f64,
    },
}

impl Bounds {
    /// The bounds of these values. `None` for types that have no least and greatest: texts, complex
    /// numbers, structures.
    #[must_use]
    pub fn of_values(dtype: &DType, bytes: &[u8]) -> Option<Self> {
        let bytes = numbers(dtype, bytes);
        with_native!(dtype, T => Some(T::bounds(&bytes)), else None)
    }

    /// The bounds of both together; `None` if they are of different types.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        use BoundRange as R;
        let range = match (self.range, other.range) {
            (None, range) | (range, None) => range,
            (Some(R::Int { min, max }), Some(R::Int { min: low, max: high })) => {
                Some(R::Int { min: min.min(low), max: max.max(high) })
            }
            (Some(R::Float { min, max }), Some(R::Float { min: low, max: high })) => {
                Some(R::Float { min: min.min(low), max: max.max(high) })
            }
            _ => return None,
        };
        Some(Self { range, nulls: self.nulls.saturating_add(other.nulls) })
    }
}

/// The bounds of every chunk of a column, by reading it; `None` in the place of chunks that have none.
pub fn of_column(source: &dyn Source, column: usize) -> Result<Vec<Option<Bounds>>> {
    let wanted = column_of(source.columns(), column)?;
    let chunks = source
        .rows()
        .checked_div(wanted.chunk_rows)
        .map_or(0, |_| source.rows().div_ceil(wanted.chunk_rows));
    (0..chunks).map(|chunk| of_chunk(source, column, chunk)).collect()
}

/// The bounds of one chunk of a column, by reading it.
pub fn of_chunk(source: &dyn Source, column: usize, chunk: u64) -> Result<Option<Bounds>> {
    /// How many bytes are read at once.
    const PIECE: u64 = 4 << 20;
    let wanted = column_of(source.columns(), column)?;
    if !wanted.is_ordered() {
        return Ok(None);
    }
    let size = wanted.row_size() as u64;
    let start = chunk.saturating_mul(wanted.chunk_rows);
    let end = start.saturating_add(wanted.chunk_rows).min(source.rows());
    let mut bounds: Option<Bounds> = None;
    let mut buffer = Vec::new();
    let mut row = start;
    while row < end {
        let next = end.min(row.saturating_add((PIECE / size.max(1)).max(1)));
        let len = usize::try_from((next - row).saturating_mul(size))
            .map_err(|_| Error::limit("rows of more than the memory"))?;
        buffer.resize(len, 0);
        source.read(column, row..next, &mut buffer)?;
        let Some(found) = Bounds::of_values(&wanted.dtype, &buffer) else { return Ok(None) };
        bounds = match bounds {
            Some(before) => before.and(found),
            None => Some(found),
        };
        row = next;
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, MemoryTable};

    fn of(dtype: &str, bytes: &[u8]) -> Option<Bounds> {
        Bounds::of_values(&DType::parse(dtype).unwrap(), bytes)
    }

    #[test]
    fn nulls_are_counted_and_not_compared() {
        let floats = [2.5f64, f64::NAN, -1.0, f64::NAN];
        let bytes: Vec<u8> = floats.iter().flat_map(|x| x.to_be_bytes()).collect();
        let range = Some(BoundRange::Float { min: -1.0, max: 2.5 });
        assert_eq!(of(">f8", &bytes), Some(Bounds { range, nulls: 2 }));

        let moments: Vec<u8> = [i64::MIN, 7, -3].iter().flat_map(|x| x.to_le_bytes()).collect();
        let range = Some(BoundRange::Int { min: -3, max: 7 });
        assert_eq!(of("<M8[s]", &moments), Some(Bounds { range, nulls: 1 }));
        assert_eq!(of("<f4", &f32::NAN.to_le_bytes()), Some(Bounds { range: None, nulls: 1 }));
    }

    #[test]
    fn every_number_has_bounds_and_text_has_none() {
        let int = |min, max| Some(Bounds { range: Some(BoundRange::Int { min, max }), nulls: 0 });
        assert_eq!(of("|b1", &[0, 2, 1]), int(0, 1));
        assert_eq!(of("|u1", &[3, 255]), int(3, 255));
        assert_eq!(of("|i1", &[3, 255]), int(-1, 3));
        assert_eq!(of("<u8", &[255; 8]), int(u64::MAX.into(), u64::MAX.into()));
        let half = Some(BoundRange::Float { min: 1.5, max: 1.5 });
        assert_eq!(of("<f2", &0x3e00u16.to_le_bytes()), Some(Bounds { range: half, nulls: 0 }));
        assert_eq!(of("|S1", b"a"), None);
        assert_eq!(of("<c8", &[0; 8]), None);
    }

    #[test]
    fn chunks_of_a_column_have_their_own() {
        let values: Vec<u8> = [5i32, -5, 9, 1, 2].iter().flat_map(|x| x.to_le_bytes()).collect();
        let column = Column::new("a", DType::parse("<i4").unwrap()).with_chunk_rows(2);
        let table = MemoryTable::new().with_column(column, values).unwrap();
        let found = of_column(&table, 0).unwrap();
        let ends = found.iter().map(|bounds| bounds.unwrap().range.unwrap());
        let expected = [(-5, 5), (1, 9), (2, 2)];
        assert!(ends.eq(expected.map(|(min, max)| BoundRange::Int { min, max })));
        assert_eq!(table.with_bounds().unwrap().bounds(0, 1).unwrap().nulls, 0);
    }
}
