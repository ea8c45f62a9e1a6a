//! Where the bytes of a frame go, and how sequences put them there.

use super::Result;
use crate::copy::{SLACK, copy_match_exact};

/// What is said of a frame that does not end where its output does.
pub(super) const TOO_LONG: &str = "zstd stream is longer than its block";

/// The output of a block, and its literals.
pub(super) struct Output<'a, 'b> {
    /// The output of the frame from its start.
    pub(super) dst: &'a mut [u8],
    /// The content of the dictionary, which precedes the frame: distances do not reach further
    /// back.
    history: &'b [u8],
    /// So many bytes of it are there.
    pub(super) written: usize,
    /// So many bytes are enough.
    needed: usize,
    /// The literals, and [`SLACK`] bytes that are not theirs.
    pub(super) literals: &'b [u8],
    /// So many literals were used.
    pub(super) taken: usize,
    /// How many literals there are.
    count: usize,
}

/// Where the bytes of a block go.
pub(super) struct Target<'a, 'b> {
    /// The output of the frame from its start.
    pub(super) dst: &'a mut [u8],
    /// The content of the dictionary; empty without one.
    pub(super) history: &'b [u8],
    /// The number of bytes of `dst` that earlier blocks have filled.
    pub(super) written: usize,
    /// Decoding may stop once this many bytes of `dst` are filled.
    pub(super) needed: usize,
}

impl<'a, 'b> Output<'a, 'b> {
    /// `literals` are `count`, and [`SLACK`] bytes more at least.
    pub(super) fn new(target: Target<'a, 'b>, literals: &'b [u8], count: usize) -> Self {
        let Target { dst, history, written, needed } = target;
        let count = count.min(literals.len().saturating_sub(SLACK));
        Self { dst, history, written, needed, literals, taken: 0, count }
    }

    /// Where the next bytes come from and go to.
    #[inline(always)]
    pub(super) fn place(&mut self) -> Place {
        let limit = self.dst.len().saturating_sub(SLACK).min(self.needed);
        let begin = self.dst.as_mut_ptr();
        // SAFETY: all these are in their slices or at their ends.
        unsafe {
            Place {
                dst: begin.add(self.written),
                literals: self.literals.as_ptr().add(self.taken),
                begin,
                limit: begin.add(limit),
                literals_end: self.literals.as_ptr().add(self.count),
            }
        }
    }

    /// Comes back from a loop that has gone on to `place`.
    #[inline(always)]
    pub(super) fn leave(&mut self, place: &Place) {
        self.written = place.dst.addr() - self.dst.as_ptr().addr();
        self.taken = place.literals.addr() - self.literals.as_ptr().addr();
    }

    /// Whether all that is needed is there.
    pub(super) fn is_enough(&self) -> bool {
        self.written >= self.needed
    }

    /// Carries out a sequence that may come close to an end, or be wrong. Tells whether there is
    /// enough then.
    #[cold]
    #[inline(never)]
    pub(super) fn careful(
        &mut self,
        literals: usize,
        matched: usize,
        distance: usize,
    ) -> Result<bool> {
        self.append(literals)?;
        if matched > self.dst.len() - self.written {
            return Err(TOO_LONG);
        }
        let matched = matched - self.copy_history(matched, distance)?;
        // SAFETY: the match ends in `dst`, and begins there, as was just seen.
        unsafe { copy_match_exact(self.dst.as_mut_ptr().add(self.written), distance, matched) };
        self.written += matched;
        Ok(self.is_enough())
    }

    /// Copies the part of a match that lies in the dictionary, which is none where the distance
    /// does not reach it, and returns its length. The match fits into `dst`.
    fn copy_history(&mut self, matched: usize, distance: usize) -> Result<usize> {
        const NOWHERE: &str = "zstd match begins before its frame";
        if distance == 0 {
            return Err(NOWHERE);
        }
        let before_frame = distance.saturating_sub(self.written);
        let start = self.history.len().checked_sub(before_frame).ok_or(NOWHERE)?;
        let len = matched.min(before_frame);
        let from = self.history.get(start..start + len).unwrap_or_default();
        let to = self.dst.get_mut(self.written..self.written + len).ok_or(TOO_LONG)?;
        to.copy_from_slice(from);
        self.written += len;
        Ok(len)
    }

    /// Appends what is left of the literals.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.append(self.count - self.taken)
    }

    fn append(&mut self, literals: usize) -> Result<()> {
        let taken = self.taken + literals;
        if taken > self.count {
            return Err("zstd sequences take more literals than there are");
        }
        let from = self.literals.get(self.taken..taken).unwrap_or_default();
        let to = self.dst.get_mut(self.written..self.written + literals).ok_or(TOO_LONG)?;
        to.copy_from_slice(from);
        (self.written, self.taken) = (self.written + literals, taken);
        Ok(())
    }
}

/// How far a loop has come with an [`Output`].
pub(super) struct Place {
    pub(super) dst: *mut u8,
    pub(super) literals: *const u8,
    /// Where the frame begins.
    begin: *mut u8,
    /// A sequence that ends here or before may write [`SLACK`] bytes more.
    limit: *mut u8,
    literals_end: *const u8,
}

impl Place {
    /// Whether a sequence, whose distance is not 0, is right and not too close to an end for a loop.
    #[inline(always)]
    pub(super) fn has_room(&self, literals: usize, matched: usize, distance: usize) -> bool {
        // Differences of places in a buffer, of which the first may be negative.
        let room = self.limit.addr().wrapping_sub(self.dst.addr()).cast_signed();
        let left = self.literals_end.addr().wrapping_sub(self.literals.addr());
        let before = self.dst.addr().wrapping_sub(self.begin.addr()) + literals;
        (literals + matched).cast_signed() <= room && literals <= left && distance <= before
    }
}
