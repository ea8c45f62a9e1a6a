//! A piece of the input, as the parse goes through it.

use alloc::vec::Vec;

use crate::common::common_before;
use crate::deflate::stats::Sequence;
use crate::deflate::symbols::{MAX_MATCH, MIN_MATCH};

/// Bytes that a segment has at most, at about.
const MAX_BYTES: usize = 65_536;

/// The segment being parsed.
pub(super) struct Segment<'a> {
    pub(super) src: &'a [u8],
    /// Up to here it has been parsed.
    pub(super) end: usize,
    /// Here it should end.
    pub(super) until: usize,
    /// Where it should end at last.
    hard_end: usize,
    sequences: &'a mut Vec<Sequence>,
    /// How many sequences there were before.
    first: usize,
}

impl<'a> Segment<'a> {
    /// An empty one at `begin`, of about `symbols` symbols; sequences are appended to `sequences`.
    pub(super) fn new(
        src: &'a [u8],
        begin: usize,
        symbols: usize,
        sequences: &'a mut Vec<Sequence>,
    ) -> Self {
        let until = (begin + symbols).min(src.len());
        let hard_end = (begin + MAX_BYTES).min(src.len());
        sequences.reserve(symbols + 1);
        let first = sequences.len();
        Segment { src, end: begin, until, hard_end, sequences, first }
    }

    /// Appends the literals up to `begin` and a match from there, however long.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a segment is short")]
    pub(super) fn push(&mut self, begin: usize, length: usize, distance: usize) {
        let literals = (begin - self.end) as u32;
        if length <= MAX_MATCH {
            self.sequences.push(sequence(literals, length, distance));
        } else {
            self.push_parts(literals, length, distance);
        }
        self.end = begin + length;
        self.until = (self.until + length - 1).min(self.hard_end);
    }

    /// As [`Segment::push`], but first lets the match begin earlier, as far as bytes agree: it takes
    /// literals and whole matches before it with it.
    ///
    /// # Safety
    ///
    /// `end <= begin`, and the match is one: it lies in the input, and `1 <= distance <= begin`.
    #[inline(always)]
    pub(super) unsafe fn push_back(&mut self, begin: usize, length: usize, distance: usize) {
        let base = self.src.as_ptr();
        let end = begin + length;
        let mut begin = begin;
        let mut anchor = self.end;
        loop {
            // SAFETY: `anchor <= begin`, in the input.
            begin -=
                unsafe { common_before(base, anchor.max(distance).min(begin), begin, distance) };
            if begin > anchor || self.sequences.len() <= self.first || end - begin > MAX_MATCH {
                break;
            }
            let Some(&before) = self.sequences.last() else { break };
            let low = anchor - usize::from(before.length);
            // SAFETY: `low <= begin`, in the input.
            let more =
                unsafe { common_before(base, low.max(distance).min(begin), begin, distance) };
            if before.length == 0 || begin - more > low {
                break;
            }
            self.sequences.pop();
            begin = low;
            anchor = low - before.literals as usize;
        }
        self.end = anchor;
        self.push(begin, end - begin, distance);
    }

    /// Appends a match that is too long for one sequence.
    #[cold]
    #[inline(never)]
    fn push_parts(&mut self, mut literals: u32, length: usize, distance: usize) {
        let mut rest = length;
        while rest > 0 {
            // What is left over must not be too short for a match.
            let part = if rest <= MAX_MATCH { rest } else { MAX_MATCH.min(rest - MIN_MATCH) };
            self.sequences.push(sequence(literals, part, distance));
            literals = 0;
            rest -= part;
        }
    }

    /// Ends the segment at `end`, with literals since the last match.
    #[expect(clippy::cast_possible_truncation, reason = "a segment is short")]
    pub(super) fn finish(&mut self, end: usize) {
        let literals = (end - self.end) as u32;
        if literals > 0 {
            self.sequences.push(Sequence { literals, ..Sequence::default() });
        }
        self.end = end;
    }
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "both fit 16 bits")]
fn sequence(literals: u32, length: usize, distance: usize) -> Sequence {
    Sequence { literals, length: length as u16, distance_less_1: (distance - 1) as u16 }
}
