//! A row that is a Python object: a chunk file of its own, whose chunk holds the pickle.

use super::chunk_file::{HEADER, HEADER_LEN, check_header, chunk_name};
use super::home::{Home, as_damage};
use crate::chunk::{Decoder, Header};
use crate::error::{Error, Result};
use crate::limits::Limits;

/// The pickle of row `row`.
pub(crate) fn read_object(home: &Home, row: u64, limits: &Limits) -> Result<Vec<u8>> {
    let name = chunk_name(row);
    read(home, &name, limits).map_err(|error| error.within(format!("{}/data/{name}", home.name())))
}

/// The file of the object of row `row`, which `chunk` holds: its name and its content.
pub(crate) fn object_file(row: u64, chunk: &[u8]) -> (String, Vec<u8>) {
    (chunk_name(row), [HEADER.as_slice(), chunk].concat())
}

fn read(home: &Home, name: &str, limits: &Limits) -> Result<Vec<u8>> {
    let file = home.data()?.open(name).map_err(as_damage)?;
    let mut start = [0; HEADER_LEN + 16];
    let found = file.read_at(0, &mut start)?;
    let start = start.get(..found).unwrap_or_default();
    check_header(start)?;
    let header = Header::parse(start.get(HEADER_LEN..).unwrap_or_default())?;
    limits.check_decoded(header.len())?;
    let len = header.compressed_len();
    // The file has to be as long as the chunk says before memory is taken for it.
    if file.len()? < (HEADER_LEN + len) as u64 {
        return Err(Error::truncated(format!("the chunk has {len} bytes, the file fewer"))
            .at("chunk", "cbytes", 12));
    }
    let mut chunk = vec![0; len];
    file.read_exact_at(HEADER_LEN as u64, &mut chunk)?;
    Decoder::new().with_limits(*limits).decompress(&chunk)
}
