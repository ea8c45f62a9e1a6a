//! A decoder as simple as the format allows, and a writer of streams for it and the real one.

use alloc::vec;
use alloc::vec::Vec;

use crate::adler32;

/// The least value and the extra bits of each length and distance, as the RFC lists them.
const LENGTHS: [(usize, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
const DISTANCES: [(usize, u32); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

#[derive(Clone, Copy, Debug)]
pub(super) enum Token {
    Literal(u8),
    Match { length: usize, distance: usize },
}

/// What the tokens stand for.
pub(super) fn expand(tokens: &[Token], out: &mut Vec<u8>) {
    for &token in tokens {
        match token {
            Token::Literal(byte) => out.push(byte),
            Token::Match { length, distance } => {
                (0..length).for_each(|_| out.push(out[out.len() - distance]));
            }
        }
    }
}

/// Decodes the blocks of `src` from its third byte; gives the output and the place of the checksum.
pub(super) fn inflate(src: &[u8], limit: usize) -> Option<(Vec<u8>, usize)> {
    let mut bits = Reader { src, at: 16 };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => {
                bits.at = bits.at.next_multiple_of(8);
                let len = bits.take(16)?;
                if bits.take(16)? != !len & 0xffff {
                    return None;
                }
                for _ in 0..len {
                    out.push(u8::try_from(bits.take(8)?).unwrap());
                }
            }
            1 => bits.symbols(&fixed_lengths(), &[5; 32], &mut out, limit)?,
            2 => {
                let (literals, distances) = bits.lengths()?;
                bits.symbols(&literals, &distances, &mut out, limit)?;
            }
            _ => return None,
        }
        if last {
            return Some((out, bits.at.div_ceil(8)));
        }
    }
}

fn fixed_lengths() -> Vec<u8> {
    [vec![8; 144], vec![9; 112], vec![7; 24], vec![8; 8]].concat()
}

struct Reader<'a> {
    src: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, n: u32) -> Option<usize> {
        let mut value = 0;
        for i in 0..n {
            value |= usize::from(self.src.get(self.at / 8)? >> (self.at % 8) & 1) << i;
            self.at += 1;
        }
        Some(value)
    }

    /// The symbol whose code comes next: bits are added until there is one.
    fn symbol(&mut self, codes: &[(u32, u32)]) -> Option<usize> {
        let mut code = 0;
        for bits in 1..=15 {
            code = code << 1 | u32::try_from(self.take(1)?).unwrap();
            if let Some(symbol) = codes.iter().position(|&known| known == (bits, code)) {
                return Some(symbol);
            }
        }
        None
    }

    fn lengths(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        let (literals, distances) = (self.take(5)? + 257, self.take(5)? + 1);
        let given = self.take(4)? + 4;
        if literals > 286 || distances > 30 {
            return None;
        }
        let mut lengths = vec![0; 19];
        for &symbol in &ORDER[..given] {
            lengths[symbol] = u8::try_from(self.take(3)?).unwrap();
        }
        let codes = codes(&lengths, false)?;
        let mut lengths = Vec::new();
        while lengths.len() < literals + distances {
            let (length, times) = match self.symbol(&codes)? {
                16 => (*lengths.last()?, 3 + self.take(2)?),
                17 => (0, 3 + self.take(3)?),
                18 => (0, 11 + self.take(7)?),
                length => (u8::try_from(length).unwrap(), 1),
            };
            lengths.extend(vec![length; times]);
        }
        if lengths.len() > literals + distances || lengths[256] == 0 {
            return None;
        }
        let distances = lengths.split_off(literals);
        Some((lengths, distances))
    }

    fn symbols(
        &mut self,
        literals: &[u8],
        distances: &[u8],
        out: &mut Vec<u8>,
        limit: usize,
    ) -> Option<()> {
        let (literals, distances) = (codes(literals, true)?, codes(distances, true)?);
        loop {
            match self.symbol(&literals)? {
                256 => return Some(()),
                symbol @ 257.. => {
                    let (base, extra) = *LENGTHS.get(symbol - 257)?;
                    let length = base + self.take(extra)?;
                    let (base, extra) = *DISTANCES.get(self.symbol(&distances)?)?;
                    let distance = base + self.take(extra)?;
                    if distance > out.len() {
                        return None;
                    }
                    expand(&[Token::Match { length, distance }], out);
                }
                byte => out.push(u8::try_from(byte).unwrap()),
            }
            if out.len() > limit {
                return None;
            }
        }
    }
}

/// The length and the number of each symbol's code, as the RFC defines them. `None` if bits would
/// have two meanings, or none, unless `lonely` and there is at most one symbol, of one bit.
fn codes(lengths: &[u8], lonely: bool) -> Option<Vec<(u32, u32)>> {
    let mut codes = vec![(0, 0); lengths.len()];
    let (mut code, mut used) = (0_u32, 0);
    for bits in 1..=15 {
        code <<= 1;
        for (to, _) in codes.iter_mut().zip(lengths).filter(|(_, l)| u32::from(**l) == bits) {
            *to = (bits, code);
            code += 1;
            used += 1 << (15 - bits);
        }
    }
    let symbols = lengths.iter().filter(|&&length| length > 0).count();
    let few = symbols == 0 || symbols == 1 && used == 1 << 14;
    (used == 1 << 15 || lonely && few).then_some(codes)
}

/// Writes a stream.
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
    bits: u32,
}

impl Writer {
    pub(super) fn new() -> Self {
        Writer { bytes: vec![0x78, 0x9c], bits: 0 }
    }

    /// Ends the stream with the checksum of what it stands for.
    pub(super) fn finish(mut self, plain: &[u8]) -> Vec<u8> {
        self.bytes.extend_from_slice(&adler32(1, plain).to_be_bytes());
        self.bytes
    }

    pub(super) fn put(&mut self, value: usize, n: u32) {
        for i in 0..n {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= u8::from(value >> i & 1 == 1) << (self.bits % 8);
            self.bits += 1;
        }
    }

    fn put_code(&mut self, (bits, code): (u32, u32)) {
        assert_ne!(bits, 0, "a symbol without a code");
        (0..bits).rev().for_each(|i| self.put((code >> i & 1) as usize, 1));
    }

    pub(super) fn stored(&mut self, last: bool, bytes: &[u8]) {
        self.put(usize::from(last), 3);
        self.bits = self.bits.next_multiple_of(8);
        self.put(bytes.len(), 16);
        self.put(!bytes.len() & 0xffff, 16);
        bytes.iter().for_each(|&byte| self.put(byte.into(), 8));
    }

    pub(super) fn fixed(&mut self, last: bool, tokens: &[Token]) {
        self.put(usize::from(last) | 1 << 1, 3);
        self.tokens(tokens, &fixed_lengths(), &[5; 32]);
    }

    /// A block with its own codes; the lengths of both are written in four bits each.
    pub(super) fn dynamic(
        &mut self,
        last: bool,
        tokens: &[Token],
        literals: &[u8],
        distances: &[u8],
    ) {
        self.put(usize::from(last) | 2 << 1, 3);
        self.put(literals.len() - 257, 5);
        self.put(distances.len() - 1, 5);
        self.put(15, 4);
        ORDER.iter().for_each(|&symbol| self.put(if symbol < 16 { 4 } else { 0 }, 3));
        for &length in literals.iter().chain(distances) {
            self.put_code((4, length.into()));
        }
        self.tokens(tokens, literals, distances);
    }

    fn tokens(&mut self, tokens: &[Token], literals: &[u8], distances: &[u8]) {
        let (literals, distances) =
            (codes(literals, true).unwrap(), codes(distances, true).unwrap());
        for &token in tokens {
            match token {
                Token::Literal(byte) => self.put_code(literals[usize::from(byte)]),
                Token::Match { length, distance } => {
                    let symbol = LENGTHS.iter().rposition(|&(base, _)| base <= length).unwrap();
                    self.put_code(literals[257 + symbol]);
                    self.put(length - LENGTHS[symbol].0, LENGTHS[symbol].1);
                    let symbol = DISTANCES.iter().rposition(|&(base, _)| base <= distance).unwrap();
                    self.put_code(distances[symbol]);
                    self.put(distance - DISTANCES[symbol].0, DISTANCES[symbol].1);
                }
            }
        }
        self.put_code(literals[256]);
    }
}
