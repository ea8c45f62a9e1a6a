//! Marks units of a block before they are written: where each begins follows from the lengths of the codes.

use crate::deflate::bits::BitWriter;
use crate::deflate::parsed::{Tokens, Unit};
use crate::deflate::symbols::{END, LENGTH_BASE, LENGTH_EXTRA, MIN_MATCH, distance_extra};
use crate::marks::{Mark, Marker};

/// So many literals of a row are passed at a time while no mark is due.
const PIECE: usize = 64;

/// Marks the units that come next, in codes of these lengths.
pub(super) fn mark_units(
    out: &mut BitWriter<'_>,
    tokens: Tokens<'_>,
    litlen: &[u8],
    distance: &[u8],
) {
    let (Some((marker, next)), Some(of_literals)) = (out.marking(), litlen.first_chunk()) else {
        return;
    };
    let mut walk = Walk { marker, next, of_literals, litlen, distance };
    let mut literals = tokens.literals_of_units();
    for &unit in tokens.units() {
        let count = unit.as_row().unwrap_or(unit.literals());
        let (own, rest) = literals.split_at_checked(count).unwrap_or_default();
        literals = rest;
        match unit.as_row() {
            Some(_) => walk.pass_row(own),
            None => walk.pass(unit, own),
        }
    }
}

struct Walk<'a> {
    marker: &'a mut Marker,
    next: Mark,
    of_literals: &'a [u8; 256],
    litlen: &'a [u8],
    distance: &'a [u8],
}

impl Walk<'_> {
    fn pass_row(&mut self, literals: &[u8]) {
        for piece in literals.chunks(PIECE) {
            let bits: usize = piece.iter().map(|&literal| self.bits_of(literal)).sum();
            if self.next.at + bits < self.marker.due() {
                self.next = Mark { at: self.next.at + bits, out: self.next.out + piece.len() };
                continue;
            }
            for &literal in piece {
                self.mark(1, 1, 0);
                let Mark { at, out } = self.next;
                self.next = Mark { at: at + self.bits_of(literal), out: out + 1 };
            }
        }
    }

    fn pass(&mut self, unit: Unit, literals: &[u8]) {
        let (length, distance, of_match) = self.repeated(unit);
        self.mark(literals.len(), distance, length);
        let bits: usize = literals.iter().map(|&literal| self.bits_of(literal)).sum();
        let Mark { at, out } = self.next;
        self.next = Mark { at: at + bits + of_match, out: out + literals.len() + length };
    }

    fn mark(&mut self, literals: usize, distance: usize, length: usize) {
        if self.next.at >= self.marker.due() {
            self.marker.note(self.next, literals, distance, length);
        }
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "there is one for each byte")]
    fn bits_of(&self, literal: u8) -> usize {
        usize::from(self.of_literals[usize::from(literal)])
    }

    /// The length and the distance of the match of a unit, and its bits; nothing if it has none.
    fn repeated(&self, unit: Unit) -> (usize, usize, usize) {
        let (slot, far) = (unit.length_slot(), unit.distance_slot());
        let (Some(&base), Some(&extra)) = (LENGTH_BASE.get(slot), LENGTH_EXTRA.get(slot)) else {
            return (0, 1, 0);
        };
        let length = usize::from(base) + MIN_MATCH + usize::from(unit.length_extra());
        let more = distance_extra(far);
        let least = if far < 2 { far } else { (2 + (far & 1)) << more };
        let of_length = self.litlen.get(END + 1 + slot).copied().unwrap_or(0);
        let of_distance = self.distance.get(far).copied().unwrap_or(0);
        let bits = usize::from(of_length) + usize::from(extra) + usize::from(of_distance);
        (length, least + 1 + usize::from(unit.distance_extra()), bits + more as usize)
    }
}
