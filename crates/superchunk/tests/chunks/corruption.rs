//! Every byte of a set of chunks mutated, every length cut: an answer or an error, never a panic,
//! never more memory than the limits allow.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use superchunk::chunk::{self, Decoder, Encoder, Header, LazyChunk};
use superchunk::{ChunkFormat, Codec, CompressOptions, ErrorKind, Filter, Limits};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::corrupt::{for_each_mutation, truncations};
use superchunk_testkit::samples::mixed;

/// Chunks of a few hundred bytes, one for each kind of content, codec and filter.
fn chunks() -> Vec<Vec<u8>> {
    let bytes = mixed(1203, 4, 9);
    let mut chunks = Vec::new();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        let options = CompressOptions::new(4).with_codec(codec).with_block_size(512);
        for filters in [vec![Filter::Shuffle], vec![Filter::Delta, Filter::BitShuffle]] {
            chunks.push(chunk::compress(&bytes, &options.clone().with_filters(filters)).unwrap());
        }
        let blosc1 = options.with_format(ChunkFormat::Blosc1);
        chunks.push(chunk::compress(&bytes, &blosc1).unwrap());
    }
    let wordy = b"words, words, words and once more words, ".repeat(200);
    for codec in [Codec::Lz4, Codec::Zstd] {
        let options = CompressOptions::new(1).with_codec(codec).with_block_size(1024);
        chunks.push(chunk::compress(&wordy, &options.with_dictionary(true)).unwrap());
    }
    let mut encoder = Encoder::new(&CompressOptions::new(4)).unwrap();
    let mut vl = Vec::new();
    encoder.compress_blocks_into(&[&bytes[..300], &bytes[300..320], &bytes], &mut vl).unwrap();
    chunks.push(vl);
    chunks.push(chunk::compress(&bytes, &CompressOptions::new(4).with_level(0)).unwrap());
    chunks.push(chunk::repeated(b"abc", 100).unwrap());
    chunks.push(chunk::nans(4, 400).unwrap());
    chunks.push(chunk::zeros(4, 400).unwrap());
    chunks
}

#[test]
fn no_mutation_panics_or_takes_more_than_the_limits() {
    let limit = 1 << 16;
    // Codec contexts are made once and kept; they are not what the input asks for.
    let mut decoder = Decoder::new().with_limits(Limits::default().with_max_decoded(limit));
    for packed in chunks() {
        let _ = decoder.decompress(&packed);
        for_each_mutation(&packed, |mutation, damaged| {
            let ((), peak) = peak_of(|| {
                if let Ok(bytes) = decoder.decompress(damaged) {
                    assert!(bytes.len() <= limit);
                }
                let mut part = [0; 16];
                let _ = decoder.read_bytes(damaged, 8..24, &mut part);
                let _ = decoder.read_block(damaged, 1);
                let _ = decoder.decompress_masked(damaged, &[true, false, true], &mut [0; 2000]);
                let _ = LazyChunk::new(damaged, 0, 0);
            });
            // Output, scratch of as much again for streams, filters and a block, starts and errors.
            assert!(peak < 6 * limit + 8 * packed.len(), "{peak} bytes for {mutation:?}");
        });
    }
}

#[test]
fn a_mutated_header_never_contradicts_the_decoded_length() {
    for packed in chunks() {
        for_each_mutation(&packed[..32], |mutation, head| {
            let mut damaged = packed.clone();
            damaged[..32].copy_from_slice(head);
            if let (Ok(header), Ok(bytes)) = (Header::parse(&damaged), chunk::decompress(&damaged))
            {
                assert_eq!(bytes.len(), header.byte_len(), "{mutation:?}");
            }
        });
    }
}

#[test]
fn every_cut_is_reported_as_truncated() {
    for packed in chunks() {
        for cut in truncations(&packed) {
            let error = chunk::decompress(cut).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
            assert!(Decoder::new().decompress_into(cut, &mut vec![0; 10_000]).is_err());
        }
        let mut longer = packed.clone();
        longer.extend([1, 2, 3]);
        assert_eq!(chunk::decompress(&longer).unwrap(), chunk::decompress(&packed).unwrap());
    }
}

#[test]
fn a_bomb_is_refused_before_memory_is_taken() {
    let bomb = chunk::zeros(1, 2_000_000_000).unwrap();
    let mut decoder = Decoder::new().with_limits(Limits::default().with_max_decoded(1_000_000));
    let (result, peak) = peak_of(|| decoder.decompress(&bomb));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(peak < 10_000, "{peak}");
    // Neither may a part take a block beyond the limit.
    let options = CompressOptions::new(1).with_block_size(4 << 20);
    let mut large = chunk::compress(&mixed(4 << 20, 1, 3), &options).unwrap();
    let (result, peak) = peak_of(|| decoder.read_bytes(&large, 0..8, &mut [0; 8]));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(peak < 10_000, "{peak}");
    large[8..12].copy_from_slice(&1_000_000u32.to_le_bytes());
    assert!(decoder.read_bytes(&large, 0..8, &mut [0; 8]).is_err());
    // A part of the zeros is no bomb.
    let mut part = [1; 8];
    decoder.read_bytes(&bomb, 1_999_999_990..1_999_999_998, &mut part).unwrap();
    assert_eq!(part, [0; 8]);
}
