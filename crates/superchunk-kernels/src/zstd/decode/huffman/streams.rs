//! Decodes one stream of codes, or four that are independent of each other.
//!
//! Four at once keep the processor busy while each waits for its next look-up. They go on as long as
//! every one of them has bytes to read and room to write without being asked for each symbol: reading
//! may come before the begin of a stream, as long as it stays in the buffer, because in the end every
//! stream must have come out even. The last symbols are decoded one by one.

use super::halves;
use super::lanes;
use super::table::{LONGEST, Table};

/// What is said of a stream that is not the codes of its literals.
pub(super) const WRONG: &str = "zstd literals are corrupt";

/// Decodes the stream from the byte `begin` of `src` to its end, which must fill `dst`.
pub(in super::super) fn decode_one(
    table: &mut Table,
    src: &[u8],
    begin: usize,
    dst: &mut [u8],
) -> Result<(), &'static str> {
    let mut stream = [Stream::new(src, begin, src.len(), dst)?];
    lanes::run(table, &mut stream);
    stream.iter_mut().try_for_each(|stream| stream.finish(table))
}

/// Decodes the four streams from the byte `begin` of `src` to its end, which must fill `dst`.
///
/// ```text
/// length of the first, second, third (2 bytes each), the streams
/// ```
pub(in super::super) fn decode_four(
    table: &mut Table,
    src: &[u8],
    begin: usize,
    dst: &mut [u8],
) -> Result<(), &'static str> {
    let [second, third, fourth, end] = ends_of_four(src, begin).ok_or(WRONG)?;
    let first = begin + LENGTHS;

    let literals = dst.len();
    if literals < FEWEST_OF_FOUR {
        return Err(WRONG);
    }
    let pairs = is_worth_pairs(table, src.len() - begin, literals);
    if pairs {
        table.make_pairs();
    }
    let share = literals.div_ceil(4);
    let (to_first, dst) = dst.split_at_mut_checked(share).ok_or(WRONG)?;
    let (to_second, dst) = dst.split_at_mut_checked(share).ok_or(WRONG)?;
    let (to_third, to_fourth) = dst.split_at_mut_checked(share).ok_or(WRONG)?;
    let mut streams = [
        Stream::new(src, first, second, to_first)?,
        Stream::new(src, second, third, to_second)?,
        Stream::new(src, third, fourth, to_third)?,
        Stream::new(src, fourth, end, to_fourth)?,
    ];
    let few_waits = pairs && !lanes::are_eight();
    if literals >= if few_waits { WORTH_HALVES_OF_PAIRS } else { WORTH_HALVES } {
        return halves::decode(table, streams);
    }
    lanes::run(table, &mut streams);
    streams.iter_mut().try_for_each(|stream| stream.finish(table))
}

/// The bytes that tell the lengths of streams.
pub(in super::super) const LENGTHS: usize = 6;

/// Where each of the four streams of [`decode_four`] ends.
pub(in super::super) fn ends_of_four(src: &[u8], begin: usize) -> Option<[usize; 4]> {
    let [a, b, c, d, e, f] = *src.get(begin..)?.first_chunk::<LENGTHS>()?;
    let first = begin + LENGTHS + usize::from(u16::from_le_bytes([a, b]));
    let second = first + usize::from(u16::from_le_bytes([c, d]));
    let third = second + usize::from(u16::from_le_bytes([e, f]));
    Some([first, second, third, src.len()])
}

/// Fewer literals are not cut in four.
const FEWEST_OF_FOUR: usize = 6;

/// With fewer literals it takes longer to join halves than they save.
const WORTH_HALVES: usize = 3000;
/// As [`WORTH_HALVES`], where look-ups find pairs and there are fewer of them to wait for.
const WORTH_HALVES_OF_PAIRS: usize = 64 * 1024;

/// Whether a table of pairs saves more time than it takes to make: when there are many literals, and
/// their codes are so short that a look-up often finds two.
fn is_worth_pairs(table: &Table, stored: usize, literals: usize) -> bool {
    /// What a look-up of a pair takes, and to make the table, in hundredths of a cycle.
    const PAIR: u64 = 180;
    const TABLE: u64 = 350_000;
    if !lanes::are_eight() {
        return literals > 2048 && stored * 8 < literals * 6;
    }
    let one = match table.log() {
        ..=8 => 115,
        9 => 120,
        _ => 130,
    };
    let symbols_of_1024 = 1024 + table.share_of_pairs();
    let literals = literals as u64;
    literals * one > literals * PAIR * 1024 / symbols_of_1024 + TABLE
}

/// A stream on its way.
pub(super) struct Stream<'a> {
    /// The buffer that it is a part of. All places in it are in bits.
    pub(super) src: &'a [u8],
    pub(super) begin: usize,
    /// What is behind this place is not read yet.
    pub(super) unread: usize,
    /// The loops stop before this place, which has 8 bytes before it.
    pub(super) stop: usize,
    pub(super) dst: &'a mut [u8],
    pub(super) written: usize,
}

impl<'a> Stream<'a> {
    /// The bits that the loops need before the place where they stop.
    pub(super) const LEAST_STOP: usize = 64;

    /// The highest bit that is set in the last byte marks the end.
    pub(super) fn new(
        src: &'a [u8],
        begin: usize,
        end: usize,
        dst: &'a mut [u8],
    ) -> Result<Self, &'static str> {
        let last = src.get(begin..end).and_then(<[u8]>::last).ok_or(WRONG)?;
        let mark = last.checked_ilog2().ok_or(WRONG)?;
        let unread = 8 * (end - 1) + mark as usize;
        Ok(Self { src, begin: 8 * begin, unread, stop: Self::LEAST_STOP, dst, written: 0 })
    }

    /// Decodes what is left, symbol by symbol.
    pub(super) fn finish(&mut self, table: &Table) -> Result<(), &'static str> {
        while self.written < self.dst.len() {
            self.take(table)?;
        }
        if self.unread == self.begin { Ok(()) } else { Err(WRONG) }
    }

    /// Decodes one symbol.
    #[inline(always)]
    pub(super) fn take(&mut self, table: &Table) -> Result<(), &'static str> {
        let [bits, symbol] = self.symbol_at(self.unread, table);
        self.unread = self.unread.checked_sub(usize::from(bits)).ok_or(WRONG)?;
        *self.dst.get_mut(self.written).ok_or(WRONG)? = symbol;
        self.written += 1;
        Ok(())
    }

    /// The symbol whose code ends at a place, after the length of that code.
    #[inline(always)]
    pub(super) fn symbol_at(&self, place: usize, table: &Table) -> [u8; 2] {
        let end = place.div_ceil(8);
        // The next bits, from the highest on.
        let bytes = self.src.get(..end).unwrap_or_default();
        let word = match bytes.last_chunk::<4>() {
            Some(word) => u32::from_le_bytes(*word),
            None => bytes.iter().fold(0, |word, &byte| (word >> 8) | (u32::from(byte) << 24)),
        };
        let word = word << (8 * end - place);
        table.one_at(word >> (32 - LONGEST)).to_le_bytes()
    }
}
