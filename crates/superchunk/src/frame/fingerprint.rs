//! Checksums where C-Blosc2 ignores them: the fingerprint of the trailer, and a suffix behind every
//! chunk.
//!
//! ```text
//! trailer, last 17 bytes      behind a chunk, in space that belongs to none
//! ┌────┬──────────────────┐   ┌────────┬─────────────┬──────────────┐
//! │ 03 │ seal  │ loose    │   │ "B2X3" │ cbytes: u32 │ XXH3-64: u64 │   little endian
//! └────┴───────┴──────────┘   └────────┴─────────────┴──────────────┘
//! ```
//!
//! The fingerprint is two hashes, XXH3-64. The *seal* covers header, index and trailer (with the 16
//! bytes of the fingerprint as zeros) but for what is *loose*: the numbers of threads and the contents
//! of the metalayers in the header. C-Blosc2 resets the fingerprint with every change but one: when it
//! gives a metalayer other bytes, as a resize of an array may do, it writes the header alone. So a loose
//! part that does not match only tells that the frame is no longer as we left it.

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use crate::error::{Error, Result};

/// The bytes behind a chunk.
pub(super) const SUFFIX: usize = 16;
const TAG: &[u8; 4] = b"B2X3";
/// The type of fingerprints with 128 bits; the only one that we know how it was made.
const BITS_128: u8 = 3;
/// Where the fingerprint begins, from the end of the frame.
const STORED: usize = 17;

/// Where the header tells of threads, which is the business of the last writer only.
const THREADS: [std::ops::Range<usize>; 2] = [63..65, 66..68];
/// Where the section of metalayers begins, and its length up to the contents is stated.
const SECTION: usize = 87;

/// The hashes of header, index and trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; 16]);

/// How a stored fingerprint and the one of the bytes compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// Nothing was changed.
    Whole,
    /// At most threads and metalayers were changed.
    Seal,
    /// Something else was changed.
    None,
}

impl Fingerprint {
    /// A stored fingerprint of a known type.
    pub(super) fn parse(kind: u8, bytes: [u8; 16]) -> Option<Self> {
        (kind == BITS_128).then_some(Self(bytes))
    }

    /// The last 17 bytes of a frame.
    pub(super) fn stored(fingerprint: Option<Self>) -> [u8; STORED] {
        let mut out = [0; STORED];
        if let Some(Self(bytes)) = fingerprint {
            let mut source = std::iter::once(BITS_128).chain(bytes);
            out.fill_with(|| source.next().unwrap_or(0));
        }
        out
    }

    /// The fingerprint of `header`, and of `tail`: the index and, last, the trailer.
    pub(super) fn of(header: &[u8], tail: &[u8]) -> Self {
        let (mut seal, mut loose) = (XxHash3_64::new(), XxHash3_64::new());
        let mut position = 0;
        let contents = contents_of(header)..header.len();
        for range in THREADS.into_iter().chain([contents]) {
            seal.write(header.get(position..range.start).unwrap_or_default());
            loose.write(header.get(range.clone()).unwrap_or_default());
            position = range.end;
        }
        seal.write(tail.get(..tail.len().saturating_sub(STORED)).unwrap_or_default());
        seal.write(&[BITS_128]);
        seal.write(&[0; 16]);
        let mut bytes = [0; 16];
        let hashes = seal.finish().to_be_bytes().into_iter().chain(loose.finish().to_be_bytes());
        bytes.iter_mut().zip(hashes).for_each(|(byte, hash)| *byte = hash);
        Self(bytes)
    }

    /// Compares a stored fingerprint with this one, which is that of the bytes.
    pub(super) fn compare(self, stored: Self) -> Match {
        match (self == stored, self.0.first_chunk::<8>() == stored.0.first_chunk::<8>()) {
            (true, _) => Match::Whole,
            (_, true) => Match::Seal,
            _ => Match::None,
        }
    }
}

/// Where the contents of the metalayers begin in a header: behind their names.
fn contents_of(header: &[u8]) -> usize {
    let stated = header.get(SECTION + 2..).and_then(|rest| rest.first_chunk::<2>());
    let names = stated.map_or(0, |stated| usize::from(u16::from_be_bytes(*stated)));
    (SECTION + names).min(header.len())
}

/// The checksum of a chunk.
pub(super) fn chunk_hash(chunk: &[u8]) -> u64 {
    XxHash3_64::oneshot(chunk)
}

/// Compares a chunk with the checksum that is stated for it.
pub(super) fn compare_hash(stated: Option<u64>, chunk: &[u8]) -> Result<()> {
    if stated == Some(chunk_hash(chunk)) {
        return Ok(());
    }
    Err(Error::corrupt("the chunk does not have the checksum that it was written with"))
}

/// Appends the suffix of the chunk that is all of `chunk`.
pub(super) fn append_suffix(chunk: &mut Vec<u8>) {
    let hash = chunk_hash(chunk);
    let len = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
    chunk.extend(TAG);
    chunk.extend(len.to_le_bytes());
    chunk.extend(hash.to_le_bytes());
}

/// The checksum that the bytes behind a chunk of `len` bytes state, if they are a suffix of it.
pub(super) fn stated_hash(len: usize, behind: &[u8]) -> Option<u64> {
    let (tag, rest) = behind.split_first_chunk::<4>()?;
    let (stated, rest) = rest.split_first_chunk::<4>()?;
    let hash = rest.first_chunk::<8>()?;
    let fits = usize::try_from(u32::from_le_bytes(*stated)).is_ok_and(|stated| stated == len);
    (tag == TAG && fits).then(|| u64::from_le_bytes(*hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_xxh3() {
        // The value of the empty input with seed 0, from the XXH3 specification.
        assert_eq!(chunk_hash(b""), 0x2d06_8005_38d3_94c2);
    }

    /// The empty frame of `docs/formats/cframe.md`.
    #[test]
    fn the_fingerprint_is_that_of_the_document() {
        let header = "9ea862326672616d6500d200000061cf0000000000000084a412005102d30000000000000000\
                      d30000000000000000d200000004d200000000d2ffffffffd10001d10001c2d8060000000000\
                      010100000000000000000093cd0007de0000dc0000";
        let trailer = "940193cd0006de0000dc0000ce00000023d803";
        let digits = |text: &str| -> Vec<u8> {
            let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
            digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
        };
        let (header, mut trailer) = (digits(header), digits(trailer));
        assert_eq!((header.len(), trailer.len()), (97, 19));
        trailer.extend([0; 16]);
        let expected = digits("24d150cecefa5635fcdc32095baf1619");
        assert_eq!(Fingerprint::of(&header, &trailer).0.to_vec(), expected);
    }

    #[test]
    fn threads_and_metalayers_are_loose_and_all_else_is_sealed() {
        // A header with one metalayer `a` of two bytes; what is not looked at is zero.
        let mut header = vec![0; SECTION];
        header.extend(*b"\x93\xcd\0\x0e\xde\0\x01\xa1a\xd2\0\0\0\x68\xdc\0\x01\xc6\0\0\0\x02xy");
        let tail = [7; 40];
        let whole = Fingerprint::of(&header, &tail);
        for at in 0..header.len() {
            let mut changed = header.clone();
            changed[at] ^= 1;
            let loose = THREADS.iter().any(|range| range.contains(&at)) || at >= SECTION + 14;
            // The length of the names decides what is loose: it is sealed, and so are they.
            let expected = if loose { Match::Seal } else { Match::None };
            assert_eq!(Fingerprint::of(&changed, &tail).compare(whole), expected, "byte {at}");
        }
        assert_eq!(whole.compare(whole), Match::Whole);
        assert_eq!(Fingerprint::of(&header, &[8; 40]).compare(whole), Match::None);
    }

    #[test]
    fn a_suffix_belongs_to_chunks_of_its_length_only() {
        let mut chunk = b"chunk".to_vec();
        append_suffix(&mut chunk);
        assert_eq!(chunk.len(), 5 + SUFFIX);
        assert_eq!(stated_hash(5, &chunk[5..]), Some(chunk_hash(b"chunk")));
        assert_eq!(stated_hash(6, &chunk[5..]), None);
        assert_eq!(stated_hash(5, &chunk[5..20]), None);
    }
}
