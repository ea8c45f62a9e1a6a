//! What a search makes of a block: sequences, and the literals between the matches.

use alloc::vec::Vec;

use crate::copy::{SLACK, copy_16, copy_exact, copy_wider};
use crate::zstd::encode::fse::SYMBOLS;
use crate::zstd::encode::numbers::Coded;
use crate::zstd::encode::sequences::Found;

/// No match is shorter.
pub(super) const MIN_MATCH: usize = 4;

/// A block taken apart.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    /// Room for all sequences.
    sequences: Vec<Coded>,
    number: usize,
    /// How often each code of each kind occurs.
    counts: [[u32; SYMBOLS]; 3],
    /// Room for all literals, and for the steps of a copy behind them.
    literals: Vec<u8>,
    filled: usize,
}

impl Default for Parsed {
    fn default() -> Self {
        Parsed {
            sequences: Vec::new(),
            number: 0,
            counts: [[0; SYMBOLS]; 3],
            literals: Vec::new(),
            filled: 0,
        }
    }
}

impl Parsed {
    /// Before a block of `len` bytes.
    pub(super) fn begin(&mut self, len: usize) -> Sink<'_> {
        (self.number, self.filled) = (0, 0);
        self.counts = [[0; SYMBOLS]; 3];
        let room = len + SLACK;
        if self.literals.len() < room {
            self.literals.resize(room, 0);
            self.sequences.resize(len / MIN_MATCH + 1, Coded::default());
        }
        Sink {
            sequence: self.sequences.as_mut_ptr(),
            literal: self.literals.as_mut_ptr(),
            parsed: self,
        }
    }

    pub(super) fn literals(&self) -> &[u8] {
        self.literals.get(..self.filled).unwrap_or_default()
    }

    pub(super) fn found(&self) -> Found<'_> {
        let sequences = self.sequences.get(..self.number).unwrap_or_default();
        Found { sequences, counts: &self.counts }
    }
}

/// Takes the pieces of a block.
pub(super) struct Sink<'a> {
    parsed: &'a mut Parsed,
    /// Where the next sequence goes, and the next literal.
    sequence: *mut Coded,
    literal: *mut u8,
}

impl Sink<'_> {
    /// Adds the literals from `anchor` to `begin` of `input`, and a match of `length` behind them.
    ///
    /// # Safety
    ///
    /// * `anchor <= begin`, `length >= MIN_MATCH`, and `begin + length` lies in the input and in
    ///   the block for whose length [`Parsed::begin`] made room.
    /// * `anchor` is where the piece before ends: no byte of the block is added twice.
    /// * The block has at most [`MAX_BLOCK`](super::block::MAX_BLOCK) bytes.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a block is shorter than 2^32")]
    pub(super) unsafe fn push(
        &mut self,
        input: &[u8],
        anchor: usize,
        begin: usize,
        offset: u32,
        length: usize,
    ) {
        debug_assert!(anchor <= begin && begin + length <= input.len(), "not in the input");
        debug_assert!(length >= MIN_MATCH, "a match is too short");
        let literals = begin - anchor;
        // SAFETY: `anchor + literals` lies in the input and in the block: `search` checks matches
        // up to the end of the block only. It pushes matches of `MIN_MATCH` bytes or more that do
        // not overlap: no more than `Parsed::begin` made room for. A length up to `MAX_BLOCK`
        // (`fast::block_len`) has a code of at most 52, an offset one of at most 31: less than
        // `SYMBOLS`.
        unsafe {
            self.push_literals(input, anchor, literals);
            let coded = Coded::new(literals as u32, (length - 3) as u32, offset);
            self.sequence.write(coded);
            self.sequence = self.sequence.add(1);
            for (counts, code) in self.parsed.counts.iter_mut().zip(coded.codes()) {
                *counts.get_unchecked_mut(code) += 1;
            }
        }
    }

    /// Adds `len` literals from `at` of `input`.
    ///
    /// # Safety
    ///
    /// `at + len` lies in the input and in the block for whose length [`Parsed::begin`] made room;
    /// no byte of the block is added twice.
    #[inline(always)]
    unsafe fn push_literals(&mut self, input: &[u8], at: usize, len: usize) {
        debug_assert!(at + len <= input.len(), "not in the input");
        // SAFETY: all literals of a block are at most its length, for which, and for the slack
        // of a copy, `begin` made room. The wide copies read at most 32 bytes more than `len`.
        unsafe {
            let from = input.as_ptr().add(at);
            if input.len() - at < len + SLACK {
                copy_exact(from, self.literal, len);
            } else if len <= 16 {
                copy_16(from, self.literal);
            } else {
                copy_wider(from, self.literal, len);
            }
            self.literal = self.literal.add(len);
        }
    }

    /// Adds the last literals, from `at` to `end` of `input`, unless there is nothing else.
    ///
    /// # Safety
    ///
    /// `at <= end <= input.len()`, `end` is the end of the block, and `at` is where the last piece
    /// that was added ends, or the beginning of the block.
    pub(super) unsafe fn finish(mut self, input: &[u8], at: usize, end: usize) {
        debug_assert!(input.get(at..end).is_some(), "not in the input");
        // SAFETY: `search` passes its `anchor` and the end of the block, so that the literals
        // between them lie in the input and in the block. `sequence` and `literal` point into the
        // vectors: `Parsed::begin` sets them to the start, and `push` moves them as far as there is
        // room.
        unsafe {
            let first = self.parsed.sequences.as_ptr();
            self.parsed.number = self.sequence.cast_const().offset_from_unsigned(first);
            if self.parsed.number > 0 {
                self.push_literals(input, at, end - at);
            }
            let first = self.parsed.literals.as_ptr();
            self.parsed.filled = self.literal.cast_const().offset_from_unsigned(first);
        }
    }
}
