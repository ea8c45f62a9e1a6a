//! The index: a chunk of 64-bit little-endian entries, one for each chunk of the frame.

use crate::chunk::{self, Decoder, Output};
use crate::container::{Entry, MAX_CHUNKS};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::options::CompressOptions;

/// Decodes the index chunk at the start of `bytes`. `count` is the number of chunks that the header
/// tells; when it does not tell, the index does.
pub(super) fn parse(bytes: &[u8], count: Option<u64>, limits: &Limits) -> Result<Vec<Entry>> {
    let header = chunk::Header::parse(bytes).map_err(of_index)?;
    let len = header.len();
    let found = (len / 8) as u64;
    if !len.is_multiple_of(8) || count.is_some_and(|count| count != found) {
        let wanted = count.map_or("whole entries".into(), |count| format!("{count} entries of 8"));
        return Err(of_index(Error::corrupt(format!("{len} bytes are not {wanted} bytes"))));
    }
    limits.check_metadata("index", len as u64)?;
    let mut entries: Vec<u64> = bytemuck::zeroed_vec(len / 8);
    let mut decoder = Decoder::new().with_limits(*limits);
    decoder.for_output(Output::ReadAtOnce);
    decoder.decompress_into(bytes, bytemuck::cast_slice_mut(&mut entries)).map_err(of_index)?;
    Ok(entries.into_iter().map(|entry| Entry(u64::from_le(entry))).collect())
}

/// The index chunk of `entries`; nothing when there are none.
pub(super) fn to_bytes(entries: &[Entry]) -> Result<Vec<u8>> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    if entries.len() > MAX_CHUNKS {
        return Err(Error::limit(format!("a frame has at most {MAX_CHUNKS} chunks")));
    }
    let stored: Vec<u64> = entries.iter().map(|entry| entry.0.to_le()).collect();
    chunk::compress(bytemuck::cast_slice(&stored), &CompressOptions::new(8))
}

fn of_index(error: Error) -> Error {
    Error::new(error.kind(), format!("it cannot be read: {error}")).at("frame", "index", 0)
}
