//! Up to eight streams at once, for `x86_64` processors with AVX2, BMI1 and BMI2.
//!
//! The lanes write to rows of their own, from where their symbols are taken to the outputs. Where there
//! are fewer streams than lanes, or some of them come to their end before the others, a lane repeats
//! what another one does, and that is forgotten.

use super::compact::compact;
use super::lanes::Lane;
use super::steps::{Lanes, ROOM, Step};
use super::streams::Stream;
use super::table::{LONGEST, Table};

/// Decodes the streams, at most eight, until each of them has to be asked for each symbol.
///
/// # Safety
///
/// The processor must have AVX2, BMI1 and BMI2.
pub(super) unsafe fn run(table: &Table, streams: &mut [Stream<'_>]) {
    let mut lanes = Lanes::new();
    // SAFETY: the processor has AVX2, BMI1 and BMI2: `lanes::run` asks `are_eight`. A look-up of a
    // symbol takes at most the bits of the longest code. An entry of pairs has at most two symbols,
    // whose codes have at most `LONGEST` bits together (`Table::make_pairs`), and 4 bytes.
    unsafe {
        if let Some(pairs) = table.pairs() {
            let work = Work { step: Step::Pairs(pairs), bits: LONGEST, symbols: 2, row: 4 };
            work.go_on(&mut lanes, streams);
        }
        let step = Step::of_ones(table);
        let work = Work { step, bits: table.longest(), symbols: 1, row: 1 };
        work.go_on(&mut lanes, streams);
    }
}

/// What is done, and for each look-up at most: the bits it takes, the symbols it finds, and the bytes of its row.
struct Work<'a> {
    step: Step<'a>,
    bits: u32,
    symbols: usize,
    row: usize,
}

impl Work<'_> {
    /// # Safety
    ///
    /// The processor must have AVX2, BMI1 and BMI2. A look-up of `step` must take at most `bits`
    /// bits, find at most `symbols` symbols, and write `row` bytes; those of one step take at most
    /// 56 bits.
    unsafe fn go_on(&self, lanes: &mut Lanes, streams: &mut [Stream<'_>]) {
        debug_assert!(
            self.step.look_ups() * self.bits as usize <= 56,
            "a step can take more bits than a word has"
        );
        loop {
            let mut possible = [0; 8];
            let steps_of = |stream| self.possible_steps(stream);
            possible.iter_mut().zip(&*streams).for_each(|(to, stream)| *to = steps_of(stream));
            let most = possible.iter().copied().max().unwrap_or(0);
            if most == 0 {
                return;
            }
            // Those that have much less left than others wait: in the end all of them have little.
            let least = most.div_ceil(4);
            let steps = possible.iter().copied().filter(|steps| *steps >= least).min();
            let steps = steps.unwrap_or(1).min(ROOM / (self.row * self.step.look_ups()));

            let active = |lane: usize| possible.get(lane).is_some_and(|steps| *steps >= least);
            self.fill(lanes, streams, active);
            // SAFETY: the processor has AVX2, BMI1 and BMI2 (see `run`). `fill` has set each lane
            // from an active stream. `steps` is at least 1, at most what `possible_steps` returned
            // for each active stream, and its look-ups write at most `ROOM` bytes.
            unsafe {
                self.step.take(lanes, steps);
                self.leave(lanes, streams, active, steps * self.step.look_ups());
            }
        }
    }

    /// How many steps there are input and room for.
    fn possible_steps(&self, stream: &Stream<'_>) -> usize {
        let look_ups = self.step.look_ups();
        let input = stream.unread.saturating_sub(stream.stop) / (look_ups * self.bits as usize);
        input.min((stream.dst.len() - stream.written) / (look_ups * self.symbols))
    }

    /// Sets the lanes: the others repeat the first one of those that are active.
    fn fill(&self, lanes: &mut Lanes, streams: &mut [Stream<'_>], active: impl Fn(usize) -> bool) {
        let first = (0..8).find(|lane| active(*lane)).unwrap_or(0);
        for (lane, (input, word)) in lanes.inputs.iter_mut().zip(&mut lanes.words).enumerate() {
            let lane = if active(lane) { lane } else { first };
            if let Some(stream) = streams.get_mut(lane) {
                // SAFETY: for an active lane `possible_steps` returned at least 1: `unread > stop`,
                // which is at least `LEAST_STOP`, and `written < dst.len()`.
                let lane = unsafe { Lane::of(stream) };
                (*input, *word) = (lane.input, lane.word);
            }
        }
    }

    /// Takes over how far the lanes have come after so many look-ups.
    ///
    /// # Safety
    ///
    /// The processor must have AVX2. The lanes have just made so many look-ups, for which their streams
    /// had room.
    unsafe fn leave(
        &self,
        lanes: &Lanes,
        streams: &mut [Stream<'_>],
        active: impl Fn(usize) -> bool,
        look_ups: usize,
    ) {
        let states = lanes.inputs.iter().zip(&lanes.words).enumerate();
        for ((lane, (input, word)), stream) in states.zip(streams) {
            if !active(lane) {
                continue;
            }
            // SAFETY: the pointer came from the slice that it is measured against, and did not leave it.
            // The row was written, and there is room for as many symbols as its look-ups can have found.
            unsafe {
                let input = input.offset_from_unsigned(stream.src.as_ptr());
                stream.unread = 8 * input + 64 - word.trailing_zeros() as usize;
                let row = lanes.output(lane);
                let output = stream.dst.as_mut_ptr().add(stream.written);
                stream.written += if let Step::Pairs(_) = self.step {
                    compact(row, look_ups, output)
                } else {
                    core::ptr::copy_nonoverlapping(row, output, look_ups);
                    look_ups
                };
            }
        }
    }
}
