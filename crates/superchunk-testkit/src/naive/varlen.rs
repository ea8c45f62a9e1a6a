//! The naive reader of Bloscpack files of objects: every object by its offset alone.
//!
//! ```text
//! 0     4   5       6          7  8          12           16      24        28      32
//! | blpk | 4 | options | checksum | t | chunk_size | last_chunk | nchunks | meta_size | 0 | metadata | offsets
//! ```

/// Decodes all objects of a file, and checks what `docs/formats/bloscpack.md` demands of it.
///
/// # Errors
/// A sentence that says what is wrong with the file.
pub fn objects(file: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let header: [u8; 32] = *file.first_chunk().ok_or("no header")?;
    if !header.starts_with(b"blpk\x04") || header[5] & 0b101 != 0b101 {
        return Err("not a file of objects".to_owned());
    }
    let digest =
        *[0, 4, 4, 16, 20, 28, 32, 48, 64].get(usize::from(header[6])).ok_or("unknown checksum")?;
    let (count, meta) = (number(&header, 16, 8)?, number(&header, 24, 4)?);
    let table = 32 + meta;
    let mut objects = Vec::new();
    let mut free_from = table + 8 * count;
    for index in 0..count {
        let at = number(file, table + 8 * index, 8)?;
        if at < free_from {
            return Err(format!("object {index} at {at} begins before byte {free_from}"));
        }
        let len = number(file, at + 12, 4)?;
        let chunk = file.get(at..at + len).ok_or("the file ends inside of a chunk")?;
        if chunk.first() != Some(&2) {
            return Err(format!("object {index} at {at} is not a chunk of Blosc1"));
        }
        free_from = at + len + digest;
        let stored = file.get(at + len..free_from).ok_or("the file ends inside of a digest")?;
        if header[6] == 1 && stored != adler32(chunk).to_le_bytes() {
            return Err(format!("the digest of object {index} at {at} is wrong"));
        }
        objects.push(super::decompress(chunk)?);
    }
    let last = i32::from_le_bytes([header[12], header[13], header[14], header[15]]);
    match objects.last() {
        Some(object) if last != -1 && usize::try_from(last) != Ok(object.len()) => {
            Err(format!("the last object has {} bytes, not {last}", object.len()))
        }
        _ => Ok(objects),
    }
}

fn number(bytes: &[u8], at: usize, len: usize) -> Result<usize, String> {
    let found = bytes.get(at..at + len).ok_or_else(|| format!("no {len} bytes at {at}"))?;
    let value = found.iter().rev().fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
    let bounded = usize::try_from(value).ok().filter(|value| *value < 1 << 40);
    bounded.ok_or_else(|| format!("the number at {at} is {value}"))
}

/// The checksum of RFC 1950.
fn adler32(bytes: &[u8]) -> u32 {
    let sums = bytes.iter().fold((1, 0), |(a, b): (u32, u32), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    sums.1 << 16 | sums.0
}
