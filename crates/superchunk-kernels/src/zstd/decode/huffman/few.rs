//! A few symbols of a stream: what precedes or what follows them is decoded, too, to count it.

use core::ops::Range;

use super::lanes;
use super::parts::Parts;
use super::streams::{Stream, WRONG};
use super::table::Table;

/// Fewer symbols are decoded as quickly one after the other.
const WORTH_PARTS: usize = 300;

/// To count from the end takes about so many symbols more.
const TO_FALL_IN_STEP: usize = 500;

/// The room that is needed beside that for all symbols of a stream.
pub(in super::super) const SPARE: usize = 64;

/// A stream in a buffer.
pub(in super::super) struct Coded<'a> {
    pub(in super::super) src: &'a [u8],
    pub(in super::super) place: Range<usize>,
    /// How many symbols it has.
    pub(in super::super) count: usize,
}

/// How many symbols have to be decoded for some of a stream of so many.
pub(in super::super) fn cost(range: &Range<usize>, count: usize) -> usize {
    range.end.min(count - range.start.min(count) + TO_FALL_IN_STEP)
}

impl Coded<'_> {
    /// Decodes a range of the symbols, and gives them. `dst` has room for all, and [`SPARE`] bytes more.
    pub(in super::super) fn decode<'d>(
        &self,
        table: &mut Table,
        range: Range<usize>,
        dst: &'d mut [u8],
    ) -> Result<&'d [u8], &'static str> {
        let symbols = cost(&range, self.count);
        if symbols < WORTH_PARTS {
            self.decode_begin(table, None, range.end, dst)?;
            return dst.get(range).ok_or(WRONG);
        }
        let room = Parts::scratch_for(range.end);
        let mut scratch = table.take_scratch(room);
        let rooms = scratch.get_mut(..room).unwrap_or_default();
        let parts = Parts::new(table);
        let mut counted = None;
        if symbols < range.end {
            counted = self.decode_end(table, &parts, rooms, range.start, dst);
        }
        let begin = match counted {
            Some(begin) => Ok(begin),
            None => {
                let parts = Some((&parts, rooms));
                self.decode_begin(table, parts, range.end, dst).map(|()| range.start)
            }
        };
        table.return_scratch(scratch);
        let begin = begin?;
        dst.get(begin..begin + range.len()).ok_or(WRONG)
    }

    /// Decodes the first `needed` symbols.
    fn decode_begin(
        &self,
        table: &Table,
        parts: Option<(&Parts<'_>, &mut [u8])>,
        needed: usize,
        dst: &mut [u8],
    ) -> Result<(), &'static str> {
        let Self { src, ref place, count } = *self;
        let dst = dst.get_mut(..needed).ok_or(WRONG)?;
        let mut stream = Stream::new(src, place.start, place.end, dst)?;
        if let Some((parts, scratch)) = parts {
            while needed - stream.written >= WORTH_PARTS {
                let before = stream.unread;
                let bits = before.saturating_sub(stream.begin);
                let (missing, all) =
                    (needed - stream.written, count.saturating_sub(stream.written));
                let share = share(bits, missing, all);
                // A little more, as codes have no even length.
                let span = (share + share / 32 + 128).min(bits);
                let symbols = missing + missing / 32 + 16;
                parts.go_on(&mut stream, span, symbols, scratch);
                if stream.unread >= before {
                    break;
                }
            }
        }
        let mut stream = [stream];
        lanes::run_inlined(table, &mut stream);
        let [mut stream] = stream;
        while stream.written < stream.dst.len() {
            stream.take(table)?;
        }
        if stream.unread >= stream.begin { Ok(()) } else { Err(WRONG) }
    }

    /// Decodes from somewhere before the symbol `first` to the end, and tells where in `dst` that is.
    /// `None` when the place is not found, or the stream does not end where it should.
    fn decode_end(
        &self,
        table: &Table,
        parts: &Parts<'_>,
        scratch: &mut [u8],
        first: usize,
        dst: &mut [u8],
    ) -> Option<usize> {
        let Self { src, ref place, count } = *self;
        let last = count.checked_sub(first)?;
        let mut stream = Stream::new(src, place.start, place.end, dst).ok()?;
        let (begin, bits) = (stream.begin, stream.unread.checked_sub(stream.begin)?);
        let guess = begin + share(bits, last, count) + bits / 32 + parts.compared();
        if guess >= stream.unread {
            return None;
        }
        stream.unread = parts.in_step(&stream, guess)?;
        stream.stop = begin.max(Stream::LEAST_STOP);
        while stream.unread - begin >= 8 * WORTH_PARTS {
            let before = stream.unread;
            parts.go_on(&mut stream, before - begin, share(count, before - begin, bits), scratch);
            if stream.unread >= before || stream.unread < begin {
                return None;
            }
        }
        let mut stream = [stream];
        lanes::run_inlined(table, &mut stream);
        let [mut stream] = stream;
        while stream.unread > begin {
            stream.take(table).ok()?;
        }
        if stream.unread == begin { stream.written.checked_sub(last) } else { None }
    }
}

/// The share of `whole` that `part` is of `all`.
fn share(whole: usize, part: usize, all: usize) -> usize {
    let share = (whole as u64).saturating_mul(part as u64) / (all as u64).max(1);
    usize::try_from(share).unwrap_or(whole)
}
