//! Lazy chunks: header and block starts without the blocks, for a store that fetches blocks alone.
//!
//! ```text
//! ┌──────────────────┬─────────────────┬─────────────┬─────────────┬──────────────────┐
//! │ header, LAZY set │ bstarts: i32×nb │ nchunk: i32 │ offset: i64 │ bsizes: i32 × nb │
//! └──────────────────┴─────────────────┴─────────────┴─────────────┴──────────────────┘
//! ```
//!
//! They live in memory only: `cbytes` is the length of the whole chunk, not of these bytes.

use std::fmt;
use std::ops::Range;

use super::decode::Decoder;
use super::fetched::{Asked, ChunkBytes, Fetched};
use super::header::{Content, Header};
use super::items::destination;
use super::layout::{Layout, bstarts_end, dictionary_len};
use super::targets::{Blocks, Target};
use crate::error::{Error, MustGet, Result};
use crate::wire::{self, Reader};

/// Where the blocks of a chunk are, without the blocks.
#[derive(Clone)]
pub struct LazyChunk {
    header: Header,
    /// Header and block starts, as in the chunk.
    prefix: Vec<u8>,
    chunk_number: i32,
    offset: i64,
    /// Empty for a stored chunk, whose blocks have the lengths of their contents.
    block_lens: Vec<usize>,
}

impl fmt::Debug for LazyChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyChunk")
            .field("header", &self.header)
            .field("chunk_number", &self.chunk_number)
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}

impl LazyChunk {
    /// The length of the prefix of a chunk that [`LazyChunk::new`] needs.
    #[must_use]
    pub fn prefix_len(header: &Header) -> usize {
        bstarts_end(header)
    }

    /// Makes a lazy chunk from the first bytes of a chunk: header and block starts.
    /// `chunk_number` and `offset` say where the chunk is stored.
    pub fn new(prefix: &[u8], chunk_number: i32, offset: i64) -> Result<Self> {
        let header = Header::parse(prefix)?;
        header.check_not_lazy()?;
        let block_lens = match header.content {
            Content::Blocks | Content::VariableBlocks => {
                let layout = Layout::parse(&header, prefix)?.with_extents()?;
                let blocks = 0..header.block_count();
                blocks.map(|block| Ok(layout.block_extent(block)?.len())).collect::<Result<_>>()?
            }
            Content::Stored => Vec::new(),
            _ => return Err(Error::invalid("a special chunk has no blocks to fetch later")),
        };
        let prefix = prefix.must_get(..bstarts_end(&header))?.to_vec();
        Ok(Self { header, prefix, chunk_number, offset, block_lens })
    }

    /// Reads the bytes of a lazy chunk.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let header = Header::parse(bytes)?;
        if !header.lazy || !header.extended {
            return Err(Error::invalid("this chunk is not lazy").at("chunk", "blosc2_flags", 31));
        }
        let starts_len = header.block_count().saturating_mul(4);
        let mut reader = Reader::new("lazy chunk", bytes);
        let prefix = reader.take("bstarts", header.header_len().saturating_add(starts_len))?;
        let chunk_number = reader.i32("nchunk")?;
        let offset = reader.i64("offset")?;
        let position = reader.position();
        let mut lens = reader.take("bsizes", starts_len)?.as_chunks::<4>().0;
        if header.content == Content::Stored {
            lens = &[];
        }
        let longest = header.cbytes;
        let block_lens = lens.iter().map(|len| {
            let len = wire::index(i32::from_le_bytes(*len));
            len.filter(|len| (1..=longest).contains(len)).ok_or_else(|| {
                Error::corrupt(format!("a block is empty or longer than {longest} bytes")).at(
                    "lazy chunk",
                    "bsizes",
                    position,
                )
            })
        });
        let block_lens = block_lens.collect::<Result<_>>()?;
        let header = Header { lazy: false, ..header };
        let prefix = prefix.must_get(..bstarts_end(&header))?.to_vec();
        Ok(Self { header, prefix, chunk_number, offset, block_lens })
    }

    /// The bytes of the lazy chunk.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let count = self.header.block_count();
        if count / 2 > self.header.cbytes / 16 {
            return Err(Error::limit("the blocks are so small that the chunk itself is shorter"));
        }
        let mut out = Vec::new();
        Header { lazy: true, ..self.header.clone() }.write(&mut out)?;
        out.extend_from_slice(self.prefix.must_get(self.header.header_len()..)?);
        // A stored chunk has no starts; the place for them is kept.
        out.resize(self.header.header_len() + 4 * count, 0);
        out.extend(self.chunk_number.to_le_bytes());
        out.extend(self.offset.to_le_bytes());
        for block in 0..count {
            out.extend(wire::stored(self.block_extent(block)?.len())?.to_le_bytes());
        }
        Ok(out)
    }

    /// The header of the chunk.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Header and block starts.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The number of the chunk in its super-chunk.
    #[must_use]
    pub fn chunk_number(&self) -> i32 {
        self.chunk_number
    }

    /// The position of the chunk in its frame.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Where the bytes of `block` lie in the chunk.
    pub fn block_extent(&self, block: usize) -> Result<Range<usize>> {
        if block >= self.header.block_count() {
            return Err(Error::invalid(format!("there is no block {block}")));
        }
        if self.header.content == Content::Stored {
            let Range { start, end } = self.header.geometry().block_range(block);
            return Ok(start + self.header.header_len()..end + self.header.header_len());
        }
        let start = Layout::parse(&self.header, &self.prefix)?.block_start(block)?;
        let len = *self.block_lens.must_get(block)?;
        Ok(start..start.saturating_add(len).min(self.header.cbytes))
    }

    /// As much of the place of `block` as its streams can take. What is read is kept until all blocks are decoded, and
    /// the places of damaged chunks may be much longer than their blocks, or be those of many blocks.
    pub(super) fn stream_extent(&self, block: usize) -> Result<Range<usize>> {
        let Range { start, end } = self.block_extent(block)?;
        let len = self.header.geometry().block_range(block).len();
        let streams = self.header.item_size().clamp(1, len.max(1));
        // A stream is stored as it is rather than become longer; its length stands before it. Twice that will do.
        let most = len.saturating_add(4 * streams).saturating_mul(2);
        Ok(start..end.min(start.saturating_add(most)))
    }
}

impl Decoder {
    /// Decodes the bytes `range` of a lazy chunk into the start of `dst`. `fetch` is asked for byte
    /// ranges of the stored chunk: those of the blocks that hold `range`, and no others.
    pub fn read_lazy(
        &mut self,
        lazy: &LazyChunk,
        range: Range<usize>,
        fetch: impl FnMut(Range<usize>) -> Result<Vec<u8>>,
        dst: &mut [u8],
    ) -> Result<usize> {
        self.read_lazy_from(lazy, range, &mut Asked(fetch), dst)
    }

    /// The same from anywhere.
    pub(crate) fn read_lazy_from(
        &mut self,
        lazy: &LazyChunk,
        range: Range<usize>,
        source: &mut dyn ChunkBytes,
        dst: &mut [u8],
    ) -> Result<usize> {
        let header = &lazy.header;
        let dst = destination(header, &range, dst)?;
        let len = dst.len();
        self.limits.check_decoded(len)?;
        self.begin(len)?;
        match header.content {
            Content::Stored => {
                let payload = header.header_len();
                let found =
                    source.fetch(payload + range.start..payload + range.end, &mut self.parts)?;
                let bytes = self.parts.get(..found).and_then(|bytes| bytes.get(..len));
                dst.copy_from_slice(bytes.ok_or_else(too_few)?);
            }
            Content::Blocks => {
                let mut fetched = std::mem::take(&mut self.fetched);
                let read = self.read_lazy_blocks(lazy, range, source, &mut fetched, dst);
                self.fetched = fetched;
                read?;
            }
            _ => {
                return Err(Error::unsupported(
                    "a lazy chunk of variable-length blocks: fetch the whole chunk",
                ));
            }
        }
        Ok(len)
    }

    fn read_lazy_blocks(
        &mut self,
        lazy: &LazyChunk,
        range: Range<usize>,
        source: &mut dyn ChunkBytes,
        fetched: &mut Fetched,
        dst: &mut [u8],
    ) -> Result<()> {
        let header = &lazy.header;
        self.limits.check_decoded(header.blocksize)?;
        let dict = fetch_dictionary(header, source)?;
        let layout = Layout::parse(header, &lazy.prefix)?.with_dictionary(&dict);
        let reader = self.block_reader(header, &dict)?;
        fetched.read(lazy, (&reader, &layout), std::iter::once(range.clone()), source)?;
        let bytes_of = |block: usize| fetched.get(block);
        let targets = Target::cover(header.geometry(), &range, dst)?;
        Blocks { layout: &layout, reader: &reader, bytes_of }.decode(
            &self.executor,
            &mut self.workers,
            targets,
            self.output,
        )
    }
}

/// The dictionary of a chunk; empty when it has none.
pub(super) fn fetch_dictionary(header: &Header, source: &mut dyn ChunkBytes) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if !header.dictionary {
        return Ok(bytes);
    }
    let start = bstarts_end(header);
    let found = source.fetch(start..start + 4, &mut bytes)?;
    let dsize = Reader::new("chunk", wire::filled(&bytes, found)?).i32("dsize")?;
    let len = dictionary_len(dsize, start)?;
    let found = source.fetch(start + 4..start + 4 + len, &mut bytes)?;
    bytes.truncate(found);
    if found == len { Ok(bytes) } else { Err(too_few()) }
}

pub(super) fn too_few() -> Error {
    Error::truncated("the store returned fewer bytes of the chunk than were asked for")
}
