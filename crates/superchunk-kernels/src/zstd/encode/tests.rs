//! What is written is decoded again, for many kinds of data, lengths.

use alloc::vec;
use alloc::vec::Vec;

use super::Encoder;
use crate::zstd::Decoder;

/// More than any frame of `len` bytes takes.
fn bound(len: usize) -> usize {
    len + len / 64 + 64
}

/// One of the ways to encode.
type Way = fn(&mut Encoder, &[u8], &mut [u8]) -> Option<usize>;

const CODES: Way = Encoder::compress_codes;
const FAST: Way = Encoder::compress_fast;
const WAYS: [Way; 2] = [CODES, FAST];

/// Encodes and decodes; the frame.
fn round_trip(encoder: &mut Encoder, way: Way, src: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; bound(src.len())];
    let len = way(encoder, src, &mut frame).expect("the bound is enough");
    frame.truncate(len);
    let mut decoded = vec![0xA5; src.len()];
    let outcome = Decoder::default().decompress(&frame, &mut decoded);
    assert!(outcome.is_ok(), "{} bytes: {outcome:?}", src.len());
    assert!(decoded == src, "{} bytes", src.len());
    frame
}

/// Numbers of 32 bits, the same ones for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as u32
    }

    fn byte(&mut self) -> u8 {
        self.roll().to_le_bytes()[1]
    }
}

/// Data of many kinds, by number.
#[expect(clippy::cast_possible_truncation, reason = "any byte will do")]
fn kind(number: usize, len: usize) -> Vec<u8> {
    let mut dice = Dice(number as u64 + 7);
    let mut data: Vec<u8> = Vec::with_capacity(len + 300);
    while data.len() < len {
        let at = data.len();
        match number {
            // One byte; noise; few symbols; very uneven ones.
            0 => data.push(7),
            1 => data.push(dice.byte()),
            2 => data.push(dice.byte() % 5),
            3 => data.push(dice.byte().leading_zeros() as u8),
            // A walk; a counter; items of 8 bytes, mostly zeros.
            4 => data.push(data.last().copied().unwrap_or(0).wrapping_add(dice.byte() % 9)),
            5 => data.push((at / 3) as u8),
            6 => data.extend([dice.byte() % 50, dice.byte() % 2, 0, 0, 0, 0, 0, 0]),
            // Long runs; words; matches of all lengths; noise and runs by turns.
            7 => data.extend(vec![dice.byte() % 4; dice.roll() as usize % 700]),
            8 => {
                let word = dice.roll() % 60;
                data.extend(word.wrapping_mul(0x9E37_79B1).to_le_bytes().map(|b| b'a' + b % 26));
                data.push(b' ');
            }
            9 => {
                let from = dice.roll() as usize % (at + 1);
                let end = (from + dice.roll() as usize % 200).min(at);
                data.extend_from_within(from..end);
                data.push(dice.byte());
            }
            10 => {
                let noise = (at / 9000).is_multiple_of(2);
                data.push(if noise { dice.byte() } else { 3 });
            }
            // Noise that comes again; every byte in turn; statistics that change.
            11 if at > 5000 => data.push(data[at - 5000]),
            12 => data.push((at.wrapping_mul(at) >> 3) as u8),
            13 => data.push(dice.byte() % (1 + (at / 20_000 % 12) as u8 * 20)),
            _ => data.push(dice.byte()),
        }
    }
    data.truncate(len);
    data
}

const KINDS: usize = 14;

#[test]
fn all_kinds_come_back() {
    let mut encoder = Encoder::default();
    for number in 0..KINDS {
        for len in [0, 1, 2, 7, 16, 17, 63, 300, 1000, 4097, 16_384, 40_000, 131_073, 300_000] {
            let data = kind(number, len);
            for way in WAYS {
                round_trip(&mut encoder, way, &data);
            }
        }
    }
}

/// Codes are made of one half of the bytes: one that occurs in the other half alone must not be forgotten.
#[test]
fn a_byte_that_occurs_once_comes_back_wherever_it_is() {
    let mut encoder = Encoder::default();
    for way in WAYS {
        let mut data = kind(2, 33_000);
        for at in (0..200).chain((0..data.len()).step_by(97)) {
            let before = core::mem::replace(&mut data[at], 0xC8);
            let frame = round_trip(&mut encoder, way, &data);
            assert!(frame.len() < data.len() / 2, "all but one need no more than four bits");
            data[at] = before;
        }
    }
}

#[test]
fn all_short_lengths_come_back() {
    let mut encoder = Encoder::default();
    for number in 0..KINDS {
        let data = kind(number, 400);
        for len in 0..data.len() {
            for way in WAYS {
                round_trip(&mut encoder, way, &data[..len]);
            }
        }
    }
}

#[test]
fn parts_of_different_kinds_come_back() {
    let mut encoder = Encoder::default();
    let mut dice = Dice(1);
    for _ in 0..40 {
        let mut data = Vec::new();
        for _ in 0..1 + dice.roll() % 8 {
            let number = dice.roll() as usize % KINDS;
            data.extend(kind(number, dice.roll() as usize % 40_000));
        }
        for way in WAYS {
            round_trip(&mut encoder, way, &data);
        }
    }
}

#[test]
fn what_was_encoded_before_makes_no_difference() {
    let mut used = Encoder::default();
    for len in [100, 20_000, 70_000, 200_000, 5000] {
        for number in 0..KINDS {
            let data = kind(number, len);
            for way in WAYS {
                let fresh = round_trip(&mut Encoder::default(), way, &data);
                assert!(round_trip(&mut used, way, &data) == fresh, "{number}, {len}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_else() {
    let mut encoder = Encoder::default();
    for number in 0..KINDS {
        for len in [0, 5, 600, 20_000, 140_000] {
            let data = kind(number, len);
            for way in WAYS {
                let frame = round_trip(&mut encoder, way, &data);
                let cuts = [0, 1, 4, 5, 9, 13, frame.len() / 2, frame.len().saturating_sub(9)];
                for room in cuts.into_iter().chain([frame.len() - 1]).filter(|&r| r < frame.len()) {
                    let mut dst = vec![0; room];
                    assert_eq!(way(&mut encoder, &data, &mut dst), None, "{number} {room}");
                }
                let mut exact = vec![0; frame.len()];
                assert_eq!(way(&mut encoder, &data, &mut exact), Some(frame.len()));
                assert!(exact == frame, "{number}: the room makes a difference");
            }
        }
    }
}

#[test]
fn lengths_are_what_they_should_be() {
    let mut encoder = Encoder::default();
    let mut len = |way, number| round_trip(&mut encoder, way, &kind(number, 65_536)).len();
    for way in WAYS {
        // A run is a block of one byte; noise is stored.
        assert_eq!(len(way, 0), 4 + 1 + 2 + 4);
        assert!(len(way, 1) <= 65_536 + 4 + 1 + 2 + 3 * 4);
    }
    // Five symbols take 2.4 bits each.
    assert!(len(CODES, 2) < 65_536 * 25 / 80);
    assert!(len(FAST, 2) < 65_536 * 32 / 80);
    // What comes again is found: words of 60, copies of up to 200 bytes, one piece of 5000 bytes.
    assert!(len(FAST, 8) < len(CODES, 8) * 2 / 3);
    assert!(len(FAST, 9) < len(CODES, 9) / 4);
    assert!(len(FAST, 11) < 5000 + 200);
}

#[test]
fn a_match_is_found_at_every_distance_and_length() {
    let mut encoder = Encoder::default();
    for distance in (1..40).chain([64, 255, 256, 1000, 65_000]) {
        for length in (10..70).chain([127, 128, 131, 132, 300, 5000]) {
            let mut data = kind(1, distance.max(20));
            let first = data.len() - distance;
            for i in first..first + length {
                data.push(data[i]);
            }
            data.extend(kind(14, 30));
            round_trip(&mut encoder, FAST, &data);
        }
    }
}

#[test]
fn a_frame_is_written_as_rfc_8878_says() {
    let mut frame = [0; 64];
    let len = Encoder::default().compress_codes(&[9; 300], &mut frame).expect("room");
    // Magic; one segment, length in 2 bytes; 300 - 256; the last block, a run of 300; the byte.
    let expected = [0x28, 0xB5, 0x2F, 0xFD, 1 << 6 | 1 << 5, 44, 0, 1 | 1 << 1 | 0x60, 9, 0, 9];
    assert_eq!(frame[..len], expected);
    let len = Encoder::default().compress_codes(b"abc", &mut frame).expect("room");
    let expected = [0x28, 0xB5, 0x2F, 0xFD, 1 << 5, 3, 1 | 3 << 3, 0, 0, b'a', b'b', b'c'];
    assert_eq!(frame[..len], expected);
}
