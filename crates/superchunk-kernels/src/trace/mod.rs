//! A few bytes out of the middle of a stream that refers back to itself, without decoding what precedes them.
//!
//! LZ4, BloscLZ and DEFLATE streams are rows of *sequences*: some literals, then a match, which repeats bytes that the output has had
//! before. A byte is therefore a literal, or it is the byte that its match points to, which is a literal, or …
//!
//! ```text
//! output   ░░░░░a░░░░░░░░░░░░░░░░a░░░░░░░░░░░░░░░░░░░░░░a░░░░░░░     the last one is wanted
//! stream       literal ◄──────── match ◄─────────────── match
//! marks    │          │          │          │          │
//! ```
//!
//! Where the sequence of a position is in the stream is not known, so one would have to read all of them. *Marks* tell it for
//! some: from the last one before a position, only the sequences up to it have to be read. All of this takes as long as the way to a literal has
//! steps, and the way back in a stretch between two marks is read only once.
//!
//! Marks are a promise of who wrote the stream. If they are wrong, so is what is found; memory stays safe all the same.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::ops::Range;

use crate::marks::{Mark, Marker};

/// A stream as a row of sequences.
pub(crate) trait Sequences {
    /// The sequence that begins at a place of the stream; `None` if none does, or not a whole one.
    fn sequence(&mut self, at: usize) -> Option<Sequence<'_>>;

    /// Adds the sequences that follow the last one of `known`, which begins at or before byte `wanted` of the output, up to the one that makes it.
    fn read_to(&mut self, wanted: usize, known: &mut Vec<Mark>) -> Option<()> {
        let Mark { mut at, mut out } = *known.last()?;
        loop {
            let Sequence { literals, length, next, .. } = self.sequence(at)?;
            let len = literals.len() + length;
            if wanted - out < len {
                return Some(());
            }
            (at, out) = (next, out + len);
            add(known, Mark { at, out })?;
        }
    }
}

/// Marks a whole stream: `marker` notes the sequences that are due.
pub(crate) fn mark_all(sequences: &mut impl Sequences, marker: &mut Marker) {
    let mut next = Mark::default();
    while let Some(Sequence { literals, distance, length, next: at }) = sequences.sequence(next.at)
    {
        if next.at >= marker.due() {
            marker.note(next, literals.len(), distance, length);
        }
        next = Mark { at, out: next.out + literals.len() + length };
    }
}

/// Literals, and then a match, either of which may be empty.
pub(crate) struct Sequence<'a> {
    pub(crate) literals: &'a [u8],
    /// How far back the match is; any number if it is empty.
    pub(crate) distance: usize,
    pub(crate) length: usize,
    /// Where the next sequence begins; behind this one.
    pub(crate) next: usize,
}

/// What following matches needs, kept from one time to the next.
#[derive(Clone, Debug, Default)]
pub struct Tracer {
    /// Sequences side by side in the stretch that was read last.
    known: Vec<Mark>,
    missing: Vec<Piece>,
    work_left: usize,
}

/// Bytes of the output that are still to be found.
#[derive(Clone, Copy, Debug)]
struct Piece {
    out: usize,
    len: usize,
    /// Their place among those that were asked for.
    to: usize,
}

/// With more pieces than that it is quicker to decode the stream.
const MOST_PIECES: usize = 64;

/// So many sequences side by side are read at most. Between marks there are far fewer.
const MOST_KNOWN: usize = 1 << 15;

/// So much work is done at most, and as much more as the stream has bytes: to read a sequence is one, to look for a piece several. With
/// marks that are true it is hardly ever as much.
const LEAST_WORK: usize = 1 << 11;
const PIECE_WORK: usize = 8;

impl Tracer {
    /// Fills `dst` with the bytes of the output from `out` on. `None`, and anything in `dst`, if that is not to be done, or not in few
    /// steps. `before` tells the last mark at or before a byte of the output.
    pub(crate) fn fetch(
        &mut self,
        sequences: &mut impl Sequences,
        stream_len: usize,
        before: impl Fn(usize) -> Mark,
        out: usize,
        dst: &mut [u8],
    ) -> Option<()> {
        self.known.clear();
        self.missing.clear();
        self.missing.push(Piece { out, len: dst.len(), to: 0 });
        self.work_left = LEAST_WORK.saturating_add(stream_len);
        while let Some(piece) = self.take_last() {
            self.work_left = self.work_left.checked_sub(PIECE_WORK)?;
            self.find(sequences, &before, piece, dst)?;
        }
        Some(())
    }

    /// The piece that begins last. What precedes it is asked for later: so no stretch has to be read again.
    fn take_last(&mut self) -> Option<Piece> {
        let (last, _) = self.missing.iter().enumerate().max_by_key(|(_, piece)| piece.out)?;
        Some(self.missing.swap_remove(last))
    }

    /// Copies what of a piece is literals, and asks for what the rest repeats.
    fn find(
        &mut self,
        sequences: &mut impl Sequences,
        before: &impl Fn(usize) -> Mark,
        piece: Piece,
        dst: &mut [u8],
    ) -> Option<()> {
        let Piece { mut out, len, mut to } = piece;
        let end = out.checked_add(len)?;
        let mut number = self.sequence_of(sequences, before, out)?;
        while out < end {
            let Mark { at, out: begin } = *self.known.get(number)?;
            let Sequence { literals, distance, length, next } = sequences.sequence(at)?;
            if let Some(found) = literals.get(out - begin..) {
                let found = found.get(..end - out).unwrap_or(found);
                dst.get_mut(to..to + found.len())?.copy_from_slice(found);
                (out, to) = (out + found.len(), to + found.len());
            }
            let repeat = begin + literals.len()..begin + literals.len() + length;
            if out < end && repeat.contains(&out) {
                let part = out..end.min(repeat.end);
                self.ask_for(&part, repeat.start, distance, to)?;
                (out, to) = (part.end, to + part.len());
            }
            number += 1;
            if number == self.known.len() {
                add(&mut self.known, Mark { at: next, out: repeat.end })?;
            }
        }
        Some(())
    }

    /// Asks for the bytes that a part of a match repeats, whose first byte is at `begin`.
    fn ask_for(
        &mut self,
        part: &Range<usize>,
        begin: usize,
        distance: usize,
        mut to: usize,
    ) -> Option<()> {
        let source = begin.checked_sub(distance).filter(|_| distance > 0)?;
        let mut out = part.start;
        while out < part.end {
            // A match that is longer than its distance repeats itself, too.
            let offset = (out - begin) % distance;
            let len = (part.end - out).min(distance - offset);
            if self.missing.len() == MOST_PIECES {
                return None;
            }
            self.missing.push(Piece { out: source + offset, len, to });
            (out, to) = (out + len, to + len);
        }
        Some(())
    }

    /// The number of the known sequence that makes a byte of the output; reads on, or from the mark before it, if it is not known yet.
    fn sequence_of(
        &mut self,
        sequences: &mut impl Sequences,
        before: &impl Fn(usize) -> Mark,
        out: usize,
    ) -> Option<usize> {
        if self.known.first().is_none_or(|first| first.out > out) {
            self.known.clear();
            self.known.push(Some(before(out)).filter(|mark| mark.out <= out)?);
        }
        if self.known.last()?.out > out {
            return self.known.partition_point(|mark| mark.out <= out).checked_sub(1);
        }
        let count = self.known.len();
        sequences.read_to(out, &mut self.known)?;
        self.work_left = self.work_left.checked_sub(self.known.len() - count)?;
        self.known.len().checked_sub(1)
    }
}

/// Adds a sequence to those that are known, unless they are too many.
#[inline]
pub(crate) fn add(known: &mut Vec<Mark>, next: Mark) -> Option<()> {
    if known.len() >= MOST_KNOWN {
        return None;
    }
    known.push(next);
    Some(())
}
