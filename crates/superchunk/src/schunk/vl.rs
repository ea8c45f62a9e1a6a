//! Chunks of variable-length blocks: one block alone, and chunks put in the place of others.

use std::ops::Range;

use super::SuperChunk;
use super::append::Stored;
use super::fetch::{Scratch, Source, StoredChunk};
use crate::chunk::{ChunkBytes, vl_prefix_len};
use crate::container::{ChunkSize, MAX_CHUNKS};
use crate::error::{Error, ErrorKind, Result};
use crate::wire;

impl SuperChunk {
    /// Decodes one block of a chunk of variable-length blocks. Of a chunk that is not in memory only
    /// its start and this block are read.
    pub fn read_block(&self, number: usize, block: usize) -> Result<Vec<u8>> {
        let read = match self.source(number) {
            Ok(Source::Stored(slot)) => {
                self.with_scratch(|scratch| self.read_stored_block(number, slot, block, scratch))
            }
            Ok(_) => Err(Error::invalid("this chunk has no variable-length blocks")),
            Err(error) => Err(error),
        };
        read.map_err(|error| self.told(number, error))
    }

    fn read_stored_block(
        &self,
        number: usize,
        slot: u64,
        block: usize,
        Scratch { decoder, buffer }: &mut Scratch,
    ) -> Result<Vec<u8>> {
        if let Some(bytes) = self.layout.as_bytes(slot) {
            return decoder.read_block(bytes, block);
        }
        let (header, here) = self.read_start(number, slot, buffer)?;
        let prefix = vl_prefix_len(&header);
        let here = match here < prefix && Self::is_vl(&header) {
            true => {
                self.limits.check_decoded(prefix)?;
                self.read_prefix(slot, buffer, here, prefix)?
            }
            false => wire::filled(buffer, here)?,
        };
        let mut source = StoredChunk { layout: self.layout.as_ref(), slot, here };
        decoder.read_block_from(here, block, |wanted| {
            let mut bytes = Vec::new();
            let found = source.fetch(wanted, &mut bytes)?;
            bytes.truncate(found);
            Ok(bytes)
        })
    }

    /// Puts a chunk of these blocks, or nothing, in the place of the chunks `range`. It happens, or
    /// nothing does; also when another program has changed the super-chunk.
    pub(crate) fn splice_blocks(
        &mut self,
        range: Range<usize>,
        blocks: Option<&[&[u8]]>,
    ) -> Result<()> {
        let known = (self.chunk_count(), self.byte_len());
        self.change(|this| {
            if known != (this.chunk_count(), this.byte_len()) {
                let message = "another program has changed the objects: refresh them";
                return Err(Error::new(ErrorKind::Changed, message));
            }
            if range.len() < this.chunk_count() {
                this.check_blocks(true)?;
            }
            let old_len = this.headers_len(range.clone())?;
            let gone: Vec<Stored> =
                range.clone().map(|number| this.stored(number)).collect::<Result<_>>()?;
            let left = this.contents.nbytes.checked_sub(old_len).ok_or_else(|| {
                Error::corrupt("the chunks are longer than the header says")
                    .at("frame", "nbytes", 30)
            })?;
            if this.contents.chunk_size != ChunkSize::Variable {
                this.make_variable()?;
            }
            let made = blocks.map(|blocks| this.store_blocks(blocks)).transpose();
            let made = made.map_err(|error| this.told(range.start, error))?;
            this.contents.entries.splice(range, made.map(|((entry, _), _)| entry));
            this.contents.nbytes = left + made.map_or(0, |(_, len)| len as u64);
            this.contents.vl_blocks = !this.contents.entries.is_empty();
            gone.into_iter().for_each(|stored| this.release(stored));
            Ok(())
        })
    }

    /// Compresses blocks and stores the chunk; returns what they decode to as well.
    fn store_blocks(&mut self, blocks: &[&[u8]]) -> Result<(Stored, usize)> {
        if self.contents.entries.len() >= MAX_CHUNKS - 1 {
            return Err(Error::limit(format!("a super-chunk has at most {MAX_CHUNKS} chunks")));
        }
        let mut chunk = std::mem::take(&mut self.buffer);
        chunk.clear();
        let stored = self
            .encoder()
            .and_then(|encoder| encoder.compress_blocks_into(blocks, &mut chunk))
            .and_then(|_| self.store(&mut chunk));
        self.buffer = chunk;
        Ok((stored?, blocks.iter().map(|block| block.len()).sum()))
    }

    /// What these chunks decode to, by their headers.
    fn headers_len(&self, range: Range<usize>) -> Result<u64> {
        range.map(|number| self.header(number).map(|header| header.byte_len() as u64)).sum()
    }
}
