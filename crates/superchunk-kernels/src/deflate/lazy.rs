//! The thorough parse: several earlier positions are tried, and the next position or two are looked
//! at before a match is taken.

use crate::common::common_length;
use crate::copy::load_4;
use crate::deflate::finder::{Finder, MARGIN};
use crate::deflate::model::Model;
use crate::deflate::segment::Segment;
use crate::deflate::stats::COST_BITS;
use crate::deflate::ways::Ways;

/// How long the parse searches.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Earlier positions that are tried: the highest bit of each one's byte.
    pub(super) ways: u64,
    /// A match of this length is good enough.
    pub(super) nice: usize,
    /// After a match of this length, the next position is not looked at.
    good: usize,
    /// Positions after a match's begin at which a better one may begin.
    looks: usize,
    /// The stride grows by one with every `1 << skip` literals since the last match.
    skip: u32,
}

/// All positions that are remembered.
pub(super) const THOROUGH: Effort =
    Effort { ways: 0x8080_8080_8080_8080, nice: 48, good: 16, looks: 1, skip: 9 };

/// The latest half of them.
pub(super) const BRISK: Effort = Effort { ways: 0x8080_8080, ..THOROUGH };

impl Effort {
    /// How many positions are looked at after a match's begin, and up to which length of it, when
    /// `key` bytes are hashed.
    fn patience(self, key: u32) -> (usize, usize) {
        match key {
            // Short matches are all alike.
            4 => (self.looks.saturating_sub(1), self.good),
            // There are many long ones, and the first is nearly as good.
            6 => (self.looks, self.good / 2),
            _ => (self.looks, self.good),
        }
    }
}

/// A match and what it saves.
#[derive(Clone, Copy)]
pub(super) struct Match {
    pub(super) length: usize,
    pub(super) distance: usize,
    pub(super) gain: i32,
}

impl Match {
    /// None at all: it saves less than anything.
    pub(super) const NONE: Match = Match { length: 0, distance: 0, gain: i32::MIN / 2 };
}

/// Where literals cost less on average, only longer matches pay.
const CHEAP: i32 = 4 << COST_BITS;
const VERY_CHEAP: i32 = 2 << COST_BITS;

/// Where such a part of all bytes (of 256) is in matches, there are long ones to choose from.
const MOSTLY: usize = 180;

/// If they have this length on average.
const LONG_ONES: usize = 7;

/// The longest stride, less 1.
const MAX_SKIP: usize = 7;

/// The stride is the same for so many bytes at least.
const STRETCH: usize = 128;

/// Of a long match, only so many positions at its end are entered.
const LONG: usize = 64;

/// The same for a match of a short distance, whose positions are much alike.
const SHORT_PERIOD: usize = 12;

/// Parses the next segment. Where bytes are cheap only long matches pay, and only those are looked
/// for.
pub(super) fn parse(effort: Effort, finder: &mut Finder, model: &Model, segment: &mut Segment<'_>) {
    finder.key = key(finder.key, model);
    let parse = match finder.key {
        4 => parse_keyed::<4>,
        6 => parse_keyed::<6>,
        _ => parse_keyed::<8>,
    };
    parse(effort, finder, model, segment);
}

/// How many bytes are to be hashed, after `before` bytes so far or 0. It is decided with the first
/// sample of the input, and once more when matches have been seen.
fn key(before: u32, model: &Model) -> u32 {
    match before {
        0 if model.average < VERY_CHEAP => 8,
        0 if model.average < CHEAP => 6,
        0 => 4,
        4 if model.matched > MOSTLY && model.match_length >= LONG_ONES => 6,
        decided => decided,
    }
}

fn parse_keyed<const KEY: u32>(
    effort: Effort,
    finder: &mut Finder,
    model: &Model,
    segment: &mut Segment<'_>,
) {
    let src = segment.src;
    let last_begin = src.len().saturating_sub(MARGIN);
    let mut at = segment.end;
    let mut calm_since = at.saturating_sub(finder.calm);
    let (looks, good) = effort.patience(KEY);
    // The stride changes at places that do not depend on what `seek` stumbles over.
    let (mut stride, mut stretch_end) = (1, at);
    loop {
        let limit = segment.until.min(last_begin);
        // SAFETY: `at` and `look` are below `last_begin`, so enough bytes follow them.
        unsafe {
            if at >= stretch_end {
                stride = 1 + ((at - calm_since) >> effort.skip).min(MAX_SKIP);
                stretch_end = at + STRETCH;
            }
            let stop = limit.min(stretch_end);
            at = Ways::seek::<KEY>(effort, finder, src, at, stop, stride);
            if at >= limit {
                break;
            }
            if at >= stop {
                continue;
            }
            let mut best = Ways::find::<KEY>(effort, finder, model, src, at, 3);
            let literal = model.literal_gain(*src.get_unchecked(at));
            if best.gain <= literal {
                at += stride;
                continue;
            }
            // A run of one byte may be cheaper as a literal and a match with it.
            let mut look = at;
            if best.distance > 1 && load_4(src.as_ptr().add(at)) == load_4(src.as_ptr().add(at + 1))
            {
                let run = 4 + common_length(src.as_ptr(), at + 5, 1, src.len());
                let gain = model.gain(run, 1) + literal;
                if gain > best.gain {
                    (best, at) = (Match { length: run, distance: 1, gain }, at + 1);
                }
            }
            let mut skipped = 0;
            while look < at + looks && best.length < good && look + 1 < last_begin {
                skipped += model.literal_gain(*src.get_unchecked(look));
                look += 1;
                let next = Ways::find::<KEY>(effort, finder, model, src, look, best.length - 1);
                if next.gain + skipped > best.gain {
                    (best, at, skipped) = (next, look, 0);
                }
            }
            let end = at + best.length;
            segment.push_back(at, best.length, best.distance);
            finder.last_distance = best.distance;
            let last_ones = if best.distance < 8 { SHORT_PERIOD } else { LONG };
            let from = (look + 1).max(end.saturating_sub(last_ones));
            for inside in from..end.min(last_begin) {
                Ways::enter::<KEY>(finder, src, inside);
            }
            at = end;
            calm_since = end;
            stretch_end = end;
        }
    }
    finder.calm = at - calm_since.min(at);
    segment.finish(if at >= last_begin { src.len() } else { at });
}
