//! Decodes four streams as eight.
//!
//! Each look-up waits for the one before it, and four streams leave the processor idle most of the
//! time. So each stream is also decoded from its middle on. Where a code begins there is not known,
//! but a wrong guess soon falls in step: sooner or later both ways of cutting the bits into codes have
//! a border in common, and from there on they are the same. The second half is then appended to the
//! first from that place on. Where they never meet the stream is decoded from one end to the other.

use super::lanes;
use super::streams::{Stream, WRONG};
use super::table::Table;

/// A guess that is out of step can make more symbols than there are: so many more have room.
const SPARE: usize = 256;

/// Decodes the streams, which must fill their output.
pub(super) fn decode(table: &mut Table, streams: [Stream<'_>; 4]) -> Result<(), &'static str> {
    let room = streams.iter().map(|stream| stream.dst.len()).max().unwrap_or(0) + SPARE;
    let mut scratch = table.take_scratch(4 * room);
    let outcome = decode_in(&mut scratch, room, table, streams);
    table.return_scratch(scratch);
    outcome
}

fn decode_in<'a>(
    scratch: &'a mut [u8],
    room: usize,
    table: &Table,
    streams: [Stream<'a>; 4],
) -> Result<(), &'static str> {
    let [mut a, mut b, mut c, mut d] = streams;
    let mut rooms = scratch.chunks_mut(room);
    let mut second_of = |first: &mut Stream<'a>| split(first, rooms.next().unwrap_or_default());
    let seconds = [second_of(&mut a), second_of(&mut b), second_of(&mut c), second_of(&mut d)];
    let [e, f, g, h] = seconds;
    let guesses = [e.unread, f.unread, g.unread, h.unread];
    let mut all = [a, b, c, d, e, f, g, h];
    lanes::run(table, &mut all);
    let [a, b, c, d, e, f, g, h] = all;
    // They do not end at the same time.
    let mut pairs = [[a, b], [c, d], [e, f], [g, h]];
    pairs.iter_mut().for_each(|pair| lanes::run(table, pair));
    let [[a, b], [c, d], [e, f], [g, h]] = pairs;
    let joined = [(a, e), (b, f), (c, g), (d, h)];
    joined
        .into_iter()
        .zip(guesses)
        .try_for_each(|((first, second), guess)| join(first, second, guess, table))
}

/// Gives the second half of a stream, which begins where a code may begin or not.
fn split<'a>(first: &mut Stream<'a>, room: &'a mut [u8]) -> Stream<'a> {
    let middle = first.begin.midpoint(first.unread).max(Stream::LEAST_STOP);
    first.stop = middle;
    let stop = first.begin.max(Stream::LEAST_STOP);
    Stream { src: first.src, begin: first.begin, unread: middle, stop, dst: room, written: 0 }
}

/// Goes on with the first half until it meets the second, and appends that.
fn join(
    mut first: Stream<'_>,
    mut second: Stream<'_>,
    guess: usize,
    table: &Table,
) -> Result<(), &'static str> {
    while second.unread > second.begin && second.written < second.dst.len() {
        second.take(table)?;
    }
    if second.unread != second.begin {
        return first.finish(table);
    }
    // How far the second half was when it came to a place.
    let (mut place, mut symbols) = (guess, 0);
    while first.written < first.dst.len() && place > first.begin {
        if first.unread > place {
            first.take(table)?;
        } else if first.unread < place {
            let [bits, _] = second.symbol_at(place, table);
            place = place.saturating_sub(usize::from(bits));
            symbols += 1;
        } else {
            let rest = second.dst.get(symbols..second.written).unwrap_or_default();
            let to = first.dst.get_mut(first.written..).unwrap_or_default();
            if rest.len() != to.len() {
                return Err(WRONG);
            }
            to.copy_from_slice(rest);
            return Ok(());
        }
    }
    first.finish(table)
}
