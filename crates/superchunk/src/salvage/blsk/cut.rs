//! How the tree is cut: into which boxes, and how many of them a file has. What is stated counts, unless the
//! chunks that were found are no such boxes; then the first of some other ways counts that they fit best.

use super::super::rebuild::majority;
use super::super::report::SalvageReport;
use super::survey::Survey;
use super::types::Typed;
use super::ways::Ways;
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
pub(super) fn choose(
    survey: &Survey,
    columns: &[Typed<'_>],
    report: &mut SalvageReport,
) -> Result<Cut> {
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
                let len = chunk_len(&geometry, first.checked_add(slot)?);
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
fn per_file(survey: &Survey, columns: &[Typed<'_>], report: &mut SalvageReport) -> usize {
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
