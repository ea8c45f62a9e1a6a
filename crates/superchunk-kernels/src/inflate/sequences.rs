//! A zlib stream as a row of literals and matches, none of which is carried out. Places in it are bits.
//!
//! What a symbol is depends on the codes of its block, so it takes the begins of all blocks to read from the middle of a stream. The begin
//! of a block and its end are sequences of no bytes; a stored block is one of literals.

use alloc::vec::Vec;

use super::Decoder;
use crate::inflate::bits::Bits;
use crate::inflate::careful::{take_code, take_value};
use crate::inflate::codes::Codes;
use crate::inflate::stream::{Tables, stored_len};
use crate::inflate::table::{END_OF_BLOCK, LITERALS};
use crate::marks::{Mark, Marker};
use crate::trace::{Sequence, Sequences, Tracer, add};

/// The bits of a stream before its first block.
const HEADER: usize = 16;

impl Decoder {
    /// Has the blocks of a stream noted, and symbols marked that are some bits apart. `None` if something is wrong with the stream.
    pub fn mark(&mut self, src: &[u8], marker: &mut Marker) -> Option<()> {
        let [tables, _] = &mut self.tables;
        let (mut bits, mut out) = (Bits::new(src), 0);
        bits.seek(HEADER)?;
        loop {
            marker.note_inner(Mark { at: bits.position(), out });
            let block = Block::read(&mut bits, tables)?;
            out += block.stored.len();
            while let Some(codes) = block.codes {
                let at = bits.position();
                match Symbol::read(&mut bits, codes)? {
                    Symbol::End => break,
                    symbol => {
                        if at >= marker.due() {
                            let (distance, length) = symbol.repeated();
                            let literals = symbol.len() - length;
                            marker.note(Mark { at, out }, literals, distance, length);
                        }
                        out += symbol.len();
                    }
                }
            }
            if block.is_last {
                return Some(());
            }
        }
    }

    /// Fills `dst` with the bytes of the decoded stream from `out` on. `blocks` are the begins of all blocks, `before` tells the last mark at or before
    /// a byte of the output. `None` if it is quicker to decode the stream, or something is wrong with it.
    pub fn fetch(
        &mut self,
        tracer: &mut Tracer,
        src: &[u8],
        blocks: &[Mark],
        before: impl Fn(usize) -> Mark,
        out: usize,
        dst: &mut [u8],
    ) -> Option<()> {
        let [tables, _] = &mut self.tables;
        let mut symbols = Symbols { src, blocks, tables, codes_of: None };
        tracer.fetch(&mut symbols, src.len(), before, out, dst)
    }
}

/// A block whose begin was read.
struct Block<'s, 't> {
    is_last: bool,
    stored: &'s [u8],
    /// Nothing if it is stored.
    codes: Option<&'t Codes>,
}

impl<'s, 't> Block<'s, 't> {
    fn read(bits: &mut Bits<'s>, tables: &'t mut Tables) -> Option<Self> {
        bits.refill();
        let is_last = bits.take(1).ok()? == 1;
        let codes = tables.read(bits).ok()?;
        let len = if codes.is_none() { stored_len(bits).ok()? } else { 0 };
        let stored = if codes.is_none() { bits.take_bytes(len).ok()? } else { &[] };
        Some(Self { is_last, stored, codes })
    }
}

/// A symbol of a block, with what belongs to it.
#[derive(Clone, Copy)]
enum Symbol {
    Literal(u8),
    Match { distance: usize, length: usize },
    End,
}

impl Symbol {
    #[inline(always)]
    fn read(bits: &mut Bits<'_>, codes: &Codes) -> Option<Self> {
        bits.refill();
        let entry = take_code(&codes.literals, bits).ok()?;
        if entry & LITERALS != 0 {
            let [_, literal, ..] = entry.to_le_bytes();
            return Some(Self::Literal(literal));
        }
        if entry & END_OF_BLOCK != 0 {
            return Some(Self::End);
        }
        let length = take_value(entry, bits).ok()?;
        bits.refill();
        let entry = take_code(&codes.distances, bits).ok()?;
        Some(Self::Match { distance: take_value(entry, bits).ok()?, length })
    }

    /// The bytes of the output that it makes.
    #[inline(always)]
    fn len(self) -> usize {
        match self {
            Self::Literal(_) => 1,
            Self::Match { length, .. } => length,
            Self::End => 0,
        }
    }

    fn repeated(self) -> (usize, usize) {
        match self {
            Self::Match { distance, length } => (distance, length),
            _ => (1, 0),
        }
    }
}

/// Symbols of a stream whose blocks are known.
struct Symbols<'a, 't> {
    src: &'a [u8],
    blocks: &'a [Mark],
    tables: &'t mut Tables,
    /// The block whose codes were read last.
    codes_of: Option<usize>,
}

/// All literals, so that each is a slice of them.
static BYTES: [u8; 256] = {
    let mut bytes = [0; 256];
    let (mut rest, mut byte) = (bytes.as_mut_slice(), 0_u8);
    while let Some((first, others)) = rest.split_first_mut() {
        *first = byte;
        byte = byte.wrapping_add(1);
        rest = others;
    }
    bytes
};

impl<'a> Symbols<'a, '_> {
    /// The stream from a bit on, and the codes there; no codes where a block begins.
    fn enter(&mut self, at: usize) -> Option<(Bits<'a>, Option<&Codes>)> {
        let number = self.blocks.partition_point(|block| block.at <= at).checked_sub(1)?;
        let begin = self.blocks.get(number)?.at;
        let mut bits = Bits::new(self.src);
        if self.codes_of != Some(number) && begin < at {
            bits.seek(begin)?;
            Block::read(&mut bits, self.tables)?.codes?;
            self.codes_of = Some(number);
        }
        bits.seek(at)?;
        if begin == at {
            return Some((bits, None));
        }
        Some((bits, self.tables.codes()))
    }

    /// The begin of a block; all of it if it is stored.
    fn begin(&mut self, mut bits: Bits<'a>) -> Option<Sequence<'a>> {
        self.codes_of = None;
        let Block { stored, .. } = Block::read(&mut bits, self.tables)?;
        Some(Sequence { literals: stored, distance: 0, length: 0, next: bits.position() })
    }
}

impl Sequences for Symbols<'_, '_> {
    fn sequence(&mut self, at: usize) -> Option<Sequence<'_>> {
        let (mut bits, codes) = self.enter(at)?;
        let Some(codes) = codes else { return self.begin(bits) };
        let symbol = Symbol::read(&mut bits, codes)?;
        let (distance, length) = symbol.repeated();
        let literals = match symbol {
            Symbol::Literal(byte) => BYTES.get(usize::from(byte)..)?.get(..1)?,
            _ => &[],
        };
        Some(Sequence { literals, distance, length, next: bits.position() })
    }

    /// As always, but the codes of a block are entered once for all of its symbols.
    fn read_to(&mut self, wanted: usize, known: &mut Vec<Mark>) -> Option<()> {
        loop {
            let Mark { at, mut out } = *known.last()?;
            let (mut bits, codes) = self.enter(at)?;
            let Some(codes) = codes else {
                let Sequence { literals, next, .. } = self.begin(bits)?;
                if wanted - out < literals.len() {
                    return Some(());
                }
                add(known, Mark { at: next, out: out + literals.len() })?;
                continue;
            };
            loop {
                let symbol = Symbol::read(&mut bits, codes)?;
                if wanted - out < symbol.len() {
                    return Some(());
                }
                out += symbol.len();
                add(known, Mark { at: bits.position(), out })?;
                if matches!(symbol, Symbol::End) {
                    break;
                }
            }
        }
    }
}
