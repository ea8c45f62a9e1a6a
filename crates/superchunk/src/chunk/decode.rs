//! Chunks to bytes: whole, without masked blocks, or a range.

use std::fmt;
use std::ops::Range;

use super::block::BlockReader;
use super::fetched::Fetched;
use super::header::{Content, Header};
use super::items::Seen;
use super::layout::{Layout, dictionary};
use super::special;
use super::targets::{Blocks, Target};
use super::vl;
use super::worker::{self, Output, Worker};
use crate::block_shape::BlockShape;
use crate::error::{Error, MustGet, Result};
use crate::exec::{Executor, Work};
use crate::limits::Limits;
use crate::registry::Registry;

/// Decompresses chunks; keeps its scratch memory from one to the next.
///
/// ```
/// use superchunk::{chunk, CompressOptions, Executor};
///
/// let bytes: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
/// let packed = chunk::compress(&bytes, &CompressOptions::new(4))?;
///
/// let mut decoder = chunk::Decoder::new().with_executor(Executor::threads(2));
/// let mut out = vec![0; bytes.len()];
/// decoder.decompress_into(&packed, &mut out)?;
/// assert_eq!(out, bytes);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Default)]
pub struct Decoder {
    pub(super) executor: Executor,
    pub(super) limits: Limits,
    pub(super) registry: Registry,
    pub(super) shape: Option<BlockShape>,
    pub(super) marks: bool,
    pub(super) workers: Vec<Worker>,
    /// A part that somebody waits for.
    pub(super) parts: Vec<u8>,
    /// Stored blocks of a chunk that is elsewhere.
    pub(super) fetched: Fetched,
    pub(super) output: Output,
    /// The header of the chunk that a part was read of last.
    pub(super) seen: Option<Box<Seen>>,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("executor", &self.executor)
            .field("limits", &self.limits)
            .field("registry", &self.registry)
            .field("block_shape", &self.shape)
            .field("marks", &self.marks)
            .finish_non_exhaustive()
    }
}

impl Decoder {
    /// A decoder on this thread, with default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same decoder with the work done by `executor`.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// The same decoder with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same decoder with the user's codecs and filters.
    #[must_use]
    pub fn with_registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// The same decoder for N-d blocks of this shape.
    #[must_use]
    pub fn with_block_shape(mut self, shape: BlockShape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// The same decoder, which finds a few items by the marks of the chunk where it has some.
    ///
    /// Marks are a promise of the writer. In a chunk that was made to deceive, an item that is read
    /// alone may then differ from the same item of the whole chunk, so they are not used by
    /// default; [`check_marks`](Self::check_marks) finds out whether they are true.
    #[must_use]
    pub fn with_marks(mut self, marks: bool) -> Self {
        self.marks = marks;
        self
    }

    /// Makes sure that all marks of a chunk are true; a chunk without marks is good.
    pub fn check_marks(&mut self, chunk: &[u8]) -> Result<()> {
        let header = Header::parse(chunk)?;
        if header.content != Content::Blocks {
            return Ok(());
        }
        let chunk = header.whole_chunk(chunk)?;
        let dict = dictionary(&header, chunk)?;
        let layout = Layout::parse(&header, chunk)?.with_dictionary(dict);
        let reader = self.block_reader(&header, dict)?;
        let bytes_of = |block| {
            let start = layout.block_start(block)?;
            Ok((start, chunk.must_get(start..)?))
        };
        let blocks = Blocks { layout: &layout, reader: &reader, bytes_of };
        blocks.check_marks(worker::at_least(&mut self.workers, 1))
    }

    /// Makes sure that the codec and the filters of chunks with this header are known.
    pub(crate) fn check_known(&self, header: &Header) -> Result<()> {
        match header.content {
            Content::Blocks | Content::VariableBlocks => self.block_reader(header, &[]).map(drop),
            _ => Ok(()),
        }
    }

    /// Asks whether `len` bytes of a chunk are to be decoded.
    #[inline]
    pub(super) fn begin(&self, len: usize) -> Result<()> {
        self.executor.begin(Work::Decompress, len, None)
    }

    /// What reads the blocks of chunks with this header.
    pub(super) fn block_reader<'a>(
        &self,
        header: &Header,
        dict: &'a [u8],
    ) -> Result<BlockReader<'a>> {
        let reader = BlockReader::new(header, dict, self.shape.as_ref(), &self.registry)?;
        Ok(BlockReader { uses_marks: self.marks, ..reader })
    }

    /// The same decoder, told what becomes of what it decodes next.
    pub(crate) fn for_output(&mut self, output: Output) -> &mut Self {
        self.output = output;
        self
    }

    /// Decompresses a chunk. Bytes behind its end are ignored.
    pub fn decompress(&mut self, chunk: &[u8]) -> Result<Vec<u8>> {
        let header = Header::parse(chunk)?;
        self.limits.check_decoded(header.nbytes)?;
        header.whole_chunk(chunk)?;
        let mut out = vec![0; header.nbytes];
        self.decompress_parsed(&header, chunk, &mut out, None)?;
        Ok(out)
    }

    /// Makes sure that a chunk can be decompressed, with little memory: a piece of it at a time.
    pub(crate) fn check(&mut self, chunk: &[u8]) -> Result<()> {
        /// How much is decoded at a time, unless a block is longer.
        const PIECE: usize = 16 << 20;
        let header = Header::parse(chunk)?;
        self.limits.check_decoded(header.nbytes)?;
        let chunk = header.whole_chunk(chunk)?;
        let blocks = (PIECE / header.blocksize.max(1)).max(1);
        let piece = match header.content {
            Content::VariableBlocks => header.nbytes,
            _ => header.blocksize.saturating_mul(blocks).clamp(1, header.nbytes.max(1)),
        };
        let mut out = Vec::new();
        out.try_reserve_exact(piece)
            .map_err(|_| Error::limit(format!("there is no memory for {piece} bytes")))?;
        out.resize(piece, 0);
        if header.content == Content::VariableBlocks {
            return self.decompress_parsed(&header, chunk, &mut out, None);
        }
        (0..header.nbytes).step_by(piece).try_for_each(|start| {
            let range = start..header.nbytes.min(start + piece);
            let out = out.must_get_mut(..range.len())?;
            self.decode_range(&header, chunk, range, out)
        })
    }

    /// Decompresses a chunk into the start of `dst` and returns its length.
    pub fn decompress_into(&mut self, chunk: &[u8], dst: &mut [u8]) -> Result<usize> {
        let header = Header::parse(chunk)?;
        self.decompress_parsed(&header, chunk, dst, None)?;
        Ok(header.nbytes)
    }

    /// Decompresses a chunk without the blocks whose `skip` is true; their bytes in `dst` stay as
    /// they are. `skip` has one entry for each block.
    pub fn decompress_masked(
        &mut self,
        chunk: &[u8],
        skip: &[bool],
        dst: &mut [u8],
    ) -> Result<usize> {
        let header = Header::parse(chunk)?;
        if skip.len() != header.block_count() {
            return Err(Error::invalid(format!(
                "the mask has {} entries, the chunk {} blocks",
                skip.len(),
                header.block_count()
            )));
        }
        self.decompress_parsed(&header, chunk, dst, Some(skip))?;
        Ok(header.nbytes)
    }

    fn decompress_parsed(
        &mut self,
        header: &Header,
        chunk: &[u8],
        dst: &mut [u8],
        skip: Option<&[bool]>,
    ) -> Result<()> {
        self.limits.check_decoded(header.nbytes)?;
        let chunk = header.whole_chunk(chunk)?;
        self.begin(header.nbytes)?;
        let room = dst.len();
        let dst = dst.get_mut(..header.nbytes).ok_or_else(|| {
            Error::invalid(format!("the chunk has {} bytes, the buffer {room}", header.nbytes))
        })?;
        let skipped = |block: usize| skip.is_some_and(|skip| skip.get(block) == Some(&true));
        if header.content == Content::VariableBlocks {
            return vl::decode_all(self, header, chunk, dst, skipped);
        }
        if header.content != Content::Blocks && skip.is_none() {
            return special::fill_all(&self.executor, header, chunk, self.output, dst);
        }
        let geometry = header.geometry();
        let blocks = dst.chunks_mut(header.blocksize).enumerate();
        let targets = blocks
            .filter(|(block, _)| !skipped(*block))
            .map(|(block, dst)| Target::new(block, 0..geometry.block_range(block).len(), dst));
        if header.content == Content::Blocks {
            return self.decode_targets(header, chunk, || Ok(targets.collect()));
        }
        targets.into_iter().try_for_each(|target| {
            let start = geometry.block_range(target.block).start;
            special::fill(header, chunk, start..start + target.dst.len(), self.output, target.dst)
        })
    }

    /// Decodes the bytes `range` of a checked chunk into `dst`, which has the same length.
    pub(super) fn decode_range(
        &mut self,
        header: &Header,
        chunk: &[u8],
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        if header.content == Content::Blocks {
            // A part needs a whole block of scratch memory.
            self.limits.check_decoded(header.blocksize)?;
            return self
                .decode_targets(header, chunk, || Target::cover(header.geometry(), &range, dst));
        }
        special::fill(header, chunk, range, self.output, dst)
    }

    /// Decodes the targets, which are made when the chunk is known to have as many blocks as it says.
    fn decode_targets<'d>(
        &mut self,
        header: &Header,
        chunk: &[u8],
        targets: impl FnOnce() -> Result<Vec<Target<'d>>>,
    ) -> Result<()> {
        let dict = dictionary(header, chunk)?;
        let layout = Layout::parse(header, chunk)?.with_dictionary(dict);
        let reader = self.block_reader(header, dict)?;
        let bytes_of = |block| {
            let start = layout.block_start(block)?;
            Ok((start, chunk.must_get(start..)?))
        };
        let blocks = Blocks { layout: &layout, reader: &reader, bytes_of };
        blocks.decode(&self.executor, &mut self.workers, targets()?, self.output)
    }
}
