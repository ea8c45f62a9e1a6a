//! Bits that are read from the end of a stream to its begin.
//!
//! The highest bit that is set in the last byte marks the end; the bits below it come first.

/// The most bytes of such a stream.
const MOST: usize = 128;
/// Zeros before the stream: as many as a word has.
const MARGIN: usize = 8;

/// Such a stream, which is short, read with every bound checked.
pub(super) struct Backward {
    bytes: [u8; MARGIN + MOST],
    /// So many bits are not read yet: the lowest of the stream.
    left: usize,
}

impl Backward {
    /// `None` when the mark of the end is missing.
    pub(super) fn new(stream: &[u8]) -> Option<Self> {
        let last = stream.last().filter(|last| **last != 0)?;
        let unused = usize::try_from(last.leading_zeros()).ok()? + 1;
        let mut bytes = [0; MARGIN + MOST];
        bytes.get_mut(MARGIN..MARGIN + stream.len())?.copy_from_slice(stream);
        Some(Self { bytes, left: 8 * stream.len() - unused })
    }

    /// Whether so many bits are not read yet.
    #[inline]
    pub(super) fn has(&self, bits: usize) -> bool {
        self.left >= bits
    }

    /// The next 57 bits or more, from the highest bit on; zeros behind the last.
    #[inline]
    pub(super) fn peek(&self) -> u64 {
        let end = self.left.div_ceil(8);
        let word = self.bytes.get(end..).and_then(<[u8]>::first_chunk::<MARGIN>);
        word.map_or(0, |word| u64::from_le_bytes(*word)) << (8 * end - self.left)
    }

    /// Goes on by so many bits; `None` when there are not as many.
    #[inline]
    pub(super) fn skip(&mut self, bits: usize) -> Option<()> {
        self.left = self.left.checked_sub(bits)?;
        Some(())
    }

    /// Reads a number of up to 32 bits.
    #[inline]
    pub(super) fn take(&mut self, bits: u32) -> Option<u64> {
        let value = (self.peek() >> 1) >> (63 - bits.min(63));
        self.skip(bits as usize)?;
        Some(value)
    }
}
