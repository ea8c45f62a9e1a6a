//! What is wanted of an output of which not all is.

use core::ops::Range;

/// Which bytes of an output are wanted: `count` pieces of `len` bytes, `step` apart, from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where the first piece begins.
    pub first: usize,
    /// The bytes of a piece.
    pub len: usize,
    /// From the begin of a piece to that of the next.
    pub step: usize,
    /// How many pieces there are.
    pub count: usize,
}

impl Wanted {
    /// One piece.
    #[must_use]
    pub fn range(range: Range<usize>) -> Self {
        Self { first: range.start, len: range.end.saturating_sub(range.start), step: 0, count: 1 }
    }

    /// Where the last piece ends.
    #[must_use]
    pub fn end(&self) -> usize {
        let last = self.count.saturating_sub(1).saturating_mul(self.step);
        self.first.saturating_add(last).saturating_add(self.len)
    }

    /// Copies the pieces of `output` one behind the other into `dst`, as far as both reach.
    pub fn gather(&self, output: &[u8], dst: &mut [u8]) {
        let places = dst.chunks_exact_mut(self.len.max(1)).zip(self.pieces());
        for (to, piece) in places.filter(|_| self.len > 0) {
            if let Some(from) = output.get(piece) {
                to.copy_from_slice(from);
            }
        }
    }

    /// Where the pieces are.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Range<usize>> {
        let Self { first, len, step, count } = *self;
        (0..count).map(move |number| {
            let begin = first.saturating_add(number.saturating_mul(step));
            begin..begin.saturating_add(len)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_gathered_as_far_as_there_are_any() {
        let wanted = Wanted { first: 1, len: 2, step: 3, count: 3 };
        let mut dst = [9; 8];
        wanted.gather(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &mut dst);
        assert_eq!(dst, [1, 2, 4, 5, 7, 8, 9, 9]);
        wanted.gather(&[5; 5], &mut dst);
        assert_eq!(dst, [5, 5, 4, 5, 7, 8, 9, 9]);
        Wanted::range(4..4).gather(&[0; 9], &mut dst);
        assert_eq!(dst, [5, 5, 4, 5, 7, 8, 9, 9]);
    }

    #[test]
    fn the_end_of_what_is_wanted_is_told_without_overflow() {
        assert_eq!(Wanted::range(3..10).end(), 10);
        assert_eq!(Wanted { first: 2, len: 3, step: 100, count: 4 }.end(), 305);
        let absurd = Wanted { first: usize::MAX, len: 9, step: usize::MAX, count: usize::MAX };
        assert_eq!(absurd.end(), usize::MAX);
    }
}
