//! A few bytes of streams that have [marks](super::marks).

use super::block::{BlockReader, StoredBlock};
use super::marks::BlockMarks;
use super::stream::Stream;
use crate::codecs::CodecState;
use crate::wire::Reader;

/// More bytes side by side are decoded with what precedes them.
const FEW: usize = 32;

impl BlockReader<'_> {
    /// The marks of a block, if it has any, and they are of use to find `wanted` bytes side by side.
    pub(super) fn marks_of<'s>(
        &self,
        block: &StoredBlock<'s>,
        wanted: usize,
    ) -> Option<BlockMarks<'s>> {
        let places = self.method.places()?;
        if wanted > FEW || !self.dict.is_empty() {
            return None;
        }
        let mut reader = Reader::new("chunk", block.bytes);
        self.coded(block, &mut reader)?.for_each(drop);
        let behind = block.bytes.get(reader.position()..block.extent?)?;
        let marks = BlockMarks::parse(behind, places, block.stream_count)?;
        let mut reader = Reader::new("chunk", block.bytes);
        marks.are_of(self.coded(block, &mut reader)?).then_some(marks)
    }

    /// The numbers and lengths of the streams of a block that are coded.
    fn coded<'r, 's>(
        &self,
        block: &StoredBlock<'s>,
        reader: &'r mut Reader<'s>,
    ) -> Option<impl Iterator<Item = (usize, usize)> + use<'r, 's>> {
        let (len, runs_allowed) = (block.stream_len().ok()?, self.runs_allowed);
        Some((0..block.stream_count).filter_map(move |number| {
            match Stream::parse(reader, len, runs_allowed) {
                Ok(Stream::Coded(bytes, _)) => Some((number, bytes.len())),
                _ => None,
            }
        }))
    }

    /// Fills `dst` with what a stream decodes to from byte `out` on, by its marks; false if that is not to be done.
    pub(super) fn fetch(
        &self,
        codec: &mut CodecState,
        (number, stream): (usize, Stream<'_>),
        marks: Option<&mut BlockMarks<'_>>,
        out: usize,
        dst: &mut [u8],
    ) -> bool {
        let (Stream::Coded(bytes, _), Some(marks)) = (stream, marks) else { return false };
        let Some(marks) = marks.next(number, bytes.len()) else { return false };
        let marks = (marks.inner(), |out| marks.before(out));
        codec.fetch(&self.method, bytes, marks, out, dst).is_some()
    }
}
