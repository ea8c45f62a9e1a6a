//! Every option comes back, through our decoder and through the naive one written from the format
//! documents.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use superchunk::chunk::{self, Content, Decoder, Encoder, Header};
use superchunk::{ChunkFormat, Codec, CompressOptions, Executor, Filter, SplitMode};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::{datasets, naive};

const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
const SPLITS: [SplitMode; 3] = [SplitMode::Auto, SplitMode::Always, SplitMode::Never];

fn check(bytes: &[u8], options: &CompressOptions) -> Vec<u8> {
    let packed = chunk::compress(bytes, options).unwrap();
    let told = || format!("{} bytes with {options:?}", bytes.len());
    assert!(packed.len() <= bytes.len() + 32, "{}", told());
    assert!(chunk::decompress(&packed).unwrap() == bytes, "{}", told());
    assert!(naive::decompress(&packed).unwrap() == bytes, "naive: {}", told());
    packed
}

/// A random pipeline of lossless filters.
fn some_filters(rng: &mut Rng) -> Vec<Filter> {
    let all = [
        Filter::Shuffle,
        Filter::BitShuffle,
        Filter::Delta,
        Filter::ByteDelta(0),
        Filter::ByteDelta(3),
        Filter::ShuffleBy(5),
    ];
    (0..rng.index(4)).map(|_| all[rng.index(all.len())]).collect()
}

#[test]
fn random_options_come_back() {
    let mut rng = Rng::new(7);
    for round in 0..1500 {
        let item_size = [1, 2, 3, 4, 7, 8, 12, 16, 17, 32, 255, 256, 300][rng.index(13)];
        let len = [0, 1, 15, 16, 31, 32, 33, 127, 128, 1000, 4097, 40_001][rng.index(12)];
        let mut options = CompressOptions::new(item_size)
            .with_codec(CODECS[rng.index(5)])
            .with_level(u8::try_from(rng.below(10)).unwrap())
            .with_filters(some_filters(&mut rng))
            .with_split(SPLITS[rng.index(3)]);
        if rng.below(3) == 0 {
            options = options.with_block_size(1 + rng.index(5000));
        }
        check(&mixed(len, item_size, round), &options);
    }
}

#[test]
fn blosc1_chunks_come_back_and_have_a_short_header() {
    for codec in CODECS {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]] {
            for (item_size, len) in [(1, 1000), (4, 100), (4, 70_001), (8, 300_000), (17, 9000)] {
                let options = CompressOptions::new(item_size)
                    .with_codec(codec)
                    .with_filters(filters.clone())
                    .with_format(ChunkFormat::Blosc1);
                let packed = check(&mixed(len, item_size, 3), &options);
                assert_eq!((packed[0], Header::parse(&packed).unwrap().version()), (2, 2));
                assert_ne!(packed[2] & 5, 5);
            }
        }
    }
}

#[test]
fn dictionaries_come_back_and_make_small_blocks_smaller() {
    let bytes = datasets::csv(400_000);
    for codec in [Codec::Zstd, Codec::Lz4, Codec::Lz4Hc] {
        let options =
            CompressOptions::new(1).with_codec(codec).with_filters([]).with_block_size(4096);
        let without = check(&bytes, &options).len();
        let packed = check(&bytes, &options.with_dictionary(true));
        assert!(Header::parse(&packed).unwrap().has_dictionary());
        assert!(packed.len() < without, "{codec:?}: {} of {without}", packed.len());
    }
    // Nothing to gain: no dictionary, and no flag that claims one.
    let noise = datasets::random(100_000);
    let options = CompressOptions::new(1).with_codec(Codec::Zstd).with_dictionary(true);
    assert!(!Header::parse(&check(&noise, &options)).unwrap().has_dictionary());
}

#[test]
fn one_value_again_and_again_becomes_a_special_chunk() {
    let content = |bytes: &[u8], item_size| {
        let packed = check(bytes, &CompressOptions::new(item_size));
        assert!(packed.len() <= 32 + item_size);
        Header::parse(&packed).unwrap().content()
    };
    assert_eq!(content(&[0; 1000], 8), Content::Zeros);
    assert_eq!(content(&f32::NAN.to_le_bytes().repeat(100), 4), Content::Nans);
    assert_eq!(content(&f64::NAN.to_le_bytes().repeat(100), 8), Content::Nans);
    assert_eq!(content(&[1, 2, 3].repeat(100), 3), Content::Value { width: 3 });
    let wide: Vec<u8> = mixed(300, 1, 1).repeat(9);
    assert_eq!(content(&wide, 300), Content::Value { width: 300 });
}

#[test]
fn lossy_filters_lose_what_they_say_and_no_more() {
    let values: Vec<f32> = (0..50_000).map(|i| (i as f32).sqrt()).collect();
    for filters in [
        vec![Filter::TruncPrec(10), Filter::Shuffle],
        vec![Filter::TruncPrec(-13), Filter::Delta, Filter::Shuffle],
    ] {
        let options = CompressOptions::of::<f32>().with_filters(filters).with_block_size(8192);
        let packed = chunk::compress_items(&values, &options).unwrap();
        let back = chunk::decompress_items::<f32>(&packed).unwrap();
        for (value, back) in values.iter().zip(back) {
            assert_eq!(f32::from_bits(value.to_bits() & !0x1FFF), back);
        }
    }
}

#[test]
fn the_chunk_is_the_same_whatever_the_number_of_threads() {
    let bytes = datasets::sensor(3_000_000);
    let pools = [2, 3, 8].map(Executor::threads);
    for codec in CODECS {
        for filters in [vec![Filter::Shuffle], vec![Filter::Delta, Filter::BitShuffle], vec![]] {
            let options =
                CompressOptions::new(8).with_codec(codec).with_level(1).with_filters(filters);
            let alone = chunk::compress(&bytes, &options).unwrap();
            for pool in &pools {
                let options = options.clone().with_executor(pool.clone());
                let mut encoder = Encoder::new(&options).unwrap();
                assert!(encoder.compress(&bytes).unwrap() == alone, "{codec:?}");
                assert!(encoder.compress(&bytes).unwrap() == alone, "{codec:?} again");
                let mut decoder = Decoder::new().with_executor(pool.clone());
                assert!(decoder.decompress(&alone).unwrap() == bytes, "{codec:?}");
            }
        }
    }
}

#[test]
fn an_encoder_does_not_remember() {
    let pieces = [mixed(50_000, 4, 1), mixed(90, 4, 2), vec![0; 5000], mixed(33_333, 4, 3)];
    for codec in CODECS {
        let options = CompressOptions::new(4).with_codec(codec);
        let mut encoder = Encoder::new(&options).unwrap();
        let mut joined = Vec::new();
        for piece in &pieces {
            let len = encoder.compress_into(piece, &mut joined).unwrap();
            let fresh = chunk::compress(piece, &options).unwrap();
            assert!(joined.ends_with(&fresh) && fresh.len() == len, "{codec:?}");
        }
    }
}
