//! A small part of a block that is one stream: no more is decoded, moved and unshuffled than it needs.

use std::ops::Range;

use superchunk_kernels::Wanted;

use super::block::{BlockReader, StoredBlock};
use super::stream::Stream;
use super::worker::Worker;
use crate::error::Result;
use crate::filters::{Rows, scratch};
use crate::wire::Reader;

/// A part that is a larger share of its block is decoded with the whole of it.
const SMALL_SHARE: usize = 4;

impl BlockReader<'_> {
    /// Decodes the bytes `part` of a block into `dst`, which is as long. False, and nothing done, when
    /// the whole block is needed for them, or nearly so.
    pub(super) fn decode_piece(
        &self,
        worker: &mut Worker,
        block: &StoredBlock<'_>,
        part: &Range<usize>,
        dst: &mut [u8],
    ) -> Result<bool> {
        if part.len() > block.len / SMALL_SHARE {
            return Ok(false);
        }
        if self.pipeline.reads_as_is() {
            let stream = self.only_stream(block)?;
            return self.copy_piece(worker, stream, block.len, part, dst).map(|()| true);
        }
        let Some(rows) = self.pipeline.only_rows(block.len) else { return Ok(false) };
        let Some(columns) = rows.columns_of(part) else { return Ok(false) };
        let stream = self.only_stream(block)?;
        self.undo_piece(worker, stream, block.len, (&rows, columns), part, dst).map(|()| true)
    }

    fn only_stream<'s>(&self, block: &StoredBlock<'s>) -> Result<Stream<'s>> {
        Stream::parse(&mut Reader::new("chunk", block.bytes), block.len, self.runs_allowed)
    }

    /// A piece of a stream of `len` bytes that no filter has touched.
    fn copy_piece(
        &self,
        worker: &mut Worker,
        stream: Stream<'_>,
        len: usize,
        part: &Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let plain = match stream {
            Stream::Raw(bytes) => bytes,
            Stream::Run(value) => {
                dst.fill(value);
                return Ok(());
            }
            Stream::Coded(..) => {
                let plain = scratch(&mut worker.streams, len);
                let codec = &mut worker.codec;
                let wanted = Wanted::range(part.clone());
                stream.decode_wanted(codec, &self.method, self.dict, plain, &wanted)?;
                plain
            }
        };
        if let Some(piece) = plain.get(part.clone()) {
            dst.copy_from_slice(piece);
        }
        Ok(())
    }

    /// A piece of a stream of `len` bytes that holds rows.
    fn undo_piece(
        &self,
        worker: &mut Worker,
        stream: Stream<'_>,
        len: usize,
        (rows, columns): (&Rows<'_>, Range<usize>),
        part: &Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let shuffled = match stream {
            Stream::Raw(bytes) => bytes,
            _ => {
                let (codec, wanted) = (&mut worker.codec, rows.wanted(&columns));
                let shuffled = scratch(&mut worker.streams, len);
                stream.decode_wanted(codec, &self.method, self.dict, shuffled, &wanted)?;
                shuffled
            }
        };
        let plain = rows.plain(&columns);
        let decoded = scratch(&mut worker.block, plain.len());
        rows.undo(shuffled, &columns, &mut worker.a, decoded)?;
        if let Some(piece) = decoded.get(part.start - plain.start..part.end - plain.start) {
            dst.copy_from_slice(piece);
        }
        Ok(())
    }
}
