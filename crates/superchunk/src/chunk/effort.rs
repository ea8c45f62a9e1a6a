//! How hard each stream of a chunk is worked on, found out with some of its blocks.
//!
//! The first of every few blocks is compressed as the level asks for, and in [lighter ways](crate::codecs::Light) besides.
//! Where one of these makes the block hardly longer, the same stream of the blocks that follow is compressed so: planes of a block
//! differ, neighbouring blocks are much alike. A stream that comes out longer than the first one, or repeats itself where
//! that did not, is compressed as the level asks for after all, so that blocks which are not alike cost time, not space. The bytes of a chunk still depend on its
//! content alone.

use superchunk_kernels::{Marker, repetitions};

use crate::codecs::{CodecState, Content, Light, Manner, Method, lighter};
use crate::error::{MustGet, Result};

/// So many blocks at least share what is found out with the first of them.
const GROUP: usize = 16;
/// With fewer blocks in a chunk, finding out is not worth it.
const WORTH_BLOCKS: usize = 4;
/// Lighter ways may make a block 1/400 longer.
const ALLOWED: usize = 400;
/// A result may be 1/16 longer, and a stream repeat itself so much more often, than in the first block, before the stream
/// is taken to be of another kind.
const ALIKE: usize = 16;
/// So many repetitions more may be chance.
const CHANCE: usize = 8;
/// The room beyond its result that an encoder may ask for.
const ROOM: usize = 64;

/// What compresses the streams of a chunk.
pub(super) struct Effort<'a> {
    pub(super) method: &'a Method,
    pub(super) manner: Manner,
    pub(super) dict: &'a [u8],
}

/// What was found out with a stream of the first block of a group.
#[derive(Default)]
pub(super) struct Explored {
    /// The stream, compressed; nothing when that does not make it shorter.
    result: Vec<u8>,
    /// How the same stream of the other blocks is to be compressed.
    way: Option<Way>,
}

/// A lighter way for a stream, and what it is for.
#[derive(Clone, Copy)]
struct Way {
    light: Light,
    /// The length of the stream, and how often it was found to repeat itself, unless the way finds that itself.
    len: usize,
    repetitions: usize,
    /// The length of the result.
    result: usize,
}

impl Explored {
    /// Forgets what was found out before.
    pub(super) fn clear(&mut self) {
        self.result.clear();
        self.way = None;
    }

    /// Keeps the shorter of two results, that of the level and that of the first lighter way which takes at most `most`
    /// bytes. The buffers change places.
    pub(super) fn choose(
        &mut self,
        src: &[u8],
        full: &mut Tried,
        lighter: &mut [Tried],
        most: usize,
    ) {
        self.clear();
        if full.len.is_none() {
            return;
        }
        let light = lighter.iter_mut().find(|light| light.len.is_some_and(|len| len <= most));
        let shortest = match light {
            Some(light) => {
                self.way = light.len.zip(light.light).map(|(len, light)| Way::new(light, src, len));
                if light.len < full.len { light } else { full }
            }
            None => full,
        };
        std::mem::swap(&mut self.result, &mut shortest.bytes);
        self.result.truncate(shortest.len.unwrap_or(0));
    }

    /// Puts the compressed stream into `dst`, and tells its length.
    pub(super) fn copy_to(&self, dst: &mut [u8]) -> Option<usize> {
        let len = self.result.len();
        dst.get_mut(..len).filter(|_| len > 0)?.copy_from_slice(&self.result);
        Some(len)
    }
}

/// How many bytes more lighter ways may take where the level takes `full`.
pub(super) fn allowed_surplus(full: usize) -> usize {
    full / ALLOWED
}

/// A stream that was compressed in one way.
#[derive(Default)]
pub(super) struct Tried {
    /// Its first `len` bytes are the result.
    pub(super) bytes: Vec<u8>,
    /// `None` when it does not become shorter.
    pub(super) len: Option<usize>,
    /// The lighter way, if it was one.
    pub(super) light: Option<Light>,
}

impl Way {
    fn new(light: Light, src: &[u8], result: usize) -> Self {
        let repetitions = if light.finds_repetitions() { 0 } else { repetitions(src) };
        Self { light, len: src.len(), repetitions, result }
    }

    /// Whether a stream is of the kind that the way was found for.
    fn is_for(&self, src: &[u8]) -> bool {
        src.len() == self.len
            && (self.light.finds_repetitions()
                || repetitions(src) <= self.repetitions + self.repetitions / ALIKE + CHANCE)
    }
}

impl Effort<'_> {
    /// Into how many groups a chunk of so many blocks, of so many streams each, is divided: each begins with a block that
    /// is explored. None where that is of no use.
    pub(super) fn groups(&self, blocks: usize, streams: usize) -> usize {
        if blocks < WORTH_BLOCKS || !self.dict.is_empty() || self.lighter(streams).is_empty() {
            return 0;
        }
        (blocks / GROUP).max(1)
    }

    /// Compresses a stream of a block as `explored` advises; `None` when it does not fit `dst`. The marker is for a method whose sequences
    /// begin at [bytes](Method::places).
    pub(super) fn compress(
        &self,
        explored: Option<&Explored>,
        codec: &mut CodecState,
        src: &[u8],
        dst: &mut [u8],
        mut marker: Option<&mut Marker>,
    ) -> Result<Option<usize>> {
        let way = explored.and_then(|explored| explored.way);
        if let Some(way) = way.filter(|way| way.is_for(src)) {
            let room = dst.len().min(way.result + way.result / ALIKE + ROOM);
            let dst = dst.must_get_mut(..room)?;
            let lightly = codec.compress_lightly(way.light, src, dst, marker.as_deref_mut());
            if let Some(result) = lightly {
                return Ok(Some(result));
            }
            if let Some(marker) = &mut marker {
                marker.begin_again();
            }
        }
        codec.compress(self.method, self.manner, self.dict, src, dst, marker)
    }

    /// The lighter ways to compress one of the `streams` streams of a block, the lightest first.
    pub(super) fn lighter(&self, streams: usize) -> &'static [Light] {
        let content = match (streams, self.manner.filtered) {
            (2.., _) => Content::Plane,
            (_, true) => Content::Filtered,
            (_, false) => Content::Plain,
        };
        lighter(self.method, self.manner.level, content)
    }
}

/// The group of a block, if there are any, and whether it is the first of it.
pub(super) fn group_of(block: usize, groups: usize) -> Option<(usize, bool)> {
    let group = (block / GROUP).min(groups.checked_sub(1)?);
    Some((group, block == first_of(group)))
}

/// The first block of a group.
pub(super) fn first_of(group: usize) -> usize {
    group * GROUP
}

#[cfg(test)]
mod tests {
    use crate::chunk::{Decoder, Encoder};
    use crate::exec::Executor;
    use crate::options::{Codec, CompressOptions, Filter};

    const BLOCK: usize = 32 << 10;

    /// Bytes without an order, always the same, of which small ones are frequent.
    fn skewed(len: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [_, _, a, b] = state.to_le_bytes();
            a.min(b) >> 3
        };
        (0..len).map(|_| next()).collect()
    }

    fn options(codec: Codec, level: u8, filter: &[Filter]) -> CompressOptions {
        let options = CompressOptions::new(4).with_codec(codec).with_level(level);
        options.with_filters(filter.to_vec()).with_block_size(BLOCK)
    }

    fn compressed(options: &CompressOptions, bytes: &[u8]) -> Vec<u8> {
        let chunk = Encoder::new(options).unwrap().compress(bytes).unwrap();
        assert!(Decoder::new().decompress(&chunk).unwrap() == bytes);
        chunk
    }

    /// What the blocks take that are compressed one by one, as the level asks for.
    fn fully(options: &CompressOptions, bytes: &[u8]) -> usize {
        bytes.chunks(BLOCK).map(|block| compressed(options, block).len()).sum()
    }

    #[test]
    fn what_has_only_codes_takes_no_more_bytes_for_less_work() {
        let bytes = skewed(20 * BLOCK + 1000, 7);
        for (codec, level) in [(Codec::Zstd, 3), (Codec::Zstd, 5), (Codec::Zlib, 5)] {
            for filter in [&[][..], &[Filter::Shuffle]] {
                let options = options(codec, level, filter);
                let (chunk, full) = (compressed(&options, &bytes).len(), fully(&options, &bytes));
                assert!(chunk < full + full / 500, "{codec:?} {level}: {chunk} and {full}");
            }
        }
    }

    #[test]
    fn blocks_that_are_not_like_the_first_lose_nothing() {
        // Every eighth block has only codes, what is between repeats itself far away.
        let far = skewed(BLOCK / 2, 3);
        let blocks = (0..32).map(|block| match block % 8 {
            0 => skewed(BLOCK, block),
            _ => far.iter().chain(&far).map(|byte| byte.wrapping_mul(37)).collect(),
        });
        let bytes: Vec<u8> = blocks.flat_map(Vec::into_iter).collect();
        for codec in [Codec::Zstd, Codec::Zlib] {
            let options = options(codec, 5, &[]);
            let (chunk, full) = (compressed(&options, &bytes).len(), fully(&options, &bytes));
            assert!(chunk < full + full / 500, "{codec:?}: {chunk} and {full}");
        }
    }

    #[test]
    fn the_bytes_do_not_depend_on_threads_or_on_earlier_chunks() {
        let skewed = |blocks| skewed(blocks * BLOCK, 5);
        let words: Vec<u8> = (0..37 * BLOCK / 8)
            .flat_map(|n| format!("{:8}", n % 5000 * (n % 5000) % 5000).into_bytes())
            .collect();
        let ways = [(Codec::Zstd, 1), (Codec::Zstd, 3), (Codec::Zstd, 5), (Codec::Zlib, 5)];
        for (codec, level) in ways {
            for filter in [&[][..], &[Filter::Shuffle], &[Filter::BitShuffle]] {
                let options = options(codec, level, filter);
                let threads = options.clone().with_executor(Executor::threads(3));
                let mut many = Encoder::new(&threads).unwrap();
                for bytes in [&skewed(37), &words, &skewed(12), &words] {
                    let expected = compressed(&options, bytes);
                    assert!(many.compress(bytes).unwrap() == expected, "{codec:?} {level}");
                }
            }
        }
    }
}
