//! Where the blocks of a chunk are: the sections behind the header.
//!
//! ```text
//! ┌────────┬────────────────────┬──────────────────────────┬─────────────────────────────┐
//! │ header │ bstarts: i32 × nb  │ dsize: i32 │ dictionary  │ streams, blocks in any order │
//! └────────┴────────────────────┴──────────────────────────┴─────────────────────────────┘
//!                                └ only with a dictionary ┘
//! ```

use std::ops::Range;

use super::geometry::Geometry;
use super::header::{Content, Header};
use crate::error::{Error, Result};
use crate::wire::Reader;

/// The largest dictionary a chunk may carry.
pub(super) const MAX_DICTIONARY: usize = 32 * 1024;

/// Block starts, read from a prefix of the chunk that reaches to the end of `bstarts`.
pub(super) struct Layout<'a> {
    header: &'a Header,
    prefix: &'a [u8],
    /// Where the first block may begin.
    data_start: usize,
    /// All starts in physical order; filled only where the end of a block must be known.
    in_order: Vec<usize>,
}

impl<'a> Layout<'a> {
    /// Checks that `bstarts` fits the chunk and is here.
    pub(super) fn parse(header: &'a Header, prefix: &'a [u8]) -> Result<Self> {
        let end = bstarts_end(header);
        if end > header.cbytes {
            return Err(Error::corrupt(format!(
                "the starts of {} blocks end at {end}, the chunk at {}",
                header.block_count(),
                header.cbytes
            ))
            .at("chunk", "bstarts", header.header_len()));
        }
        Reader::new("chunk", prefix).take("bstarts", end)?;
        let layout = Self { header, prefix, data_start: end, in_order: Vec::new() };
        if layout.has_doubtful_split() { layout.with_extents() } else { Ok(layout) }
    }

    /// The same layout of a chunk whose dictionary has this length.
    pub(super) fn with_dictionary(mut self, dict: &[u8]) -> Self {
        if self.header.dictionary {
            self.data_start += 4 + dict.len();
        }
        self
    }

    /// The same layout, able to tell where blocks end.
    pub(super) fn with_extents(mut self) -> Result<Self> {
        let blocks = 0..self.header.block_count();
        self.in_order = blocks.map(|block| self.block_start(block)).collect::<Result<_>>()?;
        self.in_order.sort_unstable();
        Ok(self)
    }

    /// The blocks as pieces of the decoded bytes.
    pub(super) fn geometry(&self) -> Geometry {
        self.header.geometry()
    }

    /// Where the streams of `block` begin.
    pub(super) fn block_start(&self, block: usize) -> Result<usize> {
        let position = self.header.header_len() + 4 * block;
        let start = Reader::new("chunk", self.prefix).seek(position).i32("bstarts")?;
        let first = self.data_start;
        match usize::try_from(start) {
            Ok(start) if start >= first && start + 4 <= self.header.cbytes => Ok(start),
            _ => Err(Error::corrupt(format!(
                "block {block} starts at {start}, outside of {first} to {}",
                self.header.cbytes
            ))
            .at("chunk", "bstarts", position)),
        }
    }

    /// Where the block after `block` begins, or the chunk ends. That is not where `block` ends if blocks are not in order.
    pub(super) fn next_start(&self, block: usize) -> Option<usize> {
        let next = block + 1;
        if next < self.header.block_count() {
            self.block_start(next).ok()
        } else {
            Some(self.header.cbytes)
        }
    }

    /// Where `block` lies: from its start to the next larger start, or to the end of the chunk.
    /// Needs [`Layout::with_extents`].
    pub(super) fn block_extent(&self, block: usize) -> Result<Range<usize>> {
        let start = self.block_start(block)?;
        let next = self.in_order.partition_point(|other| *other <= start);
        Ok(start..self.in_order.get(next).map_or(self.header.cbytes, |next| *next))
    }

    /// The number of streams in `block`, if its bytes need not be asked.
    pub(super) fn stated_stream_count(&self, block: usize) -> Option<usize> {
        if !self.header.split || self.geometry().is_leftover(block) {
            return Some(1);
        }
        (!self.has_doubtful_split()).then(|| self.header.item_size())
    }

    /// The number of streams in `block`, whose bytes (from its start) are `bytes`.
    pub(super) fn stream_count(&self, block: usize, bytes: &[u8]) -> Result<usize> {
        if let Some(count) = self.stated_stream_count(block) {
            return Ok(count);
        }
        // Old writers left such blocks whole although the flag says split. One stream is right if
        // it ends where the next block begins.
        let csize = Reader::new("chunk", bytes).i32("csize")?;
        let one_stream = usize::try_from(csize).ok().map(|csize| csize + 4);
        let extent = self.block_extent(block)?;
        Ok(if one_stream == Some(extent.len()) { 1 } else { self.header.item_size() })
    }

    /// C-Blosc 1 never split items above 16 bytes or blocks below 128 items, but before 1.11 its
    /// flags did not say so.
    fn has_doubtful_split(&self) -> bool {
        let typesize = self.header.item_size();
        self.header.split
            && !self.header.extended
            && self.header.version <= 2
            && (typesize > 16 || self.header.blocksize / typesize < 128)
    }
}

/// The end of `bstarts`, where the dictionary or the first stream begins. An absurd number of blocks
/// gives an absurd position, also where `usize` has 32 bits.
pub(super) fn bstarts_end(header: &Header) -> usize {
    let starts = match header.content {
        Content::Blocks | Content::VariableBlocks => header.block_count(),
        _ => 0,
    };
    starts.saturating_mul(4).saturating_add(header.header_len())
}

/// The dictionary of a whole chunk; empty when it has none.
pub(super) fn dictionary<'a>(header: &Header, chunk: &'a [u8]) -> Result<&'a [u8]> {
    if !header.dictionary {
        return Ok(&[]);
    }
    let position = bstarts_end(header);
    let mut reader = Reader::new("chunk", chunk).seek(position);
    let len = dictionary_len(reader.i32("dsize")?, position)?;
    reader.take("dictionary", len)
}

/// Checks the length field of a dictionary.
pub(super) fn dictionary_len(dsize: i32, position: usize) -> Result<usize> {
    match usize::try_from(dsize) {
        Ok(len) if (1..=MAX_DICTIONARY).contains(&len) => Ok(len),
        _ => Err(Error::corrupt(format!(
            "a dictionary of {dsize} bytes, it must have 1 to {MAX_DICTIONARY}"
        ))
        .at("chunk", "dsize", position)),
    }
}
