//! Sequences, noted down as *marks*, and every wanted piece followed back through them, from match to
//! match, until it comes to literals:
//!
//! ```text
//!  mark n                                          mark n + 1
//!  │ literals         │ match: the same bytes as    │ literals …
//!  │                  │ `distance` before           │
//!  begin              matched                       begin
//! ```
//!
//! A piece of a match that overlaps itself is followed for one period; the rest repeats it. Whatever is
//! unusual, wrong, or leads through too many matches is given up: the decoder does it then, and
//! explains what is wrong. So bytes that are found are right, but errors elsewhere stay unseen.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::Wanted;
use crate::copy::copy_match_exact;

/// With more marks than that they would leave the caches, and take much memory.
const MOST_MARKS: usize = 1 << 18;

/// A sequence: literals, then a match, which ends where the next mark begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Where in the output the literals begin.
    pub(super) begin: u32,
    /// Where in the output the match begins.
    pub(super) matched: u32,
    /// Where its literals are kept, in whatever way the codec counts.
    pub(super) literals: u32,
    /// How far before the match its bytes are; of no meaning when it is empty.
    pub(super) distance: u32,
}

/// A piece of the output and where it is the same as.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Where in the output it is.
    pub(super) to: u32,
    /// A place of the output, or where literals are kept.
    pub(super) from: u32,
    pub(super) len: u32,
}

/// The marks of a stream, and memory to follow pieces with. Kept from stream to stream; no result depends
/// on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    marks: Vec<Mark>,
    /// Pieces still to be followed, each with a mark that is not far behind where it leads.
    open: Vec<(Piece, usize)>,
    /// What repeats itself: `from` is the distance. Later ones are part of what earlier ones repeat.
    repeats: Vec<Piece>,
}

impl Trace {
    /// Forgets the stream before.
    pub(super) fn begin(&mut self) {
        self.marks.clear();
        self.repeats.clear();
        self.open.clear();
    }

    /// Notes the next sequence, which begins where the last one ends and is not empty. `None` when there are
    /// too many.
    #[inline(always)]
    pub(super) fn note(&mut self, mark: Mark) -> Option<()> {
        if self.marks.len() >= MOST_MARKS {
            return None;
        }
        self.marks.push(mark);
        Some(())
    }

    /// Has up to `count` sequences noted at once: `note` sets their marks from the first on, and tells
    /// how many. `None` when it does so, or when there are too many.
    ///
    /// # Safety
    ///
    /// If `note` returns `Some(number)`, it has initialised the first `number` marks of its
    /// argument.
    pub(super) unsafe fn note_all(
        &mut self,
        count: usize,
        note: impl FnOnce(&mut [MaybeUninit<Mark>]) -> Option<usize>,
    ) -> Option<()> {
        let before = self.marks.len();
        before.checked_add(count).filter(|most| *most <= MOST_MARKS)?;
        self.marks.reserve(count);
        let noted = note(self.marks.spare_capacity_mut().get_mut(..count)?)?;
        // SAFETY: the first `noted` marks are initialised: `note::note`, which `Blocks::note_block`
        // passes, counts those that it writes. `reserve` made room for `count`.
        unsafe { self.marks.set_len(before + noted.min(count)) };
        Some(())
    }

    /// How many sequences were noted.
    pub(super) fn noted(&self) -> usize {
        self.marks.len()
    }

    /// Follows what is `wanted` of the first `written` bytes of an output to its literals, and hands
    /// these on. `None` when that leads nowhere, or takes more than `steps` from match to match. What
    /// [`Trace::repeat`] does is still to be done.
    pub(super) fn follow(
        &mut self,
        mut steps: usize,
        written: usize,
        wanted: &Wanted,
        mut literals: impl FnMut(Piece) -> Option<()>,
    ) -> Option<()> {
        let end = u32::try_from(written).ok()?;
        self.note(Mark { begin: end, matched: end, literals: 0, distance: 0 })?;
        for range in wanted.pieces() {
            let (to, len) = (u32::try_from(range.start).ok()?, u32::try_from(range.len()).ok()?);
            let last = self.marks.len().saturating_sub(2);
            self.open.push((Piece { to, from: to, len }, last));
            while let Some((piece, near)) = self.open.pop() {
                steps = steps.checked_sub(1)?;
                self.step(piece, near, &mut literals)?;
            }
        }
        Some(())
    }

    /// Repeats in `dst` what repeats itself, once all literals are there.
    pub(super) fn repeat(&self, dst: &mut [u8]) {
        for &Piece { to, from: distance, len } in self.repeats.iter().rev() {
            let (to, distance, len) = (to as usize, distance as usize, len as usize);
            if distance > 0 && distance <= to && dst.get(to..).is_some_and(|d| len <= d.len()) {
                // SAFETY: as was just seen, `distance` bytes are before `to` and `len` behind it.
                unsafe { copy_match_exact(dst.as_mut_ptr().add(to), distance, len) };
            }
        }
    }

    /// Follows the begin of a piece by one sequence; `near` is a mark.
    #[inline]
    fn step(
        &mut self,
        piece: Piece,
        near: usize,
        literals: &mut impl FnMut(Piece) -> Option<()>,
    ) -> Option<()> {
        let Piece { to, from, len } = piece;
        let number = self.find(from, near)?;
        let (mark, next) = (*self.marks.get(number)?, self.marks.get(number + 1)?.begin);
        let end = if from < mark.matched { mark.matched } else { next };
        let here = len.min(end - from);
        if here < len {
            self.open.push((Piece { to: to + here, from: end, len: len - here }, number + 1));
        }
        if from < mark.matched {
            return literals(Piece { to, from: mark.literals + (from - mark.begin), len: here });
        }
        let (distance, into) = (mark.distance, from - mark.matched);
        if distance == 0 || distance > mark.matched {
            return None;
        }
        let begin = mark.matched - distance;
        let phase = if into < distance { into } else { into % distance };
        let period = here.min(distance);
        let first = period.min(distance - phase);
        if here > period {
            let repeated = Piece { to: to + period, from: distance, len: here - period };
            self.repeats.push(repeated);
        }
        if period > first {
            let rest = Piece { to: to + first, from: begin, len: period - first };
            self.open.push((rest, number));
        }
        self.open.push((Piece { to, from: begin + phase, len: first }, number));
        Some(())
    }

    /// The mark whose sequence holds the byte `at` of the output, which is not behind the mark `near`. Most are
    /// close to that one: the leaps before it grow.
    #[inline]
    fn find(&self, at: u32, near: usize) -> Option<usize> {
        let (mut low, mut high, mut leap) = (near, near + 1, 1);
        while self.marks.get(low)?.begin > at {
            high = low;
            low = low.checked_sub(1)?.saturating_sub(leap);
            leap *= 2;
        }
        let between = self.marks.get(low + 1..high)?;
        Some(low + between.partition_point(|mark| mark.begin <= at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Literals and matches, what they decode to, and the bytes that literals are taken from.
    fn stream(seed: u64) -> (Trace, Vec<u8>, Vec<u8>) {
        let (mut trace, mut plain, mut kept) = (Trace::default(), Vec::new(), Vec::new());
        let mut state = seed;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        trace.begin();
        while plain.len() < 20_000 {
            let (begin, literals) = (plain.len(), kept.len());
            let count = if plain.is_empty() { 9 } else { random(6) };
            for _ in 0..count {
                let byte = random(256).to_le_bytes()[0];
                plain.push(byte);
                kept.push(byte);
            }
            let matched = plain.len();
            let far = if random(3) == 0 { matched as u64 } else { 9 };
            let distance = 1 + usize::try_from(random(far)).unwrap();
            for _ in 0..random(40) {
                plain.push(plain[plain.len() - distance]);
            }
            let narrow = |place: usize| u32::try_from(place).unwrap();
            let mark = Mark {
                begin: narrow(begin),
                matched: narrow(matched),
                literals: narrow(literals),
                distance: narrow(distance),
            };
            trace.note(mark).unwrap();
        }
        (trace, plain, kept)
    }

    fn found(trace: &mut Trace, len: usize, kept: &[u8], wanted: &Wanted) -> Option<Vec<u8>> {
        let mut dst = vec![0xA5; len];
        trace.follow(64 + wanted.end() / 48, len, wanted, |piece| {
            let (to, from, len) = (piece.to as usize, piece.from as usize, piece.len as usize);
            dst.get_mut(to..to + len)?.copy_from_slice(kept.get(from..from + len)?);
            Some(())
        })?;
        trace.repeat(&mut dst);
        Some(dst)
    }

    #[test]
    fn pieces_are_found_wherever_they_are() {
        let mut given_up = 0;
        for seed in 0..40 {
            let (trace, plain, kept) = stream(seed);
            for number in 0..60 {
                let first = number * 317;
                let wanted = match number % 3 {
                    0 => Wanted::range(first..first + number),
                    1 => Wanted { first, len: 3, step: 11, count: number },
                    _ => Wanted { first, len: 1, step: 1, count: 1 },
                };
                let Some(dst) = found(&mut trace.clone(), plain.len(), &kept, &wanted) else {
                    given_up += 1;
                    continue;
                };
                for piece in wanted.pieces() {
                    assert_eq!(dst[piece.clone()], plain[piece], "{wanted:?} of {seed}");
                }
            }
        }
        assert!(given_up < 600, "{given_up} of 2400");
    }

    #[test]
    fn what_leads_nowhere_is_given_up() {
        let mark = |begin, matched, distance| Mark { begin, matched, literals: 0, distance };
        let mut loops = Trace::default();
        loops.note(mark(0, 4, 0)).unwrap();
        assert!(found(&mut loops, 10, &[1; 4], &Wanted::range(5..6)).is_none());
        let mut before = Trace::default();
        before.note(mark(0, 4, 5)).unwrap();
        assert!(found(&mut before, 10, &[1; 4], &Wanted::range(5..6)).is_none());
        let mut short = Trace::default();
        short.note(mark(0, 4, 1)).unwrap();
        assert!(found(&mut short.clone(), 10, &[1; 4], &Wanted::range(9..11)).is_none());
        assert!(found(&mut short.clone(), 10, &[1; 3], &Wanted::range(5..6)).is_none());
        assert!(found(&mut short, 10, &[1; 4], &Wanted::range(5..10)).is_some());
    }
}
