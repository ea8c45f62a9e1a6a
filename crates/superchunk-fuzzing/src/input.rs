//! The bytes of a fuzzer, taken as numbers and pieces.

use superchunk_testkit::model::Choose;

/// What is left of an input. Behind its end there are zeros.
#[derive(Clone, Debug)]
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// The next two bytes, the lower one first.
    pub(crate) fn pair(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    /// Up to `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.take(self.0.len())
    }

    /// One of the choices.
    pub(crate) fn one_of<T: Copy>(&mut self, first: T, others: &[T]) -> T {
        let number = usize::from(self.byte()) % (others.len() + 1);
        number.checked_sub(1).and_then(|other| others.get(other).copied()).unwrap_or(first)
    }
}

impl Choose for Input<'_> {
    fn number(&mut self) -> u64 {
        u64::from(self.byte())
    }

    fn below(&mut self, bound: u64) -> u64 {
        let number = if bound <= 256 { u64::from(self.byte()) } else { self.pair() as u64 };
        number.checked_rem(bound).unwrap_or(0)
    }
}
