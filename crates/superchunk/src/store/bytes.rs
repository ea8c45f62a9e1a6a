//! Bytes that are in memory already and stay as they are: a vector, a static, a memory map.

use std::fmt;

use super::ReadAt;
use crate::error::Result;
use crate::text;
use crate::wire::at_most;

/// A read-only store over anything that can be seen as bytes.
///
/// To read a file through a memory map, map it and hand the map over: the library itself contains no
/// `unsafe`, and only the caller can promise that nobody cuts the file short meanwhile.
#[derive(Clone)]
pub struct Bytes<T>(T);

impl<T: AsRef<[u8]>> fmt::Debug for Bytes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bytes").field(&text::Bytes(self.0.as_ref())).finish()
    }
}

impl<T: AsRef<[u8]> + Send + Sync> Bytes<T> {
    /// A store with these bytes.
    pub fn new(bytes: T) -> Self {
        Self(bytes)
    }

    /// What the store was made of.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: AsRef<[u8]> + Send + Sync> ReadAt for Bytes<T> {
    fn len(&self) -> Result<u64> {
        Ok(u64::try_from(self.0.as_ref().len()).unwrap_or(u64::MAX))
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        Ok(copy_from(self.0.as_ref(), position, dst))
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self.0.as_ref())
    }
}

/// Copies what `bytes` have from `position` on, as far as `dst` goes; returns how many.
pub(super) fn copy_from(bytes: &[u8], position: u64, dst: &mut [u8]) -> usize {
    let found = at_most(from(bytes, position), dst.len());
    let (to, _) = dst.split_at_mut(found.len());
    to.copy_from_slice(found);
    found.len()
}

/// The bytes from `position` on: none when it lies past the end.
pub(crate) fn from(bytes: &[u8], position: u64) -> &[u8] {
    usize::try_from(position).ok().and_then(|position| bytes.get(position..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn every_part_reads_as_the_slice_does() {
        static BYTES: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        let store = Bytes::new(&BYTES[..]);
        assert_eq!(store.len().unwrap(), 10);
        assert_eq!(store.as_bytes().unwrap(), BYTES);
        for start in 0..12 {
            for len in 0..12 {
                let mut dst = vec![255; len];
                let count = store.read_at(start as u64, &mut dst).unwrap();
                let expected: Vec<u8> = BYTES.iter().copied().skip(start).take(len).collect();
                assert_eq!(dst[..count], expected);
                assert!(dst[count..].iter().all(|&byte| byte == 255));
            }
        }
    }

    #[test]
    fn positions_past_the_end_read_nothing() {
        let store = Bytes::new(vec![1u8, 2, 3]);
        for position in [3, 4, 1 << 40, u64::MAX] {
            assert_eq!(store.read_at(position, &mut [0; 8]).unwrap(), 0);
        }
        let error = store.read_exact_at(2, &mut [0; 2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated);
        assert_eq!(store.into_inner(), [1, 2, 3]);
        assert!(Bytes::new(Vec::new()).is_empty().unwrap());
    }
}
