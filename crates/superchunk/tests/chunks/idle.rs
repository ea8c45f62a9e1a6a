//! What encoders and decoders keep between chunks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use superchunk::chunk::{Decoder, Encoder};
use superchunk::{Codec, CompressOptions, Filter};
use superchunk_testkit::alloc::live;
use superchunk_testkit::samples::mixed;

const MIB: usize = 1 << 20;

/// The bytes that are kept by an encoder and a decoder that have worked on a chunk of this length.
fn kept(codec: Codec, level: u8, len: usize, block: usize) -> [usize; 2] {
    let bytes = mixed(len, 4, 1);
    let options = CompressOptions::new(4).with_codec(codec).with_level(level);
    let options = options.with_filters([Filter::Shuffle]).with_block_size(block);
    let before = live();
    let mut encoder = Encoder::new(&options).unwrap();
    let chunk = encoder.compress(&bytes).unwrap();
    let encoding = live() - before - chunk.capacity().cast_signed();
    let before = live();
    let mut decoder = Decoder::new();
    drop(decoder.decompress(&chunk).unwrap());
    decoder.read_bytes(&chunk, len / 2..len / 2 + 8, &mut [0; 8]).unwrap();
    let decoding = live() - before;
    drop((encoder, decoder));
    [encoding, decoding].map(isize::unsigned_abs)
}

#[test]
fn idle_encoders_and_decoders_keep_little() {
    for (codec, level) in [
        (Codec::BloscLz, 5),
        (Codec::Lz4, 5),
        (Codec::Lz4Hc, 9),
        (Codec::Zlib, 6),
        (Codec::Zstd, 5),
        (Codec::Zstd, 9),
    ] {
        for (len, block) in [(MIB, MIB / 4), (32 * MIB, MIB / 4), (32 * MIB, 2 * MIB)] {
            let [encoding, decoding] = kept(codec, level, len, block);
            eprintln!("{codec} {level} len {len} block {block}: {encoding} {decoding}");
            assert!(decoding < 3 * block + 4 * MIB);
            assert!(encoding < len / 2 + 4 * block + 16 * MIB);
        }
    }
}
