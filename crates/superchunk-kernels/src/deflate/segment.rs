//! A piece of the input, as the parse goes through it.

use alloc::vec::Vec;

use crate::common::common_before;
use crate::deflate::finder::MARGIN;
use crate::deflate::parsed::Parsed;
use crate::deflate::stats::Counts;
use crate::deflate::symbols::{MAX_DISTANCE, MAX_MATCH, MIN_MATCH};

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
    /// * `self.end <= begin`, `length >= 3` and `begin + length <= src.len()`.
    /// * `begin + MARGIN <= src.len()`.
    /// * `distance` is from 1 to `begin`, and at most [`MAX_DISTANCE`].
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a stream is shorter than 2^32")]
    pub(super) unsafe fn push(&mut self, begin: usize, length: usize, distance: usize) {
        debug_assert!(self.end <= begin && length >= MIN_MATCH && begin + length <= self.src.len());
        debug_assert!(begin + MARGIN <= self.src.len());
        debug_assert!((1..=begin.min(MAX_DISTANCE)).contains(&distance));
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
        // SAFETY: the match that `parse_keyed` found lies in the input and begins `MARGIN` bytes or
        // more before its end. Now it begins no later, but not before `anchor` nor `distance`:
        // `common_before` is bounded by both, and a `low` that it does not reach ends the loop.
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
            // SAFETY: `Segment::push` required of each sequence what `Sink::push` requires, too: 3
            // bytes or more, `MARGIN` bytes from its start to the end of the input, a distance from
            // 1 to 32768. `sink_for` was just called with the number and the bytes of all of them.
            unsafe { sink.push(begin, sequence.length as usize, sequence.distance as usize) };
        }
        // SAFETY: it is the end of the segment.
        unsafe { sink.finish(self.end) }
    }
}
