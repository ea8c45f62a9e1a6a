//! A slice along one axis, written as in NumPy: `5`, `10:20`, `:100`, `-5:`, `::2`.

use superchunk::Selection;

use crate::failure::{Failure, Outcome};

/// Every `step`-th item from `start` up to `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) stop: u64,
    pub(crate) step: u64,
}

impl Span {
    /// All of `count` items.
    pub(crate) fn all(count: u64) -> Self {
        Self { start: 0, stop: count, step: 1 }
    }

    /// The part of `count` items that the text names; bounds past the end are cut, as in NumPy.
    pub(crate) fn parse(text: &str, count: u64) -> Outcome<Self> {
        let bad = |why: &str| {
            Failure::usage(format!("`@{text}` does not fit: {why}"))
                .with_help("a slice is like @5, @10:20, @:100, @-5: or @::2")
        };
        if text.contains(',') {
            return Err(bad("the data has one axis"));
        }
        if text.trim().is_empty() {
            return Err(bad("it is empty"));
        }
        let selection = Selection::parse(text, &[count]).map_err(|error| bad(error.message()))?;
        let axis = selection.axes().first().ok_or_else(|| bad("it is empty"))?;
        let step = u64::try_from(axis.step).map_err(|_| bad("the step must be 1 or more"))?;
        Ok(Self { start: axis.start, stop: axis.stop(), step })
    }

    /// How many items it has.
    pub(crate) fn count(&self) -> u64 {
        (self.stop - self.start).div_ceil(self.step)
    }

    /// The same, but at most its first `most` items.
    pub(crate) fn first(self, most: u64) -> Self {
        let stop = self.start.saturating_add(most.saturating_mul(self.step)).min(self.stop);
        Self { stop, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_numpys() {
        let cases = [
            ("3", 3, 4, 1),
            ("-1", 9, 10, 1),
            ("2:5", 2, 5, 1),
            (":4", 0, 4, 1),
            ("-3:", 7, 10, 1),
            ("::3", 0, 10, 3),
            ("5:2", 5, 5, 1),
            ("8:99", 8, 10, 1),
            ("-99:2", 0, 2, 1),
        ];
        for (text, start, stop, step) in cases {
            assert_eq!(Span::parse(text, 10).unwrap(), Span { start, stop, step }, "{text}");
        }
        for bad in ["10", "-11", "1,2", "a", "::0", "::-1", "1:2:3:4", ""] {
            assert!(Span::parse(bad, 10).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_span_knows_its_length() {
        assert_eq!(Span::parse("::3", 10).unwrap().count(), 4);
        assert_eq!(Span::parse("::3", 10).unwrap().first(2).count(), 2);
        assert_eq!(Span::all(10).first(u64::MAX).count(), 10);
    }
}
