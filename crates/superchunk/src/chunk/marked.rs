//! A few bytes of streams that have [marks](super::marks).

use superchunk_kernels::Marker;

use super::block::{BlockReader, StoredBlock};
use super::marks::BlockMarks;
use super::stream::Stream;
use crate::codecs::CodecState;
use crate::error::{Error, Result};
use crate::wire::Reader;

/// More bytes side by side are decoded with what precedes them.
const FEW: usize = 32;

impl BlockReader<'_> {
    /// The marks of a block, if the caller trusts them and they help to find `wanted` adjacent
    /// bytes.
    pub(super) fn marks_of<'s>(
        &self,
        block: &StoredBlock<'s>,
        wanted: usize,
    ) -> Option<BlockMarks<'s>> {
        if !self.uses_marks || wanted > FEW { None } else { self.stored_marks(block) }
    }

    /// The marks that are stored after the streams of a block.
    fn stored_marks<'s>(&self, block: &StoredBlock<'s>) -> Option<BlockMarks<'s>> {
        let places = self.method.places().filter(|_| self.dict.is_empty())?;
        let after = block.bytes.get(self.streams_len(block)?..block.extent?)?;
        let marks = BlockMarks::parse(after, places, block.stream_count)?;
        let mut reader = Reader::new("chunk", block.bytes);
        marks.are_of(self.coded(block, &mut reader)?).then_some(marks)
    }

    /// The bytes of the streams of a block, without what follows them.
    fn streams_len(&self, block: &StoredBlock<'_>) -> Option<usize> {
        let mut reader = Reader::new("chunk", block.bytes);
        self.coded(block, &mut reader)?.for_each(drop);
        Some(reader.position())
    }

    /// The bytes of a block without its marks, if it has some.
    pub(super) fn without_marks<'s>(&self, block: &StoredBlock<'s>) -> Option<&'s [u8]> {
        self.stored_marks(block)?;
        block.bytes.get(..self.streams_len(block)?)
    }

    /// Makes sure that the marks of a block are where sequences begin.
    pub(super) fn check_marks(
        &self,
        codec: &mut CodecState,
        block: &StoredBlock<'_>,
    ) -> Result<()> {
        let Some(mut marks) = self.stored_marks(block) else { return Ok(()) };
        let (mut reader, len) = (Reader::new("chunk", block.bytes), block.stream_len()?);
        let mut found = Marker::default();
        for number in 0..block.stream_count {
            let stream = Stream::parse(&mut reader, len, self.runs_allowed)?;
            let Stream::Coded(bytes, _) = stream else { continue };
            let Some(stored) = marks.next(number, bytes.len()) else { continue };
            // Every sequence is noted, and each mark must be one of them.
            found.begin(1);
            if !codec.mark(&self.method, bytes, &mut found) || !stored.are_true(&found) {
                let words = format!("a mark of stream {number} is where no sequence begins");
                return Err(Error::corrupt(words).at("chunk", "marks", reader.position()));
            }
        }
        Ok(())
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
