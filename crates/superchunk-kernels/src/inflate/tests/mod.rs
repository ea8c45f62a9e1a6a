mod naive;

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::adler32::adler32;
use naive::{Token, Writer, expand, inflate};

/// `b"hello hello hello hello"` as classic zlib 1.2 writes it at level 6.
const HELLO: [u8; 16] = [
    0x78, 0x9c, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x27, 0x01, 0x68, 0x03, 0x08, 0xb1,
];

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(n).unwrap()).unwrap()
    }

    /// `count` tokens behind `before` bytes: `matches` in ten are matches, literals are below
    /// `values`.
    fn tokens(&mut self, before: usize, count: usize, matches: usize, values: usize) -> Vec<Token> {
        let mut written = before;
        let mut tokens = Vec::new();
        for _ in 0..count {
            let token = if written > 0 && self.below(10) < matches {
                let far = [3, 20, 300, 32_768][self.below(4)];
                let distance = 1 + self.below(written.min(far));
                let longest = [4, 30, 256][self.below(3)];
                Token::Match { length: 3 + self.below(longest), distance }
            } else {
                Token::Literal(u8::try_from(self.below(values)).unwrap())
            };
            written += if let Token::Match { length, .. } = token { length } else { 1 };
            tokens.push(token);
        }
        tokens
    }

    /// The lengths of a code in which all of these symbols have one: a leaf is split in two, again
    /// and again; the higher `skew`, the rather one of the deepest.
    fn code(&mut self, size: usize, used: &[usize], skew: usize) -> Vec<u8> {
        let mut leaves = vec![0_u8];
        while leaves.len() < used.len() {
            let picks = (0..=skew).map(|_| self.below(leaves.len()));
            let at = picks.filter(|&at| leaves[at] < 15).max_by_key(|&at| leaves[at]);
            if let Some(at) = at {
                leaves[at] += 1;
                leaves.push(leaves[at]);
            }
        }
        let mut lengths = vec![0; size];
        for &symbol in used {
            lengths[symbol] = leaves.swap_remove(self.below(leaves.len())).max(1);
        }
        lengths
    }
}

/// A stream of several blocks of all kinds, and what it stands for.
fn stream(seed: u64, count: usize) -> (Vec<u8>, Vec<u8>) {
    let mut random = Random(seed);
    let (mut writer, mut plain) = (Writer::new(), Vec::new());
    for block in (0..3).rev() {
        let (matches, values) = ([0, 1, 5, 9][random.below(4)], [3, 40, 256][random.below(3)]);
        let tokens = random.tokens(plain.len(), count, matches, values);
        let before = plain.len();
        expand(&tokens, &mut plain);
        match random.below(6) {
            0 if plain.len() - before < 65_536 => writer.stored(block == 0, &plain[before..]),
            1 => writer.fixed(block == 0, &tokens),
            _ => {
                let used: Vec<usize> = (0..values).chain(256..286).collect();
                let skew = random.below(4);
                let literals = random.code(286, &used, skew);
                let distances = random.code(30, &(0..30).collect::<Vec<_>>(), skew);
                writer.dynamic(block == 0, &tokens, &literals, &distances);
            }
        }
    }
    (writer.finish(&plain), plain)
}

#[test]
fn reads_a_known_stream_and_leaves_bytes_after_it_alone() {
    let mut decoder = Decoder::default();
    let mut plain = [0; 23];
    assert_eq!(decoder.decompress(&HELLO, &mut plain), Ok(()));
    assert_eq!(&plain, b"hello hello hello hello");
    let mut longer = HELLO.to_vec();
    longer.extend_from_slice(b"whatever follows");
    plain.fill(0);
    assert_eq!(decoder.decompress(&longer, &mut plain), Ok(()));
    assert_eq!(&plain, b"hello hello hello hello");
}

#[test]
fn refuses_every_other_length_and_every_cut() {
    let mut decoder = Decoder::default();
    for len in (0..60).filter(|&len| len != 23) {
        assert!(decoder.decompress(&HELLO, &mut vec![0; len]).is_err(), "{len} bytes");
    }
    for cut in 0..HELLO.len() {
        assert!(decoder.decompress(&HELLO[..cut], &mut [0; 23]).is_err(), "cut at {cut}");
    }
}

#[test]
fn streams_of_all_kinds_of_blocks_and_codes_are_decoded() {
    let mut decoder = Decoder::default();
    for seed in 0..300 {
        let (packed, plain) =
            stream(seed, [1, 10, 100, 1000, 9000][usize::try_from(seed % 5).unwrap()]);
        let mut back = vec![0xee; plain.len()];
        assert_eq!(decoder.decompress(&packed, &mut back), Ok(()), "seed {seed}");
        assert!(back == plain, "seed {seed}");
        back.push(0);
        assert!(decoder.decompress(&packed, &mut back).is_err(), "seed {seed}");
        let shorter = plain.len() - 1;
        assert!(decoder.decompress(&packed, &mut back[..shorter]).is_err(), "seed {seed}");
    }
}

#[test]
fn every_cut_of_a_stream_is_refused() {
    let mut decoder = Decoder::default();
    for seed in 0..12 {
        let (packed, plain) = stream(seed, 60);
        let mut back = vec![0; plain.len()];
        for cut in 0..packed.len() {
            assert!(
                decoder.decompress(&packed[..cut], &mut back).is_err(),
                "seed {seed} cut {cut}"
            );
        }
    }
}

#[test]
fn a_stream_with_any_bit_flipped_is_what_the_naive_decoder_says() {
    for seed in 0..4 {
        let (packed, plain) = stream(seed, 25);
        flip_every_bit(&packed, &plain);
    }
}

/// Compares with the naive decoder whether such streams are taken, and to what they are decoded.
fn flip_every_bit(packed: &[u8], plain: &[u8]) {
    let mut decoder = Decoder::default();
    for bit in 16..8 * packed.len() {
        let mut bad = packed.to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        let mut back = vec![0; plain.len()];
        let same = decoder.decompress(&bad, &mut back).is_ok();
        let Some((other, end)) = inflate(&bad, 20_000) else {
            assert!(!same, "bit {bit}");
            continue;
        };
        assert!(!same || back == plain && other == plain, "bit {bit}");
        bad.truncate(end);
        bad.extend_from_slice(&adler32(1, &other).to_be_bytes());
        let mut back = vec![0xee; other.len()];
        assert_eq!(decoder.decompress(&bad, &mut back), Ok(()), "bit {bit}");
        assert!(back == other, "bit {bit}");
    }
}

#[test]
fn only_known_headers_are_taken() {
    let mut decoder = Decoder::default();
    for first in 0..=255 {
        for second in 0..=255 {
            let mut stream = HELLO;
            (stream[0], stream[1]) = (first, second);
            let number = u16::from_be_bytes([first, second]);
            let known = number % 31 == 0 && first & 15 == 8 && first <= 0x78 && second & 32 == 0;
            let taken = decoder.decompress(&stream, &mut [0; 23]);
            assert_eq!(taken.is_ok(), known, "{first:02x} {second:02x}");
        }
    }
    let reason = decoder.decompress(&[0x78, 0xbb, 0, 0, 0, 0], &mut [0; 23]).unwrap_err().reason;
    assert_eq!(reason, "zlib stream needs a preset dictionary");
}

#[test]
fn codes_of_one_symbol_or_none_are_taken_for_distances_only_as_far_as_they_go() {
    let mut literals = vec![0; 286];
    (literals[7], literals[256], literals[260]) = (1, 2, 2);
    let run = Token::Match { length: 6, distance: 1 };
    let mut decoder = Decoder::default();
    for (distances, tokens, plain) in [
        (&[0_u8][..], &[Token::Literal(7)][..], &[7_u8][..]),
        (&[1], &[Token::Literal(7), run, run], &[7; 13]),
    ] {
        let mut writer = Writer::new();
        writer.dynamic(true, tokens, &literals, distances);
        let packed = writer.finish(plain);
        let mut back = vec![0; plain.len()];
        assert_eq!(decoder.decompress(&packed, &mut back), Ok(()));
        assert_eq!(back, plain);
        flip_every_bit(&packed, plain);
    }
}

#[test]
fn a_prefix_is_that_of_the_whole_and_needs_no_more_of_the_stream() {
    let mut decoder = Decoder::default();
    for seed in 0..40 {
        let (packed, plain) = stream(seed, 3000);
        let mut back = vec![0; plain.len()];
        let len = plain.len();
        for needed in [0, 1, len / 3, len / 2, len - 400, len - 1, len, usize::MAX] {
            back.fill(0xee);
            assert_eq!(decoder.decompress_prefix(&packed, &mut back, needed), Ok(()));
            let right = needed.min(len);
            assert!(back[..right] == plain[..right], "seed {seed}: {needed} bytes");
        }
        let half = &packed[..packed.len() / 2];
        assert_eq!(decoder.decompress_prefix(half, &mut back, 1), Ok(()));
        assert_eq!(back[0], plain[0]);
        assert!(decoder.decompress_prefix(half, &mut back, len - 1).is_err());
    }
}

/// Several streams and what they stand for, of lengths that differ.
fn several(seed: u64, count: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let lengths = [1, 40, 700, 9000, 3000];
    (0..count)
        .map(|n| stream(seed + n, lengths[usize::try_from((seed + n) % 5).unwrap()]))
        .collect()
}

/// Decodes them together; `None` when one is said to be wrong.
fn together(streams: &[(Vec<u8>, Vec<u8>)], needed: usize) -> Option<Vec<Vec<u8>>> {
    let mut back: Vec<_> = streams.iter().map(|(_, plain)| vec![0xee; plain.len()]).collect();
    let places = streams.iter().zip(&mut back);
    let places = places.map(|((packed, _), back)| (packed.as_slice(), back.as_mut_slice()));
    Decoder::default().decompress_all(places, needed).then_some(back)
}

#[test]
fn streams_decoded_together_are_what_they_are_alone() {
    for seed in 0..60 {
        for count in 0..6 {
            let streams = several(seed, count);
            let back = together(&streams, usize::MAX).unwrap();
            let plain = streams.iter().map(|(_, plain)| plain);
            assert!(plain.eq(&back), "{count} from seed {seed}");
        }
    }
}

#[test]
fn of_streams_decoded_together_a_prefix_is_enough() {
    for seed in 0..20 {
        let streams = several(seed, 5);
        for needed in [0, 1, 500, 5000, 40_000] {
            let back = together(&streams, needed).unwrap();
            for ((_, plain), back) in streams.iter().zip(&back) {
                let right = needed.min(plain.len());
                assert!(back[..right] == plain[..right], "seed {seed}: {needed} bytes");
            }
        }
    }
}

#[test]
fn one_wrong_stream_is_noticed_among_others() {
    let good = several(3, 3);
    let mut random = Random(5);
    for _ in 0..3000 {
        let mut streams = good.clone();
        let which = random.below(3);
        let (packed, plain) = &mut streams[which];
        let bit = random.below(8 * packed.len());
        packed[bit / 8] ^= 1 << (bit % 8);
        let mut back = vec![0; plain.len()];
        let is_right = Decoder::default().decompress(packed, &mut back).is_ok();
        assert_eq!(together(&streams, usize::MAX).is_some(), is_right, "bit {bit} of {which}");
    }
}
