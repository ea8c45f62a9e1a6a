//! Tables that decode a prefix code: the next bits of the stream are the index of an entry.
//!
//! A table has `2^bits` entries for the codes of up to so many bits; longer ones share an entry
//! that points to a table of their last bits, which lies behind. An entry is one of
//!
//! ```text
//!   31           24 23           16 15 14 13 12 11      8  7  6  5       0
//! ┌───────────────┬───────────────┬───────────────────────┬─────┬─────────┐
//! │ bits of first │ second literal│ first literal         │ 1,2 │ all bits│  literals
//! ├───────────────┴───────────────┼──┬──┬──┬──┬───────────┼─────┼─────────┤
//! │ base of the length, distance  │0 │0 │0 │0 │ code bits │ 0   │ all bits│  value with extra bits
//! │ index of its first entry      │1 │1 │0 │0 │ its bits  │ 0   │ bits    │  table of longer codes
//! │ 0                             │1 │0 │1 │0 │ code bits │ 0   │ bits    │  end of the block
//! │ 0                             │1 │0 │0 │0 │           │ 0   │ 0       │  no code
//! └───────────────────────────────┴──┴──┴──┴──┴───────────┴─────┴─────────┘
//! ```
//!
//! The low 6 bits are what the entry takes from the stream, extra bits included. So the bits of a
//! buffer are counted by subtracting whole entries: what is above the low 6 bits of the difference
//! does not matter.

use crate::inflate::code::Code;
use crate::inflate::pairs::{self, Literals, count_pairs, place_pairs};

/// An entry of a table.
pub(super) type Entry = u32;

/// Set in all entries that are neither literals nor a value.
pub(super) const EXCEPTIONAL: Entry = 1 << 15;
pub(super) const LONGER_CODES: Entry = 1 << 14;
pub(super) const END_OF_BLOCK: Entry = 1 << 13;

/// The bits that count literals; zero in all other entries.
pub(super) const LITERALS: Entry = 3 << 6;
pub(super) const ONE_LITERAL: Entry = 1 << 6;

/// How many literals the entry holds.
#[inline(always)]
pub(super) const fn literals(entry: Entry) -> usize {
    ((entry >> 6) & 3) as usize
}

/// How many bits of the stream the entry takes.
#[inline(always)]
pub(super) const fn all_bits(entry: Entry) -> u32 {
    entry & 63
}

/// How many of them are the code: the others are extra bits.
#[inline(always)]
pub(super) const fn code_bits(entry: Entry) -> u32 {
    (entry >> 8) & 15
}

/// How many bits the code of the first literal has.
#[inline(always)]
pub(super) const fn bits_of_first(entry: Entry) -> u32 {
    entry >> 24
}

/// What extra bits are added to, or where longer codes are.
#[inline(always)]
pub(super) const fn base(entry: Entry) -> usize {
    (entry >> 16) as usize
}

/// A table for a code, of at most `SIZE` entries.
pub(super) struct Table<const SIZE: usize> {
    entries: [Entry; SIZE],
    /// `1 << bits <= SIZE` always holds, and tables of longer codes end within `entries`.
    bits: u32,
    literals: Literals,
}

impl<const SIZE: usize> Table<SIZE> {
    pub(super) fn new() -> Self {
        Table { entries: [EXCEPTIONAL; SIZE], bits: 0, literals: Literals::One }
    }

    /// How many bits of the stream make the index.
    #[inline(always)]
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// What its entries of literals hold.
    #[inline(always)]
    pub(super) fn literals(&self) -> Literals {
        self.literals
    }

    /// The `1 << bits` entries, and those of longer codes behind them.
    #[inline(always)]
    pub(super) fn entries(&self) -> &[Entry; SIZE] {
        &self.entries
    }

    /// The entry for these next bits of the stream (at least 15 that count), and how many bits led
    /// from one table to another.
    pub(super) fn look_up(&self, next: u32) -> (Entry, u32) {
        let entry = self.entry((next & ((1 << self.bits) - 1)) as usize);
        if entry & LONGER_CODES == 0 || entry & LITERALS != 0 {
            return (entry, 0);
        }
        let index = (next >> self.bits) & ((1 << code_bits(entry)) - 1);
        (self.entry(base(entry) + index as usize), self.bits)
    }

    fn entry(&self, index: usize) -> Entry {
        self.entries.get(index).copied().unwrap_or(EXCEPTIONAL)
    }

    /// Makes the table for a code. The index gets up to `most` bits. Where an entry
    /// is to have two literals, it gets [`pairs::BITS`].
    ///
    /// The table begins with as many entries as the shortest codes can have and is doubled whenever
    /// they get a bit longer.
    pub(super) fn build(&mut self, code: &Code, most: u32, literals: Literals) -> Option<()> {
        let pairs = literals != Literals::One;
        self.bits = if pairs { pairs::BITS } else { code.longest.clamp(1, most) };
        self.literals = literals;
        if code.longest <= 1 {
            self.entries.get_mut(..2)?.fill(EXCEPTIONAL);
        }
        for bits in code.shortest..=self.bits {
            for (symbol, word) in code.of_length(bits) {
                *self.entries.get_mut(word as usize)? = with_code(symbol, bits);
            }
            if literals == Literals::Two {
                place_pairs(code, bits, self.entries.first_chunk_mut()?);
            }
            if bits < self.bits {
                let (short, rest) = self.entries.split_at_mut_checked(1 << bits)?;
                rest.get_mut(..1 << bits)?.copy_from_slice(short);
            }
        }
        self.place_long(code)?;
        if literals == Literals::Counted {
            count_pairs(code, self.entries.first_chunk_mut()?)?;
        }
        Some(())
    }

    /// Places the codes that are too long for an index into tables of their own, one for each index
    /// that they begin with.
    fn place_long(&mut self, code: &Code) -> Option<()> {
        let mask = (1_u32 << self.bits) - 1;
        let (mut index, mut begin, mut end) = (u32::MAX, 0, 1 << self.bits);
        for bits in self.bits + 1..=code.longest {
            let rest = bits - self.bits;
            let symbols = code.of_length(bits);
            let left = (1..=symbols.len()).rev();
            for ((symbol, word), left) in symbols.zip(left) {
                if word & mask != index {
                    index = word & mask;
                    let size = bits_of_rest(code, self.bits, bits, left);
                    (begin, end) = (end, end + (1 << size));
                    let begin = u32::try_from(begin).ok()? << 16;
                    *self.entries.get_mut(index as usize)? =
                        EXCEPTIONAL | LONGER_CODES | begin | (size << 8) | self.bits;
                }
                let entries = self.entries.get_mut(begin..end)?;
                let entries = entries.get_mut((word >> self.bits) as usize..)?;
                for entry in entries.iter_mut().step_by(1 << rest) {
                    *entry = with_code(symbol, rest);
                }
            }
        }
        Some(())
    }
}

/// An entry with the bits of its code.
#[inline(always)]
pub(super) fn with_code(symbol: Entry, bits: u32) -> Entry {
    symbol + if symbol & LITERALS != 0 { bits * 0x100_0001 } else { bits * 0x101 }
}

/// The bits that follow those of the index in the longest code that begins like the next one, which
/// has `bits` bits and is the first of `left` such.
fn bits_of_rest(code: &Code, index_bits: u32, bits: u32, left: usize) -> u32 {
    let (mut bits, mut used) = (bits, left);
    while used < 1 << (bits - index_bits) && bits < code.longest {
        bits += 1;
        used = 2 * used + code.of_length(bits).len();
    }
    bits - index_bits
}
