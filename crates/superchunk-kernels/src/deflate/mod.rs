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
mod emit;
mod finder;
mod header;
mod huffman;
mod lazy;
mod marking;
mod model;
mod parsed;
mod parser;
mod quick;
mod runs;
mod segment;
mod stats;
mod symbols;
#[cfg(test)]
mod tests;
mod ways;

use crate::adler32;
use crate::marks::Marker;
use bits::BitWriter;
use block::{write_block, write_stored};
use finder::MAX_STREAM;
use parsed::{Mark, Parsed};
use parser::{Memory, Parser};
use stats::Counts;

/// How repetitions are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Only runs of one byte: the rest are codes.
    Runs,
    /// At the last position with the same hash; the first one that is found is taken. Streams are
    /// shorter than those of zlib-ng at level 1.
    Quick,
    /// The same, but where hardly anything comes again, bytes are stored: codes alone would shorten
    /// them, if only to be decoded at a tenth of the speed.
    QuickRepetitions,
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
    memory: Memory,
    parsed: Parsed,
}

impl Encoder {
    /// Encodes `src` as one stream into `dst` and returns its length, or `None` if it does not fit.
    pub fn compress(&mut self, search: Search, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        self.encode(search, src, BitWriter::new(dst, None))
    }

    /// Encodes like [`compress`](Self::compress), and has blocks and symbols marked.
    pub fn compress_marked(
        &mut self,
        search: Search,
        src: &[u8],
        dst: &mut [u8],
        marker: &mut Marker,
    ) -> Option<usize> {
        marker.begin_again();
        self.encode(search, src, BitWriter::new(dst, Some(marker)))
    }

    fn encode(&mut self, search: Search, src: &[u8], mut out: BitWriter<'_>) -> Option<usize> {
        let search = if src.len() > MAX_STREAM { Search::Runs } else { search };
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
        let Encoder { memory, parsed } = self;
        parsed.clear();
        let mut parser = Parser::new(search, src, memory);
        let mut block = Block { begin: 0, counts: Counts::new(), bits: None };
        let mut at = 0;
        while at < src.len() {
            let (begin, mark) = (at, parsed.mark());
            let (end, counts) = parser.parse(src, begin, parsed);
            at = end;
            let Some(counts) = counts else {
                block.write(src, begin, (parsed, mark), out)?;
                write_stored(out, src.get(begin..end)?, end == src.len())?;
                parsed.clear();
                block = Block { begin: end, counts: Counts::new(), bits: None };
                continue;
            };
            if let Some(complete) = block.join_or_begin(counts, begin, mark.units) {
                complete.write(src, begin, (parsed, mark), out)?;
                parsed.forget(mark);
            }
        }
        if block.begin == src.len() && !src.is_empty() {
            return Some(());
        }
        block.counts.litlen[symbols::END] = 1;
        let tokens = parsed.up_to(parsed.mark());
        write_block(out, src.get(block.begin..)?, tokens, &block.counts, true)
    }
}

/// So many units a block has at most, at about.
const MAX_UNITS: usize = 65_536;

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
    /// Adds the segment at `begin`, or gives back what is complete without it: of so many `units`.
    fn join_or_begin(&mut self, counts: Counts, begin: usize, units: usize) -> Option<Block> {
        if units == 0 {
            self.counts = counts;
            self.bits = None;
            return None;
        }
        let apart = counts.estimate() + self.bits.unwrap_or_else(|| self.counts.estimate());
        let mut joined = self.counts.clone();
        joined.add(&counts);
        let together = joined.estimate();
        let is_full = units > MAX_UNITS || begin - self.begin > MAX_BYTES;
        if together > apart || is_full {
            let rest = Block { begin, counts, bits: None };
            return Some(core::mem::replace(self, rest));
        }
        self.counts = joined;
        self.bits = Some(together);
        None
    }

    /// Writes it, up to `end` and to a mark, if there is anything; others follow.
    fn write(
        &self,
        src: &[u8],
        end: usize,
        (parsed, mark): (&Parsed, Mark),
        out: &mut BitWriter<'_>,
    ) -> Option<()> {
        if self.begin == end {
            return Some(());
        }
        let bytes = src.get(self.begin..end)?;
        write_block(out, bytes, parsed.up_to(mark), &self.counts, false)
    }
}

/// The first two bytes: DEFLATE with a window of 32 KiB by an encoder that was not thorough.
const HEADER: [u8; 2] = [0x78, 0x5E];
