//! One stream from its header to its checksum.

use alloc::boxed::Box;

use crate::Malformed;
use crate::adler32::adler32;
use crate::inflate::bits::{self, Bits};
use crate::inflate::codes::Codes;
use crate::inflate::{careful, fast};

pub(super) const TOO_LONG: &str = "zlib stream is longer than its block";

/// The checksum is added to in pieces that are still in the fastest cache.
const PIECE: usize = 16 << 10;

/// Memory for the codes of a block.
#[derive(Default)]
pub(super) struct Tables {
    /// The codes that never change, made when first used.
    fixed: Option<Box<Codes>>,
    /// Those that a block brings along.
    own: Option<Box<Codes>>,
    /// Whether the block that was begun last has the fixed ones.
    is_fixed: bool,
}

impl Tables {
    /// Reads the kind of a block, and the codes that it brings along. `None` if it is a stored one.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>) -> Result<Option<&Codes>, Malformed> {
        match bits.take(2)? {
            0 => return Ok(None),
            1 => {
                self.fixed.get_or_insert_with(|| Box::new(Codes::fixed()));
                self.is_fixed = true;
            }
            2 => {
                self.own.get_or_insert_with(|| Box::new(Codes::new())).read(bits)?;
                self.is_fixed = false;
            }
            _ => return Err(bits.malformed("zlib stream has a block of unknown kind")),
        }
        Ok(self.codes())
    }

    /// The codes of the block that was begun last.
    pub(super) fn codes(&self) -> Option<&Codes> {
        if self.is_fixed { self.fixed.as_deref() } else { self.own.as_deref() }
    }
}

/// A stream, and how far it is decoded.
pub(super) struct Stream<'a> {
    pub(super) bits: Bits<'a>,
    pub(super) output: Output<'a>,
    /// Whether it is within a block of symbols.
    is_in_block: bool,
    /// Whether the block is the last one, or the last one was.
    last: bool,
}

impl<'a> Stream<'a> {
    /// Reads the header. No more than `needed` bytes are wanted, if those are not all.
    pub(super) fn begin(
        src: &'a [u8],
        dst: &'a mut [u8],
        needed: usize,
    ) -> Result<Self, Malformed> {
        let needed = if needed < dst.len() { needed } else { usize::MAX };
        let mut bits = Bits::new(src);
        read_header(&mut bits)?;
        let output = Output { dst, written: 0, needed, summed: 0, sum: 1 };
        Ok(Self { bits, output, is_in_block: false, last: false })
    }

    /// Decodes what is left, and compares the checksum.
    pub(super) fn finish(&mut self, tables: &mut Tables) -> Result<(), Malformed> {
        while let Some(codes) = self.next_symbols(tables)? {
            while !self.is_enough() {
                if fast::decode(codes, self) || self.step(codes)? {
                    self.end_block();
                    break;
                }
            }
        }
        if self.is_enough() {
            return Ok(());
        }
        if self.output.written < self.output.dst.len() {
            return Err(self.bits.malformed("zlib stream is shorter than its block"));
        }
        self.output.add_to_sum();
        let stored = self.bits.take_bytes(4)?;
        if stored != self.output.sum.to_be_bytes() {
            return Err(self.bits.malformed("zlib stream has another checksum than its content"));
        }
        Ok(())
    }

    /// The codes of the block that the stream is in, or comes to next when stored ones are copied. `None` behind the last, or
    /// when there is enough.
    pub(super) fn next_symbols<'t>(
        &mut self,
        tables: &'t mut Tables,
    ) -> Result<Option<&'t Codes>, Malformed> {
        while !self.is_in_block {
            if self.last || self.is_enough() {
                return Ok(None);
            }
            self.begin_block(tables)?;
        }
        Ok(tables.codes().filter(|_| !self.is_enough()))
    }

    fn begin_block(&mut self, tables: &mut Tables) -> Result<(), Malformed> {
        self.bits.refill();
        self.last = self.bits.take(1)? == 1;
        match tables.read(&mut self.bits)? {
            Some(_) => self.is_in_block = true,
            None => copy_stored(&mut self.bits, &mut self.output)?,
        }
        Ok(())
    }

    /// Goes on where the fast loop cannot: adds a piece to the checksum, and decodes one symbol. True at the end of the block.
    pub(super) fn step(&mut self, codes: &Codes) -> Result<bool, Malformed> {
        if self.output.written - self.output.summed >= PIECE {
            self.output.add_to_sum();
        }
        careful::decode_symbol(codes, &mut self.bits, &mut self.output)
    }

    /// Whether all that is needed is there.
    pub(super) fn is_enough(&self) -> bool {
        self.output.is_enough()
    }

    /// The block is at its end.
    pub(super) fn end_block(&mut self) {
        self.is_in_block = false;
    }
}

/// What has been decoded.
pub(super) struct Output<'a> {
    pub(super) dst: &'a mut [u8],
    /// At most `dst.len()`.
    pub(super) written: usize,
    /// How many bytes are wanted.
    needed: usize,
    /// How many bytes `sum` is the checksum of.
    summed: usize,
    sum: u32,
}

impl Output<'_> {
    /// The next `len` bytes, or `None` if there is no room for them.
    pub(super) fn take(&mut self, len: usize) -> Option<&mut [u8]> {
        let bytes = self.dst.get_mut(self.written..)?.get_mut(..len)?;
        self.written += len;
        Some(bytes)
    }

    fn is_enough(&self) -> bool {
        self.written >= self.needed
    }

    /// Where a loop shall stop for the checksum, or because there is enough.
    pub(super) fn next_stop(&self) -> usize {
        self.needed.min(self.written + PIECE)
    }

    /// Adds to the checksum what was written since the last time, unless nobody will look at it.
    fn add_to_sum(&mut self) {
        if self.needed == usize::MAX {
            let new = self.dst.get(self.summed..self.written).unwrap_or_default();
            self.sum = adler32(self.sum, new);
            self.summed = self.written;
        }
    }
}

fn read_header(bits: &mut Bits) -> Result<(), Malformed> {
    let &[method, flags] = bits.take_bytes(2)? else {
        return Err(bits.malformed(bits::CUT_SHORT));
    };
    let has_check = u16::from_be_bytes([method, flags]).is_multiple_of(31);
    if !has_check || method & 15 != 8 || method >> 4 > 7 {
        return Err(bits.malformed("zlib stream has no header that is known"));
    }
    if flags & 0x20 != 0 {
        return Err(bits.malformed("zlib stream needs a preset dictionary"));
    }
    Ok(())
}

/// Copies a block of bytes as they are.
fn copy_stored(bits: &mut Bits, output: &mut Output) -> Result<(), Malformed> {
    let len = stored_len(bits)?.min(output.needed - output.written);
    let from = bits.take_bytes(len)?;
    let to = output.take(len).ok_or(bits.malformed(TOO_LONG))?;
    to.copy_from_slice(from);
    output.add_to_sum();
    Ok(())
}

/// How many bytes of a stored block follow: their number and its complement come first.
pub(super) fn stored_len(bits: &mut Bits) -> Result<usize, Malformed> {
    let &[low, high, not_low, not_high] = bits.take_bytes(4)? else {
        return Err(bits.malformed(bits::CUT_SHORT));
    };
    if low != !not_low || high != !not_high {
        return Err(bits.malformed("zlib stream has a stored block of unclear length"));
    }
    Ok(usize::from(u16::from_le_bytes([low, high])))
}
