//! Chunks of variable-length blocks: each block is an object of its own length.
//!
//! ```text
//! bstarts[i]                          bstarts[i + 1], or the end of the chunk
//! ┌────────────┬──────────────────────┐
//! │ usize: i32 │ payload              │   as long as usize: raw; shorter or longer: codec output
//! └────────────┴──────────────────────┘
//! ```
//!
//! Blocks are in order, never split, never runs, and filtered each on its own.

use std::ops::Range;

use super::block::{BlockReader, BlockWriter};
use super::check::Original;
use super::decode::Decoder;
use super::dict;
use super::effort::Effort;
use super::encode::{Encoder, manner_of, put_i32};
use super::header::{Content, Header, VERSION_VL};
use super::layout::{MAX_DICTIONARY, bstarts_end, dictionary};
use super::line::Line;
use super::stream::Stream;
use super::tune::Cut;
use super::worker::{self, Worker};
use crate::error::{Error, MustGet, Result};
use crate::filters::{Reference, scratch};
use crate::options::ChunkFormat;
use crate::wire::{self, Reader};

impl Encoder {
    /// Compresses `blocks` into one chunk from which each can be read alone, appends it to `out`
    /// and returns its length. After an error `out` is as it was.
    ///
    /// Such chunks exist since C-Blosc2 3.0; older readers refuse them. No block may be empty.
    pub fn compress_blocks_into(&mut self, blocks: &[&[u8]], out: &mut Vec<u8>) -> Result<usize> {
        let start = out.len();
        let made = self.append_vl_chunk(blocks, out);
        self.finish(made, &Original::Objects(blocks), out, start)
    }

    fn append_vl_chunk(&mut self, blocks: &[&[u8]], out: &mut Vec<u8>) -> Result<()> {
        if self.options.format == ChunkFormat::Blosc1 {
            return Err(Error::invalid("a Blosc1 chunk has no variable-length blocks"));
        }
        if blocks.is_empty() || blocks.iter().any(|block| block.is_empty()) {
            return Err(Error::invalid("variable-length blocks: at least one, and none empty"));
        }
        let nbytes: usize = blocks.iter().map(|block| block.len()).sum();
        self.begin(nbytes)?;
        let chunk_start = out.len();
        let mut header = self.header(
            nbytes,
            Cut { blocksize: blocks.len(), split: false },
            Content::VariableBlocks,
            0,
        );
        header.version = VERSION_VL;
        let dict = if self.options.dictionary { dict::make_vl(self, blocks)? } else { Vec::new() };
        header.dictionary = !dict.is_empty();
        header.write(out)?;
        let bstarts = out.len();
        out.resize(bstarts + 4 * blocks.len(), 0);
        if header.dictionary {
            out.extend(wire::stored(dict.len())?.to_le_bytes());
            out.extend_from_slice(&dict);
        }
        let writer = BlockWriter {
            pipeline: &self.pipeline,
            effort: Effort {
                method: &self.method,
                manner: manner_of(&self.options, &self.pipeline, 0),
                dict: &dict,
            },
            runs_allowed: false,
            marked: None,
        };
        let executor = &self.options.executor;
        let threads = worker::useful_threads(executor, blocks.len(), nbytes);
        let workers = worker::at_least(&mut self.workers, threads);
        let begin = |index: usize, out: &mut Vec<u8>| {
            let position = out.len() - chunk_start;
            put_i32(out, bstarts + 4 * index, position).map(|()| true)
        };
        // No block is held back.
        let mut line = Line::new(out, begin, |_: &mut Worker, _, _: &mut Vec<u8>| Ok(()));
        line.append_all(
            executor,
            workers,
            &mut self.spare,
            blocks.len(),
            |worker, index, _, out| {
                let block = blocks.must_get(index)?;
                writer.encode_vl(worker, block, out).map(|()| false)
            },
        )?;
        let cbytes = out.len() - chunk_start;
        put_i32(out, chunk_start + 12, cbytes)
    }
}

impl BlockWriter<'_> {
    /// Appends one variable-length block.
    fn encode_vl(&self, worker: &mut Worker, block: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let Worker { codec, streams, a, b, .. } = worker;
        let filtered = self.pipeline.forward(Reference::Itself, block, a, b)?;
        out.extend(wire::stored(block.len())?.to_le_bytes());
        let coded = scratch(streams, filtered.len() - 1);
        let len = match self.effort.manner.level {
            0 => None,
            _ => self.effort.compress(None, codec, filtered, coded, None)?,
        };
        let coded = len.filter(|len| *len > 0).and_then(|len| coded.get(..len));
        out.extend_from_slice(coded.unwrap_or(filtered));
        Ok(())
    }
}

impl Decoder {
    /// Decodes block `index` of a chunk of variable-length blocks.
    pub fn read_block(&mut self, chunk: &[u8], index: usize) -> Result<Vec<u8>> {
        let header = Header::parse(chunk)?;
        let chunk = header.whole_chunk(chunk)?;
        check_block(&header, index)?;
        let dict = dictionary(&header, chunk)?;
        self.decode_block(&header, dict, &VlBlock::parse(&header, chunk, index)?, index)
    }

    /// The same for a chunk of which only the first bytes are here, [`vl_prefix_len`] of them or all
    /// there are; `fetch` is asked for those of the block.
    pub(crate) fn read_block_from(
        &mut self,
        prefix: &[u8],
        index: usize,
        fetch: impl FnOnce(Range<usize>) -> Result<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let header = Header::parse(prefix)?;
        check_block(&header, index)?;
        let dict = dictionary(&header, prefix)?;
        let place = VlBlock::place(&header, prefix, index)?;
        let bytes = fetch(place.clone())?;
        let block = VlBlock::parse_at(place, &bytes, index)?;
        self.decode_block(&header, dict, &block, index)
    }

    fn decode_block(
        &mut self,
        header: &Header,
        dict: &[u8],
        block: &VlBlock<'_>,
        index: usize,
    ) -> Result<Vec<u8>> {
        if block.len > header.nbytes {
            return Err(Error::corrupt(format!("block {index} is longer than its chunk")).at(
                "chunk",
                "usize",
                block.position,
            ));
        }
        self.limits.check_decoded(block.len)?;
        self.begin(block.len)?;
        let mut out = vec![0; block.len];
        let reader = self.block_reader(header, dict)?;
        let worker = worker::at_least(&mut self.workers, 1).must_get_mut(0)?;
        block.decode(&reader, worker, &mut out)?;
        Ok(out)
    }
}

/// The lengths of the blocks of a chunk of variable-length blocks, in order.
pub(super) fn block_lens(header: &Header, chunk: &[u8]) -> Result<Vec<usize>> {
    Ok(parse_all(header, chunk)?.iter().map(|block| block.len).collect())
}

/// How many bytes of a chunk [`Decoder::read_block_from`] needs to find a block: up to the end of the
/// starts, and of the dictionary, whose length stands behind them.
pub(crate) fn vl_prefix_len(header: &Header) -> usize {
    let dict = if header.dictionary { 4 + MAX_DICTIONARY } else { 0 };
    bstarts_end(header).saturating_add(dict).min(header.cbytes)
}

fn check_block(header: &Header, index: usize) -> Result<()> {
    if header.content == Content::VariableBlocks && index < header.block_count() {
        return Ok(());
    }
    Err(Error::invalid(format!("there is no variable-length block {index} in this chunk")))
}

/// Decodes all blocks but the skipped ones.
pub(super) fn decode_all(
    decoder: &mut Decoder,
    header: &Header,
    chunk: &[u8],
    dst: &mut [u8],
    skipped: impl Fn(usize) -> bool,
) -> Result<()> {
    let blocks = parse_all(header, chunk)?;
    let dict = dictionary(header, chunk)?;
    let reader = decoder.block_reader(header, dict)?;
    let mut rest = dst;
    let mut jobs = Vec::with_capacity(blocks.len());
    for (index, block) in blocks.into_iter().enumerate() {
        let (part, tail) = std::mem::take(&mut rest).must_split_at_mut(block.len)?;
        if !skipped(index) {
            jobs.push((block, part, Ok(())));
        }
        rest = tail;
    }
    let threads = worker::useful_threads(&decoder.executor, jobs.len(), header.nbytes);
    let workers = worker::at_least(&mut decoder.workers, threads);
    decoder.executor.for_each(workers, &mut jobs, |worker, _, (block, part, outcome)| {
        *outcome = block.decode(&reader, worker, part);
    });
    jobs.into_iter().try_for_each(|(_, _, outcome)| outcome)
}

/// Decodes the bytes `range`, which is as long as `dst`.
pub(super) fn decode_range(
    decoder: &mut Decoder,
    header: &Header,
    chunk: &[u8],
    range: Range<usize>,
    dst: &mut [u8],
) -> Result<()> {
    let dict = dictionary(header, chunk)?;
    let reader = decoder.block_reader(header, dict)?;
    let worker = worker::at_least(&mut decoder.workers, 1).must_get_mut(0)?;
    let mut block_start = 0;
    let mut rest = dst;
    for block in parse_all(header, chunk)? {
        let start = range.start.max(block_start);
        let end = range.end.min(block_start + block.len);
        if start < end {
            decoder.limits.check_decoded(block.len)?;
            let mut whole = vec![0; block.len];
            block.decode(&reader, worker, &mut whole)?;
            let (part, tail) = std::mem::take(&mut rest).must_split_at_mut(end - start)?;
            for (to, from) in part.iter_mut().zip(whole.iter().skip(start - block_start)) {
                *to = *from;
            }
            rest = tail;
        }
        block_start += block.len;
    }
    Ok(())
}

/// One block as stored.
struct VlBlock<'a> {
    position: usize,
    len: usize,
    payload: &'a [u8],
}

impl<'a> VlBlock<'a> {
    /// Reads the start, the end and the length of block `index`.
    fn parse(header: &Header, chunk: &'a [u8], index: usize) -> Result<Self> {
        let place = Self::place(header, chunk, index)?;
        let bytes = Reader::new("chunk", chunk).seek(place.start).take("payload", place.len())?;
        Self::parse_at(place, bytes, index)
    }

    /// Where block `index` lies; `prefix` reaches at least to the end of the starts.
    fn place(header: &Header, prefix: &[u8], index: usize) -> Result<Range<usize>> {
        let field = header.header_len() + 4 * index;
        let mut starts = Reader::new("chunk", prefix).seek(field);
        let start = wire::index(starts.i32("bstarts")?);
        let end = if index + 1 == header.block_count() {
            Some(header.cbytes)
        } else {
            wire::index(starts.i32("bstarts")?)
        };
        let (Some(start), Some(end)) = (start, end) else {
            return Err(Error::corrupt("a negative block start").at("chunk", "bstarts", field));
        };
        // The length, and at least one byte of payload.
        if start < bstarts_end(header) || end > header.cbytes || start + 4 >= end {
            return Err(Error::corrupt(format!("block {index} lies at {start} to {end}"))
                .at("chunk", "bstarts", field));
        }
        Ok(start..end)
    }

    /// Reads the block that lies at `place` of its chunk; these are its bytes.
    fn parse_at(place: Range<usize>, bytes: &'a [u8], index: usize) -> Result<Self> {
        let moved = |error: Error| error.moved_by(place.start);
        let mut reader = Reader::new("chunk", bytes);
        let len = wire::index(reader.i32("usize").map_err(moved)?).filter(|len| *len > 0);
        let len = len.ok_or_else(|| {
            Error::corrupt(format!("block {index} has no length")).at("chunk", "usize", place.start)
        })?;
        let payload = reader.take("payload", place.len() - 4).map_err(moved)?;
        Ok(Self { position: place.start, len, payload })
    }

    fn decode(&self, reader: &BlockReader<'_>, worker: &mut Worker, dst: &mut [u8]) -> Result<()> {
        let stream = if self.payload.len() == self.len {
            Stream::Raw(self.payload)
        } else {
            Stream::Coded(self.payload, 4)
        };
        reader
            .decode_single(worker, stream, Reference::Itself, false, dst)
            .map_err(|error| error.moved_by(self.position))
    }
}

/// All blocks, whose lengths must add up to the length of the chunk.
fn parse_all<'a>(header: &Header, chunk: &'a [u8]) -> Result<Vec<VlBlock<'a>>> {
    Reader::new("chunk", chunk).take("bstarts", bstarts_end(header))?;
    let mut blocks = Vec::with_capacity(header.block_count());
    let mut total = 0usize;
    for index in 0..header.block_count() {
        let block = VlBlock::parse(header, chunk, index)?;
        total = total.saturating_add(block.len);
        if total > header.nbytes {
            break;
        }
        blocks.push(block);
    }
    if total != header.nbytes {
        return Err(Error::corrupt(format!(
            "the blocks add up to {total} bytes or more, the header says {}",
            header.nbytes
        ))
        .at("chunk", "nbytes", 4));
    }
    Ok(blocks)
}
