//! The bounds of chunks, found while their rows are at hand, so that nothing is decoded for them later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::array::Array;
use super::load::Access;
use super::table::Table;
use crate::carray::Watch;
use crate::dtype::DType;
use crate::error::Result;
use crate::table::{Bounds, BoundsFile, ChunkToken};

/// What is known of chunks that this writer has stored.
#[derive(Debug)]
pub(super) struct Notes {
    dtype: DType,
    row_size: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    chunks: HashMap<u64, Note>,
    /// Whether there is something that the file of bounds does not say.
    changed: bool,
}

/// What is known of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub(super) token: ChunkToken,
    pub(super) rows: u64,
    pub(super) bounds: Bounds,
}

impl Notes {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Notes {
    fn stored(&self, slot: u64, rows: &[u8], chunk: &[u8]) {
        let Some(bounds) = Bounds::of_values(&self.dtype, rows) else { return };
        let (token, rows) = (ChunkToken::of(chunk), (rows.len() / self.row_size.max(1)) as u64);
        let mut known = self.known();
        known.chunks.insert(slot, Note { token, rows, bounds });
        known.changed = true;
    }

    fn forget(&self, slot: u64) {
        self.known().chunks.remove(&slot);
    }

    fn placed(&self, slot: u64, number: u64) {
        let mut known = self.known();
        let note = known.chunks.remove(&slot);
        match note {
            Some(note) => known.chunks.insert(number, note),
            None => known.chunks.remove(&number),
        };
    }
}

impl Array {
    /// Finds the bounds of all chunks from now on, if the type has any.
    pub(super) fn keep_bounds(&self) {
        let ordered = self.row_shape.is_empty() && Bounds::of_values(&self.dtype, &[]).is_some();
        if ordered && self.access == Access::Write {
            let (dtype, row_size) = (self.dtype.clone(), self.row_size);
            let notes = || Arc::new(Notes { dtype, row_size, known: Mutex::default() });
            self.control.watch(self.notes.get_or_init(notes).clone());
        }
    }

    /// What is known of a chunk, if this writer has stored it with so many rows.
    pub(super) fn note(&self, chunk: u64, rows: u64) -> Option<Note> {
        let note = self.notes.get()?.known().chunks.get(&chunk).copied();
        note.filter(|note| note.rows == rows)
    }

    /// Writes down the bounds that were found since this was last done. Those of other chunks stay as
    /// they are: they hold as long as the chunk does.
    pub(super) fn write_notes(&self) -> Result<()> {
        let Some(notes) = self.notes.get() else { return Ok(()) };
        if !std::mem::take(&mut notes.known().changed) {
            return Ok(());
        }
        let old = self.read_bounds().ok().flatten().unwrap_or_default();
        let mut new = BoundsFile::new(self.chunk_rows());
        if old.chunk_rows() == self.chunk_rows() {
            new = old.clone();
        }
        let count = self.row_count().div_ceil(self.chunk_rows());
        for (number, chunk) in (0..count).enumerate() {
            let rows = (self.row_count() - chunk * self.chunk_rows()).min(self.chunk_rows());
            if let Some(note) = self.note(chunk, rows) {
                new.set(number, note.token, rows, note.bounds);
            }
        }
        new.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        if new == old { Ok(()) } else { self.write_bounds(&new) }
    }
}

impl Table {
    /// Finds the bounds of all chunks from now on.
    pub(super) fn keep_bounds(&self) {
        self.arrays().iter().for_each(|(_, array)| array.keep_bounds());
    }

    /// The same for the columns that have a file of them.
    pub(super) fn keep_known_bounds(&self) {
        for (_, array) in self.arrays() {
            if array.has_bounds() {
                array.keep_bounds();
            }
        }
    }

    /// Writes down the bounds that were found since this was last done.
    pub(super) fn write_notes(&self) -> Result<()> {
        self.arrays().iter().try_for_each(|(_, array)| array.write_notes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bcolz::{ArrayOptions, TableOptions};
    use crate::schunk::OpenOptions;
    use crate::store::{Dir, MemoryFolder};
    use crate::table::{Source, chunk_bounds};

    const CHUNK: u64 = 50;

    /// Numbers that look random, always the same.
    fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            (state >> 33) % below
        }
    }

    fn values(random: &mut impl FnMut(u64) -> u64, count: u64) -> Vec<u8> {
        (0..count).flat_map(|_| (random(2000) as f64 - 1000.0).to_le_bytes()).collect()
    }

    /// Whether all chunks of both columns have bounds, and the right ones.
    fn check(table: &Table) {
        let source = table.source();
        for column in 0..2 {
            for chunk in 0..table.row_count().div_ceil(CHUNK) {
                let found = source.bounds(column, chunk);
                assert!(found.is_some(), "column {column}, chunk {chunk}");
                assert_eq!(found, chunk_bounds(&source, column, chunk).unwrap());
            }
        }
    }

    #[test]
    fn whatever_a_writer_does_the_bounds_are_right_when_it_is_closed() {
        let array = || ArrayOptions::of::<f64>().with_chunk_rows(CHUNK);
        let options = TableOptions::new().with_column("a", array()).with_column("b", array());
        let dir = Arc::new(MemoryFolder::new());
        let mut table = Table::create_in_dir(dir.clone(), &options.with_bounds()).unwrap();
        let mut random = numbers(5);
        for round in 0..40 {
            for _ in 0..random(6) {
                let (len, count) = (table.row_count(), random(120));
                match random(5) {
                    0 if len > 0 => {
                        let count = count.min(len);
                        let start = random(len - count + 1);
                        table.write_rows("a", start, &values(&mut random, count)).unwrap();
                    }
                    1 => table.resize(random(len + 30)).unwrap(),
                    2 => table.commit().unwrap(),
                    _ => {
                        let (a, b) = (values(&mut random, count), values(&mut random, count));
                        table.append(&[("a", &a), ("b", &b)]).unwrap();
                    }
                }
            }
            if round % 3 == 0 {
                table.refresh_bounds().unwrap();
                check(&table);
            }
            let rows: Vec<Vec<u8>> =
                table.arrays().iter().map(|(_, array)| array.to_vec().unwrap()).collect();
            table.close().unwrap();
            table = Table::edit_in_dir(dir.clone(), &OpenOptions::new()).unwrap();
            let again = table.arrays().into_iter().map(|(_, array)| array.to_vec().unwrap());
            assert!(again.eq(rows), "round {round}");
            // Of chunks that a resize makes of one value nothing is noted: they are decoded when asked.
            table.refresh_bounds().unwrap();
            check(&table);
        }
    }

    #[test]
    fn rows_that_are_appended_need_no_other_call() {
        let options = TableOptions::new()
            .with_column("a", ArrayOptions::of::<f64>().with_chunk_rows(CHUNK))
            .with_column("b", ArrayOptions::of::<f64>().with_chunk_rows(CHUNK));
        let dir = Arc::new(MemoryFolder::new());
        let mut table = Table::create_in_dir(dir.clone(), &options.with_bounds()).unwrap();
        let mut random = numbers(9);
        for _ in 0..7 {
            for _ in 0..3 {
                let rows = values(&mut random, 33);
                table.append(&[("a", &rows), ("b", &rows)]).unwrap();
                table.commit().unwrap();
            }
            table.close().unwrap();
            check(&Table::open_in_dir(dir.clone(), &OpenOptions::new()).unwrap());
            table = Table::edit_in_dir(dir.clone(), &OpenOptions::new()).unwrap();
        }
        let meta = dir.open_folder("a").unwrap().open_folder("meta").unwrap();
        assert!(meta.names().unwrap().contains(&"b2bounds".to_owned()));
    }
}
