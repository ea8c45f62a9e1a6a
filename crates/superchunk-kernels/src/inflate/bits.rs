//! Reads a stream bit by bit, the least significant bit of each byte first.

use crate::Malformed;

pub(super) const CUT_SHORT: &str = "zlib stream is cut short";

/// A stream, and the next bits of it.
///
/// `count < 64` bits of `buffer` count. Those above are zero or the bits that follow in the stream,
/// so that OR-ing the same bits again does no harm.
#[derive(Clone)]
pub(super) struct Bits<'a> {
    pub(super) src: &'a [u8],
    /// Bytes of `src` that are in the buffer or behind it: never more than there are.
    pub(super) read: usize,
    pub(super) buffer: u64,
    pub(super) count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        Bits { src, read: 0, buffer: 0, count: 0 }
    }

    /// Makes at least 56 bits ready, or all that are left.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        if let Some(word) = self.src.get(self.read..).and_then(|rest| rest.first_chunk()) {
            self.buffer |= u64::from_le_bytes(*word) << self.count;
            self.read += ((63 - self.count) >> 3) as usize;
            self.count |= 56;
        } else {
            self.refill_at_the_end();
        }
    }

    #[cold]
    fn refill_at_the_end(&mut self) {
        self.buffer &= (1 << self.count) - 1;
        while self.count < 56 {
            let Some(&byte) = self.src.get(self.read) else { return };
            self.buffer |= u64::from(byte) << self.count;
            self.read += 1;
            self.count += 8;
        }
    }

    /// Takes `n < 32` bits that were made ready.
    #[inline(always)]
    pub(super) fn take(&mut self, n: u32) -> Result<u32, Malformed> {
        let value = self.peek(n);
        self.skip(n)?;
        Ok(value)
    }

    /// The next `n < 32` bits; zeros after the end of the stream.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "masked to fewer than 32 bits")]
    pub(super) fn peek(&self, n: u32) -> u32 {
        (self.buffer & ((1 << n) - 1)) as u32
    }

    /// Leaves out `n < 64` bits that were made ready.
    #[inline(always)]
    pub(super) fn skip(&mut self, n: u32) -> Result<(), Malformed> {
        if n > self.count {
            return Err(self.malformed(CUT_SHORT));
        }
        self.buffer >>= n;
        self.count -= n;
        Ok(())
    }

    /// Takes `n` whole bytes, after what is left of a byte that was begun.
    pub(super) fn take_bytes(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let at = self.at();
        (self.read, self.buffer, self.count) = (at, 0, 0);
        let rest = self.src.get(at..).unwrap_or_default();
        let bytes = rest.get(..n).ok_or(self.malformed(CUT_SHORT))?;
        self.read += n;
        Ok(bytes)
    }

    /// Goes to a bit of the stream.
    pub(super) fn seek(&mut self, bit: usize) -> Option<()> {
        self.src.get(bit / 8)?;
        (self.read, self.buffer, self.count) = (bit / 8, 0, 0);
        self.refill();
        self.skip(u32::try_from(bit % 8).ok()?).ok()
    }

    /// The next bit.
    pub(super) fn position(&self) -> usize {
        8 * self.read - self.count as usize
    }

    /// The first byte of which no bit was taken.
    pub(super) fn at(&self) -> usize {
        self.read - (self.count / 8) as usize
    }

    pub(super) fn malformed(&self, reason: &'static str) -> Malformed {
        Malformed { at: self.at(), reason }
    }
}
