//! Frames with matches, found quickly.
//!
//! Of a short input all positions fit 16 bits, so that the table of the search takes 16 KiB: it
//! and the input stay in the fastest cache.

use alloc::vec::Vec;

use crate::runs::repeated_byte;
use crate::zstd::encode::block::{Frame, MAX_BLOCK};
use crate::zstd::encode::parsed::Parsed;
use crate::zstd::encode::sample::{Sample, UNIT, is_noise};
use crate::zstd::encode::search::{Block, Entry, FIRST_DISTANCES, search};

/// A byte in 64 is the least gain for which a decoder is given the work of decoding.
pub(super) const GAIN_SHIFT: u32 = 6;

/// The longest input: distances and what is added to them fit 32 bits.
pub(super) const LONGEST: usize = 1 << 30;

/// Inputs up to this length have positions of 16 bits.
const SHORT_INPUT: usize = 1 << 16;

/// The sizes of the tables, and how many bytes are hashed.
const SHORT_BITS: u32 = 13;
const LONG_BITS: u32 = 14;
const KEY: u32 = 6;

/// The working memory of the fast way.
#[derive(Clone, Debug, Default)]
pub(super) struct Fast {
    short: Vec<u16>,
    long: Vec<u32>,
    parsed: Parsed,
}

impl Fast {
    /// Adds `src`, of at most [`LONGEST`] bytes, to the frame.
    pub(super) fn write(&mut self, src: &[u8], frame: &mut Frame<'_>) -> Option<()> {
        let mut distances = FIRST_DISTANCES;
        self.clear_table(src.len());
        let mut begin = 0;
        while begin < src.len() {
            let end = begin + block_len(src.get(begin..)?, src.len() > SHORT_INPUT);
            let block = Block { input: src, begin, end };
            distances = self.write_block(block, distances, frame)?;
            begin = end;
        }
        Some(())
    }

    /// Adds a block to the frame; returns the distances behind it.
    fn write_block(
        &mut self,
        block: Block<'_>,
        before: [usize; 2],
        frame: &mut Frame<'_>,
    ) -> Option<[usize; 2]> {
        let part = block.input.get(block.begin..block.end)?;
        if let Some(byte) = repeated_byte(part) {
            frame.run(byte, part.len())?;
            return Some(before);
        }
        let mut distances = before;
        // SAFETY: the block lies in the input, for which the table was made. It holds positions of
        // earlier blocks, from which the distances are.
        unsafe { self.search(block, &mut distances) };
        let found = self.parsed.found();
        let all_literals = found.sequences.is_empty();
        if all_literals && part.len() >= UNIT / 2 && is_noise(part, GAIN_SHIFT) {
            frame.raw(part)?;
            return Some(before);
        }
        let literals = if all_literals { part } else { self.parsed.literals() };
        // SAFETY: nothing was counted before.
        let compressed = unsafe { frame.compressed(part, literals, None, found)? };
        Some(if compressed { distances } else { before })
    }

    /// Makes the table for an input of so many bytes empty.
    fn clear_table(&mut self, len: usize) {
        if len <= SHORT_INPUT {
            self.short.clear();
            self.short.resize(1 << SHORT_BITS, 0);
        } else {
            self.long.clear();
            self.long.resize(1 << LONG_BITS, 0);
        }
    }

    /// Takes a block apart.
    ///
    /// # Safety
    ///
    /// * `block.begin <= block.end <= block.input.len()`, and the block has at most [`MAX_BLOCK`]
    ///   bytes.
    /// * [`Fast::clear_table`] was called with `block.input.len()`, and since then only blocks of
    ///   this input that end at or before `block.begin` were searched.
    /// * `distances` are those that the search of one of these has left, or [`FIRST_DISTANCES`].
    unsafe fn search(&mut self, block: Block<'_>, distances: &mut [usize; 2]) {
        let Fast { short, long, parsed } = self;
        // SAFETY: `write` passes the blocks of the input in their order, each as long as
        // `block_len` returns: at most `MAX_BLOCK`. It has called `clear_table`, which chooses the
        // table by the same length: positions of an input of up to `SHORT_INPUT` bytes fit `u16`,
        // of `LONGEST` `u32`.
        unsafe {
            if block.input.len() <= SHORT_INPUT {
                search_here::<u16, SHORT_BITS>(short, block, distances, parsed);
            } else {
                search_here::<u32, LONG_BITS>(long, block, distances, parsed);
            }
        }
    }
}

/// How long the block at the begin of `rest` is: up to where bytes become different, if it may be cut.
fn block_len(rest: &[u8], cut: bool) -> usize {
    let all = rest.get(..MAX_BLOCK).unwrap_or(rest);
    let mut units = all.chunks_exact(UNIT);
    let Some(first) = units.next().filter(|_| cut) else { return all.len() };
    let mut so_far = Sample::of(first);
    for (number, unit) in units.enumerate() {
        let next = Sample::of(unit);
        if so_far.differs(&next) {
            return (number + 1) * UNIT;
        }
        so_far.add(&next);
    }
    all.len()
}

/// Takes a block apart with the best instructions that there are.
///
/// # Safety
///
/// As [`search`], except that every processor will do.
unsafe fn search_here<T: Entry, const BITS: u32>(
    table: &mut [T],
    block: Block<'_>,
    distances: &mut [usize; 2],
    parsed: &mut Parsed,
) {
    // SAFETY: `Fast::search` passes the table for the length of the input, and a block of the input
    // that follows those whose positions the table holds. If `has_avx2`, the processor has AVX2,
    // BMI1, BMI2 and LZCNT (`cpu::Features::avx2` checks all four).
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::isa().has_avx2() {
            return search_bmi2::<T, BITS>(table, block, distances, parsed);
        }
        search::<T, BITS, KEY, false>(table, block, distances, parsed);
    }
}

/// # Safety
///
/// As [`search`], and the processor has AVX2, BMI1, BMI2 and LZCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
unsafe fn search_bmi2<T: Entry, const BITS: u32>(
    table: &mut [T],
    block: Block<'_>,
    distances: &mut [usize; 2],
    parsed: &mut Parsed,
) {
    // SAFETY: `search_here` passes on the table and the block from `Fast::search`, and has asked
    // `has_avx2`.
    unsafe { search::<T, BITS, KEY, true>(table, block, distances, parsed) };
}
