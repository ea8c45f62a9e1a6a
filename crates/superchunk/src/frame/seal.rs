//! The seal: a second hash, over what no other writer changes without resetting the fingerprint.
//!
//! ```text
//! contiguous, right before the index, in space      sparse, the last bytes of the value `b2integrity`,
//! that belongs to no chunk                          which is the last one of the trailer
//! ┌────────┬────────────────┬──────────────┐        ┌─────────┬──────────────┐
//! │ "B2XS" │ index len: u32 │ XXH3-64: u64 │        │ … c4 08 │ XXH3-64: u64 │ ce trailer_len …
//! └────────┴────────────────┴──────────────┘        └─────────┴──────────────┘        little endian
//! ```
//!
//! It covers header, index and trailer but for what is *loose*: the numbers of threads and the contents
//! of the metalayers in the header, which C-Blosc2 overwrites without a word, as a resize of an array
//! may do. So with a fingerprint that does not match, a seal that does tells that at most those have
//! changed. A frame without chunks has no room for it. See `docs/formats/cframe.md#integrity`.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use super::fingerprint::{BLANK, Fingerprint, without_stored};
use crate::error::{MustGet, OrBug, Result};

/// The bytes before the index of a contiguous frame.
pub(super) const RECORD: usize = 16;
/// The value that ends a sparse frame, while the seal is not known.
pub(super) const INSIDE: [u8; 8] = [0; 8];
const TAG: &[u8; 4] = b"B2XS";
/// Where the seal of a sparse frame ends, from the end of the trailer.
const END: usize = 23;

/// Where the header tells of threads, which is the business of the last writer only.
const THREADS: [std::ops::Range<usize>; 2] = [63..65, 66..68];
/// Where the section of metalayers begins, and its length up to the contents is stated.
const SECTION: usize = 87;

/// The parts of a frame that hashes cover, and where its seal is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    pub(super) header: &'a [u8],
    /// Index and trailer.
    pub(super) tail: &'a [u8],
    pub(super) place: Place<'a>,
}

/// Where a frame keeps its seal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// In these bytes before the index.
    Before(&'a [u8]),
    /// At the end of the values of the trailer.
    Inside,
    /// There is no room for one.
    Nowhere,
}

/// How the stored hashes and the bytes of a frame compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// Nothing was changed.
    Whole,
    /// Threads and metalayers were changed, nothing else.
    Seal,
    /// Something was changed, and nothing tells what.
    Unknown,
    /// Something else was changed.
    None,
}

impl Parts<'_> {
    /// Compares a frame with its hashes.
    pub(super) fn compare(&self, stored: Fingerprint) -> Match {
        if Fingerprint::of(self.header, self.tail) == stored {
            return Match::Whole;
        }
        let holds = match self.place {
            Place::Nowhere => return Match::Unknown,
            Place::Before(record) => *record == record_of(self.header, self.tail),
            Place::Inside => {
                let seal = seal_at(self.tail.len()).and_then(|at| self.tail.get(at));
                let expected = inside_of(self.header, self.tail).map(u64::to_le_bytes);
                seal.is_some() && seal == expected.as_ref().map(<[u8; 8]>::as_slice)
            }
        };
        if holds { Match::Seal } else { Match::None }
    }
}

/// The record that goes before the index, which `tail` begins with.
pub(super) fn record_of(header: &[u8], tail: &[u8]) -> [u8; RECORD] {
    let mut hash = sealed_part(header);
    hash.write(without_stored(tail));
    hash.write(&BLANK);
    let trailer_len = tail.len().checked_sub(END - 1).and_then(|at| tail.get(at..)?.first_chunk());
    let trailer_len = trailer_len.map_or(0, |len| u64::from(u32::from_be_bytes(*len)));
    let index_len = (tail.len() as u64).saturating_sub(trailer_len);
    // An index is a chunk: its length has 31 bits.
    let index_len = u32::try_from(index_len).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = TAG.iter().copied().chain(index_len).chain(hash.finish().to_le_bytes());
    std::array::from_fn(|_| bytes.next().unwrap_or(0))
}

/// Puts the seal into the end of the last value of `tail`, where [`INSIDE`] is.
pub(super) fn put_inside(header: &[u8], tail: &mut [u8]) -> Result<()> {
    let rule = "a sparse frame ends with the place of its seal";
    let seal = inside_of(header, tail).or_bug(rule)?.to_le_bytes();
    let place = seal_at(tail.len()).or_bug(rule)?;
    tail.must_get_mut(place)?.copy_from_slice(&seal);
    Ok(())
}

/// The seal of a sparse frame, whatever is where it goes; `None` where there is no room for one.
fn inside_of(header: &[u8], tail: &[u8]) -> Option<u64> {
    let mut hash = sealed_part(header);
    let at = seal_at(tail.len())?;
    hash.write(tail.get(..at.start)?);
    hash.write(&INSIDE);
    hash.write(without_stored(tail).get(at.end..)?);
    hash.write(&BLANK);
    Some(hash.finish())
}

/// Where the seal of a sparse frame is, in the `len` bytes of its index and trailer.
fn seal_at(len: usize) -> Option<std::ops::Range<usize>> {
    let end = len.checked_sub(END)?;
    Some(end.checked_sub(INSIDE.len())?..end)
}

/// A hash that has seen all of `header` that is not loose.
fn sealed_part(header: &[u8]) -> XxHash3_64 {
    let mut hash = XxHash3_64::new();
    let mut position = 0;
    let contents = contents_of(header)..header.len();
    for range in THREADS.into_iter().chain([contents]) {
        // A header that ends before is one that nothing vouches for.
        header.get(position..range.start).into_iter().for_each(|part| hash.write(part));
        position = range.end;
    }
    hash
}

/// Where the contents of the metalayers begin in a header: behind their names.
fn contents_of(header: &[u8]) -> usize {
    let stated = header.get(SECTION + 2..).and_then(|rest| rest.first_chunk::<2>());
    let names = stated.map_or(0, |stated| usize::from(u16::from_be_bytes(*stated)));
    (SECTION + names).min(header.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::fingerprint::STORED;

    /// A header with one metalayer `a` of two bytes; what is not looked at is zero.
    fn header() -> Vec<u8> {
        let mut header = vec![0; SECTION];
        header.extend(*b"\x93\xcd\0\x0e\xde\0\x01\xa1a\xd2\0\0\0\x68\xdc\0\x01\xc6\0\0\0\x02xy");
        header
    }

    #[test]
    fn threads_and_metalayers_are_loose_and_all_else_is_sealed() {
        let header = header();
        let mut tail = vec![7; 60];
        put_inside(&header, &mut tail).unwrap();
        let stored = Fingerprint::of(&header, &tail);
        let record = record_of(&header, &tail);
        for place in [Place::Before(&record), Place::Inside] {
            let compare =
                |header: &[u8], tail: &[u8]| Parts { header, tail, place }.compare(stored);
            assert_eq!(compare(&header, &tail), Match::Whole);
            for at in 0..header.len() {
                let mut changed = header.clone();
                changed[at] ^= 1;
                let loose = THREADS.iter().any(|range| range.contains(&at)) || at >= SECTION + 14;
                // The length of the names decides what is loose: it is sealed, and so are they.
                let expected = if loose { Match::Seal } else { Match::None };
                assert_eq!(compare(&changed, &tail), expected, "byte {at} of the header");
            }
            for at in 0..tail.len() - STORED {
                let mut changed = tail.clone();
                changed[at] ^= 1;
                assert_eq!(compare(&header, &changed), Match::None, "byte {at} of the tail");
            }
        }
    }

    #[test]
    fn without_a_seal_nothing_tells_what_has_changed() {
        let (header, tail) = (header(), [7; 60]);
        let stored = Fingerprint::of(&header, &tail);
        let parts = |tail| Parts { header: &header, tail, place: Place::Nowhere };
        assert_eq!(parts(&tail).compare(stored), Match::Whole);
        assert_eq!(parts(&[8; 60]).compare(stored), Match::Unknown);
        let damaged = Parts { place: Place::Before(&[0; RECORD]), ..parts(&[8; 60]) };
        assert_eq!(damaged.compare(stored), Match::None);
    }
}
