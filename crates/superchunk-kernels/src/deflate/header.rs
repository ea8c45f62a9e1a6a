//! The description of the codes of a block (RFC 1951, 3.2.7).
//!
//! ```text
//!  5 bits    5 bits    4 bits    3 bits each      codes and extra bits
//! ┌─────────┬─────────┬─────────┬────────────────┬───────────────────────────────────┐
//! │ l - 257 │ d - 1   │ n - 4   │ n code lengths │ the lengths of l and of d codes   │
//! └─────────┴─────────┴─────────┴────────────────┴───────────────────────────────────┘
//! ```
//!
//! The lengths of the `l + d` codes are themselves written in a code, whose symbols are: 0 to 15 a
//! length; 16 the length before, 3 to 6 times; 17 and 18 a length of 0, 3 to 10 or 11 to 138 times.

#![expect(clippy::indexing_slicing, reason = "symbols are below 19, lengths below 16")]

use crate::deflate::bits::{BitWriter, Bits};
use crate::deflate::huffman::{Code, assign_codes, code_lengths};
use crate::deflate::symbols::{DISTANCE_SYMBOLS, LITLEN_SYMBOLS};

/// Symbols of the code that lengths are written in.
const SYMBOLS: usize = 19;

/// The order in which the lengths of that code's own codes are written.
const ORDER: [usize; SYMBOLS] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// How many extra bits its symbols have.
const EXTRA: [u8; SYMBOLS] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 7];

const MAX_CODES: usize = LITLEN_SYMBOLS + DISTANCE_SYMBOLS;

/// How the codes of a block are told.
pub(super) struct Header {
    litlen_codes: usize,
    distance_codes: usize,
    /// Symbols and the values of their extra bits.
    items: [(u8, u8); MAX_CODES],
    items_len: usize,
    lengths: [u8; SYMBOLS],
    /// How many of `lengths`, in their order, are written.
    lengths_len: usize,
    /// How many bits it takes.
    pub(super) bits: u64,
}

impl Header {
    pub(super) fn new(litlen: &[u8; LITLEN_SYMBOLS], distance: &[u8; DISTANCE_SYMBOLS]) -> Self {
        let used = |lengths: &[u8]| lengths.iter().rposition(|&len| len > 0).map_or(0, |i| i + 1);
        let litlen_codes = used(litlen).max(257);
        let distance_codes = used(distance).max(1);
        let mut all = [0; MAX_CODES];
        all[..litlen_codes].copy_from_slice(&litlen[..litlen_codes]);
        let end = litlen_codes + distance_codes;
        all[litlen_codes..end].copy_from_slice(&distance[..distance_codes]);
        let mut header = Header {
            litlen_codes,
            distance_codes,
            items: [(0, 0); MAX_CODES],
            items_len: 0,
            lengths: [0; SYMBOLS],
            lengths_len: 4,
            bits: 0,
        };
        header.describe(&all[..end]);
        header.measure();
        header
    }

    /// Splits the lengths into items.
    #[expect(clippy::cast_possible_truncation, reason = "a repetition is at most 138")]
    fn describe(&mut self, mut all: &[u8]) {
        while let Some(&len) = all.first() {
            let mut run = all.iter().take_while(|&&other| other == len).count();
            all = &all[run..];
            if len == 0 {
                while run >= 11 {
                    let part = run.min(138);
                    self.push(18, (part - 11) as u8);
                    run -= part;
                }
                if run >= 3 {
                    self.push(17, (run - 3) as u8);
                    run = 0;
                }
            } else if run >= 4 {
                self.push(len, 0);
                run -= 1;
                while run >= 3 {
                    let part = run.min(6);
                    self.push(16, (part - 3) as u8);
                    run -= part;
                }
            }
            for _ in 0..run {
                self.push(len, 0);
            }
        }
    }

    fn push(&mut self, symbol: u8, extra: u8) {
        self.items[self.items_len] = (symbol, extra);
        self.items_len += 1;
    }

    fn measure(&mut self) {
        let mut counts = [0; SYMBOLS];
        for &(symbol, _) in &self.items[..self.items_len] {
            counts[usize::from(symbol)] += 1;
        }
        code_lengths(&counts, 7, &mut self.lengths);
        let last = ORDER.iter().rposition(|&symbol| self.lengths[symbol] > 0);
        self.lengths_len = last.map_or(4, |at| at + 1).max(4);
        let codes: u64 = (0..SYMBOLS)
            .map(|at| u64::from(counts[at]) * u64::from(self.lengths[at] + EXTRA[at]))
            .sum();
        self.bits = 14 + 3 * self.lengths_len as u64 + codes;
    }

    pub(super) fn write(&self, out: &mut BitWriter<'_>) {
        out.put(self.litlen_codes as u64 - 257, 5);
        out.put(self.distance_codes as u64 - 1, 5);
        out.put(self.lengths_len as u64 - 4, 4);
        for &symbol in &ORDER[..self.lengths_len] {
            out.flush();
            out.put(u64::from(self.lengths[symbol]), 3);
        }
        let mut codes = [Code::default(); SYMBOLS];
        assign_codes(&self.lengths, &mut codes);
        for &(symbol, extra) in &self.items[..self.items_len] {
            let code = codes[usize::from(symbol)];
            out.flush();
            out.put(u64::from(code.bits()), code.len());
            out.put(u64::from(extra), u32::from(EXTRA[usize::from(symbol)]));
        }
        out.flush();
    }
}
