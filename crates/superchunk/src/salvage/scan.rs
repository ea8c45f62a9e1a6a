//! Looking for chunks where nothing tells where they are.

use std::ops::Range;

use super::input::Input;
use super::report::Certainty;
use crate::block_shape::BlockShape;
use crate::chunk::{Content, Decoder, Header};
use crate::container::SUFFIX;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::remains;
use crate::limits::Limits;
use crate::store::ReadAt;

/// The bytes that tell what a chunk is.
pub(super) const HEADER: usize = 32;
/// The version byte of every chunk of Blosc1.
const BLOSC1: u8 = 2;
/// The header of such a chunk.
const BLOSC1_HEADER: usize = 16;

/// Why a chunk cannot be decoded whose filters work on N-d blocks.
const UNSHAPED: &str = "its filters need the shape of a block";

/// What a range takes until it is in the report, with the words for it.
const BYTES_PER_LOSS: usize = 160;

/// A chunk.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) at: u64,
    /// The length of the chunk.
    pub(super) len: usize,
    /// The bytes of its checksum, behind it.
    pub(super) suffix: usize,
    pub(super) decoded_len: usize,
    pub(super) item_size: usize,
    pub(super) certainty: Certainty,
    /// Why it cannot be decoded, although nothing says that it is damaged.
    pub(super) refusal: Option<Refusal>,
}

/// Why a chunk cannot be decoded: its codec or a filter is not known here, or its filters need the
/// shape of a block, which is lost.
pub(super) type Refusal = (ErrorKind, String);

impl Found {
    pub(super) fn end(&self) -> u64 {
        self.at + (self.len + self.suffix) as u64
    }

    pub(super) fn range(&self) -> Range<u64> {
        self.at..self.at + self.len as u64
    }
}

/// What a walk through a file has found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) chunks: Vec<Found>,
    /// Chunks whose checksum tells that they are damaged.
    pub(super) damaged: Vec<Range<u64>>,
    /// What else there is that is neither zeros nor anything known.
    pub(super) unknown: Vec<Range<u64>>,
}

/// Decides whether bytes are a chunk. A damaged file may look like one chunk inside of another, again
/// and again: what is spent on finding out that it is none is bounded.
pub(super) struct Judge<'a> {
    pub(super) input: Input<'a>,
    decoder: Decoder,
    pub(super) limits: Limits,
    /// Whether the shape of a block is known, and whether a checksum vouches for it.
    has_shape: bool,
    pub(super) is_shape_sealed: bool,
    /// Whether every chunk must have a checksum.
    pub(super) needs_checksums: bool,
    /// How many bytes may still be decoded in vain.
    budget: u64,
}

impl<'a> Judge<'a> {
    pub(super) fn new(store: &'a dyn ReadAt, limits: &Limits) -> Result<Self> {
        let input = Input::new(store)?;
        let budget = input.len().saturating_mul(16).saturating_add(1 << 26);
        let decoder = Decoder::new().with_limits(*limits);
        Ok(Self {
            input,
            decoder,
            limits: *limits,
            has_shape: false,
            is_shape_sealed: false,
            needs_checksums: false,
            budget,
        })
    }

    /// The same for the chunks of an array whose blocks have this shape, as its metalayer says.
    pub(super) fn with_shape(mut self, shape: Option<BlockShape>, is_sealed: bool) -> Self {
        self.is_shape_sealed = is_sealed;
        if let Some(shape) = shape {
            self.decoder = self.decoder.with_block_shape(shape);
            self.has_shape = true;
        }
        self
    }

    /// The chunk at a place where one should be, or why there is none.
    pub(super) fn look(&mut self, at: u64) -> Result<Found> {
        let rest = self.input.len().saturating_sub(at);
        if rest == 0 {
            return Err(Error::truncated("the file ends before it"));
        }
        let header = Header::parse(self.input.get(at, HEADER))?;
        let len = header.compressed_len();
        if len as u64 > rest {
            return Err(Error::truncated(format!("of {len} bytes only {rest} are here")));
        }
        self.limits.check_decoded(len)?;
        let suffix = match self.check_suffix(at, len)? {
            Some((true, suffix)) => suffix,
            Some((false, _)) => {
                return Err(Error::corrupt("it does not have the checksum it was written with"));
            }
            None if self.needs_checksums => return Err(Error::corrupt("its checksum is damaged")),
            None => 0,
        };
        let (mut certainty, mut refusal) = (Certainty::Verified, self.refusal_of(&header));
        match (suffix, &refusal) {
            (0, Some(_)) => certainty = Certainty::Assumed,
            (0, None) => certainty = self.certainty_of(&header, at)?,
            (_, None) if header.needs_block_shape() => match self.certainty_of(&header, at) {
                Ok(_) => certainty = self.best_certainty(&header),
                Err(error) if error.kind() == ErrorKind::LimitExceeded => return Err(error),
                // The chunk is what was written: it is the shape that is wrong.
                Err(error) => {
                    let words = format!("{UNSHAPED}: the one that the metalayer states: {error}");
                    refusal = Some((ErrorKind::Corrupt, words));
                }
            },
            (_, _) => {}
        }
        let (decoded_len, item_size) = (header.byte_len(), header.item_size());
        Ok(Found { at, len, suffix, decoded_len, item_size, certainty, refusal })
    }

    /// How sure a chunk with this header can be at best: a wrong shape of a block mixes up its
    /// items.
    pub(super) fn best_certainty(&self, header: &Header) -> Certainty {
        match header.needs_block_shape() && !self.is_shape_sealed {
            true => Certainty::Decoded,
            false => Certainty::Verified,
        }
    }

    /// Counts bytes that were looked at in vain.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.budget = self.budget.saturating_sub(bytes as u64);
    }

    /// Refuses to look at more bytes, after too many were looked at in vain.
    pub(super) fn check_budget(&self) -> Result<()> {
        match self.budget {
            0 => Err(Error::corrupt("too much of the file looks like chunks")),
            _ => Ok(()),
        }
    }

    /// Makes sure that the codec and the filters of a chunk are known.
    pub(super) fn check_known(&self, header: &Header) -> Result<()> {
        self.decoder.check_known(header)
    }

    /// Why chunks with this header cannot be decoded, where a codec or filter is not known here, or
    /// the shape of a block is needed and lost.
    fn refusal_of(&self, header: &Header) -> Option<Refusal> {
        match self.check_known(header) {
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                Some((ErrorKind::Unsupported, refusal(&error)))
            }
            _ if header.needs_block_shape() && !self.has_shape => {
                Some((ErrorKind::Corrupt, format!("{UNSHAPED}, which is lost with the metalayer")))
            }
            _ => None,
        }
    }

    /// How sure the chunk at `at` is, which has no checksum.
    pub(super) fn certainty_of(&mut self, header: &Header, at: u64) -> Result<Certainty> {
        self.limits.check_decoded(header.compressed_len())?;
        let range = at..at.saturating_add(header.compressed_len() as u64);
        let blocks = matches!(header.content(), Content::Blocks | Content::VariableBlocks);
        if !blocks {
            return self.input.check_readable(&range).map(|()| Certainty::Assumed);
        }
        self.limits.check_decoded(header.byte_len())?;
        check_block(header)?;
        self.check_budget()?;
        let chunk = self.input.whole(&range)?;
        match self.decoder.check(chunk) {
            Ok(()) => Ok(Certainty::Decoded),
            Err(error) => {
                self.spend(header.byte_len());
                Err(error)
            }
        }
    }

    /// Walks through the file and skips what is known to be no chunk.
    pub(super) fn walk(&mut self, known: &[Range<u64>]) -> Result<Scan> {
        let mut scan = Scan::default();
        let len = self.input.len();
        let (mut at, mut from) = (0, 0);
        let mut known = known.iter().peekable();
        while at < len {
            while known.next_if(|range| range.end <= at).is_some() {}
            if let Some(range) = known.peek().filter(|range| range.contains(&at)) {
                scan.note_unknown(&mut self.input, from..at);
                (at, from) = (range.end, range.end);
                continue;
            }
            let Some(header) = self.plausible(at) else {
                let end = known.peek().map_or(len, |range| range.start);
                at = self.next_candidate(at + 1..end).unwrap_or(end.max(at + 1));
                continue;
            };
            let end = match self.look(at) {
                Ok(found) => {
                    let end = found.end();
                    scan.chunks.push(found);
                    Some(end)
                }
                Err(_) => self.damaged_end(&header, at).inspect(|end| scan.damaged.push(at..*end)),
            };
            if let Some(end) = end {
                scan.note_unknown(&mut self.input, from..at);
                from = end;
                scan.check_size(&self.limits)?;
            }
            at = end.unwrap_or(at + 1);
        }
        scan.note_unknown(&mut self.input, from..len);
        Ok(scan)
    }

    /// The first place of a range that begins like a chunk of a frame.
    fn next_candidate(&mut self, range: Range<u64>) -> Option<u64> {
        self.input.position_of(range, |start| matches!(start, [3..=6, 1]))
    }

    /// A first look, at bytes that nearly every chunk of a frame has.
    fn plausible(&mut self, at: u64) -> Option<Header> {
        let rest = self.input.len() - at;
        let start = self.input.get(at, HEADER);
        let [3..=6, 1, flags, 1..=255, ..] = start else { return None };
        let header = Header::parse(start).ok().filter(|_| flags & 5 == 5)?;
        let (len, decoded) = (header.compressed_len(), header.byte_len());
        let fits = decoded > 0 && len as u64 <= rest && len <= decoded.saturating_add(64);
        fits.then_some(header)
    }

    /// The end of a chunk that states a checksum, which it does not have.
    fn damaged_end(&mut self, header: &Header, at: u64) -> Option<u64> {
        let len = header.compressed_len();
        self.limits.check_decoded(len).ok()?;
        let (_, suffix) = self.check_suffix(at, len).ok()??;
        Some(at + (len + suffix) as u64)
    }

    /// Whether the chunk of `len` bytes at `at` has the checksum that the bytes behind it state, and
    /// how long that is; `None` if they state none.
    fn check_suffix(&mut self, at: u64, len: usize) -> Result<Option<(bool, usize)>> {
        let end = at + len as u64;
        let Some(behind) = self.input.peek::<SUFFIX>(end) else { return Ok(None) };
        if !remains::states_hash(len, &behind) {
            return Ok(None);
        }
        let chunk = self.input.whole(&(at..end))?;
        Ok(remains::check_suffix(chunk, &behind))
    }
}

impl Scan {
    /// Notes a range, unless it is empty or all zeros: space that was never used.
    fn note_unknown(&mut self, input: &mut Input<'_>, range: Range<u64>) {
        if input.end_of_bytes(range.clone()) > range.start {
            self.unknown.push(range);
        }
    }

    /// Refuses more than the memory for lists holds.
    fn check_size(&self, limits: &Limits) -> Result<()> {
        let chunks = self.chunks.len() * size_of::<Found>();
        let ranges = (self.damaged.len() + self.unknown.len()) * BYTES_PER_LOSS;
        limits.check_metadata("list of what was found", (chunks + ranges) as u64)
    }
}

/// Refuses a chunk that is much too short for the blocks it speaks of: each is decoded as a whole.
fn check_block(header: &Header) -> Result<()> {
    /// The length up to which a block may come from any chunk.
    const SMALL_BLOCK: usize = 64 << 20;
    /// The most bytes of a longer block for each byte of its chunk.
    const MOST_EXPANSION: usize = 10_000;
    let most = header.compressed_len().saturating_mul(MOST_EXPANSION).max(SMALL_BLOCK);
    match header.block_size().filter(|size| *size > most) {
        None => Ok(()),
        Some(size) => Err(Error::corrupt(format!(
            "its blocks of {size} bytes are out of proportion to its {} bytes",
            header.compressed_len()
        ))),
    }
}

/// Why a chunk is lost that names an unknown codec or filter.
pub(super) fn refusal(error: &Error) -> String {
    format!("this build cannot decode it: {error}")
}

/// The header at a place, if it can be that of a chunk of Blosc1 that ends at `end` or before.
pub(super) fn blosc1_header(input: &mut Input<'_>, at: u64, end: u64) -> Option<Header> {
    let start = input.get(at, BLOSC1_HEADER);
    let [BLOSC1, 1, _, 1..=255, ..] = start else { return None };
    let header = Header::parse(start).ok()?;
    let len = header.compressed_len();
    let fits = at + len as u64 <= end && len <= header.byte_len().saturating_add(BLOSC1_HEADER);
    fits.then_some(header)
}

/// The first place of a range that begins like a chunk of Blosc1.
pub(super) fn next_blosc1(input: &mut Input<'_>, range: Range<u64>) -> Option<u64> {
    input.position_of(range, |start| matches!(start, [BLOSC1, 1, _, 1..=255]))
}
