//! The first symbols of a stream, without those that follow.
//!
//! One stream is decoded as eight, from places that are guessed: a wrong guess soon falls in step (see
//! [`super::halves`]). Each part goes on for some bits where the next one begins. There the borders of
//! the codes, as both parts see them, are compared, and the next part counts from the first that they
//! have in common:
//!
//! ```text
//! part n       …│    │  │     │   │ │    │
//! part n + 1             │  │    ││ │    │  │   …
//!                        begin      in step
//! ```

use core::ops::Range;

use super::lanes;
use super::streams::{Stream, WRONG};
use super::table::{SIZE, Table};

/// Decodes the first symbols of the stream at `place` of `src`, which fill `dst`; the stream has `count`.
pub(in super::super) fn decode_begin(
    table: &mut Table,
    src: &[u8],
    place: Range<usize>,
    count: usize,
    dst: &mut [u8],
) -> Result<(), &'static str> {
    let mut stream = Stream::new(src, place.start, place.end, dst)?;
    if stream.dst.len() >= WORTH_PARTS {
        let room = stream.dst.len() / 4 + SPARE;
        let mut scratch = table.take_scratch(PARTS * room);
        let code = Code { table, lengths: table.lengths(), compared: compared(table), count };
        while stream.dst.len() - stream.written >= WORTH_PARTS {
            let before = stream.unread;
            code.decode_parts(&mut scratch, room, &mut stream);
            if stream.unread >= before {
                break;
            }
        }
        table.return_scratch(scratch);
    }
    let mut stream = [stream];
    lanes::run_inlined(table, &mut stream);
    let [mut stream] = stream;
    while stream.written < stream.dst.len() {
        stream.take(table)?;
    }
    if stream.unread >= stream.begin { Ok(()) } else { Err(WRONG) }
}

/// Into how many parts a stream is cut at most.
const PARTS: usize = 8;

/// Fewer symbols are decoded as quickly one after the other.
const WORTH_PARTS: usize = 300;

/// What there is room for in each part beside a quarter of the symbols.
const SPARE: usize = 512;

/// Among how many bits the borders of two parts are compared, at least and at most.
const LEAST_COMPARED: usize = 256;
const MOST_COMPARED: usize = 2048;

/// How many bits it should take at most until a wrong guess falls in step. What moves the borders of two
/// parts against each other is that codes have different lengths: about the mean length, to the power
/// of three, by three times the variance.
fn compared(table: &Table) -> usize {
    let (mut sum, mut squares) = (0, 0);
    for (bits, places) in table.lengths_and_places() {
        sum += bits * places;
        squares += bits * bits * places;
    }
    let all = SIZE as u64;
    let variance = (squares * all).saturating_sub(sum * sum).max(1);
    let more = sum * sum * sum / (3 * all * variance);
    LEAST_COMPARED
        + usize::try_from(more).unwrap_or(MOST_COMPARED).min(MOST_COMPARED - LEAST_COMPARED)
}

/// The code of a stream.
struct Code<'a> {
    table: &'a Table,
    lengths: [u8; 256],
    compared: usize,
    /// The symbols of the stream.
    count: usize,
}

impl Code<'_> {
    /// Decodes what should be the symbols that are missing, as far as the parts fit together.
    fn decode_parts(&self, scratch: &mut [u8], room: usize, stream: &mut Stream<'_>) {
        let step = self.step(stream);
        let mut rooms = scratch.chunks_mut(room);
        let mut begin = stream.unread;
        let mut parts = [(); PARTS].map(|()| {
            let unread = begin;
            begin = begin.saturating_sub(step);
            let stop = begin.saturating_sub(self.compared - 1).max(Stream::LEAST_STOP);
            let dst = rooms.next().unwrap_or_default();
            Stream { src: stream.src, begin: stream.begin, unread, stop, dst, written: 0 }
        });
        lanes::run(self.table, &mut parts);
        let mut begin = stream.unread;
        let mut skipped = 0_usize;
        let mut borders = [0; MOST_COMPARED];
        let [first, rest @ ..] = &parts;
        let mut part = first;
        for next in rest {
            begin = begin.saturating_sub(step);
            if let Some(met) = self.meet(part, next, begin, &mut borders) {
                let end = part.written - met.after;
                append(part, skipped..end, met.place, stream);
                // They can have met before this part was in step with those before it.
                skipped = met.before + skipped.saturating_sub(end);
            } else {
                append(part, skipped..part.written, part.unread, stream);
                let Some(before) = self.go_on_to(next, begin, stream) else { return };
                skipped = before;
            }
            part = next;
        }
        append(part, skipped..part.written, part.unread, stream);
    }

    /// Goes on with a stream, symbol by symbol, until it meets a part that begins at `place`. Tells how many
    /// symbols of that are before.
    #[cold]
    fn go_on_to(
        &self,
        part: &Stream<'_>,
        mut place: usize,
        stream: &mut Stream<'_>,
    ) -> Option<usize> {
        let mut before = 0;
        while stream.unread != place {
            if stream.unread > place {
                stream.take(self.table).ok()?;
            } else {
                let symbol = part.dst.get(..part.written)?.get(before)?;
                place = place.checked_sub(self.length(*symbol))?;
                before += 1;
            }
        }
        Some(before)
    }

    /// The bits from part to part.
    fn step(&self, stream: &Stream<'_>) -> usize {
        let unread = stream.unread.saturating_sub(stream.begin);
        let missing = stream.dst.len() - stream.written;
        let symbols = self.count.saturating_sub(stream.written).max(1);
        let share = (unread as u64).saturating_mul(missing as u64) / symbols as u64;
        let share = usize::try_from(share).unwrap_or(0);
        // A little more than their share, as codes have no even length. The last part goes on like the
        // others.
        let span = (share + share / 32 + 128).min(unread).saturating_sub(self.compared);
        // Where all lengths of codes have a divisor, parts never fall in step unless they begin so.
        let divisor = self.table.divisor();
        (span / PARTS).div_ceil(divisor) * divisor
    }

    /// Looks for the first border that both parts have; the second one begins at `begin`.
    fn meet(
        &self,
        first: &Stream<'_>,
        second: &Stream<'_>,
        begin: usize,
        borders: &mut [u16; MOST_COMPARED],
    ) -> Option<Met> {
        // For each bit behind the begin: how many symbols of the first part follow, and one.
        let borders = borders.get_mut(..self.compared)?;
        borders.fill(0);
        let mut place = begin.checked_sub(first.unread)?;
        let symbols = first.dst.get(..first.written)?;
        for (symbol, after) in symbols.iter().rev().zip(1..=u16::MAX) {
            *borders.get_mut(place)? = after;
            let Some(before) = place.checked_sub(self.length(*symbol)) else { break };
            place = before;
        }
        let symbols = second.dst.get(..second.written)?;
        let mut place = 0;
        for (symbol, before) in symbols.iter().zip(0..) {
            let after = usize::from(*borders.get(place)?);
            if after > 0 {
                return Some(Met { place: begin - place, after: after - 1, before });
            }
            place += self.length(*symbol);
        }
        None
    }

    #[inline(always)]
    fn length(&self, symbol: u8) -> usize {
        usize::from(self.lengths.get(usize::from(symbol)).copied().unwrap_or(0))
    }
}

/// Where two parts meet.
#[derive(Clone, Copy)]
struct Met {
    place: usize,
    /// So many symbols of the first part are behind that place.
    after: usize,
    /// So many symbols of the second part are before it.
    before: usize,
}

/// Appends symbols of a part, up to a place, to a stream.
fn append(part: &Stream<'_>, symbols: Range<usize>, place: usize, stream: &mut Stream<'_>) {
    let Some(symbols) = part.dst.get(symbols) else { return };
    let to = stream.dst.get_mut(stream.written..).unwrap_or_default();
    let len = symbols.len().min(to.len());
    if let (Some(to), Some(symbols)) = (to.get_mut(..len), symbols.get(..len)) {
        to.copy_from_slice(symbols);
    }
    (stream.written, stream.unread) = (stream.written + len, place);
}
