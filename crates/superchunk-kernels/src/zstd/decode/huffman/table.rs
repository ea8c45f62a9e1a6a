//! Tables that tell what the next bits stand for.
//!
//! One knows the next symbol. The other knows the next two, where the bits of its index hold both
//! entirely: each look-up waits for the one before it, so that fewer of them are faster.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::weights::{WEIGHTS, Weights};

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
    /// The bytes of its description.
    described: usize,
    /// Whether there is a code, and whether `pairs` are of the same.
    present: bool,
    pairs_present: bool,
    /// Memory for symbols whose place is not known yet.
    scratch: Vec<u8>,
}

/// The symbols of a code in the order of the table, the longest codes first.
#[derive(Clone)]
struct Symbols {
    /// Behind them are some of those that do not occur.
    sorted: [u8; 2 * MOST_SYMBOLS],
    /// Where those of each weight begin, and where the last ones end.
    begins: [usize; WEIGHTS + 1],
    longest: u32,
}

impl Table {
    pub(crate) fn new() -> Self {
        Self {
            one: Box::new(Aligned { entries: [0; SIZE] }),
            log: 8,
            longest: 1,
            pairs: Box::new(Aligned { entries: [0; SIZE] }),
            seconds: Box::new([0; SIZE]),
            symbols: Symbols::new(),
            described: 0,
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

    /// Makes the code that of `other`; the tables for pairs are made when they are needed.
    pub(crate) fn copy_code(&mut self, other: &Self) {
        self.one.entries = other.one.entries;
        self.symbols.clone_from(&other.symbols);
        (self.log, self.longest, self.described) = (other.log, other.longest, other.described);
        (self.present, self.pairs_present) = (other.present, false);
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
        self.described = used;
        self.symbols.sort(&weights);
        self.longest = weights.longest.clamp(1, LONGEST);
        self.log = match self.longest {
            ..=8 => 8,
            9 => 9,
            _ => LONGEST,
        };
        let mut place = self.one.entries.get_mut(..1 << self.log).unwrap_or_default();
        for (bits, symbols) in self.symbols.by_length() {
            let width = 1_usize << (self.log - bits);
            let (entries, rest) = core::mem::take(&mut place)
                .split_at_mut_checked(symbols.len() * width)
                .unwrap_or_default();
            fill(entries, width, symbols, bits);
            place = rest;
        }
        // The weights were completed to a power of two: nothing is left of the table.
        self.present = place.is_empty();
        if self.present { Ok(used) } else { Err("zstd Huffman code is corrupt") }
    }

    /// The bytes of the description that was read last.
    pub(crate) fn used(&self) -> usize {
        self.described
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
    pub(super) fn longest(&self) -> u32 {
        self.longest
    }

    /// The next symbol by the highest [`LONGEST`] bits.
    pub(super) fn one_at(&self, bits: u32) -> One {
        let index = bits >> (LONGEST - self.log);
        self.one.entries.get(index as usize).copied().unwrap_or(0)
    }

    /// The lengths of the codes of all symbols; 0 for those that have none.
    pub(super) fn lengths(&self) -> [u8; MOST_SYMBOLS] {
        let mut lengths = [0; MOST_SYMBOLS];
        for (bits, symbols) in self.symbols.by_length() {
            for symbol in symbols {
                if let Some(length) = lengths.get_mut(usize::from(*symbol)) {
                    [*length, ..] = bits.to_le_bytes();
                }
            }
        }
        lengths
    }

    /// The lengths of codes, and how many of [`SIZE`] places belong to them.
    pub(super) fn lengths_and_places(&self) -> impl Iterator<Item = (u64, u64)> {
        let places = |(bits, symbols): (u32, &[u8])| (symbols.len() as u64) << (LONGEST - bits);
        self.symbols.by_length().map(move |length| (u64::from(length.0), places(length)))
    }

    /// The greatest number that all lengths of codes are multiples of.
    pub(super) fn divisor(&self) -> usize {
        let lengths = self.symbols.by_length().map(|(bits, _)| bits as usize);
        lengths.fold(0, greatest_divisor).max(1)
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
        // First symbols alone: their entries are the same.
        let (to, from) = (&mut self.pairs.entries, &self.one.entries);
        match self.log {
            8 => widen::<8>(to, from),
            9 => widen::<4>(to, from),
            _ => widen::<1>(to, from),
        }
        self.make_seconds();
        // Then what follows those whose codes leave bits for a second one: they are the last.
        let mut place = self.pairs.entries.as_mut_slice();
        let shortest = self.symbols.shortest();
        for (bits, symbols) in self.symbols.by_length().rev() {
            let size = SIZE >> bits;
            let before = place.len().saturating_sub(symbols.len() * size);
            let (rest, entries) = core::mem::take(&mut place).split_at_mut(before);
            let seconds = self.seconds.get(size..2 * size).unwrap_or_default();
            if bits + shortest > LONGEST {
                break;
            }
            match size {
                2 => add::<2>(entries, seconds),
                4 => add::<4>(entries, seconds),
                8 => add::<8>(entries, seconds),
                16 => add::<16>(entries, seconds),
                _ => add_any(entries, seconds),
            }
            place = rest;
        }
        self.pairs_present = true;
    }

    /// How many of 1024 look-ups in a table of pairs find two symbols.
    pub(super) fn share_of_pairs(&self) -> u64 {
        // Of as many places as there are entries, so many belong to codes of a length.
        let mut places = [0_u64; LONGEST as usize + 1];
        for (bits, of_length) in self.lengths_and_places() {
            if let Some(place) = usize::try_from(bits).ok().and_then(|bits| places.get_mut(bits)) {
                *place = of_length;
            }
        }
        let mut seconds = 0;
        let found = places.iter().zip(places.iter().rev()).map(|(second, first)| {
            seconds += second;
            first * seconds
        });
        found.sum::<u64>() >> (2 * LONGEST - 10)
    }

    /// What a second symbol adds to an entry, or 0 where the bits do not hold it. The pairs are those
    /// of one symbol yet.
    fn make_seconds(&mut self) {
        let shortest = self.symbols.shortest();
        let most_left = LONGEST.saturating_sub(shortest);
        let (mut shorter, longest) = self.seconds.split_at_mut(1 << most_left);
        let firsts = self.pairs.entries.iter().step_by(1 << shortest);
        for (second, first) in longest.iter_mut().zip(firsts) {
            let (bits, symbol) = (first & 0xFF, first & 0xFF00);
            *second = if bits <= most_left { bits | symbol << 8 | 0x80 << 24 } else { 0 };
        }
        let mut made = &*longest;
        for left in (0..most_left).rev() {
            let (rest, seconds) = core::mem::take(&mut shorter).split_at_mut(1 << left);
            let (longer, _) = made.as_chunks::<2>();
            for (second, [longer, _]) in seconds.iter_mut().zip(longer) {
                *second = if longer & 0xFF <= left { *longer } else { 0 };
            }
            (shorter, made) = (rest, seconds);
        }
    }
}

fn greatest_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// Fills a table with the entries of symbols whose codes have the same length: `width` for each of them.
fn fill(entries: &mut [One], width: usize, symbols: &[u8], bits: u32) {
    let [bits, ..] = bits.to_le_bytes();
    let one_of = |symbol: &u8| One::from_le_bytes([bits, *symbol]);
    /// With a width that is known they are single stores.
    fn fill_width<const W: usize>(entries: &mut [One], ones: impl Iterator<Item = One>) {
        let (entries, _) = entries.as_chunks_mut::<W>();
        entries.iter_mut().zip(ones).for_each(|(entries, one)| *entries = [one; W]);
    }
    let ones = symbols.iter().map(one_of);
    match width {
        1 => fill_width::<1>(entries, ones),
        2 => fill_width::<2>(entries, ones),
        4 => fill_width::<4>(entries, ones),
        8 => fill_width::<8>(entries, ones),
        16 => fill_width::<16>(entries, ones),
        _ => entries.chunks_exact_mut(width).zip(ones).for_each(|(to, one)| to.fill(one)),
    }
}

/// Makes `W` entries of pairs of each one.
fn widen<const W: usize>(pairs: &mut [Pair; SIZE], ones: &[One; SIZE]) {
    let (pairs, _) = pairs.as_chunks_mut::<W>();
    pairs.iter_mut().zip(ones).for_each(|(pairs, one)| *pairs = [Pair::from(*one); W]);
}

/// Adds second symbols, of which there are `W`, again and again.
fn add<const W: usize>(entries: &mut [Pair], seconds: &[Pair]) {
    let (entries, _) = entries.as_chunks_mut::<W>();
    let Some(seconds) = seconds.first_chunk::<W>() else { return };
    for entries in entries {
        // Nothing of the sum is carried from one byte to the next.
        entries.iter_mut().zip(seconds).for_each(|(entry, second)| *entry += second);
    }
}

/// As [`add`].
fn add_any(entries: &mut [Pair], seconds: &[Pair]) {
    for entries in entries.chunks_exact_mut(seconds.len().max(1)) {
        entries.iter_mut().zip(seconds).for_each(|(entry, second)| *entry += second);
    }
}

impl Symbols {
    fn new() -> Self {
        Self { sorted: [0; 2 * MOST_SYMBOLS], begins: [0; WEIGHTS + 1], longest: 1 }
    }

    #[expect(clippy::indexing_slicing, reason = "the index is cut to the length")]
    fn sort(&mut self, weights: &Weights) {
        self.longest = weights.longest;
        // Those of weight 0 do not occur: they come behind all others.
        let mut places = [MOST_SYMBOLS; WEIGHTS];
        let mut begin = 0;
        let each = self.begins.iter_mut().zip(&mut places).zip(&weights.counts);
        for ((to, place), count) in each.skip(1) {
            (*to, *place) = (begin, begin);
            begin += usize::from(*count);
        }
        self.begins[WEIGHTS] = begin;
        for (&weight, symbol) in weights.of_symbol.iter().zip(0_u8..=255).take(weights.symbols) {
            let place = &mut places[usize::from(weight) % WEIGHTS];
            self.sorted[*place % (2 * MOST_SYMBOLS)] = symbol;
            *place += 1;
        }
    }

    /// The lengths of codes and the symbols that have them, the longest first.
    fn by_length(&self) -> impl DoubleEndedIterator<Item = (u32, &[u8])> {
        /// How much shorter than the longest the codes of weights from 1 on are.
        const LENGTHS: [u32; WEIGHTS - 1] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
        let lengths = LENGTHS.iter().zip(self.begins.windows(2).skip(1));
        lengths.filter_map(|(less, range)| {
            let &[begin, end] = range else { return None };
            let symbols = self.sorted.get(begin..end).filter(|symbols| !symbols.is_empty())?;
            Some((self.longest.checked_sub(*less)?, symbols))
        })
    }

    /// The length of the shortest codes.
    fn shortest(&self) -> u32 {
        self.by_length().next_back().map_or(1, |(bits, _)| bits)
    }
}
