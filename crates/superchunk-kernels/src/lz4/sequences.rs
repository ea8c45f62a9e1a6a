//! An LZ4 block as a row of sequences, none of which is carried out.

use alloc::vec::Vec;
use core::ops::Range;

use super::MIN_MATCH;
use crate::marks::{Mark, Marker};
use crate::trace::{Sequence, Sequences, Tracer, add, mark_all};

/// Fills `dst` with the bytes of the decoded block from `out` on, which has no dictionary; `before` tells the last mark at or before a byte of
/// it. `None` if it is quicker to decode the block, or something is wrong with it.
pub fn fetch(
    tracer: &mut Tracer,
    block: &[u8],
    before: impl Fn(usize) -> Mark,
    out: usize,
    dst: &mut [u8],
) -> Option<()> {
    tracer.fetch(&mut Block(block), block.len(), before, out, dst)
}

/// Notes in `marker` where the sequences of a block, or of the first part of one, begin.
pub fn mark(block: &[u8], marker: &mut Marker) {
    mark_all(&mut Block(block), marker);
}

struct Block<'a>(&'a [u8]);

impl Sequences for Block<'_> {
    fn sequence(&mut self, at: usize) -> Option<Sequence<'_>> {
        let Parts { literals, next, length } = self.parts(at)?;
        let end = literals.end;
        let distance = match length {
            0 => 0,
            _ => usize::from(u16::from_le_bytes(*self.0.get(end..)?.first_chunk()?)),
        };
        Some(Sequence { literals: self.0.get(literals)?, distance, length, next })
    }

    /// As always, but most sequences have no more than a token tells.
    fn read_to(&mut self, wanted: usize, known: &mut Vec<Mark>) -> Option<()> {
        let Mark { mut at, mut out } = *known.last()?;
        loop {
            let token = usize::from(*self.0.get(at)?);
            let (literals, length) = (token >> 4, token & 15);
            let (mut next, mut len) = (at + 1 + literals + 2, literals + length + MIN_MATCH);
            if literals == 15 || length == 15 || next >= self.0.len() {
                let parts = self.parts(at)?;
                (next, len) = (parts.next, parts.literals.len() + parts.length);
            }
            if wanted - out < len {
                return Some(());
            }
            (at, out) = (next, out + len);
            add(known, Mark { at, out })?;
        }
    }
}

/// Where the parts of a sequence are.
struct Parts {
    literals: Range<usize>,
    length: usize,
    next: usize,
}

impl Block<'_> {
    #[inline(never)]
    fn parts(&self, at: usize) -> Option<Parts> {
        let token = usize::from(*self.0.get(at)?);
        let (count, begin) = self.length(token >> 4, at + 1)?;
        let literals = begin..begin.checked_add(count)?;
        if literals.end >= self.0.len() {
            let next = self.0.len();
            return (literals.end == next).then_some(Parts { literals, length: 0, next });
        }
        let (more, next) = self.length(token & 15, literals.end + 2)?;
        Some(Parts { literals, length: more + MIN_MATCH, next })
    }

    /// A length that begins with four bits of a token and may go on at `at`, and what follows it.
    fn length(&self, bits: usize, mut at: usize) -> Option<(usize, usize)> {
        let mut length = bits;
        let mut more = bits == 15;
        while more {
            let byte = *self.0.get(at)?;
            length += usize::from(byte);
            at += 1;
            more = byte == 255;
        }
        Some((length, at))
    }
}
