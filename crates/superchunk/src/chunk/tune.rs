//! The automatic choices of an encoder: block size, and whether blocks are split.
//!
//! Both are tuning only; any choice can be read. Block sizes follow the reference's tables, so that
//! chunks of the same options have the same blocks, but for two exceptions, both measured with the
//! datasets of the bench:
//!
//! - We split where the reference does not (LZ4HC and Zlib). Planes on their own are up to 10 %
//!   smaller, and those that are noise are stored and read at the speed of a copy. Zstd above level 5
//!   was measured too: it finds more in whole blocks, in less time. So do all other codecs in planes of
//!   bits, and LZ4HC and Zlib at low levels: their short blocks show them planes that repeat each other.
//! - Blocks of BloscLZ, and split ones of LZ4 from level 8 on and of Zlib at level 1, are shorter: they take no more bytes
//!   than those of the reference, or 0.5 % more, but stay in the cache, several threads share a chunk, and a few items
//!   are read from less. All others are left alone: shorter ones are 1 to 7 % larger.

use crate::options::{ChunkFormat, Codec, CompressOptions, Filter, SplitMode};

const KIB: usize = 1024;

/// Inputs below this length become one block.
const SMALLEST_CUT: usize = 32 * KIB;

/// Blocks for codecs that gain from long windows (LZ4HC, Zlib, Zstd), in KiB, by level.
const LONG_BLOCKS: [usize; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];
/// Blocks for the fast codecs, in KiB, by level.
const SHORT_BLOCKS: [usize; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
const BLOSCLZ_BLOCKS: [usize; 10] = [8, 16, 32, 32, 32, 32, 64, 64, 64, 64];
/// Streams of a split block, in KiB, by level.
const SPLIT_STREAMS: [usize; 10] = [32, 32, 32, 32, 64, 64, 64, 128, 256, 256];
const LZ4_STREAMS: [usize; 10] = [32, 32, 32, 32, 64, 64, 64, 128, 128, 128];
/// The same at level [`PIECES`], but for single bytes.
const LZ4_PIECE: usize = 64 * KIB;
/// So many full blocks of pieces there must be: the rest behind them is not split, which shall not be felt.
const ENOUGH_PIECES: usize = 4;
const LZ4HC_STREAMS: [usize; 10] = [32, 32, 32, 32, 64, 64, 128, 128, 128, 256];
const BLOSCLZ_STREAMS: [usize; 10] = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64];
const ZLIB_1_STREAM: usize = 16 * KIB;
/// At this level LZ4 cuts the streams of the reference into pieces.
const PIECES: u8 = 9;
/// From this level on the blocks of LZ4HC and Zlib in the reference are long enough for planes of bits, and those of Zlib for any.
const LONG_PLANES: u8 = 4;
/// The shortest where the reference has none: what a stream costs beside its content would be felt in less.
const SHORTEST_STREAM: usize = 4 * KIB;

/// How an input is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The bytes of a block, at least 1.
    pub(super) blocksize: usize,
    /// Whether full blocks have one stream for each byte of an item.
    pub(super) split: bool,
}

/// Chooses for an input of `nbytes`.
pub(super) fn cut(options: &CompressOptions, nbytes: usize) -> Cut {
    let blocksize = match options.format {
        ChunkFormat::Blosc2 => blosc2_blocksize(options, nbytes),
        ChunkFormat::Blosc1 => blosc1_blocksize(options, nbytes),
    };
    let blocksize = whole_items(blocksize.min(nbytes), options.item_size).max(1);
    Cut { blocksize, split: splits(options, options.item_size, blocksize) }
}

fn blosc2_blocksize(options: &CompressOptions, nbytes: usize) -> usize {
    if let Some(blocksize) = options.block_size {
        return blocksize;
    }
    if options.level > 0 && splits(options, options.item_size, nbytes) {
        return split_blocksize(options, nbytes);
    }
    unsplit_blocksize(options, nbytes)
}

/// The planes of a block: so many KiB each, or as long together as the one stream of the reference.
fn split_blocksize(options: &CompressOptions, nbytes: usize) -> usize {
    let (level, item_size) = (options.level, options.item_size);
    let stream = match options.codec {
        Codec::BloscLz => by_level(&BLOSCLZ_STREAMS, level),
        Codec::Lz4 if has_pieces(options, nbytes) => LZ4_PIECE,
        Codec::Lz4 => by_level(&LZ4_STREAMS, level),
        Codec::Lz4Hc if options.filters.contains(&Filter::Shuffle) => {
            by_level(&LZ4HC_STREAMS, level)
        }
        Codec::Zlib if level == 1 => ZLIB_1_STREAM,
        Codec::Lz4Hc | Codec::Zlib if level >= LONG_PLANES => {
            let shortest = SHORTEST_STREAM.saturating_mul(item_size);
            return by_level(&LONG_BLOCKS, level).max(shortest);
        }
        _ => by_level(&SPLIT_STREAMS, level),
    };
    stream.saturating_mul(item_size).clamp(32 * KIB, 4 * KIB * KIB)
}

/// Whether the streams of an input are pieces of those of the reference. They are still searched as if they were whole: in so short ones
/// LZ4 would find matches of 4 bytes, which make them smaller, but take several times as long both ways.
pub(super) fn has_pieces(options: &CompressOptions, nbytes: usize) -> bool {
    options.codec == Codec::Lz4
        && options.level >= PIECES
        && options.item_size > 1
        && options.block_size.is_none()
        && options.format == ChunkFormat::Blosc2
        && splits(options, options.item_size, nbytes)
        && nbytes / options.item_size >= ENOUGH_PIECES * LZ4_PIECE
}

fn blosc1_blocksize(options: &CompressOptions, nbytes: usize) -> usize {
    let wanted = match options.block_size {
        Some(blocksize) => blocksize.max(128),
        None => unsplit_blocksize(options, nbytes),
    };
    if options.block_size.is_none() && splits(options, options.item_size, wanted) {
        let streams = wanted.min(256 * KIB).saturating_mul(options.item_size);
        return streams.clamp(64 * KIB, KIB * KIB);
    }
    wanted
}

fn unsplit_blocksize(options: &CompressOptions, nbytes: usize) -> usize {
    if nbytes < SMALLEST_CUT {
        return nbytes;
    }
    let blocks = match options.codec {
        Codec::Lz4Hc | Codec::Zlib | Codec::Zstd => &LONG_BLOCKS,
        Codec::BloscLz if options.format == ChunkFormat::Blosc2 => &BLOSCLZ_BLOCKS,
        _ => &SHORT_BLOCKS,
    };
    by_level(blocks, options.level)
}

fn by_level(kib: &[usize; 10], level: u8) -> usize {
    kib.get(usize::from(level)).copied().unwrap_or(SMALLEST_CUT / KIB) * KIB
}

/// Whether blocks of this size are split. A block without a whole item cannot be, and neither can
/// items that the header does not record.
fn splits(options: &CompressOptions, item_size: usize, blocksize: usize) -> bool {
    if item_size > 255 || blocksize < item_size {
        return false;
    }
    match (options.split, options.format) {
        (SplitMode::Never, _) => false,
        (SplitMode::Always, ChunkFormat::Blosc2) => true,
        (SplitMode::Auto, ChunkFormat::Blosc2) => {
            let shortest = if splits_in_reference(options) { 32 } else { SHORTEST_STREAM };
            (splits_in_reference(options) || gains_from_planes(options))
                && item_size <= 16
                && blocksize / item_size >= shortest
        }
        // Readers of Blosc1 chunks apply these bounds themselves, whatever the flag says.
        (SplitMode::Always, ChunkFormat::Blosc1) => item_size <= 16 && blocksize / item_size >= 128,
        (SplitMode::Auto, ChunkFormat::Blosc1) => {
            options.codec != Codec::Zstd && item_size <= 16 && blocksize / item_size >= 128
        }
    }
}

/// Whether the reference splits blocks of this codec: only what is shuffled by bytes.
fn splits_in_reference(options: &CompressOptions) -> bool {
    let by_codec = match options.codec {
        Codec::BloscLz | Codec::Lz4 => true,
        Codec::Zstd => options.level <= 5,
        _ => false,
    };
    by_codec && options.filters.contains(&Filter::Shuffle)
}

/// Whether planes are split although the reference leaves them in one stream: one of noise then costs
/// nothing, and each other one has codes of its own.
fn gains_from_planes(options: &CompressOptions) -> bool {
    let has = |filter| options.filters.contains(&filter);
    let by_filter = match options.codec {
        Codec::Lz4Hc | Codec::Zlib => {
            has(Filter::Shuffle) || has(Filter::BitShuffle) && options.level >= LONG_PLANES
        }
        _ => false,
    };
    by_filter && options.item_size > 1 && !options.dictionary
}

/// Rounds down to whole items, but not to nothing.
fn whole_items(blocksize: usize, item_size: usize) -> usize {
    if blocksize > item_size { blocksize - blocksize % item_size } else { blocksize }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn cut_of(codec: Codec, level: u8, item_size: usize, nbytes: usize) -> Cut {
        cut(&CompressOptions::new(item_size).with_codec(codec).with_level(level), nbytes)
    }

    #[test]
    fn blocks_are_those_of_the_reference() {
        // docs/formats/chunk.md, "automatic block size".
        assert_eq!(cut_of(Codec::Lz4, 5, 8, 4 * MIB), Cut { blocksize: 512 << 10, split: true });
        assert_eq!(cut_of(Codec::Zstd, 6, 8, 4 * MIB), Cut { blocksize: 512 << 10, split: false });
        assert_eq!(cut_of(Codec::Lz4, 5, 7, 4 * MIB).blocksize, 7 * (64 << 10));
        let unfiltered = CompressOptions::new(3).with_codec(Codec::Zlib).with_filters([]);
        assert_eq!(cut(&unfiltered, 4 * MIB).blocksize, (256 << 10) / 3 * 3);
    }

    #[test]
    fn fast_codecs_have_shorter_streams_where_these_are_as_small() {
        assert_eq!(
            cut_of(Codec::BloscLz, 5, 8, 4 * MIB),
            Cut { blocksize: 256 << 10, split: true }
        );
        assert_eq!(cut_of(Codec::BloscLz, 9, 4, 4 * MIB).blocksize, 256 << 10);
        let lz4 = |item_size, nbytes| cut_of(Codec::Lz4, 9, item_size, nbytes);
        assert_eq!(lz4(8, 9 * MIB), Cut { blocksize: 512 << 10, split: true });
        assert_eq!(lz4(1, 9 * MIB), Cut { blocksize: 128 << 10, split: true });
        // With few of them they would leave a rest that is not split.
        assert_eq!(lz4(8, 700 << 10).blocksize, 700 << 10);
        for filters in [&[][..], &[Filter::BitShuffle]] {
            let options = CompressOptions::new(8).with_codec(Codec::BloscLz).with_level(9);
            let options = options.with_filters(filters.to_vec());
            assert_eq!(cut(&options, 4 * MIB), Cut { blocksize: 64 << 10, split: false });
        }
        // Not shorter than what is worth a block.
        assert_eq!(cut_of(Codec::BloscLz, 1, 1, 4 * MIB).blocksize, 32 << 10);
    }

    #[test]
    fn thorough_codecs_have_shuffled_blocks_of_planes_too() {
        let bits = |codec, level| {
            let options = CompressOptions::new(8).with_codec(codec).with_level(level);
            cut(&options.with_filters([Filter::BitShuffle]), 4 * MIB)
        };
        assert_eq!(bits(Codec::Lz4Hc, 5), Cut { blocksize: 256 << 10, split: true });
        assert_eq!(bits(Codec::Zlib, 6), Cut { blocksize: 512 << 10, split: true });
        assert_eq!(cut_of(Codec::Zlib, 5, 8, 4 * MIB), Cut { blocksize: 256 << 10, split: true });
        assert_eq!(cut_of(Codec::Zlib, 9, 2, 4 * MIB), Cut { blocksize: MIB, split: true });
        assert_eq!(cut_of(Codec::Lz4Hc, 5, 8, 4 * MIB), Cut { blocksize: 512 << 10, split: true });
        assert_eq!(cut_of(Codec::Lz4Hc, 9, 8, 4 * MIB), Cut { blocksize: 2 * MIB, split: true });
        assert_eq!(cut_of(Codec::Zlib, 1, 4, 4 * MIB), Cut { blocksize: 64 << 10, split: true });
        assert_eq!(cut_of(Codec::Zlib, 2, 4, 4 * MIB), Cut { blocksize: 128 << 10, split: true });
        // Nothing to split in single bytes.
        assert_eq!(cut_of(Codec::Zlib, 5, 1, 4 * MIB), Cut { blocksize: 256 << 10, split: false });
        assert!(!cut_of(Codec::Zlib, 5, 300, 4 * MIB).split);
    }

    #[test]
    fn planes_of_bits_are_split_only_where_that_was_measured_to_gain() {
        let splits = |codec, level| {
            let options = CompressOptions::new(8).with_codec(codec).with_level(level);
            cut(&options.with_filters([Filter::BitShuffle]), 4 * MIB).split
        };
        assert!(splits(Codec::Lz4Hc, 4) && splits(Codec::Lz4Hc, 9) && splits(Codec::Zlib, 5));
        assert!(!splits(Codec::Lz4Hc, 3) && !splits(Codec::Zlib, 1) && !splits(Codec::Zstd, 5));
        assert!(!splits(Codec::Lz4, 5) && !splits(Codec::BloscLz, 5));
    }

    #[test]
    fn a_block_never_exceeds_the_input_and_holds_whole_items() {
        for nbytes in [1, 7, 8, 100, 1001, 40_000] {
            for item_size in [1, 3, 8, 17, 255, 300, 5000] {
                let cut = cut_of(Codec::Lz4, 5, item_size, nbytes);
                assert!(cut.blocksize >= 1 && cut.blocksize <= nbytes);
                assert!(cut.blocksize < item_size || cut.blocksize.is_multiple_of(item_size));
                assert!(!cut.split || cut.blocksize >= item_size);
            }
        }
    }
}
