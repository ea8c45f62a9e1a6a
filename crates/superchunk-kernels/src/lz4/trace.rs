//! Notes the sequences of an LZ4 block, so that a few bytes can be found without decoding it.

use super::MIN_MATCH;
use super::decompress::decompress_prefix;
use crate::trace::Mark;
use crate::{Malformed, Trace, Wanted};

/// Decodes like [`decompress`](super::decompress), but only the bytes `wanted` of `dst` need to be right; the others are then unspecified, and what is
/// wrong elsewhere in the stream stays unseen.
///
/// # Errors
///
/// As [`decompress`](super::decompress).
pub fn decompress_wanted(
    trace: &mut Trace,
    dict: &[u8],
    src: &[u8],
    dst: &mut [u8],
    wanted: &Wanted,
) -> Result<(), Malformed> {
    if wanted.is_little() && dict.is_empty() && find(trace, src, dst, wanted).is_some() {
        return Ok(());
    }
    decompress_prefix(dict, src, dst, wanted.end())
}

/// Finds what is wanted, unless something is unusual.
fn find(trace: &mut Trace, src: &[u8], dst: &mut [u8], wanted: &Wanted) -> Option<()> {
    trace.begin();
    let written = note_sequences(trace, src, wanted.end())?;
    trace.follow(written, wanted, |piece| {
        let (to, from, len) = (piece.to as usize, piece.from as usize, piece.len as usize);
        dst.get_mut(to..to + len)?.copy_from_slice(src.get(from..from + len)?);
        Some(())
    })?;
    trace.repeat(dst);
    Some(())
}

/// Notes sequences until `needed` bytes are written, and tells how many are.
fn note_sequences(trace: &mut Trace, src: &[u8], needed: usize) -> Option<usize> {
    let (mut read, mut written) = (0, 0);
    while written < needed {
        let begin = written;
        let token = usize::from(*src.get(read)?);
        read += 1;
        let mut literals = token >> 4;
        if literals == 15 {
            literals += more_length(src, &mut read)?;
        }
        let kept = read;
        read += literals;
        written += literals;
        let matched = written;
        let mut distance = 0;
        // Only the last sequence has no match.
        if let Some(low_high) = src.get(read..).and_then(<[u8]>::first_chunk::<2>) {
            distance = u32::from(u16::from_le_bytes(*low_high));
            read += 2;
            written += (token & 15) + MIN_MATCH;
            if token & 15 == 15 {
                written += more_length(src, &mut read)?;
            }
        } else if read != src.len() || written < needed {
            return None;
        }
        trace.note(Mark {
            begin: u32::try_from(begin).ok()?,
            matched: u32::try_from(matched).ok()?,
            literals: u32::try_from(kept).ok()?,
            distance,
        })?;
    }
    Some(written)
}

/// The sum of the bytes that continue a length.
#[inline]
fn more_length(src: &[u8], read: &mut usize) -> Option<usize> {
    let mut length = 0_usize;
    loop {
        let more = *src.get(*read)?;
        *read += 1;
        length = length.checked_add(usize::from(more))?;
        if more < 255 {
            return Some(length);
        }
    }
}
