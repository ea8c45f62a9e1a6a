//! Decodes single symbols with every bound checked, and says what is wrong.

use crate::Malformed;
use crate::copy::copy_match_exact;
use crate::inflate::bits::Bits;
use crate::inflate::codes::Codes;
use crate::inflate::stream::{Output, TOO_LONG};
use crate::inflate::table::{
    END_OF_BLOCK, EXCEPTIONAL, Entry, LITERALS, Table, all_bits, base, bits_of_first, code_bits,
};

/// Decodes one literal or match. True at the end of the block.
#[inline(never)]
pub(super) fn decode_symbol(
    codes: &Codes,
    bits: &mut Bits,
    output: &mut Output,
) -> Result<bool, Malformed> {
    bits.refill();
    let entry = take_code(&codes.literals, bits)?;
    if entry & LITERALS != 0 {
        let [_, literal, ..] = entry.to_le_bytes();
        output.take(1).ok_or(bits.malformed(TOO_LONG))?.fill(literal);
        return Ok(false);
    }
    if entry & END_OF_BLOCK != 0 && entry & EXCEPTIONAL != 0 {
        return Ok(true);
    }
    let length = take_value(entry, bits)?;
    bits.refill();
    let entry = take_code(&codes.distances, bits)?;
    let distance = take_value(entry, bits)?;
    let written = output.written;
    if distance > written {
        return Err(bits.malformed("zlib stream has a match before the begin of the output"));
    }
    output.take(length).ok_or(bits.malformed(TOO_LONG))?;
    // SAFETY: `length` bytes of `dst` follow `written`: `take` has returned them. The pointer is
    // that of `dst`, not of these bytes alone, as `distance <= written` bytes before them are read.
    // No distance is 0: the least base is 1.
    unsafe { copy_match_exact(output.dst.as_mut_ptr().add(written), distance, length) };
    Ok(false)
}

/// Takes a code, but not its extra bits.
#[inline]
pub(super) fn take_code<const SIZE: usize>(
    table: &Table<SIZE>,
    bits: &mut Bits,
) -> Result<Entry, Malformed> {
    let (entry, before) = table.look_up(bits.peek(15));
    if entry & LITERALS == 0 && entry & EXCEPTIONAL != 0 && entry & END_OF_BLOCK == 0 {
        return Err(bits.malformed("zlib stream has bits that are no code"));
    }
    let of_code = if entry & LITERALS != 0 { bits_of_first(entry) } else { code_bits(entry) };
    bits.skip(before + of_code)?;
    Ok(entry)
}

/// Takes the extra bits of a value.
#[inline]
pub(super) fn take_value(entry: Entry, bits: &mut Bits) -> Result<usize, Malformed> {
    Ok(base(entry) + bits.take(all_bits(entry) - code_bits(entry))? as usize)
}
