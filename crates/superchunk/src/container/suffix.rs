//! A checksum behind a chunk, in bytes that belong to none: other programs skip it, and lose it when
//! they write the chunk anew.
//!
//! ```text
//! ┌────────┬─────────────┬──────────────┐
//! │ "B2X3" │ cbytes: u32 │ XXH3-64: u64 │   little endian
//! └────────┴─────────────┴──────────────┘
//! ```

use twox_hash::XxHash3_64;

use crate::error::{Error, Result};

/// The bytes behind a chunk.
pub(crate) const SUFFIX: usize = 16;
const TAG: &[u8; 4] = b"B2X3";

/// The checksum of a chunk.
pub(crate) fn chunk_hash(chunk: &[u8]) -> u64 {
    XxHash3_64::oneshot(chunk)
}

/// Compares a chunk with the checksum that is stated for it.
pub(crate) fn compare_hash(stated: Option<u64>, chunk: &[u8]) -> Result<()> {
    if stated == Some(chunk_hash(chunk)) {
        return Ok(());
    }
    Err(Error::corrupt("the chunk does not have the checksum that it was written with"))
}

/// Appends the suffix of the chunk that is all of `chunk`.
pub(crate) fn append_suffix(chunk: &mut Vec<u8>) {
    let hash = chunk_hash(chunk);
    let len = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
    chunk.extend(TAG);
    chunk.extend(len.to_le_bytes());
    chunk.extend(hash.to_le_bytes());
}

/// The checksum that the bytes behind a chunk of `len` bytes state, if they are a suffix of it.
pub(crate) fn stated_hash(len: usize, behind: &[u8]) -> Option<u64> {
    let (tag, rest) = behind.split_first_chunk::<4>()?;
    let (stated, rest) = rest.split_first_chunk::<4>()?;
    let hash = rest.first_chunk::<8>()?;
    let fits = usize::try_from(u32::from_le_bytes(*stated)).is_ok_and(|stated| stated == len);
    (tag == TAG && fits).then(|| u64::from_le_bytes(*hash))
}

/// Compares a chunk with the suffix behind it; `None` where there is none, because the chunk never had
/// one, or another program has written it.
pub(crate) fn check_suffix(chunk: &[u8], behind: &[u8]) -> Option<Result<()>> {
    let stated = stated_hash(chunk.len(), behind)?;
    Some(compare_hash(Some(stated), chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashes_are_xxh3() {
        // The value of the empty input with seed 0, from the XXH3 specification.
        assert_eq!(chunk_hash(b""), 0x2d06_8005_38d3_94c2);
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
