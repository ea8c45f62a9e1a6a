//! One block, both ways: filters and codec between a block's bytes and its streams.

use std::ops::Range;
use std::slice::ChunksExact;

use superchunk_kernels::{Marker, Wanted, shuffle};

use super::effort::{Effort, Explored};
use super::gains::Gains;
use super::header::Header;
use super::marks::{MarkWriter, Marked};
use super::stream::{self, Stream};
use super::worker::Worker;
use crate::block_shape::BlockShape;
use crate::codecs::Method;
use crate::error::{Error, MustGet, Result};
use crate::filters::{Pipeline, Reference, Setting, scratch};
use crate::registry::Registry;
use crate::wire::Reader;

/// One block as it is stored.
pub(super) struct StoredBlock<'a> {
    /// Its streams, and perhaps more behind them.
    pub(super) bytes: &'a [u8],
    /// How many of them are its own, if that is known.
    pub(super) extent: Option<usize>,
    pub(super) stream_count: usize,
    /// The bytes it decodes to.
    pub(super) len: usize,
    pub(super) reference: Reference<'a>,
    /// It becomes a piece of an output that is too large for the caches.
    pub(super) far: bool,
    /// Where only some of the wanted part is looked at.
    pub(super) stretches: Option<Stretches>,
}

/// Stretches of a part, the first at its start, beside which nothing is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretches {
    /// The bytes of one.
    pub(crate) len: usize,
    /// From the start of one to the start of the next.
    pub(crate) step: usize,
}

impl StoredBlock<'_> {
    pub(super) fn is_split(&self) -> bool {
        self.stream_count > 1
    }

    pub(super) fn stream_len(&self) -> Result<usize> {
        let len = self.len / self.stream_count;
        if len > 0 && len * self.stream_count == self.len {
            return Ok(len);
        }
        Err(Error::corrupt(format!(
            "a block of {} bytes cannot be split into {} streams",
            self.len, self.stream_count
        ))
        .at("chunk", "blocksize", 8))
    }

    /// The items that a range of bytes touches, in bytes; a split block has a stream for each byte
    /// of an item.
    fn whole_items(&self, part: &Range<usize>) -> Range<usize> {
        let item_size = self.stream_count;
        part.start / item_size * item_size..part.end.div_ceil(item_size) * item_size
    }
}

impl Stretches {
    /// Whether they are whole items of this size. The container's items need not be those of the chunk.
    fn are_items(&self, item_size: usize) -> bool {
        self.len.is_multiple_of(item_size) && self.step.is_multiple_of(item_size)
    }
}

/// What the blocks of a chunk have in common when they are read.
pub(super) struct BlockReader<'a> {
    pub(super) pipeline: Pipeline,
    pub(super) method: Method,
    pub(super) dict: &'a [u8],
    pub(super) runs_allowed: bool,
    /// Whether a few bytes are looked for by marks.
    pub(super) uses_marks: bool,
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
        let runs_allowed = header.extended;
        Ok(Self { pipeline, method, dict, runs_allowed, uses_marks: false })
    }

    /// Decodes the bytes `part` of a block into `dst`, which is as long.
    pub(super) fn decode(
        &self,
        worker: &mut Worker,
        block: &StoredBlock<'_>,
        part: Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let stream_len = block.stream_len()?;
        let is_planes = block.is_split() && self.pipeline.only_planes() == Some(block.stream_count);
        if !is_planes && self.decode_piece(worker, block, &part, dst)? {
            return Ok(());
        }
        // Items can be put together one by one from planes; all else needs the whole block.
        let span = if is_planes { block.whole_items(&part) } else { 0..block.len };
        let needed = part.end;
        if span == part {
            return self.decode_span(worker, block, stream_len, span, needed, dst);
        }
        let mut buffer = std::mem::take(&mut worker.block);
        let decoded = scratch(&mut buffer, span.len());
        let block = &StoredBlock { far: false, stretches: None, ..*block };
        let result = self
            .decode_span(worker, block, stream_len, span.clone(), needed, decoded)
            .and_then(|()| decoded.must_get(part.start - span.start..part.end - span.start))
            .map(|part| dst.copy_from_slice(part));
        worker.block = buffer;
        result
    }

    /// Decodes the whole block, or whole items of a block that is stored as planes. Where nothing
    /// has to be undone, what follows the first `needed` bytes of the block may stay undecoded.
    fn decode_span(
        &self,
        worker: &mut Worker,
        block: &StoredBlock<'_>,
        stream_len: usize,
        span: Range<usize>,
        needed: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        let mut reader = Reader::new("chunk", block.bytes);
        if self.pipeline.reads_as_is() {
            return self.decode_streams(worker, &mut reader, stream_len, needed, dst);
        }
        if !block.is_split() {
            let stream = Stream::parse(&mut reader, stream_len, self.runs_allowed)?;
            return self.decode_single(worker, stream, block.reference, block.far, dst);
        }
        if self.pipeline.only_planes() == Some(block.stream_count) {
            let items = span.start / block.stream_count..span.end / block.stream_count;
            if self.decode_planes_at_once(worker, block, items.clone(), dst)? {
                return Ok(());
            }
            return self.decode_planes(worker, &mut reader, block, items, dst);
        }
        let mut streams = std::mem::take(&mut worker.streams);
        let joined = scratch(&mut streams, dst.len());
        let result = self
            .decode_streams(worker, &mut reader, stream_len, dst.len(), joined)
            .and_then(|()| self.undo_filters(worker, &streams, block.reference, block.far, dst));
        worker.streams = streams;
        result
    }

    /// Decodes a block that is one stream, given as raw bytes or codec output.
    pub(super) fn decode_single(
        &self,
        worker: &mut Worker,
        stream: Stream<'_>,
        reference: Reference<'_>,
        far: bool,
        dst: &mut [u8],
    ) -> Result<()> {
        if self.pipeline.reads_as_is() {
            return stream.decode(&mut worker.codec, &self.method, self.dict, dst);
        }
        if let Stream::Raw(bytes) = stream {
            return self.undo_filters(worker, bytes, reference, far, dst);
        }
        let mut streams = std::mem::take(&mut worker.streams);
        let decoded = scratch(&mut streams, dst.len());
        let result = stream
            .decode(&mut worker.codec, &self.method, self.dict, decoded)
            .and_then(|()| self.undo_filters(worker, decoded, reference, far, dst));
        worker.streams = streams;
        result
    }

    /// Decodes streams of `len` bytes one behind the other, until `needed` bytes are there.
    fn decode_streams(
        &self,
        worker: &mut Worker,
        reader: &mut Reader<'_>,
        len: usize,
        needed: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        let mut missing = needed;
        for part in dst.chunks_exact_mut(len) {
            if missing == 0 {
                break;
            }
            let stream = Stream::parse(reader, len, self.runs_allowed)?;
            let wanted = Wanted::range(0..missing.min(len));
            stream.decode_wanted(&mut worker.codec, &self.method, self.dict, part, &wanted)?;
            missing = missing.saturating_sub(len);
        }
        Ok(())
    }

    /// Decodes one stream for each byte of an item and puts `items` together. Raw planes are
    /// gathered from where they lie, so that only coded ones pass through scratch memory; runs of the
    /// same byte, such as the upper bytes of small numbers, are written there once for all of them.
    fn decode_planes(
        &self,
        worker: &mut Worker,
        reader: &mut Reader<'_>,
        block: &StoredBlock<'_>,
        items: Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        let (count, len) = (block.stream_count, block.stream_len()?);
        let decoded = scratch(&mut worker.streams, count * len);
        let wanted = Wanted::range(items.clone());
        let mut marks = self.marks_of(block, items.len());
        let mut planes: [&[u8]; 256] = [&[]; 256];
        let mut run: Option<(u8, &[u8])> = None;
        for (number, (plane, part)) in
            planes.iter_mut().zip(decoded.chunks_exact_mut(len)).enumerate()
        {
            let whole = match Stream::parse(reader, len, self.runs_allowed)? {
                Stream::Raw(bytes) => bytes,
                Stream::Run(value) => match run {
                    Some((same, bytes)) if same == value => bytes,
                    _ => {
                        part.must_get_mut(items.clone())?.fill(value);
                        run.insert((value, part)).1
                    }
                },
                stream => {
                    let codec = &mut worker.codec;
                    let room = part.must_get_mut(items.clone())?;
                    let marks = marks.as_mut();
                    if !self.fetch(codec, (number, stream), marks, items.start, room) {
                        stream.decode_wanted(codec, &self.method, self.dict, part, &wanted)?;
                    }
                    part
                }
            };
            *plane = whole.must_get(items.clone())?;
        }
        put_together(planes.must_get(..count)?, block, dst)
    }

    pub(super) fn undo_filters(
        &self,
        worker: &mut Worker,
        filtered: &[u8],
        reference: Reference<'_>,
        far: bool,
        dst: &mut [u8],
    ) -> Result<()> {
        let filtered = filtered.must_get(..dst.len())?;
        self.pipeline.backward(reference, far, filtered, dst, (&mut worker.a, &mut worker.b))
    }
}

/// Items of a block from the planes of their bytes.
pub(super) fn put_together(
    planes: &[&[u8]],
    block: &StoredBlock<'_>,
    dst: &mut [u8],
) -> Result<()> {
    match block.stretches {
        Some(stretches) if stretches.are_items(planes.len()) => {
            return put_together_in(stretches, planes, dst);
        }
        _ if block.far => shuffle::unshuffle_planes_far(planes, dst),
        _ => shuffle::unshuffle_planes(planes, dst),
    }
    Ok(())
}

/// The same for stretches of whole items; what is between them stays as it is.
fn put_together_in(stretches: Stretches, planes: &[&[u8]], dst: &mut [u8]) -> Result<()> {
    let Stretches { len, step } = stretches;
    let mut parts: [&[u8]; 256] = [&[]; 256];
    for start in (0..dst.len()).step_by(step.max(1)) {
        let end = dst.len().min(start.saturating_add(len));
        let items = start / planes.len().max(1)..end / planes.len().max(1);
        for (part, plane) in parts.iter_mut().zip(planes) {
            *part = plane.must_get(items.clone())?;
        }
        let parts = parts.must_get(..planes.len())?;
        shuffle::unshuffle_planes(parts, dst.must_get_mut(start..end)?);
    }
    Ok(())
}

/// One block before it is stored.
pub(super) struct Plain<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) stream_count: usize,
    pub(super) reference: Reference<'a>,
}

/// What the blocks of a chunk have in common when they are written.
pub(super) struct BlockWriter<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) effort: Effort<'a>,
    pub(super) runs_allowed: bool,
    pub(super) marked: Option<Marked>,
}

impl BlockWriter<'_> {
    /// Appends the streams of `block` to `out`, compressed as `explored` advises for each. With `hold`, a
    /// block that no stream makes shorter is not appended but told by the answer: if all blocks are like
    /// that, none of them is needed.
    pub(super) fn encode(
        &self,
        worker: &mut Worker,
        block: &Plain<'_>,
        explored: &[Explored],
        hold: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let Worker { codec, streams, marks, a, b, .. } = worker;
        let filtered = self.pipeline.forward(block.reference, block.bytes, a, b)?;
        let planes = planes_of(filtered, block.stream_count);
        marks.reads_streams = false;
        self.append(planes, (streams, marks), hold, out, |number, plane, coded, marker| {
            self.effort.compress(explored.get(number), codec, plane, coded, marker)
        })
    }

    /// The same for a block that was explored, and filtered for that.
    pub(super) fn encode_explored(
        &self,
        worker: &mut Worker,
        (block, filtered): (&Plain<'_>, &[u8]),
        explored: &[Explored],
        hold: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let planes = planes_of(filtered, block.stream_count);
        let Worker { streams, marks, .. } = worker;
        // Nobody noted them, but these are few.
        marks.reads_streams = true;
        self.append(planes, (streams, marks), hold, out, |number, _, coded, _| {
            Ok(explored.get(number).and_then(|explored| explored.copy_to(coded)))
        })
    }

    /// Puts a block behind the filters into `to`.
    pub(super) fn filter(
        &self,
        worker: &mut Worker,
        block: &Plain<'_>,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        let Worker { a, b, .. } = worker;
        to.clear();
        to.extend_from_slice(self.pipeline.forward(block.reference, block.bytes, a, b)?);
        Ok(())
    }

    fn append(
        &self,
        planes: ChunksExact<'_, u8>,
        (coded, marks): (&mut Vec<u8>, &mut MarkWriter),
        hold: bool,
        out: &mut Vec<u8>,
        mut compress: impl FnMut(usize, &[u8], &mut [u8], Option<&mut Marker>) -> Result<Option<usize>>,
    ) -> Result<bool> {
        marks.begin(&planes, self.marked);
        let mut gains = Gains::new(self.effort.manner.level, planes.len());
        let mut held = 0;
        for (number, plane) in planes.clone().enumerate() {
            let start = out.len();
            let shorter = stream::write_short(plane, self.runs_allowed, out, |plane, out| {
                let coded = scratch(coded, stream::longest_coded(plane.len()));
                let len = compress(number, plane, coded, marks.marker())?;
                let len = len.filter(|len| gains.are_worth(plane.len(), *len));
                let Some(len) = len else { return Ok(false) };
                let coded = coded.must_get(..len)?;
                out.extend_from_slice(coded);
                marks.keep(number, coded, plane.len())?;
                Ok(true)
            })?;
            gains.add(if shorter { out.len() - start } else { plane.len() });
            match (shorter, hold && held == number) {
                (false, true) => held += 1,
                (false, false) => stream::write_raw(plane, out)?,
                (true, true) if held > 0 => {
                    let last = out.split_off(start);
                    planes.clone().take(held).try_for_each(|raw| stream::write_raw(raw, out))?;
                    out.extend(last);
                }
                (true, _) => {}
            }
        }
        marks.write(out)?;
        Ok(held == planes.len())
    }

    /// Appends the streams of a block that was held back: filtered, but not compressed.
    pub(super) fn encode_raw(
        &self,
        worker: &mut Worker,
        block: &Plain<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Worker { a, b, .. } = worker;
        let filtered = self.pipeline.forward(block.reference, block.bytes, a, b)?;
        planes_of(filtered, block.stream_count).try_for_each(|plane| stream::write_raw(plane, out))
    }
}

/// The `count` streams of a filtered block before they are compressed.
pub(super) fn planes_of(filtered: &[u8], count: usize) -> ChunksExact<'_, u8> {
    filtered.chunks_exact((filtered.len() / count).max(1))
}
