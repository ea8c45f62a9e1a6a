//! Literals by their numbers.

use core::ops::Range;

pub(super) use super::super::literals::Form;

use super::super::bits::MARGIN;
use super::super::huffman::{self, Table};
use super::trace::Piece;
use alloc::vec::Vec;

/// The literals of a block.
pub(super) struct Kept {
    /// The number of the first one.
    pub(super) first: usize,
    pub(super) len: usize,
    pub(super) form: Form,
    /// Where they are in the frame.
    pub(super) range: Range<usize>,
    /// Where the code was described last.
    pub(super) code: Option<usize>,
}

/// Writes `pieces` of literals, which come in the order of these, to where they belong.
pub(super) fn write(
    kept: &[Kept],
    mut pieces: &[Piece],
    table: &mut Table,
    symbols: &mut Vec<u8>,
    src: &[u8],
    dst: &mut [u8],
) -> Option<()> {
    // Which code the table is for.
    let mut made = None;
    while let Some(first) = pieces.first() {
        let after = kept.partition_point(|kept| kept.first <= first.from as usize);
        let section = kept.get(after.checked_sub(1)?)?;
        let end = section.first + section.len;
        let count = pieces.partition_point(|piece| (piece.from as usize) < end);
        let (here, rest) = pieces.split_at_checked(count.max(1))?;
        match section.form {
            Form::Raw => {
                let literals = src.get(section.range.clone())?;
                copy_pieces(here, section.first..end, literals, dst)?;
            }
            Form::Run => {
                let byte = *src.get(section.range.start)?;
                for piece in here {
                    place_of(piece, dst)?.fill(byte);
                }
            }
            Form::Coded { streams, described } => {
                let code = section.code?;
                let used = if made == section.code {
                    table.used()
                } else {
                    table.read(src.get(code..)?).ok()?
                };
                made = section.code;
                let begin = section.range.start + if described { used } else { 0 };
                let coded = Coded { section, begin, streams };
                coded.write(here, table, symbols, src, dst)?;
            }
        }
        pieces = rest;
    }
    Some(())
}

/// Copies what pieces have of literals with these numbers.
fn copy_pieces(
    pieces: &[Piece],
    numbers: Range<usize>,
    literals: &[u8],
    dst: &mut [u8],
) -> Option<()> {
    for piece in pieces {
        let from = piece.from as usize;
        let end = (from + piece.len as usize).min(numbers.end);
        let begin = from.max(numbers.start);
        if begin < end {
            let literals = literals.get(begin - numbers.start..end - numbers.start)?;
            place_of(piece, dst)?.get_mut(begin - from..end - from)?.copy_from_slice(literals);
        }
    }
    Some(())
}

fn place_of<'a>(piece: &Piece, dst: &'a mut [u8]) -> Option<&'a mut [u8]> {
    dst.get_mut(piece.to as usize..piece.to as usize + piece.len as usize)
}

/// Literals in one stream or four.
struct Coded<'a> {
    section: &'a Kept,
    /// Where the streams begin, behind the description of the code.
    begin: usize,
    streams: usize,
}

impl Coded<'_> {
    fn write(
        &self,
        pieces: &[Piece],
        table: &mut Table,
        symbols: &mut Vec<u8>,
        src: &[u8],
        dst: &mut [u8],
    ) -> Option<()> {
        let &Kept { first, len, ref range, .. } = self.section;
        let cut = self.begin.saturating_sub(MARGIN);
        let src = src.get(cut..range.end)?;
        let begin = self.begin - cut;
        let (share, ends) = if self.streams == 1 {
            (len, [src.len(); 4])
        } else {
            (len.div_ceil(4), huffman::ends_of_four(src, begin)?)
        };
        if symbols.len() < len + huffman::SPARE {
            symbols.resize(len + huffman::SPARE, 0);
        }
        let stream_of =
            |number: usize| first + len.min(number * share)..first + len.min((number + 1) * share);
        let needed = [0, 1, 2, 3].map(|number| needed_of(pieces, stream_of(number)));
        let costs = needed.iter().zip(0..).map(|(range, number)| {
            if range.is_empty() { 0 } else { huffman::cost(range, stream_of(number).len()) }
        });
        if self.streams == 4 && costs.sum::<usize>() > len / 4 * 3 {
            let symbols = symbols.get_mut(..len)?;
            huffman::decode_four(table, src, begin, symbols).ok()?;
            return copy_pieces(pieces, first..first + len, symbols, dst);
        }
        let mut begin = if self.streams == 1 { begin } else { begin + huffman::LENGTHS };
        for (number, (needed, end)) in needed.into_iter().zip(ends).enumerate() {
            if !needed.is_empty() {
                let numbers = stream_of(number);
                let stream = huffman::Coded { src, place: begin..end, count: numbers.len() };
                let symbols = stream.decode(table, needed.clone(), symbols).ok()?;
                let numbers = numbers.start + needed.start..numbers.start + needed.end;
                copy_pieces(pieces, numbers, symbols, dst)?;
            }
            begin = end;
        }
        Some(())
    }
}

/// From where to where literals with these numbers are needed, from the first of them on.
fn needed_of(pieces: &[Piece], numbers: Range<usize>) -> Range<usize> {
    let mut needed = numbers.end..numbers.start;
    for piece in pieces {
        let begin = (piece.from as usize).max(numbers.start);
        let end = (piece.from as usize + piece.len as usize).min(numbers.end);
        if begin < end {
            needed = needed.start.min(begin)..needed.end.max(end);
        }
    }
    if needed.is_empty() {
        return 0..0;
    }
    needed.start - numbers.start..needed.end - numbers.start
}
