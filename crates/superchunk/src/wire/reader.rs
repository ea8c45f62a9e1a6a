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
    pub(crate) fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Self { format, bytes, position: 0 }
    }

    /// The same cursor at another position, which may lie past the end (reads then fail).
    pub(crate) fn seek(mut self, position: usize) -> Self {
        self.position = position;
        self
    }

    /// Bytes consumed so far, from the start of the structure.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, field: &'static str, len: usize) -> Result<&'a [u8]> {
        let end = self.position.saturating_add(len);
        let Some(taken) = self.bytes.get(self.position..end) else {
            return Err(self.too_short(field, len));
        };
        self.position = end;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
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
    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    /// The next 32-bit integer.
    pub(crate) fn i32(&mut self, field: &'static str) -> Result<i32> {
        self.array(field).map(i32::from_le_bytes)
    }

    /// The next 64-bit integer.
    pub(crate) fn i64(&mut self, field: &'static str) -> Result<i64> {
        self.array(field).map(i64::from_le_bytes)
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
}
