//! A bounded cursor over untrusted bytes.

use crate::error::{Error, Result};

/// Reads fields one after the other; each read names its field, so that a missing byte is an error
/// that says which field lacks it and where.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    format: &'static str,
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the start of `bytes`, which hold a structure called `format`.
    #[inline]
    pub(crate) fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Self { format, bytes, position: 0 }
    }

    /// The same cursor at another position, which may lie past the end (reads then fail).
    #[inline]
    pub(crate) fn seek(mut self, position: usize) -> Self {
        self.position = position;
        self
    }

    /// Bytes consumed so far, from the start of the structure.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The next `len` bytes.
    #[inline]
    pub(crate) fn take(&mut self, field: &'static str, len: usize) -> Result<&'a [u8]> {
        let end = self.position.saturating_add(len);
        let Some(taken) = self.bytes.get(self.position..end) else {
            return Err(self.too_short(field, len));
        };
        self.position = end;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
    #[inline(always)]
    pub(crate) fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        match self.bytes.get(self.position..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(array) => {
                self.position += N;
                Ok(*array)
            }
            None => Err(self.too_short(field, N)),
        }
    }

    /// The next byte.
    #[inline(always)]
    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    /// The next 32-bit integer.
    #[inline(always)]
    pub(crate) fn i32(&mut self, field: &'static str) -> Result<i32> {
        self.array(field).map(i32::from_le_bytes)
    }

    /// The next 64-bit integer.
    #[inline]
    pub(crate) fn i64(&mut self, field: &'static str) -> Result<i64> {
        self.array(field).map(i64::from_le_bytes)
    }

    /// The next unsigned 16-bit integer, big endian as MessagePack stores it.
    pub(crate) fn u16_be(&mut self, field: &'static str) -> Result<u16> {
        self.array(field).map(u16::from_be_bytes)
    }

    /// The next 32-bit integer, big endian.
    pub(crate) fn i32_be(&mut self, field: &'static str) -> Result<i32> {
        self.array(field).map(i32::from_be_bytes)
    }

    /// The next unsigned 32-bit integer, big endian.
    pub(crate) fn u32_be(&mut self, field: &'static str) -> Result<u32> {
        self.array(field).map(u32::from_be_bytes)
    }

    /// The next 64-bit integer, big endian.
    pub(crate) fn i64_be(&mut self, field: &'static str) -> Result<i64> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// The next unsigned 64-bit integer, big endian.
    pub(crate) fn u64_be(&mut self, field: &'static str) -> Result<u64> {
        self.array(field).map(u64::from_be_bytes)
    }

    #[cold]
    fn too_short(&self, field: &'static str, len: usize) -> Error {
        let left = self.bytes.len().saturating_sub(self.position);
        Error::truncated(format!("needs {len} bytes, {left} are left")).at(
            self.format,
            field,
            self.position,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn reads_in_order_and_reports_the_missing_field() {
        let mut reader = Reader::new("test", &[1, 2, 0, 0, 0, 9]);
        assert_eq!(reader.u8("a").unwrap(), 1);
        assert_eq!(reader.i32("b").unwrap(), 2);
        let error = reader.clone().i32("c").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated);
        assert_eq!(error.to_string(), "test c: needs 4 bytes, 1 are left, at byte 5");
        assert_eq!(reader.take("d", 1).unwrap(), [9]);
        assert!(reader.seek(usize::MAX).u8("e").is_err());
    }

    #[test]
    fn big_endian_integers_have_their_high_byte_first() {
        let bytes = [0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8];
        let reader = Reader::new("test", &bytes);
        assert_eq!(reader.clone().u16_be("a").unwrap(), 0xfffe);
        assert_eq!(reader.clone().u32_be("a").unwrap(), 0xfffe_fdfc);
        assert_eq!(reader.clone().i32_be("a").unwrap(), -0x0001_0204);
        assert_eq!(reader.clone().u64_be("a").unwrap(), 0xfffe_fdfc_fbfa_f9f8);
        assert_eq!(reader.clone().i64_be("a").unwrap(), -0x0001_0203_0405_0608);
        let mut reader = reader.seek(4);
        assert_eq!(reader.u16_be("a").unwrap(), 0xfbfa);
        assert_eq!(reader.position(), 6);
        assert_eq!(reader.u32_be("b").unwrap_err().kind(), ErrorKind::Truncated);
    }
}
