//! The ways in which a tree may be cut, those that are nearest to what is stated first.

use super::super::rebuild::majority;
use super::super::report::{FoundAt, SalvageReport};
use super::cut::Cut;
use super::survey::Survey;
use super::types::Typed;

/// The ways in which a tree may be cut.
pub(super) struct Ways {
    shape: Option<Vec<u64>>,
    chunkshape: Option<Vec<usize>>,
    /// The numbers of rows that are stated, the largest first.
    rows: Vec<u64>,
    /// Whether both files state the same one.
    pub(super) is_agreed: bool,
    /// The items of most chunks that others follow, of the longest one, and of the last one.
    full: usize,
    longest: usize,
    last: usize,
    /// How many chunks a column has.
    count: u64,
}

impl Ways {
    /// What is stated, and what the files tell.
    pub(super) fn of(survey: &Survey, columns: &[Typed<'_>], per_file: usize) -> Self {
        let (mut lens, mut longest, mut last, mut count) = (Vec::new(), 1, None, 0u64);
        for column in columns {
            let item = column.leaf.dtype.item_size().max(1);
            let Some(files) = column.files else { continue };
            let (mut lens_here, mut last_here) = (Vec::new(), None);
            for (number, file) in &files.files {
                let here = file.count();
                let first = number.saturating_mul(per_file as u64);
                count = count.max(first.saturating_add(here as u64));
                let placed = file.place(here, per_file);
                for (slot, chunk) in placed.slots.iter().enumerate() {
                    let chunk = chunk.and_then(|chunk| file.found.get(chunk));
                    let items = chunk.map(|chunk| chunk.decoded_len.div_ceil(item));
                    last_here = items.map(|items| (first.saturating_add(slot as u64), items));
                    lens_here.extend(items);
                }
            }
            longest = lens_here.iter().copied().max().unwrap_or(1).max(longest);
            // The last may be shorter.
            if last_here.is_some() {
                lens_here.pop();
            }
            lens.extend(lens_here);
            last = last.max(last_here);
        }
        let full = majority(lens.into_iter()).unwrap_or(longest);
        let last = last.filter(|(number, _)| number.checked_add(1) == Some(count));
        let last = last.map_or(full, |(_, items)| items);
        let storage = &survey.storage;
        let shape = storage.shape.clone().filter(|shape| !shape.is_empty());
        let mut rows: Vec<u64> = shape.iter().filter_map(|shape| shape.first().copied()).collect();
        let is_agreed = survey.rows.is_some_and(|stated| rows.first() == Some(&stated));
        rows.extend(survey.rows);
        rows.sort_unstable_by(|one, other| other.cmp(one));
        rows.dedup();
        let chunkshape =
            storage.chunkshape.clone().filter(|sides| !sides.is_empty() && !sides.contains(&0));
        Self { shape, chunkshape, rows, is_agreed, full, longest, last, count }
    }

    /// All ways, with their distances from what is stated.
    pub(super) fn all(&self) -> Vec<(usize, Vec<u64>, Vec<usize>)> {
        let mut ways = Vec::new();
        let stated = self.shape.as_ref().and_then(|shape| Some(shape.split_first()?.1.to_vec()));
        if let (Some(row), Some(chunks)) = (&stated, &self.chunkshape) {
            self.with_rows(0, row, chunks, &mut ways);
        }
        // The chunks of a row may be right, and their rows follow.
        if let Some((chunks, (_, rest))) =
            self.chunkshape.as_ref().and_then(|chunks| Some((chunks, chunks.split_first()?)))
        {
            let row: Vec<u64> = rest.iter().map(|side| *side as u64).collect();
            self.with_rows(1, &row, chunks, &mut ways);
            let whole = rest.iter().try_fold(1usize, |all, side| all.checked_mul(*side));
            if let Some(chunks) = whole.and_then(|whole| with_first(self.full, whole, rest)) {
                stated.iter().for_each(|row| self.with_rows(1, row, &chunks, &mut ways));
                self.with_rows(1, &row, &chunks, &mut ways);
            }
        }
        // Or chunks are whole rows.
        if let Some(row) = &stated {
            let sides: Vec<usize> =
                row.iter().map(|side| usize::try_from(*side).unwrap_or(usize::MAX)).collect();
            let whole = sides.iter().try_fold(1usize, |all, side| all.checked_mul(*side));
            if let Some(chunks) = whole.and_then(|whole| with_first(self.full, whole, &sides)) {
                self.with_rows(1, row, &chunks, &mut ways);
            }
        }
        let items = self.items(self.full);
        for rows in &self.rows {
            let row = items.checked_div(*rows).filter(|row| *row > 0);
            let row = row.filter(|row| items == rows * row);
            let side = row.and_then(|row| usize::try_from(row).ok()).filter(|side| *side > 1);
            if let Some((row, chunks)) =
                row.zip(side.and_then(|side| with_first(self.full, side, &[side])))
            {
                ways.push((2, vec![*rows, row], chunks));
            }
        }
        // One item behind the other, with room for every chunk.
        self.rows.iter().for_each(|rows| ways.push((3, vec![*rows], vec![self.longest])));
        ways.push((4, vec![self.items(self.longest)], vec![self.longest]));
        ways
    }

    /// The same rows in the stated numbers, and in the number that the files have.
    fn with_rows(
        &self,
        distance: usize,
        row: &[u64],
        chunks: &[usize],
        ways: &mut Vec<(usize, Vec<u64>, Vec<usize>)>,
    ) {
        let shape =
            |rows: u64| std::iter::once(rows).chain(row.iter().copied()).collect::<Vec<_>>();
        ways.extend(self.rows.iter().map(|rows| (distance, shape(*rows), chunks.to_vec())));
        let sides = row.iter().zip(chunks.iter().skip(1));
        let is_row = sides.fold(true, |all, (side, chunk)| all && *side == *chunk as u64);
        let whole = row.iter().try_fold(1u64, |all, side| all.checked_mul(*side));
        if let (Some(first), Some(whole)) =
            (chunks.first(), whole.filter(|whole| is_row && *whole > 0))
        {
            let before = self.count.saturating_sub(1).saturating_mul(*first as u64);
            let rows =
                if self.count == 0 { 0 } else { before.saturating_add(self.last as u64 / whole) };
            ways.push((1, shape(rows), chunks.to_vec()));
        }
    }

    /// The items of all chunks, if each but the last has this many.
    fn items(&self, full: usize) -> u64 {
        let Some(before) = self.count.checked_sub(1) else { return 0 };
        before.saturating_mul(full as u64).saturating_add(self.last as u64)
    }

    /// Tells what is not as it is stated.
    pub(super) fn tell(&self, cut: &Cut, report: &mut SalvageReport) {
        let rows = cut.shape.first().map_or(0, |rows| *rows);
        if self.shape.as_ref() != Some(&cut.shape) {
            report.notes.push(format!("the shape is assumed to be {:?}", cut.shape));
        }
        if self.chunkshape.as_ref() != Some(&cut.chunkshape) {
            report.notes.push(format!("chunks are assumed to have the shape {:?}", cut.chunkshape));
        }
        let stated = self.shape.iter().filter_map(|shape| shape.first());
        for other in self.rows.iter().filter(|stated| **stated != rows) {
            let file = if stated.clone().any(|first| first == other) { "storage" } else { "nrows" };
            let words = format!("{other} rows are stated, there are {rows}");
            report.lose(FoundAt::File(format!("meta/{file}")), words);
        }
    }
}

/// Chunks of `items` items, of which a row of these sides has `whole`.
fn with_first(items: usize, whole: usize, rest: &[usize]) -> Option<Vec<usize>> {
    let first = items.checked_div(whole).filter(|first| *first > 0)?;
    (first * whole == items).then(|| std::iter::once(first).chain(rest.iter().copied()).collect())
}
