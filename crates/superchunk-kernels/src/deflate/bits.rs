//! Writes bits into a buffer, the lowest first, through a register of 64.

use crate::copy::store_8;
use crate::marks::{Mark, Marker};

/// Takes bits.
pub(super) trait Bits {
    /// Appends the low `count` bits of `value`, whose others are zero. At most 56 may be appended
    /// between one [`Bits::flush`] and the next.
    fn put(&mut self, value: u64, count: u32);

    /// Moves whole bytes to the buffer: at most 7 bits stay in the register.
    fn flush(&mut self);
}

impl<B: Bits> Bits for &mut B {
    #[inline(always)]
    fn put(&mut self, value: u64, count: u32) {
        (**self).put(value, count);
    }

    #[inline(always)]
    fn flush(&mut self) {
        (**self).flush();
    }
}

/// Bits being written.
pub(super) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    bits: u64,
    count: u32,
    /// What has blocks and symbols marked, if they are, and how many bytes the blocks before decode to.
    marker: Option<&'a mut Marker>,
    plain: usize,
}

impl<'a> BitWriter<'a> {
    /// Writes to the start of `out`.
    pub(super) fn new(out: &'a mut [u8], marker: Option<&'a mut Marker>) -> Self {
        BitWriter { out, at: 0, bits: 0, count: 0, marker, plain: 0 }
    }

    /// Notes a block, which comes next.
    pub(super) fn begin_block(&mut self) {
        if let Some((marker, next)) = self.marking() {
            marker.note_inner(next);
        }
    }

    /// Notes that the block which was begun last decodes to so many bytes.
    pub(super) fn end_block(&mut self, len: usize) {
        self.plain += len;
    }

    /// What has symbols marked, if they are, and where the next one begins.
    pub(super) fn marking(&mut self) -> Option<(&mut Marker, Mark)> {
        let next = Mark { at: 8 * self.at + self.count as usize, out: self.plain };
        self.marker.as_deref_mut().map(|marker| (marker, next))
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

    /// A pen that writes on, for `bits` bits at most. `None` if there is not much more room than that.
    pub(super) fn pen(&mut self, bits: u64) -> Option<Pen> {
        self.flush();
        let has_room = self.has_room_for(bits + 8 * STEP as u64);
        let at = self.out.get_mut(self.at..)?.as_mut_ptr();
        has_room.then_some(Pen { at, bits: self.bits, count: self.count })
    }

    /// Writes on behind what a pen has written.
    ///
    /// # Safety
    ///
    /// It is the last pen that was given out, and nothing was written since.
    pub(super) unsafe fn take_back(&mut self, pen: Pen) {
        // SAFETY: the pen writes to the buffer, and only forward.
        self.at = unsafe { pen.at.offset_from_unsigned(self.out.as_mut_ptr()) };
        (self.bits, self.count) = (pen.bits, pen.count);
    }
}

impl Bits for BitWriter<'_> {
    #[inline(always)]
    fn put(&mut self, value: u64, count: u32) {
        self.bits |= value << (self.count & 63);
        self.count += count;
    }

    #[inline(always)]
    fn flush(&mut self) {
        match self.out.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut::<STEP>()) {
            Some(room) => *room = self.bits.to_le_bytes(),
            None => store_exactly(self.out, self.at, self.bits, self.count),
        }
        self.at += (self.count >> 3) as usize;
        self.bits >>= self.count & 56;
        self.count &= 7;
    }
}

/// Bytes of the register.
const STEP: usize = 8;

/// Writes the whole bytes of the register close to the end of the buffer.
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

/// Writes where there is room: whoever has one writes no more bits than it was made for.
pub(super) struct Pen {
    at: *mut u8,
    bits: u64,
    count: u32,
}

#[cfg(target_arch = "x86_64")]
impl Pen {
    /// Where it writes, and the bits that wait with their number above them: less than 8, after a flush.
    #[inline(always)]
    pub(super) fn laid_down(self) -> (*mut u8, u64) {
        (self.at, self.bits | u64::from(self.count) << 8)
    }

    /// The pen that was laid down.
    ///
    /// # Safety
    ///
    /// `at` and `waiting` are what [`Pen::laid_down`] returned, and no other pen was taken up with
    /// them.
    #[inline(always)]
    pub(super) unsafe fn taken_up(at: *mut u8, waiting: u64) -> Self {
        Pen { at, bits: waiting & 0xFF, count: (waiting >> 8 & 7) as u32 }
    }
}

impl Bits for Pen {
    #[inline(always)]
    fn put(&mut self, value: u64, count: u32) {
        self.bits |= value << (self.count & 63);
        self.count += count;
    }

    #[inline(always)]
    fn flush(&mut self) {
        // SAFETY: there is a step more room than for the bits that the pen was made for.
        unsafe {
            store_8(self.at, self.bits);
            self.at = self.at.add((self.count >> 3) as usize);
        }
        self.bits >>= self.count & 56;
        self.count &= 7;
    }
}
