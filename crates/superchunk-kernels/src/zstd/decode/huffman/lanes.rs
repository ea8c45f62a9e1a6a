//! The loops that decode most of the symbols of up to eight streams, on every processor.

use core::hint::black_box;

use super::streams::Stream;
use super::table::{Aligned, LONGEST, One, Pair, Table};
use crate::copy::load_8;

/// The bits that a step takes at most: those that a load gives at least.
const STEP_BITS: usize = 56;

/// Decodes the streams until one of them, or each, has to be asked for each symbol.
pub(super) fn run<const N: usize>(table: &Table, streams: &mut [Stream<'_>; N]) {
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    if are_eight() {
        // SAFETY: this means that the processor has AVX2, BMI1 and BMI2.
        return unsafe { super::eight::run(table, streams) };
    }
    run_inlined(table, streams);
}

/// Whether this processor decodes eight streams in the time of four.
pub(super) fn are_eight() -> bool {
    cfg!(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))
        && crate::cpu::isa().has_avx2()
}

#[inline(always)]
pub(super) fn run_inlined<const N: usize>(table: &Table, streams: &mut [Stream<'_>; N]) {
    if let Some(pairs) = table.pairs() {
        // In registers: shifts by a constant would need one more instruction each.
        let (shift, bits) = (black_box(64 - LONGEST), black_box(8));
        repeat(streams, 2 * PAIRS, 0, |lane, _| {
            // SAFETY: a step has room for its pairs.
            unsafe { lane.take_pairs(pairs, shift, bits) }
        });
    }
    // As many look-ups as the bits of a load are enough for.
    match table.log() {
        ..=8 => run_ones::<N, 7>(table, streams),
        9 => run_ones::<N, 6>(table, streams),
        _ => run_ones::<N, 5>(table, streams),
    }
}

/// Look-ups of pairs between two loads: each takes at most [`LONGEST`] bits.
const PAIRS: usize = 56 / LONGEST as usize;

/// Decodes `L` symbols in each step.
#[inline(always)]
fn run_ones<const N: usize, const L: usize>(table: &Table, streams: &mut [Stream<'_>; N]) {
    let shift = black_box(64 - table.log());
    repeat(streams, L, L, |lane, step| {
        // SAFETY: a step has room for its symbols, and `shift` leaves the bits of an index.
        unsafe { lane.take_ones::<L>(table.one(), shift, step * L) }
    });
}

/// Takes steps with all streams as long as each of them has input, and room for `most` bytes. A step
/// makes `fixed` bytes, or as many as it moves `output` on.
#[inline(always)]
fn repeat<const N: usize>(
    streams: &mut [Stream<'_>; N],
    most: usize,
    fixed: usize,
    take: impl Fn(&mut Lane, usize),
) {
    loop {
        let steps = streams.iter().map(|stream| {
            let input = stream.unread.saturating_sub(stream.stop) / STEP_BITS;
            input.min((stream.dst.len() - stream.written) / most)
        });
        let steps = steps.min().unwrap_or(0);
        if steps == 0 {
            return;
        }
        // SAFETY: `steps >= 1` for all streams: `unread > stop`, which is at least `LEAST_STOP`,
        // and `written < dst.len()`.
        let mut lanes = streams.each_mut().map(|stream| unsafe { Lane::of(stream) });
        for step in 0..steps {
            let go_on = |lane: &mut Lane| {
                take(lane, step);
                // SAFETY: `steps * STEP_BITS <= unread - stop`, and a step takes at most
                // `STEP_BITS`: the next bit is at or after `stop`, so 8 bytes or more are not read.
                unsafe { lane.load() };
            };
            let (fours, rest) = lanes.as_chunks_mut::<4>();
            for [a, b, c, d] in fours {
                go_on(a);
                go_on(b);
                go_on(c);
                go_on(d);
            }
            rest.iter_mut().for_each(go_on);
        }
        for (stream, lane) in streams.iter_mut().zip(&lanes) {
            // SAFETY: the pointers came from the slices that they are measured against, and did not
            // leave them.
            unsafe {
                stream.written = lane.output.offset_from_unsigned(stream.dst.as_ptr());
                let input = lane.input.offset_from_unsigned(stream.src.as_ptr());
                stream.unread = 8 * input + 64 - lane.word.trailing_zeros() as usize;
            }
            stream.written += fixed * steps;
        }
    }
}

/// A stream in the loop.
pub(super) struct Lane {
    /// The next bits from the highest on. The lowest that is set is a mark: above it are those that
    /// are not read.
    pub(super) word: u64,
    /// What the word was loaded from.
    pub(super) input: *const u8,
    output: *mut u8,
}

impl Lane {
    /// # Safety
    ///
    /// `LEAST_STOP <= unread <= 8 * src.len()`, and `written <= dst.len()`.
    #[inline(always)]
    pub(super) unsafe fn of(stream: &mut Stream<'_>) -> Self {
        let end = stream.unread.div_ceil(8);
        debug_assert!(
            stream.unread >= Stream::LEAST_STOP && end <= stream.src.len(),
            "the next 8 bytes are not in the buffer"
        );
        debug_assert!(stream.written <= stream.dst.len(), "more is written than there is room for");
        // SAFETY: `repeat` and `Work::fill` call this only for streams with a possible step: there
        // `unread > stop >= LEAST_STOP` = 64, and `written < dst.len()`. `Stream::new` sets
        // `unread` to a place in `src`, and it only decreases (`halves::split` raises it to `stop`
        // at most).
        unsafe {
            let output = stream.dst.as_mut_ptr().add(stream.written);
            let input = stream.src.as_ptr().add(end - 8);
            let word = (load_8(input) | 1) << (8 * end - stream.unread);
            Self { word, input, output }
        }
    }

    /// Loads the next word, of which 56 bits at least are not read.
    ///
    /// # Safety
    ///
    /// The next bit is at least [`Stream::LEAST_STOP`] bits after the start of the buffer: the 8
    /// bytes that end with its byte lie in the buffer.
    #[inline(always)]
    unsafe fn load(&mut self) {
        let used = self.word.trailing_zeros();
        // SAFETY: `repeat` takes no more steps than leave the next bit at or after `stop`, which is
        // at least `LEAST_STOP` = 64: the 8 bytes that end with its byte lie in the buffer.
        unsafe {
            self.input = self.input.sub((used >> 3) as usize);
            // The lowest bit is not one of the 56.
            self.word = (load_8(self.input) | 1) << (used & 7);
        }
    }

    /// Decodes `L` symbols. Entries are written whole, the last first: the length of a code, below
    /// its symbol, is overwritten by the symbol before it.
    ///
    /// # Safety
    ///
    /// `output` is valid for writes of `offset + L` bytes, and `64 - LONGEST <= shift < 64`: an
    /// index has at most [`LONGEST`] bits.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "an index has 11 bits")]
    unsafe fn take_ones<const L: usize>(
        &mut self,
        table: &Aligned<One>,
        shift: u32,
        offset: usize,
    ) {
        debug_assert!((64 - LONGEST..64).contains(&shift), "an index has too many bits");
        let mut entries = [0; L];
        for entry in &mut entries {
            let index = self.word.wrapping_shr(shift) as usize;
            // SAFETY: `index < 1 << LONGEST`, which is the length of `entries`: `run_ones` passes a
            // shift of `64 - table.log()`, and `Table::read` sets `log` to 8, 9 or `LONGEST`.
            *entry = unsafe { *table.entries.get_unchecked(index) };
            self.word = self.word.wrapping_shl(u32::from(*entry));
        }
        let [first, rest @ ..] = &entries.map(One::to_le_bytes)[..] else { return };
        // SAFETY: `repeat` takes at most `(dst.len() - written) / L` steps, and `run_ones` passes
        // `offset = step * L`: there is room for `L` bytes. `rest` has `L - 1` entries, so that
        // `place + 2 <= L`.
        unsafe {
            let output = self.output.add(offset);
            for (place, entry) in rest.iter().enumerate().rev() {
                output.add(place).cast::<[u8; 2]>().write(*entry);
            }
            *output = first[1];
        }
    }

    /// Takes [`PAIRS`] look-ups. `shift` leaves the bits of an index, `symbols` those of the symbols.
    ///
    /// # Safety
    ///
    /// `output` is valid for writes of `2 * PAIRS` bytes, and `64 - LONGEST <= shift < 64`: an
    /// index has at most [`LONGEST`] bits.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "an index has 11 bits, a pair 16")]
    unsafe fn take_pairs(&mut self, table: &Aligned<Pair>, shift: u32, symbols: u32) {
        debug_assert!((64 - LONGEST..64).contains(&shift), "an index has too many bits");
        for _ in 0..PAIRS {
            let index = self.word.wrapping_shr(shift) as usize;
            // SAFETY: `index < 1 << LONGEST`, which is the length of `entries`: `run_inlined`
            // passes a shift of `64 - LONGEST`, and `2 * PAIRS` as what `repeat` finds room for in
            // each step. A look-up writes 2 bytes and moves `output` by at most 2.
            unsafe {
                let entry = *table.entries.get_unchecked(index);
                self.word = self.word.wrapping_shl(entry);
                let pair = entry.wrapping_shr(symbols) as u16;
                self.output.cast::<[u8; 2]>().write(pair.to_le_bytes());
                self.output = self.output.add((entry >> 31) as usize + 1);
            }
        }
    }
}
