//! The stored bytes of blocks whose chunk is elsewhere, read before the blocks are decoded.
//!
//! A block takes one read. Where small reads cost next to nothing, a few items of a block of planes take several: of a raw
//! plane only these items are read, which is all that the decoder looks at.
//!
//! ```text
//!  block   │csize│ coded plane │csize│ raw plane … items … │csize│ raw plane … items … │
//!  read     ━━━━━━━━━━━━━━━━━━━━━━━━━            ━━━━━      ━━━━━            ━━━━━
//! ```

use std::ops::Range;

use super::block::BlockReader;
use super::layout::Layout;
use super::lazy::{LazyChunk, too_few};
use crate::error::{MustGet, Result};
use crate::filters::scratch;
use crate::wire::{self, Reader};

/// Planes of fewer bytes are read as a whole.
const LONG_PLANE: usize = 64 * 1024;
/// So much of a plane, or less, are a few items of it.
const FEW: usize = 16;
/// Blocks that claim to be longer get memory as their bytes come.
const LONG_BLOCK: usize = 1 << 20;
/// What precedes a stream: its length, and the token if it is a run.
const STREAM_HEAD: usize = 5;

/// The bytes of a stored chunk, wherever they are.
pub(crate) trait ChunkBytes {
    /// Puts the bytes `range` into the start of `buffer` and tells how many came: fewer where the chunk ends. What else
    /// is in the buffer has no meaning.
    fn fetch(&mut self, range: Range<usize>, buffer: &mut Vec<u8>) -> Result<usize>;

    /// Fills `dst` with the bytes from `position` on, if there are as many and small reads cost next to nothing.
    fn fetch_piece(&mut self, _position: usize, _dst: &mut [u8]) -> Result<bool> {
        Ok(false)
    }
}

/// What a function returns that is asked for ranges.
pub(super) struct Asked<F>(pub(super) F);

impl<F: FnMut(Range<usize>) -> Result<Vec<u8>>> ChunkBytes for Asked<F> {
    fn fetch(&mut self, range: Range<usize>, buffer: &mut Vec<u8>) -> Result<usize> {
        *buffer = (self.0)(range)?;
        Ok(buffer.len())
    }
}

/// Blocks in ascending order, and memory for further ones.
#[derive(Default)]
pub(super) struct Fetched {
    blocks: Vec<Block>,
    count: usize,
}

#[derive(Default)]
struct Block {
    number: usize,
    /// Where it begins in the chunk.
    position: usize,
    /// Its first `len` bytes are those of the block; all of them, or what a few items need.
    bytes: Vec<u8>,
    len: usize,
    whole: bool,
}

/// Items of a block of planes.
struct FewItems {
    planes: usize,
    plane_len: usize,
    items: Range<usize>,
}

impl FewItems {
    /// The items of `block` that hold the bytes `range` of the chunk, if they are few of a block of planes.
    fn of(
        reader: &BlockReader<'_>,
        layout: &Layout<'_>,
        block: usize,
        range: &Range<usize>,
    ) -> Option<Self> {
        let planes = layout.stated_stream_count(block)?;
        if planes < 2 || !reader.runs_allowed || reader.pipeline.only_planes() != Some(planes) {
            return None;
        }
        let all = layout.geometry().block_range(block);
        let start = range.start.saturating_sub(all.start) / planes;
        let end = range.end.min(all.end).saturating_sub(all.start).div_ceil(planes);
        let (plane_len, items) = (all.len() / planes, start..end);
        (plane_len >= LONG_PLANE && items.len() <= plane_len / FEW && end <= plane_len)
            .then_some(Self { planes, plane_len, items })
    }
}

impl Fetched {
    /// Reads the blocks that hold the bytes `ranges` of a chunk, which ascend, or as much as these need of them; what was read before
    /// is forgotten.
    pub(super) fn read(
        &mut self,
        lazy: &LazyChunk,
        (reader, layout): (&BlockReader<'_>, &Layout<'_>),
        ranges: impl Iterator<Item = Range<usize>>,
        source: &mut dyn ChunkBytes,
    ) -> Result<()> {
        self.count = 0;
        if reader.pipeline.has_delta() {
            self.add(lazy, 0, None, source)?;
        }
        for range in ranges {
            for block in layout.geometry().blocks_of(&range) {
                let few = FewItems::of(reader, layout, block, &range);
                self.add(lazy, block, few.as_ref(), source)?;
            }
        }
        Ok(())
    }

    /// Reads a block, or what a few of its items need, unless it is there. No block before it may be added later.
    fn add(
        &mut self,
        lazy: &LazyChunk,
        number: usize,
        few: Option<&FewItems>,
        source: &mut dyn ChunkBytes,
    ) -> Result<()> {
        let last = self.count.checked_sub(1).and_then(|last| self.blocks.get_mut(last));
        if let Some(last) = last.filter(|last| last.number >= number) {
            // Who has some of its items may need others.
            return if last.whole { Ok(()) } else { last.read(lazy, None, source) };
        }
        if self.blocks.len() == self.count {
            self.blocks.push(Block::default());
        }
        let block = self.blocks.must_get_mut(self.count)?;
        block.number = number;
        block.read(lazy, few, source)?;
        self.count += 1;
        Ok(())
    }

    /// Where a block begins in the chunk, and its bytes.
    pub(super) fn get(&self, number: usize) -> Result<(usize, &[u8])> {
        let blocks = self.blocks.must_get(..self.count)?;
        let found = blocks.binary_search_by_key(&number, |block| block.number);
        let block = found.ok().and_then(|at| blocks.get(at)).ok_or_else(too_few)?;
        Ok((block.position, wire::filled(&block.bytes, block.len)?))
    }
}

impl Block {
    fn read(
        &mut self,
        lazy: &LazyChunk,
        few: Option<&FewItems>,
        source: &mut dyn ChunkBytes,
    ) -> Result<()> {
        let extent = lazy.stream_extent(self.number)?;
        self.position = extent.start;
        let few = few.filter(|_| extent.len() <= LONG_BLOCK);
        if let Some(few) = few
            && self.read_items(extent.len(), few, source)?
        {
            (self.len, self.whole) = (extent.len(), false);
            return Ok(());
        }
        (self.len, self.whole) = (source.fetch(extent, &mut self.bytes)?, true);
        Ok(())
    }

    /// Reads a block of at most `len` bytes as far as a few items need it. False if that cannot be, or the block is not as
    /// it should be.
    fn read_items(
        &mut self,
        len: usize,
        few: &FewItems,
        source: &mut dyn ChunkBytes,
    ) -> Result<bool> {
        let FewItems { planes, plane_len, items } = few;
        let bytes = scratch(&mut self.bytes, len);
        let (mut at, mut known) = (0, 0);
        let mut fetch = |bytes: &mut [u8], range: Range<usize>| match bytes.get_mut(range.clone()) {
            Some(dst) => source.fetch_piece(self.position + range.start, dst),
            None => Ok(false),
        };
        for _ in 0..*planes {
            if known < at + 4 {
                known = len.min(at + STREAM_HEAD);
                if !fetch(bytes, at..known)? {
                    return Ok(false);
                }
            }
            let Ok(csize) = Reader::new("chunk", bytes).seek(at).i32("csize") else {
                return Ok(false);
            };
            let (start, stored) = (at + 4, usize::try_from(csize).unwrap_or(0));
            at = match csize {
                1.. => start + stored,
                0 => start,
                _ => start + 1,
            };
            let wanted = match stored == *plane_len {
                true => start + items.start..start + items.end,
                // With the head of the stream that follows.
                false => start..len.min(at + STREAM_HEAD),
            };
            if stored > 0 {
                known = if stored == *plane_len { 0 } else { wanted.end };
                if at > len || !fetch(bytes, wanted)? {
                    return Ok(false);
                }
            }
        }
        // Marks, where there are any.
        Ok(at == len || at < len && fetch(bytes, at..len)?)
    }
}
