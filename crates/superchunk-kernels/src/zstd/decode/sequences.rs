//! The head of a block's sequences: how many there are, and by which tables they are read.

use alloc::vec::Vec;

use super::Result;
use super::bits::MARGIN;
use super::codes::{Codes, Usual};
use super::execute::{Work, execute};
use super::output::Output;

/// What is said of a stream that does not come out even, or names what cannot be.
pub(super) const WRONG: &str = "zstd sequences are corrupt";

/// The distances that sequences can refer to without naming them, the last one first.
pub(super) type Recent = [usize; 3];

/// Those at the begin of a frame.
pub(super) const FIRST_RECENT: Recent = [1, 4, 8];

/// The tables of sequences, and memory.
pub(super) struct Sequences {
    pub(super) codes: Codes,
    usual: Usual,
    /// A copy of a stream that has no margin before it.
    copy: Vec<u8>,
}

impl Sequences {
    pub(super) fn new() -> Self {
        Self { codes: Codes::new(), usual: Usual::new(), copy: Vec::new() }
    }

    /// Reads `count` sequences and carries them out, until there are enough. `section` begins with
    /// the description of the tables and ends with `src`.
    pub(super) fn decode(
        &mut self,
        count: usize,
        src: &[u8],
        section: &[u8],
        recent: &mut Recent,
        output: &mut Output<'_, '_>,
    ) -> Result<()> {
        execute(&self.work(count, src, section)?, recent, output)
    }

    /// Reads the tables of `count` sequences. `section` begins with their description and ends with
    /// `src`.
    pub(super) fn work<'a>(
        &'a mut self,
        count: usize,
        src: &'a [u8],
        section: &[u8],
    ) -> Result<Work<'a>> {
        let stream = self.codes.read(section, &self.usual)?;
        let before = src.len() - stream.len();
        let (bytes, before) = if before >= MARGIN {
            (src, before)
        } else {
            self.copy.clear();
            self.copy.extend_from_slice(&[0; MARGIN]);
            self.copy.extend_from_slice(stream);
            (self.copy.as_slice(), MARGIN)
        };
        Ok(Work { codes: &self.codes, bytes, before, count })
    }
}
