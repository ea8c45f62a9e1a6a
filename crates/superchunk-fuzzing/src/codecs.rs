//! BloscLZ and LZ4: any bytes as a stream, any bytes as data.

use superchunk_kernels::{blosclz, lz4};

use crate::input::Input;
use crate::marks;

/// The longest stream or data.
const MOST: usize = 1 << 16;

/// The first byte says which codec and which way.
pub(crate) fn blosclz(input: &[u8]) {
    let mut input = Input::new(input);
    match input.byte() % 7 {
        0 => decode_blosclz(&mut input),
        1 => decode_lz4(&mut input),
        2 => {
            let level = input.byte() % 10;
            let mut encoder = blosclz::Encoder::new();
            round_trip(
                &mut input,
                |_, src, dst| encoder.compress(level, src, dst),
                |_, src, dst| blosclz::decompress(src, dst).is_ok(),
                false,
            );
        }
        3 => {
            let acceleration = u32::from(input.byte());
            let mut encoder = lz4::Encoder::new();
            let encode = |dict: &[u8], src: &[u8], dst: &mut [u8]| match acceleration % 2 {
                0 => encoder.compress(acceleration / 2, dict, src, dst),
                _ => encoder.compress_as_long(acceleration / 2, dict, src, dst),
            };
            round_trip(&mut input, encode, |d, s, out| lz4::decompress(d, s, out).is_ok(), true);
        }
        4 => {
            let level = input.byte() % 14;
            let mut encoder = lz4::HcEncoder::new();
            let encode =
                |dict: &[u8], src: &[u8], dst: &mut [u8]| encoder.compress(level, dict, src, dst);
            round_trip(&mut input, encode, |d, s, out| lz4::decompress(d, s, out).is_ok(), true);
        }
        5 => marks::any_of_bytes(&mut input),
        _ => marks::true_of_bytes(&mut input),
    }
}

fn decode_blosclz(input: &mut Input<'_>) {
    let (len, needed) = (input.pair(), input.pair());
    let stream = input.rest();
    let (mut whole, mut prefix) = (vec![0; len], vec![0; len]);
    let decoded = blosclz::decompress(stream, &mut whole).is_ok();
    let needed = needed.min(len);
    let partly = blosclz::decompress_prefix(stream, &mut prefix, needed).is_ok();
    assert_prefix(decoded, partly, whole.get(..needed), prefix.get(..needed));
}

fn decode_lz4(input: &mut Input<'_>) {
    let (len, needed, dict) = (input.pair(), input.pair(), input.byte());
    let dict = input.take(dict.into());
    let stream = input.rest();
    let (mut whole, mut prefix) = (vec![0; len], vec![0; len]);
    let decoded = lz4::decompress(dict, stream, &mut whole).is_ok();
    let needed = needed.min(len);
    let partly = lz4::decompress_prefix(dict, stream, &mut prefix, needed).is_ok();
    assert_prefix(decoded, partly, whole.get(..needed), prefix.get(..needed));
}

/// What can be decoded wholly can be decoded in part, and is then the same.
pub(crate) fn assert_prefix(
    decoded: bool,
    partly: bool,
    whole: Option<&[u8]>,
    prefix: Option<&[u8]>,
) {
    assert!(!decoded || (partly && whole == prefix), "a prefix is not that of the whole");
}

/// Data that are encoded come back.
pub(crate) fn round_trip(
    input: &mut Input<'_>,
    mut encode: impl FnMut(&[u8], &[u8], &mut [u8]) -> Option<usize>,
    decode: impl Fn(&[u8], &[u8], &mut [u8]) -> bool,
    with_dict: bool,
) {
    let room = input.pair();
    let dict = if with_dict { input.byte() } else { 0 };
    let dict = input.take(dict.into());
    let data = data(input);
    // Once with more room than any stream takes, once with what the input says.
    for room in [2 * data.len() + 64, room] {
        let mut stream = vec![0; room];
        let Some(written) = encode(dict, &data, &mut stream) else {
            continue;
        };
        stream.truncate(written);
        let mut back = vec![0; data.len()];
        assert!(decode(dict, &stream, &mut back) && back == data, "data do not come back");
    }
}

/// What is left of an input, several times.
pub(crate) fn data(input: &mut Input<'_>) -> Vec<u8> {
    let repeat = 1 + usize::from(input.byte() % 40);
    let mut data = input.rest().repeat(repeat);
    data.truncate(MOST);
    data
}
