//! Blocks of C-Blosc 1 whose flags do not tell whether they are split: before 1.11 the flag said
//! "split" even where the writer did not, and since 1.14 a user can force splits that the old rule
//! forbids. The stream lengths decide.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use superchunk::chunk::{self, Decoder};
use superchunk::{ChunkFormat, Codec, CompressOptions};
use superchunk_testkit::naive;
use superchunk_testkit::samples::mixed;

const DONT_SPLIT: u8 = 0x10;

/// Items above 16 bytes, and blocks of fewer than 128 items: never split by the old rule.
const DOUBTFUL: [(usize, usize); 4] = [(32, 3200), (17, 1700), (4, 400), (8, 1016)];

fn check(packed: &[u8], bytes: &[u8]) {
    assert!(chunk::decompress(packed).unwrap() == bytes);
    assert!(naive::decompress(packed).unwrap() == bytes);
    let mut part = vec![0; bytes.len() / 2];
    Decoder::new()
        .read_bytes(packed, bytes.len() / 3..bytes.len() / 3 + part.len(), &mut part)
        .unwrap();
    assert!(part == bytes[bytes.len() / 3..][..part.len()]);
}

#[test]
fn whole_blocks_under_a_flag_that_says_split_are_read() {
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd] {
        for (item_size, block_size) in DOUBTFUL {
            let bytes = mixed(5 * block_size + 50, item_size, 8);
            let options = CompressOptions::new(item_size)
                .with_codec(codec)
                .with_block_size(block_size)
                .with_format(ChunkFormat::Blosc1);
            let mut packed = chunk::compress(&bytes, &options).unwrap();
            assert_eq!(packed[2] & DONT_SPLIT, DONT_SPLIT);
            packed[2] &= !DONT_SPLIT;
            check(&packed, &bytes);
        }
    }
}

#[test]
fn blocks_that_are_really_split_against_the_rule_are_read() {
    for (item_size, block_size) in DOUBTFUL {
        let bytes = mixed(3 * block_size + 10, item_size, 9);
        check(&split_chunk(&bytes, item_size, block_size), &bytes);
    }
}

/// A Blosc1 chunk of shuffled blocks, each split into one raw stream for each byte of an item. The
/// blocks are stored last to first, as threads may have finished them.
fn split_chunk(bytes: &[u8], item_size: usize, block_size: usize) -> Vec<u8> {
    let blocks: Vec<&[u8]> = bytes.chunks(block_size).collect();
    let mut starts = vec![0; blocks.len()];
    let mut streams = Vec::new();
    let data_start = 16 + 4 * blocks.len();
    for (index, block) in blocks.iter().enumerate().rev() {
        starts[index] = data_start + streams.len();
        let items = block.len() / item_size;
        let whole = items * item_size;
        if block.len() == block_size {
            for plane in 0..item_size {
                streams.extend(u32::try_from(items).unwrap().to_le_bytes());
                streams.extend(block.iter().skip(plane).step_by(item_size));
            }
        } else {
            // The last short block is never split.
            streams.extend(u32::try_from(block.len()).unwrap().to_le_bytes());
            for plane in 0..item_size {
                streams.extend(block[..whole].iter().skip(plane).step_by(item_size));
            }
            streams.extend(&block[whole..]);
        }
    }
    let mut chunk = vec![2, 1, 0x01, u8::try_from(item_size).unwrap()];
    for field in [bytes.len(), block_size, data_start + streams.len()].iter().chain(&starts) {
        chunk.extend(u32::try_from(*field).unwrap().to_le_bytes());
    }
    chunk.extend(streams);
    chunk
}
