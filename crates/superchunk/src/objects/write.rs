//! New objects: they wait until they fill blocks, and the blocks a chunk.

use super::list::List;
use super::packing::ObjectPacking;
use super::{ObjectKind, Objects, meta};
use crate::container::read_only;
use crate::error::{Error, ErrorKind, Result};
use crate::wire::msgpack::Value;

/// The objects of a block until the first chunk tells how long they are.
pub(super) const FIRST_GUESS: u32 = 4096;
/// The fewest objects of a full block. Where objects are so long that these would be too many bytes,
/// chunks have one short block each.
const FEWEST: usize = 256;
/// The most objects of a block.
const MOST: usize = 1 << 20;
/// What a chunk is filled to, as far as [`BLOCKS`] allows: a change compresses a whole chunk anew.
const CHUNK_LEN: usize = 4 << 20;
/// The fewest and the most blocks of the usual length that a chunk has.
const BLOCKS: std::ops::RangeInclusive<usize> = 4..=16;
/// The longest encoded object: it must fit a block, and the block a chunk.
const LONGEST: usize = i32::MAX as usize - (1 << 16);

impl Objects {
    /// Appends an object. Where the objects are texts it must be UTF-8.
    pub fn append(&mut self, object: &[u8]) -> Result<()> {
        let (packing, kind) = (self.packing, self.kind);
        self.push(|out| packing.write(kind, object, out))
    }

    /// Appends a text; as its bytes, where the objects are bytes.
    pub fn append_text(&mut self, text: &str) -> Result<()> {
        let (packing, kind) = (self.packing, self.kind);
        self.push(|out| packing.write_text(kind, text, out))
    }

    /// Appends a value, which must be of the kind of this store.
    pub fn append_value(&mut self, value: &Value) -> Result<()> {
        let mut encoded = Vec::new();
        self.write_value(value, &mut encoded)?;
        self.push(|out| {
            out.extend_from_slice(&encoded);
            Ok(())
        })
    }

    /// Appends a value to a block if it is of the kind of this store.
    pub(super) fn write_value(&self, value: &Value, out: &mut Vec<u8>) -> Result<()> {
        let fits = match self.kind {
            ObjectKind::Values => true,
            ObjectKind::Text => value.as_str().is_some(),
            ObjectKind::Bytes => value.as_bytes().is_some(),
        };
        if !fits {
            return Err(Error::invalid(format!("this store holds {:?} only", self.kind)));
        }
        self.packing.write_value(value, out)
    }

    /// Appends many objects. After an error those before the wrong one are there.
    pub fn extend<I>(&mut self, objects: I) -> Result<()>
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        objects.into_iter().try_for_each(|object| self.append(object.as_ref()))
    }

    fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        self.begin()?;
        self.take_back()?;
        self.pending.push(|out| {
            let before = out.len();
            write(out)?;
            check_len(out.len() - before)
        })?;
        if self.pending_len(self.pending.len())? < self.chunk_len() {
            return Ok(());
        }
        self.flush(false).inspect_err(|_| self.pending.truncate(self.pending.len() - 1))
    }

    /// Begins a change: other writers are kept out, and what they have done is taken over.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.begun {
            return Ok(());
        }
        if !self.frame.is_writable() {
            return Err(read_only());
        }
        let end = self.frame.chunk_count();
        match self.frame.splice_blocks(end..end, None) {
            Err(error) if error.kind() == ErrorKind::Changed => self.reload()?,
            begun => begun?,
        }
        self.begun = true;
        Ok(())
    }

    /// Lets a short last chunk grow: its objects become pending.
    fn take_back(&mut self) -> Result<()> {
        let Some(last) = self.starts.len().checked_sub(2) else { return Ok(()) };
        if self.pending.len() > 0 || self.taken_back {
            return Ok(());
        }
        if self.frame.chunk_header(last)?.byte_len() < self.block_len {
            self.pending = self.chunk(last)?;
            self.starts.pop();
            self.taken_back = true;
        }
        Ok(())
    }

    /// Makes everything that is pending chunks, and the metadata tell of them.
    pub(super) fn settle(&mut self) -> Result<()> {
        if !self.begun {
            return Ok(());
        }
        self.flush(true)?;
        if self.taken_back {
            // All objects of the last chunk were removed since.
            let first = self.starts.len() - 1;
            self.frame.splice_blocks(first..self.frame.chunk_count(), None)?;
            self.taken_back = false;
        }
        if self.starts.len() > 1 {
            let lengths = meta::write_lengths(&self.starts)?;
            return self.frame.set_attribute_bytes(meta::LENGTHS, &lengths);
        }
        self.frame.remove_attribute(meta::LENGTHS).map(drop)
    }

    /// Makes pending objects chunks; those that do not fill a block only if `all` is set.
    fn flush(&mut self, all: bool) -> Result<()> {
        loop {
            let count = self.block_objects()?;
            let ends = self.block_ends(count, all)?;
            let Some(end) = ends.last().copied() else { return Ok(()) };
            if self.choosing && self.frame.chunk_count() == 0 {
                let layer =
                    meta::write_layer(self.packing, u32::try_from(count).unwrap_or(u32::MAX))?;
                self.frame.set_metalayer(meta::layer_name(self.packing), &layer)?;
                self.items_per_block = Some(count);
            }
            let rest = self.pending.behind(end)?;
            let first = self.starts.len() - 1;
            self.splice(first, self.frame.chunk_count(), &self.pending.cut(self.packing, &ends)?)?;
            self.starts.push(self.stored_count() + end as u64);
            self.pending = rest;
            self.taken_back = false;
        }
    }

    /// Where the blocks of the next chunk end. Only its last block may have fewer than `count`
    /// objects; what does not fill a block stays, unless `all` is set.
    fn block_ends(&self, count: usize, all: bool) -> Result<Vec<usize>> {
        let most = self.block_len.saturating_mul(2);
        let (mut ends, mut start) = (Vec::new(), 0);
        while start < self.pending.len() {
            let end = self.pending.block_end(start, count, most)?;
            let is_full = end - start == count;
            let is_open = !is_full && end == self.pending.len() && !all;
            let len = self.pending_len(end)?;
            let too_long = start > 0 && len > self.chunk_len().saturating_add(most);
            if is_open || too_long {
                break;
            }
            ends.push(end);
            start = end;
            if !is_full || len >= self.chunk_len() {
                break;
            }
        }
        Ok(ends)
    }

    /// About how many bytes the first `count` pending objects take in blocks.
    fn pending_len(&self, count: usize) -> Result<usize> {
        Ok(self.pending.objects(0..count)?.len() + self.packing.lengths_len(count))
    }

    /// About how many bytes a chunk has before it is compressed.
    fn chunk_len(&self) -> usize {
        let blocks = CHUNK_LEN / self.block_len.max(1);
        self.block_len.saturating_mul(blocks.clamp(*BLOCKS.start(), *BLOCKS.end()))
    }

    /// How many objects a full block has; a number that suits the pending ones, while it may be
    /// chosen.
    pub(super) fn block_objects(&self) -> Result<usize> {
        if self.choosing && self.frame.chunk_count() == 0 && self.pending.len() > 0 {
            let count = self.pending.len();
            let average = self.pending_len(count)?.div_ceil(count).max(1);
            return Ok((self.block_len / average).clamp(FEWEST, MOST));
        }
        Ok(self.items_per_block.unwrap_or(FIRST_GUESS as usize))
    }

    /// Puts a chunk of these blocks in the place of the chunks from `first` to before `end`.
    pub(super) fn splice(&mut self, first: usize, end: usize, blocks: &[Vec<u8>]) -> Result<()> {
        let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        self.cache.clear();
        self.frame.splice_blocks(first..end, (!blocks.is_empty()).then_some(&blocks))
    }
}

impl List {
    /// The blocks that end at these objects.
    pub(super) fn cut(&self, packing: ObjectPacking, ends: &[usize]) -> Result<Vec<Vec<u8>>> {
        let starts = std::iter::once(&0).chain(ends);
        starts.zip(ends).map(|(start, end)| self.block(packing, *start..*end)).collect()
    }
}

/// Refuses an object that fits no chunk.
pub(super) fn check_len(len: usize) -> Result<()> {
    if len <= LONGEST {
        return Ok(());
    }
    Err(Error::limit(format!("an object of {len} bytes: a chunk has room for {LONGEST}")))
}
