//! The marks of chunks, found by the description of the format (`docs/formats/chunk.md`, 4.4), and
//! false ones.

use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::rng::Rng;

/// The bytes of a mark, of a block inside of a Zlib stream, and of the check.
const MARK: usize = 3;
const INNER: usize = 6;
const CHECK: usize = 3;
/// Where the starts of blocks are in the header of a chunk.
const STARTS: usize = 32;

/// The marks of one block.
#[derive(Clone, Debug)]
pub struct BlockMarks {
    /// The number of the block.
    pub block: usize,
    /// All of them, the check included.
    pub all: Range<usize>,
    /// Where each number that says where something begins stands: an entry of 3 bytes whose low
    /// bits, this many of them, are not the place in the output.
    pub entries: Vec<(usize, u32)>,
}

/// Finds the marks of all blocks of a chunk without a dictionary, whose items have `item_size`
/// bytes; `is_zlib` says whether its streams are those of Zlib.
#[must_use]
pub fn marks_of(chunk: &[u8], item_size: usize, is_zlib: bool) -> Vec<BlockMarks> {
    let [nbytes, size] = [4, 8].map(|at| length(chunk, at));
    let count = nbytes.div_ceil(size.max(1));
    let starts: Vec<usize> = (0..count).map(|block| length(chunk, STARTS + 4 * block)).collect();
    let is_split = chunk.get(2).is_some_and(|flags| flags & 0x10 == 0);
    let mut found = Vec::new();
    for (block, start) in starts.iter().enumerate() {
        let is_whole = (block + 1) * size <= nbytes;
        let streams = if is_split && is_whole { item_size } else { 1 };
        let end = starts.get(block + 1).copied().unwrap_or(chunk.len());
        found.extend(block_marks(chunk, block, *start..end, streams, is_zlib));
    }
    found
}

fn block_marks(
    chunk: &[u8],
    number: usize,
    block: Range<usize>,
    streams: usize,
    is_zlib: bool,
) -> Option<BlockMarks> {
    let mut at = block.start;
    let mut lens = Vec::new();
    for _ in 0..streams {
        let len = i32::from_le_bytes(*chunk.get(at..)?.first_chunk()?);
        // A run has no bytes, or one.
        lens.push(usize::try_from(len).unwrap_or(0));
        at += 4 + usize::try_from(len).unwrap_or(1);
    }
    let all = at..block.end;
    if all.len() <= CHECK + 1 {
        return None;
    }
    let exponent = *chunk.get(all.end - CHECK - 1)?;
    let flags = chunk.get(at..at + streams.div_ceil(8))?;
    at += flags.len();
    let mut entries = Vec::new();
    for (stream, len) in lens.iter().enumerate() {
        if flags.get(stream / 8)? >> (stream % 8) & 1 == 0 {
            continue;
        }
        if is_zlib {
            let inner = usize::from(*chunk.get(at)?);
            entries.extend((0..2 * inner).map(|half| (at + 1 + MARK * half, 0)));
            at += 1 + INNER * inner;
        }
        let marks = len.saturating_sub(1) >> exponent;
        let bits = if is_zlib { 6 } else { 4 };
        entries.extend((0..marks).map(|mark| (at + MARK * mark, bits)));
        at += MARK * marks;
    }
    Some(BlockMarks { block: number, all, entries })
}

/// Makes one mark of a block false, with a right check. Returns the places in the output that it
/// named before and names now, or nothing if there was no mark to change.
pub fn falsify(chunk: &mut [u8], marks: &BlockMarks, rng: &mut Rng) -> Option<[usize; 2]> {
    let is_mark = |(at, bits): &&(usize, u32)| {
        let none = (1u32 << bits) - 1;
        *bits == 0 || number(chunk, *at).is_some_and(|mark| mark & none != none)
    };
    let places: Vec<(usize, u32)> = marks.entries.iter().filter(is_mark).copied().collect();
    let (at, bits) = places.get(rng.index(places.len().max(1))).copied()?;
    let old = number(chunk, at)?;
    let none = (1u32 << bits) - 1;
    let new = loop {
        let new = match rng.index(3) {
            // The output is another one, by a little or by much.
            0 => old ^ (1 << (bits as usize + rng.index(4))),
            1 => old ^ (1 << (bits as usize + rng.index(24 - bits as usize))),
            _ => old ^ (1 << rng.index(24)),
        };
        if new & none != none || bits == 0 {
            break new;
        }
    };
    if let Some(place) = chunk.get_mut(at..at + MARK) {
        place.copy_from_slice(&new.to_le_bytes()[..MARK]);
    }
    let checked = marks.all.start..marks.all.end - CHECK;
    let hash = chunk.get(checked).map(XxHash3_64::oneshot).unwrap_or_default();
    if let Some(check) = chunk.get_mut(marks.all.end - CHECK..marks.all.end) {
        check.copy_from_slice(&hash.to_le_bytes()[..CHECK]);
    }
    Some([old, new].map(|mark| usize::try_from(mark >> bits).unwrap_or(usize::MAX)))
}

fn number(chunk: &[u8], at: usize) -> Option<u32> {
    let [a, b, c] = *chunk.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes([a, b, c, 0]))
}

fn length(chunk: &[u8], at: usize) -> usize {
    let bytes = chunk.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| usize::try_from(i32::from_le_bytes(*bytes)).unwrap_or(0))
}
