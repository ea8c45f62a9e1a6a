//! The decoder against a naive one, the encoders against both, and all of them against damage.

use alloc::vec;
use alloc::vec::Vec;

use super::{Encoder, HcEncoder, LAST_LITERALS, MATCH_MARGIN, decompress, decompress_prefix};

/// The definition of the format: byte by byte, with an ever-growing history.
fn naive(dict: &[u8], src: &[u8], size: usize) -> Option<Vec<u8>> {
    let window = dict.len().min(65_535);
    let mut out = dict[dict.len() - window..].to_vec();
    let mut input = src.iter().copied();
    loop {
        let token = input.next()?;
        let literals = naive_length(&mut input, token >> 4)?;
        for _ in 0..literals {
            out.push(input.next()?);
        }
        if input.len() == 0 {
            out.drain(..window);
            return (out.len() == size).then_some(out);
        }
        let distance = usize::from(u16::from_le_bytes([input.next()?, input.next()?]));
        let length = naive_length(&mut input, token & 15)? + 4;
        if distance == 0 || distance > out.len() || out.len() - window + length > size {
            return None;
        }
        for _ in 0..length {
            out.push(out[out.len() - distance]);
        }
    }
}

fn naive_length(input: &mut impl Iterator<Item = u8>, nibble: u8) -> Option<usize> {
    let mut length = usize::from(nibble);
    if nibble == 15 {
        loop {
            let more = input.next()?;
            length += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    Some(length)
}

/// Decodes with both decoders, demands that they agree, and returns what they say.
fn decode(dict: &[u8], src: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = vec![0xA5; size];
    let fast = decompress(dict, src, &mut out).is_ok().then_some(out);
    assert_eq!(fast, naive(dict, src, size), "the decoders disagree on {src:?}");
    for needed in [0, size.min(1), size / 3, size / 2, size] {
        let mut prefix = vec![0x5A; size];
        let result = decompress_prefix(dict, src, &mut prefix, needed);
        if let Some(whole) = &fast {
            assert_eq!(result, Ok(()));
            assert_eq!(prefix[..needed], whole[..needed], "the prefix of {needed} of {src:?}");
        }
    }
    fast
}

/// A small deterministic generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from((self.next() >> 16) % n as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }

    /// Data in the manner of filtered numbers: runs, short periods, copies from before, noise.
    fn data(&mut self, size: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < size {
            let magnitude = 1 + self.below(9);
            let length = 1 + self.below(1 << magnitude);
            match self.below(4) {
                0 => out.extend((0..length).map(|_| self.byte())),
                1 => out.extend((0..length).map(|_| self.byte() & 3)),
                _ if out.is_empty() => out.push(self.byte()),
                kind => {
                    let reach = if kind == 2 { 20 } else { 70_000 };
                    let distance = 1 + self.below(out.len().min(reach));
                    for _ in 0..length {
                        out.push(out[out.len() - distance]);
                    }
                }
            }
        }
        out.truncate(size);
        out
    }
}

/// Every way to encode, as one number: 1 to 9 are accelerations, from 11 on levels plus 10, from 101 on accelerations plus
/// 100 for inputs that are encoded as long ones.
const WAYS: [u8; 15] = [1, 2, 5, 9, 11, 12, 13, 14, 15, 17, 19, 20, 22, 101, 105];

struct Encoders(Encoder, HcEncoder);

impl Encoders {
    fn new() -> Self {
        Encoders(Encoder::new(), HcEncoder::new())
    }

    fn run(&mut self, way: u8, dict: &[u8], src: &[u8], dst: &mut [u8]) -> Option<usize> {
        match way {
            0..10 => self.0.compress(u32::from(way), dict, src, dst),
            10..100 => self.1.compress(way - 10, dict, src, dst),
            _ => self.0.compress_as_long(u32::from(way - 100), dict, src, dst),
        }
    }

    /// Encodes with room to spare.
    fn block(&mut self, way: u8, dict: &[u8], src: &[u8]) -> Vec<u8> {
        let mut dst = vec![0; src.len() + src.len() / 255 + 16];
        let used = self.run(way, dict, src, &mut dst).expect("the worst case fits");
        dst.truncate(used);
        dst
    }
}

/// Where each match of a valid block begins and ends in the output.
fn matches(block: &[u8]) -> Vec<(usize, usize)> {
    let mut input = block.iter().copied();
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let token = input.next().unwrap();
        let literals = naive_length(&mut input, token >> 4).unwrap();
        for _ in 0..literals {
            input.next().unwrap();
        }
        at += literals;
        if input.len() == 0 {
            return found;
        }
        input.next();
        input.next();
        let length = naive_length(&mut input, token & 15).unwrap() + 4;
        found.push((at, at + length));
        at += length;
    }
}

#[test]
fn streams_made_by_hand() {
    assert_eq!(decode(b"", &[0], 0), Some(vec![]));
    assert_eq!(decode(b"", &[0x30, b'a', b'b', b'c'], 3), Some(b"abc".to_vec()));
    // One literal, a run of 4 + 15 + 1, five last literals.
    let run = [0x1F, b'x', 1, 0, 1, 0x50, b'1', b'2', b'3', b'4', b'5'];
    assert_eq!(decode(b"", &run, 26), Some(b"xxxxxxxxxxxxxxxxxxxxx12345".to_vec()));
    // A match that begins in the dictionary and goes on in the output.
    let over = [0x22, b'c', b'd', 4, 0, 0x10, b'!'];
    assert_eq!(decode(b"ab", &over, 9), Some(b"cdabcdab!".to_vec()));
}

#[test]
fn what_is_wrong_is_named() {
    let reason = |dict: &[u8], src: &[u8], size| {
        let error = decompress(dict, src, &mut vec![0; size]).unwrap_err();
        assert!(error.at <= src.len());
        error.reason
    };
    assert_eq!(reason(b"", &[], 0), "the stream is cut short");
    assert_eq!(reason(b"", &[0x20, 1], 2), "the stream is cut short");
    assert_eq!(reason(b"", &[0x20, 1, 2], 3), "the output is not filled");
    assert_eq!(reason(b"", &[0x20, 1, 2], 1), "the stream holds more than the output");
    assert_eq!(reason(b"", &[0x10, 1, 0, 0, 0], 9), "a match of distance zero");
    let before = "a match before the begin of the history";
    assert_eq!(reason(b"", &[0x10, 1, 2, 0, 0], 9), before);
    assert_eq!(reason(b"xy", &[0x10, 1, 4, 0, 0], 9), before);
}

#[test]
fn megabytes_of_length_bytes_do_not_overflow() {
    for token in [0xF0, 0x0F, 0xFF] {
        let mut src = vec![255; 3 << 20];
        src[0] = token;
        assert!(decompress(&[], &src, &mut [0; 1000]).is_err());
        assert!(decompress(&[], &src, &mut vec![0; 2 << 20]).is_err());
    }
}

#[test]
fn every_size_survives_every_encoder() {
    let mut random = Random(0x9E37_79B9);
    let mut encoders = Encoders::new();
    for size in (0..100).chain([255, 256, 271, 1000, 4099, 65_535, 65_536, 65_600, 150_000]) {
        let src = random.data(size);
        for way in WAYS {
            let block = encoders.block(way, &[], &src);
            assert_eq!(decode(&[], &block, size).as_deref(), Some(&*src), "way {way} size {size}");
        }
    }
}

#[test]
fn extremes_survive_every_encoder() {
    let mut random = Random(77);
    let mut encoders = Encoders::new();
    let noise: Vec<u8> = (0..100_000).map(|_| random.byte()).collect();
    let far = [&noise[..65_540], &noise[..3000], &[7; 40_000]].concat();
    for src in [&vec![0; 200_000], &noise, &far] {
        for way in WAYS {
            let block = encoders.block(way, &[], src);
            assert_eq!(decode(&[], &block, src.len()).as_deref(), Some(&**src), "way {way}");
        }
    }
}

#[test]
fn numbers_and_matches_without_gain_survive_the_fast_encoder() {
    let mut random = Random(8);
    let mut encoders = Encoders::new();
    // Items of 8 bytes: the upper half seldom changes, the lower repeats one of the last 200.
    let mut numbers: Vec<u8> = Vec::new();
    for i in 0..20_000 {
        let low = match random.below(3) {
            0 => [random.byte(), random.byte(), random.byte(), 1],
            _ if i < 200 => [0; 4],
            _ => numbers[(i - 1 - random.below(200)) * 8..][..4].try_into().unwrap(),
        };
        numbers.extend(low);
        numbers.extend([u8::try_from(i / 256).unwrap(), 0x40, 0x11, 0x22]);
    }
    // Few symbols match by chance, more of them the more were seen; pieces that repeat follow.
    let symbols = |random: &mut Random, size| (0..size).map(|_| random.byte() % 21).collect();
    let chance: Vec<u8> = symbols(&mut random, 130_000);
    let rare: Vec<u8> =
        (0..150_000).map(|i| if i % 3000 < 8 { 7 } else { random.byte() }).collect();
    let repeated: Vec<u8> = (0..60_000_u64).map(|i| (i * i % 97).to_le_bytes()[0]).collect();
    let mixed = [&chance[..40_000], &repeated, &rare, &repeated, &chance, &numbers].concat();
    let short = [&chance[..50_000], &repeated[..10_000]].concat();
    for src in [&numbers, &chance, &rare, &mixed, &short] {
        for way in [1, 2, 5, 9] {
            let block = encoders.block(way, &[], src);
            assert_eq!(decode(&[], &block, src.len()).as_deref(), Some(&**src), "way {way}");
            let mut exact = vec![0; block.len()];
            assert_eq!(encoders.run(way, &[], src, &mut exact), Some(block.len()));
            assert_eq!(encoders.run(way, &[], src, &mut exact[1..]), None);
        }
    }
    // What repeats is found again soon, wherever it begins.
    let short_of = |src: &[u8]| encoders.block(1, &[], src).len();
    let [alone, with] = [&chance[..50_000], &short].map(short_of);
    assert!(with < alone + 2000, "{with} bytes after {alone}");
}

#[test]
fn dictionaries_are_used_and_needed() {
    let mut random = Random(4242);
    let mut encoders = Encoders::new();
    for dict_size in [0_usize, 1, 3, 4, 100, 32_768, 65_535, 65_536, 90_000] {
        let dict: Vec<u8> = (0..dict_size).map(|_| random.byte()).collect();
        let tail = &dict[dict_size.saturating_sub(3000)..];
        let src = [tail, &random.data(5000)].concat();
        for way in WAYS {
            let block = encoders.block(way, &dict, &src);
            assert_eq!(decode(&dict, &block, src.len()).as_deref(), Some(&*src), "way {way}");
            if dict_size >= 3000 {
                assert!(block.len() + 2500 < encoders.block(way, &[], &src).len(), "way {way}");
            }
        }
    }
}

#[test]
fn blocks_end_as_decoders_in_the_field_demand() {
    let mut random = Random(99);
    let mut encoders = Encoders::new();
    for size in (0..64).chain((64..1500).step_by(3)).chain([5000]) {
        let periodic: Vec<u8> = (0..size).map(|i| [3, 1, 4][i % 3]).collect();
        let bits: Vec<u8> = (0..size).map(|_| random.byte() & 1).collect();
        for src in [vec![9; size], periodic, bits, random.data(size)] {
            for way in WAYS {
                for (begin, end) in matches(&encoders.block(way, &[], &src)) {
                    assert!(begin + MATCH_MARGIN <= size && end + LAST_LITERALS <= size);
                }
            }
        }
    }
}

#[test]
fn output_depends_on_the_arguments_only() {
    let mut random = Random(5);
    let mut used = Encoders::new();
    for round in 0..40 {
        let size = random.below(90_000);
        let src = random.data(size);
        let dict = if round % 3 == 0 { random.data(3000) } else { vec![] };
        for way in WAYS {
            let fresh = Encoders::new().block(way, &dict, &src);
            assert_eq!(used.block(way, &dict, &src), fresh, "way {way} round {round}");
        }
    }
}

#[test]
fn too_short_a_buffer_is_refused_and_an_exact_one_is_not() {
    let mut random = Random(31);
    let mut encoders = Encoders::new();
    for size in [0, 1, 20, 300, 2000] {
        let src = random.data(size);
        for way in WAYS {
            let block = encoders.block(way, &[], &src);
            for room in 0..block.len() {
                assert_eq!(encoders.run(way, &[], &src, &mut vec![0; room]), None);
            }
            let mut exact = vec![0; block.len()];
            assert_eq!(encoders.run(way, &[], &src, &mut exact), Some(block.len()));
            assert_eq!(exact, block);
        }
    }
}

#[test]
fn every_cut_and_every_changed_byte_is_judged_alike() {
    let mut random = Random(2026);
    let mut encoders = Encoders::new();
    for (way, size, dict_size) in [(1, 700, 0), (1, 300, 200), (15, 500, 0), (15, 200, 1000)] {
        let dict = random.data(dict_size);
        let src = [&dict[..dict_size / 2], &random.data(size)].concat();
        let block = encoders.block(way, &dict, &src);
        for cut in 0..block.len() {
            assert_eq!(decode(&dict, &block[..cut], src.len()), None);
        }
        for at in 0..block.len() {
            let mut changed = block.clone();
            for change in [1, 0x10, 0x80, 0xFF, 1 + random.byte() % 255] {
                changed[at] = block[at] ^ change;
                decode(&dict, &changed, src.len());
            }
            changed[at] = block[at];
        }
        for size in [src.len() - 1, src.len() + 1] {
            assert_eq!(decode(&dict, &block, size), None);
        }
    }
}

#[test]
fn random_streams_are_judged_alike() {
    let mut random = Random(123_456);
    for _ in 0..20_000 {
        // Mostly short distances and lengths, so that many streams get far.
        let src: Vec<u8> = (0..random.below(150))
            .map(|_| if random.below(3) == 0 { random.byte() } else { random.byte() & 0x21 })
            .collect();
        let dict = random.data(40);
        let size = random.below(300);
        decode(&dict, &src, size);
    }
}
