//! A stretch of rows: its columns are read when they are needed, and kept while it is worked on.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::sync::Arc;

use super::ScanStats;
use super::batch::{ColumnData, Rows};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::table::expr::{BLOCK, Feeder, Filter};
use crate::table::source::{Column, Source, column_of};

/// A column is read whole where at least one of so many rows is wanted.
const DENSE: usize = 16;

/// Rows next to each other.
pub(super) struct Stretch<'a> {
    source: &'a dyn Source,
    rows: Range<u64>,
    limits: Limits,
    /// What was read, by column of the source.
    loaded: Vec<OnceCell<Vec<u8>>>,
    /// Which column a slot of the filter is.
    slots: Vec<usize>,
    stats: Cell<ScanStats>,
}

impl<'a> Stretch<'a> {
    pub(super) fn new(
        source: &'a dyn Source,
        filter: &Filter,
        rows: Range<u64>,
        limits: Limits,
    ) -> Self {
        let slots = filter.slots().iter().map(|slot| slot.column).collect();
        let loaded = source.columns().iter().map(|_| OnceCell::new()).collect();
        Self { source, rows, limits, loaded, slots, stats: Cell::default() }
    }

    pub(super) fn stats(&self) -> ScanStats {
        self.stats.get()
    }

    fn len(&self) -> usize {
        usize::try_from(self.rows.end.saturating_sub(self.rows.start)).unwrap_or(usize::MAX)
    }

    fn count(&self, change: impl FnOnce(&mut ScanStats)) {
        let mut stats = self.stats.get();
        change(&mut stats);
        self.stats.set(stats);
    }

    /// The numbers of the rows that match, all of them if all do.
    pub(super) fn matching(&self, filter: &Filter) -> Result<Rows> {
        let len = self.len();
        let mut found: Vec<u64> = Vec::new();
        let mut start = 0;
        while start < len {
            let end = len.min(start + BLOCK);
            let mask = filter.mask(self, start..end)?;
            collect(&mask, self.rows.start + start as u64, &mut found);
            start = end;
        }
        self.count(|stats| stats.rows_tested += len as u64);
        Ok(if found.len() == len { Rows::All(self.rows.clone()) } else { Rows::Some(found) })
    }

    /// These rows of a column.
    pub(super) fn fetch(
        &self,
        index: usize,
        column: &Arc<Column>,
        rows: &Rows,
    ) -> Result<ColumnData> {
        let size = column.row_size();
        let mut bytes = self.buffer(rows.len(), size)?;
        let dense = rows.len() >= self.len().div_ceil(DENSE);
        let kept = self.loaded.get(index).and_then(OnceCell::get);
        match (rows, kept) {
            (Rows::All(rows), None) => self.read(index, rows.clone(), &mut bytes)?,
            (Rows::Some(rows), None) if !dense => {
                self.source.gather(index, rows, &mut bytes)?;
                self.count(|stats| {
                    stats.rows_gathered += rows.len() as u64;
                    stats.bytes_read += bytes.len() as u64;
                });
            }
            (rows, _) => self.pick(self.whole(index)?, size, rows, &mut bytes)?,
        }
        Ok(ColumnData::new(Arc::clone(column), bytes))
    }

    /// Copies rows out of a column that was read whole.
    fn pick(&self, whole: &[u8], size: usize, rows: &Rows, dst: &mut [u8]) -> Result<()> {
        let place = |row: u64| {
            let within = row.saturating_sub(self.rows.start);
            usize::try_from(within).unwrap_or(usize::MAX).saturating_mul(size)
        };
        let short = || Error::invalid("rows outside of the stretch");
        match rows {
            Rows::All(rows) => {
                let bytes = whole.get(place(rows.start)..place(rows.end));
                let bytes = bytes.filter(|bytes| bytes.len() == dst.len()).ok_or_else(short)?;
                dst.copy_from_slice(bytes);
            }
            Rows::Some(rows) => match size {
                1 => pick_fixed::<1>(whole, rows, self.rows.start, dst),
                2 => pick_fixed::<2>(whole, rows, self.rows.start, dst),
                4 => pick_fixed::<4>(whole, rows, self.rows.start, dst),
                8 => pick_fixed::<8>(whole, rows, self.rows.start, dst),
                _ => {
                    for (row, item) in rows.iter().zip(dst.chunks_mut(size.max(1))) {
                        let start = place(*row);
                        let bytes = whole.get(start..start.saturating_add(size));
                        item.copy_from_slice(bytes.ok_or_else(short)?);
                    }
                }
            },
        }
        Ok(())
    }

    /// A whole column of the stretch, read now if it was not yet.
    fn whole(&self, index: usize) -> Result<&[u8]> {
        let cell = self.loaded.get(index).ok_or_else(|| Error::invalid("no such column"))?;
        if let Some(bytes) = cell.get() {
            return Ok(bytes);
        }
        let size = column_of(self.source.columns(), index)?.row_size();
        let mut bytes = self.buffer(self.len(), size)?;
        self.read(index, self.rows.clone(), &mut bytes)?;
        Ok(cell.get_or_init(|| bytes))
    }

    fn read(&self, index: usize, rows: Range<u64>, bytes: &mut [u8]) -> Result<()> {
        self.source.read(index, rows, bytes)?;
        self.count(|stats| {
            stats.reads += 1;
            stats.bytes_read += bytes.len() as u64;
        });
        Ok(())
    }

    fn buffer(&self, rows: usize, size: usize) -> Result<Vec<u8>> {
        let len = rows.saturating_mul(size);
        self.limits.check_decoded(len)?;
        Ok(vec![0; len])
    }
}

impl Feeder for Stretch<'_> {
    fn column(&self, slot: usize) -> Result<&[u8]> {
        let index = self.slots.get(slot).ok_or_else(|| Error::invalid("no such column"))?;
        self.whole(*index)
    }
}

fn pick_fixed<const N: usize>(whole: &[u8], rows: &[u64], first: u64, dst: &mut [u8]) {
    let items = whole.as_chunks::<N>().0;
    for (row, place) in rows.iter().zip(dst.as_chunks_mut::<N>().0) {
        let within = usize::try_from(row.saturating_sub(first)).unwrap_or(usize::MAX);
        if let Some(item) = items.get(within) {
            *place = *item;
        }
    }
}

/// Adds the numbers of the rows whose truth is 1.
fn collect(mask: &[u8], first: u64, found: &mut Vec<u64>) {
    let (groups, rest) = mask.as_chunks::<8>();
    let mut row = first;
    for group in groups {
        // Most groups hold no match, where a filter is worth its name.
        match u64::from_le_bytes(*group) {
            0 => {}
            0x0101_0101_0101_0101 => found.extend(row..row + 8),
            _ => found
                .extend((row..).zip(group).filter(|(_, truth)| **truth != 0).map(|(row, _)| row)),
        }
        row += 8;
    }
    found.extend((row..).zip(rest).filter(|(_, truth)| **truth != 0).map(|(row, _)| row));
}
