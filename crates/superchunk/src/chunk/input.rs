//! What becomes a chunk, block by block.
//!
//! Bytes that have to be gathered first, such as those of a chunk of an array, need not be there before the work begins: each block is
//! filled by whoever needs it first, who then has it in its caches.

use std::sync::{Mutex, PoisonError};

use super::block::Plain;
use super::geometry::Geometry;
use crate::error::{MustGet, Result};
use crate::filters::Reference;

/// Puts the bytes of a block, which is told by its number, into their place.
pub(crate) type FillBlock<'a> = dyn Fn(usize, &mut [u8]) -> Result<()> + Sync + 'a;

/// The bytes of a chunk.
pub(super) enum Input<'a> {
    /// All of them.
    Whole(&'a [u8]),
    /// Blocks that are filled in their turn.
    InTurn(Vec<Mutex<Place<'a>>>, &'a FillBlock<'a>),
}

/// Where a block is, or will be.
pub(super) struct Place<'a> {
    bytes: &'a mut [u8],
    is_filled: bool,
}

/// An input cut into blocks.
pub(super) struct PlainBlocks<'a, 'i> {
    pub(super) input: &'a Input<'i>,
    pub(super) geometry: Geometry,
    /// The streams of a full block.
    pub(super) streams: usize,
    /// The first block, where the others differ from it.
    pub(super) first: Option<&'a [u8]>,
}

impl<'a> Input<'a> {
    /// Blocks of this length, none of which is filled yet.
    pub(super) fn in_turn(bytes: &'a mut [u8], blocksize: usize, fill: &'a FillBlock<'a>) -> Self {
        let places = bytes.chunks_mut(blocksize.max(1));
        let places = places.map(|bytes| Mutex::new(Place { bytes, is_filled: false }));
        Self::InTurn(places.collect(), fill)
    }
}

impl PlainBlocks<'_, '_> {
    /// Works with block `number`.
    pub(super) fn with<T>(
        &self,
        number: usize,
        work: impl FnOnce(&Plain<'_>) -> Result<T>,
    ) -> Result<T> {
        match self.input {
            Input::Whole(bytes) => {
                let block = bytes.must_get(self.geometry.block_range(number))?;
                work(&self.plain(number, block))
            }
            Input::InTurn(places, fill) => {
                let mut place =
                    places.must_get(number)?.lock().unwrap_or_else(PoisonError::into_inner);
                if !std::mem::replace(&mut place.is_filled, true) {
                    fill(number, place.bytes)?;
                }
                work(&self.plain(number, place.bytes))
            }
        }
    }

    fn plain<'b>(&'b self, number: usize, bytes: &'b [u8]) -> Plain<'b> {
        Plain {
            bytes,
            stream_count: if self.geometry.is_leftover(number) { 1 } else { self.streams },
            reference: match self.first {
                Some(first) if number > 0 => Reference::FirstBlock(first),
                _ => Reference::Itself,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::chunk::Encoder;
    use crate::exec::Executor;
    use crate::options::{Codec, CompressOptions, Filter};

    const BLOCK: usize = 8 << 10;
    const LEN: usize = 20 * BLOCK + 1000;

    /// Numbers, noise, one value, and one value in the first block alone.
    fn inputs() -> [Vec<u8>; 4] {
        let numbers: Vec<u8> =
            (0..).flat_map(|n: u32| (n / 7 * 3).to_le_bytes()).take(LEN).collect();
        let mut state = 1_u32;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_le_bytes()[3]
        });
        let late = [&[7; BLOCK][..], numbers.get(BLOCK..).unwrap_or_default()].concat();
        [numbers, noise.take(LEN).collect(), vec![7; LEN], late]
    }

    /// The chunk of bytes that are filled in turn must be that of bytes that were there.
    fn check(encoder: &mut Encoder, bytes: &[u8], blocksize: usize) {
        let mut filled = vec![0xA5; bytes.len()];
        let mut out = vec![1, 2, 3];
        let fill = |number: usize, block: &mut [u8]| {
            let from = number * blocksize;
            block.copy_from_slice(&bytes[from..from + block.len()]);
            Ok(())
        };
        let len = encoder.compress_filled_into(&mut filled, blocksize, &fill, &mut out).unwrap();
        let expected = encoder.compress(bytes).unwrap();
        assert!(out[3..] == expected, "{:?}", encoder.options);
        assert!(len == expected.len() && out[..3] == [1, 2, 3]);
        assert!(filled == bytes, "{:?}", encoder.options);
    }

    #[test]
    fn what_is_filled_in_turn_becomes_the_same_chunk() {
        let ways = [(Codec::Lz4, 5), (Codec::BloscLz, 5), (Codec::Lz4Hc, 9), (Codec::Zstd, 3)];
        let filters = [&[][..], &[Filter::Shuffle], &[Filter::Delta, Filter::Shuffle]];
        for (codec, level) in ways.into_iter().chain([(Codec::Lz4, 0)]) {
            for (filter, threads) in filters.into_iter().flat_map(|f| [(f, 1), (f, 3)]) {
                let options = CompressOptions::new(4).with_codec(codec).with_level(level);
                let options = options.with_filters(filter.to_vec()).with_block_size(BLOCK);
                let mut encoder =
                    Encoder::new(&options.with_executor(Executor::threads(threads))).unwrap();
                for bytes in inputs() {
                    check(&mut encoder, &bytes, BLOCK);
                    // Blocks that are not those of the encoder.
                    check(&mut encoder, &bytes, 3000);
                }
            }
        }
    }

    #[test]
    fn blocks_of_a_few_items_tell_nothing_of_the_others() {
        for blocksize in [8, 12, 16, 20] {
            let options = CompressOptions::new(4).with_block_size(blocksize);
            let mut encoder = Encoder::new(&options).unwrap();
            for bytes in inputs() {
                check(&mut encoder, &bytes, blocksize);
            }
        }
    }
}
