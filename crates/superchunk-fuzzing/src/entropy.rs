//! Zlib and Zstandard: any bytes as a stream, any bytes as data.

use superchunk_kernels::deflate::{self, Search};
use superchunk_kernels::{Wanted, inflate, zstd};

use crate::codecs::{assert_prefix, round_trip};
use crate::input::Input;
use crate::marks;

/// The first byte says which codec and which way.
pub(crate) fn zlib_zstd(input: &[u8]) {
    let mut input = Input::new(input);
    match input.byte() % 12 {
        0 => decode_zlib(&mut input),
        1 => decode_zstd(&mut input),
        2 => encode_zlib(Search::Thorough, &mut input),
        3 => encode_zlib(Search::Runs, &mut input),
        4 => encode_zlib(Search::Brisk, &mut input),
        5 => {
            let mut encoder = zstd::Encoder::default();
            let encode = |_: &[u8], src: &[u8], dst: &mut [u8]| encoder.compress_codes(src, dst);
            round_trip(&mut input, encode, zstd_comes_back, false);
        }
        6 => {
            let mut encoder = zstd::Encoder::default();
            let encode = |_: &[u8], src: &[u8], dst: &mut [u8]| encoder.compress_fast(src, dst);
            round_trip(&mut input, encode, zstd_comes_back, false);
        }
        7 => encode_zlib(Search::Quick, &mut input),
        8 => encode_zlib(Search::QuickRepetitions, &mut input),
        9 => marks::any_of_bits(&mut input),
        10 => marks::true_of_bits(&mut input),
        _ => decode_zstd_with_dictionary(&mut input),
    }
}

fn encode_zlib(search: Search, input: &mut Input<'_>) {
    let mut encoder = deflate::Encoder::default();
    let encode = |_: &[u8], src: &[u8], dst: &mut [u8]| encoder.compress(search, src, dst);
    round_trip(input, encode, zlib_comes_back, false);
}

fn zlib_comes_back(_: &[u8], stream: &[u8], data: &mut [u8]) -> bool {
    inflate::Decoder::default().decompress(stream, data).is_ok()
}

fn zstd_comes_back(_: &[u8], stream: &[u8], data: &mut [u8]) -> bool {
    zstd::Decoder::default().decompress(stream, data).is_ok()
}

fn decode_zlib(input: &mut Input<'_>) {
    let (len, needed) = (input.pair(), input.pair());
    let (stream, mut decoder) = (input.rest(), inflate::Decoder::default());
    let (mut whole, mut prefix) = (vec![0; len], vec![0; len]);
    let decoded = decoder.decompress(stream, &mut whole).is_ok();
    let needed = needed.min(len);
    let partly = decoder.decompress_prefix(stream, &mut prefix, needed).is_ok();
    assert_prefix(decoded, partly, whole.get(..needed), prefix.get(..needed));

    // Beside itself it is as right or wrong as alone.
    let mut twice = [vec![0; len], vec![0; len]];
    let both = twice.iter_mut().map(|dst| (stream, dst.as_mut_slice()));
    assert_eq!(decoder.decompress_all(both, usize::MAX), decoded);
    assert!(!decoded || twice.iter().all(|dst| *dst == whole));
    let both = twice.iter_mut().map(|dst| (stream, dst.as_mut_slice()));
    assert_eq!(decoder.decompress_all(both, needed), partly);
}

fn decode_zstd(input: &mut Input<'_>) {
    let (len, needed, first, step) = (input.pair(), input.pair(), input.pair(), input.pair());
    let (stream, mut decoder) = (input.rest(), zstd::Decoder::default());
    let (mut whole, mut part) = (vec![0; len], vec![0; len]);
    let decoded = decoder.decompress(stream, &mut whole).is_ok();
    let needed = needed.min(len);
    let partly = decoder.decompress_prefix(stream, &mut part, needed).is_ok();
    assert_prefix(decoded, partly, whole.get(..needed), part.get(..needed));

    let wanted = Wanted { first, len: step.min(16), step, count: 1 + step % 4 };
    if wanted.end() <= len {
        part.fill(0xA5);
        let partly = decoder.decompress_wanted(stream, &mut part, &wanted).is_ok();
        for number in 0..wanted.count {
            let begin = first + number * step;
            let piece = begin..begin + wanted.len;
            assert_prefix(decoded, partly, whole.get(piece.clone()), part.get(piece));
        }
    }
}

fn decode_zstd_with_dictionary(input: &mut Input<'_>) {
    let (len, needed, dictionary_len) = (input.pair(), input.pair(), input.pair());
    let rest = input.rest();
    let (dictionary, stream) = rest.split_at(dictionary_len.min(rest.len()));
    let Ok(dictionary) = zstd::Dictionary::parse(dictionary) else { return };
    let mut decoder = zstd::Decoder::default();
    let mut decode = |needed: usize| {
        let (mut dst, wanted) = (vec![0; len], Wanted::range(0..needed));
        let outcome = decoder.decompress_wanted_with(&dictionary, stream, &mut dst, &wanted);
        (outcome.is_ok(), dst)
    };
    let needed = needed.min(len);
    let ((decoded, whole), (partly, part)) = (decode(len), decode(needed));
    assert_prefix(decoded, partly, whole.get(..needed), part.get(..needed));
}
