//! Several streams at once, for codecs that are quicker so.
//!
//! Of two whole blocks, the same stream of both is decoded at the same time: planes of a block differ, neighbouring blocks are
//! much alike, so that none has to wait long for the other.
//!
//! Nothing here tells what is wrong: what cannot be done at once is done one by one, and then either can be done, or says why not.

use std::ops::Range;

use super::block::{BlockReader, StoredBlock, put_together};
use super::stream::Stream;
use super::worker::Worker;
use crate::codecs::CodecState;
use crate::error::{MustGet, Result};
use crate::filters::scratch;
use crate::wire::Reader;

impl BlockReader<'_> {
    /// Decodes two whole blocks, each into its place, which is as long. False when that cannot be done.
    pub(super) fn decode_two(
        &self,
        worker: &mut Worker,
        [a, b]: [&StoredBlock<'_>; 2],
        [a_dst, b_dst]: [&mut [u8]; 2],
    ) -> bool {
        let [Ok(a_streams), Ok(b_streams)] = [a, b].map(|block| self.streams_of(block)) else {
            return false;
        };
        if a_streams.len() != b_streams.len() {
            return false;
        }
        if self.pipeline.reads_as_is() {
            let places = in_turns((&a_streams, a_dst), (&b_streams, b_dst));
            return self.decode_all(&mut worker.codec, places, false, usize::MAX);
        }
        let is_gathered = self.pipeline.only_planes() == Some(a_streams.len());
        let mut buffer = std::mem::take(&mut worker.streams);
        let (a_decoded, b_decoded) = scratch(&mut buffer, a.len + b.len).split_at_mut(a.len);
        let places = in_turns((&a_streams, &mut *a_decoded), (&b_streams, &mut *b_decoded));
        let mut is_done = self.decode_all(&mut worker.codec, places, is_gathered, usize::MAX);
        let blocks = [(a, &a_streams, &*a_decoded, a_dst), (b, &b_streams, &*b_decoded, b_dst)];
        for (block, streams, decoded, dst) in blocks {
            if !is_done {
                break;
            }
            if is_gathered {
                let items = 0..decoded.len() / streams.len();
                is_done = gather(streams, decoded, items, block, dst).is_ok();
            } else {
                let undone = self.undo_filters(worker, decoded, block.reference, block.far, dst);
                is_done = undone.is_ok();
            }
        }
        worker.streams = buffer;
        is_done
    }

    /// Decodes the items of a block that is stored as planes. False when that cannot be done.
    pub(super) fn decode_planes_at_once(
        &self,
        worker: &mut Worker,
        block: &StoredBlock<'_>,
        items: Range<usize>,
        dst: &mut [u8],
    ) -> Result<bool> {
        if self.marks_of(block, items.len()).is_some() {
            return Ok(false);
        }
        let Worker { codec, streams: buffer, .. } = worker;
        let decoded = scratch(buffer, block.len);
        let streams = self.decode_at_once(codec, block, items.end, decoded);
        if let Some(streams) = &streams {
            gather(streams, decoded, items, block, dst)?;
        }
        Ok(streams.is_some())
    }

    /// Decodes at least the first `needed` bytes of every stream of a block, but for those that are raw, to its place in
    /// `decoded`. `None` when that cannot be done, or one after the other is as quick.
    pub(super) fn decode_at_once<'s>(
        &self,
        codec: &mut CodecState,
        block: &StoredBlock<'s>,
        needed: usize,
        decoded: &mut [u8],
    ) -> Option<Vec<Stream<'s>>> {
        if !self.method.decodes_two_at_once() || !block.is_split() {
            return None;
        }
        let streams = self.streams_of(block).ok()?;
        self.decode_all(codec, places(&streams, decoded), true, needed).then_some(streams)
    }

    fn streams_of<'s>(&self, block: &StoredBlock<'s>) -> Result<Vec<Stream<'s>>> {
        let (len, mut reader) = (block.stream_len()?, Reader::new("chunk", block.bytes));
        (0..block.stream_count)
            .map(|_| Stream::parse(&mut reader, len, self.runs_allowed))
            .collect()
    }

    /// Decodes at least the first `needed` bytes of streams to their places, but leaves those that are raw where they lie if they
    /// are to be [gathered](gather).
    fn decode_all<'s, 'd>(
        &self,
        codec: &mut CodecState,
        places: impl Iterator<Item = (Stream<'s>, &'d mut [u8])>,
        is_gathered: bool,
        needed: usize,
    ) -> bool
    where
        's: 'd,
    {
        let coded = places.filter_map(|(stream, part)| match stream {
            Stream::Coded(bytes, _) => Some((bytes, part)),
            Stream::Run(value) => {
                part.iter_mut().take(needed).for_each(|byte| *byte = value);
                None
            }
            Stream::Raw(bytes) => {
                if !is_gathered {
                    part.copy_from_slice(bytes);
                }
                None
            }
        });
        codec.decompress_all(&self.method, coded, needed)
    }
}

/// The streams of a block and where they go.
fn places<'s, 'd>(
    streams: &[Stream<'s>],
    dst: &'d mut [u8],
) -> impl Iterator<Item = (Stream<'s>, &'d mut [u8])> {
    let len = (dst.len() / streams.len().max(1)).max(1);
    streams.iter().copied().zip(dst.chunks_exact_mut(len))
}

/// The same of two blocks that have as many: each stream of the first beside that of the second.
fn in_turns<'s, 'd>(
    a: (&[Stream<'s>], &'d mut [u8]),
    b: (&[Stream<'s>], &'d mut [u8]),
) -> impl Iterator<Item = (Stream<'s>, &'d mut [u8])> {
    places(a.0, a.1).zip(places(b.0, b.1)).flat_map(|(a, b)| [a, b])
}

/// Puts items together from planes, which are where they were decoded to, or raw.
fn gather(
    streams: &[Stream<'_>],
    decoded: &[u8],
    items: Range<usize>,
    block: &StoredBlock<'_>,
    dst: &mut [u8],
) -> Result<()> {
    let parts = decoded.chunks_exact((decoded.len() / streams.len().max(1)).max(1));
    let planes = streams.iter().zip(parts).map(|(stream, part)| match *stream {
        Stream::Raw(bytes) => bytes,
        _ => part,
    });
    let planes: Vec<&[u8]> =
        planes.map(|plane| plane.must_get(items.clone())).collect::<Result<_>>()?;
    put_together(&planes, block, dst)
}

#[cfg(feature = "zlib")]
#[cfg(test)]
mod tests {
    use crate::chunk::{Decoder, Encoder};
    use crate::exec::Executor;
    use crate::options::{Codec, CompressOptions, Filter};

    const BLOCK: usize = 8 << 10;

    /// Items of 4 bytes, of which one is noise and one hardly changes; the last block is a short one.
    fn items() -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()
        };
        let item = |n: u32| {
            let [_, noise, a, b] = next();
            [noise, a.min(b) >> 3, (n / 1000).to_le_bytes()[0], 0]
        };
        (0..12 * 2048 + 300).flat_map(item).collect()
    }

    fn chunks(bytes: &[u8]) -> impl Iterator<Item = (Vec<u8>, Vec<Filter>)> {
        let filters: [&[Filter]; 4] =
            [&[], &[Filter::Shuffle], &[Filter::BitShuffle], &[Filter::Delta, Filter::Shuffle]];
        filters.into_iter().map(move |filters| {
            let options = CompressOptions::new(4).with_codec(Codec::Zlib).with_block_size(BLOCK);
            let options = options.with_filters(filters.to_vec()).with_level(5);
            (Encoder::new(&options).unwrap().compress(bytes).unwrap(), filters.to_vec())
        })
    }

    #[test]
    fn pairs_of_blocks_are_what_blocks_are_alone() {
        let bytes = items();
        for (chunk, filters) in chunks(&bytes) {
            for executor in [Executor::inline(), Executor::threads(3)] {
                let mut decoder = Decoder::new().with_executor(executor);
                assert!(decoder.decompress(&chunk).unwrap() == bytes, "{filters:?}");
            }
            let mut part = vec![0; 400];
            for start in [0, 5, BLOCK - 100, 3 * BLOCK + 8, bytes.len() - 400] {
                Decoder::new().read_bytes(&chunk, start..start + 400, &mut part).unwrap();
                assert!(part == bytes[start..start + 400], "{filters:?} at {start}");
            }
        }
    }

    #[test]
    fn a_wrong_block_is_told_as_if_it_were_alone() {
        let bytes = items();
        for (mut chunk, filters) in chunks(&bytes) {
            let second_half = chunk.len() / 2;
            let mut wrong = 0;
            for at in (second_half..chunk.len()).step_by(61) {
                chunk[at] ^= 0x55;
                let whole = Decoder::new().decompress(&chunk).map_err(|e| e.to_string());
                let mut alone = vec![0; bytes.len()];
                let blocks = alone.chunks_mut(BLOCK).enumerate().map(|(number, block)| {
                    let range = number * BLOCK..number * BLOCK + block.len();
                    Decoder::new().read_bytes(&chunk, range, block).map_err(|e| e.to_string())
                });
                let blocks: Result<Vec<usize>, String> = blocks.collect();
                wrong += usize::from(blocks.is_err());
                assert!(whole == blocks.map(|_| alone), "{filters:?}: byte {at}");
                chunk[at] ^= 0x55;
            }
            assert!(wrong > 10, "{filters:?}: {wrong}");
        }
    }
}
