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
    fn the_end_of_what_is_wanted_is_told_without_overflow() {
        assert_eq!(Wanted::range(3..10).end(), 10);
        assert_eq!(Wanted { first: 2, len: 3, step: 100, count: 4 }.end(), 305);
        let absurd = Wanted { first: usize::MAX, len: 9, step: usize::MAX, count: usize::MAX };
        assert_eq!(absurd.end(), usize::MAX);
    }
}
