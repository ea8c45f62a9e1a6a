//! The high-compression LZ4 encoder: searches chains of earlier positions and weighs what it
//! finds.
//!
//! | file | duty |
//! |---|---|
//! | `pairs` | the lightest levels: two candidates a position, nothing weighed |
//! | `rows` | remembers positions in rows of 16, each in one cache line |
//! | `lean` | searches rows and decides among matches that overlap, as they are found |
//! | `chains` | remembers every position by its first bytes and finds the longest match |
//! | `ways` | keeps the cheapest way to each position of a stretch |
//! | `parse` | decides where to search, and writes the cheapest ways |
//!
//! A level is only an amount of effort; the format of the block is the same.

mod chains;
mod lean;
mod pairs;
mod parse;
mod rows;
mod ways;

use alloc::vec::Vec;

use crate::lz4::MATCH_MARGIN;
use crate::lz4::emit::Block;
use crate::lz4::history::with_history;
use crate::marks::Marker;
use chains::{Chains, Patience};
use lean::{Ended, Lean};
use pairs::Pairs;
use parse::Parser;
use rows::{Effort, Rows};
use ways::Ways;

/// Encodes LZ4 blocks thoroughly; keeps its working memory between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Clone, Debug, Default)]
pub struct HcEncoder {
    pairs: Pairs,
    searcher: Searcher,
    /// The dictionary and the input in one piece, when there is a dictionary.
    joined: Vec<u8>,
}

impl HcEncoder {
    /// An encoder with empty tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Encodes `src` into `dst` and returns the length of the block, or `None` if it does not fit.
    ///
    /// `level` goes from 1 to 12; what lies outside counts as the nearest. Matches may refer to
    /// `dict`, of which the last 64 KiB count; the decoder then needs the same `dict`.
    pub fn compress(
        &mut self,
        level: u8,
        dict: &[u8],
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<usize> {
        self.encode(level, dict, src, Block::new(dst))
    }

    /// Encodes like [`compress`](Self::compress), without a dictionary, and has sequences marked.
    pub fn compress_marked(
        &mut self,
        level: u8,
        src: &[u8],
        dst: &mut [u8],
        marker: &mut Marker,
    ) -> Option<usize> {
        self.encode(level, &[], src, Block::marked(dst, Some(marker)))
    }

    fn encode(
        &mut self,
        level: u8,
        dict: &[u8],
        src: &[u8],
        mut block: Block<'_>,
    ) -> Option<usize> {
        let (input, start) = with_history(dict, src, &mut self.joined);
        let mut anchor = start;
        // The tables hold positions of 32 bits; a longer input would be a block of literals.
        if src.len() > MATCH_MARGIN && u32::try_from(input.len()).is_ok() {
            // SAFETY: more than `MATCH_MARGIN` bytes follow `start`, positions fit 32 bits, and
            // the chains are cleared for this input.
            anchor = unsafe {
                if level <= LIGHT {
                    self.pairs.encode(input, start, &mut block)?
                } else {
                    self.searcher.encode(level, input, start, &mut block)?
                }
            };
        }
        block.finish(input.get(anchor..)?)
    }
}

/// Encodes at the levels that search for more than one candidate.
#[derive(Clone, Debug, Default)]
struct Searcher {
    rows: Rows,
    chains: Chains,
    ways: Ways,
}

impl Searcher {
    /// Writes all sequences that have a match; returns where the last literals begin.
    ///
    /// # Safety
    ///
    /// `start + MATCH_MARGIN < input.len()`, and positions fit 32 bits.
    unsafe fn encode(
        &mut self,
        level: u8,
        input: &[u8],
        start: usize,
        block: &mut Block<'_>,
    ) -> Option<usize> {
        debug_assert!(start + MATCH_MARGIN < input.len() && u32::try_from(input.len()).is_ok());
        self.rows.clear(input.len(), effort_of(level));
        // SAFETY: `start + MATCH_MARGIN < input.len()` and positions fit 32 bits:
        // `HcEncoder::encode` compares both. The rows were cleared just above, and the chains are
        // cleared before `Parser` gets them. Where `Lean` gives up, its anchor is not after the
        // position that it would search next, which is `last_begin` at most: `MATCH_MARGIN` bytes
        // follow.
        unsafe {
            let mut lean = Lean::new(&mut self.rows, input, start, level > LEAN);
            let anchor = match lean.encode(block) {
                Some(Ended::Done(anchor)) => return Some(anchor),
                // Of a full block only what would not have been kept is written again.
                None if level <= LEAN || lean.anchor() >= start + EARLY => return None,
                Some(Ended::GivenUp(anchor)) if anchor >= start + EARLY => anchor,
                _ => {
                    block.begin_with(&[])?;
                    start
                }
            };
            let (chains, ways) = (&mut self.chains, &mut self.ways);
            chains.clear(input.len(), anchor);
            Parser::new(chains, ways, patience_of(level), input, anchor).encode(block)
        }
    }
}

/// Levels up to this one use [`Pairs`].
const LIGHT: u8 = 2;

/// Levels above that and up to this one use [`Rows`] alone. Those above use them as long as that gains
/// little or the matches are long: searching chains would gain little more.
const LEAN: u8 = 5;

/// What was written up to here is not worth keeping when chains are searched after all.
const EARLY: usize = 1 << 15;

/// How thoroughly rows are searched at this level, which is above [`LIGHT`].
fn effort_of(level: u8) -> Effort {
    let most_bits = if level <= LEAN { 12 } else { 13 };
    let (long, short, few) = match level {
        0..=3 => (4, 12, 1),
        4 => (8, 14, 2),
        _ => (16, 16, 4),
    };
    Effort { most_bits, long, short, few }
}

/// How thoroughly chains are searched at this level, which is above [`LEAN`].
fn patience_of(level: u8) -> Patience {
    let depth: usize = match level {
        0..=6 => 28,
        7 => 52,
        8 => 100,
        9 => 192,
        10 => 512,
        11 => 1024,
        _ => 4096,
    };
    let (doubt, fair) = if level < 9 { (depth.div_ceil(3), 8) } else { (depth / 6, 12) };
    Patience { depth, doubt, fair }
}
