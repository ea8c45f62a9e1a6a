//! Looking for chunks where nothing tells where they are.

use std::ops::Range;

use super::report::Certainty;
use crate::chunk::{Content, Decoder, Header};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::remains;
use crate::limits::Limits;

/// The version byte of every chunk of Blosc1.
const BLOSC1: u8 = 2;
/// The header of such a chunk.
const BLOSC1_HEADER: usize = 16;

/// A chunk.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) at: usize,
    /// The length of the chunk.
    pub(super) len: usize,
    /// The bytes of its checksum, behind it.
    pub(super) suffix: usize,
    pub(super) decoded_len: usize,
    pub(super) item_size: usize,
    pub(super) certainty: Certainty,
}

impl Found {
    pub(super) fn end(&self) -> usize {
        self.at + self.len + self.suffix
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.at + self.len
    }
}

/// What a walk through a file has found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) chunks: Vec<Found>,
    /// Chunks whose checksum tells that they are damaged.
    pub(super) damaged: Vec<Range<usize>>,
    /// What else there is that is neither zeros nor anything known.
    pub(super) unknown: Vec<Range<usize>>,
}

/// Decides whether bytes are a chunk. A damaged file may look like one chunk inside of another, again
/// and again: what is spent on finding out that it is none is bounded.
pub(super) struct Judge<'a> {
    bytes: &'a [u8],
    decoder: Decoder,
    limits: Limits,
    /// How many bytes may still be decoded in vain.
    budget: usize,
}

impl<'a> Judge<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &Limits) -> Self {
        let budget = bytes.len().saturating_mul(16).saturating_add(1 << 26);
        Self { bytes, decoder: Decoder::new().with_limits(*limits), limits: *limits, budget }
    }

    /// The chunk at a place where one should be, or why there is none.
    pub(super) fn look(&mut self, at: usize) -> Result<Found> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return Err(Error::truncated("the file ends before it"));
        }
        let header = Header::parse(rest)?;
        let len = header.compressed_len();
        let chunk = rest.get(..len).ok_or_else(|| {
            Error::truncated(format!("of {len} bytes only {} are here", rest.len()))
        })?;
        let mut found = Found {
            at,
            len,
            suffix: 0,
            decoded_len: header.len(),
            item_size: header.item_size(),
            certainty: Certainty::Verified,
        };
        let behind = rest.get(len..).unwrap_or_default();
        match remains::check_suffix(chunk, behind) {
            Some((true, suffix)) => found.suffix = suffix,
            Some((false, _)) => {
                return Err(Error::corrupt("it does not have the checksum it was written with"));
            }
            None => found.certainty = self.certainty_of(&header, chunk)?,
        }
        Ok(found)
    }

    /// Counts bytes that were looked at in vain.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<()> {
        let left = self.budget.checked_sub(bytes);
        self.budget = left.ok_or_else(|| Error::limit("too much of the file looks like chunks"))?;
        Ok(())
    }

    /// How sure a chunk without a checksum is.
    pub(super) fn certainty_of(&mut self, header: &Header, chunk: &[u8]) -> Result<Certainty> {
        let blocks = matches!(header.content(), Content::Blocks | Content::VariableBlocks);
        if !blocks {
            return Ok(Certainty::Assumed);
        }
        self.limits.check_decoded(header.len())?;
        let before = self.budget;
        self.spend(header.len())?;
        match self.decoder.decompress(chunk) {
            // Its codec may not be at hand.
            Err(error) if error.kind() != ErrorKind::Unsupported => Err(error),
            result => {
                self.budget = before;
                Ok(if result.is_ok() { Certainty::Decoded } else { Certainty::Assumed })
            }
        }
    }

    /// The same where all codecs are known: a chunk that names another one is damaged.
    pub(super) fn certainty_of_known(
        &mut self,
        header: &Header,
        chunk: &[u8],
    ) -> Result<Certainty> {
        match self.certainty_of(header, chunk)? {
            Certainty::Assumed if header.content() == Content::Blocks => {
                Err(Error::unsupported("its codec is not known"))
            }
            certainty => Ok(certainty),
        }
    }

    /// Walks through the file and skips what is known to be no chunk. `fits` has the last word on
    /// whether a header can be one of this file.
    pub(super) fn walk(&mut self, known: &[Range<usize>], fits: impl Fn(&Header) -> bool) -> Scan {
        let mut scan = Scan::default();
        let (mut at, mut from) = (0, 0);
        let mut known = known.iter().peekable();
        while at < self.bytes.len() {
            while known.next_if(|range| range.end <= at).is_some() {}
            if let Some(range) = known.peek().filter(|range| range.contains(&at)) {
                scan.note_unknown(self.bytes, from..at);
                (at, from) = (range.end, range.end);
                continue;
            }
            let end = match self.plausible(at, &fits).then(|| self.look(at)) {
                Some(Ok(found)) => {
                    let end = found.end();
                    scan.chunks.push(found);
                    Some(end)
                }
                Some(Err(_)) => self.damaged_end(at).inspect(|end| scan.damaged.push(at..*end)),
                None => None,
            };
            if let Some(end) = end {
                scan.note_unknown(self.bytes, from..at);
                from = end;
            }
            at = end.unwrap_or(at + 1);
        }
        scan.note_unknown(self.bytes, from..self.bytes.len());
        scan
    }

    /// A first look, at bytes that nearly every chunk of a frame has.
    fn plausible(&self, at: usize, fits: impl Fn(&Header) -> bool) -> bool {
        let Some([version, 1, flags, typesize, ..]) = self.bytes.get(at..) else { return false };
        if !(3..=6).contains(version) || flags & 5 != 5 || *typesize == 0 {
            return false;
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        let Ok(header) = Header::parse(rest) else { return false };
        let (len, decoded) = (header.compressed_len(), header.len());
        let sizes = decoded > 0 && len <= rest.len() && len <= decoded.saturating_add(64);
        sizes && fits(&header)
    }

    /// The end of a chunk that states a checksum, which it does not have.
    fn damaged_end(&self, at: usize) -> Option<usize> {
        let rest = self.bytes.get(at..)?;
        let len = Header::parse(rest).ok()?.compressed_len();
        let (_, suffix) = remains::check_suffix(rest.get(..len)?, rest.get(len..)?)?;
        Some(at + len + suffix)
    }
}

impl Scan {
    /// Notes a range, unless it is empty or all zeros: space that was never used.
    fn note_unknown(&mut self, bytes: &[u8], range: Range<usize>) {
        let part = bytes.get(range.clone()).unwrap_or_default();
        if part.iter().any(|byte| *byte != 0) {
            self.unknown.push(range);
        }
    }
}

/// The header at a place, if it can be that of a chunk of Blosc1 that fits the file.
pub(super) fn blosc1_header(bytes: &[u8], at: usize) -> Option<Header> {
    let rest = bytes.get(at..)?;
    let [BLOSC1, 1, _, 1..=255, ..] = rest else { return None };
    let header = Header::parse(rest).ok()?;
    let len = header.compressed_len();
    let fits = len <= rest.len() && len <= header.len().saturating_add(BLOSC1_HEADER);
    fits.then_some(header)
}
