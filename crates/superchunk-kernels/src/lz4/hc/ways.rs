//! The cheapest known way to each position of a stretch of the input.
//!
//! A way is a row of literals and matches. Its price is the number of bytes it takes in the block,
//! which LZ4 makes easy to know: a literal takes 1, a match 3 for its token and its distance, and a
//! long run of literals or a long match a few bytes more that continue the length. The distance
//! does not matter, so of all matches that begin at a position only the longest is of interest: cut short, it
//! serves for every length.
//!
//! Hence a price hardly ever falls from one position to the next, since the way to a position
//! becomes a way to the one before by leaving out its last byte. A match is offered from its far
//! end back, and the first position that has a way as cheap already ends that: the others have,
//! too. (It is not quite so where a match of the least length ends, which cannot be cut; a byte
//! may be lost there, now and then.)

#![expect(clippy::indexing_slicing, reason = "every index is taken modulo the array's size")]

use alloc::boxed::Box;

use crate::lz4::MIN_MATCH;

/// A stretch that has become so long should end.
pub(super) const STRETCH: usize = 2048;

/// The longest match that can be offered.
pub(super) const LONGEST: usize = 1024;

/// Room for every position of a stretch and of a match that leads out of it; a power of two, so
/// that an index needs no check.
const NODES: usize = 4096;
const _: () = assert!(NODES.is_power_of_two() && STRETCH + LONGEST + 1 < NODES);

/// The price of a position to which there is no way yet.
const UNREACHED: u16 = u16::MAX;

/// What a match costs beside what continues its length: a token and a distance.
const MATCH_PRICE: u16 = 3;

/// The length from which on a match takes one byte more; and again after so many more bytes.
const DEARER: usize = MIN_MATCH + 15;
const DEARER_AGAIN: usize = 255;

/// The positions of a stretch, numbered from 0, up to the last one that any way reaches.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    nodes: Box<[Node; NODES]>,
    last: usize,
    /// The position up to which literals have been offered.
    passed: usize,
}

/// A position and its cheapest way.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    price: u16,
    /// How many literals the way ends with, brought below 270 by taking away multiples of 255:
    /// what counts is when the next one needs a byte to continue their number.
    literals: u16,
    /// The match that the way ends with, or zeros if it ends with a literal.
    length: u16,
    distance: u16,
}

impl Default for Ways {
    fn default() -> Self {
        Ways { nodes: Box::new([Node::default(); NODES]), last: 0, passed: 0 }
    }
}

impl Ways {
    /// Begins a stretch after so many literals.
    pub(super) fn begin(&mut self, literals: usize) {
        let literals = if literals < 15 { literals } else { 15 + (literals - 15) % 255 };
        self.nodes[0] = Node { price: 0, literals: narrow(literals), length: 0, distance: 0 };
        self.last = 0;
        self.passed = 0;
    }

    /// The last position that is reached.
    #[inline(always)]
    pub(super) fn last(&self) -> usize {
        self.last
    }

    /// Gives up all positions after `last`.
    pub(super) fn cut(&mut self, last: usize) {
        self.last = last;
    }

    /// Offers the way by one more literal to each position up to `here`. These are then reached,
    /// and matches that begin there may be offered.
    #[inline(always)]
    pub(super) fn walk_to(&mut self, here: usize) {
        let mut node = self.nodes[self.passed % NODES];
        while self.passed < here {
            self.passed += 1;
            let mut price = node.price + 1;
            let mut literals = node.literals + 1;
            if literals == 15 || literals == 270 {
                literals = 15;
                price += 1;
            }
            let next = &mut self.nodes[self.passed % NODES];
            if price < next.price {
                *next = Node { price, literals, length: 0, distance: 0 };
            }
            node = *next;
        }
    }

    /// Offers the way by a match that begins here to all positions it covers. Its length is from 4
    /// to [`LONGEST`].
    #[inline(always)]
    pub(super) fn offer_match(&mut self, here: usize, length: usize, distance: usize) {
        let reached = self.last;
        for unreached in reached + 1..here + MIN_MATCH {
            self.nodes[unreached % NODES].price = UNREACHED;
        }
        self.last = self.last.max(here + length);
        let mut price = self.nodes[here % NODES].price + MATCH_PRICE;
        let mut shortest = MIN_MATCH;
        let mut dearer = DEARER;
        loop {
            let mut offered = length.min(dearer - 1);
            while offered >= shortest {
                let node = &mut self.nodes[(here + offered) % NODES];
                if here + offered <= reached && node.price <= price {
                    break;
                }
                let (length, distance) = (narrow(offered), narrow(distance));
                *node = Node { price, literals: 0, length, distance };
                offered -= 1;
            }
            if length < dearer {
                return;
            }
            price += 1;
            shortest = dearer;
            dearer += DEARER_AGAIN;
        }
    }

    /// Turns the way to the last position round, so that it can be followed from the first on with
    /// [`Ways::step`].
    pub(super) fn turn_round(&mut self) {
        let mut here = self.last;
        let Node { mut length, mut distance, .. } = self.nodes[here % NODES];
        while here > 0 {
            here = here.saturating_sub(usize::from(length).max(1));
            let node = &mut self.nodes[here % NODES];
            core::mem::swap(&mut node.length, &mut length);
            core::mem::swap(&mut node.distance, &mut distance);
        }
    }

    /// Length and distance of the match with which the way goes on here, once turned round; zeros for a
    /// literal.
    #[inline(always)]
    pub(super) fn step(&self, here: usize) -> (usize, usize) {
        let Node { length, distance, .. } = self.nodes[here % NODES];
        (usize::from(length), usize::from(distance))
    }
}

/// A length or a distance as the nodes keep it.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "lengths and distances are below 65 536")]
fn narrow(value: usize) -> u16 {
    value as u16
}
