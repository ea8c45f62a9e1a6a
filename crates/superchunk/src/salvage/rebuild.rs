//! A super-chunk out of the pieces.

use std::collections::BTreeMap;

use super::report::{Certainty, Hole, Piece, Report, Source};
use crate::chunk::Decoder;
use crate::container::{ChunkSize, Contents, Layer, Run};
use crate::error::Result;
use crate::limits::Limits;
use crate::options::CompressOptions;
use crate::schunk::{Fill, FrameOptions, SuperChunk};

/// How many chunks are added to what was found: a damaged header may speak of any length.
const MOST_PADDING: u64 = 1 << 16;

/// What a hole takes until it is in the result.
const BYTES_OF_HOLE: u64 = 256;

/// What a place of the result holds.
pub(super) enum Part<'a> {
    /// A chunk.
    Chunk { bytes: &'a [u8], source: Source, len: usize, certainty: Certainty },
    /// One value, again and again.
    Run(Run),
    /// A chunk is missing here.
    Hole { source: Source, reason: String },
    /// Something is missing, nobody knows where.
    Lost { source: Source, reason: String },
}

/// What is known of the whole.
pub(super) struct Plan {
    pub(super) item_size: usize,
    pub(super) chunk_size: Option<usize>,
    pub(super) compress: CompressOptions,
    /// The decoded length, if it is known.
    pub(super) nbytes: Option<u64>,
    pub(super) metalayers: Vec<Layer>,
    pub(super) values: Vec<Layer>,
    /// What values and chunks may decode to.
    pub(super) limits: Limits,
}

impl Plan {
    /// What a header says, unless most chunks say otherwise; without a header, what they say.
    pub(super) fn new(
        head: Option<&Contents>,
        sizes: &[(usize, usize)],
        report: &mut Report,
    ) -> Self {
        let item = majority(sizes.iter().map(|(item, _)| *item));
        let size = majority(sizes.iter().map(|(_, len)| *len));
        let Some(head) = head else {
            report.notes.push("the header is lost: sizes are those of most chunks".to_owned());
            let item_size = item.unwrap_or(1).max(1);
            return Self {
                item_size,
                chunk_size: size,
                compress: CompressOptions::new(item_size),
                nbytes: None,
                metalayers: Vec::new(),
                values: Vec::new(),
                limits: Limits::default(),
            };
        };
        let mut item_size = head.item_size;
        // Chunks of large items say 1.
        if let Some(item) = item.filter(|item| *item != item_size && *item > 1 && !report.sealed) {
            report
                .notes
                .push(format!("the header speaks of items of {item_size} bytes, not {item}"));
            item_size = item;
        }
        let mut chunk_size = match head.chunk_size {
            ChunkSize::Fixed(size) => Some(size),
            _ => None,
        };
        if let (Some(stated), Some(size)) = (chunk_size, size)
            && stated != size
            && sizes.len() > 1
            && !report.sealed
        {
            report.notes.push(format!("the header speaks of chunks of {stated} bytes, not {size}"));
            chunk_size = Some(size);
        }
        Self {
            item_size,
            chunk_size,
            compress: CompressOptions { item_size, ..head.params.to_options(item_size) },
            nbytes: Some(head.nbytes),
            metalayers: head.metalayers.clone(),
            values: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Puts the parts together.
    pub(super) fn build(self, parts: Vec<Part<'_>>, report: &mut Report) -> Result<SuperChunk> {
        let mut frame = self.empty(report)?;
        // Holes are as long as a header says, which may be damaged, too.
        frame.set_limits(self.limits);
        for part in parts {
            let number = frame.chunk_count();
            let fill = self.fill_len(&frame);
            match part {
                Part::Chunk { bytes, source, len, certainty } => {
                    if let Err(error) = frame.append_chunk(bytes) {
                        report.holes.push(Hole { chunk: None, source, reason: error.to_string() });
                        continue;
                    }
                    report.pieces.push(Piece { chunk: number, source, len, certainty });
                }
                Part::Run(_) if fill.is_none() => {
                    let reason = "a run of unknown length, or longer than the limits".to_owned();
                    report.holes.push(Hole { chunk: None, source: Source::Index, reason });
                }
                Part::Run(run) => {
                    let value = match run {
                        Run::Zeros => Fill::Zeros,
                        Run::Nans => Fill::Nans,
                        Run::Uninitialised => Fill::Uninitialised,
                    };
                    let len = fill.unwrap_or(0);
                    frame.fill(value, (len / self.item_size) as u64)?;
                    let certainty =
                        if report.sealed { Certainty::Verified } else { Certainty::Assumed };
                    report.pieces.push(Piece {
                        chunk: number,
                        source: Source::Index,
                        len,
                        certainty,
                    });
                }
                Part::Hole { source, reason } => {
                    let filled = fill.filter(|len| *len >= self.item_size);
                    if let Some(len) = filled {
                        frame.fill(Fill::Zeros, (len / self.item_size) as u64)?;
                    }
                    report.holes.push(Hole { chunk: filled.map(|_| number), source, reason });
                }
                Part::Lost { source, reason } => {
                    report.holes.push(Hole { chunk: None, source, reason });
                }
            }
        }
        Ok(frame)
    }

    /// Adds holes, so that the result becomes as long as the header says and the shape of an array
    /// still fits: before a short chunk, which is the last.
    pub(super) fn pad(&self, parts: &mut Vec<Part<'_>>, report: &mut Report) {
        let (Some(nbytes), Some(size)) = (self.nbytes, self.chunk_size) else { return };
        let len_of = |part: &Part<'_>| match part {
            Part::Chunk { len, .. } => *len as u64,
            Part::Run(_) | Part::Hole { .. } => size as u64,
            Part::Lost { .. } => 0,
        };
        let missing = nbytes.saturating_sub(parts.iter().map(len_of).sum());
        let short =
            parts.iter().position(|part| matches!(part, Part::Chunk { len, .. } if *len < size));
        let count = match short {
            Some(_) => missing / size as u64,
            None => missing.div_ceil(size as u64),
        };
        let most = most_padding(&self.limits);
        if count > most {
            let words = format!("the header speaks of {missing} bytes more than were found");
            report.notes.push(words);
            return;
        }
        let reason = "the header speaks of more bytes than were found";
        let hole = || Part::Hole { source: Source::Nowhere, reason: reason.to_owned() };
        let at = short.unwrap_or(parts.len());
        parts.splice(at..at, (0..count).map(|_| hole()));
    }

    fn empty(&self, report: &mut Report) -> Result<SuperChunk> {
        let options = FrameOptions::new(self.compress.clone());
        let plain = FrameOptions::new(CompressOptions::new(self.item_size));
        let sized = |options: FrameOptions| match self.chunk_size {
            Some(size) => options.with_chunk_size(size),
            None => options.with_variable_chunks(),
        };
        let made = SuperChunk::in_memory(&sized(options));
        let mut frame = match made {
            Ok(frame) => frame,
            Err(error) => {
                report.notes.push(format!("new chunks will be compressed as usual: {error}"));
                let made = SuperChunk::in_memory(&sized(plain.clone()));
                made.or_else(|_| SuperChunk::in_memory(&plain.with_variable_chunks()))?
            }
        };
        for layer in &self.metalayers {
            if let Err(error) = frame.set_metalayer(&layer.name, &layer.content) {
                report.notes.push(format!("metalayer `{}` is lost: {error}", layer.name));
            }
        }
        for layer in &self.values {
            let mut decoder = Decoder::new().with_limits(self.limits);
            let value = decoder.decompress(&layer.content);
            if let Err(error) = value.and_then(|value| frame.set_value_bytes(&layer.name, &value)) {
                report.notes.push(format!("value `{}` is lost: {error}", layer.name));
            }
        }
        Ok(frame)
    }

    /// The decoded length of the next chunk, where sizes are fixed.
    fn fill_len(&self, frame: &SuperChunk) -> Option<usize> {
        let size = frame.chunk_size().or(self.chunk_size)?;
        let left = self.nbytes.and_then(|nbytes| nbytes.checked_sub(frame.len()));
        let left = left.and_then(|left| usize::try_from(left).ok()).filter(|left| *left > 0);
        let len = left.map_or(size, |left| left.min(size));
        // A damaged header may speak of chunks of any length, which would have to be written out.
        Some(len).filter(|len| *len <= self.limits.max_decoded)
    }
}

/// How many chunks may be added to what was found.
pub(super) fn most_padding(limits: &Limits) -> u64 {
    MOST_PADDING.min(limits.max_metadata as u64 / BYTES_OF_HOLE)
}

/// What most of them are; the largest where several are as many.
pub(super) fn majority(values: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|(value, count)| (*count, *value)).map(|(value, _)| value)
}
