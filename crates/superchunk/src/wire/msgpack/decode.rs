//! MessagePack to values. The bytes may come from a stranger: a count is believed only as far as
//! bytes are there to bear it out, and containers may stand only so deep inside each other.

use super::{EXT_COMPLEX, EXT_SET, FORMAT, MAX_DEPTH, TUPLE_MARK, Value, too_deep};
use crate::error::{Error, ErrorKind, Result};
use crate::wire::Reader;

/// Room made for items before the first is read; the rest grows with what is really there.
const FIRST_ITEMS: usize = 16;

/// The value in `bytes`, which must hold nothing else.
pub(super) fn decode(bytes: &[u8]) -> Result<Value> {
    whole(bytes, |decoder| decoder.value(0))
}

/// What `read` makes of `bytes`; it must use all of them.
fn whole<T>(bytes: &[u8], read: impl FnOnce(&mut Decoder<'_>) -> Result<T>) -> Result<T> {
    let mut decoder = Decoder { reader: Reader::new(FORMAT, bytes), len: bytes.len() };
    let made = read(&mut decoder)?;
    match decoder.left() {
        0 => Ok(made),
        left => Err(decoder.corrupt("end", format!("{left} bytes follow the value"))),
    }
}

struct Decoder<'a> {
    reader: Reader<'a>,
    len: usize,
}

impl<'a> Decoder<'a> {
    /// The next value, which stands inside `depth` containers.
    fn value(&mut self, depth: usize) -> Result<Value> {
        let code = self.reader.u8("type")?;
        let low = usize::from(code & 0x0f);
        Ok(match code {
            0x00..=0x7f => Value::Int(code.into()),
            0x80..=0x8f => self.map(low, depth)?,
            0x90..=0x9f => self.array(low, depth)?,
            0xa0..=0xbf => self.text(usize::from(code & 0x1f))?,
            0xc0 => Value::Nil,
            0xc1 => return Err(self.corrupt("type", "c1 is never used".into())),
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xc4..=0xc6 => {
                let len = self.length(code - 0xc4)?;
                Value::Bin(self.reader.take("bytes", len)?.to_vec())
            }
            0xc7..=0xc9 => {
                let len = self.length(code - 0xc7)?;
                self.extension(len, depth)?
            }
            0xca => Value::Float(f32::from_be_bytes(self.reader.array("float")?).into()),
            0xcb => Value::Float(f64::from_be_bytes(self.reader.array("float")?)),
            0xcc => self.reader.u8("integer")?.into(),
            0xcd => self.reader.u16_be("integer")?.into(),
            0xce => self.reader.u32_be("integer")?.into(),
            0xcf => self.reader.u64_be("integer")?.into(),
            0xd0 => i8::from_be_bytes(self.reader.array("integer")?).into(),
            0xd1 => i16::from_be_bytes(self.reader.array("integer")?).into(),
            0xd2 => self.reader.i32_be("integer")?.into(),
            0xd3 => self.reader.i64_be("integer")?.into(),
            0xd4..=0xd8 => self.extension(1 << (code - 0xd4), depth)?,
            0xd9..=0xdb => {
                let len = self.length(code - 0xd9)?;
                self.text(len)?
            }
            0xdc | 0xdd => {
                let count = self.length(code - 0xdc + 1)?;
                self.array(count, depth)?
            }
            0xde | 0xdf => {
                let count = self.length(code - 0xde + 1)?;
                self.map(count, depth)?
            }
            0xe0..=0xff => Value::Int(i8::from_be_bytes([code]).into()),
        })
    }

    /// A length or count of 8, 16 or 32 bits, for widths 0, 1 and 2.
    fn length(&mut self, width: u8) -> Result<usize> {
        let length = match width {
            0 => self.reader.u8("length")?.into(),
            1 => self.reader.u16_be("length")?.into(),
            _ => self.reader.u32_be("length")?,
        };
        // Where an index has fewer bits, no buffer has so many bytes.
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn text(&mut self, len: usize) -> Result<Value> {
        let start = self.reader.position();
        let bytes = self.reader.take("text", len)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(error) => Err(Error::corrupt("not UTF-8")
                .at(FORMAT, "text", start + error.valid_up_to())
                .because(error)),
        }
    }

    /// A list, or a tuple if it is marked as one.
    fn array(&mut self, count: usize, depth: usize) -> Result<Value> {
        let mut items = self.items(count, depth)?;
        if items.first().and_then(Value::as_str) == Some(TUPLE_MARK) {
            items.remove(0);
            return Ok(Value::Tuple(items));
        }
        Ok(Value::Array(items))
    }

    fn items(&mut self, count: usize, depth: usize) -> Result<Vec<Value>> {
        self.check_container(count, depth)?;
        let mut items = Vec::with_capacity(count.min(FIRST_ITEMS));
        for _ in 0..count {
            items.push(self.value(depth + 1)?);
        }
        Ok(items)
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Value> {
        self.check_container(count.saturating_mul(2), depth)?;
        let mut entries = Vec::with_capacity(count.min(FIRST_ITEMS));
        for _ in 0..count {
            entries.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Ok(Value::Map(entries))
    }

    fn extension(&mut self, len: usize, depth: usize) -> Result<Value> {
        let number = i8::from_be_bytes(self.reader.array("extension")?);
        let start = self.reader.position();
        let payload = self.reader.take("extension", len)?;
        let made = match number {
            EXT_COMPLEX => whole(payload, |inside| {
                let mut part = || inside.reader.array("complex").map(f64::from_be_bytes);
                Ok(Value::Complex(part()?, part()?))
            }),
            EXT_SET => whole(payload, |inside| inside.set(depth)),
            _ => Ok(Value::Ext(number, payload.to_vec())),
        };
        made.map_err(|error| match error.kind() {
            // The payload has its stated length: no byte that follows could cure it.
            ErrorKind::Truncated => {
                let message = format!("{len} bytes are too few for extension {number}");
                Error::corrupt(message).at(FORMAT, "extension", start).because(error)
            }
            _ => error.moved_by(start),
        })
    }

    /// The content of a set: one array, in which the tuple mark is an item like any other.
    fn set(&mut self, depth: usize) -> Result<Value> {
        let code = self.reader.u8("set")?;
        let count = match code {
            0x90..=0x9f => usize::from(code & 0x0f),
            0xdc | 0xdd => self.length(code - 0xdc + 1)?,
            _ => {
                return Err(self.corrupt("set", format!("{code:02x} is not the start of an array")));
            }
        };
        Ok(Value::Set(self.items(count, depth)?))
    }

    /// Refuses a container that is too deep, or claims more values than bytes are left.
    fn check_container(&self, count: usize, depth: usize) -> Result<()> {
        let at = self.reader.position();
        if depth >= MAX_DEPTH {
            return Err(too_deep().at(FORMAT, "type", at));
        }
        let left = self.left();
        if count > left {
            return Err(Error::truncated(format!("{count} values follow, but {left} bytes"))
                .at(FORMAT, "count", at));
        }
        Ok(())
    }

    fn left(&self) -> usize {
        self.len.saturating_sub(self.reader.position())
    }

    #[cold]
    fn corrupt(&self, field: &'static str, message: String) -> Error {
        Error::corrupt(message).at(FORMAT, field, self.reader.position())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> ErrorKind {
        decode(bytes).unwrap_err().kind()
    }

    /// The example of the specification's front page, and each wide form where a short one exists.
    #[test]
    fn forms_that_need_not_be_the_shortest_are_read() {
        let compact = b"\x82\xa7compact\xc3\xa6schema\x00";
        assert_eq!(decode(compact).unwrap().to_json(), r#"{"compact": true, "schema": 0}"#);
        let five: [&[u8]; 8] = [
            &[0xcc, 5],
            &[0xcd, 0, 5],
            &[0xce, 0, 0, 0, 5],
            &[0xcf, 0, 0, 0, 0, 0, 0, 0, 5],
            &[0xd0, 5],
            &[0xd1, 0, 5],
            &[0xd2, 0, 0, 0, 5],
            &[0xd3, 0, 0, 0, 0, 0, 0, 0, 5],
        ];
        for bytes in five {
            assert_eq!(decode(bytes).unwrap(), Value::Int(5), "{bytes:02x?}");
        }
        assert_eq!(decode(&[0xca, 0x3f, 0xc0, 0, 0]).unwrap(), Value::Float(1.5));
        assert_eq!(decode(&[0xdb, 0, 0, 0, 1, b'x']).unwrap(), "x".into());
        assert_eq!(decode(&[0xdd, 0, 0, 0, 1, 0xc0]).unwrap(), Value::Array(vec![Value::Nil]));
        assert_eq!(decode(&[0xdf, 0, 0, 0, 0]).unwrap(), Value::Map(vec![]));
        assert_eq!(decode(&[0xc9, 0, 0, 0, 1, 5, 6]).unwrap(), Value::Ext(5, vec![6]));
    }

    #[test]
    fn conventions_are_recognised_wherever_they_stand() {
        let nested = Value::Array(vec![
            Value::Tuple(vec![]),
            Value::Set(vec![Value::Tuple(vec![Value::Complex(0.5, f64::INFINITY)])]),
            Value::Set(vec![TUPLE_MARK.into(), 1i64.into()]),
            Value::Map(vec![(Value::Tuple(vec![1i64.into()]), Value::Set(vec![]))]),
        ]);
        assert_eq!(decode(&nested.encode().unwrap()).unwrap(), nested);
    }

    #[test]
    fn bad_bytes_are_told_apart() {
        assert_eq!(kind(&[]), ErrorKind::Truncated);
        assert_eq!(kind(&[0xc1]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0xc0, 0xc0]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0xa2, b'a', 0xff]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0xd7, 44, 0, 0, 0, 0, 0, 0, 0, 0]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0xd4, 45, 0x91]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0xd4, 45, 0xc0]), ErrorKind::Corrupt);
        assert_eq!(kind(&[0xd5, 45, 0x90, 0x00]), ErrorKind::Corrupt);
        let error = decode(&[0x91, 0xd6, 45, 0x91, 0xa2, b'a', 0xff]).unwrap_err();
        assert_eq!(error.to_string(), "msgpack text: not UTF-8, at byte 6");
    }

    #[test]
    fn every_cut_is_truncated_and_no_flip_panics() {
        let value = Value::Array(vec![
            (-40_000i64).into(),
            0.25f64.into(),
            "text".into(),
            b"bytes"[..].into(),
            Value::Map(vec![("key".into(), Value::Set(vec![u64::MAX.into()]))]),
            Value::Tuple(vec![Value::Ext(7, vec![1, 2, 3])]),
        ]);
        let bytes = value.encode().unwrap();
        for len in 0..bytes.len() {
            assert_eq!(kind(&bytes[..len]), ErrorKind::Truncated, "cut at {len}");
        }
        for at in 0..bytes.len() {
            for flipped in 0..=255 {
                let mut bytes = bytes.clone();
                bytes[at] = flipped;
                if let Ok(other) = decode(&bytes) {
                    // What was read can be written, and is the same when read again.
                    let again = decode(&other.encode().unwrap()).unwrap();
                    assert_eq!(format!("{again:?}"), format!("{other:?}"));
                }
            }
        }
    }

    #[test]
    fn counts_and_depths_that_lie_cost_nothing() {
        assert_eq!(kind(&[0xdd, 0xff, 0xff, 0xff, 0xff]), ErrorKind::Truncated);
        assert_eq!(kind(&[0xdf, 0xff, 0xff, 0xff, 0xff, 0xc0, 0xc0]), ErrorKind::Truncated);
        assert_eq!(kind(&[0xc6, 0xff, 0xff, 0xff, 0xff, 0]), ErrorKind::Truncated);
        // One array inside another, a million times.
        assert_eq!(kind(&vec![0x91; 1_000_000]), ErrorKind::LimitExceeded);
        let mut at_the_limit = vec![0x91; MAX_DEPTH];
        at_the_limit.push(0xc0);
        assert!(decode(&at_the_limit).is_ok());
        at_the_limit.insert(0, 0x91);
        assert_eq!(kind(&at_the_limit), ErrorKind::LimitExceeded);
    }
}
