//! The two codes of a block: one for literals and lengths, one for distances.

use crate::Malformed;
use crate::inflate::bits::Bits;
use crate::inflate::code::{Code, NotACode};
use crate::inflate::pairs::Literals;
use crate::inflate::table::{END_OF_BLOCK, EXCEPTIONAL, Entry, ONE_LITERAL, Table, all_bits, base};

/// The bits of an index: as many as keep the tables in the fastest cache.
const LITERAL_BITS: u32 = 11;
const DISTANCE_BITS: u32 = 9;

/// With less input than this left, the time to place pairs of literals is not earned back.
const LARGE: usize = 8192;

/// A table of longer codes for `n` bits has at least `n + 1` symbols, so that 288 symbols never need
/// more than 576 entries behind an index of 12 bits; 32 distances no more than 320 behind one of 9.
pub(super) type LiteralTable = Table<5120>;
type DistanceTable = Table<1024>;

/// The codes of a block, ready to decode.
pub(super) struct Codes {
    pub(super) literals: LiteralTable,
    pub(super) distances: DistanceTable,
}

impl Codes {
    pub(super) fn new() -> Self {
        Codes { literals: Table::new(), distances: Table::new() }
    }

    /// The codes of blocks that bring none.
    pub(super) fn fixed() -> Self {
        let mut lengths = [8; 288];
        lengths.iter_mut().skip(144).take(112).for_each(|length| *length = 9);
        lengths.iter_mut().skip(256).take(24).for_each(|length| *length = 7);
        let mut codes = Codes::new();
        let built = codes.build(&lengths, &[5; 32], true);
        debug_assert!(built.is_ok());
        codes
    }

    /// Reads the codes at the begin of a block:
    ///
    /// ```text
    ///   5 bits          5 bits         4 bits       3 bits each
    /// ┌───────────────┬──────────────┬────────────┬────────────────────────┬─────────────────┐
    /// │ literals - 257│ distances - 1│ lengths - 4│ bits of lengths' codes │ lengths of both │
    /// └───────────────┴──────────────┴────────────┴────────────────────────┴─────────────────┘
    /// ```
    pub(super) fn read(&mut self, bits: &mut Bits) -> Result<(), Malformed> {
        bits.refill();
        let literals = bits.take(5)? as usize + 257;
        let distances = bits.take(5)? as usize + 1;
        let lengths = bits.take(4)? as usize + 4;
        if literals > 286 || distances > 30 {
            return Err(bits.malformed("zlib stream has too many symbols in a code"));
        }
        let code = read_code_of_lengths(bits, lengths)?;
        let mut lengths = [0; 286 + 30];
        read_lengths(bits, &code, lengths.get_mut(..literals + distances).unwrap_or_default())?;
        let (of_literals, rest) = lengths.split_at(literals);
        let of_distances = rest.get(..distances).unwrap_or_default();
        if of_literals.get(256).is_none_or(|&length| length == 0) {
            return Err(bits.malformed("zlib stream has a block that cannot end"));
        }
        let large = bits.src.len() - bits.read >= LARGE;
        self.build(of_literals, of_distances, large).map_err(|_| bits.malformed(NOT_A_CODE))
    }

    fn build(&mut self, literals: &[u8], distances: &[u8], large: bool) -> Result<(), NotACode> {
        let literals = Code::new(literals, &LITERALS_AND_LENGTHS)?;
        let distances = Code::new(distances, &DISTANCES)?;
        let kind = if large { Literals::of(&literals) } else { Literals::One };
        self.literals.build(&literals, LITERAL_BITS, kind).ok_or(NotACode)?;
        self.distances.build(&distances, DISTANCE_BITS, Literals::One).ok_or(NotACode)
    }
}

const NOT_A_CODE: &str = "zlib stream has a code that is none";

/// The order in which the lengths of the lengths' codes are given: the likely ones first.
const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The code of the lengths of codes.
type LengthTable = Table<128>;

fn read_code_of_lengths(bits: &mut Bits, given: usize) -> Result<LengthTable, Malformed> {
    let mut lengths = [0; 19];
    for &symbol in ORDER.iter().take(given) {
        bits.refill();
        let length = bits.take(3)?;
        if let (Some(to), Ok(length)) = (lengths.get_mut(usize::from(symbol)), u8::try_from(length))
        {
            *to = length;
        }
    }
    let (mut table, code) = (Table::new(), Code::new(&lengths, &LENGTHS));
    // Here, in contrast to the other codes, a lonely symbol is no code.
    let lonely = lengths.iter().filter(|&&length| length > 0).count() == 1;
    match code {
        Ok(code) if !lonely && table.build(&code, 7, Literals::One).is_some() => Ok(table),
        _ => Err(bits.malformed(NOT_A_CODE)),
    }
}

/// Fills `lengths`. Symbols 16 to 18 repeat the last length or a zero.
fn read_lengths(bits: &mut Bits, code: &LengthTable, lengths: &mut [u8]) -> Result<(), Malformed> {
    let (mut at, mut last) = (0, None);
    while let Some(next) = lengths.get_mut(at) {
        bits.refill();
        let (entry, _) = code.look_up(bits.peek(15));
        if entry & EXCEPTIONAL != 0 {
            return Err(bits.malformed(NOT_A_CODE));
        }
        bits.skip(all_bits(entry))?;
        let (length, times) = match u8::try_from(base(entry)).unwrap_or(0) {
            16 => (last, 3 + bits.take(2)?),
            17 => (Some(0), 3 + bits.take(3)?),
            18 => (Some(0), 11 + bits.take(7)?),
            length => {
                (*next, last, at) = (length, Some(length), at + 1);
                continue;
            }
        };
        let room = lengths.get_mut(at..at + times as usize);
        let (Some(room), Some(length)) = (room, length) else {
            return Err(bits.malformed("zlib stream repeats the length of a code wrongly"));
        };
        room.fill(length);
        (at, last) = (at + times as usize, Some(length));
    }
    Ok(())
}

/// The entries of the lengths' code, without their bits: extra bits are taken by the caller.
const LENGTHS: [Entry; 19] = {
    let mut entries = [0; 19];
    let (mut rest, mut symbol) = (entries.as_mut_slice(), 0);
    while let Some((entry, others)) = rest.split_first_mut() {
        *entry = symbol << 16;
        symbol += 1;
        rest = others;
    }
    entries
};

/// The entries of literals, the end of a block, and lengths; the last two symbols mean nothing.
const LITERALS_AND_LENGTHS: [Entry; 288] = {
    let mut entries = [EXCEPTIONAL; 288];
    let (mut rest, mut symbol, mut length) = (entries.as_mut_slice(), 0, 3);
    while let Some((entry, others)) = rest.split_first_mut() {
        *entry = match symbol {
            0..=255 => ONE_LITERAL | (symbol << 8),
            256 => EXCEPTIONAL | END_OF_BLOCK,
            285 => 258 << 16,
            286.. => EXCEPTIONAL,
            _ => {
                // Lengths from 3: eight without extra bits, then four for each number of them.
                let extra = if symbol < 265 { 0 } else { (symbol - 261) / 4 };
                length += 1 << extra;
                ((length - (1 << extra)) << 16) | extra
            }
        };
        symbol += 1;
        rest = others;
    }
    entries
};

/// The entries of distances; the last two symbols mean nothing.
const DISTANCES: [Entry; 32] = {
    let mut entries = [EXCEPTIONAL; 32];
    let (mut rest, _) = entries.split_at_mut(30);
    let (mut symbol, mut distance) = (0, 1);
    while let Some((entry, others)) = rest.split_first_mut() {
        // Distances from 1: four without extra bits, then two for each number of them.
        let extra = if symbol < 4 { 0 } else { symbol / 2 - 1 };
        *entry = (distance << 16) | extra;
        distance += 1 << extra;
        symbol += 1;
        rest = others;
    }
    entries
};
