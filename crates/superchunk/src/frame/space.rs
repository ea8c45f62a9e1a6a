//! Which bytes of a contiguous frame are free: where new chunks go, and where index and trailer.
//!
//! ```text
//! 0        header_len                          live_end        tail.start    tail.end
//! ├─ header ─┼─ chunks and holes ────────────────┼─ gap ─────────┼─ index, trailer ─┤   with the seal
//! ```
//!
//! Nothing that the last commit needs is ever handed out. Positions are from the start of the frame.
//!
//! **Dead space is bounded.** A chunk goes into a hole that fits it, else into the gap, else behind the
//! tail; only in the last case the old tail becomes a hole inside. The second and later commits of
//! a writer leave a gap of at least twice the tail, so that more than that must have been written
//! before it happens again. Replaced chunks are used again when they are a quarter of the frame.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Freed chunks may still be read by someone who opened the frame some commits ago. They are used
/// again after this many commits, and not before there are many of them.
const QUARANTINE: u64 = 2;
const LEAST_DEAD: u64 = 1 << 20;
const LEAST_GAP: u64 = 64 * 1024;

/// The map of a frame that is being written.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// Start and length of what can be used now.
    holes: BTreeMap<u64, u64>,
    /// What becomes free, oldest first, and after which commit.
    cooling: VecDeque<(u64, Range<u64>)>,
    cooling_len: u64,
    /// The end of all chunks, committed or not.
    live_end: u64,
    /// Seal, index and trailer of the last commit; empty before the first.
    tail: Range<u64>,
    commits: u64,
    largest: u64,
}

impl Space {
    /// The map of a frame whose chunks end at `live_end`, with these holes before.
    pub(super) fn new(live_end: u64, tail: Range<u64>, holes: Vec<Range<u64>>) -> Self {
        let mut space = Self { live_end, tail, ..Self::default() };
        holes.into_iter().for_each(|hole| space.add_hole(hole));
        space
    }

    /// The end of all chunks.
    pub(super) fn live_end(&self) -> u64 {
        self.live_end
    }

    /// Whether nothing was put or committed yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.commits == 0 && self.largest == 0
    }

    /// A place for a chunk of `len` bytes.
    pub(super) fn place_chunk(&mut self, len: u64) -> u64 {
        self.largest = self.largest.max(len);
        let hole = self.holes.iter().find(|(_, room)| **room >= len);
        if let Some((start, room)) = hole.map(|(start, room)| (*start, *room)) {
            self.holes.remove(&start);
            self.add_hole(start + len..start + room);
            return start;
        }
        let mut start = self.live_end;
        if overlap(&(start..start + len), &self.tail) {
            self.add_hole(start..self.tail.start);
            start = self.tail.end;
        }
        self.live_end = start + len;
        start
    }

    /// Takes back the place of a chunk, once it is safe.
    pub(super) fn free_chunk(&mut self, range: Range<u64>) {
        self.cooling_len += range.end - range.start;
        self.cooling.push_back((self.commits + QUARANTINE, range));
    }

    /// A place for `len` bytes of index and trailer: behind all chunks, and not where the present
    /// ones are. So the frame always ends elsewhere than before, which is how readers see a change.
    pub(super) fn place_tail(&self, len: u64, tight: bool) -> u64 {
        let gap = LEAST_GAP.max(2 * len).max(4 * self.largest);
        let gap = if self.commits == 0 || tight { 0 } else { gap };
        let mut start = self.live_end + gap;
        if overlap(&(start..start + len), &self.tail) {
            start = self.tail.end;
        }
        start
    }

    /// The commit has happened, with index and trailer at `tail`.
    pub(super) fn committed(&mut self, tail: Range<u64>) {
        let old = std::mem::replace(&mut self.tail, tail);
        if old.end <= self.live_end {
            self.add_hole(old);
        }
        self.commits += 1;
        while let Some((when, hole)) = self.cooling.front().cloned() {
            if when > self.commits || self.cooling_len <= LEAST_DEAD.max(self.live_end / 4) {
                break;
            }
            self.cooling_len -= hole.end - hole.start;
            self.cooling.pop_front();
            self.add_hole(hole);
        }
    }

    /// Whether the tail could move closer to the chunks.
    pub(super) fn is_loose(&self) -> bool {
        self.place_tail(self.tail.end - self.tail.start, true) < self.tail.start
    }

    fn add_hole(&mut self, hole: Range<u64>) {
        let (mut start, mut end) = (hole.start, hole.end);
        if start >= end {
            return;
        }
        if let Some((before, room)) = self.holes.range(..start).next_back().map(|(s, l)| (*s, *l))
            && before + room == start
        {
            self.holes.remove(&before);
            start = before;
        }
        if let Some(room) = self.holes.remove(&end) {
            end += room;
        }
        self.holes.insert(start, end - start);
    }
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks of these lengths, one commit each, never touch what is committed; returns the end.
    fn run(lens: impl Iterator<Item = u64>, tail_len: impl Fn(u64) -> u64) -> (Space, u64) {
        let mut space = Space::new(97, 97..97, Vec::new());
        let mut chunks: Vec<Range<u64>> = Vec::new();
        let mut total = 0;
        for (count, len) in lens.enumerate() {
            let start = space.place_chunk(len);
            assert!(!overlap(&(start..start + len), &space.tail));
            assert!(chunks.iter().all(|chunk| !overlap(&(start..start + len), chunk)));
            chunks.push(start..start + len);
            total += len;
            let tail = tail_len(count as u64);
            let at = space.place_tail(tail, false);
            assert!(!overlap(&(at..at + tail), &space.tail) && at >= space.live_end());
            space.committed(at..at + tail);
        }
        (space, total)
    }

    #[test]
    fn a_thousand_commits_strand_little() {
        for len in [10, 1000, 100_000] {
            let (space, total) = run((0..1000).map(|_| len), |count| 35 + 3 * count);
            let dead = space.live_end() - 97 - total;
            assert!(dead <= total / 2 + 4096, "{dead} dead bytes beside {total}");
        }
    }

    #[test]
    fn holes_join_and_are_used_first() {
        let mut space = Space::new(1000, 1000..1100, vec![100..200, 300..400, 200..300]);
        assert_eq!(space.holes, BTreeMap::from([(100, 300)]));
        assert_eq!(space.place_chunk(250), 100);
        assert_eq!(space.place_chunk(51), 1100);
        assert_eq!(space.place_chunk(50), 350);
    }

    #[test]
    fn what_was_freed_waits_for_two_commits_and_company() {
        const BIG: u64 = LEAST_DEAD + 1;
        let mut space = Space::new(2 * BIG, 2 * BIG..2 * BIG + 100, Vec::new());
        space.free_chunk(100..100 + BIG);
        assert_eq!(space.place_chunk(100), 2 * BIG + 100);
        space.committed(2 * BIG + 200..2 * BIG + 300);
        // The old index and trailer are free at once, the chunk is not.
        assert_eq!(space.place_chunk(100), 2 * BIG);
        space.committed(2 * BIG + 400..2 * BIG + 500);
        assert_eq!(space.place_chunk(100), 100);
        space.free_chunk(100..200);
        for commit in 0..9 {
            space.committed(3 * BIG + 100 * commit..3 * BIG + 100 * commit + 100);
        }
        assert_ne!(space.place_chunk(100), 100, "little is not worth the risk");
    }

    #[test]
    fn the_end_of_the_frame_always_moves() {
        let mut space = Space::new(1000, 1000..1100, Vec::new());
        space.live_end = 1050;
        let at = space.place_tail(50, true);
        assert_ne!(at + 50, 1100);
    }
}
