//! Zlib streams (RFC 1950), whose blocks are DEFLATE (RFC 1951): a decoder.
//!
//! ```text
//!  byte 0             1                              2 …               4 bytes
//! ┌────────┬────────┬────────────┬──────┬─────────┬─────────────────┬──────────────────────┐
//! │ 8      │ window │ check of   │ dict │ level   │ blocks, bit by  │ Adler-32 of the      │
//! │ (4 bit)│ (4 bit)│ both (5bit)│(1bit)│ (2 bit) │ bit; then zeros │ output, big-endian   │
//! └────────┴────────┴────────────┴──────┴─────────┴─────────────────┴──────────────────────┘
//! ```
//!
//! A block begins with a bit that is set in the last one, and two bits for its kind: bytes as they
//! are, symbols in the fixed codes, or symbols in codes that the block brings along. A symbol is a
//! literal, the end of the block, or a length that a distance follows: so many bytes are repeated
//! from that far back.
//!
//! As for LZ4, two loops share the work: the *fast* one stops at the first symbol that is near an
//! end or not plainly right, the *careful* one decodes that with every bound checked.

mod bits;
mod careful;
mod code;
mod codes;
mod fast;
mod pairs;
#[cfg(target_arch = "x86_64")]
mod repeat;
mod table;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use core::fmt;

use crate::Malformed;
use crate::adler32::adler32;
use bits::Bits;
use codes::Codes;

const TOO_LONG: &str = "zlib stream is longer than its block";

/// Decodes zlib streams; keeps its tables between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Default)]
pub struct Decoder {
    /// The codes that never change, made when first used.
    fixed: Option<Box<Codes>>,
    /// Memory for the codes of a block.
    own: Option<Box<Codes>>,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

impl Decoder {
    /// Decodes the stream at the start of `src`, which must fill `dst` exactly; bytes after its end
    /// are left alone.
    ///
    /// # Errors
    ///
    /// When the stream is cut short or corrupt, its checksum is another, it needs a preset
    /// dictionary, or it does not fill `dst` or has more. The contents of `dst` are then
    /// unspecified.
    pub fn decompress(&mut self, src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
        self.decompress_prefix(src, dst, usize::MAX)
    }

    /// Decodes like [`decompress`](Self::decompress), but may stop once the first `needed` bytes of
    /// `dst` are right, if those are not all; what follows them is then unspecified, and what is
    /// wrong with the rest of the stream stays unseen.
    ///
    /// # Errors
    ///
    /// As [`decompress`](Self::decompress).
    pub fn decompress_prefix(
        &mut self,
        src: &[u8],
        dst: &mut [u8],
        needed: usize,
    ) -> Result<(), Malformed> {
        let needed = if needed < dst.len() { needed } else { usize::MAX };
        let mut bits = Bits::new(src);
        read_header(&mut bits)?;
        let mut output = Output { dst, written: 0, needed, summed: 0, sum: 1 };
        let mut last = false;
        while !last && !output.is_enough() {
            last = self.decode_block(&mut bits, &mut output)?;
        }
        if output.is_enough() {
            return Ok(());
        }
        if output.written < output.dst.len() {
            return Err(bits.malformed("zlib stream is shorter than its block"));
        }
        output.add_to_sum();
        let stored = bits.take_bytes(4)?;
        if stored != output.sum.to_be_bytes() {
            return Err(bits.malformed("zlib stream has another checksum than its content"));
        }
        Ok(())
    }

    /// Decodes a block, or its begin when that is enough. True if it was the last one.
    fn decode_block(&mut self, bits: &mut Bits, output: &mut Output) -> Result<bool, Malformed> {
        bits.refill();
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => copy_stored(bits, output)?,
            1 => {
                let fixed = self.fixed.get_or_insert_with(|| Box::new(Codes::fixed()));
                decode_symbols(fixed, bits, output)?;
            }
            2 => {
                let own = self.own.get_or_insert_with(|| Box::new(Codes::new()));
                own.read(bits)?;
                decode_symbols(own, bits, output)?;
            }
            _ => return Err(bits.malformed("zlib stream has a block of unknown kind")),
        }
        Ok(last)
    }
}

/// What has been decoded.
struct Output<'a> {
    dst: &'a mut [u8],
    /// At most `dst.len()`.
    written: usize,
    /// How many bytes are wanted.
    needed: usize,
    /// How many bytes `sum` is the checksum of.
    summed: usize,
    sum: u32,
}

impl Output<'_> {
    /// The next `len` bytes, or `None` if there is no room for them.
    fn take(&mut self, len: usize) -> Option<&mut [u8]> {
        let bytes = self.dst.get_mut(self.written..)?.get_mut(..len)?;
        self.written += len;
        Some(bytes)
    }

    fn is_enough(&self) -> bool {
        self.written >= self.needed
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

/// The checksum is added to in pieces that are still in the fastest cache.
const PIECE: usize = 16 << 10;

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

/// Copies a block of bytes as they are: their number and its complement come first.
fn copy_stored(bits: &mut Bits, output: &mut Output) -> Result<(), Malformed> {
    let &[low, high, not_low, not_high] = bits.take_bytes(4)? else {
        return Err(bits.malformed(bits::CUT_SHORT));
    };
    if low != !not_low || high != !not_high {
        return Err(bits.malformed("zlib stream has a stored block of unclear length"));
    }
    let len = usize::from(u16::from_le_bytes([low, high])).min(output.needed - output.written);
    let from = bits.take_bytes(len)?;
    let to = output.take(len).ok_or(bits.malformed(TOO_LONG))?;
    to.copy_from_slice(from);
    output.add_to_sum();
    Ok(())
}

/// Decodes symbols up to the end of the block, or until there is enough.
fn decode_symbols(codes: &Codes, bits: &mut Bits, output: &mut Output) -> Result<(), Malformed> {
    while !output.is_enough() {
        let piece = output.needed.min(output.written + PIECE);
        if fast::decode(codes, bits, output, piece) {
            break;
        }
        if output.written - output.summed >= PIECE {
            output.add_to_sum();
        }
        if careful::decode_symbol(codes, bits, output)? {
            break;
        }
    }
    Ok(())
}
