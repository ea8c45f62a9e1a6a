//! Zlib streams (RFC 1950, 1951): an encoder.
//!
//! ```text
//!  2 bytes   bits, the lowest first           zero bits   4 bytes, big-endian
//! ┌─────────┬───────┬───────┬─────┬──────────┬───────────┬─────────────────────┐
//! │ 78 ..   │ block │ block │  …  │ last one │ to a byte │ Adler-32 of all     │
//! └─────────┴───────┴───────┴─────┴──────────┴───────────┴─────────────────────┘
//! ```
//!
//! The input is parsed a *segment* at a time into literals and matches. A segment joins the block
//! before it or begins a new one, whatever takes fewer bits; a block is written when it is complete.

mod bits;
mod block;
mod finder;
mod header;
mod huffman;
mod lazy;
mod model;
mod runs;
mod segment;
mod stats;
mod symbols;
#[cfg(test)]
mod tests;
mod ways;

use alloc::vec::Vec;

use crate::adler32;
use bits::BitWriter;
use block::write_block;
use finder::{Finder, MAX_STREAM};
use model::Model;
use segment::Segment;
use stats::{Counts, Sequence};

/// How repetitions are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Only runs of one byte: the rest are codes.
    Runs,
    /// Among the last four positions with the same hash. Takes mostly as many bytes as
    /// [`Search::Thorough`], and a tenth less time.
    Brisk,
    /// Among the last eight; streams are mostly as short as those of zlib-ng at level 5.
    Thorough,
}

/// Encodes zlib streams; keeps its working memory, allocated on first use, between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    finder: Option<Finder>,
    sequences: Vec<Sequence>,
}

impl Encoder {
    /// Encodes `src` as one stream into `dst` and returns its length, or `None` if it does not fit.
    pub fn compress(&mut self, search: Search, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let search = if src.len() > MAX_STREAM { Search::Runs } else { search };
        let mut out = BitWriter::new(dst);
        out.put_bytes(&HEADER)?;
        self.write_blocks(search, src, &mut out)?;
        if !out.has_room_for(u64::from(out.bits_to_a_byte()) + 32) {
            return None;
        }
        out.align();
        out.put_bytes(&adler32(1, src).to_be_bytes())?;
        Some(out.len())
    }

    fn write_blocks(&mut self, search: Search, src: &[u8], out: &mut BitWriter<'_>) -> Option<()> {
        let finder = self.finder.get_or_insert_with(Finder::new);
        finder.begin(src.len());
        let sequences = &mut self.sequences;
        sequences.clear();
        let mut model = Model::new(src.get(..SAMPLE).unwrap_or(src));
        let mut block = Block { begin: 0, counts: Counts::new(), bits: None };
        let mut at = 0;
        while at < src.len() {
            let known = sequences.len();
            let mut segment = Segment::new(src, at, search.symbols(at), sequences);
            search.parse(finder, &model, &mut segment);
            let end = segment.end;
            let begin = at;
            let counts = Counts::of(src.get(at..end)?, sequences.get(known..)?);
            at = end;
            if end < src.len() {
                model.learn(&counts, end - begin);
            }
            if let Some(complete) = block.join_or_begin(counts, begin, known) {
                let bytes = src.get(complete.begin..begin)?;
                write_block(out, bytes, sequences.get(..known)?, &complete.counts, false)?;
                sequences.drain(..known);
            }
        }
        block.counts.litlen[symbols::END] = 1;
        write_block(out, src.get(block.begin..)?, sequences, &block.counts, true)
    }
}

/// Bytes that are looked at before anything else.
const SAMPLE: usize = 1536;

/// So many sequences a block has at most, at about.
const MAX_SEQUENCES: usize = 65_536;

/// So many bytes a block has at most, at about: counts stay small.
const MAX_BYTES: usize = 1 << 20;

/// The segments that wait to be written together.
struct Block {
    begin: usize,
    counts: Counts,
    /// What it takes, by estimate; unless nobody asked yet.
    bits: Option<u64>,
}

impl Block {
    /// Adds the segment at `begin`, or gives back what is complete without it: so many `sequences`.
    fn join_or_begin(&mut self, counts: Counts, begin: usize, sequences: usize) -> Option<Block> {
        if sequences == 0 {
            self.counts = counts;
            self.bits = None;
            return None;
        }
        let apart = counts.estimate() + self.bits.unwrap_or_else(|| self.counts.estimate());
        let mut joined = self.counts.clone();
        joined.add(&counts);
        let together = joined.estimate();
        let is_full = sequences > MAX_SEQUENCES || begin - self.begin > MAX_BYTES;
        if together > apart || is_full {
            let rest = Block { begin, counts, bits: None };
            return Some(core::mem::replace(self, rest));
        }
        self.counts = joined;
        self.bits = Some(together);
        None
    }
}

/// The first two bytes: DEFLATE with a window of 32 KiB by an encoder that was not thorough.
const HEADER: [u8; 2] = [0x78, 0x5E];

impl Search {
    /// How many symbols the segment at `begin` is to have.
    fn symbols(self, begin: usize) -> usize {
        match self {
            // The first one is short, to learn from.
            Search::Brisk | Search::Thorough if begin == 0 => 1024,
            _ => 8192,
        }
    }

    fn parse(self, finder: &mut Finder, model: &Model, segment: &mut Segment<'_>) {
        match self {
            Search::Runs => runs::parse(segment),
            Search::Brisk => lazy::parse(lazy::BRISK, finder, model, segment),
            Search::Thorough => lazy::parse(lazy::THOROUGH, finder, model, segment),
        }
    }
}
