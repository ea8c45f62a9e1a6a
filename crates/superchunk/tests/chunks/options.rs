//! What callers can get wrong, and the sentences they get for it.

use superchunk::chunk::{self, Decoder, Encoder, Header};
use superchunk::{
    BlockShape, ChunkFormat, Codec, CompressOptions, ErrorKind, Filter, Registry, Result,
    UserFilter,
};
use superchunk_testkit::samples::mixed;

#[test]
fn impossible_options_are_refused_with_a_sentence() {
    let good = CompressOptions::new(4);
    let bad = [
        CompressOptions::new(0),
        CompressOptions::new(600_000_000),
        good.clone().with_level(10),
        good.clone().with_block_size(0),
        good.clone().with_dictionary(true).with_codec(Codec::Zlib),
        good.clone().with_filters([Filter::Shuffle; 7]),
        good.clone().with_filters([Filter::TruncPrec(30)]),
        good.clone().with_filters([Filter::NdCell(4)]),
        good.clone().with_filters([Filter::NdMean(4)]),
        good.clone().with_format(ChunkFormat::Blosc1).with_filters([Filter::Delta]),
        good.clone().with_format(ChunkFormat::Blosc1).with_dictionary(true),
        good.clone().with_format(ChunkFormat::Blosc1).with_codec(Codec::NdLz { cell: 4 }),
    ];
    for options in bad {
        let error = Encoder::new(&options).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().len() > 20);
    }
    for codec in [Codec::Registered { id: 33, meta: 0 }, Codec::Registered { id: 200, meta: 0 }] {
        let error = Encoder::new(&good.clone().with_codec(codec)).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn a_missing_codec_is_named() {
    let mut packed = chunk::compress(&mixed(5000, 4, 1), &CompressOptions::new(4)).unwrap();
    packed[2] = packed[2] & 0x1F | 6 << 5;
    packed[22] = 34;
    let error = chunk::decompress(&packed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("ZFP fixed precision"), "{error}");
}

#[test]
fn typed_helpers_never_forget_the_item_size() {
    let values: Vec<f64> = (0..1000).map(f64::from).collect();
    // The options say 1; the type wins.
    let packed = chunk::compress_items(&values, &CompressOptions::new(1)).unwrap();
    assert_eq!(Header::parse(&packed).unwrap().item_size(), 8);
    assert_eq!(chunk::decompress_items::<f64>(&packed).unwrap(), values);
    let error = chunk::decompress_items::<f32>(&packed).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_short_buffer_and_a_huge_input_are_refused() {
    let packed = chunk::compress(&[1, 2, 3, 4], &CompressOptions::new(1)).unwrap();
    let error = Decoder::new().decompress_into(&packed, &mut [0; 3]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    // Address space, never touched: the length alone decides.
    let huge = vec![0; i32::MAX as usize];
    let error = chunk::compress(&huge, &CompressOptions::new(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().contains("several chunks"), "{error}");
}

/// Adds its meta byte to every byte.
struct Shift;

impl UserFilter for Shift {
    fn name(&self) -> &str {
        "shift"
    }

    fn forward(&self, meta: u8, _: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = from.wrapping_add(meta));
        Ok(())
    }

    fn backward(&self, meta: u8, _: usize, src: &[u8], dst: &mut [u8]) -> Result<()> {
        dst.iter_mut().zip(src).for_each(|(to, from)| *to = from.wrapping_sub(meta));
        Ok(())
    }
}

#[test]
fn a_registered_filter_takes_part_in_the_pipeline() {
    let registry = Registry::new().with_filter(170, Shift).unwrap();
    let filters = [Filter::Registered { id: 170, meta: 3 }, Filter::Delta, Filter::Shuffle];
    let options = CompressOptions::new(4)
        .with_filters(filters)
        .with_block_size(4096)
        .with_registry(registry.clone());
    let bytes = mixed(50_000, 4, 6);
    let packed = chunk::compress(&bytes, &options).unwrap();
    assert_eq!(Header::parse(&packed).unwrap().filters(), filters);
    assert!(Decoder::new().with_registry(registry).decompress(&packed).unwrap() == bytes);
    assert_eq!(chunk::decompress(&packed).unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(Registry::new().with_filter(35, Shift).is_err());
}

#[test]
fn nd_filters_and_codecs_work_on_blocks_with_a_shape() {
    let shape = BlockShape::new(&[40, 30]).unwrap();
    let bytes: Vec<u8> = (0..4 * 1200u32).map(|i| (i / 7 % 5) as u8).collect();
    let ndlz = CompressOptions::new(1).with_codec(Codec::NdLz { cell: 4 }).with_filters([]);
    let cells = CompressOptions::new(1).with_filters([Filter::NdCell(4)]);
    for options in [ndlz, cells] {
        let options = options.with_block_size(1200).with_block_shape(shape.clone());
        let packed = chunk::compress(&bytes, &options).unwrap();
        assert!(packed.len() < bytes.len());
        let mut decoder = Decoder::new().with_block_shape(shape.clone());
        assert!(decoder.decompress(&packed).unwrap() == bytes);
    }
    assert!(BlockShape::new(&[]).is_err());
    assert!(BlockShape::new(&[3, 0]).is_err());
    assert!(BlockShape::new(&[usize::MAX, 2]).is_err());
}
