//! Any options and any data: what is compressed comes back.

use superchunk::chunk::{Decoder, Encoder, Header};
use superchunk::{BlockShape, ChunkFormat, Codec, CompressOptions, Filter, SplitMode};
use superchunk_testkit::naive;

use crate::bounds::no_bug;
use crate::input::Input;

/// The most bytes that are compressed.
const MOST: usize = 1 << 16;

/// The first bytes choose the options, the rest are the data.
pub(crate) fn filters_roundtrip(input: &[u8]) {
    let mut input = Input::new(input);
    let (options, shape, lossy) = choose(&mut input);
    let repeat = 1 + usize::from(input.byte() % 64);
    let mut data = input.rest().repeat(repeat);
    data.truncate(MOST);
    let Ok(mut encoder) = no_bug(Encoder::new(&options)) else { return };
    let Ok(chunk) = no_bug(encoder.compress(&data)) else { return };
    let mut decoder = Decoder::new();
    if let Some(shape) = shape {
        decoder = decoder.with_block_shape(shape);
    }
    let back = decoder.decompress(&chunk);
    let back = back.unwrap_or_else(|error| panic!("our own chunk is refused: {error}"));
    assert!(back.len() == data.len() && (lossy || back == data), "data do not come back");
    let (start, end) = (data.len() / 3, data.len() - data.len() / 5);
    let mut part = vec![0; end - start];
    let read = decoder.read_bytes(&chunk, start..end, &mut part);
    assert!(read.is_ok() && Some(part.as_slice()) == back.get(start..end), "a part differs");
    assert_eq!(Header::parse(&chunk).map(|header| header.compressed_len()).ok(), Some(chunk.len()));
    if let Ok(plain) = naive::decompress(&chunk) {
        assert!(plain == back, "the plain decoder says something else");
    }
}

fn choose(input: &mut Input<'_>) -> (CompressOptions, Option<BlockShape>, bool) {
    let item_size = match input.byte() {
        0 => 1 + input.pair() % 1000,
        given => usize::from(given),
    };
    let codecs = [Codec::BloscLz, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
    let ndlz = Codec::NdLz { cell: 4 + 4 * (input.byte() % 2) };
    let codec = input.one_of(Codec::Lz4, &[&codecs[..], &[ndlz]].concat());
    let count = usize::from(input.byte() % 8);
    let filters: Vec<Filter> = (0..count).map(|_| filter(input)).collect();
    let lossless = |filter: &Filter| {
        !matches!(filter, Filter::TruncPrec(_) | Filter::IntTrunc(_) | Filter::NdMean(_))
    };
    let lossy = !filters.iter().all(lossless);
    let mut options = CompressOptions::new(item_size)
        .with_codec(codec)
        .with_filters(filters)
        .with_level(input.byte() % 10)
        .with_split(input.one_of(SplitMode::Auto, &[SplitMode::Always, SplitMode::Never]))
        .with_format(input.one_of(ChunkFormat::Blosc2, &[ChunkFormat::Blosc1]))
        .with_dictionary(input.byte() % 4 == 1);
    let block = input.pair();
    if block > 0 {
        options = options.with_block_size(block);
    }
    let dims: Vec<usize> = (0..input.byte() % 4).map(|_| usize::from(input.byte())).collect();
    let shape = BlockShape::new(&dims).ok().filter(|_| !dims.is_empty());
    if let Some(shape) = &shape {
        options = options.with_block_shape(shape.clone());
    }
    (options, shape, lossy)
}

fn filter(input: &mut Input<'_>) -> Filter {
    let meta = input.byte();
    let filters = [
        Filter::ShuffleBy(meta),
        Filter::BitShuffle,
        Filter::Delta,
        Filter::ByteDelta(meta),
        Filter::NdCell(meta),
        Filter::TruncPrec(meta.cast_signed()),
        Filter::IntTrunc(meta.cast_signed()),
        Filter::NdMean(meta),
    ];
    input.one_of(Filter::Shuffle, &filters)
}
