//! Bytes to a chunk.

use std::fmt;

use super::block::BlockWriter;
use super::check::Original;
use super::dict;
use super::effort::{Effort, first_of, group_of};
use super::explore::Exploration;
use super::geometry::Geometry;
use super::header::{BLOSC1_LEN, BLOSC2_LEN, Content, Header, VERSION_BLOSC1, VERSION_BLOSC2};
use super::input::{FillBlock, Input, PlainBlocks};
use super::line::Line;
use super::marks::Marked;
use super::special;
use super::tune::{self, Cut};
use super::worker::{self, Worker};
use crate::codecs::{CodecId, Manner, Method, Places};
use crate::error::{Error, MustGet, Result};
use crate::exec::Work;
use crate::filters::{Pipeline, Reference, Setting, Slot, Slots};
use crate::options::{ChunkFormat, CompressOptions};
use crate::wire;

/// Compresses buffers into chunks; keeps its scratch memory from one to the next.
///
/// The chunk depends on the bytes and the options alone: not on the executor, nor on what the
/// encoder did before.
///
/// ```
/// use superchunk::{chunk, CompressOptions};
///
/// let bytes: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
/// let mut encoder = chunk::Encoder::new(&CompressOptions::new(4))?;
/// let mut out = Vec::new();
/// for piece in bytes.chunks(1 << 16) {
///     let len = encoder.compress_into(piece, &mut out)?;
///     assert!(len < piece.len());
/// }
/// # Ok::<(), superchunk::Error>(())
/// ```
pub struct Encoder {
    pub(super) options: CompressOptions,
    pub(super) slots: Slots,
    pub(super) pipeline: Pipeline,
    pub(super) method: Method,
    pub(super) workers: Vec<Worker>,
    /// Buffers for blocks that are encoded before their turn.
    pub(super) spare: Vec<Vec<u8>>,
    exploration: Exploration,
    /// The filters that decide what a checked chunk must decode to.
    pub(super) lossy: Option<Pipeline>,
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Encoder {
    /// Checks the options.
    pub fn new(options: &CompressOptions) -> Result<Self> {
        options.validate()?;
        let slots = Slot::from_options(options)?;
        let setting = Setting {
            item_size: usize::from(stored_item_size(options)),
            version2: options.format == ChunkFormat::Blosc1,
            shape: options.block_shape.as_ref(),
            registry: &options.registry,
        };
        let codec = CodecId::from(options.codec);
        let pipeline = Pipeline::resolve(&slots, &setting)?;
        Ok(Self {
            lossy: pipeline.lossy_part().filter(|_| options.check),
            pipeline,
            method: Method::resolve(codec, options.block_shape.as_ref(), &options.registry)?,
            slots,
            options: options.clone(),
            workers: Vec::new(),
            spare: Vec::new(),
            exploration: Exploration::default(),
        })
    }

    /// Compresses `src` into a chunk.
    pub fn compress(&mut self, src: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.compress_into(src, &mut out)?;
        out.shrink_to_fit();
        Ok(out)
    }

    /// Compresses `src`, appends the chunk to `out` and returns its length. After an error `out` is
    /// as it was.
    pub fn compress_into(&mut self, src: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        let start = out.len();
        let made = self.append_chunk(src, out);
        self.finish(made, &Original::Bytes(src), out, start)
    }

    /// Asks whether `len` bytes are to be compressed.
    pub(super) fn begin(&self, len: usize) -> Result<()> {
        self.options.executor.begin(Work::Compress, len, None)
    }

    fn append_chunk(&mut self, src: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.begin(src.len())?;
        let header_len = self.header_len();
        if src.len() > i32::MAX as usize - header_len {
            return Err(Error::limit(format!(
                "{} bytes do not fit one chunk, which holds {}: cut them into several chunks",
                src.len(),
                i32::MAX as usize - header_len
            )));
        }
        let cut = tune::cut(&self.options, src.len());
        if self.options.level == 0 || src.len() < self.smallest_compressed() {
            return self.append_stored(src, cut, out);
        }
        if let Some(chunk) = self.special_chunk(src, cut)? {
            out.extend_from_slice(&chunk);
            return Ok(());
        }
        let start = out.len();
        out.reserve(src.len() + header_len);
        let dict = if self.options.dictionary { dict::make(self, src, cut)? } else { Vec::new() };
        if !self.append_blocks(&Input::Whole(src), src.len(), cut, &dict, out)? {
            out.truncate(start);
            return self.append_stored(src, cut, out);
        }
        Ok(())
    }

    /// Compresses bytes of which `fill` puts each block into its place: when its turn comes, where that can be, else all of them first. They are all
    /// there in the end. The chunk is the same as if they had been from the begin.
    pub(crate) fn compress_filled_into(
        &mut self,
        bytes: &mut [u8],
        blocksize: usize,
        fill: &FillBlock<'_>,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        let (start, nbytes) = (out.len(), bytes.len());
        let cut = tune::cut(&self.options, nbytes);
        let in_turn = cut.blocksize == blocksize
            && self.needs_no_whole(nbytes, cut)
            && !self.may_be_special(bytes, cut, fill)?;
        if in_turn {
            self.begin(nbytes)?;
            out.reserve(nbytes + self.header_len());
            let input = Input::in_turn(bytes, blocksize, fill);
            let fits = self.append_blocks(&input, nbytes, cut, &[], out);
            if !matches!(fits, Ok(true)) {
                out.truncate(start);
            }
            if fits? {
                return self.finish(Ok(()), &Original::Bytes(bytes), out, start);
            }
        }
        let blocks = bytes.chunks_mut(blocksize.max(1)).enumerate();
        blocks.into_iter().try_for_each(|(number, block)| fill(number, block))?;
        if in_turn {
            let made = self.append_stored(bytes, cut, out);
            return self.finish(made, &Original::Bytes(bytes), out, start);
        }
        self.compress_into(bytes, out)
    }

    /// Whether blocks can be encoded one by one, and none is looked at before its turn.
    fn needs_no_whole(&self, nbytes: usize, cut: Cut) -> bool {
        let manner = manner_of(&self.options, &self.pipeline, nbytes);
        let writer = block_writer(&self.options, &self.pipeline, &self.method, manner, &[]);
        let count = Geometry::new(nbytes, cut.blocksize).block_count();
        (self.smallest_compressed()..=i32::MAX as usize - self.header_len()).contains(&nbytes)
            && self.options.level > 0
            && !self.options.dictionary
            && !self.pipeline.has_delta()
            && writer.effort.groups(count, streams_of(&self.options, cut)) == 0
    }

    /// Whether all bytes may be the same value: the first block, which is filled for that, tells.
    fn may_be_special(&self, bytes: &mut [u8], cut: Cut, fill: &FillBlock<'_>) -> Result<bool> {
        let Some(first) = bytes.get_mut(..cut.blocksize) else { return Ok(true) };
        fill(0, first)?;
        let item_size = self.options.item_size;
        Ok(!first.len().is_multiple_of(item_size) || special::is_one_value(item_size, first))
    }

    /// A special chunk, where the format has them and no filter could make a difference.
    fn special_chunk(&self, src: &[u8], cut: Cut) -> Result<Option<Vec<u8>>> {
        let plain = !self.pipeline.is_lossy() && !self.pipeline.has_user_step();
        if self.options.format == ChunkFormat::Blosc1 || !plain {
            return Ok(None);
        }
        special::recognise(self.options.item_size, src, cut.blocksize)
    }

    fn append_stored(&self, src: &[u8], cut: Cut, out: &mut Vec<u8>) -> Result<()> {
        let cbytes = src.len() + self.header_len();
        self.header(src.len(), cut, Content::Stored, cbytes).write(out)?;
        out.reserve(src.len());
        worker::append(src, out);
        Ok(())
    }

    /// Appends header, block starts, dictionary and blocks; false when that is no shorter than
    /// storing the bytes (what is in `out` then has no meaning).
    fn append_blocks(
        &mut self,
        input: &Input<'_>,
        nbytes: usize,
        cut: Cut,
        dict: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        let chunk_start = out.len();
        let most = nbytes + self.header_len();
        let geometry = Geometry::new(nbytes, cut.blocksize);
        if geometry.block_count() >= nbytes.div_ceil(4) {
            return Ok(false);
        }
        let mut header = self.header(nbytes, cut, Content::Blocks, 0);
        header.dictionary = !dict.is_empty();
        header.write(out)?;
        let bstarts = out.len();
        out.resize(bstarts + 4 * geometry.block_count(), 0);
        if header.dictionary {
            out.extend(wire::stored(dict.len())?.to_le_bytes());
            out.extend_from_slice(dict);
        }
        let fits =
            self.append_streams(input, geometry, cut, dict, out, |block, out: &mut Vec<u8>| {
                let position = out.len() - chunk_start;
                put_i32(out, bstarts + 4 * block, position)?;
                Ok(position < most)
            })?;
        let cbytes = out.len() - chunk_start;
        put_i32(out, chunk_start + 12, cbytes)?;
        Ok(fits && cbytes < most)
    }

    /// Appends the streams of all blocks in order. `before_each` is told where a block begins and
    /// may stop the work.
    fn append_streams(
        &mut self,
        input: &Input<'_>,
        geometry: Geometry,
        cut: Cut,
        dict: &[u8],
        out: &mut Vec<u8>,
        before_each: impl Fn(usize, &mut Vec<u8>) -> Result<bool> + Send,
    ) -> Result<bool> {
        let (count, nbytes) = (geometry.block_count(), geometry.nbytes());
        let reference = match input {
            Input::Whole(src) => self.delta_reference(src, geometry)?,
            Input::InTurn(..) => None,
        };
        let manner = manner_of(&self.options, &self.pipeline, nbytes);
        let writer = block_writer(&self.options, &self.pipeline, &self.method, manner, dict);
        let streams = streams_of(&self.options, cut);
        let blocks = PlainBlocks { input, geometry, streams, first: reference.as_deref() };
        let executor = &self.options.executor;
        let threads = worker::useful_threads(executor, count, nbytes);
        let workers = worker::at_least(&mut self.workers, threads);
        let groups = writer.effort.groups(count, streams);
        let exploration = &mut self.exploration;
        exploration.run(
            (executor, &mut *workers),
            &writer,
            (groups, streams),
            |worker, group, to| {
                blocks.with(first_of(group), |block| writer.filter(worker, block, to))
            },
        )?;
        let write_raw = |worker: &mut Worker, number: usize, out: &mut Vec<u8>| {
            blocks.with(number, |block| writer.encode_raw(worker, block, out))
        };
        let mut line = Line::new(out, before_each, write_raw);
        line.append_all(executor, workers, &mut self.spare, count, |worker, number, hold, out| {
            blocks.with(number, |block| match group_of(number, groups) {
                Some((group, is_first)) => {
                    let (filtered, explored) = exploration.of(group, streams)?;
                    match is_first {
                        true => {
                            writer.encode_explored(worker, (block, filtered), explored, hold, out)
                        }
                        false => writer.encode(worker, block, explored, hold, out),
                    }
                }
                None => writer.encode(worker, block, &[], hold, out),
            })
        })?;
        Ok(line.is_complete(count))
    }

    /// Block 0 as a decoder will see it, for the delta filter: not the source itself when another
    /// filter drops bits of it.
    fn delta_reference(&self, src: &[u8], geometry: Geometry) -> Result<Option<Vec<u8>>> {
        if !self.pipeline.has_delta() || geometry.block_count() < 2 {
            return Ok(None);
        }
        let mut first = src.must_get(geometry.block_range(0))?.to_vec();
        if self.pipeline.is_lossy() || self.pipeline.has_user_step() {
            let Worker { streams, a, b, .. } = &mut Worker::default();
            self.pipeline.there_and_back(Reference::Itself, &mut first, (streams, a, b))?;
        }
        Ok(Some(first))
    }

    pub(super) fn header(
        &self,
        nbytes: usize,
        cut: Cut,
        content: Content,
        cbytes: usize,
    ) -> Header {
        let blosc2 = self.options.format == ChunkFormat::Blosc2;
        Header {
            version: if blosc2 { VERSION_BLOSC2 } else { VERSION_BLOSC1 },
            extended: blosc2,
            typesize: stored_item_size(&self.options),
            nbytes,
            blocksize: cut.blocksize,
            cbytes,
            content,
            split: cut.split,
            codec: CodecId::from(self.options.codec),
            slots: self.slots,
            dictionary: false,
            lazy: false,
            instrumented: false,
            repair: None,
        }
    }

    fn header_len(&self) -> usize {
        match self.options.format {
            ChunkFormat::Blosc1 => BLOSC1_LEN,
            ChunkFormat::Blosc2 => BLOSC2_LEN,
        }
    }

    /// Shorter inputs are stored, as the reference does.
    fn smallest_compressed(&self) -> usize {
        match self.options.format {
            ChunkFormat::Blosc1 => 128,
            ChunkFormat::Blosc2 => 32,
        }
    }
}

/// What writes the blocks of an encoder with these parts.
pub(super) fn block_writer<'a>(
    options: &CompressOptions,
    pipeline: &'a Pipeline,
    method: &'a Method,
    manner: Manner,
    dict: &'a [u8],
) -> BlockWriter<'a> {
    let runs_allowed = options.format == ChunkFormat::Blosc2;
    let effort = Effort { method, manner, dict };
    let marked = marked_of(options, pipeline, &effort);
    BlockWriter { pipeline, effort, runs_allowed, marked }
}

/// Which blocks of such an encoder have marks. Pieces are short enough without, and take as many bytes as they may.
fn marked_of(
    options: &CompressOptions,
    pipeline: &Pipeline,
    effort: &Effort<'_>,
) -> Option<Marked> {
    let Effort { method, manner, dict } = effort;
    let (streams, item) = match pipeline.reads_as_is() {
        true => (1, options.item_size),
        false => (pipeline.only_planes()?, 1),
    };
    let places = method.places()?;
    let is_marked = options.marks
        && options.format == ChunkFormat::Blosc2
        && dict.is_empty()
        && !manner.as_long
        // It would be felt to go through the stream once more.
        && (places == Places::Bytes || manner.level > 1);
    let is_far = matches!(method, Method::Lz4Hc);
    // Of LZ4 the bench has cells that take as many bytes at this level as they may.
    let is_dear = manner.level >= 9 && matches!(method, Method::Lz4);
    is_marked.then_some(Marked { places, streams, item, is_far, is_dear })
}

/// How an encoder with these parts compresses the streams of `nbytes`.
pub(super) fn manner_of(options: &CompressOptions, pipeline: &Pipeline, nbytes: usize) -> Manner {
    let (level, filtered) = (options.level, !pipeline.reads_as_is());
    Manner { level, filtered, as_long: tune::has_pieces(options, nbytes) }
}

/// The streams of a full block.
pub(super) fn streams_of(options: &CompressOptions, cut: Cut) -> usize {
    if cut.split { usize::from(stored_item_size(options)) } else { 1 }
}

/// The item size that the header has room for.
pub(super) fn stored_item_size(options: &CompressOptions) -> u8 {
    u8::try_from(options.item_size).unwrap_or(1)
}

/// Overwrites a length or position field.
pub(super) fn put_i32(out: &mut [u8], at: usize, value: usize) -> Result<()> {
    let stored = wire::stored(value)?.to_le_bytes();
    out.must_get_mut(at..at + 4)?.copy_from_slice(&stored);
    Ok(())
}
