//! Chooses among overlapping matches.
//!
//! The longest match at a position is not always the best: one that begins a little later may
//! reach much further. So before a match is written, the parser looks for a longer one that covers
//! its last bytes, and for a still longer one that covers the last bytes of that. Of these three,
//! in the order of their begins,
//!
//! ```text
//!   first    ├───────────┤
//!   second         ├────────────────┤
//!   third                      ├──────────────────────┤
//! ```
//!
//! the first is written as soon as it is known how much of it the second will leave: none (then it
//! is dropped), enough for a cheap sequence, or all. Then the others move up. A match of up to
//! [`CHEAP`] bytes needs no continuation byte, so an overlap is given to the first match up to
//! that length and to the second beyond it.

use crate::lz4::common::common_before;
use crate::lz4::emit::Block;
use crate::lz4::hc::Effort;
use crate::lz4::hc::chains::{Chains, Match};
use crate::lz4::{LAST_LITERALS, MATCH_MARGIN, MIN_MATCH};

/// The longest match whose length fits the token.
const CHEAP: usize = MIN_MATCH + 14;

/// After so many bytes without a match, only every second position is searched; after twice as
/// many every third, and so on up to the stride of the level.
const PATIENCE: usize = 512;

/// One input being encoded.
pub(super) struct Parser<'a> {
    chains: &'a mut Chains,
    effort: Effort,
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
    /// `start + MATCH_MARGIN < input.len()`, positions fit 32 bits, and the chains are clear.
    pub(super) unsafe fn new(
        chains: &'a mut Chains,
        effort: Effort,
        input: &'a [u8],
        start: usize,
    ) -> Self {
        let last_begin = input.len() - MATCH_MARGIN;
        let limit = input.len() - LAST_LITERALS;
        // SAFETY: `start` is `MATCH_MARGIN` before the end, and positions fit 32 bits.
        unsafe { chains.enter_until(input, start) };
        Parser { chains, effort, input, anchor: start, last_begin, limit }
    }

    /// Writes all sequences that have a match; returns where the last literals begin.
    pub(super) fn encode(&mut self, block: &mut Block<'_>) -> Option<usize> {
        let mut at = self.anchor;
        while at <= self.last_begin {
            let missed = at - self.anchor;
            if let Some(mut first) = self.search(at, at, MIN_MATCH - 1) {
                if missed >= PATIENCE {
                    self.extend_back(&mut first);
                }
                at = self.settle(first, block)?;
            } else {
                at += (1 + missed / PATIENCE).min(self.effort.stride);
            }
        }
        Some(self.anchor)
    }

    /// Takes in bytes before the match that positions passed over would have found.
    fn extend_back(&self, found: &mut Match) {
        // SAFETY: the anchor lies before the match, and a distance never exceeds its begin.
        let before =
            unsafe { common_before(self.input.as_ptr(), self.anchor, found.begin, found.distance) };
        found.begin -= before;
        found.length += before;
    }

    /// Writes this match or what proves better; returns where to go on.
    fn settle(&mut self, first: Match, block: &mut Block<'_>) -> Option<usize> {
        let mut first = first;
        // What `first` was before a slightly later match took its place.
        let mut displaced = first;
        'second: loop {
            let Some(mut second) = self.search_over_end(&first, 2) else {
                self.write(&first, block)?;
                return Some(first.end());
            };
            if displaced.begin < first.begin && second.begin < first.begin + displaced.length {
                first = displaced;
            }
            if second.begin < first.begin + 3 {
                first = second;
                continue;
            }
            loop {
                share_overlap(&first, &mut second);
                let Some(third) = self.search_over_end(&second, 3) else {
                    cut_end(&mut first, second.begin);
                    self.write(&first, block)?;
                    self.write(&second, block)?;
                    return Some(second.end());
                };
                if third.begin < first.end() + 3 {
                    if third.begin < first.end() {
                        second = third;
                        continue;
                    }
                    // No room for the second between the others: it is only kept in mind.
                    cut_begin(&mut second, first.end());
                    if second.length < MIN_MATCH {
                        second = third;
                    }
                    self.write(&first, block)?;
                    displaced = second;
                    first = third;
                    continue 'second;
                }
                cut_end(&mut first, second.begin);
                self.write(&first, block)?;
                first = second;
                second = third;
            }
        }
    }

    /// A match longer than this one that covers the bytes from `before` its end on.
    #[inline(always)]
    fn search_over_end(&mut self, known: &Match, before: usize) -> Option<Match> {
        if known.end() > self.last_begin {
            return None;
        }
        self.search(known.begin, known.end() - before, known.length)
    }

    /// The longest match over `at <= last_begin` from `low` on, if longer than `known`.
    fn search(&mut self, low: usize, at: usize, known: usize) -> Option<Match> {
        let Parser { input, limit, effort, .. } = *self;
        self.chains.drop_backlog(at, effort.backlog);
        // SAFETY: `at` is at most `last_begin` for all callers, `limit` was computed for this
        // input; `low <= at < low + known`, as `known` is a match that covers `at` or is three
        // longer than what lies between.
        unsafe { self.chains.longest(input, low, at, known, limit, effort.depth) }
    }

    fn write(&mut self, found: &Match, block: &mut Block<'_>) -> Option<()> {
        // SAFETY: matches come from a search, begin at or after the end of the one before (which
        // is the anchor), and are never cut below the minimum.
        unsafe { block.push(self.input, self.anchor, found.begin, found.distance, found.length)? };
        self.anchor = found.end();
        Some(())
    }
}

/// Gives bytes that both matches hold to the first, as far as they make it no longer than
/// [`CHEAP`] and leave the second its minimum.
fn share_overlap(first: &Match, second: &mut Match) {
    let wanted = first.begin + first.length.min(CHEAP);
    cut_begin(second, wanted.min(second.end() - MIN_MATCH));
}

/// Lets the match begin at `begin`, if it begins before.
fn cut_begin(found: &mut Match, begin: usize) {
    if found.begin < begin {
        found.length = found.end().saturating_sub(begin);
        found.begin = begin;
    }
}

/// Lets the match end at `end`, if it ends after.
fn cut_end(found: &mut Match, end: usize) {
    if found.end() > end {
        found.length = end - found.begin;
    }
}
