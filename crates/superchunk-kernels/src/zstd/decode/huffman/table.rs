//! Tables that tell what the next bits stand for.
//!
//! One knows the next symbol. The other knows the next two, where the bits of its index hold both
//! entirely: each look-up waits for the one before it, so that fewer of them are faster.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::weights::Weights;

/// The most symbols of a code.
pub(super) const MOST_SYMBOLS: usize = 256;
/// The length of the longest codes that the format allows.
pub(super) const LONGEST: u32 = 11;
/// Entries of a table.
pub(super) const SIZE: usize = 1 << LONGEST;

/// The next symbol in the upper byte, the length of its code in the lower.
pub(super) type One = u16;

/// From the lowest byte on: the number of bits, one or two symbols, and 0x80 if there are two.
pub(super) type Pair = u32;

/// A table, at an address whose low six bits are 0.
#[repr(C, align(64))]
pub(super) struct Aligned<T> {
    pub(super) entries: [T; SIZE],
}

/// The tables of a code, kept for further blocks and streams.
pub(crate) struct Table {
    /// The index has as many bits as the longest code.
    one: Box<Aligned<One>>,
    log: u32,
    /// The length of the longest code.
    longest: u32,
    /// The index has [`LONGEST`] bits.
    pairs: Box<Aligned<Pair>>,
    /// Second symbols, where so many bits are left for them: those for `n` bits begin at 2 to the
    /// power of `n`.
    seconds: Box<[Pair; SIZE]>,
    symbols: Symbols,
    /// Whether there is a code, and whether `pairs` are of the same.
    present: bool,
    pairs_present: bool,
    /// Memory for symbols whose place is not known yet.
    scratch: Vec<u8>,
}

/// The symbols of a code in the order of the table, the longest codes first.
struct Symbols {
    sorted: [(u8, u8); MOST_SYMBOLS],
    count: usize,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            one: Box::new(Aligned { entries: [0; SIZE] }),
            log: 8,
            longest: 1,
            pairs: Box::new(Aligned { entries: [0; SIZE] }),
            seconds: Box::new([0; SIZE]),
            symbols: Symbols { sorted: [(0, 0); MOST_SYMBOLS], count: 0 },
            present: false,
            pairs_present: false,
            scratch: Vec::new(),
        }
    }

    /// Gives memory of at least so many bytes, which comes back by [`Table::return_scratch`].
    pub(super) fn take_scratch(&mut self, len: usize) -> Vec<u8> {
        let mut scratch = core::mem::take(&mut self.scratch);
        if scratch.len() < len {
            scratch.resize(len, 0);
        }
        scratch
    }

    pub(super) fn return_scratch(&mut self, scratch: Vec<u8>) {
        self.scratch = scratch;
    }

    /// Forgets the code of a frame before.
    pub(crate) fn forget(&mut self) {
        (self.present, self.pairs_present) = (false, false);
    }

    /// Whether there is a code.
    pub(crate) fn is_present(&self) -> bool {
        self.present
    }

    /// Reads the description of a code at the begin of `src`, and tells how many bytes it took.
    pub(crate) fn read(&mut self, src: &[u8]) -> Result<usize, &'static str> {
        self.forget();
        let (weights, used) = Weights::read(src)?;
        self.symbols.sort(&weights);
        self.longest = weights.longest.clamp(1, LONGEST);
        self.log = match self.longest {
            ..=8 => 8,
            9 => 9,
            _ => LONGEST,
        };
        let mut place = self.one.entries.get_mut(..1 << self.log).unwrap_or_default();
        for &(symbol, bits) in self.symbols.iter() {
            let width = 1_usize << (self.log - u32::from(bits));
            let (entries, rest) =
                core::mem::take(&mut place).split_at_mut_checked(width).unwrap_or_default();
            entries.fill(u16::from_le_bytes([bits, symbol]));
            place = rest;
        }
        // The weights were completed to a power of two: nothing is left of the table.
        self.present = place.is_empty();
        if self.present { Ok(used) } else { Err("zstd Huffman code is corrupt") }
    }

    /// The next symbol by the highest bits: as many as the longest code has.
    pub(super) fn one(&self) -> &Aligned<One> {
        &self.one
    }

    /// The bits of an index of [`Table::one`].
    pub(super) fn log(&self) -> u32 {
        self.log
    }

    /// The bits of the longest code.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub(super) fn longest(&self) -> u32 {
        self.longest
    }

    /// The next symbol by the highest [`LONGEST`] bits.
    pub(super) fn one_at(&self, bits: u32) -> One {
        let index = bits >> (LONGEST - self.log);
        self.one.entries.get(index as usize).copied().unwrap_or(0)
    }

    /// The table of one or two symbols by the highest [`LONGEST`] bits, if it was made.
    pub(super) fn pairs(&self) -> Option<&Aligned<Pair>> {
        self.pairs_present.then_some(&*self.pairs)
    }

    /// Makes the table of pairs, unless it is there.
    pub(super) fn make_pairs(&mut self) {
        if self.pairs_present {
            return;
        }
        self.make_seconds();
        let mut place = self.pairs.entries.as_mut_slice();
        for &(symbol, bits) in self.symbols.iter() {
            let size = SIZE >> bits;
            let Some((entries, rest)) = place.split_at_mut_checked(size) else { return };
            let seconds = self.seconds.get(size..2 * size).unwrap_or_default();
            // Nothing of the sum is carried from one byte to the next.
            let first = Pair::from_le_bytes([bits, symbol, 0, 0]);
            for (entry, second) in entries.iter_mut().zip(seconds) {
                *entry = first + second;
            }
            place = rest;
        }
        self.pairs_present = true;
    }

    /// What a second symbol adds to an entry, or 0 where the bits do not hold it.
    fn make_seconds(&mut self) {
        let shortest = self.symbols.iter().last().map_or(1, |&(_, bits)| u32::from(bits));
        let most_left = LONGEST.saturating_sub(shortest);
        let (shorter, longest) = self.seconds.split_at_mut(1 << most_left);
        for (index, second) in (0_usize..1 << most_left).zip(longest.iter_mut()) {
            let one = self.one.entries.get(index << self.log >> most_left).copied().unwrap_or(0);
            let [bits, symbol] = one.to_le_bytes();
            let holds = u32::from(bits) <= most_left;
            *second = if holds { Pair::from_le_bytes([bits, 0, symbol, 0x80]) } else { 0 };
        }
        let mut made = &*longest;
        let mut shorter = shorter;
        for left in (0..most_left).rev() {
            let (rest, seconds) = core::mem::take(&mut shorter).split_at_mut(1 << left);
            for (second, longer) in seconds.iter_mut().zip(made.iter().step_by(2)) {
                *second = if longer & 0xFF <= left { *longer } else { 0 };
            }
            (shorter, made) = (rest, seconds);
        }
    }
}

impl Symbols {
    fn sort(&mut self, weights: &Weights) {
        // How many symbols have each weight, then where they begin; those of weight 0 do not occur.
        let mut places = [0_usize; 16];
        let symbols = weights.of_symbol.iter().take(weights.symbols);
        for &weight in symbols.clone().filter(|weight| **weight > 0) {
            if let Some(count) = places.get_mut(usize::from(weight)) {
                *count += 1;
            }
        }
        self.count = 0;
        for place in &mut places {
            self.count += core::mem::replace(place, self.count);
        }
        for (&weight, symbol) in symbols.zip(0_u8..=255).filter(|(weight, _)| **weight > 0) {
            let Some(place) = places.get_mut(usize::from(weight)) else { continue };
            let [bits, ..] = (weights.longest + 1 - u32::from(weight)).to_le_bytes();
            if let Some(entry) = self.sorted.get_mut(*place) {
                *entry = (symbol, bits);
            }
            *place += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &(u8, u8)> {
        self.sorted.iter().take(self.count)
    }
}
