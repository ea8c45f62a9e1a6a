//! The decoder against frames of libzstd, frames that are written here, and damage.

use alloc::vec;
use alloc::vec::Vec;

use super::Decoder;
use super::vectors::{
    PATCHED, SKEWED, SPECKLED, TEXT, TEXT_HARD, ZEROS, bytes_of, patched, skewed, speckled, text,
};
use super::xxh64::xxh64;

/// Magic, descriptor (single segment, one byte of content size), size 4, last raw block of 4 bytes.
const RAW_FRAME: [u8; 13] =
    [0x28, 0xb5, 0x2f, 0xfd, 0x20, 4, (4 << 3) | 1, 0, 0, b'a', b'b', b'c', b'd'];

pub(super) fn vectors() -> Vec<(Vec<u8>, Vec<u8>)> {
    vec![
        (bytes_of(TEXT), text(500, 2)),
        (bytes_of(TEXT_HARD), text(900, 3)),
        (bytes_of(SKEWED), skewed(1500, 4)),
        (bytes_of(PATCHED), patched(300_000)),
        (bytes_of(SPECKLED), speckled(400_000)),
        (bytes_of(ZEROS), vec![0; 300_000]),
    ]
}

/// Decodes between two guards, which must stay as they are.
fn decode(decoder: &mut Decoder, src: &[u8], len: usize) -> Result<Vec<u8>, &'static str> {
    const GUARD: usize = 64;
    let mut buffer = vec![0xA5; len + 2 * GUARD];
    let outcome = decoder.decompress(src, &mut buffer[GUARD..GUARD + len]);
    assert!(buffer[..GUARD].iter().chain(&buffer[GUARD + len..]).all(|byte| *byte == 0xA5));
    outcome.map(|()| buffer[GUARD..GUARD + len].to_vec()).map_err(|error| error.reason)
}

#[test]
fn frames_of_libzstd_are_decoded() {
    let mut decoder = Decoder::default();
    for (frame, plain) in vectors() {
        assert_eq!(decode(&mut decoder, &frame, plain.len()).as_ref(), Ok(&plain));
        assert_eq!(decode(&mut Decoder::default(), &frame, plain.len()), Ok(plain));
    }
}

#[test]
fn every_cut_and_every_other_length_is_refused() {
    let mut decoder = Decoder::default();
    for (frame, plain) in vectors() {
        for cut in 0..frame.len() {
            assert!(decode(&mut decoder, &frame[..cut], plain.len()).is_err(), "cut at {cut}");
        }
        for len in [0, 1, plain.len() - 1, plain.len() + 1, plain.len() + 33, 2 * plain.len()] {
            assert!(decode(&mut decoder, &frame, len).is_err(), "{len} bytes");
        }
        let mut followed = frame;
        followed.push(0);
        assert!(decode(&mut decoder, &followed, plain.len()).is_err());
    }
}

#[test]
fn damage_does_no_harm_and_leaves_no_trace() {
    let mut decoder = Decoder::default();
    for (frame, plain) in vectors().into_iter().take(3) {
        for at in 0..frame.len() {
            for bit in 0..8 {
                let mut bad = frame.clone();
                bad[at] ^= 1 << bit;
                let outcome = decode(&mut decoder, &bad, plain.len());
                assert_eq!(outcome, decode(&mut Decoder::default(), &bad, plain.len()));
            }
        }
        assert_eq!(decode(&mut decoder, &frame, plain.len()), Ok(plain));
    }
}

#[test]
fn damage_of_many_blocks_does_no_harm() {
    let mut decoder = Decoder::default();
    let (frame, plain) = (bytes_of(PATCHED), patched(300_000));
    for at in 0..frame.len() {
        let mut bad = frame.clone();
        bad[at] ^= 1 << (at % 8);
        let _ = decode(&mut decoder, &bad, plain.len());
    }
    assert_eq!(decode(&mut decoder, &frame, plain.len()), Ok(plain));
}

#[test]
fn a_prefix_is_that_of_the_whole() {
    let mut decoder = Decoder::default();
    for (frame, plain) in vectors() {
        let step = plain.len().div_ceil(90);
        for needed in (0..=plain.len()).step_by(step).chain([plain.len()]) {
            let mut back = vec![0xEE; plain.len()];
            assert_eq!(decoder.decompress_prefix(&frame, &mut back, needed), Ok(()));
            assert_eq!(back[..needed], plain[..needed], "{needed} bytes");
        }
    }
    // What follows the first block is not needed for its begin.
    let (frame, plain) = (bytes_of(PATCHED), patched(300_000));
    let begin = &frame[..800];
    let mut back = vec![0; plain.len()];
    assert_eq!(decoder.decompress_prefix(begin, &mut back, 1000), Ok(()));
    assert_eq!(back[..1000], plain[..1000]);
    assert!(decoder.decompress_prefix(begin, &mut back, 290_000).is_err());
}

#[test]
fn frames_follow_each_other_and_some_are_skipped() {
    let mut stream = RAW_FRAME.to_vec();
    stream.extend_from_slice(&[0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
    stream.extend_from_slice(&bytes_of(TEXT));
    stream.extend_from_slice(&RAW_FRAME);
    let mut plain = b"abcd".to_vec();
    plain.extend_from_slice(&text(500, 2));
    plain.extend_from_slice(b"abcd");
    let mut decoder = Decoder::default();
    assert_eq!(decode(&mut decoder, &stream, 508), Ok(plain));
    assert_eq!(decode(&mut decoder, &[], 0), Ok(Vec::new()));
    assert_eq!(decode(&mut decoder, &[], 1), Err("zstd stream is shorter than its block"));
    assert_eq!(
        decode(&mut decoder, &stream[..20], 4),
        Err("zstd stream is cut short"),
        "a skippable frame is cut"
    );
}

#[test]
fn a_checksum_is_checked_unless_a_prefix_is_enough() {
    let mut frame = bytes_of(TEXT);
    let plain = text(500, 2);
    frame[4] |= 0x04;
    let [a, b, c, d, ..] = xxh64(&plain).to_le_bytes();
    frame.extend_from_slice(&[a, b, c, d]);
    let mut decoder = Decoder::default();
    assert_eq!(decode(&mut decoder, &frame, 500), Ok(plain));
    let last = frame.len() - 1;
    frame[last] ^= 1;
    assert_eq!(decode(&mut decoder, &frame, 500), Err("zstd checksum does not match"));
    assert_eq!(decoder.decompress_prefix(&frame, &mut [0; 500], 400), Ok(()));
    assert_eq!(decode(&mut decoder, &frame[..last], 500), Err("zstd stream is cut short"));
}

#[test]
fn headers_that_cannot_be_are_refused() {
    let refusal = |at: usize, byte: u8| {
        let mut frame = RAW_FRAME;
        frame[at] = byte;
        decode(&mut Decoder::default(), &frame, 4)
    };
    assert_eq!(refusal(0, 0), Err("zstd frame has another magic number"));
    assert_eq!(refusal(4, 0x28), Err("zstd frame has a feature that does not exist yet"));
    assert_eq!(refusal(5, 5), Err("zstd stream is longer than its block"));
    assert_eq!(refusal(5, 3), Err("zstd block is larger than the format allows"));
    assert_eq!(refusal(6, (4 << 3) | 7), Err("zstd block is of no kind that exists"));
    // One byte of a dictionary's number, which is 4; then the size.
    assert_eq!(refusal(4, 0x21), Err("zstd frame needs a dictionary"));
    let mut named = RAW_FRAME.to_vec();
    named.insert(5, 0);
    named[4] = 0x21;
    assert_eq!(decode(&mut Decoder::default(), &named, 4), Ok(b"abcd".to_vec()));
}

#[test]
fn a_claimed_window_costs_nothing() {
    // No content size, window descriptor 21 << 3 = 2 GiB, one raw block of 4 bytes.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, (4 << 3) | 1, 0, 0];
    frame.extend_from_slice(b"abcd");
    let mut decoder = Decoder::default();
    assert_eq!(decode(&mut decoder, &frame, 4), Ok(b"abcd".to_vec()));
    frame[5] = 0xff;
    let refused = Err("zstd window is larger than the format allows");
    assert_eq!(decode(&mut decoder, &frame, 4), refused);
    let huge = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0x40, 0, 0, 0, 0, 1, 0, 0];
    assert_eq!(decode(&mut decoder, &huge, 4), Err("zstd stream is longer than its block"));
}

#[test]
fn runs_are_filled() {
    // A run of 40 bytes (40 << 3 | 2 = 0x142), then one of 3, the last.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, 43];
    frame.extend_from_slice(&[0x42, 1, 0, b'x', (3 << 3) | 3, 0, 0, b'y']);
    let plain: Vec<u8> = [vec![b'x'; 40], vec![b'y'; 3]].concat();
    assert_eq!(decode(&mut Decoder::default(), &frame, 43), Ok(plain));
}

/// A frame of one block without sequences, whose literals are coded in four streams. Symbol `n` has
/// the weight `weights[n]`; they must be completed by one more symbol of the weight 1.
pub(super) fn coded_frame(weights: &[u8], plain: &[u8]) -> Vec<u8> {
    let mut all = weights.to_vec();
    all.push(1);
    let longest = all.iter().map(|weight| (1_u32 << weight) >> 1).sum::<u32>().ilog2();
    // Codes in the order of the format: by weight, then by symbol.
    let mut codes = vec![(0, 0); all.len()];
    let mut next = 0;
    for weight in 1..=11 {
        for (symbol, _) in all.iter().enumerate().filter(|(_, other)| **other == weight) {
            codes[symbol] = (next >> (weight - 1), longest + 1 - u32::from(weight));
            next += 1 << (weight - 1);
        }
    }
    let mut body = vec![u8::try_from(127 + weights.len()).unwrap()];
    body.extend(weights.chunks(2).map(|pair| (pair[0] << 4) | pair.get(1).unwrap_or(&0)));
    let streams: Vec<Vec<u8>> = (0..4)
        .map(|part| {
            let share = plain.len().div_ceil(4);
            let part = &plain[part * share..plain.len().min((part + 1) * share)];
            // The first symbol has the highest bits, below the mark.
            let mut bits = vec![];
            for &symbol in part.iter().rev() {
                let (code, len) = codes[usize::from(symbol)];
                bits.extend((0..len).map(|bit| (code >> bit) & 1 == 1));
            }
            bits.push(true);
            let byte =
                |bits: &[bool]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
            bits.chunks(8).map(byte).collect()
        })
        .collect();
    for stream in &streams[..3] {
        body.extend(u16::try_from(stream.len()).unwrap().to_le_bytes());
    }
    body.extend(streams.concat());
    // Five bytes: kind 2, size format 3, both sizes of 18 bits.
    let sizes = 0b1110 | (plain.len() as u64) << 4 | (body.len() as u64) << 22;
    let mut block = sizes.to_le_bytes()[..5].to_vec();
    block.extend(body);
    block.push(0);
    let head = u32::try_from(block.len()).unwrap() << 3 | 0b101;
    // The size in four bytes, a window of 128 KiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x80, 7 << 3];
    frame.extend(u32::try_from(plain.len()).unwrap().to_le_bytes());
    frame.extend(&head.to_le_bytes()[..3]);
    frame.extend(block);
    frame
}

#[test]
fn huffman_codes_of_every_shape_are_decoded() {
    let mut decoder = Decoder::default();
    let steep: Vec<u8> = (1..=11).rev().collect();
    let mixed = [vec![4; 8], vec![3; 8], vec![2; 8], vec![1; 15]].concat();
    for weights in [vec![1], steep, vec![1; 63], vec![1; 127], mixed] {
        let symbols = weights.len() + 1;
        for len in (6..40).chain([255, 1000, 2047, 2999, 3000, 3001, 5000, 40_000, 130_000]) {
            // The steep code has half of its symbols 0, a quarter 1 and so on.
            let plain: Vec<u8> = skewed(len, 7)
                .iter()
                .zip(text(len, 8))
                .map(|(a, b)| {
                    if symbols == 12 {
                        a / 3 - 24
                    } else {
                        (a ^ b) % u8::try_from(symbols).unwrap()
                    }
                })
                .collect();
            let frame = coded_frame(&weights, &plain);
            assert_eq!(decode(&mut decoder, &frame, len), Ok(plain), "{symbols} symbols, {len}");
        }
    }
}

#[test]
fn damaged_codes_do_no_harm() {
    // Short codes and long ones: with tables of pairs and without, in halves and as they are.
    let pairs = [vec![3; 5], vec![2; 4], vec![1; 3]].concat();
    let long = [vec![11, 10, 9, 8, 7], vec![1; 63]].concat();
    let mut decoder = Decoder::default();
    for (weights, len) in [(&pairs, 15_000), (&pairs, 2000), (&long, 6000), (&long, 900)] {
        let symbols = u8::try_from(weights.len() + 1).unwrap();
        let plain: Vec<u8> = skewed(len, 5).iter().map(|byte| byte % symbols).collect();
        let frame = coded_frame(weights, &plain);
        assert!(decode(&mut decoder, &frame, len) == Ok(plain));
        for at in 0..frame.len() {
            let mut bad = frame.clone();
            bad[at] ^= 1 << (at % 8);
            let outcome = decode(&mut decoder, &bad, len);
            if at % 64 == 0 {
                assert!(outcome == decode(&mut Decoder::default(), &bad, len), "byte {at}");
            }
        }
        for cut in (0..frame.len()).step_by(31) {
            assert!(decode(&mut decoder, &frame[..cut], len).is_err(), "cut at {cut}");
        }
        // The lengths of the streams and what the block says of itself.
        for at in 0..80 {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut bad = frame.clone();
                bad[at] = byte;
                let _ = decode(&mut decoder, &bad, len);
            }
        }
    }
}
