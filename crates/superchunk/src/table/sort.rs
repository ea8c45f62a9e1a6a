//! The order of rows.

use super::keys::Keys;
use super::memory::MemoryTable;
use super::scan::{Scan, scan};
use super::source::{Source, find_column};
use crate::error::{OrBug, Result};

/// A column to sort by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortBy {
    column: String,
    descending: bool,
}

impl SortBy {
    /// The least first.
    pub fn ascending(column: impl Into<String>) -> Self {
        Self { column: column.into(), descending: false }
    }

    /// The greatest first.
    pub fn descending(column: impl Into<String>) -> Self {
        Self { column: column.into(), descending: true }
    }
}

impl Scan<'_> {
    /// The numbers of the matching rows, in the order of these columns: by the first, where that is
    /// equal by the second, and so on; where all are equal, as they came. NaN and NaT are last, in
    /// both directions. Only the columns to sort by (and those of the condition) are read.
    ///
    /// ```
    /// use superchunk::table::{self, MemoryTable, SortBy};
    ///
    /// let table = MemoryTable::new()
    ///     .with_values("a", &[2u8, 1, 2, 1])?
    ///     .with_values("b", &[0.5f64, f64::NAN, 0.25, 3.0])?;
    /// let order = [SortBy::descending("a"), SortBy::ascending("b")];
    /// assert_eq!(table::scan(&table).order(&order)?, [2, 0, 3, 1]);
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    pub fn order(&self, by: &[SortBy]) -> Result<Vec<u64>> {
        let rows = self.row_numbers()?;
        let mut names: Vec<&str> = by.iter().map(|key| key.column.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let table = self.clone().with_columns(names).to_table()?;
        let places = order_of(&table, by, rows.len())?;
        Ok(places.into_iter().filter_map(|place| rows.get(place).copied()).collect())
    }

    /// The matching rows as a table in memory, in the order of these columns.
    pub fn sorted(&self, by: &[SortBy]) -> Result<MemoryTable> {
        let rows = self.order(by)?;
        let source = self.source();
        let wanted = self.wanted()?;
        let mut table = MemoryTable::new();
        let mut total = 0usize;
        for index in wanted {
            let column = super::source::column_of(source.columns(), index)?;
            let len = rows.len().saturating_mul(column.row_size());
            total = total.saturating_add(len);
            self.check_memory(total)?;
            let mut bytes = vec![0; len];
            source.gather(index, &rows, &mut bytes)?;
            table = table.with_column(column.clone().with_chunk_rows(0), bytes)?;
        }
        Ok(table)
    }
}

impl MemoryTable {
    /// The same rows in another order.
    pub fn sorted(&self, by: &[SortBy]) -> Result<MemoryTable> {
        scan(self).sorted(by)
    }
}

/// The places of the rows of a table in the order of these columns.
fn order_of(table: &MemoryTable, by: &[SortBy], count: usize) -> Result<Vec<usize>> {
    let mut keys = Vec::with_capacity(by.len());
    for key in by {
        let index = find_column(table.columns(), &key.column)?;
        let column = super::source::column_of(table.columns(), index)?;
        keys.push(Keys::of(
            column,
            table.bytes(index).or_bug("every column has bytes")?,
            key.descending,
        )?);
    }
    // One column of numbers: pairs of key and place sort without looking anything up.
    if let [only] = keys.as_slice()
        && let Some(numbers) = only.numbers()
    {
        let mut pairs: Vec<(u64, usize)> = numbers.zip(0..).collect();
        pairs.sort_unstable();
        return Ok(pairs.into_iter().map(|(_, place)| place).collect());
    }
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|a, b| {
        let compared = keys.iter().map(|key| key.get(*a).cmp(key.get(*b)));
        compared.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::error::ErrorKind;
    use crate::table::Column;

    fn table() -> MemoryTable {
        let name = Column::new("name", DType::parse("S2").unwrap());
        MemoryTable::new()
            .with_values("a", &[3i32, -1, 3, 0, -1])
            .and_then(|t| t.with_values("b", &[1.0f32, f32::NAN, -1.0, 0.0, 5.0]))
            .and_then(|t| t.with_column(name, b"zza\0b\0a\0b\0".to_vec()))
            .unwrap()
    }

    #[test]
    fn rows_are_sorted_by_several_columns_and_stay_where_they_are_equal() {
        let table = table();
        let order = |by: &[SortBy]| scan(&table).order(by).unwrap();
        assert_eq!(order(&[SortBy::ascending("a")]), [1, 4, 3, 0, 2]);
        assert_eq!(order(&[SortBy::descending("a")]), [0, 2, 3, 1, 4]);
        assert_eq!(order(&[SortBy::ascending("a"), SortBy::ascending("b")]), [4, 1, 3, 2, 0]);
        assert_eq!(order(&[SortBy::descending("b")]), [4, 0, 3, 2, 1]);
        assert_eq!(order(&[SortBy::ascending("name"), SortBy::descending("a")]), [3, 1, 2, 4, 0]);
        assert_eq!(order(&[]), [0, 1, 2, 3, 4]);
        let some =
            scan(&table).with_condition("a != 0").unwrap().order(&[SortBy::descending("name")]);
        assert_eq!(some.unwrap(), [0, 2, 4, 1]);
    }

    #[test]
    fn a_sorted_table_has_all_columns_in_the_new_order() {
        let sorted = table().sorted(&[SortBy::ascending("a")]).unwrap();
        assert_eq!(sorted.bytes(2).unwrap(), b"a\0b\0a\0zzb\0");
        let few = scan(&sorted).with_columns(["name"]).with_condition("a > 0").unwrap();
        let few = few.sorted(&[SortBy::descending("b")]).unwrap();
        assert_eq!((few.columns().len(), few.bytes(0).unwrap()), (1, b"zzb\0".as_slice()));
    }

    #[test]
    fn unknown_columns_are_refused() {
        let table = table();
        let error = scan(&table).order(&[SortBy::ascending("nmae")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("`name`"));
    }
}
