//! The stream codecs of the second opinion.
//!
//! BloscLZ, LZ4 and Snappy are written out here, byte by byte. zlib and zstd go through crates that
//! the library itself does not use.

#![expect(
    clippy::indexing_slicing,
    reason = "input is read through `bytes`; a match source was checked to lie inside the output"
)]

use ruzstd::decoding::Dictionary;

use super::bytes;

/// Stored bytes to exactly `size` bytes. As many stored bytes as that are the bytes themselves.
pub(super) fn decode(format: u8, data: &[u8], size: usize, dict: &[u8]) -> Result<Vec<u8>, String> {
    if data.len() == size {
        return Ok(data.to_vec());
    }
    let out = match format {
        0 => blosclz(data, size),
        1 => lz4(data, size, dict),
        2 => snappy(data, size),
        3 => miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(data, size)
            .map_err(|e| e.to_string()),
        4 => zstd(data, size, dict),
        id => Err(format!("codec format {id} is not supported")),
    }?;
    if out.len() == size {
        Ok(out)
    } else {
        Err(format!("a stream gave {} bytes, not {size}", out.len()))
    }
}

fn zstd(data: &[u8], size: usize, dict: &[u8]) -> Result<Vec<u8>, String> {
    let trained = dict.starts_with(&[0x37, 0xa4, 0x30, 0xec]);
    if !trained && !dict.is_empty() {
        let all = zstd(&with_raw_dictionary(data, dict)?, dict.len() + size, &[])?;
        return Ok(bytes(&all, dict.len(), all.len().saturating_sub(dict.len()))?.to_vec());
    }
    let decode = || {
        let mut decoder = ruzstd::decoding::FrameDecoder::new();
        if trained {
            let dict = Dictionary::decode_dict(dict).map_err(|e| format!("{e:?}"))?;
            decoder.add_dict(dict).map_err(|e| e.to_string())?;
        }
        let mut out = vec![0; size];
        let produced = decoder.decode_all(data, &mut out).map_err(|e| e.to_string())?;
        out.truncate(produced);
        Ok(out)
    };
    // The crate panics on some damaged dictionaries.
    std::panic::catch_unwind(decode).unwrap_or_else(|_| Err("the zstd decoder panicked".into()))
}

/// The frame that says "first these raw bytes, then the blocks of that frame". Content that stands
/// before the data is all that a raw dictionary is.
fn with_raw_dictionary(frame: &[u8], dict: &[u8]) -> Result<Vec<u8>, String> {
    let descriptor = bytes(frame, 0, 5)?[4];
    let single_segment = descriptor & 0x20 != 0;
    let id_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_len = [usize::from(single_segment), 2, 4, 8][usize::from(descriptor >> 6)];
    let blocks = 5 + usize::from(!single_segment) + id_len + size_len;
    let checksum = if descriptor & 0x04 != 0 { 4 } else { 0 };
    let blocks_len = frame.len().checked_sub(blocks + checksum).ok_or("zstd frame is cut")?;
    let raw_block = u32::try_from(dict.len() << 3).map_err(|e| e.to_string())?;
    // No content size, no checksum, a window of 32 MiB; then a raw block that is not the last.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 15 << 3];
    out.extend_from_slice(&raw_block.to_le_bytes()[..3]);
    out.extend_from_slice(dict);
    out.extend_from_slice(bytes(frame, blocks, blocks_len)?);
    Ok(out)
}

/// The raw Snappy format: the length as a varint, then literals and copies.
fn snappy(data: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let (mut at, mut len, mut shift) = (0, 0, 0);
    loop {
        let byte = bytes(data, at, 1)?[0];
        len |= u64::from(byte & 0x7f) << shift;
        (at, shift) = (at + 1, shift + 7);
        if byte < 0x80 || shift > 28 {
            break;
        }
    }
    if len != size as u64 {
        return Err(format!("snappy states {len} bytes, not {size}"));
    }
    let mut out = Vec::new();
    while at < data.len() {
        let tag = usize::from(data[at]);
        at += 1;
        let field = |len| little_endian(data, at, len);
        let (len, distance, used) = match (tag & 3, tag >> 2) {
            (0, short @ 0..60) => (short + 1, 0, 0),
            (0, long) => (field(long - 59)? + 1, 0, long - 59),
            (1, rest) => ((rest & 7) + 4, (rest >> 3 << 8) + field(1)?, 1),
            (2, rest) => (rest + 1, field(2)?, 2),
            (_, rest) => (rest + 1, field(4)?, 4),
        };
        at += used;
        if tag & 3 == 0 {
            out.extend_from_slice(bytes(data, at, len)?);
            at += len;
        } else {
            copy_match(&mut out, distance, len, size)?;
        }
    }
    Ok(out)
}

fn little_endian(data: &[u8], at: usize, len: usize) -> Result<usize, String> {
    let digits = bytes(data, at, len)?;
    Ok(digits.iter().rev().fold(0, |value, byte| value * 256 + usize::from(*byte)))
}

/// The token loop of blosclz.md.
fn blosclz(data: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut at = 1;
    let mut control = usize::from(bytes(data, 0, 1)?[0] & 0x1f);
    loop {
        if control < 32 {
            out.extend_from_slice(bytes(data, at, control + 1)?);
            at += control + 1;
        } else {
            let (mut len, high) = ((control >> 5) + 2, control & 31);
            if control >> 5 == 7 {
                loop {
                    let extension = bytes(data, at, 2)?[0]; // one more byte must follow
                    len += usize::from(extension);
                    at += 1;
                    if extension != 255 {
                        break;
                    }
                }
            }
            let low = usize::from(bytes(data, at, 2)?[0]);
            at += 1;
            let mut distance = high * 256 + low + 1;
            if distance == 8192 {
                let far = bytes(data, at, 3)?; // the pair, and the token after it
                distance += usize::from(far[0]) * 256 + usize::from(far[1]);
                at += 2;
            }
            copy_match(&mut out, distance, len, size)?;
        }
        if out.len() > size {
            return Err("a BloscLZ stream is longer than its block".into());
        }
        match data.get(at) {
            Some(byte) => control = usize::from(*byte),
            None => return Ok(out),
        }
        at += 1;
    }
}

/// The LZ4 block format; the dictionary is what stands before the first byte.
fn lz4(data: &[u8], size: usize, dict: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = dict.to_vec();
    let limit = dict.len() + size;
    let mut at = 0;
    loop {
        let token = usize::from(bytes(data, at, 1)?[0]);
        at += 1;
        let literals = lz4_length(data, &mut at, token >> 4)?;
        out.extend_from_slice(bytes(data, at, literals)?);
        at += literals;
        if at == data.len() {
            return Ok(out.split_off(dict.len()));
        }
        let offset = bytes(data, at, 2)?;
        let distance = usize::from(offset[0]) + usize::from(offset[1]) * 256;
        at += 2;
        let len = lz4_length(data, &mut at, token & 15)? + 4;
        copy_match(&mut out, distance, len, limit)?;
    }
}

fn lz4_length(data: &[u8], at: &mut usize, nibble: usize) -> Result<usize, String> {
    let mut len = nibble;
    let mut more = nibble == 15;
    while more {
        let byte = bytes(data, *at, 1)?[0];
        *at += 1;
        len += usize::from(byte);
        more = byte == 255;
    }
    Ok(len)
}

/// Repeats what stands `distance` bytes back, one byte at a time: overlap makes runs.
fn copy_match(out: &mut Vec<u8>, distance: usize, len: usize, limit: usize) -> Result<(), String> {
    if distance == 0 || distance > out.len() || len > limit.saturating_sub(out.len()) {
        return Err(format!("match of {len} bytes, {distance} back, after {} bytes", out.len()));
    }
    for _ in 0..len {
        out.push(out[out.len() - distance]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::hex;
    use super::*;

    #[test]
    fn blosclz_example_of_the_document_decodes() {
        let out = blosclz(&hex("23 00000000 e06d03 02 000001"), 125).unwrap();
        let mut expected = vec![0; 124];
        expected.push(1);
        assert_eq!(out, expected);
    }

    #[test]
    fn blosclz_must_end_in_literals() {
        assert!(blosclz(&hex("20 61 20 00"), 4).is_err());
        assert_eq!(blosclz(&hex("20 61 20 00 00 62"), 5).unwrap(), b"aaaab");
    }

    #[test]
    fn snappy_literals_and_copies_decode() {
        // "abcd" as a literal, 8 bytes from 4 back, then "!" as a literal.
        assert_eq!(snappy(&hex("0d 0c 61626364 1104 00 21"), 13).unwrap(), b"abcdabcdabcd!");
    }

    #[test]
    fn lz4_matches_reach_into_the_dictionary() {
        // No literals, 5 bytes from 6 back, then the literal "!".
        assert_eq!(lz4(&hex("01 0600 10 21"), 6, b"abcdef").unwrap(), b"abcde!");
        assert!(lz4(&hex("01 0700 10 21"), 6, b"abcdef").is_err());
    }
}
