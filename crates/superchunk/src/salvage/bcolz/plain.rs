//! A new carray of rows of a fixed size, out of what is left of an old one.

use std::sync::Arc;

use super::super::report::SalvageReport;
use super::shape::Shape;
use super::survey::{Chunk, Survey, read_chunk, source_of};
use crate::bcolz::{Array, ArrayOptions};
use crate::carray::default_bytes;
use crate::chunk;
use crate::error::{ErrorKind, MustGet, Result};
use crate::limits::Limits;
use crate::options::CompressOptions;
use crate::store::Dir;

/// Such a column that is going to be rebuilt.
pub(super) struct Plain {
    survey: Survey,
    pub(super) shape: Shape,
    report: SalvageReport,
}

impl Plain {
    pub(super) fn of(survey: Survey, mut report: SalvageReport) -> Result<Self> {
        let shape = Shape::of(&survey, &mut report)?;
        Ok(Self { survey, shape, report })
    }

    /// Takes the length of the other columns for its own, where that tells what a row is.
    pub(super) fn refit(&mut self, rows: u64) -> Result<()> {
        self.shape.refit(&self.survey, rows, &mut self.report)
    }

    /// Whether nearly as many files are there as this many rows need.
    pub(super) fn can_have(&self, rows: u64) -> bool {
        self.survey.has_nearly(rows.div_ceil(self.shape.chunk_len))
    }

    /// Makes it anew in `to`, with this many rows.
    pub(super) fn rebuild(
        mut self,
        from: &dyn Dir,
        to: Arc<dyn Dir>,
        rows: u64,
        limits: &Limits,
    ) -> Result<SalvageReport> {
        let mut array = Array::create_in_dir(to, &self.options(rows))?;
        if let Ok(attrs) = &self.survey.attrs {
            for (name, value) in attrs.json().as_object().unwrap_or_default() {
                array.set_attribute(name, value.clone())?;
            }
        }
        let data = from.open_folder("data").ok();
        let chunk_len = self.shape.chunk_len;
        for number in 0..rows.div_ceil(chunk_len) {
            let end = ((number + 1) * chunk_len).min(rows);
            let added = match read_chunk(data.as_deref(), number, limits) {
                Ok(chunk) => self.add(&mut array, number, chunk, end),
                // It may be whole: that there is too little memory must not make it a hole.
                Err(error) if error.is_no_damage() => return Err(error),
                Err(error) => Err(error.of_kind(ErrorKind::Corrupt)),
            };
            match added {
                // The chunk is in memory by then: only the new array reads and writes files.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::Io | ErrorKind::NotFound | ErrorKind::Miscompressed
                    ) =>
                {
                    return Err(error);
                }
                Err(error) => self.miss(number, error.to_string()),
                Ok(()) => {}
            }
            array.resize(end)?;
        }
        self.survey.tell_beyond(rows.div_ceil(chunk_len), &mut self.report);
        array.close()?;
        Ok(self.report)
    }

    /// Adds the rows of a chunk, which should reach to row `end`.
    fn add(&mut self, array: &mut Array, number: u64, chunk: Chunk, end: u64) -> Result<()> {
        let certainty = chunk.certainty?;
        let row = self.shape.row_size;
        let room =
            usize::try_from(end - array.row_count()).unwrap_or(usize::MAX).saturating_mul(row);
        if chunk.len as u64 > self.shape.chunk_len.saturating_mul(row as u64) {
            self.miss(number, format!("it holds {} bytes, {room} belong here", chunk.len));
            return Ok(());
        }
        if chunk.len == room {
            array.append_chunk(&chunk.bytes)?;
        } else {
            // Of the last chunk only the first rows may count.
            let rows = chunk::decompress(&chunk.bytes)?;
            let whole = rows.len().min(room) / row * row;
            array.append(rows.must_get(..whole)?)?;
            if whole < room {
                self.miss(number, format!("of {} rows {} are here", room / row, whole / row));
            }
        }
        self.report.keep(number, source_of(number), chunk.len.min(room), certainty);
        Ok(())
    }

    fn miss(&mut self, number: u64, reason: String) {
        self.report.miss(number, source_of(number), reason);
    }

    /// How the new array is made: like the old one, where that is known.
    fn options(&mut self, rows: u64) -> ArrayOptions {
        let shape = &self.shape;
        let mut options = ArrayOptions::new(shape.dtype.clone())
            .with_row_shape(shape.row_shape.clone())
            .with_chunk_rows(shape.chunk_len)
            .with_expected_rows(rows);
        if let Some(storage) = &shape.storage {
            let compress = CompressOptions::new(1).with_codec(storage.codec());
            options = options
                .with_compress(compress.with_level(storage.clevel).with_filters(storage.filter));
            match default_bytes(&shape.dtype, &storage.default) {
                Some(_) => options.default = Some(storage.default.clone()),
                None => self.report.notes.push("the value of new rows is lost".to_owned()),
            }
        }
        options.compress.check = true;
        options
    }
}
