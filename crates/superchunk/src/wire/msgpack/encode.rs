//! Values to MessagePack, each part in its shortest form.

use super::{EXT_COMPLEX, EXT_SET, TUPLE_MARK, Value};
use crate::error::{Error, Result};

/// The ways to write a length: in the first byte itself (its base and the longest that fits), or
/// in 8, 16 or 32 bits behind a first byte.
struct Codes {
    inside: Option<(u8, u8)>,
    with_8: Option<u8>,
    with_16: u8,
    with_32: u8,
}

const MAP: Codes = Codes { inside: Some((0x80, 15)), with_8: None, with_16: 0xde, with_32: 0xdf };
const ARRAY: Codes = Codes { inside: Some((0x90, 15)), with_8: None, with_16: 0xdc, with_32: 0xdd };
const STR: Codes =
    Codes { inside: Some((0xa0, 31)), with_8: Some(0xd9), with_16: 0xda, with_32: 0xdb };
const BIN: Codes = Codes { inside: None, with_8: Some(0xc4), with_16: 0xc5, with_32: 0xc6 };
const EXT: Codes = Codes { inside: None, with_8: Some(0xc7), with_16: 0xc8, with_32: 0xc9 };

/// The bytes of a value.
pub(super) fn encode(value: &Value) -> Result<Vec<u8>> {
    value.check_depth()?;
    let mut out = Vec::new();
    write(&mut out, value)?;
    Ok(out)
}

/// Appends text. After an error `out` is as it was.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) -> Result<()> {
    write_length(out, text.len(), &STR)?;
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Appends bytes. After an error `out` is as it was.
pub(crate) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    write_length(out, bytes.len(), &BIN)?;
    out.extend_from_slice(bytes);
    Ok(())
}

/// Appends the beginning of a list of so many values.
pub(crate) fn write_array_head(out: &mut Vec<u8>, count: usize) -> Result<()> {
    write_length(out, count, &ARRAY)
}

fn write(out: &mut Vec<u8>, value: &Value) -> Result<()> {
    match value {
        Value::Nil => out.push(0xc0),
        Value::Bool(value) => out.push(if *value { 0xc3 } else { 0xc2 }),
        Value::Int(value) => match u64::try_from(*value) {
            Ok(value) => write_unsigned(out, value),
            Err(_) => write_negative(out, *value),
        },
        Value::Uint(value) => write_unsigned(out, *value),
        Value::Float(value) => {
            out.push(0xcb);
            out.extend_from_slice(&value.to_be_bytes());
        }
        Value::Str(text) => write_text(out, text)?,
        Value::Bin(bytes) => write_bytes(out, bytes)?,
        Value::Array(items) => write_array(out, None, items)?,
        Value::Tuple(items) => write_array(out, Some(TUPLE_MARK), items)?,
        Value::Map(entries) => {
            write_length(out, entries.len(), &MAP)?;
            for (key, value) in entries {
                write(out, key)?;
                write(out, value)?;
            }
        }
        Value::Set(items) => {
            let mut payload = Vec::new();
            write_array(&mut payload, None, items)?;
            write_ext(out, EXT_SET, &payload)?;
        }
        Value::Complex(real, imaginary) => {
            let mut payload = real.to_be_bytes().to_vec();
            payload.extend_from_slice(&imaginary.to_be_bytes());
            write_ext(out, EXT_COMPLEX, &payload)?;
        }
        Value::Ext(number, payload) => write_ext(out, *number, payload)?,
    }
    Ok(())
}

fn write_unsigned(out: &mut Vec<u8>, value: u64) {
    if let Ok(value) = u8::try_from(value) {
        if value > 0x7f {
            out.push(0xcc);
        }
        out.push(value);
    } else if let Ok(value) = u16::try_from(value) {
        out.push(0xcd);
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Ok(value) = u32::try_from(value) {
        out.push(0xce);
        out.extend_from_slice(&value.to_be_bytes());
    } else {
        out.push(0xcf);
        out.extend_from_slice(&value.to_be_bytes());
    }
}

fn write_negative(out: &mut Vec<u8>, value: i64) {
    if let Ok(value) = i8::try_from(value) {
        // From -32 on, the two's complement itself is the first byte.
        if value < -32 {
            out.push(0xd0);
        }
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Ok(value) = i16::try_from(value) {
        out.push(0xd1);
        out.extend_from_slice(&value.to_be_bytes());
    } else if let Ok(value) = i32::try_from(value) {
        out.push(0xd2);
        out.extend_from_slice(&value.to_be_bytes());
    } else {
        out.push(0xd3);
        out.extend_from_slice(&value.to_be_bytes());
    }
}

fn write_array(out: &mut Vec<u8>, mark: Option<&str>, items: &[Value]) -> Result<()> {
    let count = items.len() + usize::from(mark.is_some());
    write_array_head(out, count)?;
    if let Some(mark) = mark {
        write_length(out, mark.len(), &STR)?;
        out.extend_from_slice(mark.as_bytes());
    }
    items.iter().try_for_each(|item| write(out, item))
}

fn write_ext(out: &mut Vec<u8>, number: i8, payload: &[u8]) -> Result<()> {
    match payload.len() {
        1 => out.push(0xd4),
        2 => out.push(0xd5),
        4 => out.push(0xd6),
        8 => out.push(0xd7),
        16 => out.push(0xd8),
        len => write_length(out, len, &EXT)?,
    }
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(payload);
    Ok(())
}

/// Writes the first byte of a part and its length, in the narrowest way that holds it.
fn write_length(out: &mut Vec<u8>, len: usize, codes: &Codes) -> Result<()> {
    match (u8::try_from(len), codes.inside, codes.with_8) {
        (Ok(len), Some((base, most)), _) if len <= most => out.push(base | len),
        (Ok(len), _, Some(code)) => out.extend_from_slice(&[code, len]),
        _ => {
            if let Ok(len) = u16::try_from(len) {
                out.push(codes.with_16);
                out.extend_from_slice(&len.to_be_bytes());
            } else {
                let len = u32::try_from(len).map_err(|_| too_long(len))?;
                out.push(codes.with_32);
                out.extend_from_slice(&len.to_be_bytes());
            }
        }
    }
    Ok(())
}

#[cold]
fn too_long(len: usize) -> Error {
    Error::limit(format!("MessagePack has no place for a part of length {len}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes that the MessagePack specification lists, at both ends of each range.
    #[test]
    fn every_part_takes_its_shortest_form() {
        let integers: [(Value, &[u8]); 18] = [
            (0i64.into(), &[0x00]),
            (127i64.into(), &[0x7f]),
            (128i64.into(), &[0xcc, 0x80]),
            (255i64.into(), &[0xcc, 0xff]),
            (256i64.into(), &[0xcd, 0x01, 0x00]),
            (65535i64.into(), &[0xcd, 0xff, 0xff]),
            (65536i64.into(), &[0xce, 0x00, 0x01, 0x00, 0x00]),
            (0xffff_ffffu64.into(), &[0xce, 0xff, 0xff, 0xff, 0xff]),
            (0x1_0000_0000u64.into(), &[0xcf, 0, 0, 0, 1, 0, 0, 0, 0]),
            (u64::MAX.into(), &[0xcf, 255, 255, 255, 255, 255, 255, 255, 255]),
            (Value::Int(-1), &[0xff]),
            (Value::Int(-32), &[0xe0]),
            (Value::Int(-33), &[0xd0, 0xdf]),
            (Value::Int(-128), &[0xd0, 0x80]),
            (Value::Int(-129), &[0xd1, 0xff, 0x7f]),
            (Value::Int(-32769), &[0xd2, 0xff, 0xff, 0x7f, 0xff]),
            (Value::Int(-2147483649), &[0xd3, 255, 255, 255, 255, 0x7f, 255, 255, 255]),
            (Value::Int(i64::MIN), &[0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        ];
        for (value, bytes) in integers {
            assert_eq!(encode(&value).unwrap(), bytes, "{value:?}");
        }
    }

    #[test]
    fn lengths_move_to_wider_forms_at_the_ends_of_the_ranges() {
        type Make = fn(usize) -> Value;
        let text: Make = |len| Value::Str("a".repeat(len));
        let bin: Make = |len| Value::Bin(vec![7; len]);
        let array: Make = |len| Value::Array(vec![Value::Nil; len]);
        let map: Make = |len| Value::Map(vec![(Value::Nil, Value::Nil); len]);
        let ext: Make = |len| Value::Ext(-3, vec![7; len]);
        let cases: [(Make, usize, &[u8]); 24] = [
            (text, 0, &[0xa0]),
            (text, 31, &[0xbf]),
            (text, 32, &[0xd9, 32]),
            (text, 255, &[0xd9, 255]),
            (text, 256, &[0xda, 1, 0]),
            (text, 65536, &[0xdb, 0, 1, 0, 0]),
            (bin, 0, &[0xc4, 0]),
            (bin, 256, &[0xc5, 1, 0]),
            (bin, 65536, &[0xc6, 0, 1, 0, 0]),
            (array, 15, &[0x9f]),
            (array, 16, &[0xdc, 0, 16]),
            (array, 65536, &[0xdd, 0, 1, 0, 0]),
            (map, 15, &[0x8f]),
            (map, 16, &[0xde, 0, 16]),
            (map, 65536, &[0xdf, 0, 1, 0, 0]),
            (ext, 0, &[0xc7, 0, 0xfd]),
            (ext, 1, &[0xd4, 0xfd]),
            (ext, 2, &[0xd5, 0xfd]),
            (ext, 3, &[0xc7, 3, 0xfd]),
            (ext, 4, &[0xd6, 0xfd]),
            (ext, 8, &[0xd7, 0xfd]),
            (ext, 16, &[0xd8, 0xfd]),
            (ext, 256, &[0xc8, 1, 0, 0xfd]),
            (ext, 65536, &[0xc9, 0, 1, 0, 0, 0xfd]),
        ];
        for (make, len, head) in cases {
            let bytes = encode(&make(len)).unwrap();
            assert!(bytes.starts_with(head), "length {len}: {:02x?}", &bytes[..head.len()]);
        }
    }

    #[test]
    fn python_conventions_have_the_bytes_that_python_writes() {
        let tuple = Value::Tuple(vec![1i64.into(), "a".into()]);
        assert_eq!(encode(&tuple).unwrap(), b"\x93\xa9__tuple__\x01\xa1a");
        let set = Value::Set(vec![3i64.into()]);
        assert_eq!(encode(&set).unwrap(), [0xd5, 45, 0x91, 3]);
        let complex = Value::Complex(1.0, -2.0);
        let mut expected = vec![0xd8, 44, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0];
        expected.extend([0xc0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(encode(&complex).unwrap(), expected);
    }
}
