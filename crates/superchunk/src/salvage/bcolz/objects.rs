//! A new column of Python objects out of what is left of an old one.
//!
//! Each row is a chunk file of its own that holds a pickle. Pickles are never run, only looked at: what
//! ends early, or not with the operation that ends every pickle, is damaged. A lost row becomes the pickle
//! of `None`, so that all others keep their places.

use std::sync::Arc;

use super::super::report::{FoundAt, SalvageReport};
use super::survey::{Chunk, Survey, read_chunk, source_of};
use crate::carray::{Attrs, Home, ItemType, Sizes, Storage, pickle, write_objects};
use crate::chunk::{self, Decoder};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::options::{ChunkFormat, CompressOptions};
use crate::store::Dir;

/// `None` in the oldest protocol that every Python with bcolz reads.
const NONE: &[u8] = b"\x80\x02N.";
/// What bcolz takes for the rows of a chunk, which has no meaning here.
const CHUNK_LEN: u64 = 2048;

/// A column that is going to be rebuilt.
pub(super) struct Objects {
    survey: Survey,
    pub(super) rows: u64,
    /// Whether `sizes` says so, and nothing speaks against it.
    pub(super) is_stated: bool,
    report: SalvageReport,
}

impl Objects {
    /// Whether the rows are objects: `storage` says so, or, where it is lost, most chunks are pickles.
    pub(super) fn are_in(survey: &Survey, root: &dyn Dir, limits: &Limits) -> bool {
        match &survey.storage {
            Ok(storage) => storage.item_type == ItemType::Object,
            Err(_) => are_pickles(survey, root, limits),
        }
    }

    pub(super) fn of(survey: Survey, mut report: SalvageReport) -> Self {
        report.format = "bcolz objects";
        if survey.storage.is_err() {
            report.notes.push("the type is lost: rows are assumed to be Python objects".to_owned());
        }
        let of_files = survey.end();
        let stated = survey.sizes.as_ref().ok().filter(|sizes| {
            let too_many = !survey.has_nearly(sizes.rows);
            // Real writers let the bytes drift, so that a wrong number alone proves nothing.
            let too_few = of_files > sizes.rows && !is_consistent(&survey, sizes);
            if too_many || too_few {
                let words = format!("{} rows are stated, there are {of_files} files", sizes.rows);
                report.lose(FoundAt::File("meta/sizes".to_owned()), words);
            }
            !too_many && !too_few
        });
        let (rows, is_stated) = (stated.map_or(of_files, |sizes| sizes.rows), stated.is_some());
        Self { survey, rows, is_stated, report }
    }

    /// Whether nearly as many files are there as this many rows need.
    pub(super) fn can_have(&self, rows: u64) -> bool {
        self.survey.has_nearly(rows)
    }

    /// Makes it anew in `to`, with this many rows.
    pub(super) fn rebuild(
        mut self,
        from: &dyn Dir,
        to: Arc<dyn Dir>,
        rows: u64,
        limits: &Limits,
    ) -> Result<SalvageReport> {
        let home = Home::new(to, "salvage".to_owned(), true);
        let storage = self.storage(rows)?;
        let attrs = self.survey.attrs.as_ref().map_or_else(|_| Attrs::new(), Attrs::clone);
        let options = CompressOptions::new(1).with_format(ChunkFormat::Blosc1).with_check(true);
        let none = chunk::compress(NONE, &options)?;
        let old = from.open_folder("data").ok();
        let chunks = (0..rows).map(|row| {
            let chunk = read_chunk(old.as_deref(), row, limits);
            match chunk.and_then(|chunk| self.check(row, chunk, limits)) {
                Ok(found) => Ok(found),
                // It may be whole: that there is too little memory must not make it a hole.
                Err(error) if error.is_no_damage() => Err(error),
                Err(error) => {
                    self.report.miss(row, source_of(row), error.to_string());
                    Ok((none.clone(), NONE.len()))
                }
            }
        });
        write_objects(&home, (&storage, &attrs), chunks)?;
        self.survey.tell_beyond(rows, &mut self.report);
        Ok(self.report)
    }

    /// The chunk of a row and the length of its pickle, if it is one.
    fn check(&mut self, row: u64, chunk: Chunk, limits: &Limits) -> Result<(Vec<u8>, usize)> {
        let certainty = chunk.certainty?;
        let object = Decoder::new().with_limits(*limits).decompress(&chunk.bytes)?;
        let parsed = pickle::parse(&object).err();
        match parsed.as_ref().map(Error::kind) {
            _ if object.last() != Some(&b'.') => {
                return Err(Error::corrupt("these bytes do not end like a pickle"));
            }
            Some(ErrorKind::Truncated) => {
                return Err(Error::truncated("the pickle ends before its end"));
            }
            // Python reads a little more than is read here, so that the row is kept.
            Some(ErrorKind::Corrupt) => {
                let words = parsed.map(|error| error.to_string()).unwrap_or_default();
                self.report.notes.push(format!("the object of row {row} may be damaged: {words}"));
            }
            _ => {}
        }
        self.report.keep(row, source_of(row), chunk.len, certainty);
        Ok((chunk.bytes, chunk.len))
    }

    /// What the new column says of itself: what the old one said, if that is known.
    fn storage(&self, rows: u64) -> Result<Storage> {
        if let Ok(storage) = &self.survey.storage {
            return Ok(storage.clone());
        }
        let expected = i64::try_from(rows).unwrap_or(i64::MAX);
        let like = Storage::new(
            DType::of::<u8>(),
            &CompressOptions::new(1),
            CHUNK_LEN,
            expected,
            0u64.into(),
        )?;
        Ok(Storage { item_type: ItemType::Object, ..like })
    }
}

/// Whether the bytes that `sizes` states are those of its rows, or what bcolz makes of them.
fn is_consistent(survey: &Survey, sizes: &Sizes) -> bool {
    let lens = survey.chunks.range(..sizes.rows).filter_map(|(_, peek)| Some((*peek)?.0 as u64));
    sizes.rows.checked_mul(8) == Some(sizes.nbytes) || lens.sum::<u64>() == sizes.nbytes
}

/// Whether most of the chunks that decode hold pickles.
fn are_pickles(survey: &Survey, root: &dyn Dir, limits: &Limits) -> bool {
    let Ok(data) = root.open_folder("data") else { return false };
    let is_pickle = |number: u64| {
        let chunk = read_chunk(Some(data.as_ref()), number, limits).ok()?;
        let object = Decoder::new().with_limits(*limits).decompress(&chunk.bytes).ok()?;
        Some(matches!(object.as_slice(), [0x80, 2..=5, .., b'.']))
    };
    // Pickles are compressed as bytes.
    let bytes = survey.chunks.iter().filter(|(_, peek)| peek.is_some_and(|(_, item)| item == 1));
    let found: Vec<bool> = bytes.filter_map(|(number, _)| is_pickle(*number)).collect();
    let pickles = found.iter().filter(|is| **is).count();
    pickles * 2 > survey.chunks.values().flatten().count()
}
