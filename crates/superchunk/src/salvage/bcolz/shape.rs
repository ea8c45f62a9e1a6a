//! What the rows of a damaged carray are: what its files say, as far as its chunks do not contradict.

use super::super::report::{FoundAt, SalvageReport};
use super::survey::Survey;
use crate::carray::{ItemType, Storage, row_size, typesize};
use crate::dtype::DType;
use crate::error::Result;

/// Type, shape and length.
pub(super) struct Shape {
    pub(super) dtype: DType,
    pub(super) row_shape: Vec<usize>,
    pub(super) row_size: usize,
    pub(super) chunk_len: u64,
    pub(super) rows: u64,
    /// Whether `sizes` says so, and nothing speaks against it.
    pub(super) is_stated: bool,
    pub(super) storage: Option<Storage>,
}

impl Shape {
    /// Puts together what is known.
    pub(super) fn of(survey: &Survey, report: &mut SalvageReport) -> Result<Self> {
        let (dtype, storage) = item_type(survey, report)?;
        let item = dtype.item_size().max(1);
        let stated_len = storage.as_ref().map(|storage| storage.chunk_len);
        let (row_shape, row_size) = row_of(survey, item, stated_len, report);
        let chunk_len = chunk_len(survey, row_size, stated_len, report);
        let (rows, is_stated) = rows(survey, row_size, chunk_len, report);
        Ok(Self { dtype, row_shape, row_size, chunk_len, rows, is_stated, storage })
    }
}

impl Shape {
    /// The same where the other columns of a table tell how many rows there are: if type and length are lost,
    /// the size of a row is found that way.
    pub(super) fn refit(
        &mut self,
        survey: &Survey,
        rows: u64,
        report: &mut SalvageReport,
    ) -> Result<()> {
        let bytes = self.rows.saturating_mul(self.row_size as u64);
        let row = bytes.checked_div(rows).and_then(|row| usize::try_from(row).ok()).unwrap_or(0);
        let item = survey.usual_item().unwrap_or(1).max(1);
        let is_free = !self.is_stated && survey.storage.is_err();
        let fits = row > 0 && bytes.is_multiple_of(rows.max(1)) && row.is_multiple_of(item);
        if !is_free || !fits || row == self.row_size {
            return Ok(());
        }
        let full = self.chunk_len.saturating_mul(self.row_size as u64);
        self.dtype = assumed(item, row)?;
        self.chunk_len = (full / row as u64).max(1);
        (self.row_size, self.rows, self.row_shape) = (row, rows, Vec::new());
        report.notes.push(format!("as the table has {rows} rows, they are `{}`", self.dtype));
        Ok(())
    }
}

/// Whether the bytes that `sizes` states are those of its rows.
fn is_consistent(survey: &Survey, row_size: usize) -> bool {
    let sizes = survey.sizes.as_ref();
    sizes.is_ok_and(|sizes| sizes.rows.checked_mul(row_size as u64) == Some(sizes.nbytes))
}

/// Shape and size of a row: as stated, unless the chunks are no such rows.
fn row_of(
    survey: &Survey,
    item: usize,
    stated_len: Option<u64>,
    report: &mut SalvageReport,
) -> (Vec<usize>, usize) {
    let sizes = survey.sizes.as_ref().ok();
    let shape = sizes.map(|sizes| sizes.row_shape.clone()).unwrap_or_default();
    let stated = row_size(item, &shape).ok();
    let (full, size) = (survey.full_len(), |size: u64| usize::try_from(size).ok());
    let fits = |row: &usize| {
        let whole = |(len, _): &(usize, usize)| len.is_multiple_of(*row);
        let length = full
            .zip(stated_len)
            .is_none_or(|(full, len)| len.checked_mul(*row as u64) == Some(full as u64));
        *row >= item
            && row.is_multiple_of(item)
            && length
            && survey.chunks.values().flatten().all(whole)
    };
    let by_bytes = sizes.and_then(|sizes| sizes.nbytes.checked_div(sizes.rows)).and_then(size);
    let by_chunk =
        full.zip(stated_len).and_then(|(full, len)| size((full as u64).checked_div(len)?));
    let certain = stated.filter(|row| is_consistent(survey, *row));
    let likely = || [stated, by_bytes, by_chunk].into_iter().flatten().find(fits);
    let row = certain.or_else(likely).or(stated).unwrap_or(item);
    if Some(row) == stated && (sizes.is_some() || row == item) {
        return (shape, row);
    }
    report.notes.push(format!("rows are assumed to have {row} bytes"));
    (if row == item { Vec::new() } else { vec![row / item] }, row)
}

/// The rows of a chunk: as stated, unless the chunks have others.
fn chunk_len(survey: &Survey, row: usize, stated: Option<u64>, report: &mut SalvageReport) -> u64 {
    let longest = survey.chunks.values().flatten().map(|(len, _)| *len).max().unwrap_or(0);
    let fits = |len: &u64| match (survey.full_len(), len.checked_mul(row as u64)) {
        (_, None) => false,
        (Some(full), Some(size)) => size == full as u64,
        (None, Some(size)) => size >= longest as u64,
    };
    if let Some(stated) = stated.filter(fits) {
        return stated;
    }
    // The last chunk alone tells how many rows come before it, if all rows are counted.
    let before_last = || {
        let (last, (len, _)) =
            survey.chunks.last_key_value().and_then(|(n, peek)| Some((*n, (*peek)?)))?;
        let rows = survey.sizes.as_ref().ok()?.rows.checked_sub(len as u64 / row as u64)?;
        rows.is_multiple_of(last.max(1)).then(|| rows.checked_div(last)).flatten()
    };
    let found = survey.full_len().map(|full| full as u64 / row as u64).or_else(before_last);
    let found = found.unwrap_or(longest as u64 / row as u64).max(1);
    report.notes.push(format!("chunks are assumed to have {found} rows"));
    found
}

/// The type of an item: as stated, unless the chunks have items of another size.
fn item_type(survey: &Survey, report: &mut SalvageReport) -> Result<(DType, Option<Storage>)> {
    let usual = survey.usual_item();
    if let Ok(storage) = &survey.storage
        && let ItemType::Plain(dtype) = &storage.item_type
    {
        if usual.is_none_or(|item| item == typesize(dtype)) {
            return Ok((dtype.clone(), Some(storage.clone())));
        }
        let words = format!("chunks do not have items like `{dtype}`");
        report.lose(FoundAt::File("meta/storage".to_owned()), words);
    }
    let usual = usual.unwrap_or(1).max(1);
    // What `sizes` says of bytes and rows tells the size of an item, too.
    let stated = survey.sizes.as_ref().ok().and_then(|sizes| {
        let sides =
            sizes.row_shape.iter().try_fold(sizes.rows, |all, side| all.checked_mul(*side as u64));
        let items = sides.filter(|items| *items > 0 && sizes.nbytes.is_multiple_of(*items))?;
        usize::try_from(sizes.nbytes / items).ok()
    });
    let size = stated.filter(|size| *size > 0 && size.is_multiple_of(usual)).unwrap_or(usual);
    let dtype = assumed(usual, size)?;
    report.notes.push(format!("the type is lost: items are assumed to be `{dtype}`"));
    let storage = survey.storage.as_ref().ok().cloned();
    Ok((dtype, storage))
}

/// The type that items of `size` bytes may have, of which chunks are compressed with `item`.
fn assumed(item: usize, size: usize) -> Result<DType> {
    DType::parse(&match (item, size) {
        (1, 1) => "|u1".to_owned(),
        (1, size) => format!("|S{size}"),
        (4, size) if size > 4 => format!("<U{}", size / 4),
        (_, size) => format!("|V{size}"),
    })
}

/// The number of rows, and whether it is the stated one.
fn rows(survey: &Survey, row: usize, chunk_len: u64, report: &mut SalvageReport) -> (u64, bool) {
    let chunk_size = chunk_len.saturating_mul(row as u64);
    let of_files = survey.bytes_of_files(chunk_size) / row as u64;
    let Ok(sizes) = &survey.sizes else { return (of_files, false) };
    let too_many = !survey.has_nearly(sizes.rows.div_ceil(chunk_len));
    // Real writers let the bytes drift, so that a wrong number alone proves nothing.
    let too_few = of_files > sizes.rows && !is_consistent(survey, row);
    if too_many || too_few {
        let words = format!("{} rows are stated, the files hold {of_files}", sizes.rows);
        report.lose(FoundAt::File("meta/sizes".to_owned()), words);
        return (of_files, false);
    }
    (sizes.rows, true)
}
