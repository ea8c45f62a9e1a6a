//! One block, both ways: filters and codec between a block's bytes and its streams.

use super::header::Header;
use super::stream::{self, Stream};
use super::worker::Worker;
use crate::block_shape::BlockShape;
use crate::codecs::Method;
use crate::error::{Error, Result};
use crate::filters::{Pipeline, Reference, Setting, scratch};
use crate::registry::Registry;
use crate::wire::Reader;

/// What the blocks of a chunk have in common when they are read.
pub(super) struct BlockReader<'a> {
    pub(super) pipeline: Pipeline,
    method: Method,
    dict: &'a [u8],
    runs_allowed: bool,
}

impl<'a> BlockReader<'a> {
    /// Resolves the codec and the filters of a header.
    pub(super) fn new(
        header: &Header,
        dict: &'a [u8],
        shape: Option<&BlockShape>,
        registry: &Registry,
    ) -> Result<Self> {
        let setting = Setting {
            item_size: header.item_size(),
            version2: header.version == 2,
            shape,
            registry,
        };
        // An instrumented chunk holds measurements, which no filter touched.
        let pipeline = if header.instrumented {
            Pipeline::default()
        } else {
            Pipeline::resolve(&header.slots, &setting)
                .map_err(|error| error.at("chunk", "filters", 16))?
        };
        let method = Method::resolve(header.codec, shape, registry)
            .map_err(|error| error.at("chunk", "flags", 2))?;
        Ok(Self { pipeline, method, dict, runs_allowed: header.extended })
    }

    /// Decodes the block whose streams begin at the start of `bytes` into all of `dst`.
    pub(super) fn decode(
        &self,
        worker: &mut Worker,
        bytes: &[u8],
        stream_count: usize,
        reference: Reference<'_>,
        dst: &mut [u8],
    ) -> Result<()> {
        let len = dst.len() / stream_count;
        if len == 0 || len * stream_count != dst.len() {
            return Err(Error::corrupt(format!(
                "a block of {} bytes cannot be split into {stream_count} streams",
                dst.len()
            ))
            .at("chunk", "blocksize", 8));
        }
        let mut reader = Reader::new("chunk", bytes);
        if self.pipeline.reads_as_is() {
            return self.decode_streams(worker, &mut reader, len, dst);
        }
        if stream_count > 1 && self.pipeline.only_planes() == Some(stream_count) {
            return self.decode_planes(worker, &mut reader, len, dst);
        }
        if stream_count == 1 {
            let stream = Stream::parse(&mut reader, len, self.runs_allowed)?;
            return self.decode_single(worker, stream, reference, dst);
        }
        let mut streams = std::mem::take(&mut worker.streams);
        let result = self
            .decode_streams(worker, &mut reader, len, scratch(&mut streams, dst.len()))
            .and_then(|()| self.undo_filters(worker, &streams, reference, dst));
        worker.streams = streams;
        result
    }

    /// Decodes a block that is one stream, given as raw bytes or codec output.
    pub(super) fn decode_single(
        &self,
        worker: &mut Worker,
        stream: Stream<'_>,
        reference: Reference<'_>,
        dst: &mut [u8],
    ) -> Result<()> {
        if self.pipeline.reads_as_is() {
            return stream.decode(&mut worker.codec, &self.method, self.dict, dst);
        }
        if let Stream::Raw(bytes) = stream {
            return self.undo_filters(worker, bytes, reference, dst);
        }
        let mut streams = std::mem::take(&mut worker.streams);
        let decoded = scratch(&mut streams, dst.len());
        let result = stream
            .decode(&mut worker.codec, &self.method, self.dict, decoded)
            .and_then(|()| self.undo_filters(worker, decoded, reference, dst));
        worker.streams = streams;
        result
    }

    /// Decodes streams of `len` bytes one behind the other.
    fn decode_streams(
        &self,
        worker: &mut Worker,
        reader: &mut Reader<'_>,
        len: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        for part in dst.chunks_exact_mut(len) {
            let stream = Stream::parse(reader, len, self.runs_allowed)?;
            stream.decode(&mut worker.codec, &self.method, self.dict, part)?;
        }
        Ok(())
    }

    /// Decodes one stream for each byte of an item. Raw planes are gathered from where they lie,
    /// so that only coded ones pass through scratch memory.
    fn decode_planes(
        &self,
        worker: &mut Worker,
        reader: &mut Reader<'_>,
        len: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        let decoded = scratch(&mut worker.streams, dst.len());
        let mut planes: [&[u8]; 256] = [&[]; 256];
        for (plane, part) in planes.iter_mut().zip(decoded.chunks_exact_mut(len)) {
            match Stream::parse(reader, len, self.runs_allowed)? {
                Stream::Raw(bytes) => *plane = bytes,
                stream => stream.decode(&mut worker.codec, &self.method, self.dict, part)?,
            }
        }
        for (plane, part) in planes.iter_mut().zip(decoded.chunks_exact(len)) {
            if plane.is_empty() {
                *plane = part;
            }
        }
        let planes = planes.get(..dst.len() / len).unwrap_or_default();
        superchunk_kernels::shuffle::unshuffle_planes(planes, dst);
        Ok(())
    }

    fn undo_filters(
        &self,
        worker: &mut Worker,
        filtered: &[u8],
        reference: Reference<'_>,
        dst: &mut [u8],
    ) -> Result<()> {
        let filtered = filtered.get(..dst.len()).unwrap_or(filtered);
        self.pipeline.backward(reference, filtered, dst, &mut worker.a, &mut worker.b)
    }
}

/// What the blocks of a chunk have in common when they are written.
pub(super) struct BlockWriter<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) method: &'a Method,
    pub(super) dict: &'a [u8],
    pub(super) level: u8,
    pub(super) runs_allowed: bool,
}

impl BlockWriter<'_> {
    /// Appends the streams of `block` to `out`.
    pub(super) fn encode(
        &self,
        worker: &mut Worker,
        block: &[u8],
        stream_count: usize,
        reference: Reference<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Worker { codec, streams, a, b, .. } = worker;
        let filtered = self.pipeline.forward(reference, block, a, b)?;
        for plane in filtered.chunks_exact((filtered.len() / stream_count).max(1)) {
            stream::write(plane, self.runs_allowed, out, |plane, out| {
                // As long as the plane itself would mean "raw": codec output must be shorter.
                let coded = scratch(streams, plane.len() - 1);
                let len = codec.compress(self.method, self.level, self.dict, plane, coded)?;
                let coded = len.and_then(|len| coded.get(..len));
                out.extend_from_slice(coded.unwrap_or_default());
                Ok(coded.is_some())
            })?;
        }
        Ok(())
    }
}
