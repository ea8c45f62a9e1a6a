//! Opening a frame without input or output: what is needed next, and what came of it.

use std::fmt;
use std::ops::Range;

use super::dialect::Dialect;
use super::header::{Header, START, Start};
use super::seal::{Match, Parts, Place, RECORD};
use super::sparse::HASHES;
use super::trailer::Trailer;
use super::version::Version;
use super::{Kind, LAYERS, index};
use crate::container::{Contents, Integrity, Layer, Slot};
use crate::error::{Error, MustGet, Result};
use crate::limits::Limits;
use crate::store::ReadAt;
use crate::text::Bytes;

/// What the first read takes: the header of nearly every frame, and all of a small one.
const FIRST_READ: u64 = 4096;

/// Opens a frame by asking for ranges of its bytes: two of them, three if the header is long.
///
/// ```
/// use superchunk::frame::{Kind, Opener, Step};
/// use superchunk::{CompressOptions, SuperChunk, FrameOptions};
///
/// let mut numbers = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::of::<u32>()))?;
/// numbers.append_items(&[1u32, 2, 3])?;
/// let bytes = numbers.to_bytes()?;
///
/// let mut opener = Opener::new(Kind::Contiguous, bytes.len() as u64);
/// let frame = loop {
///     match opener.step()? {
///         Step::Need(range) => opener.supply(bytes[range.start as usize..range.end as usize].into()),
///         Step::Done(frame) => break frame,
///     }
/// };
/// assert_eq!(frame.chunk_count(), 1);
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct Opener {
    kind: Kind,
    available: u64,
    limits: Limits,
    trusting: bool,
    head: Vec<u8>,
    tail: Option<Vec<u8>>,
    wants_tail: bool,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener")
            .field("kind", &self.kind)
            .field("available", &self.available)
            .field("head", &Bytes(&self.head))
            .field("tail", &self.tail.as_deref().map(Bytes))
            .finish_non_exhaustive()
    }
}

/// What an [`Opener`] says.
#[derive(Debug)]
pub enum Step {
    /// These bytes of the frame are needed: [`Opener::supply`] them.
    Need(Range<u64>),
    /// The frame is open.
    Done(Box<Frame>),
}

/// An open frame: everything but its chunks.
pub struct Frame {
    pub(super) header: Header,
    pub(super) version: Version,
    pub(super) contents: Contents,
    /// Where index and trailer are, and the seal before them.
    pub(super) tail: Range<u64>,
    pub(super) integrity: Integrity,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("dialect", &self.dialect())
            .field("len", &self.byte_len())
            .field("item_size", &self.item_size())
            .field("chunk_count", &self.chunk_count())
            .finish_non_exhaustive()
    }
}

/// Where a chunk of a frame is.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// From this byte of the file on; the header of the chunk tells how long it is.
    At(u64),
    /// In the file of this name beside the index.
    File(String),
    /// Nowhere: all of it is one value, and this is a chunk that says so.
    Run(Vec<u8>),
}

impl Opener {
    /// Opens a frame of which `available` bytes exist, counted from its first byte.
    #[must_use]
    pub fn new(kind: Kind, available: u64) -> Self {
        Self {
            kind,
            available,
            limits: Limits::default(),
            trusting: false,
            head: Vec::new(),
            tail: None,
            wants_tail: false,
        }
    }

    /// The same opener with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same opener, but a fingerprint that does not match is no error.
    #[must_use]
    pub fn trusting(mut self, trusting: bool) -> Self {
        self.trusting = trusting;
        self
    }

    /// What comes next. Asking again without supplying gives the same answer.
    pub fn step(&mut self) -> Result<Step> {
        if self.head.is_empty() {
            return self.need(0..FIRST_READ.min(self.available), START as u64);
        }
        let start = Start::parse(&self.head)?;
        if start.frame_len > self.available {
            return Err(Error::truncated(format!(
                "the frame has {} bytes, {} are here",
                start.frame_len, self.available
            ))
            .at("frame", "frame_len", 16));
        }
        if start.header_len > self.head.len() {
            return self.need(0..start.header_len as u64, start.header_len as u64);
        }
        let header = Header::parse(&self.head)?;
        if header.kind != self.kind {
            return Err(Error::corrupt(format!(
                "the file says that it is {:?}, it was found as {:?}",
                header.kind, self.kind
            ))
            .at("frame", "frame_type", 26));
        }
        let tail = tail_range(&header)?;
        if let Some(bytes) = self.tail.take() {
            return self.finish(header, tail, &bytes);
        }
        let in_head = usize::try_from(tail.start).ok().zip(usize::try_from(tail.end).ok());
        if let Some(bytes) = in_head.and_then(|(start, end)| self.head.get(start..end)) {
            let bytes = bytes.to_vec();
            return self.finish(header, tail, &bytes);
        }
        self.limits.check_metadata("index", tail.end - tail.start)?;
        self.wants_tail = true;
        Ok(Step::Need(tail))
    }

    /// Supplies the bytes that were asked for. Too few are an error of the next step.
    pub fn supply(&mut self, bytes: Vec<u8>) {
        if self.wants_tail {
            self.tail = Some(bytes);
            self.wants_tail = false;
        } else {
            self.head = bytes;
        }
    }

    /// Opens the frame at the start of `store`.
    pub(super) fn run(&mut self, store: &dyn ReadAt) -> Result<Frame> {
        loop {
            match self.step()? {
                Step::Done(frame) => return Ok(*frame),
                Step::Need(range) => {
                    let len = usize::try_from(range.end - range.start)
                        .map_err(|_| Error::limit("the frame does not fit the memory"))?;
                    let mut bytes = vec![0; len];
                    store.read_exact_at(range.start, &mut bytes)?;
                    self.supply(bytes);
                }
            }
        }
    }

    /// What was supplied first: the header, and what came with it.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    fn need(&self, range: Range<u64>, least: u64) -> Result<Step> {
        if range.end < least || range.end > self.available {
            return Err(Error::truncated(format!(
                "the header has {} bytes, {} are here",
                least.max(range.end),
                self.available
            ))
            .at("frame", "header_len", 11));
        }
        self.limits.check_metadata("header", range.end)?;
        Ok(Step::Need(range))
    }

    fn finish(&self, mut header: Header, needed: Range<u64>, bytes: &[u8]) -> Result<Step> {
        let record_len = record_len(&header);
        let Some((record, bytes)) = bytes.split_at_checked(record_len) else {
            let words = format!("{} bytes do not hold seal, index and trailer", bytes.len());
            return Err(Error::truncated(words).at("frame", "trailer", 0));
        };
        let start = needed.start + record_len as u64;
        let moved = |error: Error| error.moved_by(usize::try_from(start).unwrap_or(0));
        let trailer_at = if header.dialect.has_trailer() {
            Trailer::find(bytes).map_err(moved)?
        } else {
            bytes.len()
        };
        let (index, trailer) = bytes.must_split_at(trailer_at)?;
        let entries;
        (entries, header.entry_len) = match header.nbytes {
            0 => (Vec::new(), index::ENTRY_LEN),
            _ => index::parse(index, header.stated_index(), &self.limits)?,
        };
        let trailer = match header.dialect {
            Dialect::Beta1 => Trailer::default(),
            dialect => Trailer::parse(trailer, dialect)?,
        };
        let header_len = usize::try_from(header.header_len).unwrap_or(usize::MAX);
        let header_bytes = self.head.must_get(..header_len)?.to_vec();
        let place = place_of(header.kind, record, index, &trailer.layers);
        let parts = Parts { header: &header_bytes, tail: bytes, place };
        let integrity = self.judge(&header, &parts, &trailer)?;
        let contents = Contents {
            nbytes: header.nbytes,
            vl_blocks: header.vl_blocks,
            entries,
            metalayers: header.metalayers.clone(),
            vlmetalayers: trailer.layers,
            ..Contents::new(header.typesize, header.chunksize, header.params.clone())
        };
        let version = Version::new(header_bytes, bytes, header.frame_len);
        let sealed = integrity == Integrity::Sealed;
        let tail = if sealed { needed } else { start..needed.end };
        Ok(Step::Done(Box::new(Frame { header, version, contents, tail, integrity })))
    }

    /// What the fingerprint says of a frame.
    fn judge(&self, header: &Header, parts: &Parts<'_>, trailer: &Trailer) -> Result<Integrity> {
        let Some(stored) = trailer.fingerprint else { return Ok(Integrity::Unverified) };
        match parts.compare(stored) {
            Match::Whole => Ok(Integrity::Sealed),
            // C-Blosc2 changes metalayers without a word.
            Match::Seal => Ok(Integrity::Unverified),
            Match::Unknown if !header.metalayers.is_empty() => Ok(Integrity::Unverified),
            Match::Unknown | Match::None if self.trusting => Ok(Integrity::Unverified),
            Match::Unknown | Match::None => {
                let at = usize::try_from(header.frame_len.saturating_sub(16)).unwrap_or(0);
                Err(Error::corrupt(
                    "header, index and trailer do not have the fingerprint that they were written \
                     with; what they say is not to be trusted",
                )
                .at("frame", "fingerprint", at))
            }
        }
    }
}

/// Where the frame has its seal, if it has a fingerprint; `record` are the bytes before the index.
pub(super) fn place_of<'a>(
    kind: Kind,
    record: &'a [u8],
    index: &[u8],
    values: &[Layer],
) -> Place<'a> {
    // Sixteen values of the user leave no room for ours.
    let full = values.len() >= LAYERS && values.iter().all(|value| value.name != HASHES);
    match kind {
        _ if index.is_empty() => Place::Nowhere,
        Kind::Contiguous => Place::Before(record),
        Kind::Sparse if full => Place::Nowhere,
        Kind::Sparse => Place::Inside,
    }
}

/// The bytes before the index that a seal takes, where there is room for one.
fn record_len(header: &Header) -> usize {
    let contiguous = header.kind == Kind::Contiguous && header.dialect == Dialect::Modern;
    let room = header.nbytes > 0 && header.cbytes >= RECORD as u64;
    if contiguous && room { RECORD } else { 0 }
}

/// Where seal, index and trailer are: all that follows the chunks.
fn tail_range(header: &Header) -> Result<Range<u64>> {
    let chunks = match header.kind {
        Kind::Contiguous if header.nbytes > 0 => header.cbytes,
        _ => 0,
    };
    let start = header.header_len.checked_add(chunks).filter(|start| *start <= header.frame_len);
    let start = start.ok_or_else(|| {
        Error::corrupt(format!(
            "{} bytes of chunks do not fit a frame of {}",
            header.cbytes, header.frame_len
        ))
        .at("frame", "cbytes", 39)
    })?;
    Ok(start - record_len(header) as u64..header.frame_len)
}

impl Frame {
    /// The number of chunks.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.contents.entries.len()
    }

    /// The decoded length of all chunks.
    #[must_use]
    pub fn byte_len(&self) -> u64 {
        self.contents.nbytes
    }

    /// The bytes of an item.
    #[must_use]
    pub fn item_size(&self) -> usize {
        self.contents.item_size
    }

    /// The revision of the format.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.header.dialect
    }

    /// Where chunk `number` is.
    pub fn locate(&self, number: usize) -> Result<Located> {
        let entry = self.contents.entries.get(number);
        let entry = entry.ok_or_else(|| Error::invalid(format!("there is no chunk {number}")))?;
        Ok(match (entry.slot(number)?, self.header.kind) {
            (Slot::Run(run), _) => Located::Run(self.contents.run_chunk(number, run)?),
            (Slot::Stored(offset), Kind::Contiguous) => {
                Located::At(self.header.header_len.saturating_add(offset))
            }
            (Slot::Stored(id), Kind::Sparse) => Located::File(super::sparse::chunk_name(id)),
        })
    }
}
