//! Looking at every chunk.

use super::SuperChunk;
use super::fetch::Source;
use crate::container::Integrity;
use crate::error::{Error, Result};

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
        self.verify_with(|_| {})
    }

    /// The same, and tells after each chunk how many bytes it decodes to.
    pub fn verify_with(&self, mut done: impl FnMut(usize)) -> Result<Verification> {
        let integrity = self.layout.integrity();
        let mut report = Verification { integrity, checked: 0, decoded: 0, damaged: Vec::new() };
        let mut decoded = Vec::new();
        for number in 0..self.chunk_count() {
            match self.verify_chunk(number, &mut decoded) {
                Ok(true) => report.checked += 1,
                Ok(false) => report.decoded += 1,
                Err(error) => report.damaged.push((number, self.told(number, error))),
            }
            done(self.decoded_len(number).unwrap_or(0));
        }
        Ok(report)
    }

    /// Decodes one chunk; tells whether a checksum was compared.
    fn verify_chunk(&self, number: usize, decoded: &mut Vec<u8>) -> Result<bool> {
        let Source::Stored(slot) = self.source(number)? else { return Ok(false) };
        let mut buffer = Vec::new();
        let (chunk, behind) = self.fetch(number, slot, &mut buffer)?;
        let compared = self.layout.check(slot, chunk, behind).is_some();
        let len = crate::chunk::Header::parse(chunk)?.len();
        self.limits.check_decoded(len)?;
        decoded.resize(len, 0);
        self.decode(number, decoded)?;
        Ok(compared)
    }
}
