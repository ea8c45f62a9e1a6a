//! A few bytes of frames against all of them.

use alloc::vec;
use alloc::vec::Vec;

use super::tests::{coded_frame, vectors};
use super::vectors::{PATCHED, TEXT, bytes_of, patched, skewed, speckled, text};
use super::{Decoder, Encoder};
use crate::Wanted;

/// What is kept from frame to frame.
#[derive(Default)]
struct Kit {
    decoder: Decoder,
}

impl Kit {
    /// Decodes what is wanted between two guards, which must stay as they are.
    fn decode(&mut self, frame: &[u8], len: usize, wanted: &Wanted) -> Option<Vec<u8>> {
        const GUARD: usize = 64;
        let mut buffer = vec![0xA5; len + 2 * GUARD];
        let dst = &mut buffer[GUARD..GUARD + len];
        let outcome = self.decoder.decompress_wanted(frame, dst, wanted);
        assert!(buffer[..GUARD].iter().chain(&buffer[GUARD + len..]).all(|byte| *byte == 0xA5));
        outcome.ok().map(|()| buffer[GUARD..GUARD + len].to_vec())
    }

    /// Pieces of many shapes and places must be those of the whole. Tells how often not all that precedes
    /// them was decoded.
    fn check(&mut self, frame: &[u8], plain: &[u8]) -> usize {
        let mut found = 0;
        for wanted in shapes(plain.len()) {
            let back = self.decode(frame, plain.len(), &wanted).expect("decoded");
            for piece in 0..wanted.count {
                let begin = wanted.first + piece * wanted.step;
                let range = begin..begin + wanted.len;
                assert!(back[range.clone()] == plain[range], "{wanted:?} of {}", plain.len());
            }
            let untouched = back[..wanted.first].iter().filter(|byte| **byte == 0xA5).count();
            found += usize::from(untouched > wanted.first / 2);
        }
        found
    }
}

/// Pieces that end in an output of so many bytes.
fn shapes(len: usize) -> Vec<Wanted> {
    let mut shapes = Vec::new();
    for part in 0..24 {
        let at = len * part / 24;
        for size in [1, 16, 129] {
            if at + size <= len {
                shapes.push(Wanted::range(at..at + size));
            }
        }
        let step = len / 8;
        let first = step * part / 24;
        shapes.push(Wanted { first, len: 2.min(step - step * part / 24), step, count: 8 });
    }
    shapes.push(Wanted::range(len.saturating_sub(16)..len));
    shapes.push(Wanted::range(0..len));
    shapes.push(Wanted::range(len..len));
    shapes
}

/// Codes of several shapes, and symbols that have them.
fn codes() -> Vec<(Vec<u8>, u8)> {
    let steep: Vec<u8> = (1..=11).rev().collect();
    let mixed = [vec![4; 8], vec![3; 8], vec![2; 8], vec![1; 15]].concat();
    // Codes of 6 bits and some of 7: they fall in step slowly.
    let nearly_flat = [vec![2; 60], vec![1; 7]].concat();
    // Lengths of 2, 4 and 6 bits: they fall in step only by even steps.
    let even = [vec![5; 3], vec![3; 3], vec![1; 3]].concat();
    [vec![1], steep, vec![1; 63], vec![1; 127], mixed, nearly_flat, even]
        .map(|weights| {
            let symbols = u8::try_from(weights.len() + 1).unwrap();
            (weights, symbols)
        })
        .into()
}

#[test]
fn pieces_of_frames_of_libzstd_are_found() {
    let mut kit = Kit::default();
    for (frame, plain) in vectors() {
        let found = kit.check(&frame, &plain);
        assert!(plain.len() < 2000 || found > 40, "{found} of {} bytes", plain.len());
    }
}

#[test]
fn pieces_of_coded_literals_are_found() {
    let mut kit = Kit::default();
    for (weights, symbols) in codes() {
        for len in [1100, 1500, 2999, 5000, 40_000, 130_000] {
            for wave in [1, 40] {
                // What is frequent changes on the way, so that bits and symbols do not go together.
                let noise = skewed(len, 7);
                let other = text(len, 8);
                let symbol = |i: usize| match i * wave / len % 2 {
                    0 => noise[i] % symbols,
                    _ => (noise[i] ^ other[i]) % symbols,
                };
                let plain: Vec<u8> = (0..len).map(symbol).collect();
                let found = kit.check(&coded_frame(&weights, &plain), &plain);
                assert!(len < 5000 || found > 40, "{found}, {symbols} symbols, {len}");
            }
        }
    }
}

#[test]
fn pieces_of_our_own_frames_are_found() {
    let mut kit = Kit::default();
    let mut encoder = Encoder::default();
    for len in [900, 1100, 5000, 33_000, 140_000, 300_000] {
        let ramp: Vec<u8> = (0..len).map(|i: usize| (i as u64 / 3).to_le_bytes()[i % 2]).collect();
        let halves = [skewed(len / 2, 3), vec![7; len - len / 2]].concat();
        for plain in [text(len, 1), skewed(len, 2), patched(len), speckled(len), ramp, halves] {
            let mut frame = vec![0; len + 1000];
            let size = encoder.compress_fast(&plain, &mut frame).unwrap();
            kit.check(&frame[..size], &plain);
            let size = encoder.compress_codes(&plain, &mut frame).unwrap();
            kit.check(&frame[..size], &plain);
        }
    }
}

/// The bytes of a block of a kind.
fn block(kind: u32, size: usize, stored: &[u8], last: bool) -> Vec<u8> {
    let head = u32::try_from(size).unwrap() << 3 | kind << 1 | u32::from(last);
    [&head.to_le_bytes()[..3], stored].concat()
}

/// A frame of one block each: raw, a run, the only one of [`TEXT`], codes, the same codes without their
/// description, a run.
fn frame_of_all_kinds() -> (Vec<u8>, Vec<u8>) {
    let (weights, symbols) = codes().remove(4);
    let coded: Vec<u8> = skewed(9000, 3).iter().map(|byte| byte % symbols).collect();
    let described = coded_frame(&weights, &coded);
    // Behind the head of the frame, that of the block, and that of the literals.
    let body = &described[10 + 3 + 5..described.len() - 1];
    let body = &body[1 + weights.len().div_ceil(2)..];
    let sizes = 0b1111 | 9000 << 4 | (body.len() as u64) << 22;
    let treeless = [&sizes.to_le_bytes()[..5], body, &[0]].concat();
    let text_frame = bytes_of(TEXT);
    // Behind the head of the frame, which has two bytes of a size, and that of the block.
    let text_block = &text_frame[7 + 3..];

    let raw = text(3000, 9);
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 7 << 3];
    frame.extend(block(0, raw.len(), &raw, false));
    frame.extend(block(1, 5000, b"r", false));
    frame.extend(block(2, text_block.len(), text_block, false));
    frame.extend(block(2, described.len() - 13, &described[13..], false));
    frame.extend(block(0, 0, &[], false));
    frame.extend(block(2, treeless.len(), &treeless, false));
    frame.extend(block(1, 100_000, b"s", true));
    let runs = [vec![b'r'; 5000], vec![b's'; 100_000]];
    let [r, s] = &runs;
    (frame, [&raw[..], r, &text(500, 2), &coded, &coded, s].concat())
}

#[test]
fn pieces_of_blocks_of_every_kind_are_found() {
    let (frame, plain) = frame_of_all_kinds();
    let mut kit = Kit::default();
    assert!(kit.check(&frame, &plain) > 80);
    // A code that is not there yet.
    let mut bad = frame;
    bad.drain(6..6 + 3 + 3000 + 4 + 3 + bytes_of(TEXT).len() - 10);
    let described = 3 + usize::from(bad[6] >> 3) + (usize::from(bad[7]) << 5);
    bad.drain(6..6 + described);
    let wanted = Wanted::range(5000..5010);
    assert!(kit.decode(&bad, 109_000, &wanted).is_none());
}

#[test]
fn what_is_unusual_is_decoded_and_what_is_wrong_refused() {
    let mut kit = Kit::default();
    let (frame, plain) = frame_of_all_kinds();
    // A frame to skip, and two frames.
    let mut stream = vec![0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
    stream.extend_from_slice(&frame);
    stream.extend_from_slice(&frame);
    let twice = [&plain[..], &plain].concat();
    kit.check(&stream, &twice);
    let beyond = Wanted::range(plain.len() - 8..plain.len() + 8);
    assert!(kit.decode(&frame, plain.len() + 100, &beyond).is_none());
    assert!(kit.decode(&[], 5000, &Wanted::range(2000..2001)).is_none());
}

#[test]
fn damage_does_no_harm_and_leaves_no_trace() {
    let mut kit = Kit::default();
    let mut frames = vectors();
    frames.truncate(3);
    frames.push((bytes_of(PATCHED), patched(300_000)));
    frames.push(frame_of_all_kinds());
    for (frame, plain) in frames {
        let len = plain.len();
        let wanted = [
            Wanted::range(len - 20..len - 4),
            Wanted { first: len / 9, len: 1, step: len / 9, count: 8 },
        ];
        for at in 0..frame.len() {
            let mut bad = frame.clone();
            bad[at] ^= 1 << (at % 8);
            for wanted in &wanted {
                let outcome = kit.decode(&bad, len, wanted);
                if at % 16 == 0 {
                    assert!(outcome == Kit::default().decode(&bad, len, wanted), "byte {at}");
                }
                let _ = kit.decode(&frame[..at], len, wanted);
            }
        }
        kit.check(&frame, &plain);
    }
}
