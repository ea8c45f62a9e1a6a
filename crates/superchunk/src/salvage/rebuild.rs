//! A super-chunk out of the pieces.

use std::collections::BTreeMap;

use super::report::{ATTRIBUTE, Certainty, FoundAt, Hole, Piece, SalvageReport};
use crate::b2nd;
use crate::chunk::{self, Decoder, Header};
use crate::container::{ChunkSize, Contents, Layer, Run};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::nd;
use crate::options::CompressOptions;
use crate::schunk::{Fill, FrameOptions, SuperChunk};
use crate::wire::msgpack::Value;

/// How many chunks are added to what was found: a damaged header may speak of any length.
const MOST_PADDING: u64 = 1 << 16;

/// What a hole takes until it is in the result.
const BYTES_OF_HOLE: u64 = 256;

/// What a chunk takes of the lists that salvaging makes.
const BYTES_PER_CHUNK: usize = size_of::<Part>() + size_of::<Piece>();

/// What a place of the result holds.
pub(super) enum Part {
    /// A chunk.
    Chunk { source: FoundAt, len: usize, certainty: Certainty },
    /// One value, again and again.
    Run(Run),
    /// A chunk is missing here.
    Hole { source: FoundAt, reason: String },
    /// Something is missing, nobody knows where.
    Lost { source: FoundAt, reason: String },
}

/// The item size and the decoded length of a chunk.
pub(super) type Size = (usize, usize);

/// Where the bytes of chunks come from.
pub(super) trait Fetch {
    /// The bytes of the chunk that was found there.
    fn fetch(&mut self, source: &FoundAt) -> Result<&[u8]>;
}

/// Makes an empty super-chunk with these options, where the result is to be.
pub type Create<'a> = &'a mut dyn FnMut(&FrameOptions) -> Result<SuperChunk>;

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
    pub(super) fn new(head: Option<&Contents>, sizes: &[Size], report: &mut SalvageReport) -> Self {
        let item = majority(sizes.iter().map(|(item, _)| *item));
        let size = majority(sizes.iter().map(|(_, len)| *len));
        let Some(head) = head else {
            report.notes.push("the header is lost: sizes are those of most chunks".to_owned());
            let item_size = item.unwrap_or(1).max(1);
            return Self {
                item_size,
                chunk_size: size,
                compress: CompressOptions::new(item_size).with_check(true),
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
            compress: CompressOptions {
                item_size,
                check: true,
                block_shape: head.block_shape(),
                ..head.params.to_options(item_size)
            },
            nbytes: Some(head.nbytes),
            metalayers: head.metalayers.clone(),
            values: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Puts the parts together.
    pub(super) fn build(
        self,
        parts: Vec<Part>,
        chunks: &mut dyn Fetch,
        create: Create<'_>,
        report: &mut SalvageReport,
    ) -> Result<SuperChunk> {
        let mut frame = self.empty(create, report)?;
        // Holes are as long as a header says, which may be damaged, too.
        frame.set_limits(self.limits);
        report.pieces.reserve_exact(parts.len());
        for part in parts {
            match part {
                Part::Chunk { source, len, certainty } => {
                    let added = chunks.fetch(&source).and_then(|chunk| frame.append_chunk(chunk));
                    match added {
                        Ok(()) => {
                            let chunk = frame.chunk_count() - 1;
                            report.pieces.push(Piece { chunk, source, len, certainty });
                        }
                        Err(error) if is_of_output(&error) => return Err(error),
                        Err(error) => {
                            let reason = error.message().to_owned();
                            self.hole(&mut frame, source, reason, report)?;
                        }
                    }
                }
                Part::Run(run) => self.run(&mut frame, run, report)?,
                Part::Hole { source, reason } => self.hole(&mut frame, source, reason, report)?,
                Part::Lost { source, reason } => report.lose(source, reason),
            }
        }
        drop_impossible_shape(&mut frame, report)?;
        self.free_of_shape(&mut frame, report)?;
        Ok(frame)
    }

    /// Compresses chunks anew whose filters need the shape of a block, if the result does not tell
    /// it.
    fn free_of_shape(&self, frame: &mut SuperChunk, report: &mut SalvageReport) -> Result<()> {
        if frame.stored_block_shape() == self.compress.block_shape {
            return Ok(());
        }
        let mut count = 0;
        for number in 0..frame.chunk_count() {
            let stored = frame.compressed_chunk(number)?;
            if Header::parse(&stored)?.needs_block_shape() {
                let bytes = frame.read_chunk(number)?;
                let options = CompressOptions::new(self.item_size);
                frame.update_chunk(number, &chunk::compress(&bytes, &options)?)?;
                count += 1;
            }
        }
        if count > 0 {
            let words = "chunks were compressed anew, because their filters need the lost shape";
            report.notes.push(format!("{count} {words}"));
        }
        Ok(())
    }

    fn run(&self, frame: &mut SuperChunk, run: Run, report: &mut SalvageReport) -> Result<()> {
        let len = refuse_limit(self.fill_len(frame), report)?;
        let Ok(Some(len)) = len else {
            let reason = "a run of unknown length, or longer than the limits".to_owned();
            report.lose(FoundAt::Index, reason);
            return Ok(());
        };
        let value = match run {
            Run::Zeros => Fill::Zeros,
            Run::Nans => Fill::Nans,
            Run::Uninitialised => Fill::Uninitialised,
        };
        let chunk = frame.chunk_count();
        frame.append_fill(value, (len / self.item_size) as u64)?;
        let certainty = if report.sealed { Certainty::Verified } else { Certainty::Assumed };
        report.pieces.push(Piece { chunk, source: FoundAt::Index, len, certainty });
        Ok(())
    }

    /// Zeros in the place of a chunk, if it is known how many.
    fn hole(
        &self,
        frame: &mut SuperChunk,
        source: FoundAt,
        reason: String,
        report: &mut SalvageReport,
    ) -> Result<()> {
        let number = frame.chunk_count();
        let len = self.fill_len(frame).unwrap_or(None);
        let filled = len.filter(|len| *len >= self.item_size);
        if let Some(len) = filled {
            frame.append_fill(Fill::Zeros, (len / self.item_size) as u64)?;
        }
        report.holes.push(Hole { chunk: filled.map(|_| number), source, reason });
        Ok(())
    }

    /// Adds holes, so that the result becomes as long as the header says and the shape of an array
    /// still fits: before a short chunk, which is the last.
    pub(super) fn pad(&self, parts: &mut Vec<Part>, report: &mut SalvageReport) {
        let (Some(nbytes), Some(size)) = (self.nbytes, self.chunk_size) else { return };
        let len_of = |part: &Part| match part {
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
        let hole = || Part::Hole { source: FoundAt::Nowhere, reason: reason.to_owned() };
        let at = short.unwrap_or(parts.len());
        parts.splice(at..at, (0..count).map(|_| hole()));
    }

    /// A super-chunk with all metadata but no chunks.
    fn empty(&self, create: Create<'_>, report: &mut SalvageReport) -> Result<SuperChunk> {
        let mut frame = self.create(create, report)?;
        for layer in &self.metalayers {
            let set = frame.set_metalayer(&layer.name, &layer.content);
            keep_or_tell(set, &format!("metalayer `{}`", layer.name), report)?;
        }
        for layer in &self.values {
            let value = Decoder::new().with_limits(self.limits).decompress(&layer.content);
            let value = refuse_limit(value, report)?;
            let set = value.and_then(|value| frame.set_attribute_bytes(&layer.name, &value));
            keep_or_tell(set, &format!("value `{}`", layer.name), report)?;
        }
        Ok(frame)
    }

    fn create(&self, create: Create<'_>, report: &mut SalvageReport) -> Result<SuperChunk> {
        let options = FrameOptions::new(self.compress.clone());
        let mut plain = CompressOptions::new(self.item_size).with_check(true);
        plain.block_shape = self.compress.block_shape.clone();
        let plain = FrameOptions::new(plain);
        let sized = |options: FrameOptions| match self.chunk_size {
            Some(size) => options.with_chunk_size(size),
            None => options.with_variable_chunks(),
        };
        match create(&sized(options)) {
            Err(error) if !is_of_output(&error) => {
                report.notes.push(format!("new chunks will be compressed as usual: {error}"));
                let made = create(&sized(plain.clone()));
                made.or_else(|_| create(&plain.with_variable_chunks()))
            }
            made => made,
        }
    }

    /// The decoded length of the next chunk, where sizes are fixed.
    fn fill_len(&self, frame: &SuperChunk) -> Result<Option<usize>> {
        let Some(size) = frame.chunk_size().or(self.chunk_size) else { return Ok(None) };
        let left = self.nbytes.and_then(|nbytes| nbytes.checked_sub(frame.byte_len()));
        let left = left.and_then(|left| usize::try_from(left).ok()).filter(|left| *left > 0);
        let len = left.map_or(size, |left| left.min(size));
        // A damaged header may speak of chunks of any length, which would have to be written out.
        self.limits.check_decoded(len)?;
        Ok(Some(len))
    }
}

/// Ends the salvage if too little memory is what prevents that something is kept. Where no checksum
/// vouches for lengths, one that is too large is taken for damage.
fn refuse_limit<T>(result: Result<T>, report: &SalvageReport) -> Result<Result<T>> {
    match result {
        Err(error) if error.is_no_damage() && (report.sealed || error.kind() == ErrorKind::Bug) => {
            Err(error)
        }
        result => Ok(result),
    }
}

/// Ends the salvage if too little memory is what prevents that something is read: it may be whole.
pub(super) fn unless_limit<T>(result: Result<T>) -> Result<Result<T>> {
    match result {
        Err(error) if error.is_no_damage() => Err(error),
        result => Ok(result),
    }
}

/// Lists in the super-chunk itself what is lost or uncertain in it.
pub(super) fn label(frame: &mut SuperChunk, report: &mut SalvageReport) -> Result<()> {
    let lines = report.uncertain();
    if lines.is_empty() {
        return Ok(());
    }
    let lines: Vec<Value> = lines.into_iter().map(Value::from).collect();
    let lines = Value::from(lines);
    let set = match frame.set_attribute(ATTRIBUTE, lines.clone()) {
        // Sixteen values of the user leave no room for another.
        Err(error) if !is_of_output(&error) => frame.set_metalayer(ATTRIBUTE, &lines.encode()?),
        set => set,
    };
    keep_or_tell(set, "the list of what is lost", report)
}

/// Whether an error tells of the result, and not of what was found.
fn is_of_output(error: &Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::Corrupt
            | ErrorKind::Truncated
            | ErrorKind::Unsupported
            | ErrorKind::InvalidArgument
            | ErrorKind::LimitExceeded
    )
}

/// Removes the metalayer of an array if the chunks cannot be what it says.
fn drop_impossible_shape(frame: &mut SuperChunk, report: &mut SalvageReport) -> Result<()> {
    for name in b2nd::NAMES {
        if frame.metalayer(name).is_none() {
            continue;
        }
        if let Err(error) = nd::described(frame, name)
            && error.kind() == ErrorKind::Corrupt
        {
            report.lose(FoundAt::Nowhere, format!("metalayer `{name}`: {error}"));
            frame.remove_metalayer(name)?;
        }
    }
    Ok(())
}

/// Reports metadata that cannot be kept, unless the result cannot be written at all.
fn keep_or_tell(set: Result<()>, name: &str, report: &mut SalvageReport) -> Result<()> {
    match set {
        Err(error) if is_of_output(&error) => Err(error),
        Err(error) => {
            // Without the name of the result, which is a temporary one.
            report.lose(FoundAt::Nowhere, format!("{name}: {}", error.message()));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Refuses so many chunks that lists of them take more memory than they may.
pub(super) fn check_count(count: usize, limits: &Limits) -> Result<()> {
    limits.check_metadata("list of chunks", count.saturating_mul(BYTES_PER_CHUNK) as u64)
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
