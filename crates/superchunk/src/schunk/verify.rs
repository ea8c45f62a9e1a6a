//! Looking at every chunk.

use super::SuperChunk;
use super::fetch::Source;
use crate::chunk::Header;
use crate::container::Integrity;
use crate::error::{Error, ErrorKind, Result};
use crate::exec::Work;

/// What [`SuperChunk::verify`] has found.
#[non_exhaustive]
#[derive(Debug)]
pub struct Verification {
    /// What vouches for header, index and metadata.
    pub integrity: Integrity,
    /// How many chunks have the checksum that they were written with.
    pub checked: usize,
    /// How many chunks decode, but have no checksum to compare with.
    pub decoded: usize,
    /// The chunks that cannot be read, and why.
    pub damaged: Vec<(usize, Error)>,
}

/// How far a chunk is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// It is there, and its header fits its place.
    Header,
    /// It has its checksum, if there is one.
    Checksum,
    /// It decodes.
    Decode,
}

/// What came of it.
pub(crate) struct Looked {
    /// How far it came.
    pub(crate) stage: Depth,
    /// Whether a checksum was compared, and is right.
    pub(crate) compared: bool,
    /// The decoded length.
    pub(crate) len: usize,
    /// What is wrong at this stage.
    pub(crate) error: Option<Error>,
}

impl Verification {
    /// Whether everything could be read.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.damaged.is_empty()
    }
}

impl SuperChunk {
    /// Decodes every chunk and compares checksums where there are any.
    pub fn verify(&self) -> Result<Verification> {
        let integrity = self.layout.integrity();
        let mut report = Verification { integrity, checked: 0, decoded: 0, damaged: Vec::new() };
        let mut decoded = Vec::new();
        for number in 0..self.chunk_count() {
            self.compress.executor.begin(
                Work::Verify,
                self.likely_len(number),
                Some(self.byte_len()),
            )?;
            let looked = self.look(number, Depth::Decode, &mut decoded);
            match (looked.error, looked.compared) {
                (Some(error), _) if error.kind() == ErrorKind::Interrupted => return Err(error),
                (Some(error), _) => report.damaged.push((number, error)),
                (None, true) => report.checked += 1,
                (None, false) => report.decoded += 1,
            }
        }
        Ok(report)
    }

    /// The decoded length of a chunk, or 0 where the chunk itself has to be asked.
    pub(crate) fn likely_len(&self, number: usize) -> usize {
        self.contents.expected_len(number).unwrap_or(0)
    }

    /// Looks at one chunk; `decoded` is memory for it.
    pub(crate) fn look(&self, number: usize, depth: Depth, decoded: &mut Vec<u8>) -> Looked {
        let len = self.likely_len(number);
        let mut looked = Looked { stage: Depth::Header, compared: false, len, error: None };
        let result = self.look_into(number, depth, decoded, &mut looked);
        looked.error = result.err().map(|error| self.told(number, error));
        looked
    }

    fn look_into(
        &self,
        number: usize,
        depth: Depth,
        decoded: &mut Vec<u8>,
        looked: &mut Looked,
    ) -> Result<()> {
        let Source::Stored(slot) = self.source(number)? else {
            looked.stage = depth;
            return Ok(());
        };
        let mut buffer = Vec::new();
        if depth == Depth::Header && self.layout.as_bytes(slot).is_none() {
            looked.len = self.read_start(number, slot, &mut buffer)?.0.byte_len();
            return Ok(());
        }
        let (chunk, behind) = self.fetch_unchecked(number, slot, &mut buffer)?;
        looked.len = Header::parse(chunk)?.byte_len();
        if depth == Depth::Header {
            return Ok(());
        }
        looked.stage = Depth::Checksum;
        if let Some(verdict) = self.layout.check(slot, chunk, behind) {
            verdict?;
            looked.compared = true;
        }
        if depth == Depth::Checksum {
            return Ok(());
        }
        looked.stage = Depth::Decode;
        self.limits.check_decoded(looked.len)?;
        decoded.resize(looked.len, 0);
        self.with_scratch(|scratch| {
            scratch.decoder.decompress_into(chunk, decoded)?;
            scratch.decoder.check_marks(chunk)
        })
    }

    /// Where the layout keeps the chunks that it keeps.
    #[cfg(any(unix, windows))]
    pub(crate) fn stored_slots(&self) -> impl Iterator<Item = u64> {
        self.contents.entries.iter().filter_map(|entry| entry.stored_slot())
    }
}
