//! Writes the tokens of a BloscLZ stream into a buffer that may be too short for them.

use core::ops::Range;

use super::{FAR_BASE, MAX_RUN};
use crate::marks::{Mark, Marker};

/// The stream being written.
pub(super) struct Output<'a> {
    pub(super) dst: &'a mut [u8],
    pub(super) at: usize,
    /// What is written here or later is to be marked.
    pub(super) due: usize,
    marker: Option<&'a mut Marker>,
}

impl<'a> Output<'a> {
    pub(super) fn new(dst: &'a mut [u8], marker: Option<&'a mut Marker>) -> Self {
        let due = marker.as_ref().map_or(usize::MAX, |marker| marker.due());
        Self { dst, at: 0, due, marker }
    }

    /// Marks these literals and the match behind them, which come next.
    #[cold]
    #[inline(never)]
    pub(super) fn mark(&mut self, literals: Range<usize>, dist: usize, len: usize) {
        if let Some(marker) = &mut self.marker {
            let mark = Mark { at: self.at, out: literals.start };
            marker.note(mark, literals.len(), dist, len);
            self.due = marker.due();
        }
    }

    /// Writes `src[from..to]` as literal runs; nothing if that is empty.
    #[inline(always)]
    pub(super) fn literals(&mut self, src: &[u8], from: usize, to: usize) -> Option<()> {
        let count = to - from;
        let bytes = src.get(from..)?.first_chunk::<MAX_RUN>();
        let room = self.dst.get_mut(self.at..)?.first_chunk_mut::<{ MAX_RUN + 1 }>();
        if let (0..=MAX_RUN, Some(bytes), Some([token, room @ ..])) = (count, bytes, room) {
            // All 32 bytes are copied: what is too much is overwritten or cut off.
            *token = run_token(count);
            *room = *bytes;
            self.at += count + usize::from(count > 0);
            return Some(());
        }
        self.long_literals(src.get(from..to)?)
    }

    #[inline(never)]
    fn long_literals(&mut self, bytes: &[u8]) -> Option<()> {
        let need = bytes.len() + bytes.len().div_ceil(MAX_RUN);
        let mut room = self.dst.get_mut(self.at..)?.get_mut(..need)?;
        self.at += need;
        let (runs, rest) = bytes.as_chunks::<MAX_RUN>();
        for run in runs {
            let ([token, head @ ..], tail) = room.split_first_chunk_mut::<{ MAX_RUN + 1 }>()?;
            *token = run_token(MAX_RUN);
            *head = *run;
            room = tail;
        }
        if let Some((token, room)) = room.split_first_mut() {
            *token = run_token(rest.len());
            room.copy_from_slice(rest);
        }
        Some(())
    }

    /// Writes a match of at least three bytes.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a far distance less its base fits u16")]
    pub(super) fn repeat(&mut self, len: usize, dist: usize) -> Option<()> {
        let is_far = dist >= FAR_BASE;
        let is_long = len >= 9;
        let extra = len.wrapping_sub(9);
        let near = dist as u64 - 1;
        let far = (dist.wrapping_sub(FAR_BASE) as u16).swap_bytes();
        // Token, extension byte, then the bytes of the distance: at most five, in one word.
        let (high, low) =
            if is_far { (31, 255 | u64::from(far) << 8) } else { (near >> 8, near & 255) };
        let token = ((len as u64 - 2).min(7) << 5) | high;
        let word = if is_long { token | (extra as u64) << 8 | low << 16 } else { token | low << 8 };
        let used = 2 + usize::from(is_long) + 2 * usize::from(is_far);
        if is_long && extra >= 255 {
            return self.long_repeat(extra, token, low, is_far);
        }
        let room = self.dst.get_mut(self.at..)?;
        if let Some(room) = room.first_chunk_mut() {
            *room = word.to_le_bytes();
        } else {
            room.get_mut(..used)?.copy_from_slice(word.to_le_bytes().get(..used)?);
        }
        self.at += used;
        Some(())
    }

    /// A match with more than one extension byte.
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "a remainder of 255 fits u8")]
    fn long_repeat(&mut self, extra: usize, token: u64, low: u64, is_far: bool) -> Option<()> {
        let full = extra / 255;
        let room = self.dst.get_mut(self.at..)?;
        let (head, room) = room.split_first_mut()?;
        *head = token.to_le_bytes()[0];
        let (extension, room) = room.split_at_mut_checked(full)?;
        extension.fill(255);
        let (last, room) = room.split_first_mut()?;
        *last = (extra % 255) as u8;
        let distance = low.to_le_bytes();
        let distance = distance.get(..if is_far { 3 } else { 1 })?;
        room.get_mut(..distance.len())?.copy_from_slice(distance);
        self.at += 2 + full + distance.len();
        Some(())
    }
}

/// The token of a run of `count` literals (1 to 32).
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 32")]
fn run_token(count: usize) -> u8 {
    (count as u8).wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn every_distance_and_length_is_written_as_the_format_says() {
        let cases: [(usize, usize, &[u8]); 9] = [
            (3, 1, &[0x20, 0]),
            (8, 256, &[0xc0, 255]),
            (9, 257, &[0xe1, 0, 0]),
            (263, 8191, &[0xff, 254, 254]),
            (264, 8191, &[0xff, 255, 0, 254]),
            (8, 8192, &[0xdf, 255, 0, 0]),
            (9, 8193, &[0xff, 0, 255, 0, 1]),
            (519, 73_727, &[0xff, 255, 255, 0, 255, 255, 255]),
            (773, 8192 + 258, &[0xff, 255, 255, 254, 255, 1, 2]),
        ];
        for (len, dist, expected) in cases {
            for room in 0..12 {
                let mut dst = vec![0xaa; room];
                let mut out = Output::new(&mut dst, None);
                let written = out.repeat(len, dist).map(|()| out.at);
                if room < expected.len() {
                    assert_eq!(written, None, "len {len} dist {dist} room {room}");
                } else {
                    assert_eq!(written, Some(expected.len()), "len {len} dist {dist}");
                    assert_eq!(dst[..expected.len()], *expected, "len {len} dist {dist}");
                }
            }
        }
    }
}
