//! Decodes symbols away from the ends of both buffers.

use crate::copy::copy_match;
#[cfg(target_arch = "x86_64")]
use crate::cpu::isa;
use crate::inflate::bits::Bits;
use crate::inflate::codes::Codes;
use crate::inflate::lane::{COUNTED, FAST_INPUT, FAST_OUTPUT, Lane, ONE, TWO, Turn};
use crate::inflate::pairs::Literals;
#[cfg(target_arch = "x86_64")]
use crate::inflate::repeat;
use crate::inflate::stream::{Output, Stream};

/// Decodes symbols while they lie within the margins and no stop is reached.
/// True at the end of the block; otherwise it stops before a symbol that is not plainly right, or
/// for which there is no room.
pub(super) fn decode(codes: &Codes, stream: &mut Stream<'_>) -> bool {
    let Stream { bits, output, .. } = stream;
    if output.dst.len() - output.written < FAST_OUTPUT {
        return false;
    }
    let enough = output.next_stop();
    if bits.src.len() - bits.read < FAST_INPUT {
        return decode_padded(codes, bits, output, enough);
    }
    decode_within(codes, bits, output, enough)
}

/// Whether both margins are there.
pub(super) fn has_room(stream: &Stream<'_>) -> bool {
    let Stream { bits, output, .. } = stream;
    bits.src.len() - bits.read >= FAST_INPUT && output.dst.len() - output.written >= FAST_OUTPUT
}

/// Decodes symbols of two streams until one of them comes to an end, or a stop, or a symbol that is not plainly right. That one
/// is not at [`Turn::Next`] then. Nothing happens where there are no margins.
pub(super) fn decode_both(
    left: (&Codes, &mut Stream<'_>),
    right: (&Codes, &mut Stream<'_>),
) -> [Turn; 2] {
    if !has_room(left.1) || !has_room(right.1) {
        return [Turn::Stuck; 2];
    }
    #[cfg(target_arch = "x86_64")]
    if isa().has_avx2() {
        // SAFETY: the processor has AVX2, BMI1 and BMI2, and all margins fit.
        return unsafe { decode_both_with_bmi2(left, right) };
    }
    // SAFETY: all margins were found to fit.
    unsafe { decode_both_bodies(left, right, copy_match) }
}

/// [`decode_both_bodies`] with more instructions.
///
/// # Safety
///
/// [`has_room`] is true for both streams, and the processor has AVX2, BMI1 and BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn decode_both_with_bmi2(
    left: (&Codes, &mut Stream<'_>),
    right: (&Codes, &mut Stream<'_>),
) -> [Turn; 2] {
    // SAFETY: `decode_both`, the only caller, checked `has_room` of both streams. It has also found
    // AVX2, which `repeat::copy_match` needs.
    unsafe { decode_both_bodies(left, right, repeat::copy_match) }
}

/// Chooses the loop that serves both: one for two literals takes entries of one as well, that for those which are counted takes all.
///
/// # Safety
///
/// [`has_room`] is true for both streams. `copy` requires no more than `crate::copy::copy_match`,
/// and instructions that the processor has.
#[inline(always)]
unsafe fn decode_both_bodies(
    left: (&Codes, &mut Stream<'_>),
    right: (&Codes, &mut Stream<'_>),
    copy: unsafe fn(*mut u8, usize, usize),
) -> [Turn; 2] {
    let counted = |codes: &Codes| codes.literals.literals() == Literals::Counted;
    // SAFETY: `decode_both` checked `has_room` of both streams, and chose `copy` by what the
    // processor has.
    unsafe {
        if counted(left.0) || counted(right.0) {
            decode_both_body::<COUNTED>(left, right, copy)
        } else {
            decode_both_body::<TWO>(left, right, copy)
        }
    }
}

/// The turns of two lanes, one after the other.
///
/// # Safety
///
/// As [`decode_both_bodies`].
#[inline(always)]
unsafe fn decode_both_body<const KIND: u8>(
    left: (&Codes, &mut Stream<'_>),
    right: (&Codes, &mut Stream<'_>),
    copy: unsafe fn(*mut u8, usize, usize),
) -> [Turn; 2] {
    let (left_stop, right_stop) = (left.1.output.next_stop(), right.1.output.next_stop());
    // SAFETY: `FAST_INPUT` and `FAST_OUTPUT` bytes are left in both streams: `decode_both` checked
    // `has_room` of both. A turn is taken only where both lanes are within their bounds, and each
    // lane is written back to the stream it was made of. `decode_both` chose `copy` by what the
    // processor has.
    unsafe {
        let mut a = Lane::new(left.0, &mut left.1.bits, &mut left.1.output, left_stop);
        let mut b = Lane::new(right.0, &mut right.1.bits, &mut right.1.output, right_stop);
        let mut turns = [Turn::Next; 2];
        while turns == [Turn::Next; 2] && a.is_within() && b.is_within() {
            turns = [a.take_turn::<KIND>(copy), b.take_turn::<KIND>(copy)];
        }
        a.leave(&mut left.1.bits, &mut left.1.output);
        b.leave(&mut right.1.bits, &mut right.1.output);
        let came_out = |turn: Turn, lane: &Lane<'_>| match turn {
            Turn::Next if !lane.is_within() => Turn::Stuck,
            turn => turn,
        };
        [came_out(turns[0], &a), came_out(turns[1], &b)]
    }
}

/// Decodes the end of the input with zeros behind it. If those were needed, nothing has happened.
#[inline(never)]
fn decode_padded(codes: &Codes, bits: &mut Bits, output: &mut Output, enough: usize) -> bool {
    let mut padded = [0; 3 * FAST_INPUT];
    let rest = bits.src.get(bits.read..).unwrap_or_default();
    padded.iter_mut().zip(rest).for_each(|(to, &byte)| *to = byte);
    let mut inner = Bits { src: &padded, read: 0, buffer: bits.buffer, count: bits.count };
    let written = output.written;
    let ended = decode_within(codes, &mut inner, output, enough);
    let (read, unused) = (bits.read + inner.read, inner.count);
    if 8 * read.saturating_sub(bits.src.len()) > unused as usize {
        output.written = written;
        return false;
    }
    // Whole bytes are given back: they may be padding.
    bits.read = read - (unused / 8) as usize;
    bits.count = unused % 8;
    bits.buffer = inner.buffer & ((1 << bits.count) - 1);
    ended
}

/// Decodes where there is `FAST_INPUT` and `FAST_OUTPUT`.
#[inline(always)]
fn decode_within(codes: &Codes, bits: &mut Bits, output: &mut Output, enough: usize) -> bool {
    if bits.src.len() - bits.read < FAST_INPUT || output.dst.len() - output.written < FAST_OUTPUT {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    if isa().has_avx2() {
        // SAFETY: the processor has AVX2, BMI1 and BMI2, and both margins fit.
        return unsafe { decode_with_bmi2(codes, bits, output, enough) };
    }
    // SAFETY: both margins were found to fit.
    unsafe {
        match codes.literals.literals() {
            Literals::One => decode_body::<ONE>(codes, bits, output, enough, copy_match),
            Literals::Two => decode_body::<TWO>(codes, bits, output, enough, copy_match),
            Literals::Counted => decode_body::<COUNTED>(codes, bits, output, enough, copy_match),
        }
    }
}

/// [`decode_body`] with more instructions.
///
/// # Safety
///
/// `FAST_INPUT` bytes are left in the input and `FAST_OUTPUT` in the output, and the processor has
/// AVX2, BMI1 and BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn decode_with_bmi2(
    codes: &Codes,
    bits: &mut Bits,
    output: &mut Output,
    enough: usize,
) -> bool {
    // SAFETY: `FAST_INPUT` and `FAST_OUTPUT` bytes are left: `decode_within`, the only caller,
    // compares both. It has also found AVX2, which `repeat::copy_match` needs.
    unsafe {
        match codes.literals.literals() {
            Literals::One => decode_body::<ONE>(codes, bits, output, enough, repeat::copy_match),
            Literals::Two => decode_body::<TWO>(codes, bits, output, enough, repeat::copy_match),
            Literals::Counted => {
                decode_body::<COUNTED>(codes, bits, output, enough, repeat::copy_match)
            }
        }
    }
}

/// Goes through the turns of the loop; `KIND` is what entries of literals hold.
///
/// # Safety
///
/// `FAST_INPUT` bytes are left in the input and `FAST_OUTPUT` in the output. `copy` requires no
/// more than `crate::copy::copy_match`, and instructions that the processor has.
#[inline(always)]
unsafe fn decode_body<const KIND: u8>(
    codes: &Codes,
    bits: &mut Bits,
    output: &mut Output,
    enough: usize,
    copy: unsafe fn(*mut u8, usize, usize),
) -> bool {
    // SAFETY: `FAST_INPUT` and `FAST_OUTPUT` bytes are left: `decode_within` compares both, and
    // chooses `copy` by what the processor has. A turn is taken only where the lane is within its
    // bounds, and the lane is written back to the input and the output it was made of.
    unsafe {
        let mut lane = Lane::new(codes, bits, output, enough);
        let mut turn = Turn::Next;
        while turn == Turn::Next && lane.is_within() {
            turn = lane.take_turn::<KIND>(copy);
        }
        lane.leave(bits, output);
        turn == Turn::Ended
    }
}
