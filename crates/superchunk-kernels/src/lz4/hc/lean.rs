//! Decides among matches that overlap, as they are found.
//!
//! After a match it is asked what passes over its end: 3 bytes before the end, and at the end. What is
//! found is followed back as far as it goes, and may make earlier matches superfluous, which have not
//! been written yet:
//!
//! ```text
//!     ├───── 1 ─────┤
//!              ├──── 2 ───┤
//!        ├─────────── 3 ────────────┤       2 is dropped, and 3 begins where 1 ends
//! ```
//!
//! This is less thorough than [`Ways`](super::ways::Ways), which know the cheapest way to every
//! position, and takes half the time. What it loses, longer matches make up for.

use crate::lz4::emit::Block;
use crate::lz4::hc::chains::Match;
use crate::lz4::hc::parse::{LONGEST_STRIDE, UNTIL_STRIDE, follow_back};
use crate::lz4::hc::rows::Rows;
use crate::lz4::hc::ways::DEARER;
use crate::lz4::{LAST_LITERALS, MATCH_MARGIN, MIN_MATCH};

/// One input being encoded.
pub(super) struct Lean<'a> {
    rows: &'a mut Rows,
    input: &'a [u8],
    /// Where the next sequence begins.
    anchor: usize,
    /// The last position at which a match may begin.
    last_begin: usize,
    /// Where the last match must end.
    limit: usize,
    /// Whether to give up where a more thorough search is worth its time.
    gives_up: bool,
    /// Matches written.
    matches: usize,
}

/// How far it came: all literals that follow are the last ones, or all that follows is to be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Done(usize),
    GivenUp(usize),
}

/// A row of matches which are not written yet, after what is written. The first one stands for that.
struct Pending {
    row: [Taken; MOST + 1],
    last: usize,
}

#[derive(Clone, Copy, Default)]
struct Taken {
    begin: usize,
    end: usize,
    distance: usize,
    /// Bytes of the block that the row saves up to here.
    saved: usize,
}

/// So many matches can be pending.
const MOST: usize = 16;

/// So far before the end of a match begins the search for what passes over it.
const OVER_END: usize = MIN_MATCH - 1;

/// What passes over the end of a match of fewer bytes is sought among all entries of a row.
const SHORT: usize = 6;

/// What a match costs: a token and a distance.
const MATCH_PRICE: usize = 3;

/// A byte that a match covers beyond the last one is worth 3/16 of a byte when matches are compared,
/// since without this match another would have covered it.
const WHOLE: u64 = 16;
const DISCOUNT: u64 = 13;

/// After so many bytes it is asked whether to give up.
const SEGMENT: usize = 1 << 14;

impl<'a> Lean<'a> {
    /// An encoder for `input[start..]`, with what comes before as history.
    ///
    /// # Safety
    ///
    /// `start + MATCH_MARGIN < input.len()`, and the rows are clear.
    pub(super) unsafe fn new(
        rows: &'a mut Rows,
        input: &'a [u8],
        start: usize,
        gives_up: bool,
    ) -> Self {
        let last_begin = input.len() - MATCH_MARGIN;
        let limit = input.len() - LAST_LITERALS;
        for end in (0..=start).step_by(4) {
            // SAFETY: `end` is `MATCH_MARGIN` before the end of the input at least.
            unsafe { rows.enter_until(input, end) };
        }
        Lean { rows, input, anchor: start, last_begin, limit, gives_up, matches: 0 }
    }

    /// Where the literals begin that are not written yet.
    pub(super) fn anchor(&self) -> usize {
        self.anchor
    }

    /// Writes all sequences that have a match, or those up to where it gives up.
    pub(super) fn encode(&mut self, block: &mut Block<'_>) -> Option<Ended> {
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::isa().has_avx2() {
            // SAFETY: with AVX2 there are BMI1 and BMI2.
            return unsafe { self.encode_with_bmi(block) };
        }
        self.encode_anywhere(block)
    }

    /// As [`Self::encode_anywhere`].
    ///
    /// # Safety
    ///
    /// The processor has BMI1 and BMI2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2")]
    unsafe fn encode_with_bmi(&mut self, block: &mut Block<'_>) -> Option<Ended> {
        self.encode_anywhere(block)
    }

    #[inline(always)]
    fn encode_anywhere(&mut self, block: &mut Block<'_>) -> Option<Ended> {
        let mut at = self.anchor;
        let (mut asked, mut written, mut matches) = (at, block.len(), 0);
        while at <= self.last_begin {
            if self.gives_up && self.anchor >= asked + SEGMENT {
                let (read, wrote) = (self.anchor - asked, block.len() - written);
                if is_worth_more(read, wrote, self.matches - matches) {
                    return Some(Ended::GivenUp(self.anchor));
                }
                (asked, written, matches) = (self.anchor, block.len(), self.matches);
            }
            at = match self.longest(at) {
                Some(found) => self.follow(at, &found, block)?,
                None => at + (1 + (at - self.anchor) / UNTIL_STRIDE).min(LONGEST_STRIDE),
            }
        }
        Some(Ended::Done(self.anchor))
    }

    /// The longest match at `at <= last_begin`, followed back into the literals before it.
    #[inline(always)]
    fn longest(&mut self, at: usize) -> Option<Match> {
        let Lean { input, limit, anchor, .. } = *self;
        let mut best = None;
        let keep = |length, distance| {
            if best.is_none_or(|(known, _)| length > known) {
                best = Some((length, distance));
            }
            (length, 0)
        };
        // SAFETY: `last_begin` and `limit` were computed for this input; searches go forward.
        unsafe { self.rows.search(input, at, limit, true, 0, keep) };
        best.map(|(length, distance)| follow_back(input, anchor, at, length, distance))
    }

    /// Writes this match, or what is better, and all that overlap one another from there on. Returns
    /// where to search next. The match was found at `searched`.
    #[inline(always)]
    fn follow(
        &mut self,
        mut searched: usize,
        first: &Match,
        block: &mut Block<'_>,
    ) -> Option<usize> {
        let mut pending = Pending::new(self.anchor, first);
        let mut over = OVER_END;
        loop {
            let look = pending.last().end - over;
            if look > self.last_begin {
                break;
            }
            let next = if look > searched { self.over_end(&pending, look) } else { None };
            searched = searched.max(look);
            if let Some((keep, next)) = next {
                if keep == MOST {
                    self.write(pending.row[1], block)?;
                }
                pending.take(keep, next);
                over = OVER_END;
            } else if over > 0 {
                over = 0;
            } else {
                break;
            }
        }
        for taken in pending.matches() {
            self.write(*taken, block)?;
        }
        Some(self.anchor.max(searched + 1))
    }

    /// The best match that holds the bytes at `look` and passes over the end of what is pending, if
    /// it saves something; and how many of the pending ones to keep.
    #[inline(always)]
    fn over_end(&mut self, pending: &Pending, look: usize) -> Option<(usize, Taken)> {
        let Lean { input, limit, anchor, last_begin, .. } = *self;
        let last = pending.last();
        let mut best = (0, Taken::default());
        let mut most = 0;
        let offer = |length, distance| {
            let found = follow_back(input, anchor, look, length, distance);
            if found.end() > last.end {
                pending.weigh(&found, &mut most, &mut best);
            }
            (length, look - found.begin)
        };
        let all = look == last.end || last.end - last.begin < SHORT;
        // SAFETY: the caller compared `look` with `last_begin`, which, as `limit`, was computed for
        // this input, and with what was searched; the anchor is not after it.
        unsafe { self.rows.search(input, look, limit, all, look - anchor, offer) };
        (best.1.saved > last.saved && best.1.begin <= last_begin).then_some(best)
    }

    #[inline(always)]
    fn write(&mut self, taken: Taken, block: &mut Block<'_>) -> Option<()> {
        let Taken { begin, end, distance, .. } = taken;
        // SAFETY: a match comes from a search and lost bytes at its begin at most, not so many that
        // it would save nothing; it begins at or after the end of the one before, the anchor.
        unsafe { block.push(self.input, self.anchor, begin, distance, end - begin)? };
        self.anchor = end;
        self.matches += 1;
        Some(())
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "`last` is at most `MOST`, and what is kept at most that"
)]
impl Pending {
    #[inline(always)]
    fn new(anchor: usize, first: &Match) -> Self {
        let mut row = [Taken::default(); MOST + 1];
        row[0].end = anchor;
        row[1] = Taken {
            begin: first.begin,
            end: first.end(),
            distance: first.distance,
            saved: first.length - price(first.length),
        };
        Pending { row, last: 1 }
    }

    #[inline(always)]
    fn last(&self) -> Taken {
        self.row[self.last]
    }

    fn matches(&self) -> &[Taken] {
        &self.row[1..=self.last]
    }

    /// Puts a match in the place of all after the first `keep`. When all are kept and there is no more
    /// room, the first one leaves the row.
    #[inline(always)]
    fn take(&mut self, mut keep: usize, next: Taken) {
        if keep == MOST {
            self.row.copy_within(1.., 0);
            keep -= 1;
        }
        self.last = keep + 1;
        self.row[self.last] = next;
    }

    /// Compares a match that ends after the last one with the best known: what it saves after each of
    /// the pending ones from which on it could go on.
    #[inline(always)]
    fn weigh(&self, found: &Match, most: &mut u64, best: &mut (usize, Taken)) {
        let Match { distance, .. } = *found;
        let end = found.end();
        let mut keep = self.last;
        loop {
            let begin = found.begin.max(self.row[keep].end);
            let covered = self.row[keep].saved + (end - begin);
            let price = price(end - begin);
            // Never below zero: what lies beyond the last one is a part of what is covered.
            let value = WHOLE * (covered + MATCH_PRICE + 1 - price) as u64
                - DISCOUNT * (end - self.last().end) as u64;
            if value > *most {
                *most = value;
                *best =
                    (keep, Taken { begin, end, distance, saved: covered.saturating_sub(price) });
            }
            if keep == 0 || self.row[keep].begin + MATCH_PRICE < found.begin {
                return;
            }
            keep -= 1;
        }
    }
}

/// The bytes that a match takes, but for those of a very long one.
#[inline(always)]
fn price(length: usize) -> usize {
    MATCH_PRICE + usize::from(length >= DEARER)
}

/// Whether matches saved a third, and are not so long that none better could be found.
fn is_worth_more(read: usize, wrote: usize, matches: usize) -> bool {
    wrote < read / 3 * 2 && matches > read / LONG
}

/// Bytes of input for a match where matches are long.
const LONG: usize = 64;

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::lz4::decompress;
    use crate::lz4::hc::effort_of;

    /// Noise, and then pieces of all lengths up to `longest` that have been there before.
    fn pieces(len: usize, longest: usize) -> Vec<u8> {
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            usize::try_from(seed >> 33).unwrap() % below
        };
        let mut data: Vec<u8> = (0..500).map(|_| u8::try_from(random(256)).unwrap()).collect();
        while data.len() < len {
            let begin = random(data.len() - longest);
            data.extend_from_within(begin..begin + 1 + random(longest));
        }
        data.truncate(len);
        data
    }

    /// The matches and literals of `input`, and where its last literals begin.
    fn encoded(input: &[u8], level: u8, anywhere: bool, gives_up: bool) -> (Vec<u8>, Ended) {
        let mut rows = Rows::default();
        rows.clear(input.len(), effort_of(level));
        let mut space = vec![0; input.len() + 100];
        let mut block = Block::new(&mut space);
        // SAFETY: the tests have inputs that are long enough, and the rows are clear.
        let mut lean = unsafe { Lean::new(&mut rows, input, 0, gives_up) };
        let ended =
            if anywhere { lean.encode_anywhere(&mut block) } else { lean.encode(&mut block) };
        let ended = ended.unwrap();
        let (Ended::Done(anchor) | Ended::GivenUp(anchor)) = ended;
        let len = block.finish(input.get(anchor..).unwrap()).unwrap();
        space.truncate(len);
        (space, ended)
    }

    #[test]
    fn rows_of_overlapping_matches_survive() {
        for longest in [5, 8, 14, 40, 300] {
            let input = pieces(150_000, longest);
            for level in [3, 5, 9] {
                let (block, ended) = encoded(&input, level, false, false);
                let mut back = vec![0; input.len()];
                decompress(&[], &block, &mut back).unwrap();
                assert!(back == input, "pieces up to {longest}, level {level}");
                assert!(matches!(ended, Ended::Done(_)));
            }
        }
    }

    #[test]
    fn every_processor_writes_the_same() {
        for longest in [6, 30] {
            let input = pieces(40_000, longest);
            assert!(encoded(&input, 5, true, false) == encoded(&input, 5, false, false));
        }
    }

    #[test]
    fn what_is_worth_more_is_given_up_at_the_end_of_a_match() {
        let input = pieces(100_000, 40);
        let (block, ended) = encoded(&input, 9, false, true);
        assert!(matches!(ended, Ended::GivenUp(SEGMENT..=30_000)), "{ended:?}");
        let mut back = vec![0; input.len()];
        decompress(&[], &block, &mut back).unwrap();
        assert!(back == input);
        // Runs have long matches.
        let (_, ended) = encoded(&vec![5; 100_000], 9, false, true);
        assert!(matches!(ended, Ended::Done(_)));
    }

    #[test]
    fn a_match_over_several_takes_their_place() {
        let taken = |begin, end, saved| Taken { begin, end, distance: 9, saved };
        let mut pending = Pending::new(2, &Match { begin: 4, length: 10, distance: 1 });
        assert_eq!(pending.last().saved, 7);
        pending.take(1, taken(14, 20, 10));
        let weigh = |begin, end| {
            let (mut most, mut best) = (0, (0, Taken::default()));
            let found = Match { begin, length: end - begin, distance: 3 };
            pending.weigh(&found, &mut most, &mut best);
            (best.0, best.1.begin, best.1.saved)
        };
        assert_eq!(weigh(17, 30), (2, 20, 17), "after both");
        assert_eq!(weigh(15, 30), (1, 15, 7 + 15 - 3), "instead of the second, for one literal");
        assert_eq!(weigh(10, 30), (1, 14, 7 + 16 - 3), "right after the first");
        assert_eq!(weigh(3, 30), (0, 3, 27 - 4), "instead of both; it is long");
        for begin in 0..2 * MOST {
            let keep = pending.last;
            pending.take(keep, taken(20 + begin, 21 + begin, 11 + begin));
        }
        assert_eq!(pending.matches().len(), MOST);
        assert_eq!(pending.last().end, 20 + 2 * MOST);
    }

    #[test]
    fn what_is_written_twice_fits_where_it_fits_once() {
        let input = pieces(18_000, 40);
        for level in 6..=12 {
            let mut encoder = crate::lz4::HcEncoder::new();
            let mut roomy = vec![0; 20_000];
            let len = encoder.compress(level, &[], &input, &mut roomy).unwrap();
            let mut exact = vec![0; len];
            assert_eq!(encoder.compress(level, &[], &input, &mut exact), Some(len));
            assert!(exact == roomy[..len], "level {level}");
        }
    }
}
