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
    // SAFETY: how many extra bits there are was just seen.
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
/// With `FEW` no sequence must have more extra bits than [`FEW_EXTRA`].
unsafe fn note_best<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    marks: &mut [MaybeUninit<Mark>],
    place: &mut Place,
) -> Result<usize> {
    // SAFETY: the caller's promise, and what is asked of the processor.
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
/// The processor must have BMI1 and BMI2. With `FEW` no sequence must have more extra bits than
/// [`FEW_EXTRA`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
unsafe fn note_bmi2<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    marks: &mut [MaybeUninit<Mark>],
    place: &mut Place,
) -> Result<usize> {
    // SAFETY: the caller's promise.
    unsafe { note_inlined::<FEW, MIXED>(work, recent, marks, place) }
}

/// # Safety
///
/// With `FEW` no sequence must have more extra bits than [`FEW_EXTRA`].
#[inline(always)]
unsafe fn note_inlined<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    marks: &mut [MaybeUninit<Mark>],
    place: &mut Place,
) -> Result<usize> {
    let codes = work.codes;
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
        // SAFETY: the last refill that was asked for its place is not more than three refills ago.
        unsafe { bits.refill() };
        if bits.is_below(lowest) {
            return Err(WRONG);
        }
        // SAFETY: as above; `FEW` is the caller's promise.
        let numbers = unsafe { bits.numbers::<FEW>(codes, state_l, state_d, state_m) };
        state_l = bits.state(codes.literals.next(state_l));
        state_m = bits.state(codes.matches.next(state_m));
        state_d = bits.state(codes.distances.next(state_d));

        let [literal, distance, matched] = numbers;
        let distance = take_distance::<MIXED>(&mut last, distance, literal == 0);
        // SAFETY: there are as many marks as sequences.
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
    // SAFETY: as above.
    unsafe { bits.refill() };
    if bits.is_below(lowest) {
        return Err(WRONG);
    }
    // SAFETY: as above.
    let [literal, distance, matched] =
        unsafe { bits.numbers::<false>(codes, state_l, state_d, state_m) };
    let distance = take_distance::<false>(&mut last, distance, literal == 0);
    if !bits.is_at_begin(work.bytes, work.before) {
        return Err(WRONG);
    }
    // SAFETY: as above.
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
