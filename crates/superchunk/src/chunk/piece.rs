//! A small part of a block that is one stream, or rows of bits in several: no more is decoded, moved and unshuffled than it needs.

use std::ops::Range;

use superchunk_kernels::Wanted;

use super::block::{BlockReader, StoredBlock};
use super::stream::Stream;
use super::worker::Worker;
use crate::codecs::CodecState;
use crate::error::{MustGet, Result};
use crate::filters::scratch;
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
        if self.pipeline.reads_as_is() && !block.is_split() {
            return self.copy_piece(worker, block, part, dst).map(|()| true);
        }
        let Some(rows) = self.pipeline.only_rows(block.len) else { return Ok(false) };
        let Some(columns) = rows.columns_of(part) else { return Ok(false) };
        let Some(wanted) = rows.wanted(&columns, block.stream_count, block.stream_len()?) else {
            return Ok(false);
        };
        let plain = rows.plain(&columns);
        let Worker { codec, streams, a, block: buffer, .. } = worker;
        let gathered = scratch(a, plain.len());
        self.gather((codec, streams), block, &wanted, gathered)?;
        let decoded = scratch(buffer, plain.len());
        rows.undo(gathered, decoded)?;
        let piece = decoded.must_get(part.start - plain.start..part.end - plain.start)?;
        dst.copy_from_slice(piece);
        Ok(true)
    }

    /// A piece of a block that is one stream, which no filter has touched.
    fn copy_piece(
        &self,
        worker: &mut Worker,
        block: &StoredBlock<'_>,
        part: &Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let mut reader = Reader::new("chunk", block.bytes);
        let plain = match Stream::parse(&mut reader, block.len, self.runs_allowed)? {
            Stream::Raw(bytes) => bytes,
            Stream::Run(value) => {
                dst.fill(value);
                return Ok(());
            }
            stream => {
                let codec = &mut worker.codec;
                let mut marks = self.marks_of(block, part.len());
                if self.fetch(codec, (0, stream), marks.as_mut(), part.start, dst) {
                    return Ok(());
                }
                let plain = scratch(&mut worker.streams, block.len);
                let wanted = Wanted::range(part.clone());
                stream.decode_wanted(codec, &self.method, self.dict, plain, &wanted)?;
                plain
            }
        };
        dst.copy_from_slice(plain.must_get(part.clone())?);
        Ok(())
    }

    /// Puts what is `wanted` of every stream one behind the other into `dst`.
    fn gather(
        &self,
        (codec, buffer): (&mut CodecState, &mut Vec<u8>),
        block: &StoredBlock<'_>,
        wanted: &Wanted,
        dst: &mut [u8],
    ) -> Result<()> {
        let len = block.stream_len()?;
        let decoded = scratch(buffer, block.len);
        let is_decoded = self.decode_at_once(codec, block, wanted.end(), decoded).is_some();
        let mut reader = Reader::new("chunk", block.bytes);
        let pieces = dst.chunks_exact_mut((dst.len() / block.stream_count).max(1));
        for (pieces, place) in pieces.zip(decoded.chunks_exact_mut(len)) {
            match Stream::parse(&mut reader, len, self.runs_allowed)? {
                Stream::Raw(bytes) => wanted.gather(bytes, pieces),
                Stream::Run(value) => pieces.fill(value),
                stream => {
                    if !is_decoded {
                        stream.decode_wanted(codec, &self.method, self.dict, place, wanted)?;
                    }
                    wanted.gather(place, pieces);
                }
            }
        }
        Ok(())
    }
}
