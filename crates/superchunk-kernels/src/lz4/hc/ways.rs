//! The cheapest known way to each position of a stretch of the input.
//!
//! A way is a row of literals and matches. Its price is the number of bytes it takes in the block,
//! which LZ4 makes easy to know: a literal takes 1, a match 3 for its token and its distance, and a
//! long run of literals or a long match a few bytes more that continue the length. Of ways that take
//! as many bytes, the one with fewer matches is decoded faster, so a match is a little dearer than
//! its bytes. The distance does not matter, so of all matches that begin at a position only the longest is of interest: cut short, it
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
const _: () = assert!(NODES * 2 * (BYTE_PRICE as usize) <= UNREACHED as usize + 1);

/// The price of a position to which there is no way yet.
const UNREACHED: u16 = u16::MAX;

/// The price of a byte in the block.
const BYTE_PRICE: u16 = 8;

/// What a match costs beside what continues its length: a token and a distance, and so little more
/// that it takes eight matches to outweigh a byte.
const MATCH_PRICE: u16 = 3 * BYTE_PRICE + 1;

/// The length from which on a match takes one byte more; and again after so many more bytes.
pub(super) const DEARER: usize = MIN_MATCH + 15;
const DEARER_AGAIN: usize = 255;

/// The positions of a stretch, numbered from 0, up to the last one that any way reaches.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    nodes: Box<[Node; NODES]>,
    last: usize,
    /// The first match is the only one. It is then kept by the first node, and no other is used.
    lone: bool,
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
        Ways { nodes: Box::new([Node::default(); NODES]), last: 0, lone: true, passed: 0 }
    }
}

impl Ways {
    /// Begins a stretch after so many literals with a match, whose length is from 4 to
    /// [`LONGEST`].
    #[inline(always)]
    pub(super) fn begin(&mut self, literals: usize, length: usize, distance: usize) {
        let literals = if literals < 15 { literals } else { 15 + (literals - 15) % 255 };
        let (length, distance) = (narrow(length), narrow(distance));
        self.nodes[0] = Node { price: 0, literals: narrow(literals), length, distance };
        self.last = usize::from(length);
        self.lone = true;
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

    /// Offers the first match to all positions it covers, if that has not been done.
    #[inline(always)]
    fn spread(&mut self) {
        if self.lone {
            self.lone = false;
            self.passed = 0;
            self.last = 0;
            let (length, distance) = self.step(0);
            self.offer_match(0, length, distance);
        }
    }

    /// Offers the way by one more literal to each position up to `here`. These are then reached,
    /// and matches that begin there may be offered.
    #[inline(always)]
    pub(super) fn walk_to(&mut self, here: usize) {
        self.spread();
        let mut node = self.nodes[self.passed % NODES];
        while self.passed < here {
            self.passed += 1;
            let mut price = node.price + BYTE_PRICE;
            let mut literals = node.literals + 1;
            if literals == 15 || literals == 270 {
                literals = 15;
                price += BYTE_PRICE;
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
            price += BYTE_PRICE;
            shortest = dearer;
            dearer += DEARER_AGAIN;
        }
    }

    /// Turns the cheapest way to the last position round, so that it can be followed from the
    /// first on with [`Ways::step`].
    #[inline(always)]
    pub(super) fn turn_round(&mut self) {
        if self.lone {
            return;
        }
        self.walk_to(self.last);
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// How many bytes continue this length.
    fn continuation(length: usize) -> usize {
        if length < 15 { 0 } else { (length - 15) / 255 + 1 }
    }

    /// The size of a row of matches `(begin, length)` with literals between, before and after.
    fn size(before: usize, row: &[(usize, usize)], end: usize) -> usize {
        let mut at = 0;
        let mut literals = before;
        let mut size = 0;
        for &(begin, length) in row {
            literals += begin - at;
            size += 3 + literals + continuation(literals) + continuation(length - 4);
            literals = 0;
            at = begin + length;
        }
        literals += end - at;
        size + literals + continuation(literals)
    }

    /// The smallest size of any row to `end` made of these matches, each as it is or cut short.
    fn smallest(before: usize, offers: &[(usize, usize)], end: usize) -> usize {
        // The best that is known for each position and number of literals since the last match.
        let mut best = alloc::vec![alloc::vec![usize::MAX; before + end + 1]; end + 1];
        best[0][before] = 0;
        for at in 0..end {
            let reached = best[at].clone();
            for (literals, &cost) in reached.iter().enumerate().filter(|(_, c)| **c < usize::MAX) {
                let next = &mut best[at + 1][literals + 1];
                *next = cost.min(*next);
                let cost = cost + 3 + literals + continuation(literals);
                for &(_, longest) in offers.iter().filter(|offer| offer.0 == at) {
                    for length in 4..=longest {
                        let next = &mut best[at + length][0];
                        *next = (cost + continuation(length - 4)).min(*next);
                    }
                }
            }
        }
        let ends = best[end].iter().enumerate().filter(|(_, cost)| **cost < usize::MAX);
        ends.map(|(literals, cost)| cost + literals + continuation(literals)).min().unwrap()
    }

    fn chosen(ways: &mut Ways) -> Vec<(usize, usize)> {
        ways.turn_round();
        let mut row = Vec::new();
        let mut here = 0;
        while here < ways.last() {
            let (length, distance) = ways.step(here);
            if length > 0 {
                row.push((here, length));
                assert_eq!(distance, 1000 + here, "the distance belongs to the match");
            }
            here += length.max(1);
        }
        assert_eq!(here, ways.last());
        row
    }

    #[test]
    fn the_way_chosen_is_as_short_as_any() {
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            usize::try_from(seed >> 33).unwrap() % below
        };
        let mut ways = Ways::default();
        let mut excess = 0;
        for round in 0..600 {
            let before = [0, 3, 14, 15, 268, 269, 270][random(7)];
            let longest = [8, 40, 300][round % 3];
            let mut offers = alloc::vec![(0, 4 + random(longest))];
            ways.begin(before, offers[0].1, 1000);
            let mut here = 0;
            while offers.len() < 9 {
                here += 1 + random(longest / 3);
                if here >= ways.last() {
                    break;
                }
                let length = 4 + random(longest);
                ways.walk_to(here);
                ways.offer_match(here, length, 1000 + here);
                offers.push((here, length));
            }
            let end = ways.last();
            let found = size(before, &chosen(&mut ways), end);
            let least = smallest(before, &offers, end);
            assert!(found >= least, "the definition knows all rows");
            assert!(found <= least + 1, "round {round}: {found} instead of {least}: {offers:?}");
            excess += found - least;
        }
        assert!(excess <= 6, "{excess} bytes more than the least in 600 rounds");
    }

    #[test]
    fn a_lone_match_is_the_way() {
        let mut ways = Ways::default();
        ways.begin(20, 77, 1000);
        assert_eq!(ways.last(), 77);
        assert_eq!(chosen(&mut ways), [(0, 77)]);
    }

    #[test]
    fn a_way_can_be_cut_before_a_match_that_is_not_offered() {
        let mut ways = Ways::default();
        ways.begin(0, 9, 1000);
        ways.walk_to(7);
        ways.cut(6);
        assert_eq!(chosen(&mut ways), [(0, 6)]);
        ways.begin(0, 9, 1000);
        ways.walk_to(7);
        ways.cut(2);
        assert_eq!(chosen(&mut ways), []);
    }
}
