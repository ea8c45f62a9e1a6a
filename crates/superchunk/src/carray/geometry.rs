//! How many rows go into a chunk, and the bounds of all sizes.
//!
//! ```text
//! rows         0 … chunklen … 2·chunklen …          rows
//! files        __0.blp │ __1.blp │ …        │ __n.blp, the rest: fewer rows, or more than count
//! ```

use super::sizes::Sizes;
use crate::dtype::{DKind, DType};
use crate::error::{Error, Result};

/// Rows and chunks are counted in C integers.
const MAX_BYTES: u64 = i32::MAX as u64;

/// Lengths that were checked against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) rows: u64,
    pub(crate) row_shape: Vec<usize>,
    /// The bytes of one row.
    pub(crate) row_size: usize,
    pub(crate) chunk_len: u64,
    /// The bytes of a full chunk.
    pub(crate) chunk_size: usize,
}

impl Geometry {
    pub(crate) fn new(sizes: &Sizes, item_size: usize, chunk_len: u64) -> Result<Self> {
        let row_size = row_size(item_size, &sizes.row_shape)?;
        let chunk_size = chunk_len.checked_mul(row_size as u64).filter(|size| *size <= MAX_BYTES);
        let chunk_size =
            chunk_size.and_then(|size| usize::try_from(size).ok()).ok_or_else(|| {
                let words = format!("{chunk_len} rows of {row_size} bytes do not fit a chunk");
                Error::corrupt(words).at("bcolz", "storage", 0)
            })?;
        sizes.rows.checked_mul(row_size as u64).ok_or_else(|| {
            let words =
                format!("{} rows of {row_size} bytes are more than anything holds", sizes.rows);
            Error::corrupt(words).at("bcolz", "sizes", 0)
        })?;
        let row_shape = sizes.row_shape.clone();
        Ok(Self { rows: sizes.rows, row_shape, row_size, chunk_len, chunk_size })
    }

    /// The decoded bytes of all rows.
    pub(crate) fn nbytes(&self) -> u64 {
        self.rows.saturating_mul(self.row_size as u64)
    }

    /// How many chunk files these rows need.
    pub(crate) fn chunk_count(&self) -> u64 {
        self.rows.div_ceil(self.chunk_len)
    }
}

/// The bytes of a row.
pub(crate) fn row_size(item_size: usize, row_shape: &[usize]) -> Result<usize> {
    let size = row_shape.iter().try_fold(item_size as u64, |size, side| {
        size.checked_mul(*side as u64).filter(|size| *size <= MAX_BYTES)
    });
    let size = size.filter(|size| *size > 0).and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| {
        let words = format!(
            "a row of shape {row_shape:?} with items of {item_size} bytes: it must \
            have 1 to {MAX_BYTES}"
        );
        Error::corrupt(words).at("bcolz", "sizes", 0)
    })
}

/// The rows of a chunk that bcolz chooses when `expected` rows are to come: 16 KiB for next to
/// nothing, twice as much for every factor of ten, up to 4 MiB.
pub(crate) fn automatic_chunk_len(expected: u64, row_size: usize) -> u64 {
    let row_size = row_size.max(1) as u64;
    let bytes = u128::from(expected) * u128::from(row_size);
    // 16 KiB · 2^(4 + trunc(log10(bytes / 1 MiB))), with the logarithm held between -4 and 4.
    let mut size = 256u64 << 10;
    let (mut edge, mut below) = (10u128 << 20, 1u128 << 20);
    for _ in 0..4 {
        if bytes >= edge {
            size *= 2;
            edge *= 10;
        }
        if bytes * 10 <= below && size > 16 << 10 {
            size /= 2;
            below /= 10;
        }
    }
    (size / row_size).max(1)
}

/// The item size that chunks are compressed with.
pub(crate) fn typesize(dtype: &DType) -> usize {
    match dtype.kind() {
        DKind::Bytes => 1,
        DKind::Unicode => 4,
        _ if dtype.item_size() > 255 => 1,
        _ => dtype.item_size().max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(rows: u64, row_shape: &[usize]) -> Sizes {
        Sizes { rows, row_shape: row_shape.to_vec(), nbytes: 0, cbytes: 0 }
    }

    #[test]
    fn chunk_lengths_are_those_of_bcolz() {
        // As real files state them.
        for (expected, row_size, chunk_len) in [
            (100_000, 8, 32_768),
            (1000, 4, 16_384),
            (3, 20_000, 6),
            (24_646, 4, 32_768),
            (1_474_200, 4, 65_536),
            (12_000, 150_528, 13),
            (0, 8, 2048),
            (500, 8, 8192),
            (700, 4, 16_384),
            (6, 3072, 42),
            (9, 3, 5461),
        ] {
            assert_eq!(automatic_chunk_len(expected, row_size), chunk_len, "{expected} {row_size}");
        }
        assert_eq!(automatic_chunk_len(u64::MAX, 1 << 20), 4);
    }

    #[test]
    fn sizes_beyond_c_integers_are_refused() {
        assert!(Geometry::new(&sizes(10, &[]), 4, 1 << 29).is_err());
        assert!(Geometry::new(&sizes(10, &[1 << 20, 1 << 20]), 4, 1).is_err());
        assert!(Geometry::new(&sizes(1 << 62, &[]), 8, 1000).is_err());
        assert!(Geometry::new(&sizes(1, &[]), 0, 1).is_err());
        let good = Geometry::new(&sizes(25, &[3]), 4, 10).unwrap();
        assert_eq!((good.row_size, good.chunk_size, good.chunk_count()), (12, 120, 3));
    }

    #[test]
    fn chunks_of_texts_have_the_typesize_of_a_letter() {
        for (text, size) in [("S7", 1), ("<U4", 4), ("<f8", 8), ("V6", 6), ("V300", 1), ("|b1", 1)]
        {
            assert_eq!(typesize(&DType::parse(text).unwrap()), size, "{text}");
        }
    }
}
