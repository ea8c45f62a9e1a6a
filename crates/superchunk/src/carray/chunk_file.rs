//! The file of a chunk: a Bloscpack header of version 1, then one Blosc1 chunk, and of this library a
//! checksum, which bcolz skips.
//!
//! ```text
//! 0    4    5        8                16
//! ┌────┬────┬────────┬─────────────────┬─────────┬────────────────────────
//! │blpk│ 01 │reserved│ nchunks = 1, i64│ chunk … │ suffix, 16 bytes
//! └────┴────┴────────┴─────────────────┴─────────┴────────────────────────
//! ```

use crate::error::{Error, Result};
use crate::wire::Reader;

/// The bytes before the chunk.
pub(crate) const HEADER_LEN: usize = 16;
/// The header of every chunk file.
pub(super) const HEADER: [u8; HEADER_LEN] = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";

/// The name of the file of chunk `number`.
pub(crate) fn chunk_name(number: u64) -> String {
    format!("__{number}.blp")
}

/// Checks the start of a chunk file, of which `bytes` are the first [`HEADER_LEN`] or all.
pub(crate) fn check_header(bytes: &[u8]) -> Result<()> {
    let mut reader = Reader::new("bcolz chunk file", bytes);
    let wrong =
        |words: String, field, at| Err(Error::corrupt(words).at("bcolz chunk file", field, at));
    let magic: [u8; 4] = reader.array("magic")?;
    if magic != *b"blpk" {
        return wrong("it does not begin with `blpk`".to_owned(), "magic", 0);
    }
    let version = reader.u8("version")?;
    if version != 1 {
        return wrong(format!("the version is {version}, chunk files have 1"), "version", 4);
    }
    reader.take("reserved", 3)?;
    let chunks = reader.i64("nchunks")?;
    if chunks != 1 {
        return wrong(format!("it states {chunks} chunks, it has one"), "nchunks", 8);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn only_the_header_of_one_chunk_is_accepted() {
        check_header(&HEADER).unwrap();
        let mut reserved = HEADER;
        reserved[6] = 9;
        check_header(&reserved).unwrap();
        for at in [0, 3, 4, 8, 15] {
            let mut header = HEADER;
            header[at] ^= 2;
            assert_eq!(check_header(&header).unwrap_err().kind(), ErrorKind::Corrupt, "{at}");
        }
        for len in 0..HEADER_LEN {
            let error = check_header(&HEADER[..len]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated);
        }
    }
}
