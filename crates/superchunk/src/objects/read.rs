//! From the number of an object to its bytes: one block is decoded, and kept for its neighbours.

use std::ops::{Deref, Range};
use std::sync::Arc;

use super::Objects;
use super::list::List;
use super::meta;
use super::packing::text;
use crate::chunk::Content;
use crate::error::{Error, MustGet, OrBug, Result};
use crate::wire::msgpack::Value;

/// A list that is kept alive while it is used.
enum Held<'a> {
    Block(Arc<List>),
    Pending(&'a List),
}

/// Why an object that was looked for is there.
const FOUND: &str = "what was found holds the object";

impl Deref for Held<'_> {
    type Target = List;

    fn deref(&self) -> &List {
        match self {
            Self::Block(list) => list,
            Self::Pending(list) => list,
        }
    }
}

/// A list, and the number of its first object.
struct Found<'a> {
    list: Held<'a>,
    first: u64,
}

impl Found<'_> {
    fn object(&self, index: u64) -> Option<&[u8]> {
        let within = usize::try_from(index.checked_sub(self.first)?).ok()?;
        self.list.object(within)
    }
}

impl Objects {
    /// The bytes of object `index`, which must be text or bytes.
    pub fn get(&self, index: u64) -> Result<Vec<u8>> {
        self.with_object(index, |object| self.packing.content(object).map(<[u8]>::to_vec))
    }

    /// Puts the bytes of object `index` into `dst`, and nothing else.
    pub fn get_into(&self, index: u64, dst: &mut Vec<u8>) -> Result<()> {
        self.with_object(index, |object| {
            let bytes = self.packing.content(object)?;
            dst.clear();
            dst.extend_from_slice(bytes);
            Ok(())
        })
    }

    /// Object `index`, which must be text, or bytes that are UTF-8.
    pub fn text(&self, index: u64) -> Result<String> {
        self.with_object(index, |object| text(self.packing.content(object)?))
    }

    /// Object `index`, whatever it is.
    pub fn value(&self, index: u64) -> Result<Value> {
        self.with_object(index, |object| self.packing.value(self.kind, object))
    }

    /// Calls `see` with the bytes of each of the objects `range`, in order; this is the quickest way
    /// to see many.
    pub fn visit(&self, range: Range<u64>, mut see: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.check_range(&range)?;
        let mut index = range.start;
        while index < range.end {
            let found = self.find(index)?;
            while index < range.end
                && let Some(object) = found.object(index)
            {
                see(self.packing.content(object).map_err(|error| told(error, index))?)?;
                index += 1;
            }
        }
        Ok(())
    }

    /// The bytes of each of the objects `range`, in order.
    pub fn range(&self, range: Range<u64>) -> Result<impl Iterator<Item = Result<Vec<u8>>> + '_> {
        self.each(range, |object| self.packing.content(object).map(<[u8]>::to_vec))
    }

    /// The texts `range`, in order.
    pub fn texts(&self, range: Range<u64>) -> Result<impl Iterator<Item = Result<String>> + '_> {
        self.each(range, |object| text(self.packing.content(object)?))
    }

    /// The values `range`, in order.
    pub fn values(&self, range: Range<u64>) -> Result<impl Iterator<Item = Result<Value>> + '_> {
        self.each(range, |object| self.packing.value(self.kind, object))
    }

    fn each<'a, T>(
        &'a self,
        range: Range<u64>,
        make: impl Fn(&[u8]) -> Result<T> + 'a,
    ) -> Result<impl Iterator<Item = Result<T>> + 'a> {
        self.check_range(&range)?;
        let mut held: Option<Found<'a>> = None;
        Ok(range.map(move |index| {
            if held.as_ref().is_none_or(|found| found.object(index).is_none()) {
                held = Some(self.find(index)?);
            }
            let object = held.as_ref().and_then(|found| found.object(index)).or_bug(FOUND)?;
            make(object).map_err(|error| told(error, index))
        }))
    }

    fn with_object<T>(&self, index: u64, work: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
        let found = self.find(index)?;
        let object = found.object(index).or_bug(FOUND)?;
        work(object).map_err(|error| told(error, index))
    }

    /// The block or list that holds object `index`.
    fn find(&self, index: u64) -> Result<Found<'_>> {
        let stored = self.stored_count();
        if index >= stored {
            let found = Found { list: Held::Pending(&self.pending), first: stored };
            return match found.object(index) {
                Some(_) => Ok(found),
                None => Err(Error::invalid(format!(
                    "there is no object {index}: the store has {}",
                    self.len()
                ))),
            };
        }
        let number = self.chunk_of(index);
        let (start, count) = self.place_of(number)?;
        let within = usize::try_from(index - start).unwrap_or(usize::MAX);
        let (list, first) = match self.items_per_block {
            Some(each) => {
                let first = within / each * each;
                (self.block(number, within / each, Some(each.min(count - first)))?, first)
            }
            None => self.search(number, within)?,
        };
        Ok(Found { list: Held::Block(list), first: start + first as u64 })
    }

    /// The chunk that holds a stored object.
    pub(super) fn chunk_of(&self, index: u64) -> usize {
        self.starts.partition_point(|start| *start <= index).saturating_sub(1)
    }

    /// The number of the first object of a chunk, and how many there are in it.
    pub(super) fn place_of(&self, number: usize) -> Result<(u64, usize)> {
        let (start, end) = (self.starts.must_get(number)?, self.starts.must_get(number + 1)?);
        Ok((*start, usize::try_from(end - start).unwrap_or(usize::MAX)))
    }

    /// The block of a chunk that holds its object `within`, found from the first block on.
    fn search(&self, number: usize, within: usize) -> Result<(Arc<List>, usize)> {
        let mut first = 0;
        for block in 0..self.block_count(number)? {
            let list = self.block(number, block, None)?;
            if within < first + list.len() {
                return Ok((list, first));
            }
            first += list.len();
        }
        Err(self.miscounted(number, format!("the blocks have {first} objects")))
    }

    /// A block, decoded, which must have so many objects.
    fn block(&self, number: usize, block: usize, count: Option<usize>) -> Result<Arc<List>> {
        let list = match self.cache.get((number, block)) {
            Some(list) => list,
            None => {
                let bytes = self.frame.read_block(number, block)?;
                let list = List::parse(self.packing, bytes)
                    .map_err(|error| self.frame.told(number, error))?;
                let list = Arc::new(list);
                self.cache.put((number, block), &list);
                list
            }
        };
        match count {
            Some(count) if count != list.len() => {
                let found = list.len();
                Err(self
                    .miscounted(number, format!("block {block} has {found} objects, not {count}")))
            }
            _ => Ok(list),
        }
    }

    /// All objects of a chunk.
    pub(super) fn chunk(&self, number: usize) -> Result<List> {
        let mut list = List::new();
        for block in 0..self.block_count(number)? {
            let block = self.block(number, block, None)?;
            list.extend(&block, 0..block.len())?;
        }
        let (_, count) = self.place_of(number)?;
        if list.len() == count {
            return Ok(list);
        }
        Err(self.miscounted(number, format!("it has {} objects, not {count}", list.len())))
    }

    fn miscounted(&self, number: usize, message: String) -> Error {
        self.frame.told(number, Error::corrupt(message).at("batch", "count", 0))
    }

    fn block_count(&self, number: usize) -> Result<usize> {
        let header = self.frame.chunk_header(number)?;
        if header.content() == Content::VariableBlocks {
            return Ok(header.block_count());
        }
        Err(self.miscounted(number, "this is no chunk of objects".to_owned()))
    }

    /// The number of the first object of each chunk, and behind all: as the file tells it, else as
    /// the chunks do.
    pub(super) fn stored_starts(&self) -> Result<Vec<u64>> {
        let chunks = self.frame.chunk_count();
        if self.has_lengths()
            && let Ok(bytes) = self.frame.attribute_bytes(meta::LENGTHS)
            && let Some(starts) = meta::parse_lengths(&bytes, chunks)
        {
            return Ok(starts);
        }
        let (mut starts, mut start) = (vec![0], 0u64);
        for number in 0..chunks {
            start = start.saturating_add(self.objects_in(number)?);
            starts.push(start);
        }
        Ok(starts)
    }

    /// Whether the file tells how many objects each chunk has.
    pub(super) fn has_lengths(&self) -> bool {
        self.frame.attribute_names().any(|name| name == meta::LENGTHS)
    }

    /// How many objects a chunk has, by its blocks.
    fn objects_in(&self, number: usize) -> Result<u64> {
        let blocks = self.block_count(number)?;
        let (mut count, first) = match self.items_per_block {
            Some(each) => {
                let full = blocks.saturating_sub(1);
                (full as u64).checked_mul(each as u64).map(|count| (count, full)).ok_or_else(
                    || self.miscounted(number, format!("{full} blocks of {each} objects")),
                )?
            }
            None => (0, 0),
        };
        for block in first..blocks {
            let bytes = self.frame.read_block(number, block)?;
            let objects =
                self.packing.count(&bytes).map_err(|error| self.frame.told(number, error))?;
            count = count.saturating_add(objects as u64);
        }
        Ok(count)
    }

    /// Makes sure that every block of a chunk has as many objects as it should.
    pub(crate) fn count_chunk(&self, number: usize) -> Result<()> {
        let (_, mut left) = self.place_of(number)?;
        for block in 0..self.block_count(number)? {
            let count = self.items_per_block.map(|each| each.min(left));
            let found = self.block(number, block, count)?.len();
            left = left.saturating_sub(found);
        }
        match left {
            0 => Ok(()),
            _ => Err(self.miscounted(number, format!("{left} objects are missing"))),
        }
    }

    fn check_range(&self, range: &Range<u64>) -> Result<()> {
        if range.start <= range.end && range.end <= self.len() {
            return Ok(());
        }
        let len = self.len();
        Err(Error::invalid(format!("objects {range:?} are not inside of the {len} there are")))
    }
}

fn told(error: Error, index: u64) -> Error {
    error.within(format!("object {index}"))
}
