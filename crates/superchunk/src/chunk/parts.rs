//! Many small parts of a chunk, each handed on as it is decoded: what a slice of an N-d array needs.
//!
//! Everything happens on the calling thread with memory for one block, so that several threads can
//! read several chunks at once.

use std::ops::Range;

use super::block::Stretches;
use super::decode::Decoder;
use super::fetched::{ChunkBytes, Fetched};
use super::header::{Content, Header};
use super::layout::{Layout, dictionary};
use super::lazy::{LazyChunk, fetch_dictionary, too_few};
use super::special;
use super::targets::{Blocks, Target};
use super::worker::{self, Output, Worker};
use crate::error::{Error, MustGet, Result};
use crate::exec::Executor;
use crate::filters::scratch;

/// Parts of a chunk, and what becomes of them.
pub(crate) trait Parts {
    /// The bytes of the chunk that part `number` is, or `None` behind the last part. Parts are in
    /// ascending order.
    fn range(&self, number: usize) -> Option<Range<usize>>;

    /// Where the bytes of the part shall go as they are; its length is that of the range. `None`
    /// when they shall be [taken](Parts::take) instead.
    fn room(&mut self, number: usize) -> Option<&mut [u8]>;

    /// The stretches of the part that are looked at when it is taken, if not all of it. The part is one of a single block.
    fn stretches(&self, _number: usize) -> Option<Stretches> {
        None
    }

    /// How many parts, this one first, had better be taken together.
    fn together(&mut self, _number: usize) -> usize {
        1
    }

    /// Takes the bytes of some parts, one behind the other.
    fn take(&mut self, numbers: Range<usize>, bytes: &[u8]) -> Result<()>;
}

impl Decoder {
    /// Decodes parts of a chunk.
    pub(crate) fn read_parts(&mut self, chunk: &[u8], parts: &mut dyn Parts) -> Result<()> {
        let header = Header::parse(chunk)?;
        let chunk = header.whole_chunk(chunk)?;
        self.begin(header.nbytes)?;
        match header.content {
            Content::VariableBlocks => Err(variable_blocks()),
            Content::Blocks => {
                let dict = dictionary(&header, chunk)?;
                let layout = Layout::parse(&header, chunk)?.with_dictionary(dict);
                let bytes_of = |block| {
                    let start = layout.block_start(block)?;
                    Ok((start, chunk.must_get(start..)?))
                };
                let reader = self.block_reader(&header, dict)?;
                let blocks = Blocks { layout: &layout, reader: &reader, bytes_of };
                self.decode_parts(&header, &blocks, parts)
            }
            _ => each(&mut self.parts, header.nbytes, parts, |range, _, dst| {
                special::fill(&header, chunk, range, Output::Whole, dst)
            }),
        }
    }

    /// The same for a chunk that is stored elsewhere: of its blocks only those are read that hold the parts.
    pub(crate) fn read_lazy_parts(
        &mut self,
        lazy: &LazyChunk,
        source: &mut dyn ChunkBytes,
        parts: &mut dyn Parts,
    ) -> Result<()> {
        let header = lazy.header();
        self.begin(header.nbytes)?;
        match header.content {
            Content::Blocks => {}
            Content::Stored => {
                let (payload, mut bytes) = (header.header_len(), Vec::new());
                return each(&mut self.parts, header.nbytes, parts, |range, _, dst| {
                    let wanted = payload + range.start..payload + range.end;
                    let found = source.fetch(wanted, &mut bytes)?;
                    let bytes = bytes.get(..found).and_then(|bytes| bytes.get(..dst.len()));
                    dst.copy_from_slice(bytes.ok_or_else(too_few)?);
                    Ok(())
                });
            }
            _ => return Err(variable_blocks()),
        }
        let mut fetched = std::mem::take(&mut self.fetched);
        let read = self.read_lazy_block_parts(lazy, source, &mut fetched, parts);
        self.fetched = fetched;
        read
    }

    fn read_lazy_block_parts(
        &mut self,
        lazy: &LazyChunk,
        source: &mut dyn ChunkBytes,
        fetched: &mut Fetched,
        parts: &mut dyn Parts,
    ) -> Result<()> {
        let header = lazy.header();
        let dict = fetch_dictionary(header, source)?;
        let layout = Layout::parse(header, lazy.prefix())?.with_dictionary(&dict);
        let reader = self.block_reader(header, &dict)?;
        let ranges = (0..).map_while(|number| parts.range(number));
        fetched.read(lazy, (&reader, &layout), ranges, source)?;
        let bytes_of = |block: usize| fetched.get(block);
        let blocks = Blocks { layout: &layout, reader: &reader, bytes_of };
        self.decode_parts(header, &blocks, parts)
    }

    fn decode_parts<'a>(
        &mut self,
        header: &Header,
        blocks: &Blocks<'a, impl Fn(usize) -> Result<(usize, &'a [u8])> + Sync>,
        parts: &mut dyn Parts,
    ) -> Result<()> {
        self.limits.check_decoded(header.blocksize)?;
        let first = match blocks.reader.pipeline.has_delta() {
            true => decode_first(blocks, &mut self.workers, header)?,
            false => Vec::new(),
        };
        worker::at_least(&mut self.workers, 1);
        let (workers, geometry) = (&mut self.workers, header.geometry());
        each(&mut self.parts, header.nbytes, parts, |range, stretches, dst| {
            let targets = Target::cover(geometry, &range, dst)?;
            let targets =
                targets.into_iter().map(|target| target.in_stretches(stretches)).collect();
            blocks.decode_here(workers.must_get_mut(0)?, targets, &first)
        })
    }
}

/// The first block, which the others differ from.
fn decode_first<'a>(
    blocks: &Blocks<'a, impl Fn(usize) -> Result<(usize, &'a [u8])> + Sync>,
    workers: &mut Vec<Worker>,
    header: &Header,
) -> Result<Vec<u8>> {
    let mut first = vec![0; header.geometry().block_range(0).len()];
    let target = Target::new(0, 0..first.len(), &mut first);
    blocks.decode(&Executor::inline(), workers, vec![target], Output::ReadAtOnce)?;
    Ok(first)
}

/// Has every part of a chunk of `nbytes` filled, and handed on.
pub(crate) fn each(
    buffer: &mut Vec<u8>,
    nbytes: usize,
    parts: &mut dyn Parts,
    mut fill: impl FnMut(Range<usize>, Option<Stretches>, &mut [u8]) -> Result<()>,
) -> Result<()> {
    let mut number = 0;
    while let Some(range) = checked_range(parts, number, nbytes)? {
        if let Some(room) = parts.room(number).filter(|room| room.len() == range.len()) {
            fill(range, None, room)?;
            number += 1;
            continue;
        }
        let (first, mut len) = (number, 0);
        let last = number + parts.together(number).max(1);
        while let Some(range) = checked_range(parts, number, nbytes)?.filter(|_| number < last) {
            let end = len + range.len();
            let dst = scratch(buffer, end).must_get_mut(len..)?;
            fill(range, parts.stretches(number), dst)?;
            (number, len) = (number + 1, end);
        }
        parts.take(first..number, scratch(buffer, len))?;
    }
    Ok(())
}

/// The range of a part, which is inside of the chunk.
fn checked_range(parts: &dyn Parts, number: usize, nbytes: usize) -> Result<Option<Range<usize>>> {
    match parts.range(number) {
        Some(range) if range.start > range.end || range.end > nbytes => {
            Err(Error::invalid(format!("bytes {range:?} are not inside of the chunk's {nbytes}")))
        }
        range => Ok(range),
    }
}

fn variable_blocks() -> Error {
    Error::unsupported("parts of a chunk of variable-length blocks")
}
