//! Walking over MessagePack without making values of it: what stands where, how long it is.

use crate::error::{Error, Result};
use crate::wire::Reader;

use super::FORMAT;

/// The first bytes of a value: what it is, and what follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Text of this many bytes.
    Text(usize),
    /// So many bytes.
    Bytes(usize),
    /// A list of so many values.
    Array(usize),
    /// So many pairs of values.
    Map(usize),
    /// An integer that is not negative; nothing follows.
    Uint(u64),
    /// Another value, of which so many bytes follow.
    Other(usize),
}

/// A cursor that steps from value to value.
pub(crate) struct Skim<'a> {
    reader: Reader<'a>,
}

impl<'a> Skim<'a> {
    /// A cursor at the first value of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(FORMAT, bytes) }
    }

    /// Bytes passed so far.
    pub(crate) fn position(&self) -> usize {
        self.reader.position()
    }

    /// Passes the first bytes of a value.
    #[inline]
    pub(crate) fn head(&mut self) -> Result<Head> {
        let at = self.reader.position();
        let code = self.reader.u8("type")?;
        let low = usize::from(code & 0x0f);
        Ok(match code {
            0x00..=0x7f => Head::Uint(code.into()),
            0x80..=0x8f => Head::Map(low),
            0x90..=0x9f => Head::Array(low),
            0xa0..=0xbf => Head::Text(usize::from(code & 0x1f)),
            0xc1 => {
                return Err(Error::corrupt("c1 is never used").at(FORMAT, "type", at));
            }
            0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => Head::Other(0),
            0xc4..=0xc6 => Head::Bytes(self.length(code - 0xc4)?),
            // The number of the extension comes first.
            0xc7..=0xc9 => Head::Other(self.length(code - 0xc7)?.saturating_add(1)),
            0xca => Head::Other(4),
            0xcb => Head::Other(8),
            0xcc => Head::Uint(self.reader.u8("integer")?.into()),
            0xcd => Head::Uint(self.reader.u16_be("integer")?.into()),
            0xce => Head::Uint(self.reader.u32_be("integer")?.into()),
            0xcf => Head::Uint(self.reader.u64_be("integer")?),
            0xd0..=0xd3 => Head::Other(1 << (code - 0xd0)),
            0xd4..=0xd8 => Head::Other((1 << (code - 0xd4)) + 1),
            0xd9..=0xdb => Head::Text(self.length(code - 0xd9)?),
            0xdc | 0xdd => Head::Array(self.length(code - 0xdc + 1)?),
            0xde | 0xdf => Head::Map(self.length(code - 0xde + 1)?),
        })
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        self.reader.take("content", len)
    }

    /// Passes a whole value, however deep. Every step passes a byte, so that a count that lies ends
    /// with the bytes.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let mut values = 1usize;
        while values > 0 {
            values -= 1;
            match self.head()? {
                Head::Text(len) | Head::Bytes(len) | Head::Other(len) => {
                    self.take(len)?;
                }
                Head::Array(count) => values = values.saturating_add(count),
                Head::Map(count) => values = values.saturating_add(count.saturating_mul(2)),
                Head::Uint(_) => {}
            }
        }
        Ok(())
    }

    /// A length or count of 8, 16 or 32 bits, for widths 0, 1 and 2.
    fn length(&mut self, width: u8) -> Result<usize> {
        let length = match width {
            0 => self.reader.u8("length")?.into(),
            1 => self.reader.u16_be("length")?.into(),
            _ => self.reader.u32_be("length")?,
        };
        Ok(usize::try_from(length).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::wire::msgpack::Value;

    #[test]
    fn every_value_ends_where_its_encoding_ends() {
        let values = [
            Value::Nil,
            true.into(),
            Value::Int(-1),
            Value::Int(-200),
            Value::Int(i64::MIN),
            300u16.into(),
            u64::MAX.into(),
            0.5.into(),
            "".into(),
            "x".repeat(40).into(),
            "x".repeat(400).into(),
            vec![7u8; 70_000].into(),
            Value::Ext(9, vec![1; 16]),
            Value::Ext(9, vec![1; 5]),
            Value::Tuple(vec![Value::Set(vec![1u8.into()]), Value::Complex(1.0, 2.0)]),
            Value::Map(vec![("k".into(), Value::Array(vec![Value::Nil; 20]))]),
        ];
        for value in values {
            let mut bytes = value.encode().unwrap();
            let len = bytes.len();
            bytes.push(0xc1);
            let mut skim = Skim::new(&bytes);
            skim.skip().unwrap();
            assert_eq!(skim.position(), len, "{value:?}");
            assert_eq!(skim.head().unwrap_err().kind(), ErrorKind::Corrupt);
            let cut = Skim::new(&bytes[..len - 1]).skip();
            assert_eq!(cut.unwrap_err().kind(), ErrorKind::Truncated, "{value:?}");
        }
    }

    #[test]
    fn counts_that_lie_end_with_the_bytes() {
        for bytes in [&[0xdd, 0xff, 0xff, 0xff, 0xff, 0xc0][..], &[0xdf; 9], &[0xc6; 9], &[0x91; 9]]
        {
            assert_eq!(Skim::new(bytes).skip().unwrap_err().kind(), ErrorKind::Truncated);
        }
    }
}
