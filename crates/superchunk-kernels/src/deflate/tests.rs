//! Every stream is read back by a small decoder that follows RFC 1951 bit by bit.

use alloc::vec;
use alloc::vec::Vec;

use super::{Encoder, Search};

/// Reads bits one at a time.
struct Bits<'a> {
    src: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn bit(&mut self) -> usize {
        let bit = self.src[self.at / 8] >> (self.at % 8) & 1;
        self.at += 1;
        usize::from(bit)
    }

    fn number(&mut self, bits: u32) -> usize {
        (0..bits).map(|at| self.bit() << at).sum()
    }

    /// The symbol whose canonical code comes next, by the symbols of each length.
    fn symbol(&mut self, of_length: &[Vec<usize>]) -> usize {
        let (mut code, mut first) = (0, 0);
        for symbols in &of_length[1..] {
            code = code << 1 | self.bit();
            if code - first < symbols.len() {
                return symbols[code - first];
            }
            first = (first + symbols.len()) << 1;
        }
        panic!("no such code");
    }
}

/// The symbols whose codes have each length.
fn by_length(lengths: &[u8]) -> Vec<Vec<usize>> {
    let with = |len| (0..lengths.len()).filter(|&symbol| lengths[symbol] == len).collect();
    (0..16).map(with).collect()
}

/// Whether the lengths are those of a complete code.
fn is_complete(lengths: &[u8]) -> bool {
    lengths.iter().filter(|&&len| len > 0).map(|&len| 1_u32 << (15 - len)).sum::<u32>() == 1 << 15
}

/// The definition of a zlib stream.
fn naive_inflate(src: &[u8]) -> Vec<u8> {
    assert_eq!(src[0], 0x78);
    assert_eq!((u32::from(src[0]) * 256 + u32::from(src[1])) % 31, 0);
    let mut bits = Bits { src, at: 16 };
    let mut out = Vec::new();
    loop {
        let is_last = bits.bit() == 1;
        match bits.number(2) {
            0 => {
                bits.at = bits.at.next_multiple_of(8);
                let len = bits.number(16);
                assert_eq!(bits.number(16), len ^ 0xFFFF);
                out.extend((0..len).map(|_| u8::try_from(bits.number(8)).unwrap()));
            }
            1 => {
                let lengths = |s| [8, 9, 7, 8][[144, 256, 280].iter().filter(|&&n| s >= n).count()];
                let litlen: Vec<u8> = (0..288).map(lengths).collect();
                naive_symbols(&mut bits, &litlen, &[5; 30], &mut out);
            }
            2 => {
                let (litlen, distance) = naive_header(&mut bits);
                naive_symbols(&mut bits, &litlen, &distance, &mut out);
            }
            _ => panic!("no such block"),
        }
        if is_last {
            break;
        }
    }
    let end = bits.at.div_ceil(8);
    let (mut a, mut b) = (1_u32, 0);
    for &byte in &out {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    assert_eq!(src[end..], (b << 16 | a).to_be_bytes());
    out
}

fn naive_header(bits: &mut Bits<'_>) -> (Vec<u8>, Vec<u8>) {
    let (litlen, distance, count) = (bits.number(5) + 257, bits.number(5) + 1, bits.number(4) + 4);
    assert!(litlen <= 286 && distance <= 30);
    let mut code_lengths = [0; 19];
    for &symbol in &[16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15][..count] {
        code_lengths[symbol] = u8::try_from(bits.number(3)).unwrap();
    }
    assert!(is_complete(&code_lengths));
    let codes = by_length(&code_lengths);
    let mut lengths = Vec::new();
    while lengths.len() < litlen + distance {
        let (value, times) = match bits.symbol(&codes) {
            16 => (*lengths.last().unwrap(), bits.number(2) + 3),
            17 => (0, bits.number(3) + 3),
            18 => (0, bits.number(7) + 11),
            len => (u8::try_from(len).unwrap(), 1),
        };
        lengths.extend(vec![value; times]);
    }
    assert_eq!(lengths.len(), litlen + distance);
    let distance = lengths.split_off(litlen);
    assert!(is_complete(&lengths) && is_complete(&distance));
    (lengths, distance)
}

fn naive_symbols(bits: &mut Bits<'_>, litlen: &[u8], distance: &[u8], out: &mut Vec<u8>) {
    let (litlen, distance) = (by_length(litlen), by_length(distance));
    loop {
        let symbol = bits.symbol(&litlen);
        if symbol == 256 {
            return;
        }
        if symbol < 256 {
            out.push(u8::try_from(symbol).unwrap());
            continue;
        }
        let (mut base, mut len) = (3, 0);
        for slot in 257..=symbol {
            let extra = if slot < 265 { 0 } else { (slot - 261) / 4 };
            let extra = u32::try_from(if slot == 285 { 0 } else { extra }).unwrap();
            len = if slot == 285 { 258 } else { base };
            if slot == symbol {
                len += bits.number(extra);
            }
            base += 1 << extra;
        }
        let slot = bits.symbol(&distance);
        let mut back = 1;
        for before in 0..slot {
            back += 1 << (before / 2).saturating_sub(1);
        }
        back += bits.number(u32::try_from((slot / 2).saturating_sub(1)).unwrap());
        for _ in 0..len {
            out.push(out[out.len() - back]);
        }
    }
}

fn dice(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (state >> 56) as u8
        })
        .collect()
}

/// Inputs of many kinds, each of about `len` bytes.
fn kinds(len: usize) -> Vec<Vec<u8>> {
    let noise = dice(len, 7);
    let byte = |at: usize| u8::try_from(at & 255).unwrap();
    vec![
        vec![0; len],
        noise.clone(),
        noise.iter().map(|n| n >> 4).collect(),
        noise.iter().map(|n| n >> 7).collect(),
        noise.iter().map(|n| u8::try_from(n.leading_zeros() * 3).unwrap()).collect(),
        (0..len).map(byte).collect(),
        (0..len).map(|at| byte(at / 300)).collect(),
        (0..len).map(|at| if at % 8 < 6 { 0 } else { noise[at] >> 5 }).collect(),
        (0..len).map(|at| byte(at / 7 * (1 - at % 2))).collect(),
        (0..len).map(|at| b"the quick brown fox "[at % 1000 * (at % 1000) / 9 % 20]).collect(),
        (0..len).map(|at| noise[at % 5000]).collect(),
        (0..len).map(|at| noise[at % 32_768]).collect(),
        (0..len).map(|at| if at / 9000 % 2 == 0 { noise[at] } else { byte(at / 40) }).collect(),
        (0..len).map(|at| if at % 1000 < 990 { 9 } else { noise[at] }).collect(),
    ]
}

const ALL: [Search; 5] =
    [Search::Runs, Search::Quick, Search::QuickRepetitions, Search::Brisk, Search::Thorough];

fn compressed(encoder: &mut Encoder, search: Search, plain: &[u8]) -> Vec<u8> {
    let mut packed = vec![0xEE; plain.len() + plain.len() / 1000 + 64];
    let len = encoder.compress(search, plain, &mut packed).unwrap();
    packed.truncate(len);
    packed
}

#[test]
fn streams_of_all_kinds_come_back() {
    let mut encoder = Encoder::default();
    for len in (0..40).chain([64, 300, 5000, 70_000]) {
        for (kind, plain) in kinds(len).iter().enumerate() {
            for search in ALL {
                let packed = compressed(&mut encoder, search, plain);
                assert!(packed.len() <= plain.len() + 11 + plain.len() / 65_535 * 10);
                assert!(naive_inflate(&packed) == *plain, "{search:?} kind {kind} length {len}");
            }
        }
    }
}

#[test]
fn very_long_streams_come_back() {
    let mut encoder = Encoder::default();
    let noise = dice(1_200_000, 5);
    let skewed: Vec<u8> = noise.iter().map(|n| n >> (n & 3)).collect();
    let zeros = vec![0; 5_000_000];
    for plain in [&noise, &skewed, &zeros] {
        let mut packed = vec![0; plain.len() + 1000];
        for search in ALL {
            let len = encoder.compress(search, plain, &mut packed).unwrap();
            assert!(naive_inflate(&packed[..len]) == *plain, "{search:?}");
        }
    }
}

#[test]
fn long_streams_come_back() {
    let mut encoder = Encoder::default();
    for plain in kinds(300_000) {
        for search in ALL {
            assert!(naive_inflate(&compressed(&mut encoder, search, &plain)) == plain);
        }
    }
}

#[test]
fn a_reused_encoder_writes_the_bytes_of_a_fresh_one() {
    let mut reused = Encoder::default();
    let plains = kinds(40_000);
    for _ in 0..3 {
        for (plain, search) in plains.iter().flat_map(|plain| ALL.map(|search| (plain, search))) {
            let fits = reused.compress(search, plain, &mut [0; 90]).is_some();
            assert_eq!(fits, plain[..] == [0; 40_000]);
            let fresh = compressed(&mut Encoder::default(), search, plain);
            assert!(compressed(&mut reused, search, plain) == fresh);
        }
    }
}

#[test]
fn positions_that_are_used_up_change_nothing() {
    let plain = &kinds(50_000)[10];
    let mut encoder = Encoder::default();
    let fresh = compressed(&mut encoder, Search::Thorough, plain);
    encoder.memory.finder.as_mut().unwrap().use_up(100_000);
    for _ in 0..4 {
        assert!(compressed(&mut encoder, Search::Thorough, plain) == fresh);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written_outside() {
    let mut encoder = Encoder::default();
    for (plain, search) in kinds(2500).iter().flat_map(|plain| ALL.map(|search| (plain, search))) {
        let packed = compressed(&mut encoder, search, plain);
        let mut room = vec![0xEE; packed.len() + 16];
        for len in (0..packed.len()).step_by(if search == Search::Thorough { 1 } else { 7 }) {
            assert_eq!(encoder.compress(search, plain, &mut room[..len]), None);
            assert!(room[len..].iter().all(|&byte| byte == 0xEE));
        }
        for len in packed.len()..=room.len() {
            room.fill(0xEE);
            assert_eq!(encoder.compress(search, plain, &mut room[..len]), Some(packed.len()));
            assert_eq!(room[..packed.len()], packed);
            assert!(room[len..].iter().all(|&byte| byte == 0xEE));
        }
    }
}

#[test]
fn runs_are_short_in_every_way() {
    for search in ALL {
        let short = Encoder::default().compress(search, &[7; 32_768], &mut [0; 80]);
        assert!(short.is_some(), "{search:?}");
    }
}

#[test]
fn what_does_not_repeat_is_stored_if_repetitions_are_needed() {
    let mut encoder = Encoder::default();
    let skewed: Vec<u8> = dice(150_000, 9).iter().map(|n| n >> (n & 3)).collect();
    let codes = compressed(&mut encoder, Search::Quick, &skewed);
    assert!(codes.len() < skewed.len() * 9 / 10, "{}", codes.len());
    let stored = compressed(&mut encoder, Search::QuickRepetitions, &skewed);
    assert!(stored.len() > skewed.len());
    assert_eq!(naive_inflate(&stored), skewed);
    // One segment of three repeats itself.
    let mut mixed = skewed.clone();
    mixed.copy_within(66_000..96_000, 98_000);
    let packed = compressed(&mut encoder, Search::QuickRepetitions, &mixed);
    assert!((110_000..140_000).contains(&packed.len()), "{}", packed.len());
    assert_eq!(naive_inflate(&packed), mixed);
}

#[test]
fn literals_of_every_number_stand_between_matches() {
    // A match of 20 bytes after each row of literals, of 0 to 70.
    let noise = dice(70 * 71, 11);
    let mut plain = noise[..20].to_vec();
    let mut rows = noise.as_slice();
    for count in 0..70 {
        let (row, rest) = rows.split_at(count);
        plain.extend_from_slice(row);
        plain.extend_from_within(..20);
        rows = rest;
    }
    for search in ALL {
        let packed = compressed(&mut Encoder::default(), search, &plain);
        assert_eq!(naive_inflate(&packed), plain, "{search:?}");
    }
}

#[test]
fn repetitions_far_back_are_found() {
    let mut plain = dice(32_000, 3);
    plain.extend_from_within(..20_000);
    for search in [Search::Quick, Search::QuickRepetitions, Search::Thorough] {
        let packed = compressed(&mut Encoder::default(), search, &plain);
        assert!(packed.len() < 33_500, "{}", packed.len());
    }
}
