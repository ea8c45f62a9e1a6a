//! Chunk files beyond the length of an array: what a writer that was stopped has left.

use super::chunk_file::{HEADER_LEN, chunk_name};
use crate::chunk::Header;
use crate::container::{SUFFIX, stated_hash};
use crate::error::Result;
use crate::store::{Dir, ReadAt};
use crate::wire;

/// Removes the chunk files that a writer of this library has left in `data`, of which `count` chunks
/// are counted. Returns their names.
pub(crate) fn remove_beyond(data: &dyn Dir, count: u64) -> Result<Vec<String>> {
    let is_beyond = |name: &String| chunk_number(name).is_some_and(|number| number >= count);
    let mut removed = Vec::new();
    for name in data.names()?.into_iter().filter(is_beyond) {
        if is_debris(data.open(&name)?.as_ref())? {
            data.remove(&name)?;
            removed.push(name);
        }
    }
    Ok(removed)
}

/// Whether nobody else has written this file and relies on it: it is not whole, or has the checksum
/// that only this library adds. bcolz counts the chunks that it writes later.
fn is_debris(file: &dyn ReadAt) -> Result<bool> {
    let mut start = [0; HEADER_LEN + 16];
    let found = file.read_at(0, &mut start)?;
    let chunk = wire::filled(&start, found)?.get(HEADER_LEN..);
    let Some(Ok(header)) = chunk.map(Header::parse) else { return Ok(true) };
    let (end, mut behind) = ((HEADER_LEN + header.compressed_len()) as u64, [0; SUFFIX]);
    let found = file.read_at(end, &mut behind)?;
    let is_ours = stated_hash(header.compressed_len(), wire::filled(&behind, found)?).is_some();
    Ok(is_ours || file.len()? < end)
}

/// The number of the chunk whose file has this name.
fn chunk_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("__")?.strip_suffix(".blp")?.parse().ok()?;
    (chunk_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_number_in_one_form() {
        assert_eq!(chunk_number(&chunk_name(17)), Some(17));
        for other in ["__017.blp", "__+1.blp", "__.blp", "_1.blp", "__1.blp.new", ".b2new.0"] {
            assert_eq!(chunk_number(other), None, "{other}");
        }
    }
}
