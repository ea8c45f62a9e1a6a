//! What is left of a damaged frame: each stored part for itself, wherever it lies.

use std::ops::Range;

use super::Kind;
use super::header::{self, Header};
use super::opener::place_of;
use super::seal::{self, Match, Parts};
use super::trailer::Trailer;
use super::{index, sparse};
use crate::container::{Contents, Entry, Layer, SUFFIX, chunk_hash, stated_hash};
use crate::error::{MustGet, Result};
use crate::limits::Limits;

/// The bytes that tell how long the header is.
pub(crate) const HEADER_START: usize = header::START;
/// The bytes before the index that may vouch for it.
pub(crate) const RECORD: usize = seal::RECORD;
/// What every trailer begins with: its marks, and those of the section of values.
pub(crate) const TRAILER_START: [u8; 4] = [0x94, 1, 0x93, 0xcd];
/// The fewest bytes before the end of a trailer.
pub(crate) const LEAST_VALUES: u64 = 12;
/// What follows the values: mark, length, mark, type, fingerprint.
const TRAILER_END: u64 = 23;

/// A header that can be read. What it says need not be true.
pub(crate) struct Head {
    kind: Kind,
    /// The bytes it was read from.
    bytes: Vec<u8>,
    /// Whether they do not say `b2frame`, as they should.
    pub(crate) lacks_magic: bool,
    pub(crate) header_len: u64,
    /// The bytes that it says an index entry has.
    pub(crate) entry_len: usize,
    /// Where it says that index and trailer are.
    pub(crate) tail: Range<u64>,
    /// All but the entries.
    pub(crate) contents: Contents,
}

/// A trailer, and the index before it.
pub(crate) struct Tail {
    /// The bytes of the index; those of the trailer follow.
    index_len: usize,
    pub(crate) entries: Vec<Entry>,
    pub(crate) values: Vec<Layer>,
}

/// The length of the header that begins with [`HEADER_START`] bytes, as far as these are to be
/// believed.
pub(crate) fn header_len(start: &[u8]) -> Option<usize> {
    let stated = start.get(header::LEN_AT..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_be_bytes(*stated)).ok()
}

/// Reads the header at the start of `bytes`, of a frame of this kind. The bytes that say what it is
/// may be damaged.
pub(crate) fn head(mut bytes: Vec<u8>, kind: Kind) -> Result<Head> {
    let lacks_magic = header::set_magic(&mut bytes);
    let header = Header::parse(&bytes)?;
    let chunks = if kind == Kind::Contiguous && header.nbytes > 0 { header.cbytes } else { 0 };
    let tail = header.header_len.saturating_add(chunks)..header.frame_len;
    let contents = Contents {
        nbytes: header.nbytes,
        vl_blocks: header.vl_blocks,
        metalayers: header.metalayers.clone(),
        ..Contents::new(header.typesize, header.chunksize, header.params.clone())
    };
    bytes.truncate(usize::try_from(header.header_len).unwrap_or(usize::MAX));
    let Header { header_len, entry_len, .. } = header;
    Ok(Head { kind, bytes, lacks_magic, header_len, entry_len, tail, contents })
}

/// Reads index and trailer, which are all of `part`. A frame without chunks has no index.
pub(crate) fn tail(part: &[u8], limits: &Limits) -> Result<Tail> {
    let index_len = Trailer::find(part)?;
    let (index, trailer) = part.must_split_at(index_len)?;
    let entries = if index.is_empty() { Vec::new() } else { entries(index, limits)? };
    Ok(Tail { index_len, entries, values: values(trailer) })
}

/// What a fingerprint vouches for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sealed {
    #[default]
    Nothing,
    /// Index, trailer and header, but for the metalayers: C-Blosc2 may have changed them.
    AllButMetalayers,
    Everything,
}

/// What the fingerprint of index and trailer vouches for. `part` is what `tail` was read from, and
/// `record` stands before it.
pub(crate) fn sealed(head: &Head, record: &[u8], part: &[u8], tail: &Tail) -> Sealed {
    let Some((index, trailer)) = part.split_at_checked(tail.index_len) else {
        return Sealed::Nothing;
    };
    let Ok(trailer) = Trailer::parse(trailer, super::Dialect::Modern) else {
        return Sealed::Nothing;
    };
    let place = place_of(head.kind, record, index, &trailer.layers);
    let parts = Parts { header: &head.bytes, tail: part, place };
    match trailer.fingerprint.map(|stored| parts.compare(stored)) {
        Some(Match::Whole) => Sealed::Everything,
        Some(Match::Seal) => Sealed::AllButMetalayers,
        _ => Sealed::Nothing,
    }
}

/// The length of a trailer of which these six bytes are the first ones of the end, if they are
/// `before` bytes behind its start.
pub(crate) fn trailer_len(before: u64, end: &[u8; 6]) -> Option<u64> {
    let [0xce, a, b, c, d, 0xd8] = *end else { return None };
    let stated = u64::from(u32::from_be_bytes([a, b, c, d]));
    (stated == before + TRAILER_END).then_some(stated)
}

/// The values of the trailer that is all of `trailer`.
pub(crate) fn values(trailer: &[u8]) -> Vec<Layer> {
    let trailer = Trailer::parse(trailer, super::Dialect::Modern);
    trailer.map(|trailer| trailer.layers).unwrap_or_default()
}

/// The entries of the index that `chunk` is.
pub(crate) fn entries(chunk: &[u8], limits: &Limits) -> Result<Vec<Entry>> {
    index::parse(chunk, index::Stated::default(), limits).map(|(entries, _)| entries)
}

/// Whether an index chunk may have items of this size.
pub(crate) fn is_entry_len(item_size: usize) -> bool {
    index::ENTRY_LENS.contains(&item_size)
}

/// Whether the bytes behind a chunk of `len` bytes state a checksum.
pub(crate) fn states_hash(len: usize, behind: &[u8]) -> bool {
    stated_hash(len, behind).is_some()
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
