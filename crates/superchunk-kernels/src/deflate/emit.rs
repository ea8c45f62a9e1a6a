//! Writes the units of a block in codes.

#![expect(clippy::indexing_slicing, reason = "symbols index tables of all symbols")]

use core::slice::from_raw_parts;

use crate::copy::load_4;
#[cfg(target_arch = "x86_64")]
use crate::cpu::isa;
#[cfg(target_arch = "x86_64")]
use crate::deflate::bits::Pen;
use crate::deflate::bits::{BitWriter, Bits};
use crate::deflate::huffman::{Code, assign_codes};
use crate::deflate::parsed::{FEW, Tokens, Unit};
use crate::deflate::symbols::{DISTANCE_SYMBOLS, END, LENGTH_EXTRA, distance_extra};

/// The codes of a block, ready for writing.
pub(super) struct Codes {
    /// Of literals, of the end, and of lengths without extra bits.
    litlen: [Code; 288],
    /// For each symbol of a length: how many bits the code has, how many with extra bits (8 bits
    /// each), and the code.
    lengths: [u32; 32],
    /// The same for each symbol of a distance.
    distances: [u32; 32],
}

impl Codes {
    pub(super) fn new(litlen: &[u8], distance: &[u8; DISTANCE_SYMBOLS]) -> Self {
        let mut codes =
            Codes { litlen: [Code::default(); 288], lengths: [0; 32], distances: [0; 32] };
        assign_codes(litlen, &mut codes.litlen);
        let mut of_distances = [Code::default(); DISTANCE_SYMBOLS];
        assign_codes(distance, &mut of_distances);
        let entry =
            |code: Code, extra: u32| code.bits() << 16 | (code.len() + extra) << 8 | code.len();
        let lengths = codes.lengths.iter_mut().zip(&codes.litlen[END + 1..]).zip(LENGTH_EXTRA);
        for ((length, &code), extra) in lengths {
            *length = entry(code, u32::from(extra));
        }
        for (slot, (distance, code)) in codes.distances.iter_mut().zip(of_distances).enumerate() {
            *distance = entry(code, distance_extra(slot));
        }
        codes
    }
}

/// Writes the symbols of a block and its end: so many bits, for which there is room.
pub(super) fn emit(out: &mut BitWriter<'_>, tokens: Tokens<'_>, bits: u64, codes: &Codes) {
    let Some(pen) = out.pen(bits) else {
        emit_units(out, tokens, codes, emit_row);
        return;
    };
    // SAFETY: processors with AVX2 have the bit instructions. The pen is that of `out`.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if isa().has_avx2() {
            let (at, waiting) = pen.laid_down();
            let (at, waiting) = emit_bmi2(at, waiting, tokens, codes);
            return out.take_back(Pen::taken_up(at, waiting));
        }
        out.take_back(emit_units(pen, tokens, codes, emit_row));
    }
}

/// The same with shifts that need no fixed register. Takes and returns what fits registers: a pen that has an address is
/// kept in memory all the time.
///
/// # Safety
///
/// The processor has BMI1 and BMI2. `at` and `waiting` are what [`Pen::laid_down`] returned, no
/// other pen was taken up with them, and that pen has room for all bits of `tokens` in `codes`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn emit_bmi2(
    at: *mut u8,
    waiting: u64,
    tokens: Tokens<'_>,
    codes: &Codes,
) -> (*mut u8, u64) {
    // SAFETY: `emit`, the only caller, lays the pen down right before, and takes up no other with
    // it. `write_block` counted the bits of `tokens` in `codes`, and `BitWriter::pen` compared them
    // with the room.
    let pen = unsafe { Pen::taken_up(at, waiting) };
    let written = emit_units(pen, tokens, codes, |pen, literals, codes| {
        // SAFETY: the processor has BMI1 and BMI2, for which this function is compiled. The pen is
        // laid down here, and taken up where `emit_row_bmi2` laid it down again. A pen that
        // `emit_units` passes was flushed after the unit before, so less than 8 bits wait.
        unsafe {
            let (at, waiting) = pen.laid_down();
            let (at, waiting) = emit_row_bmi2(at, waiting, literals, codes);
            Pen::taken_up(at, waiting)
        }
    });
    written.laid_down()
}

/// # Safety
///
/// As [`emit_bmi2`], with room for all bits of `literals` in `codes`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
#[inline(never)]
unsafe fn emit_row_bmi2(
    at: *mut u8,
    waiting: u64,
    literals: &[u8],
    codes: &[Code; 288],
) -> (*mut u8, u64) {
    // SAFETY: the closure in `emit_bmi2`, the only caller, lays the pen down right before.
    let pen = unsafe { Pen::taken_up(at, waiting) };
    emit_row(pen, literals, codes).laid_down()
}

/// What is written to goes from hand to hand, so that it stays in registers.
#[inline(always)]
fn emit_units<B: Bits>(
    mut out: B,
    tokens: Tokens<'_>,
    codes: &Codes,
    emit_row: impl Fn(B, &[u8], &[Code; 288]) -> B,
) -> B {
    let mut literals = tokens.literals();
    for &unit in tokens.units() {
        // SAFETY: there are as many literals as all units have, and 32 more.
        unsafe {
            if let Some(row) = unit.as_row() {
                out = emit_row(out, from_raw_parts(literals, row), &codes.litlen);
                literals = literals.add(row);
            } else {
                emit_few(&mut out, literals, unit, codes);
                literals = literals.add(unit.literals());
            }
        }
    }
    let end = codes.litlen[END];
    out.put(u64::from(end.bits()), end.len());
    out.flush();
    out
}

/// Writes a unit that is not a row.
///
/// # Safety
///
/// Four bytes can be read at `literals`.
#[inline(always)]
unsafe fn emit_few(out: &mut impl Bits, literals: *const u8, unit: Unit, codes: &Codes) {
    // Codes of no bits stand for literals that do not belong to it.
    let masks = &MASKS[unit.literals() & 7];
    // SAFETY: four bytes can be read at `literals`: `emit_units` passes a place in the literals of
    // the tokens or their end, and `Parsed::up_to` has `BEHIND` (32) bytes follow them.
    let [a, b, c, d] = unsafe { four(literals, &codes.litlen) };
    let four = [a.masked(masks[0]), b.masked(masks[1]), c.masked(masks[2]), d.masked(masks[3])];
    emit_four(out, four);
    let mut put = |entry: u32, extra: u64| {
        out.put(u64::from(entry >> 16) | extra << (entry & 63), entry >> 8 & 255);
    };
    put(codes.lengths[unit.length_slot()], u64::from(unit.length_extra()));
    put(codes.distances[unit.distance_slot()], u64::from(unit.distance_extra()));
    out.flush();
}

/// For so many literals of a unit: which of four entries count.
const MASKS: [[u32; FEW]; 8] = {
    let mut masks = [[0; FEW]; 8];
    let mut literals = 0;
    while literals < 8 {
        let mut at = 0;
        while at < FEW {
            masks[literals][at] = if at < literals { u32::MAX } else { 0 };
            at += 1;
        }
        literals += 1;
    }
    masks
};

/// Writes a row of literals, a multiple of four.
#[inline(always)]
fn emit_row<B: Bits>(mut out: B, literals: &[u8], codes: &[Code; 288]) -> B {
    for step in literals.as_chunks::<FEW>().0 {
        emit_four(&mut out, step.map(|byte| codes[usize::from(byte)]));
    }
    out
}

/// The entries of four literals.
///
/// # Safety
///
/// Four bytes can be read at `literals`.
#[inline(always)]
unsafe fn four(literals: *const u8, codes: &[Code; 288]) -> [Code; FEW] {
    // SAFETY: four bytes can be read at `literals`: `emit_few`, the only caller, requires it, too.
    let bytes = unsafe { load_4(literals) };
    [bytes, bytes >> 8, bytes >> 16, bytes >> 24].map(|byte| codes[(byte & 255) as usize])
}

/// Writes the codes of four literals.
#[inline(always)]
fn emit_four(out: &mut impl Bits, [a, b, c, d]: [Code; FEW]) {
    let pair = |a: Code, b: Code| (a.bits() | b.bits() << (a.len() & 31), a.len() + b.len());
    let (first, first_len) = pair(a, b);
    let (second, second_len) = pair(c, d);
    out.put(u64::from(first) | u64::from(second) << (first_len & 63), first_len + second_len);
    out.flush();
}
