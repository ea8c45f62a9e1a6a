//! What is left of a damaged frame: each stored part for itself, wherever it lies.

use std::ops::Range;

use super::Kind;
use super::header::Header;
use super::opener::place_of;
use super::seal::{Match, Parts, RECORD};
use super::trailer::Trailer;
use super::{index, sparse};
use crate::container::{Contents, Entry, Layer, SUFFIX, chunk_hash, stated_hash};
use crate::error::Result;
use crate::limits::Limits;

/// What every trailer begins with: its marks, and those of the section of values.
const TRAILER_START: [u8; 4] = [0x94, 1, 0x93, 0xcd];
/// What follows the values: mark, length, mark, type, fingerprint.
const TRAILER_END: usize = 23;
/// How far the end of a trailer is looked for, for all of them together.
const FAR: usize = 1 << 26;

/// A header that can be read. What it says need not be true.
pub(crate) struct Head {
    kind: Kind,
    pub(crate) header_len: usize,
    /// Where it says that index and trailer are.
    pub(crate) tail: Range<u64>,
    /// All but the entries.
    pub(crate) contents: Contents,
}

/// A trailer, and the index before it.
pub(crate) struct Tail {
    /// From the start of the index to the end of the trailer.
    pub(crate) range: Range<usize>,
    /// Where the trailer begins.
    pub(crate) trailer_at: usize,
    pub(crate) entries: Vec<Entry>,
    pub(crate) values: Vec<Layer>,
}

/// Reads the header at the start of `bytes`, of a frame of this kind.
pub(crate) fn head(bytes: &[u8], kind: Kind) -> Result<Head> {
    let header = Header::parse(bytes)?;
    let chunks = if kind == Kind::Contiguous && header.nbytes > 0 { header.cbytes } else { 0 };
    let tail = header.header_len.saturating_add(chunks)..header.frame_len;
    let contents = Contents {
        nbytes: header.nbytes,
        vl_blocks: header.vl_blocks,
        metalayers: header.metalayers.clone(),
        ..Contents::new(header.typesize, header.chunksize, header.params.clone())
    };
    Ok(Head {
        kind,
        header_len: usize::try_from(header.header_len).unwrap_or(usize::MAX),
        tail,
        contents,
    })
}

/// Reads index and trailer, which are all of `range`.
pub(crate) fn tail(bytes: &[u8], range: Range<usize>, limits: &Limits) -> Result<Tail> {
    let part = bytes.get(range.clone()).unwrap_or_default();
    let at = Trailer::find(part)?;
    let (index, trailer) = part.split_at_checked(at).unwrap_or((part, &[]));
    let entries = index::parse(index, None, limits)?;
    let values = Trailer::parse(trailer, super::Dialect::Modern).map(|trailer| trailer.layers);
    let trailer_at = range.start + at;
    Ok(Tail { range, trailer_at, entries, values: values.unwrap_or_default() })
}

/// Whether the fingerprint of index and trailer vouches for them and for this header.
pub(crate) fn is_sealed(bytes: &[u8], head: &Head, tail: &Tail) -> bool {
    let part = |range: Range<usize>| bytes.get(range).unwrap_or_default();
    let trailer = Trailer::parse(part(tail.trailer_at..tail.range.end), super::Dialect::Modern);
    let Ok(trailer) = trailer else { return false };
    let record = part(tail.range.start.saturating_sub(RECORD)..tail.range.start);
    let index = part(tail.range.start..tail.trailer_at);
    let parts = Parts {
        header: part(0..head.header_len),
        tail: part(tail.range.clone()),
        place: place_of(head.kind, record, index, &trailer.layers),
    };
    let compared = trailer.fingerprint.map(|stored| parts.compare(stored));
    matches!(compared, Some(Match::Whole | Match::Seal))
}

/// Where trailers are: from their first byte to the end of the last, or of the part that is left.
pub(crate) fn trailers(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut from, mut budget) = (Vec::new(), 0, FAR);
    while let Some(at) = position_of(bytes, from, &TRAILER_START) {
        let end = trailer_end(bytes, at, &mut budget);
        found.push(at..end.unwrap_or(at));
        from = end.unwrap_or(at + 1);
    }
    found
}

/// The values of the trailer that is all of `bytes`.
pub(crate) fn values(trailer: &[u8]) -> Vec<Layer> {
    let trailer = Trailer::parse(trailer, super::Dialect::Modern);
    trailer.map(|trailer| trailer.layers).unwrap_or_default()
}

/// The entries of the index that `chunk` is.
pub(crate) fn entries(chunk: &[u8], limits: &Limits) -> Result<Vec<Entry>> {
    index::parse(chunk, None, limits)
}

/// Whether a chunk has the checksum that the bytes behind it state; `None` if they state none. With
/// it comes how long the checksum is.
pub(crate) fn check_suffix(chunk: &[u8], behind: &[u8]) -> Option<(bool, usize)> {
    let stated = stated_hash(chunk.len(), behind)?;
    Some((stated == chunk_hash(chunk), SUFFIX))
}

/// Takes the checksums of chunk files out of the values of a sparse frame.
pub(crate) fn file_hashes(values: &mut Vec<Layer>, limits: &Limits) -> Vec<(u64, u64)> {
    sparse::take_hashes(values, limits).into_iter().collect()
}

/// Whether a chunk has this checksum.
pub(crate) fn has_hash(chunk: &[u8], hash: u64) -> bool {
    chunk_hash(chunk) == hash
}

fn trailer_end(bytes: &[u8], at: usize, budget: &mut usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let rest = rest.get(..rest.len().min(*budget)).unwrap_or_default();
    let is_end = |mark: usize| {
        let stated = rest.get(mark + 1..)?.first_chunk::<4>()?;
        let stated = usize::try_from(u32::from_be_bytes(*stated)).ok()?;
        let marked = rest.get(mark) == Some(&0xce) && rest.get(mark + 5) == Some(&0xd8);
        (marked && stated == mark + TRAILER_END).then_some(stated)
    };
    let end = (12..rest.len().saturating_sub(TRAILER_END - 1)).find_map(is_end);
    *budget -= end.unwrap_or(rest.len());
    end.map(|len| at + len)
}

fn position_of(bytes: &[u8], from: usize, pattern: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(pattern.len()).position(|window| window == pattern).map(|at| from + at)
}
