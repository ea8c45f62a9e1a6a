//! Cutting rows into ranges that several processes can work on.

use std::ops::Range;

use super::array::Array;
use super::table::Table;

impl Array {
    /// Cuts the rows into at most `count` ranges of about the same length that share no chunk.
    #[must_use]
    pub fn shards(&self, count: usize) -> Vec<Range<u64>> {
        cut(self.row_count(), self.chunk_rows(), count)
    }
}

impl Table {
    /// Cuts the rows into at most `count` ranges of about the same length, so that no chunk of any
    /// column has rows of two of them.
    ///
    /// Such ranges can be read by several processes without decoding anything twice, and overwritten by
    /// several processes at once, each with [`Table::edit_rows`]. Chunks of different columns need
    /// not have the same number of rows; where they have no common multiple within the table, the one
    /// range is the whole of it.
    #[must_use]
    pub fn shards(&self, count: usize) -> Vec<Range<u64>> {
        let lens = self.arrays().into_iter().map(|(_, array)| array.chunk_rows());
        let common = lens
            .fold(1u64, |common, len| (common / common_divisor(common, len)).saturating_mul(len));
        cut(self.row_count(), common, count)
    }
}

fn cut(rows: u64, unit: u64, count: usize) -> Vec<Range<u64>> {
    let units = rows.div_ceil(unit);
    let count = (count as u64).clamp(1, units.max(1));
    // Some ranges have one unit more than the others.
    let edge =
        |shard: u64| (units / count * shard + (units % count).min(shard)).saturating_mul(unit);
    let shards = (0..count).map(|shard| edge(shard).min(rows)..edge(shard + 1).min(rows));
    shards.filter(|shard| !shard.is_empty()).collect()
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one.max(1) } else { common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_all_rows_once_and_begin_with_chunks() {
        assert!(cut(0, 10, 3).is_empty());
        assert!(cut(25, 10, 1).iter().eq([&(0..25)]));
        assert_eq!(cut(25, 10, 2), [0..20, 20..25]);
        assert_eq!(cut(25, 10, 9), [0..10, 10..20, 20..25]);
        assert!(cut(25, 100, 4).iter().eq([&(0..25)]));
        assert_eq!(cut(70, 10, 3), [0..30, 30..50, 50..70]);
        assert!(cut(5, u64::MAX, 0).iter().eq([&(0..5)]));
        for (rows, unit, count) in [(1000, 7, 13), (1, 1, 1), (99, 10, 10), (u64::MAX, 3, 5)] {
            let shards = cut(rows, unit, count);
            assert_eq!(shards.first().unwrap().start, 0);
            assert_eq!(shards.last().unwrap().end, rows);
            assert!(shards.len() <= count);
            assert!(shards.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(shards.iter().all(|shard| shard.start % unit == 0));
        }
        assert_eq!((common_divisor(12, 18), common_divisor(7, 1)), (6, 1));
    }
}
