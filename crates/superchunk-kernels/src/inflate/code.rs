//! A prefix code, from the lengths of its codes.
//!
//! Codes are numbers that count up from the shortest, in the order of the symbols; one more bit
//! doubles the number. In the stream their most significant bit comes first.

use crate::inflate::table::{Entry, LITERALS};

/// The longest code.
pub(super) const LONGEST: usize = 15;

/// The most symbols of a code.
const MOST_SYMBOLS: usize = 288;

/// Why lengths make no code: some codes would begin like others, or some bits mean nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotACode;

/// The symbols of a code in the order of their codes.
pub(super) struct Code {
    /// The entry of each symbol, without the bits of its code.
    symbols: [Entry; MOST_SYMBOLS],
    /// The bits of its code, the first in the stream lowest.
    words: [u16; MOST_SYMBOLS],
    /// For each length: the place of the first symbol, and that behind the last.
    begins: [u16; LONGEST + 1],
    ends: [u16; LONGEST + 1],
    /// How many of them are literals, which come first.
    literals: [u16; LONGEST + 1],
    /// The shortest and the longest length; 1 and 0 if there is no code.
    pub(super) shortest: u32,
    pub(super) longest: u32,
}

impl Code {
    /// The code whose symbol `i` has `lengths[i]` bits (0: not used).
    ///
    /// A code must give every row of bits a meaning. Only one with a single symbol of one bit, or
    /// with none, may do without: encoders write those for distances that are all equal or unused.
    #[expect(clippy::indexing_slicing, reason = "lengths are masked to 4 bits")]
    pub(super) fn new(lengths: &[u8], symbols: &[Entry]) -> Result<Self, NotACode> {
        // Literals come first.
        let count_of_literals = symbols.partition_point(|symbol| symbol & LITERALS != 0);
        let (of_literals, others) = lengths.split_at(count_of_literals.min(lengths.len()));
        let (literals, others) = (count(of_literals), count(others));
        let counts = core::array::from_fn(|length| literals[length] + others[length]);
        let (begins, shortest, longest) = arrange(&counts)?;
        let (symbols_of, mut ends) = (symbols, begins);
        let mut symbols = [0; MOST_SYMBOLS];
        for (&length, &symbol) in lengths.iter().zip(symbols_of) {
            if length > 0 {
                let length = usize::from(length & 15);
                if let Some(to) = symbols.get_mut(usize::from(ends[length])) {
                    *to = symbol;
                }
                ends[length] += 1;
            }
        }
        let words = [0; MOST_SYMBOLS];
        let mut code = Code { symbols, words, begins, ends, literals, shortest, longest };
        code.count_up();
        Ok(code)
    }

    /// The entries and words of the symbols whose codes have this length.
    #[inline(always)]
    pub(super) fn of_length(&self, bits: u32) -> impl ExactSizeIterator<Item = (Entry, u32)> {
        let bits = bits as usize;
        let begin = usize::from(self.begins.get(bits).copied().unwrap_or(0));
        let end = usize::from(self.ends.get(bits).copied().unwrap_or(0));
        self.range(begin, end)
    }

    /// The same of literals alone.
    #[inline(always)]
    pub(super) fn literals_of_length(
        &self,
        bits: u32,
    ) -> impl ExactSizeIterator<Item = (Entry, u32)> {
        let begin = usize::from(self.begins.get(bits as usize).copied().unwrap_or(0));
        self.range(begin, begin + self.literals(bits))
    }

    /// How many literals have codes of this length.
    #[inline(always)]
    pub(super) fn literals(&self, bits: u32) -> usize {
        usize::from(self.literals.get(bits as usize).copied().unwrap_or(0))
    }

    #[inline(always)]
    fn range(&self, begin: usize, end: usize) -> impl ExactSizeIterator<Item = (Entry, u32)> {
        let symbols = self.symbols.get(begin..end).unwrap_or_default();
        let words = self.words.get(begin..end).unwrap_or_default();
        symbols.iter().zip(words).map(|(&symbol, &word)| (symbol, u32::from(word)))
    }

    /// Gives all symbols their codes: first as numbers below 1 in binary, which just grow, then with their bits reversed.
    fn count_up(&mut self) {
        let mut fraction = 0_u16;
        for bits in self.shortest..=self.longest {
            let begin = usize::from(self.begins.get(bits as usize).copied().unwrap_or(0));
            let end = usize::from(self.ends.get(bits as usize).copied().unwrap_or(0));
            for to in self.words.get_mut(begin..end).unwrap_or_default() {
                *to = fraction;
                fraction = fraction.wrapping_add(1 << (16 - bits));
            }
        }
        for word in &mut self.words {
            *word = word.reverse_bits();
        }
    }
}

/// How many symbols have each length. Neighbours often have the same, and to count these in different places lets them not wait for
/// each other.
#[expect(clippy::indexing_slicing, reason = "lengths are masked to 4 bits")]
fn count(lengths: &[u8]) -> [u16; LONGEST + 1] {
    let mut counts = [[0_u16; LONGEST + 1]; 4];
    for part in lengths.chunks(4) {
        for (&length, counts) in part.iter().zip(&mut counts) {
            counts[usize::from(length & 15)] += 1;
        }
    }
    let [a, b, c, d] = counts;
    core::array::from_fn(|length| a[length] + b[length] + c[length] + d[length])
}

/// Where the symbols of each length begin; the shortest and the longest length.
fn arrange(counts: &[u16; 16]) -> Result<([u16; 16], u32, u32), NotACode> {
    let mut begins = [0; 16];
    let (mut begin, mut shortest, mut longest, mut unused) = (0, 0, 0, 1_i32);
    for (length, (&count, to)) in (1..).zip(counts.iter().zip(&mut begins).skip(1)) {
        *to = begin;
        begin += count;
        unused = 2 * unused - i32::from(count);
        if unused < 0 {
            return Err(NotACode);
        }
        if count > 0 {
            longest = length;
            shortest = if shortest == 0 { length } else { shortest };
        }
    }
    if unused > 0 && longest > 1 {
        return Err(NotACode);
    }
    Ok((begins, shortest.max(1), longest))
}
