//! Parts of chunks: ranges, masks, lazy chunks. Only the blocks that are needed are touched.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superchunk::chunk::{self, Decoder, Encoder, Header, LazyChunk};
use superchunk::{
    Codec, CompressOptions, ErrorKind, Filter, Registry, Result, SplitMode, UserCodec,
};
use superchunk_testkit::datasets;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::samples::mixed;

/// Chunks of several blocks with everything that makes partial decoding hard.
fn chunks() -> Vec<(Vec<u8>, Vec<u8>)> {
    let bytes = mixed(70_001, 4, 5);
    let plain = CompressOptions::new(4).with_block_size(8000);
    let options = [
        plain.clone(),
        plain.clone().with_filters([]),
        plain.clone().with_filters([Filter::BitShuffle]).with_codec(Codec::Zstd),
        plain.clone().with_filters([Filter::Delta, Filter::Shuffle]),
        plain.clone().with_dictionary(true).with_codec(Codec::Zstd),
        plain.clone().with_dictionary(true).with_split(SplitMode::Always),
        plain.clone().with_level(0),
    ];
    let mut chunks: Vec<_> = options
        .iter()
        .map(|options| (chunk::compress(&bytes, options).unwrap(), bytes.clone()))
        .collect();
    let value = mixed(300, 1, 2);
    chunks.push((chunk::repeated(&value, 50).unwrap(), value.repeat(50)));
    chunks.push((chunk::nans(8, 800).unwrap(), f64::NAN.to_le_bytes().repeat(100)));
    chunks.push((chunk::uninitialised(8, 800).unwrap(), vec![0; 800]));
    chunks
}

#[test]
fn any_range_of_bytes_equals_that_part_of_the_whole() {
    let mut rng = Rng::new(1);
    let mut decoder = Decoder::new();
    for (packed, bytes) in chunks() {
        for _ in 0..200 {
            let start = rng.index(bytes.len() + 1);
            let end = start + rng.index(bytes.len() + 1 - start);
            let mut part = vec![0xEE; end - start];
            assert_eq!(decoder.read_bytes(&packed, start..end, &mut part).unwrap(), end - start);
            assert!(part == bytes[start..end], "{start}..{end}");
        }
        let item_size = Header::parse(&packed).unwrap().item_size();
        let mut item = vec![0; item_size];
        let last = bytes.len() / item_size - 1;
        decoder.read_items(&packed, last..last + 1, &mut item).unwrap();
        assert_eq!(item, bytes[last * item_size..(last + 1) * item_size]);
        assert!(decoder.read_items(&packed, last..last + 2, &mut [0; 4096]).is_err());
        assert!(decoder.read_bytes(&packed, 0..5, &mut [0; 4]).is_err());
    }
}

#[test]
fn small_pieces_of_blocks_are_right_at_every_edge() {
    let codecs = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
    let filters = [None, Some(Filter::Shuffle), Some(Filter::BitShuffle)];
    let ways = codecs.into_iter().flat_map(|codec| filters.map(|filter| (codec, filter)));
    let ways: Vec<_> = ways
        .flat_map(|way| [SplitMode::Never, SplitMode::Always].map(|split| (way, split)))
        .collect();
    let (mut decoder, len) = (Decoder::new(), 20_077);
    // Blocks of 2003 and 519 items have some behind their rows of bits, which are not cut where streams are; others have not.
    for (item_size, block_size) in [(1, 5_001), (3, 6_009), (8, 4_152), (3, 6_024), (8, 4_096)] {
        let bytes = mixed(len, item_size, 7);
        for ((codec, filter), split) in ways.iter().copied() {
            let options = CompressOptions::new(item_size)
                .with_codec(codec)
                .with_filters(filter)
                .with_block_size(block_size)
                .with_split(split);
            let packed = chunk::compress(&bytes, &options).unwrap();
            let size = Header::parse(&packed).unwrap().block_size().unwrap();
            let edges = (0..len).step_by(size).chain([len]);
            for start in edges.flat_map(|edge| edge.saturating_sub(70)..(edge + 70).min(len)) {
                for end in [start + 1, start + 8, start + 61].map(|end| end.min(len)) {
                    let mut part = vec![0xEE; end - start];
                    decoder.read_bytes(&packed, start..end, &mut part).unwrap();
                    assert!(
                        part == bytes[start..end],
                        "{codec:?} {filter:?} {split:?} {start}..{end}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_piece_of_a_long_zstd_block_needs_no_byte_behind_it() {
    let bytes = mixed(900_000, 4, 3);
    let options = CompressOptions::new(4).with_codec(Codec::Zstd).with_filters([]);
    let options = options.with_block_size(900_000);
    let mut packed = chunk::compress(&bytes, &options).unwrap();
    let (mut decoder, mut part) = (Decoder::new(), [0; 100]);
    decoder.read_bytes(&packed, 300_000..300_100, &mut part).unwrap();
    assert_eq!(part, bytes[300_000..300_100]);
    let len = packed.len();
    packed[len - len / 10..].fill(0xEE);
    decoder.read_bytes(&packed, 300_000..300_100, &mut part).unwrap();
    assert_eq!(part, bytes[300_000..300_100]);
    assert!(decoder.read_bytes(&packed, 899_000..899_100, &mut part).is_err());
}

#[test]
fn masked_blocks_keep_what_was_there() {
    for (packed, bytes) in chunks() {
        let header = Header::parse(&packed).unwrap();
        let (count, size) = (header.block_count(), header.block_size().unwrap());
        let skip: Vec<bool> = (0..count).map(|block| block % 2 == 0).collect();
        let mut out = vec![0xEE; bytes.len()];
        let mut decoder = Decoder::new();
        decoder.decompress_masked(&packed, &skip, &mut out).unwrap();
        for (block, (got, whole)) in out.chunks(size).zip(bytes.chunks(size)).enumerate() {
            assert_eq!(got == whole, !skip[block], "block {block}");
            assert!(!skip[block] || got.iter().all(|byte| *byte == 0xEE));
        }
        assert!(decoder.decompress_masked(&packed, &skip[1..], &mut out).is_err());
    }
}

#[test]
fn a_lazy_chunk_fetches_only_its_blocks() {
    for (packed, bytes) in chunks() {
        let header = Header::parse(&packed).unwrap();
        let prefix = &packed[..LazyChunk::prefix_len(&header)];
        let Ok(lazy) = LazyChunk::new(prefix, 3, 999) else { continue };
        // Through its bytes and back, as a store would pass it on.
        let lazy = LazyChunk::parse(&lazy.to_bytes().unwrap()).unwrap();
        assert_eq!((lazy.chunk_number(), lazy.offset()), (3, 999));
        assert!(Decoder::new().decompress(&lazy.to_bytes().unwrap()).is_err());
        let mut fetched = 0;
        let mut part = [0; 100];
        let fetch = |range: std::ops::Range<usize>| {
            fetched += range.len();
            Ok(packed[range].to_vec())
        };
        Decoder::new().read_lazy(&lazy, 30_000..30_100, fetch, &mut part).unwrap();
        assert_eq!(part, bytes[30_000..30_100]);
        assert!(fetched < packed.len() * 2 / 3, "{fetched} of {}", packed.len());
    }
}

/// Stores the bytes inverted, and counts how often it is asked to bring them back.
struct Counting(Arc<AtomicUsize>);

impl UserCodec for Counting {
    fn name(&self) -> &str {
        "inverted halves"
    }

    fn compress(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        // Keeps every second byte: the test data consists of equal pairs.
        let pairs = src.iter().step_by(2).map(|byte| !byte);
        let len = dst.iter_mut().zip(pairs).map(|(to, from)| *to = from).count();
        Ok((len == src.len().div_ceil(2)).then_some(len))
    }

    fn decompress(&self, _: u8, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        dst.iter_mut().enumerate().for_each(|(i, to)| *to = !src[i / 2]);
        Ok(())
    }
}

#[test]
fn one_item_of_four_megabytes_decodes_one_block() {
    let decoded = Arc::new(AtomicUsize::new(0));
    let registry = Registry::new().with_codec(200, Counting(decoded.clone())).unwrap();
    let bytes: Vec<u8> = datasets::random(2 << 20).iter().flat_map(|byte| [*byte; 2]).collect();
    let options = CompressOptions::new(8)
        .with_codec(Codec::Registered { id: 200, meta: 0 })
        .with_filters([])
        .with_registry(registry.clone());
    let packed = chunk::compress(&bytes, &options).unwrap();
    assert!(Header::parse(&packed).unwrap().block_count() > 8);
    let mut item = [0; 8];
    let mut decoder = Decoder::new().with_registry(registry);
    decoder.read_items(&packed, 300_000..300_001, &mut item).unwrap();
    assert_eq!(item, bytes[2_400_000..2_400_008]);
    assert_eq!(decoded.load(Ordering::Relaxed), 1);
    assert!(decoder.decompress(&packed).unwrap() == bytes);
    assert!(chunk::decompress(&packed).unwrap_err().to_string().contains("200"));
}

#[test]
fn the_other_blocks_may_even_be_broken() {
    let bytes = datasets::sensor(4 << 20);
    let mut packed = chunk::compress(&bytes, &CompressOptions::new(8)).unwrap();
    let header = Header::parse(&packed).unwrap();
    let lazy = LazyChunk::new(&packed, 0, 0).unwrap();
    let wanted = header.block_count() / 2;
    for block in (0..header.block_count()).filter(|block| *block != wanted) {
        packed[lazy.block_extent(block).unwrap()].fill(0x80);
    }
    let start = wanted * header.block_size().unwrap() + 80;
    let mut item = [0; 8];
    Decoder::new().read_items(&packed, start / 8..start / 8 + 1, &mut item).unwrap();
    assert_eq!(item, bytes[start..start + 8]);
    assert!(chunk::decompress(&packed).is_err());
}

#[test]
fn variable_length_blocks_come_back_one_by_one_and_together() {
    let objects: Vec<Vec<u8>> = (1..200).map(|i| mixed(i * 13 % 900 + 1, 4, i as u64)).collect();
    let blocks: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zlib, Codec::Zstd] {
        for dictionary in [false, true] {
            let options = CompressOptions::new(4)
                .with_codec(codec)
                .with_filters([Filter::Delta, Filter::Shuffle])
                .with_dictionary(dictionary && matches!(codec, Codec::Lz4 | Codec::Zstd));
            let mut packed = Vec::new();
            let mut encoder = Encoder::new(&options).unwrap();
            encoder.compress_blocks_into(&blocks, &mut packed).unwrap();
            let mut decoder = Decoder::new();
            for (index, object) in objects.iter().enumerate() {
                assert!(decoder.read_block(&packed, index).unwrap() == *object);
            }
            assert!(decoder.decompress(&packed).unwrap() == objects.concat());
            assert!(superchunk_testkit::naive::decompress(&packed).unwrap() == objects.concat());
            let mut part = [0; 3000];
            decoder.read_bytes(&packed, 1000..4000, &mut part).unwrap();
            assert!(part == objects.concat()[1000..4000]);
            assert!(decoder.read_block(&packed, objects.len()).is_err());
        }
    }
    let mut encoder = Encoder::new(&CompressOptions::new(4)).unwrap();
    assert!(encoder.compress_blocks_into(&[b"a", b""], &mut Vec::new()).is_err());
}

/// A codec that claims to have written more than it was given room for.
struct Boasting;

impl UserCodec for Boasting {
    fn name(&self) -> &str {
        "boasting"
    }

    fn compress(&self, _meta: u8, _src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        Ok(Some(dst.len() + 1))
    }

    fn decompress(&self, _meta: u8, _src: &[u8], _dst: &mut [u8]) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_registered_codec_that_claims_more_than_its_room_is_refused() {
    let registry = Registry::new().with_codec(201, Boasting).unwrap();
    let options = CompressOptions::new(4)
        .with_codec(Codec::Registered { id: 201, meta: 0 })
        .with_registry(registry);
    let error = chunk::compress(&mixed(70_001, 4, 5), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}
