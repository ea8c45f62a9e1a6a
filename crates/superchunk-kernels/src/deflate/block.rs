//! Writes one block in the form that takes the fewest bits: stored, fixed codes or own codes.
//!
//! ```text
//!  1 bit   2 bits
//! ┌───────┬───────┬──────────────────────────────────────────────────────┐
//! │ last? │ 0     │ zero bits to a byte, u16 LE length, its complement, … │ stored
//! │       │ 1     │ codes …, end                                          │ fixed codes
//! │       │ 2     │ description of the codes, codes …, end                │ own codes
//! └───────┴───────┴──────────────────────────────────────────────────────┘
//! ```
//!
//! How many bits a block takes is known before it is written, so that room is asked for once.

use crate::deflate::bits::{BitWriter, Bits};
use crate::deflate::emit::{Codes, emit};
use crate::deflate::header::Header;
use crate::deflate::huffman::code_lengths;
use crate::deflate::marking::mark_units;
use crate::deflate::parsed::Tokens;
use crate::deflate::stats::Counts;
use crate::deflate::symbols::{
    DISTANCE_SYMBOLS, FIXED_DISTANCE_LENGTHS, LITLEN_SYMBOLS, fixed_litlen_lengths,
};

/// The longest code of a literal or length: four of them fit the register between two flushes.
const LITLEN_LIMIT: usize = 14;
const DISTANCE_LIMIT: usize = 15;

/// Bytes that one stored block can hold.
const STORED_MAX: usize = 65_535;

/// Writes `src`, described by `tokens` and counted by `counts`. `None` when it does not fit.
pub(super) fn write_block(
    out: &mut BitWriter<'_>,
    src: &[u8],
    tokens: Tokens<'_>,
    counts: &Counts,
    is_last: bool,
) -> Option<()> {
    let mut litlen = [0; LITLEN_SYMBOLS];
    let mut distance = [0; DISTANCE_SYMBOLS];
    code_lengths(&counts.litlen[..LITLEN_SYMBOLS], LITLEN_LIMIT, &mut litlen);
    code_lengths(&counts.distance[..DISTANCE_SYMBOLS], DISTANCE_LIMIT, &mut distance);
    let header = Header::new(&litlen, &distance);
    let own = 3 + header.bits + counts.bits(&litlen, &distance);
    let fixed_litlen = fixed_litlen_lengths();
    let fixed = 3 + counts.bits(&fixed_litlen, &FIXED_DISTANCE_LENGTHS);
    if stored_bits(out, src.len()) <= own.min(fixed) {
        return write_stored(out, src, is_last);
    }
    if !out.has_room_for(own.min(fixed)) {
        return None;
    }
    out.begin_block();
    if fixed <= own {
        out.put(u64::from(is_last) | 1 << 1, 3);
        mark_units(out, tokens, &fixed_litlen, &FIXED_DISTANCE_LENGTHS);
        emit(out, tokens, own.min(fixed), &Codes::new(&fixed_litlen, &FIXED_DISTANCE_LENGTHS));
    } else {
        out.put(u64::from(is_last) | 2 << 1, 3);
        header.write(out);
        mark_units(out, tokens, &litlen, &distance);
        emit(out, tokens, own.min(fixed), &Codes::new(&litlen, &distance));
    }
    out.end_block(src.len());
    Some(())
}

/// Writes `src` as it is, in as many blocks as it takes. `None` when it does not fit.
pub(super) fn write_stored(out: &mut BitWriter<'_>, mut src: &[u8], is_last: bool) -> Option<()> {
    loop {
        let (part, rest) = src.split_at(src.len().min(STORED_MAX));
        src = rest;
        if !out.has_room_for(stored_bits(out, part.len())) {
            return None;
        }
        let len = part.len() as u64;
        out.begin_block();
        out.put(u64::from(is_last && src.is_empty()), 3);
        out.align();
        out.put(len | (len ^ 0xFFFF) << 16, 32);
        out.put_bytes(part)?;
        out.end_block(part.len());
        if src.is_empty() {
            return Some(());
        }
    }
}

/// How many bits `len` bytes take when they are stored next.
fn stored_bits(out: &BitWriter<'_>, len: usize) -> u64 {
    let blocks = len.div_ceil(STORED_MAX).max(1) as u64;
    // The first block begins anywhere in a byte, the others with one.
    let first = 3 + (out.bits_to_a_byte().wrapping_sub(3) & 7);
    u64::from(first) + 32 + (blocks - 1) * 40 + len as u64 * 8
}
