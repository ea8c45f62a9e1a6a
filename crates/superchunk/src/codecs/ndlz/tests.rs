//! Both directions against a decoder written straight from the table of tokens, on every token by
//! hand, on made-up planes and on damaged streams.

use super::{compress, decompress};

/// The definition, without the tables of the fast one: `None` for anything out of order.
fn naive(cell: usize, src: &[u8], len: usize) -> Option<Vec<u8>> {
    let number = |at: usize| i32::from_le_bytes(src[at..at + 4].try_into().unwrap());
    if src.len() < 9 || src[0] != 2 {
        return None;
    }
    let rows = usize::try_from(number(1)).ok()?;
    let columns = usize::try_from(number(5)).ok()?;
    if rows as u64 * columns as u64 != len as u64 {
        return None;
    }
    let mut out = vec![0; len];
    let mut at = 9;
    for top in (0..if len == 0 { 0 } else { rows }).step_by(cell) {
        for left in (0..columns).step_by(cell) {
            let (height, width) = (cell.min(rows - top), cell.min(columns - left));
            let bytes = naive_cell(cell, src, &mut at, height * width)?;
            for i in 0..height * width {
                out[(top + i / width) * columns + left + i % width] = bytes[i];
            }
        }
    }
    Some(out)
}

fn naive_cell(cell: usize, src: &[u8], at: &mut usize, len: usize) -> Option<Vec<u8>> {
    let pos = *at;
    let token = usize::from(*src.get(pos)?);
    *at += 1;
    let next = |at: &mut usize| {
        *at += 1;
        src.get(*at - 1).copied()
    };
    let source = |at: &mut usize, len: usize| {
        let off = usize::from(next(at)?) + 256 * usize::from(next(at)?);
        src.get(pos.checked_sub(off)?..pos - off + len).map(<[u8]>::to_vec)
    };
    // For each source the rows it fills; then all other rows are literal.
    let filled: Vec<Vec<usize>> = match (token, cell) {
        (0, _) => return (0..len).map(|_| next(at)).collect(),
        (0x40, _) => return Some(vec![next(at)?; 64]),
        (0xc0, _) => return source(at, len),
        (40..=63, 4) => {
            let partner = (token - 32) / 8;
            vec![vec![0, partner], (1..4).filter(|row| *row != partner).collect()]
        }
        (128, 4) => vec![vec![2, 3]],
        (129..=191, 4) => {
            let first = (token - 128) / 32;
            vec![vec![first, (token - 128) / 8 - 4 * first]]
        }
        (224..=255, 4) => {
            let missing = [0, 3, 2, 1][token / 8 - 28];
            vec![(0..4).filter(|row| *row != missing).collect()]
        }
        (_, 8) if token >> 3 == 21 && token & 7 <= 5 => {
            vec![(token & 7..(token & 7) + 3).collect()]
        }
        (_, 8) if token >> 3 == 17 && token & 7 <= 6 => {
            vec![(token & 7..(token & 7) + 2).collect()]
        }
        _ => return None,
    };
    let mut lines = vec![None; cell];
    for rows in &filled {
        let bytes = source(at, rows.len() * cell)?;
        for (row, line) in rows.iter().zip(bytes.chunks(cell)) {
            lines[*row] = Some(line.to_vec());
        }
    }
    for line in lines.iter_mut().filter(|line| line.is_none()) {
        *line = Some((0..cell).map(|_| next(at)).collect::<Option<_>>()?);
    }
    Some(lines.into_iter().flatten().flatten().collect())
}

/// A small generator of numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}

/// A plane whose rows, at the width of a cell, come from a small stock: all kinds of repetition.
fn plane(numbers: &mut Numbers, [rows, columns]: [usize; 2], cell: usize) -> Vec<u8> {
    let stock: Vec<u8> = (0..64).map(|_| numbers.byte()).collect();
    let kinds = 1 + numbers.below(7);
    let mut out = vec![0; rows * columns];
    for row in 0..rows {
        for left in (0..columns).step_by(cell) {
            let start = numbers.below(kinds) * 8;
            let flat = numbers.below(12) < 5 || row % 16 < 4;
            let noise = numbers.below(40) == 0;
            for column in left..(left + cell).min(columns) {
                out[row * columns + column] = match (noise, flat) {
                    (true, _) => numbers.byte(),
                    (_, true) => 7,
                    _ => stock[start + column - left],
                };
            }
        }
    }
    out
}

/// Decodes by both; the buffer around the plane must not change.
fn check(cell: usize, src: &[u8], len: usize) {
    let expected = naive(cell, src, len);
    let mut buffer = vec![0xa5; len + 32];
    let decoded = decompress(cell, src, &mut buffer[16..16 + len]);
    assert_eq!(decoded.is_ok(), expected.is_some(), "{decoded:?}");
    if let Some(expected) = expected {
        assert_eq!(buffer[16..16 + len], expected);
    }
    assert!(buffer[..16].iter().chain(&buffer[16 + len..]).all(|&byte| byte == 0xa5));
}

fn stream(rows: u8, columns: u8, records: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![2, rows, 0, 0, 0, columns, 0, 0, 0];
    out.extend(records.concat());
    out
}

/// Streams written by C-Blosc2 3.3.5 for planes that formulas describe.
#[test]
fn decodes_the_streams_of_the_reference_encoder() {
    let of_4 = "0208000000220000000000010203101112132021222330313233c010009813002021222340414243\
         981e0020212223404142439029003031323340414243903400303132334041424300000102034041\
         42433031323320212223c01000000001000100010001e05c0040414243e06300404142433022002a\
         003027002f00306c0074003071007900e03e0010111213e0450010111213000001000100010001";
    let of_8 = "02080000002200000000000102030405060710111213141516172021222324252627303132333435\
         36374041424344454647505152535455565760616263646566677071727374757677a84000303132\
         33343536375051525354555657606162636465666770717273747576770001020304050607a86b00\
         50515253545556576061626364656667707172737475767700010203040506071011121314151617\
         40000001010101010101010101010101010101";
    let value_4 = |row: usize, column: usize| row * (column / 8 + 1) % 5 * 16 + column % 4;
    let value_8 = |row: usize, column: usize| match column {
        0..24 => {
            let shift = if row + column / 8 > 4 { column / 8 } else { 0 };
            (row + shift) % 8 * 16 + column % 8
        }
        _ => column / 32,
    };
    for (cell, hex) in [(4, of_4), (8, of_8)] {
        let stream: Vec<u8> = (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
            .collect();
        let mut out = vec![0; 8 * 34];
        decompress(cell, &stream, &mut out).unwrap();
        for (i, byte) in out.iter().enumerate() {
            let (row, column) = (i / 34, i % 34);
            let value = if cell == 4 { value_4(row, column) } else { value_8(row, column) };
            assert_eq!(usize::from(*byte), value, "cell {cell} byte {i}");
        }
    }
}

#[test]
fn every_token_of_4_x_4_cells() {
    // The literal cell lies at byte 10 of the stream, the next token at 26.
    let literal: Vec<u8> = (0..=16).collect();
    let rows = |tokens: &[u8]| -> Vec<u8> {
        let src = stream(8, 4, &[&literal, tokens]);
        let mut out = [0; 32];
        decompress(4, &src, &mut out).unwrap();
        out[16..].to_vec()
    };
    let lines =
        |lines: [u8; 4]| -> Vec<u8> { lines.iter().flat_map(|&line| line..line + 4).collect() };
    let new: [u8; 12] = [50, 51, 52, 53, 60, 61, 62, 63, 70, 71, 72, 73];
    let with_new =
        |token: u8, off: u8, count: usize| rows(&[&[token, off, 0], &new[..count]].concat());
    assert_eq!(rows(&[0x40, 9]), [9; 16]);
    assert_eq!(rows(&[0xc0, 16, 0]), lines([1, 5, 9, 13]));
    assert_eq!(rows(&[0x28, 16, 0, 8, 0]), lines([1, 5, 9, 13]));
    assert_eq!(rows(&[0x30, 16, 0, 8, 0]), lines([1, 9, 5, 13]));
    assert_eq!(rows(&[0x38, 16, 0, 8, 0]), lines([1, 9, 13, 5]));
    assert_eq!(with_new(0x80, 12, 8), lines([50, 60, 5, 9]));
    assert_eq!(with_new(0x88, 12, 8), lines([5, 9, 50, 60]));
    assert_eq!(with_new(0x90, 12, 8), lines([5, 50, 9, 60]));
    assert_eq!(with_new(0x98, 12, 8), lines([5, 50, 60, 9]));
    assert_eq!(with_new(0xb0, 12, 8), lines([50, 5, 9, 60]));
    assert_eq!(with_new(0xb8, 12, 8), lines([50, 5, 60, 9]));
    assert_eq!(with_new(0xe0, 16, 4), lines([50, 1, 5, 9]));
    assert_eq!(with_new(0xe8, 16, 4), lines([1, 5, 9, 50]));
    assert_eq!(with_new(0xf0, 16, 4), lines([1, 5, 50, 9]));
    assert_eq!(with_new(0xf8, 16, 4), lines([1, 50, 5, 9]));
    assert_eq!(with_new(0x81, 16, 12), lines([5, 50, 60, 70]));
}

#[test]
fn every_token_of_8_x_8_cells() {
    let literal: Vec<u8> = (0..=64).collect();
    let new: Vec<u8> = (100..148).collect();
    for (count, base) in [(2, 0x88_u8), (3, 0xa8)] {
        for first in 0..8_u8 {
            let off = 64_u8;
            let record = [&[base + first, off, 0], &new[..(8 - count) * 8]].concat();
            let src = stream(16, 8, &[&literal, &record]);
            let mut out = [0; 128];
            let decoded = decompress(8, &src, &mut out);
            let first = usize::from(first);
            assert_eq!(decoded.is_ok(), first + count <= 8);
            if decoded.is_ok() {
                let cell = &out[64..];
                assert_eq!(cell[first * 8..(first + count) * 8], literal[1..1 + count * 8]);
                assert_eq!(cell[..first * 8], new[..first * 8]);
                assert_eq!(cell[(first + count) * 8..], new[first * 8..(8 - count) * 8]);
            }
        }
    }
}

#[test]
fn all_tokens_on_all_kinds_of_cells_are_judged_like_the_definition() {
    let literal: Vec<u8> = (0..=64).collect();
    for cell in [4, 8] {
        for token in 0..=255 {
            for (rows, columns) in [(16, 8), (11, 8), (16, 3), (13, 5)] {
                for off in [0, 1, 9, 20, 26, 27, 74, 75, 200] {
                    let record = [&[token, off, 0, 16, 0], &literal[..]].concat();
                    let src = stream(rows, columns, &[&literal[..], &record, &record, &record]);
                    check(cell, &src, usize::from(rows) * usize::from(columns));
                }
            }
        }
    }
}

#[test]
fn impossible_headers_are_rejected() {
    let good = stream(4, 4, &[&[0x40, 9]]);
    let mut out = [0; 16];
    decompress(4, &good, &mut out).unwrap();
    assert_eq!(out, [9; 16]);
    assert!(decompress(5, &good, &mut out).is_err());
    assert!(decompress(4, &good, &mut out[..15]).is_err());
    for at in 0..9 {
        for value in [0, 1, 3, 5, 127, 128, 255] {
            let mut bad = good.clone();
            if bad[at] != value {
                bad[at] = value;
                check(4, &bad, 16);
                check(8, &bad, 0);
            }
        }
    }
    // A plane without columns has no cells, however many rows it claims.
    let hollow = [2, 255, 255, 255, 127, 0, 0, 0, 0];
    decompress(4, &hollow, &mut []).unwrap();
    assert!(decompress(4, &hollow, &mut out).is_err());
}

#[test]
fn what_is_compressed_comes_back() {
    let mut numbers = Numbers(4);
    let mut compressed = 0;
    for round in 0..600 {
        let cell = [4, 8][round % 2];
        let most = if round % 20 < 2 { 600 } else { 60 };
        let shape = [1 + numbers.below(most), 1 + numbers.below(most)];
        let src = plane(&mut numbers, shape, cell);
        let mut dst = vec![0; src.len() + 100];
        let Some(used) = compress(cell, shape, &src, &mut dst) else { continue };
        compressed += 1;
        assert!(used < src.len());
        let mut back = vec![0; src.len()];
        decompress(cell, &dst[..used], &mut back).unwrap();
        assert!(back == src, "round {round}");
        assert!(naive(cell, &dst[..used], src.len()) == Some(back), "round {round}");
        assert_eq!(compress(cell, shape, &src, &mut dst[..used]), Some(used));
        assert_eq!(compress(cell, shape, &src, &mut dst[..used - 1]), None);
    }
    assert!(compressed > 400, "only {compressed} planes were compressible");
}

#[test]
fn the_encoder_uses_every_kind_of_record() {
    for cell in [4, 8] {
        let mut seen = [false; 256];
        for seed in 0..60 {
            let shape = [96, 96];
            let src = plane(&mut Numbers(seed), shape, cell);
            let mut dst = vec![0; src.len()];
            let Some(used) = compress(cell, shape, &src, &mut dst) else { continue };
            let mut at = 9;
            while at < used {
                seen[usize::from(dst[at])] = true;
                naive_cell(cell, &dst[..used], &mut at, cell * cell).unwrap();
            }
        }
        let expected: Vec<usize> = match cell {
            4 => [0, 0x40, 0xc0, 0x28, 0x30, 0x38, 0x80, 0x88, 0x90, 0x98, 0xb0, 0xb8]
                .into_iter()
                .chain([0xe0, 0xe8, 0xf0, 0xf8])
                .collect(),
            _ => [0, 0x40, 0xc0].into_iter().chain(0x88..=0x8e).chain(0xa8..=0xad).collect(),
        };
        for (token, seen) in seen.into_iter().enumerate() {
            assert_eq!(seen, expected.contains(&token), "cell {cell} token {token:#x}");
        }
    }
}

#[test]
fn planes_of_another_size_are_refused() {
    let mut dst = [0; 100];
    assert!(compress(4, [8, 8], &[1; 64], &mut dst).is_some());
    assert_eq!(compress(4, [8, 9], &[1; 64], &mut dst), None);
    assert_eq!(compress(4, [usize::MAX, 2], &[1; 64], &mut dst), None);
    assert_eq!(compress(5, [8, 8], &[1; 64], &mut dst), None);
    assert_eq!(compress(4, [0, 8], &[], &mut dst), None);
    assert_eq!(compress(4, [1, 1], &[1], &mut dst), None);
}

#[test]
fn damaged_streams_are_judged_like_the_definition() {
    let mut numbers = Numbers(5);
    let mut streams = 0;
    while streams < 8 {
        let cell = [4, 8][streams % 2];
        let shape = [12 + numbers.below(10), 12 + numbers.below(10)];
        let src = plane(&mut numbers, shape, cell);
        let mut dst = vec![0; src.len()];
        let Some(used) = compress(cell, shape, &src, &mut dst) else { continue };
        streams += 1;
        let stream = &mut dst[..used];
        for cut in 0..used {
            check(cell, &stream[..cut], src.len());
        }
        for at in 0..used {
            let kept = stream[at];
            for new in [0, 0x28, 0x40, 0x80, 0x88, 0xa8, 0xc0, 0xe0, 0xff, kept ^ 1, kept ^ 8] {
                stream[at] = new;
                check(cell, stream, src.len());
                check(12 - cell, stream, src.len());
            }
            stream[at] = kept;
        }
    }
}
