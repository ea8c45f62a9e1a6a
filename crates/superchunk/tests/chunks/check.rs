//! `CompressOptions::with_check`: wrong bytes are found before a chunk is handed out, and right ones
//! never refused.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use superchunk::chunk::{self, Content, Decoder, Encoder, Header};
use superchunk::{
    BlockShape, ChunkFormat, Codec, CompressOptions, Error, ErrorKind, Executor, Filter, SplitMode,
};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::datasets;
use superchunk_testkit::faulty::{FILTER, RunLengths, Shift, with_codec, with_filter};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::samples::mixed;

const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];

/// Items of four bytes that rise slowly: long runs, with and without a shuffle.
fn slow(len: usize) -> Vec<u8> {
    (0..).flat_map(|at: u32| (at / 2000 * 0x0101_0101).to_le_bytes()).take(len).collect()
}

fn assert_found(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Miscompressed, "{error}");
    let words = error.to_string();
    for part in ["Registered { id: 200", "level 5", "is_lossy"] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

/// Compresses with a codec that is wrong in the last of every five streams, until that happens.
fn compress_until_wrong(
    options: &CompressOptions,
    compress: impl Fn(&mut Encoder, &mut Vec<u8>) -> superchunk::Result<usize>,
) {
    let faulty = || with_codec(options.clone(), RunLengths::wrong_every(5));
    let mut checked = Encoder::new(&faulty().with_check(true)).unwrap();
    let mut trusting = Encoder::new(&faulty()).unwrap();
    let mut right = Encoder::new(&with_codec(options.clone(), RunLengths::default())).unwrap();
    let mut decoder = Decoder::new().with_registry(faulty().registry);
    let mut good = Vec::new();
    let len = compress(&mut right, &mut good).unwrap();
    assert_eq!(len, good.len());
    let expected = decoder.decompress(&good).unwrap();
    let (mut found, mut stored_wrong, mut undecodable, mut passed) = (0, 0, 0, 0);
    for _ in 0..20 {
        let mut out = vec![7];
        match compress(&mut checked, &mut out) {
            Ok(len) => {
                assert!(len == good.len() && out[1..] == good, "{options:?}");
                passed += 1;
            }
            Err(error) => {
                assert_found(&error);
                assert_eq!(out, [7], "an error leaves nothing in the output");
                found += 1;
            }
        }
        let mut out = Vec::new();
        compress(&mut trusting, &mut out).unwrap();
        match decoder.decompress(&out) {
            Ok(decoded) if decoded == expected => {}
            Ok(_) => stored_wrong += 1,
            Err(_) => undecodable += 1,
        }
    }
    assert!(stored_wrong > 0 && undecodable > 0, "{stored_wrong}, {undecodable}: {options:?}");
    assert_eq!(found, stored_wrong + undecodable, "{options:?}");
    assert_eq!(passed + found, 20);
}

#[test]
fn wrong_bytes_of_a_codec_are_found_and_without_the_check_they_are_stored() {
    let base = CompressOptions::new(4).with_split(SplitMode::Never);
    let bytes = slow(40_000);
    let pipelines = [
        vec![],
        vec![Filter::Shuffle],
        vec![Filter::BitShuffle],
        vec![Filter::Delta, Filter::Shuffle],
        vec![Filter::TruncPrec(10), Filter::Shuffle],
        vec![Filter::IntTrunc(-4), Filter::Delta],
    ];
    for filters in pipelines {
        // One block is one stream, two blocks are two.
        for block in [40_000, 20_000] {
            let options = base.clone().with_filters(filters.clone()).with_block_size(block);
            compress_until_wrong(&options, |encoder, out| encoder.compress_into(&bytes, out));
        }
    }
}

#[test]
fn wrong_bytes_of_a_codec_are_found_in_variable_length_blocks() {
    let (one, two) = (slow(9000), slow(20_000));
    for filters in [vec![], vec![Filter::Shuffle], vec![Filter::TruncPrec(4)]] {
        let options = CompressOptions::new(4).with_filters(filters);
        compress_until_wrong(&options, |encoder, out| {
            encoder.compress_blocks_into(&[&one, &two], out)
        });
    }
}

#[test]
fn wrong_bytes_are_found_by_several_threads_and_named_by_block() {
    let bytes = slow(1 << 20);
    let options = CompressOptions::new(4)
        .with_split(SplitMode::Never)
        .with_block_size(1 << 16)
        .with_executor(Executor::threads(4));
    // Of seventeen streams the last is wrong, so that each chunk of sixteen but the first has one.
    let options = with_codec(options, RunLengths::wrong_every(17)).with_check(true);
    let mut encoder = Encoder::new(&options).unwrap();
    encoder.compress(&bytes).unwrap();
    for round in 0..6 {
        let error = encoder.compress(&bytes).unwrap_err();
        assert_found(&error);
        let is_decodable = round % 2 == 0;
        assert_eq!(error.message().contains("in block "), is_decodable, "{error}");
        assert_eq!(error.message().contains("does not decode: "), !is_decodable, "{error}");
    }
}

#[test]
fn a_wrong_filter_is_found_and_a_lossy_one_has_to_say_so() {
    let bytes = mixed(50_000, 4, 6);
    let user = Filter::Registered { id: FILTER, meta: 3 };
    let compress = |filters: &[Filter], shift: Shift| {
        let options = CompressOptions::new(4).with_block_size(8192).with_check(true);
        chunk::compress(&bytes, &with_filter(options, filters, shift))
    };
    let kind = |filters: &[Filter], shift| compress(filters, shift).map_err(|error| error.kind());
    let exact = [user, Filter::Delta, Filter::Shuffle];
    kind(&exact, Shift::default()).unwrap();
    let wrong = Shift { is_wrong: true, ..Shift::default() };
    assert_eq!(kind(&exact, wrong), Err(ErrorKind::Miscompressed));

    let silent = Shift { cleared: 1, ..Shift::default() };
    let error = compress(&exact, silent).unwrap_err();
    assert!(error.message().contains("lossy without saying so"), "{error}");
    for filters in [&exact[..], &[Filter::Shuffle, user], &[Filter::Delta, user]] {
        let shift = Shift { cleared: 1, says_lossy: true, is_wrong: false };
        kind(filters, shift).unwrap();
    }
    // What follows the last lossy filter is exact again.
    let after = [Filter::TruncPrec(10), user, Filter::Shuffle];
    kind(&after, Shift::default()).unwrap();
    let wrong = Shift { is_wrong: true, ..Shift::default() };
    assert_eq!(kind(&after, wrong), Err(ErrorKind::Miscompressed));
}

#[test]
fn a_lossy_codec_only_has_to_decode() {
    let bytes = slow(40_000);
    let options = CompressOptions::new(4).with_split(SplitMode::Never).with_filters([]);
    let options = with_codec(options.with_block_size(40_000), RunLengths::wrong_every(1).lossy());
    let mut encoder = Encoder::new(&options.clone().with_check(true)).unwrap();
    let chunk = encoder.compress(&bytes).unwrap();
    let decoded = Decoder::new().with_registry(options.registry).decompress(&chunk).unwrap();
    assert!(decoded != bytes, "other bytes, as a lossy codec may give");
    let error = encoder.compress(&bytes).unwrap_err();
    assert!(error.message().contains("does not decode: "), "{error}");
}

/// The chunk, which must be the same with the check as without.
fn check(bytes: &[u8], options: &CompressOptions) -> Vec<u8> {
    let packed = chunk::compress(bytes, options).unwrap();
    let checked = chunk::compress(bytes, &options.clone().with_check(true));
    assert!(checked.unwrap() == packed, "{} bytes with {options:?}", bytes.len());
    packed
}

#[test]
fn what_is_right_passes_and_is_the_same_chunk() {
    let all = [
        Filter::Shuffle,
        Filter::BitShuffle,
        Filter::Delta,
        Filter::ByteDelta(0),
        Filter::ShuffleBy(5),
        Filter::TruncPrec(5),
        Filter::IntTrunc(-3),
    ];
    let pool = Executor::threads(3);
    let mut rng = Rng::new(11);
    for round in 0..600 {
        let item_size = [1, 2, 3, 4, 4, 8, 8, 17, 255, 300][rng.index(10)];
        let len = [0, 1, 31, 32, 127, 1000, 4097, 40_001, 200_000][rng.index(9)];
        let mut filters: Vec<Filter> = (0..rng.index(4)).map(|_| all[rng.index(7)]).collect();
        let truncates =
            |filter: &Filter| matches!(filter, Filter::TruncPrec(_) | Filter::IntTrunc(_));
        if !matches!(item_size, 4 | 8) {
            filters.retain(|filter| !truncates(filter));
        }
        let codec = CODECS[rng.index(5)];
        let mut options = CompressOptions::new(item_size)
            .with_codec(codec)
            .with_level(u8::try_from(rng.below(10)).unwrap())
            .with_filters(filters)
            .with_marks(rng.below(4) == 0)
            .with_split([SplitMode::Auto, SplitMode::Always, SplitMode::Never][rng.index(3)]);
        options.dictionary =
            rng.below(4) == 0 && matches!(codec, Codec::Zstd | Codec::Lz4 | Codec::Lz4Hc);
        if rng.below(3) == 0 {
            options = options.with_block_size(1 + rng.index(9000));
        }
        if rng.below(4) == 0 {
            options = options.with_executor(pool.clone());
        }
        let bytes = mixed(len, item_size, round);
        check(&bytes, &options);
        if len > 0 {
            let blocks: Vec<&[u8]> = bytes.chunks(1 + len / 5).collect();
            let options = options.with_check(true);
            Encoder::new(&options).unwrap().compress_blocks_into(&blocks, &mut Vec::new()).unwrap();
        }
    }
}

#[test]
fn dictionaries_special_values_blosc1_and_blocks_with_a_shape_pass() {
    let text = datasets::csv(200_000);
    for codec in [Codec::Zstd, Codec::Lz4, Codec::Lz4Hc] {
        let options = CompressOptions::new(1).with_codec(codec).with_filters([]);
        let options = options.with_block_size(4096).with_dictionary(true);
        assert!(Header::parse(&check(&text, &options)).unwrap().has_dictionary());
    }
    for (bytes, item_size, content) in [
        (vec![0; 1000], 8, Content::Zeros),
        (f32::NAN.to_le_bytes().repeat(100), 4, Content::Nans),
        ([1, 2, 3].repeat(100), 3, Content::Value { width: 3 }),
        (datasets::random(5000), 4, Content::Stored),
    ] {
        let packed = check(&bytes, &CompressOptions::new(item_size));
        assert_eq!(Header::parse(&packed).unwrap().content(), content);
    }
    for codec in CODECS {
        let options = CompressOptions::new(4).with_codec(codec).with_format(ChunkFormat::Blosc1);
        check(&mixed(70_001, 4, 3), &options);
    }
    let values: Vec<u8> = (0..1200_u16).flat_map(|i| (f32::from(i) / 7.0).to_le_bytes()).collect();
    let shape = BlockShape::new(&[20, 15]).unwrap();
    let ndlz = CompressOptions::new(1).with_codec(Codec::NdLz { cell: 4 }).with_filters([]);
    let plane = BlockShape::new(&[40, 30]).unwrap();
    check(&values, &ndlz.with_block_size(1200).with_block_shape(plane));
    for filter in [Filter::NdCell(4), Filter::NdMean(3)] {
        let options = CompressOptions::new(4).with_filters([filter, Filter::Shuffle]);
        let options = options.with_block_size(1200).with_block_shape(shape.clone());
        check(&values, &options.with_codec(Codec::Zstd));
    }
}

#[test]
fn the_check_takes_one_more_decoded_chunk() {
    let bytes = mixed(4 << 20, 4, 9);
    for filters in [vec![Filter::Shuffle], vec![Filter::TruncPrec(10), Filter::Shuffle]] {
        let options = CompressOptions::new(4).with_filters(filters).with_block_size(1 << 16);
        let peak = |options: &CompressOptions| {
            let mut encoder = Encoder::new(options).unwrap();
            let mut out = Vec::new();
            encoder.compress_into(&bytes, &mut out).unwrap();
            out.clear();
            // All scratch memory is there by now.
            peak_of(|| encoder.compress_into(&bytes, &mut out).unwrap()).1
        };
        let (without, with) = (peak(&options), peak(&options.clone().with_check(true)));
        let more = with - without;
        assert!((bytes.len()..bytes.len() + (1 << 19)).contains(&more), "{without}, {with}");
    }
}
