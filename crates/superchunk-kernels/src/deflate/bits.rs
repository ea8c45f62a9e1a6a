//! Writes bits into a buffer, the lowest first, through a register of 64.

/// Bits being written.
pub(super) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    bits: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    /// Writes to the start of `out`.
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        BitWriter { out, at: 0, bits: 0, count: 0 }
    }

    /// Hands the state over to a local writer, which is to be put back.
    pub(super) fn take(&mut self) -> Self {
        let out = core::mem::take(&mut self.out);
        BitWriter { out, at: self.at, bits: self.bits, count: self.count }
    }

    /// Whether so many bits more fit.
    pub(super) fn has_room_for(&self, bits: u64) -> bool {
        let room = (self.out.len() - self.at) as u64 * 8;
        u64::from(self.count) + bits <= room
    }

    /// Bits that are missing to a whole byte.
    pub(super) fn bits_to_a_byte(&self) -> u32 {
        self.count.wrapping_neg() & 7
    }

    /// Appends the low `count` bits of `value`, whose others are zero. At most 56 may be appended
    /// between one [`BitWriter::flush`] and the next.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, count: u32) {
        self.bits |= value << (self.count & 63);
        self.count += count;
    }

    /// Moves whole bytes to the buffer: at most 7 bits stay in the register.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        match self.out.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut::<8>()) {
            Some(room) => *room = self.bits.to_le_bytes(),
            None => store_exactly(self.out, self.at, self.bits, self.count),
        }
        self.at += (self.count >> 3) as usize;
        self.bits >>= self.count & 56;
        self.count &= 7;
    }

    /// Fills the last byte with zero bits.
    pub(super) fn align(&mut self) {
        self.count += self.bits_to_a_byte();
        self.flush();
    }

    /// Appends bytes; the bits before them end with a whole byte.
    pub(super) fn put_bytes(&mut self, bytes: &[u8]) -> Option<()> {
        self.flush();
        self.out.get_mut(self.at..self.at + bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }

    /// How many bytes were written.
    pub(super) fn len(&self) -> usize {
        self.at
    }
}

/// Writes the whole bytes of the register close to the end of the buffer.
///
/// The writer itself is not lent out, so that it stays in registers where it is used.
#[cold]
#[inline(never)]
fn store_exactly(out: &mut [u8], at: usize, bits: u64, count: u32) {
    let whole = (count >> 3) as usize;
    if let Some(room) = out.get_mut(at..at + whole) {
        for (to, from) in room.iter_mut().zip(bits.to_le_bytes()) {
            *to = from;
        }
    }
}
