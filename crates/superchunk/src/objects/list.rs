//! Encoded objects one after the other, and where each begins: a block as it is stored, or objects
//! that wait to become one.
//!
//! ```text
//! ┌──────────────────┬──────────────┬──────────────┬───
//! │ head             │ object 0     │ object 1     │ …          see `packing`
//! └──────────────────┴──────────────┴──────────────┴───
//!  only in a block    ↑ starts[0]    ↑ starts[1]
//! ```

use std::ops::Range;

use super::packing::{ObjectPacking, position};
use crate::error::{MustGet, Result};

/// Objects in a row.
pub(super) struct List {
    bytes: Vec<u8>,
    /// Where each object begins, and where the last one ends.
    starts: Vec<u32>,
}

impl List {
    /// No objects.
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), starts: vec![0] }
    }

    /// The objects of a block.
    pub(super) fn parse(packing: ObjectPacking, block: Vec<u8>) -> Result<Self> {
        let starts = packing.starts(&block)?;
        Ok(Self { bytes: block, starts })
    }

    /// The number of objects.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The memory that this takes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + 4 * self.starts.len()
    }

    /// The encoded object `index`.
    pub(super) fn object(&self, index: usize) -> Option<&[u8]> {
        if index >= self.len() {
            return None;
        }
        self.bytes.get(self.span(index..index + 1))
    }

    /// The encoded objects `range`, one after the other.
    pub(super) fn objects(&self, range: Range<usize>) -> Result<&[u8]> {
        self.bytes.must_get(self.span(range))
    }

    /// The objects `range` as a block.
    pub(super) fn block(&self, packing: ObjectPacking, range: Range<usize>) -> Result<Vec<u8>> {
        let objects = self.objects(range.clone())?;
        let mut block = Vec::with_capacity(objects.len() + range.len() + 5);
        let lengths = range.map(|index| self.span(index..index + 1).len());
        packing.write_head(lengths, &mut block)?;
        block.extend_from_slice(objects);
        Ok(block)
    }

    /// Appends what `write` appends: one encoded object. After an error the list is as it was.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let before = self.bytes.len();
        let written = write(&mut self.bytes).and_then(|()| position(self.bytes.len()));
        match written {
            Ok(end) => self.starts.push(end),
            Err(error) => {
                self.bytes.truncate(before);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Appends the objects `range` of another list.
    pub(super) fn extend(&mut self, other: &Self, range: Range<usize>) -> Result<()> {
        let bytes = other.objects(range.clone())?;
        position(self.bytes.len().saturating_add(bytes.len()))?;
        let from = other.span(range.clone()).start;
        let shift = self.bytes.len();
        let ends = other.starts.must_get(range.start + 1..=range.end)?;
        for end in ends {
            self.starts.push(position(*end as usize - from + shift)?);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Keeps only the first `count` objects.
    pub(super) fn truncate(&mut self, count: usize) {
        if count < self.len() {
            self.bytes.truncate(self.span(0..count).end);
            self.starts.truncate(count + 1);
        }
    }

    /// The objects from `start` on, as a list of their own.
    pub(super) fn behind(&self, start: usize) -> Result<Self> {
        let mut rest = Self::new();
        rest.extend(self, start..self.len())?;
        Ok(rest)
    }

    /// How many objects from `start` on make a block of at most `count` objects and, unless it is
    /// one object alone, `bytes` bytes.
    pub(super) fn block_end(&self, start: usize, count: usize, bytes: usize) -> Result<usize> {
        let most = self.len().min(start.saturating_add(count));
        let first = self.span(start..start).start;
        let ends = self.starts.must_get(start + 1..=most)?;
        let fitting = ends.partition_point(|end| *end as usize - first <= bytes);
        Ok((start + fitting.max(1)).min(most))
    }

    fn span(&self, range: Range<usize>) -> Range<usize> {
        let at = |index: usize| self.starts.get(index).map_or(self.bytes.len(), |at| *at as usize);
        at(range.start)..at(range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::wire::msgpack::{Value, write_text};

    const MSGPACK: ObjectPacking = ObjectPacking::Msgpack;

    fn list(texts: &[&str]) -> List {
        let mut list = List::new();
        texts.iter().for_each(|text| list.push(|out| write_text(out, text)).unwrap());
        list
    }

    #[test]
    fn a_block_is_what_python_packs_and_comes_back() {
        let list = list(&["", "ab", "c"]);
        let block = list.block(MSGPACK, 0..3).unwrap();
        assert_eq!(block, b"\x93\xa0\xa2ab\xa1c");
        let value = Value::Array(vec!["".into(), "ab".into(), "c".into()]);
        assert_eq!(Value::decode(&block).unwrap(), value);
        let back = List::parse(MSGPACK, block.clone()).unwrap();
        assert_eq!((back.len(), MSGPACK.count(&block).unwrap()), (3, 3));
        assert_eq!(back.object(1).unwrap(), b"\xa2ab");
        assert_eq!(back.object(3), None);
        assert_eq!(back.objects(0..3).unwrap(), list.objects(0..3).unwrap());
        assert_eq!(back.behind(1).unwrap().block(MSGPACK, 0..2).unwrap(), b"\x92\xa2ab\xa1c");
    }

    #[test]
    fn blocks_that_lie_are_refused() {
        let kind = |block: &[u8]| List::parse(MSGPACK, block.to_vec()).err().unwrap().kind();
        assert_eq!(kind(b"\xdd\xff\xff\xff\xff\xc0"), ErrorKind::Truncated);
        assert_eq!(kind(b"\x92\xa0"), ErrorKind::Truncated);
        assert_eq!(kind(b"\x91\xa0\xa0"), ErrorKind::Corrupt);
        assert_eq!(kind(b"\xa1x"), ErrorKind::Corrupt);
        assert_eq!(kind(b""), ErrorKind::Truncated);
    }

    #[test]
    fn blocks_end_by_count_or_by_bytes() {
        let list = list(&["aaa", "bbb", "ccc", "dddddddddd", "e"]);
        assert_eq!(list.block_end(0, 2, 100).unwrap(), 2);
        assert_eq!(list.block_end(0, 9, 8).unwrap(), 2);
        assert_eq!(list.block_end(0, 9, 11).unwrap(), 2);
        assert_eq!(list.block_end(0, 9, 12).unwrap(), 3);
        // Too long for any block, so it gets one of its own.
        assert_eq!(list.block_end(3, 9, 5).unwrap(), 4);
        assert_eq!(list.block_end(4, 9, 5).unwrap(), 5);
        assert_eq!(list.block_end(5, 9, 5).unwrap(), 5);
    }

    #[test]
    fn an_object_that_fails_leaves_no_trace() {
        let mut list = list(&["a"]);
        let failed = list.push(|out| {
            out.push(1);
            Err(Error::invalid("no"))
        });
        assert!(failed.is_err());
        list.truncate(7);
        assert_eq!(list.block(MSGPACK, 0..1).unwrap(), b"\x91\xa1a");
    }
}
