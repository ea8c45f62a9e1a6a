//! Reads the sequences of a block like [`super::super::execute`], and notes them.

use core::mem::MaybeUninit;

use super::super::Result;
use super::super::bits::{Bits, FEW_EXTRA};
use super::super::execute::{Work, is_mixed, take_distance};
use super::super::sequences::{Recent, WRONG};
use super::trace::Mark;

/// How far a frame was noted.
pub(super) struct Place {
    /// The bytes of the output.
    pub(super) written: usize,
    /// The number of the next literal.
    pub(super) literals: usize,
    /// So many bytes are enough: less than 2 to the power of 30.
    pub(super) needed: usize,
}

/// Notes sequences until there are enough, or all, and tells how many: so many marks are set. There must
/// be as many as sequences.
pub(super) fn note(
    work: &Work<'_>,
    recent: &mut Recent,
    marks: &mut [MaybeUninit<Mark>],
    place: &mut Place,
) -> Option<usize> {
    let few = work.codes.most_extra() <= FEW_EXTRA;
    let mixed = is_mixed(work);
    // SAFETY: `FEW` is `few`: true only if `most_extra() <= FEW_EXTRA`.
    let noted = unsafe {
        match (few, mixed) {
            (false, false) => note_best::<false, false>(work, recent, marks, place),
            (false, true) => note_best::<false, true>(work, recent, marks, place),
            (true, false) => note_best::<true, false>(work, recent, marks, place),
            (true, true) => note_best::<true, true>(work, recent, marks, place),
        }
    };
    noted.ok()
}

/// # Safety
///
/// With `FEW`, `work.codes.most_extra() <= FEW_EXTRA`.
unsafe fn note_best<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    marks: &mut [MaybeUninit<Mark>],
    place: &mut Place,
) -> Result<usize> {
    // SAFETY: with `FEW`, `most_extra() <= FEW_EXTRA`: `note` compares them. If `has_avx2`, the
    // processor has BMI1 and BMI2, too (`cpu::Features::avx2` checks them).
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::isa().has_avx2() {
            return note_bmi2::<FEW, MIXED>(work, recent, marks, place);
        }
        note_inlined::<FEW, MIXED>(work, recent, marks, place)
    }
}

/// As [`note`], with shifts that need no certain register.
///
/// # Safety
///
/// The processor must have BMI1 and BMI2. With `FEW`, `work.codes.most_extra() <= FEW_EXTRA`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn note_bmi2<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    marks: &mut [MaybeUninit<Mark>],
    place: &mut Place,
) -> Result<usize> {
    // SAFETY: with `FEW`, `most_extra() <= FEW_EXTRA`: `note` compares them.
    unsafe { note_inlined::<FEW, MIXED>(work, recent, marks, place) }
}

/// # Safety
///
/// With `FEW`, `work.codes.most_extra() <= FEW_EXTRA`.
#[inline(always)]
unsafe fn note_inlined<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    marks: &mut [MaybeUninit<Mark>],
    place: &mut Place,
) -> Result<usize> {
    let codes = work.codes;
    debug_assert!(!FEW || codes.most_extra() <= FEW_EXTRA, "there can be more extra bits");
    let (mut bits, lowest) = Bits::new(work.bytes, work.before)?;
    let mut state_l = bits.take(codes.literals.log());
    let mut state_d = bits.take(codes.distances.log());
    let mut state_m = bits.take(codes.matches.log());
    let mut last = *recent;
    let (mut written, mut literals) = (place.written, place.literals);
    if marks.len() < work.count {
        return Err(WRONG);
    }
    let (mut mark, mut more) = (marks.as_mut_ptr().cast::<Mark>(), work.count - 1);
    while more > 0 {
        // SAFETY: this is at most the third refill since `is_below` returned `false`, or since
        // `Bits::new`: `numbers` refills up to two times. It leaves the `STATE_BITS` of the states.
        unsafe { bits.refill() };
        if bits.is_below(lowest) {
            return Err(WRONG);
        }
        // SAFETY: `refill` was just called, and `is_below` returned `false`. With `FEW` no sequence
        // has more than `most_extra() <= FEW_EXTRA` extra bits: `note` compares them.
        let numbers = unsafe { bits.numbers::<FEW>(codes, state_l, state_d, state_m) };
        state_l = bits.state(codes.literals.next(state_l));
        state_m = bits.state(codes.matches.next(state_m));
        state_d = bits.state(codes.distances.next(state_d));

        let [literal, distance, matched] = numbers;
        let distance = take_distance::<MIXED>(&mut last, distance, literal == 0);
        // SAFETY: `marks.len() >= work.count`, as checked above, and this is one of the first
        // `work.count - 1` marks.
        unsafe {
            mark.write(mark_of(written, literals, literal, distance));
            mark = mark.add(1);
        }
        literals += literal;
        written += literal + matched;
        if written >= place.needed {
            (place.written, place.literals) = (written, literals);
            return Ok(work.count - more);
        }
        more -= 1;
    }
    // The last sequence is not followed by states.
    // SAFETY: as in the loop: at most the third refill since `is_below` returned `false`.
    unsafe { bits.refill() };
    if bits.is_below(lowest) {
        return Err(WRONG);
    }
    // SAFETY: `refill` was just called, and `is_below` returned `false`; `FEW` is false.
    let [literal, distance, matched] =
        unsafe { bits.numbers::<false>(codes, state_l, state_d, state_m) };
    let distance = take_distance::<false>(&mut last, distance, literal == 0);
    if !bits.is_at_begin(work.bytes, work.before) {
        return Err(WRONG);
    }
    // SAFETY: the loop wrote `work.count - 1` marks, and `marks.len() >= work.count`.
    unsafe { mark.write(mark_of(written, literals, literal, distance)) };
    *recent = last;
    (place.written, place.literals) = (written + literal + matched, literals + literal);
    Ok(work.count)
}

/// All places are below 2 to the power of 31: a sequence begins before what is needed ends.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "see above; a distance may be too large, but no match can be at the place that is left of it then"
)]
fn mark_of(written: usize, kept: usize, literals: usize, distance: usize) -> Mark {
    Mark {
        begin: written as u32,
        matched: (written + literals) as u32,
        literals: kept as u32,
        distance: distance as u32,
    }
}
