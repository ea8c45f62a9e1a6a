//! The quick parse: one earlier position a look-up, the first match is taken, longer strides where
//! nothing is found.

#![expect(clippy::indexing_slicing, reason = "a byte indexes 256 counts")]

use alloc::boxed::Box;

use crate::common::{few_before, match_end};
use crate::copy::load_8;
#[cfg(target_arch = "x86_64")]
use crate::cpu::isa;
use crate::deflate::finder::{MARGIN, zeroed};
use crate::deflate::parsed::{Parsed, Sink};
use crate::deflate::stats::Counts;
use crate::deflate::symbols::MAX_DISTANCE;

const TABLE_BITS: u32 = 13;

/// For each hash the low bits of the last position that had it: 16 KiB, that stay in the fastest
/// cache beside the input.
type Table = [u16; 1 << TABLE_BITS];

/// Bytes of a segment.
const SEGMENT: usize = 65_536;

/// So many bytes at most are searched before it is decided anew how many are hashed.
const PIECE: usize = 4096;

/// Where repetitions are needed, they must save one of so many bytes.
const LEAST_GAIN: usize = 256;

/// The stride grows by one after so many bytes without a match.
const PATIENCE: usize = 128;

/// What the quick parse remembers.
#[derive(Clone, Debug)]
pub(super) struct Quick {
    table: Box<Table>,
}

/// How many bytes are hashed: no match is shorter. Where bytes are cheap, only longer ones pay.
#[derive(Clone, Copy, Debug)]
enum Key {
    Four,
    Eight,
}

/// A match at a place.
struct Found {
    at: usize,
    /// 0 if there is none.
    distance: usize,
    /// Where the 8 bytes there differ.
    difference: u64,
}

impl Quick {
    pub(super) fn new() -> Self {
        Quick { table: zeroed() }
    }

    /// Forgets everything.
    pub(super) fn begin(&mut self) {
        self.table.fill(0);
    }

    /// Adds the segment of `src` that begins at `begin` to `parsed`; tells its end, and how often
    /// each symbol occurs. Nothing of that if it needs repetitions but hardly has any.
    pub(super) fn parse(
        &mut self,
        src: &[u8],
        begin: usize,
        needs_repetitions: bool,
        parsed: &mut Parsed,
    ) -> (usize, Option<Counts>) {
        let end = src.len().min(begin + SEGMENT);
        let mut sink = parsed.sink_for_any(src, begin, end);
        let last_begin = end.saturating_sub(MARGIN);
        let mut search = Search { src, end, at: begin.max(1), limit: begin, last: 1 };
        while search.at < last_begin {
            search.limit = last_begin.min(search.at + PIECE);
            let piece = src.get(search.at..search.limit).unwrap_or_default();
            let parse = match Key::of(piece) {
                Key::Four => parse_here::<4>,
                Key::Eight => parse_here::<8>,
            };
            // SAFETY: the table was emptied before the stream, whose positions are entered in their
            // order; the rest has just been set so, or comes from the parse before.
            unsafe { parse(&mut self.table, &mut search, &mut sink) };
        }
        if needs_repetitions && sink.gained() < (end - begin) / LEAST_GAIN {
            return (end, None);
        }
        // SAFETY: all matches end in the segment.
        (end, Some(unsafe { sink.finish(end) }))
    }
}

/// How far the parse of a segment has come.
struct Search<'a> {
    src: &'a [u8],
    /// The end of the segment.
    end: usize,
    /// The next position, and up to which one matches may begin.
    at: usize,
    limit: usize,
    /// The last distance.
    last: usize,
}

impl Key {
    /// For a piece of the input, by some windows of it: how many pairs of bytes are alike tells how
    /// long codes will be.
    fn of(piece: &[u8]) -> Self {
        let mut counts = [[0_u32; 256]; 2];
        let mut total = 0;
        let distance = (piece.len() / WINDOWS).max(WINDOW);
        for window in piece.chunks(distance).filter_map(|part| part.first_chunk::<WINDOW>()) {
            for pair in window.as_chunks::<2>().0 {
                // An addition to a count has to wait for the one before it: two tables.
                counts[0][usize::from(pair[0])] += 1;
                counts[1][usize::from(pair[1])] += 1;
            }
            total += WINDOW as u64;
        }
        let squares = |(&a, &b): (&u32, &u32)| u64::from(a + b) * u64::from(a + b);
        let [first, second] = &counts;
        let alike: u64 = first.iter().zip(second).map(squares).sum();
        // Every byte is alike itself.
        if (alike - total) * DEAR < total * total.saturating_sub(1) {
            Key::Four
        } else {
            Key::Eight
        }
    }
}

/// Bytes that stand together in a sample, and how many of them there are in a piece.
const WINDOW: usize = 32;
const WINDOWS: usize = 8;

/// Bytes are dear where less than one pair in so many is alike.
const DEAR: u64 = 64;

/// Parses up to the limit with the best instructions that there are.
///
/// # Safety
///
/// As [`parse`].
unsafe fn parse_here<const KEY: u32>(
    table: &mut Table,
    search: &mut Search<'_>,
    sink: &mut Sink<'_>,
) {
    // SAFETY: `limit + MARGIN <= end <= src.len()`, which `Quick::parse`, the only caller, has just
    // set. `at` and `last` come from there, or from the `parse` before. `Quick::begin` cleared the
    // table for this stream. `isa` reports AVX2 only together with BMI1, BMI2 and LZCNT.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if isa().has_avx2() {
            return parse_bmi2::<KEY>(table, search, sink);
        }
        parse::<KEY, false>(table, search, sink);
    }
}

/// # Safety
///
/// As [`parse`], and the processor has AVX2, BMI1, BMI2 and LZCNT.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
unsafe fn parse_bmi2<const KEY: u32>(
    table: &mut Table,
    search: &mut Search<'_>,
    sink: &mut Sink<'_>,
) {
    // SAFETY: `parse_here`, the only caller, requires of `search`, `sink` and `table` what `parse`
    // does, and calls this only where `isa` reports AVX2, and with it BMI1.
    unsafe { parse::<KEY, true>(table, search, sink) };
}

/// # Safety
///
/// * The search is that of the segment of the sink, and `anchor <= at`.
/// * `limit + MARGIN <= end <= src.len()`, `0 < at`, and `0 < last <= at`.
/// * The table holds the low bits of positions before `at`, or zeros.
/// * If it is `WIDE`, the processor has AVX2 and BMI1.
#[inline(always)]
unsafe fn parse<const KEY: u32, const WIDE: bool>(
    table: &mut Table,
    search: &mut Search<'_>,
    sink: &mut Sink<'_>,
) {
    let Search { src, end, mut at, limit, mut last } = *search;
    debug_assert!(sink.anchor <= at && limit + MARGIN <= end && end <= src.len());
    debug_assert!((1..=at).contains(&last));
    let base = src.as_ptr();
    // SAFETY: `find` finds what begins at `limit` or earlier, so that 16 bytes of the segment
    // follow. Positions are entered in their order, as each match has 4 bytes or more.
    unsafe {
        loop {
            let found = find::<KEY>(table, base, at, last, limit);
            if found.distance == 0 {
                at = found.at;
                break;
            }
            last = found.distance;
            let begin = found.at - few_before(base, sink.anchor, found.at, last);
            at = match_end::<WIDE>(base, found.at, last, found.difference, end);
            sink.push(begin, at - begin, last);
            if at < limit {
                enter::<KEY>(table, base, found.at + 2);
                enter::<KEY>(table, base, at - 2);
            }
        }
    }
    (search.at, search.last) = (at, last);
}

/// Looks from `at` on for a match, up to `limit`, two positions a step. The second one is also
/// compared with what stands the last distance before.
///
/// # Safety
///
/// As [`parse`].
#[inline(always)]
unsafe fn find<const KEY: u32>(
    table: &mut Table,
    base: *const u8,
    mut at: usize,
    last: usize,
    limit: usize,
) -> Found {
    let mut stride = 2;
    let mut patient = at + PATIENCE;
    while at < limit {
        // SAFETY: `at < limit`, so that 8 bytes follow it and the next position. No distance is
        // longer than the way to the begin.
        unsafe {
            let word = load_8(base.add(at));
            let distance = replace::<KEY>(table, word, at);
            let difference = word ^ load_8(base.add(at - distance));
            if is_match::<KEY>(difference) && is_in_reach(distance) {
                return Found { at, distance, difference };
            }
            let next = at + 1;
            let word = load_8(base.add(next));
            let difference = word ^ load_8(base.add(next - last));
            let distance = replace::<KEY>(table, word, next);
            if is_match::<KEY>(difference) {
                return Found { at: next, distance: last, difference };
            }
            let difference = word ^ load_8(base.add(next - distance));
            if is_match::<KEY>(difference) && is_in_reach(distance) {
                return Found { at: next, distance, difference };
            }
        }
        at += stride;
        if at >= patient {
            stride += 1;
            patient = at + PATIENCE;
        }
    }
    Found { at, distance: 0, difference: 0 }
}

/// Whether the first `KEY` bytes are alike.
#[inline(always)]
fn is_match<const KEY: u32>(difference: u64) -> bool {
    difference << (64 - 8 * KEY) == 0
}

/// Whether a match may have such a distance.
#[inline(always)]
fn is_in_reach(distance: usize) -> bool {
    distance.wrapping_sub(1) < MAX_DISTANCE
}

/// Enters a position, where `word` is read, and tells how far before it the one lies that was there.
/// If that is further than 16 bits tell, it is any number up to `at`, and perhaps 0.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
fn replace<const KEY: u32>(table: &mut Table, word: u64, at: usize) -> usize {
    let key = word.wrapping_mul(0x9FB2_1C65_1E98_DF25 << (64 - 8 * KEY));
    // SAFETY: a hash is less than the number of entries.
    let entry = unsafe { table.get_unchecked_mut((key >> (64 - TABLE_BITS)) as usize) };
    let before = core::mem::replace(entry, at as u16);
    usize::from((at as u16).wrapping_sub(before))
}

/// Enters a position.
///
/// # Safety
///
/// 8 bytes can be read at `at`.
#[inline(always)]
unsafe fn enter<const KEY: u32>(table: &mut Table, base: *const u8, at: usize) {
    // SAFETY: 8 bytes can be read at `at`: `parse` enters two positions of a match, of which the
    // later one is below `limit`, `MARGIN` (16) bytes before the end of the segment.
    replace::<KEY>(table, unsafe { load_8(base.add(at)) }, at);
}
