//! A piece of the input, as the parse goes through it.

use alloc::vec::Vec;

use crate::common::common_before;
use crate::deflate::parsed::Parsed;
use crate::deflate::stats::Counts;
use crate::deflate::symbols::MAX_MATCH;

/// Bytes that a segment has at most, at about.
const MAX_BYTES: usize = 65_536;

/// Some literals, and a match after them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sequence {
    literals: u32,
    length: u32,
    distance: u32,
}

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
}

impl<'a> Segment<'a> {
    /// An empty one at `begin`, of about `symbols` symbols.
    pub(super) fn new(
        src: &'a [u8],
        begin: usize,
        symbols: usize,
        sequences: &'a mut Vec<Sequence>,
    ) -> Self {
        let until = (begin + symbols).min(src.len());
        let hard_end = (begin + MAX_BYTES).min(src.len());
        sequences.clear();
        Segment { src, end: begin, until, hard_end, sequences }
    }

    /// Appends the literals up to `begin` and a match from there, however long.
    ///
    /// # Safety
    ///
    /// `end <= begin`, and the match is one of 3 bytes or more: it lies in the input, begins at least
    /// 16 bytes before its end, and `1 <= distance <= begin`, at most 32768.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a stream is shorter than 2^32")]
    pub(super) unsafe fn push(&mut self, begin: usize, length: usize, distance: usize) {
        let literals = (begin - self.end) as u32;
        self.sequences.push(Sequence {
            literals,
            length: length as u32,
            distance: distance as u32,
        });
        self.end = begin + length;
        self.until = (self.until + length - 1).min(self.hard_end);
    }

    /// As [`Segment::push`], but first lets the match begin earlier, as far as bytes agree: it takes
    /// literals and whole matches before it with it.
    ///
    /// # Safety
    ///
    /// As [`Segment::push`].
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
            if begin > anchor || end - begin > MAX_MATCH {
                break;
            }
            let Some(&before) = self.sequences.last() else { break };
            let low = anchor - before.length as usize;
            // SAFETY: `low <= begin`, in the input.
            let more =
                unsafe { common_before(base, low.max(distance).min(begin), begin, distance) };
            if begin - more > low {
                break;
            }
            self.sequences.pop();
            begin = low;
            anchor = low - before.literals as usize;
        }
        self.end = anchor;
        // SAFETY: the caller's promise; it begins earlier, but not before `anchor`.
        unsafe { self.push(begin, end - begin, distance) };
    }

    /// Ends the segment at `end`, with literals since the last match.
    pub(super) fn finish(&mut self, end: usize) {
        self.end = end;
    }

    /// Adds all of it to what was parsed before, and counts it.
    pub(super) fn hand_over(&self, begin: usize, parsed: &mut Parsed) -> Counts {
        let matched = self.sequences.iter().map(|sequence| sequence.length as usize).sum();
        let range = (begin, self.end);
        let mut sink = parsed.sink_for(self.src, range, self.sequences.len(), matched);
        for sequence in self.sequences.iter() {
            let begin = sink.anchor + sequence.literals as usize;
            // SAFETY: what `push` was promised.
            unsafe { sink.push(begin, sequence.length as usize, sequence.distance as usize) };
        }
        // SAFETY: it is the end of the segment.
        unsafe { sink.finish(self.end) }
    }
}
