//! Decides where to search, and writes the cheapest row of literals and matches.
//!
//! Where a match is found, a *stretch* begins: the positions that this match covers, and all that
//! further matches cover which begin inside.
//!
//! ```text
//!              ├──────────────┤
//!                  ├────────────────┤
//!                                ├────────┤
//!    literals  │        stretch           │  literals
//! ```
//!
//! Only a match that passes over the end of the stretch, as it is known so far, makes it longer.
//! Such a match holds the 4 bytes that begin 3 positions before the end, or else begins later than
//! that. So these positions are searched, and each match found is followed back to where it begins:
//! whatever lies further inside the stretch is found all the same, without a search of its own.
//! After a short match only the second of these positions is searched: it misses what would save a
//! byte or two, and most of the time goes into short matches.
//! [`Ways`] is offered all of these matches and keeps the cheapest way to every position. When
//! nothing passes over the end, all ways meet there, and the cheapest is written.

use crate::common::common_before;
use crate::copy::load_8;
use crate::lz4::emit::Block;
use crate::lz4::hc::chains::{Chains, Match, Patience};
use crate::lz4::hc::ways::{DEARER, LONGEST, STRETCH, Ways};
use crate::lz4::{LAST_LITERALS, MATCH_MARGIN, MIN_MATCH};

/// After so many bytes without a match, only every second position is searched; after twice as
/// many every third, and so on up to the longest stride.
pub(super) const UNTIL_STRIDE: usize = 512;
pub(super) const LONGEST_STRIDE: usize = 16;

/// So far before the end of a stretch begins the first search for what passes over it.
const OVER_END: usize = MIN_MATCH - 1;

/// How many positions are searched from there on.
const LOOKS: usize = 3;

/// So far before the end of a short match is the only search.
const OVER_SHORT_END: usize = MIN_MATCH - 2;

/// A match of fewer bytes is a short one.
const SHORT: usize = 6;

/// One input being encoded.
pub(super) struct Parser<'a> {
    chains: &'a mut Chains,
    ways: &'a mut Ways,
    patience: Patience,
    input: &'a [u8],
    /// Where the next sequence begins.
    anchor: usize,
    /// The last position at which a match may begin.
    last_begin: usize,
    /// Where the last match must end.
    limit: usize,
}

impl<'a> Parser<'a> {
    /// A parser for `input[start..]`, with what comes before as history.
    ///
    /// # Safety
    ///
    /// `start + MATCH_MARGIN <= input.len()`, positions fit 32 bits, and the chains are clear.
    pub(super) unsafe fn new(
        chains: &'a mut Chains,
        ways: &'a mut Ways,
        patience: Patience,
        input: &'a [u8],
        start: usize,
    ) -> Self {
        let last_begin = input.len() - MATCH_MARGIN;
        let limit = input.len() - LAST_LITERALS;
        // SAFETY: `start` is `MATCH_MARGIN` before the end, and positions fit 32 bits.
        unsafe { chains.enter_until(input, start) };
        Parser { chains, ways, patience, input, anchor: start, last_begin, limit }
    }

    /// Writes all sequences that have a match; returns where the last literals begin.
    pub(super) fn encode(&mut self, block: &mut Block<'_>) -> Option<usize> {
        let mut at = self.anchor;
        while at <= self.last_begin {
            at = match self.longest(at) {
                Some(found) => self.stretch(at, found, block)?,
                None => at + (1 + (at - self.anchor) / UNTIL_STRIDE).min(LONGEST_STRIDE),
            }
        }
        Some(self.anchor)
    }

    /// The longest match at `at <= last_begin`, followed back into the literals before it.
    #[inline(always)]
    fn longest(&mut self, at: usize) -> Option<Match> {
        let Parser { input, limit, patience, anchor, .. } = *self;
        let mut best = None;
        let keep = |length, distance| {
            if best.is_none_or(|(known, _)| length > known) {
                best = Some((length, distance));
            }
            (length, 0)
        };
        // SAFETY: `last_begin` and `limit` were computed for this input; searches go forward: the
        // last one was at the position before, or in a stretch that has ended before `at`.
        unsafe { self.chains.search(input, at, limit, patience, 0, keep) };
        best.map(|(length, distance)| follow_back(input, anchor, at, length, distance))
    }

    /// Writes the cheapest way through the stretch that begins with this match, and returns where
    /// it ends. The match was found at `searched`.
    fn stretch(&mut self, searched: usize, first: Match, block: &mut Block<'_>) -> Option<usize> {
        if first.length > LONGEST {
            self.write(&first, block)?;
            return Some(first.end());
        }
        let origin = first.begin;
        self.ways.begin(origin - self.anchor, first.length, first.distance);
        let mut here = searched + 1 - origin;
        let mut end = self.ways.last();
        let mut latest = first.length;
        loop {
            let (over, looks) =
                if latest < SHORT { (OVER_SHORT_END, 1) } else { (OVER_END, LOOKS) };
            here = here.max(end - over);
            if here >= (end - over + looks).min(STRETCH) || origin + here > self.last_begin {
                break;
            }
            if let Some(long) = self.widen(origin, here, here + over == end) {
                self.ways.cut(long.begin - origin);
                self.write_way(origin, block)?;
                self.write(&long, block)?;
                return Some(long.end());
            }
            if self.ways.last() > end {
                end = self.ways.last();
                latest = end - here;
            }
            here += 1;
        }
        self.write_way(origin, block)?;
        Some(origin + self.ways.last())
    }

    /// Offers the ways all matches that hold the 4 bytes at this position of the stretch; returns
    /// one that is too long to be offered, and worth to be taken whatever it replaces. The `first`
    /// position that is searched before an end sees most of what there is.
    #[inline(always)]
    fn widen(&mut self, origin: usize, here: usize, first: bool) -> Option<Match> {
        let Parser { input, limit, mut patience, .. } = *self;
        let ways = &mut *self.ways;
        let at = origin + here;
        if !first {
            patience.depth = patience.depth.div_ceil(8);
        }
        let mut long = None;
        let offer = |length, distance| {
            let found = follow_back(input, origin, at, length, distance);
            ways.walk_to(here);
            if found.length > LONGEST {
                long = Some(found);
            } else {
                ways.offer_match(found.begin - origin, found.length, distance);
            }
            (length, at - found.begin)
        };
        // SAFETY: the caller compared `at` with `last_begin`, which, as `limit`, was computed for
        // this input; the positions of a stretch are searched in their order.
        unsafe { self.chains.search(input, at, limit, patience, here, offer) };
        long
    }

    /// Writes the matches of the cheapest way through the stretch.
    fn write_way(&mut self, origin: usize, block: &mut Block<'_>) -> Option<()> {
        self.ways.turn_round();
        let mut next = self.match_from(origin, 0);
        while let Some(mut found) = next {
            next = self.match_from(origin, found.end() - origin);
            if let Some(next) = &mut next {
                give_back(self.input, &mut found, next, self.last_begin);
            }
            self.write(&found, block)?;
        }
        Some(())
    }

    /// The first match of the chosen way that does not begin before this position of the stretch.
    #[inline(always)]
    fn match_from(&self, origin: usize, mut here: usize) -> Option<Match> {
        while here < self.ways.last() {
            let (length, distance) = self.ways.step(here);
            if length > 0 {
                return Some(Match { begin: origin + here, length, distance });
            }
            here += 1;
        }
        None
    }

    #[inline(always)]
    fn write(&mut self, found: &Match, block: &mut Block<'_>) -> Option<()> {
        // SAFETY: a match comes from a search and is cut at its end at most, not below the
        // minimum; it begins at or after the end of the one before, which is the anchor.
        unsafe { block.push(self.input, self.anchor, found.begin, found.distance, found.length)? };
        self.anchor = found.end();
        Some(())
    }
}

/// Lets a match end where it would have ended if the next one, which was followed back as far as
/// it goes, had not begun. The block is as long; but where items repeat, both then begin with one,
/// and a decoder need not wait for pieces of two to come together. No match begins after `last_begin`.
#[inline(always)]
fn give_back(input: &[u8], before: &mut Match, next: &mut Match, last_begin: usize) {
    if before.end() != next.begin || before.length >= DEARER {
        return;
    }
    // SAFETY: 5 bytes follow the end of a match, which has 4 at least: 8 can be read at its begin.
    // No distance reaches beyond the begin of the input from where its match begins.
    let difference = unsafe {
        let at = input.as_ptr().add(next.begin);
        load_8(at) ^ load_8(at.sub(before.distance))
    };
    let same = (difference.trailing_zeros() / 8) as usize;
    let more = same.min(next.length - MIN_MATCH).min(DEARER - 1 - before.length);
    let more = more.min(last_begin.saturating_sub(next.begin));
    before.length += more;
    next.begin += more;
    next.length -= more;
}

/// A match found at `at`, with the bytes before that match too, down to `low <= at`.
///
/// Matches in a stretch often go back far, so 8 bytes at a time are compared first.
#[inline(always)]
pub(super) fn follow_back(
    input: &[u8],
    low: usize,
    at: usize,
    length: usize,
    distance: usize,
) -> Match {
    let base = input.as_ptr();
    let low = low.max(distance);
    let mut begin = at;
    // SAFETY: a search finds no distance beyond `at`, so `low <= at`. All reads lie between `low`
    // and `at`, or `distance <= low` before that, hence in the input.
    unsafe {
        while begin >= low + 8 {
            let difference = load_8(base.add(begin - 8)) ^ load_8(base.add(begin - 8 - distance));
            if difference != 0 {
                begin -= (difference.leading_zeros() / 8) as usize;
                return Match { begin, length: length + at - begin, distance };
            }
            begin -= 8;
        }
        begin -= common_before(base, low, begin, distance);
    }
    Match { begin, length: length + at - begin, distance }
}
