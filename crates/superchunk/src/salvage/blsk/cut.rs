//! How the tree is cut: into which boxes, and how many of them a file has. What is stated counts, unless the
//! chunks that were found are no such boxes; then the first of some other ways counts that they fit best.

use super::super::rebuild::majority;
use super::super::report::{Report, Source};
use super::survey::Survey;
use super::types::Typed;
use crate::error::{Error, Result};
use crate::nd::{Geometry, product};

/// How many chunks more than a file has are looked for in it.
const MOST_HERE: usize = 1 << 10;
/// The most chunks of a file, where nothing tells.
const PER_FILE: usize = 16;

/// A way of cutting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) shape: Vec<u64>,
    pub(super) chunkshape: Vec<usize>,
    pub(super) per_file: usize,
}

/// What speaks against a way of cutting, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    /// Chunks that are longer than their places.
    long: usize,
    /// Chunks that have no place.
    left: usize,
    /// Chunks that are shorter than their places.
    short: usize,
    /// How far it is from what is stated.
    distance: usize,
    /// Places without a chunk.
    holes: u64,
}

/// Finds the way in which the tree is cut.
pub(super) fn choose(survey: &Survey, columns: &[Typed<'_>], report: &mut Report) -> Result<Cut> {
    let per_file = per_file(survey, columns, report);
    let ways = Ways::of(survey, columns, per_file);
    let mut best: Option<(Cost, Cut)> = None;
    for (distance, shape, chunkshape) in ways.all() {
        let cut = Cut { shape, chunkshape, per_file };
        let Some(mut cost) = cost(survey, &cut, columns, distance) else { continue };
        if distance == 0 && ways.is_agreed && survey.storage.superchunksize == Some(per_file) {
            // Chunks behind the last row have no meaning.
            cost.left = 0;
        }
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, cut));
        }
        // Nothing that is further away can be better.
        let fits = |(cost, _): &(Cost, Cut)| cost.long == 0 && cost.left == 0 && cost.short == 0;
        if distance > 0 && best.as_ref().is_some_and(fits) {
            break;
        }
    }
    let (_, cut) = best.ok_or_else(|| Error::corrupt("no shape can be made of it"))?;
    ways.tell(&cut, report);
    Ok(cut)
}

impl Cut {
    /// The boxes of a column whose items have this size.
    pub(super) fn geometry(&self, item_size: usize) -> Result<Geometry> {
        Geometry::new(&self.shape, &self.chunkshape, &vec![1; self.shape.len()], item_size)
    }

    /// How many of `count` chunks are in a file.
    pub(super) fn count_in(&self, file: u64, count: usize) -> usize {
        let file = usize::try_from(file).unwrap_or(usize::MAX);
        count.saturating_sub(file.saturating_mul(self.per_file)).min(self.per_file)
    }
}

/// The bytes of chunk `number` inside of the array.
pub(super) fn chunk_len(geometry: &Geometry, number: usize) -> usize {
    let extent = geometry.chunk_extent(&geometry.chunk_start(number));
    product(&extent, geometry.item_size).unwrap_or(usize::MAX)
}

/// What speaks against a way of cutting; `None` if it is none.
fn cost(survey: &Survey, cut: &Cut, columns: &[Typed<'_>], distance: usize) -> Option<Cost> {
    let mut cost = Cost { long: 0, left: 0, short: 0, distance, holes: 0 };
    let mut total = 0u64;
    for column in columns {
        let geometry = cut.geometry(column.leaf.dtype.item_size()).ok()?;
        let count = geometry.chunk_count;
        let mut there = 0;
        for (number, file) in column.files.iter().flat_map(|files| &files.files) {
            // What a damaged number of rows would need is not worth a look.
            let here = cut.count_in(*number, count).min(file.count().saturating_add(MOST_HERE));
            let placed = file.place(here, cut.per_file);
            cost.left += placed.left;
            let first = usize::try_from(*number).ok()?.checked_mul(cut.per_file)?;
            for (slot, chunk) in placed.slots.iter().enumerate() {
                let Some(chunk) = chunk.and_then(|chunk| file.found.get(chunk)) else { continue };
                let len = chunk_len(&geometry, first + slot);
                there += 1u64;
                cost.long += usize::from(
                    chunk.decoded_len > len && chunk.decoded_len != geometry.chunk_bytes,
                );
                cost.short += usize::from(chunk.decoded_len < len);
            }
        }
        cost.holes = cost.holes.saturating_add((count as u64).saturating_sub(there));
        total += there;
    }
    // A damaged shape may have any number of chunks.
    (cost.holes <= survey.most_padding.max(total)).then_some(cost)
}

/// How many chunks the files have: as stated, unless files that others follow have another number.
fn per_file(survey: &Survey, columns: &[Typed<'_>], report: &mut Report) -> usize {
    let (mut full, mut most, mut found) = (Vec::new(), 0, Vec::new());
    for files in columns.iter().filter_map(|column| column.files) {
        let last = files.files.last_key_value().map(|(number, _)| *number);
        for (number, file) in &files.files {
            let is_last = Some(*number) == last;
            most = most.max(file.found.len());
            if !is_last {
                found.push(file.count());
                full.extend(file.stated.filter(|_| file.head.is_ok()));
            }
        }
    }
    let told = majority(full.iter().copied());
    let fits = |size: &usize| *size > 0 && *size >= most && told.is_none_or(|told| told == *size);
    if let Some(stated) = survey.storage.superchunksize.filter(fits) {
        return stated;
    }
    let size = told.or_else(|| by_count(survey, columns)).or(majority(found.into_iter()));
    let size = size.unwrap_or(PER_FILE).max(most);
    report.notes.push(format!("files are assumed to have {size} chunks"));
    size
}

/// The chunks of a file that others follow, where the shape tells the number of all chunks, and the last file
/// how many of them are not in others.
fn by_count(survey: &Survey, columns: &[Typed<'_>]) -> Option<usize> {
    let (shape, chunks) = (survey.storage.shape.as_ref()?, survey.storage.chunkshape.as_ref()?);
    let geometry = Geometry::new(shape, chunks, &vec![1; shape.len()], 1).ok()?;
    let last = columns.iter().filter_map(|column| column.files?.files.last_key_value());
    let (number, file) = last.max_by_key(|(number, _)| **number)?;
    let before = geometry.chunk_count.checked_sub(file.count())?;
    let files = usize::try_from(*number).ok().filter(|files| *files > 0)?;
    before.is_multiple_of(files).then_some(before / files).filter(|size| *size > 0)
}

/// The ways in which a tree may be cut.
struct Ways {
    shape: Option<Vec<u64>>,
    chunkshape: Option<Vec<usize>>,
    /// The numbers of rows that are stated, the largest first.
    rows: Vec<u64>,
    /// Whether both files state the same one.
    is_agreed: bool,
    /// The items of most chunks that others follow, of the longest one, and of the last one.
    full: usize,
    longest: usize,
    last: usize,
    /// How many chunks a column has.
    count: u64,
}

impl Ways {
    fn of(survey: &Survey, columns: &[Typed<'_>], per_file: usize) -> Self {
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
        let last = last.filter(|(number, _)| *number + 1 == count).map_or(full, |(_, items)| items);
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
    fn all(&self) -> Vec<(usize, Vec<u64>, Vec<usize>)> {
        let mut ways = Vec::new();
        let stated = self.shape.as_ref().map(|shape| shape.get(1..).unwrap_or_default().to_vec());
        if let (Some(row), Some(chunks)) = (&stated, &self.chunkshape) {
            self.with_rows(0, row, chunks, &mut ways);
        }
        // The chunks of a row may be right, and their rows follow.
        if let Some(chunks) = &self.chunkshape {
            let rest = chunks.get(1..).unwrap_or_default();
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
    fn tell(&self, cut: &Cut, report: &mut Report) {
        let rows = cut.shape.first().copied().unwrap_or(0);
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
            report.lose(Source::File(format!("meta/{file}")), words);
        }
    }
}

/// Chunks of `items` items, of which a row of these sides has `whole`.
fn with_first(items: usize, whole: usize, rest: &[usize]) -> Option<Vec<usize>> {
    let first = items.checked_div(whole).filter(|first| *first > 0)?;
    (first * whole == items).then(|| std::iter::once(first).chain(rest.iter().copied()).collect())
}
