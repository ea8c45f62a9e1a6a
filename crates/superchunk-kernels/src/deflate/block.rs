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

#![expect(clippy::indexing_slicing, reason = "symbols index tables of all symbols")]

#[cfg(target_arch = "x86_64")]
use crate::cpu::isa;
use crate::deflate::bits::BitWriter;
use crate::deflate::header::Header;
use crate::deflate::huffman::{Code, assign_codes, code_lengths};
use crate::deflate::stats::{Counts, Sequence};
use crate::deflate::symbols::{
    DISTANCE_SYMBOLS, END, FIXED_DISTANCE_LENGTHS, LENGTH_BASE, LENGTH_EXTRA, LENGTH_SLOT,
    LITLEN_SYMBOLS, MIN_MATCH, distance_extra, distance_slot, fixed_litlen_lengths,
};

/// The longest code of a literal or length: four of them fit the register between two flushes.
const LITLEN_LIMIT: usize = 14;
const DISTANCE_LIMIT: usize = 15;

/// Bytes that one stored block can hold.
const STORED_MAX: usize = 65_535;

/// Writes `src`, described by `sequences` and counted by `counts`. `None` when it does not fit.
pub(super) fn write_block(
    out: &mut BitWriter<'_>,
    src: &[u8],
    sequences: &[Sequence],
    counts: &Counts,
    is_last: bool,
) -> Option<()> {
    let mut litlen = [0; LITLEN_SYMBOLS];
    let mut distance = [0; DISTANCE_SYMBOLS];
    code_lengths(&counts.litlen, LITLEN_LIMIT, &mut litlen);
    code_lengths(&counts.distance, DISTANCE_LIMIT, &mut distance);
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
    if fixed <= own {
        out.put(u64::from(is_last) | 1 << 1, 3);
        write_symbols(out, src, sequences, &Codes::new(&fixed_litlen, &FIXED_DISTANCE_LENGTHS));
    } else {
        out.put(u64::from(is_last) | 2 << 1, 3);
        header.write(out);
        write_symbols(out, src, sequences, &Codes::new(&litlen, &distance));
    }
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
        out.put(u64::from(is_last && src.is_empty()), 3);
        out.align();
        out.put(len | (len ^ 0xFFFF) << 16, 32);
        out.put_bytes(part)?;
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

/// The codes of a block, ready for writing.
struct Codes {
    literals: [Code; 256],
    end: Code,
    /// For `length - 3`: code and extra bits, and how many.
    lengths: [(u32, u32); 256],
    distances: [Code; 32],
}

impl Codes {
    fn new(litlen: &[u8], distance: &[u8; DISTANCE_SYMBOLS]) -> Self {
        let mut all = [Code::default(); 288];
        assign_codes(litlen, &mut all);
        let mut codes = Codes {
            literals: [Code::default(); 256],
            end: all[END],
            lengths: [(0, 0); 256],
            distances: [Code::default(); 32],
        };
        assign_codes(distance, &mut codes.distances);
        codes.literals.copy_from_slice(&all[..256]);
        for ((offset, entry), slot) in (0_u32..).zip(&mut codes.lengths).zip(LENGTH_SLOT) {
            let slot = usize::from(slot);
            let code = all[END + 1 + slot];
            let extra = offset - u32::from(LENGTH_BASE[slot]);
            *entry = (
                u32::from(code.bits) | extra << code.len,
                u32::from(code.len) + u32::from(LENGTH_EXTRA[slot]),
            );
        }
        codes
    }
}

/// Writes the symbols of a block and its end, for which there is room.
fn write_symbols(out: &mut BitWriter<'_>, src: &[u8], sequences: &[Sequence], codes: &Codes) {
    #[cfg(target_arch = "x86_64")]
    if isa().has_avx2() {
        // SAFETY: processors with AVX2 have the bit instructions.
        return unsafe { write_symbols_bmi2(out, src, sequences, codes) };
    }
    write_symbols_any(out, src, sequences, codes);
}

/// The same with shifts that need no fixed register.
///
/// # Safety
///
/// The processor has BMI1 and BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn write_symbols_bmi2(
    out: &mut BitWriter<'_>,
    src: &[u8],
    sequences: &[Sequence],
    codes: &Codes,
) {
    write_symbols_any(out, src, sequences, codes);
}

#[inline(always)]
fn write_symbols_any(
    writer: &mut BitWriter<'_>,
    mut src: &[u8],
    sequences: &[Sequence],
    codes: &Codes,
) {
    let mut out = writer.take();
    out.flush();
    for sequence in sequences {
        let count = sequence.literals as usize;
        if count > 0 {
            write_literals(&mut out, src, count, &codes.literals);
        }
        if sequence.length == 0 {
            src = src.get(count..).unwrap_or_default();
            continue;
        }
        let length = usize::from(sequence.length);
        let (bits, bits_len) = codes.lengths[(length - MIN_MATCH) & 255];
        let slot = distance_slot(usize::from(sequence.distance_less_1) + 1);
        let code = codes.distances[slot & 31];
        let extra_bits = distance_extra(slot);
        let extra = u64::from(sequence.distance_less_1) & ((1 << extra_bits) - 1);
        out.put(u64::from(bits), bits_len);
        out.put(u64::from(code.bits), u32::from(code.len));
        out.put(extra, extra_bits);
        out.flush();
        src = src.get(count + length..).unwrap_or_default();
    }
    out.put(u64::from(codes.end.bits), u32::from(codes.end.len));
    out.flush();
    *writer = out;
}

/// Writes the first `count` bytes as literals, four between two flushes.
#[inline(always)]
fn write_literals(out: &mut BitWriter<'_>, src: &[u8], count: usize, codes: &[Code; 256]) {
    let (steps, tail) = src.as_chunks::<4>();
    let mut left = count;
    let mut steps = steps.iter();
    while left >= 4 {
        let Some(step) = steps.next() else { break };
        for &byte in step {
            let code = codes[usize::from(byte)];
            out.put(u64::from(code.bits), u32::from(code.len));
        }
        out.flush();
        left -= 4;
    }
    match steps.next() {
        // Which of them count is not predictable: codes of no bits stand for those that do not.
        Some(step) => {
            for (at, &byte) in step.iter().take(3).enumerate() {
                let code = if at < left { codes[usize::from(byte)] } else { Code::default() };
                out.put(u64::from(code.bits), u32::from(code.len));
            }
        }
        None => {
            for &byte in tail.iter().take(left) {
                let code = codes[usize::from(byte)];
                out.put(u64::from(code.bits), u32::from(code.len));
            }
        }
    }
    out.flush();
}
