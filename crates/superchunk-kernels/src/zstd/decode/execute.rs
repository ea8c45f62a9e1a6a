//! Reads the sequences of a block and carries them out: so many literals, then so many bytes again
//! from so far back.
//!
//! Three numbers take turns in one stream of bits, each by the state that its last one led to. The
//! loop has few branches that depend on the data: copies are of 32 bytes whatever their length, and
//! which of the recent distances is meant is selected, not decided. Sequences that come close to an
//! end of a buffer, and those that are wrong, are left to [`Output::careful`].

use core::hint::select_unpredictable;

use super::Result;
use super::bits::{Bits, FEW_EXTRA};
use super::codes::Codes;
use super::output::Output;
use super::repeat::{copy_long, copy_match};
use super::sequences::{Recent, WRONG};

/// What the loop works on.
pub(super) struct Work<'a> {
    pub(super) codes: &'a Codes,
    /// The stream, with as many bytes before it as [`Bits`] needs.
    pub(super) bytes: &'a [u8],
    pub(super) before: usize,
    /// How many sequences there are: one at least.
    pub(super) count: usize,
}

/// Reads and carries out all sequences, or those that are needed.
pub(super) fn execute(
    work: &Work<'_>,
    recent: &mut Recent,
    output: &mut Output<'_, '_>,
) -> Result<()> {
    let few = work.codes.most_extra() <= FEW_EXTRA;
    let mixed = is_mixed(work);
    // SAFETY: `FEW` is `few`: true only if `most_extra() <= FEW_EXTRA`.
    unsafe {
        match (few, mixed) {
            (false, false) => execute_best::<false, false>(work, recent, output),
            (false, true) => execute_best::<false, true>(work, recent, output),
            (true, false) => execute_best::<true, false>(work, recent, output),
            (true, true) => execute_best::<true, true>(work, recent, output),
        }
    }
}

/// With fewer sequences it does not matter how they are carried out.
const WORTH_ASKING: usize = 300;

/// Whether many distances are recent ones, but not most: then it cannot be foreseen which.
pub(super) fn is_mixed(work: &Work<'_>) -> bool {
    if work.count <= WORTH_ASKING {
        return false;
    }
    let distances = &work.codes.distances;
    let states = 1_usize << distances.log();
    let recent = (0..states).filter(|state| distances.number(*state).base <= 2).count();
    (5 * states..20 * states).contains(&(32 * recent))
}

/// # Safety
///
/// With `FEW`, `work.codes.most_extra() <= FEW_EXTRA`.
unsafe fn execute_best<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    output: &mut Output<'_, '_>,
) -> Result<()> {
    // SAFETY: with `FEW`, `most_extra() <= FEW_EXTRA`: `execute` compares them. If `has_avx2`, the
    // processor has AVX2, BMI1 and BMI2 (`cpu::Features::avx2` checks all three).
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::isa().has_avx2() {
            return execute_avx2::<FEW, MIXED>(work, recent, output);
        }
        execute_inlined::<false, FEW, MIXED>(work, recent, output)
    }
}

/// As [`execute`], with wider copies and shifts that need no certain register.
///
/// # Safety
///
/// The processor must have AVX2, BMI1 and BMI2. With `FEW`, `work.codes.most_extra() <= FEW_EXTRA`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn execute_avx2<const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    output: &mut Output<'_, '_>,
) -> Result<()> {
    // SAFETY: the processor has AVX2: `execute_best` calls this only if `has_avx2`. With `FEW`,
    // `most_extra() <= FEW_EXTRA`: `execute` compares them.
    unsafe { execute_inlined::<true, FEW, MIXED>(work, recent, output) }
}

/// With `MIXED`, whether a distance is a recent one is selected, not decided.
///
/// # Safety
///
/// With `AVX2` the processor must have it. With `FEW`, `work.codes.most_extra() <= FEW_EXTRA`.
#[inline(always)]
unsafe fn execute_inlined<const AVX2: bool, const FEW: bool, const MIXED: bool>(
    work: &Work<'_>,
    recent: &mut Recent,
    output: &mut Output<'_, '_>,
) -> Result<()> {
    let codes = work.codes;
    debug_assert!(!FEW || codes.most_extra() <= FEW_EXTRA, "there can be more extra bits");
    let (mut bits, lowest) = Bits::new(work.bytes, work.before)?;
    let mut state_l = bits.take(codes.literals.log());
    let mut state_d = bits.take(codes.distances.log());
    let mut state_m = bits.take(codes.matches.log());
    let mut last = *recent;
    let mut place = output.place();
    let mut more = work.count - 1;
    // The inner loop calls nothing: so the compiler can keep what it works with in registers.
    while more > 0 {
        let careful = loop {
            // SAFETY: this is at most the third refill since `is_below` returned `false`, or since
            // `Bits::new`: `numbers` refills up to two times. It leaves the `STATE_BITS` of the
            // states.
            unsafe { bits.refill() };
            if bits.is_below(lowest) {
                return Err(WRONG);
            }
            // SAFETY: `refill` was just called, and `is_below` returned `false`. With `FEW` no
            // sequence has more than `most_extra() <= FEW_EXTRA` extra bits: `execute` compares
            // them.
            let numbers = unsafe { bits.numbers::<FEW>(codes, state_l, state_d, state_m) };
            state_l = bits.state(codes.literals.next(state_l));
            state_m = bits.state(codes.matches.next(state_m));
            state_d = bits.state(codes.distances.next(state_d));

            let [literal, number, matched] = numbers;
            let distance = take_distance::<MIXED>(&mut last, number, literal == 0);
            more -= 1;
            if !place.has_room(literal, matched, distance) {
                break Some((literal, matched, distance));
            }
            // SAFETY: there is room for both, and for the slack of the copies; the distance is from 1
            // to what is written before the match.
            unsafe {
                copy_literals(place.literals, place.dst, literal);
                place.literals = place.literals.add(literal);
                place.dst = place.dst.add(literal);
                copy_match::<AVX2>(place.dst, distance, matched);
                place.dst = place.dst.add(matched);
            }
            if more == 0 {
                break None;
            }
        };
        output.leave(&place);
        if let Some((literal, matched, distance)) = careful {
            if output.careful(literal, matched, distance)? {
                return Ok(());
            }
            place = output.place();
        }
    }
    // The last sequence is not followed by states.
    // SAFETY: as in the loop: at most the third refill since `is_below` returned `false`.
    unsafe { bits.refill() };
    if bits.is_below(lowest) {
        return Err(WRONG);
    }
    // SAFETY: `refill` was just called, and `is_below` returned `false`; `FEW` is false.
    let [literal, number, matched] =
        unsafe { bits.numbers::<false>(codes, state_l, state_d, state_m) };
    let distance = take_distance::<false>(&mut last, number, literal == 0);
    *recent = last;
    if !bits.is_at_begin(work.bytes, work.before) {
        return Err(WRONG);
    }
    output.careful(literal, matched, distance)?;
    Ok(())
}

/// # Safety
///
/// `src` is valid for reads and `dst` for writes of `len + 32` bytes, and these do not overlap.
#[inline(always)]
unsafe fn copy_literals(src: *const u8, dst: *mut u8, len: usize) {
    debug_assert!(dst.addr().abs_diff(src.addr()) >= len + 32, "literals overlap the output");
    // SAFETY: `execute_inlined` calls this after `Place::has_room` returned `true`: in both slices
    // of the `Output` follow `len` bytes and `SLACK` = 32 more. `copy_long` gets what is left of
    // them.
    unsafe {
        dst.cast::<[u8; 32]>().write(src.cast::<[u8; 32]>().read());
        if len > 32 {
            copy_long(src.add(32), dst.add(32), len - 32);
        }
    }
}

/// The distance that `number` stands for, which becomes the most recent one. It is never 0, but may
/// be larger than any can be.
#[inline(always)]
pub(super) fn take_distance<const MIXED: bool>(
    recent: &mut Recent,
    number: usize,
    no_literals: bool,
) -> usize {
    let [first, second, third] = *recent;
    if !MIXED && number > 3 {
        let distance = number - 3;
        *recent = [distance, first, second];
        return distance;
    }
    // Right behind a match the most recent distance would only have made it longer: the others move
    // up, and the last place means one byte less, which must not be none.
    let place = number + usize::from(no_literals);
    // Most of those that are recent are the last one.
    if !MIXED && place == 1 {
        return first;
    }
    let less = select_unpredictable(first == 1, usize::MAX, first.wrapping_sub(1));
    let near = select_unpredictable(place <= 1, first, second);
    let far = select_unpredictable(place == 3, third, less);
    let distance = select_unpredictable(place <= 2, near, far);
    let named = number.wrapping_sub(3);
    let distance = if MIXED { select_unpredictable(number > 3, named, distance) } else { distance };
    *recent = [
        distance,
        select_unpredictable(place >= 2, first, second),
        select_unpredictable(place >= 3, second, third),
    ];
    distance
}
