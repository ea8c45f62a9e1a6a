//! Bits that are read from the end of a stream to its begin.
//!
//! The highest bit that is set in the last byte marks the end; the bits below it come first.

/// Such a stream, read with every bound checked.
#[derive(Clone, Copy)]
pub(super) struct Backward<'a> {
    bytes: &'a [u8],
    /// So many bits are not read yet: the lowest of the stream.
    left: usize,
}

impl<'a> Backward<'a> {
    /// `None` when the mark of the end is missing.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let last = bytes.last().filter(|last| **last != 0)?;
        let unused = usize::try_from(last.leading_zeros()).ok()? + 1;
        Some(Self { bytes, left: 8 * bytes.len() - unused })
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
        let word = match self.bytes.get(..end).and_then(<[u8]>::last_chunk::<8>) {
            Some(word) => u64::from_le_bytes(*word),
            None => {
                let few = self.bytes.get(..end).unwrap_or_default();
                few.iter().fold(0, |word, &byte| (word >> 8) | (u64::from(byte) << 56))
            }
        };
        word << (8 * end - self.left)
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
