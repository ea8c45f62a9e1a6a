//! One stream decoded as eight.
//!
//! It is decoded from eight places, of which seven are guessed: a wrong guess soon falls in step (see
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
use super::streams::Stream;
use super::table::{LONGEST, SIZE, Table};

/// Into how many parts a stream is cut at most.
const PARTS: usize = 8;

/// What there is room for in each part beside a quarter of the symbols.
const SPARE: usize = 512;

/// In the parts so many symbols less than the mean are decoded before it is looked how far each has come.
const CAUTION: usize = 16;

/// Among how many bits the borders of two parts are compared, at least and at most.
const LEAST_COMPARED: usize = 256;
const MOST_COMPARED: usize = 2048;

/// Among so many bits all guesses must fall in step.
const IN_STEP_WITHIN: usize = 1024;

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

/// What decodes streams of a code in parts.
pub(super) struct Parts<'a> {
    table: &'a Table,
    lengths: [u8; 256],
    /// Where all lengths of codes have a divisor, parts never fall in step unless they begin so.
    divisor: usize,
    compared: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        let (lengths, divisor) = (table.lengths(), table.divisor());
        Self { table, lengths, divisor, compared: compared(table) }
    }

    /// The memory that is needed for so many symbols.
    pub(super) fn scratch_for(symbols: usize) -> usize {
        PARTS * (symbols / 4 + SPARE)
    }

    /// How many bits it should take at most until a wrong guess falls in step.
    pub(super) fn compared(&self) -> usize {
        self.compared
    }

    /// Goes on with a stream by about so many bits, which should be so many symbols, as far as the parts fit
    /// together.
    pub(super) fn go_on(
        &self,
        stream: &mut Stream<'_>,
        span: usize,
        symbols: usize,
        scratch: &mut [u8],
    ) {
        let step = span.saturating_sub(self.compared) / PARTS / self.divisor * self.divisor;
        let begins = [0, 1, 2, 3, 4, 5, 6, 7].map(|part| stream.unread.saturating_sub(part * step));
        let lowest = stream.begin.max(Stream::LEAST_STOP);
        let Stream { src, begin, .. } = *stream;
        let room = scratch.len() / PARTS;
        let mut came = begins.map(|unread| (unread, 0));
        // First as many symbols for each as there should be, all at once; then what is missing.
        let mean = (symbols / PARTS).saturating_sub(CAUTION);
        for (limit, overlap) in [(mean, usize::MAX), (room, self.compared / 2)] {
            let mut rooms = scratch.chunks_exact_mut(room);
            let mut numbers = 1..;
            let mut parts = came.map(|(unread, written)| {
                let next = stream.unread.saturating_sub(numbers.next().unwrap_or(0) * step);
                let stop = next.saturating_sub(overlap).max(lowest);
                let dst = rooms.next().and_then(|room| room.get_mut(..limit.max(written)));
                Stream { src, begin, unread, stop, dst: dst.unwrap_or_default(), written }
            });
            lanes::run(self.table, &mut parts);
            came = parts.map(|part| (part.unread, part.written));
        }
        let mut rooms = scratch.chunks_exact(room);
        let parts = came.map(|(unread, written)| {
            let symbols = rooms.next().and_then(|room| room.get(..written));
            Part { symbols: symbols.unwrap_or_default(), end: unread }
        });
        self.join(&parts, &begins, stream);
    }

    /// Appends the parts, which begin at these places, to the stream.
    fn join(&self, parts: &[Part<'_>; PARTS], begins: &[usize; PARTS], stream: &mut Stream<'_>) {
        let &[mut part, ref rest @ ..] = parts;
        let mut skipped = 0_usize;
        let mut borders = [0; MOST_COMPARED];
        for (next, &begin) in rest.iter().zip(begins.iter().skip(1)) {
            if let Some(met) = self.meet(&part, next, begin, &mut borders) {
                let end = part.symbols.len() - met.after;
                part.append(skipped..end, met.place, stream);
                // They can have met before this part was in step with those before it.
                skipped = met.before + skipped.saturating_sub(end);
            } else {
                part.append(skipped..part.symbols.len(), part.end, stream);
                let Some(before) = self.go_on_to(next, begin, stream) else { return };
                skipped = before;
            }
            part = *next;
        }
        part.append(skipped..part.symbols.len(), part.end, stream);
    }

    /// A place at or behind `from` where a code begins, whatever is before it: there is one among as many
    /// places as the longest code has bits, and from all of them one comes to the place.
    pub(super) fn in_step(&self, stream: &Stream<'_>, from: usize) -> Option<usize> {
        let mut borders = [false; IN_STEP_WITHIN + LONGEST as usize];
        let candidates = borders.get_mut(..self.table.longest() as usize)?;
        candidates.fill(true);
        let mut alive = candidates.len();
        from.checked_sub(borders.len()).filter(|last| *last >= stream.begin)?;
        for behind in 0..IN_STEP_WITHIN {
            if !*borders.get(behind)? {
                continue;
            }
            if alive == 1 {
                return Some(from - behind);
            }
            let [bits, _] = stream.symbol_at(from - behind, self.table);
            let next = borders.get_mut(behind + usize::from(bits))?;
            alive -= usize::from(core::mem::replace(next, true));
        }
        None
    }

    /// Goes on with a stream, symbol by symbol, until it meets a part that begins at `place`. Tells how many
    /// symbols of that are before.
    #[cold]
    fn go_on_to(
        &self,
        part: &Part<'_>,
        mut place: usize,
        stream: &mut Stream<'_>,
    ) -> Option<usize> {
        let mut before = 0;
        while stream.unread != place {
            if stream.unread > place {
                stream.take(self.table).ok()?;
            } else {
                let symbol = part.symbols.get(before)?;
                place = place.checked_sub(self.length(*symbol))?;
                before += 1;
            }
        }
        Some(before)
    }

    /// Looks for the first border that both parts have; the second one begins at `begin`.
    fn meet(
        &self,
        first: &Part<'_>,
        second: &Part<'_>,
        begin: usize,
        borders: &mut [u16; MOST_COMPARED],
    ) -> Option<Met> {
        // For each bit behind the begin: how many symbols of the first part follow, and one.
        let borders = borders.get_mut(..self.compared)?;
        borders.fill(0);
        let mut place = begin.checked_sub(first.end)?;
        for (symbol, after) in first.symbols.iter().rev().zip(1..=u16::MAX) {
            if let Some(border) = borders.get_mut(place) {
                *border = after;
            }
            let Some(before) = place.checked_sub(self.length(*symbol)) else { break };
            place = before;
        }
        let mut place = 0;
        for (symbol, before) in second.symbols.iter().zip(0..) {
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

/// A part of a stream.
#[derive(Clone, Copy)]
struct Part<'a> {
    symbols: &'a [u8],
    /// Where it was left.
    end: usize,
}

impl Part<'_> {
    /// Appends some symbols, up to a place, to a stream.
    fn append(&self, symbols: Range<usize>, place: usize, stream: &mut Stream<'_>) {
        let Some(symbols) = self.symbols.get(symbols) else { return };
        let to = stream.dst.get_mut(stream.written..).unwrap_or_default();
        let len = symbols.len().min(to.len());
        if let (Some(to), Some(symbols)) = (to.get_mut(..len), symbols.get(..len)) {
            to.copy_from_slice(symbols);
        }
        (stream.written, stream.unread) = (stream.written + len, place);
    }
}
