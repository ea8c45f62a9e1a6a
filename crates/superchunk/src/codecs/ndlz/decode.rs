//! The NDLZ decoder. Nothing it reads is trusted: every token, offset, literal and source is looked
//! up inside the stream, and every line of a cell inside the plane.

use super::{Grid, HEADER, LITERAL, MAX_CELL, UNIFORM, WHOLE};
use super::{PAIR_OF_8, PAIRS, TRIPLE_OF_8, TRIPLES, TWO_PAIRS};
use core::result::Result;
use superchunk_kernels::Malformed;

/// Decodes `src`, whose plane must fill `dst` exactly. `cell` is the side of a cell, 4 or 8.
///
/// # Errors
///
/// [`Malformed`] if the stream is cut short, holds an unknown token, refers to bytes outside itself or
/// describes a plane of another size. The contents of `dst` are unspecified then.
pub(crate) fn decompress(cell: usize, src: &[u8], dst: &mut [u8]) -> Result<(), Malformed> {
    if cell != 4 && cell != 8 {
        return malformed(0, "the cell side is neither 4 nor 8");
    }
    let grid = read_header(cell, src, dst.len())?;
    let mut records = Records { src, at: HEADER, side: cell };
    let mut buffer = [0; MAX_CELL];
    for cell in grid.cells() {
        records.next(cell.height * cell.width, &mut buffer)?;
        for (line, bytes) in buffer.chunks(cell.width).take(cell.height).enumerate() {
            let start = grid.position(&cell, line);
            match dst.get_mut(start..start + cell.width) {
                Some(room) => room.copy_from_slice(bytes),
                None => return malformed(records.at, "a cell lies outside the plane"),
            }
        }
    }
    Ok(())
}

fn read_header(cell: usize, src: &[u8], len: usize) -> Result<Grid, Malformed> {
    let Some(&[dimensions, r0, r1, r2, r3, c0, c1, c2, c3]) = src.first_chunk::<HEADER>() else {
        return malformed(src.len(), "the stream ends in its header");
    };
    if dimensions != 2 {
        return malformed(0, "the plane does not have two dimensions");
    }
    let rows = usize::try_from(i32::from_le_bytes([r0, r1, r2, r3]));
    let columns = usize::try_from(i32::from_le_bytes([c0, c1, c2, c3]));
    match (rows, columns) {
        (Ok(rows), Ok(columns)) if rows.checked_mul(columns) == Some(len) => {
            Ok(Grid { rows, columns, cell })
        }
        _ => malformed(1, "the shape of the plane is not that of the output"),
    }
}

/// The records of a stream, read one after the other.
struct Records<'a> {
    src: &'a [u8],
    at: usize,
    side: usize,
}

impl<'a> Records<'a> {
    /// Decodes the next record; the cell's `len` bytes are at the beginning of `buffer` afterwards.
    fn next(&mut self, len: usize, buffer: &mut [u8; MAX_CELL]) -> Result<(), Malformed> {
        let token_at = self.at;
        let [token] = self.array()?;
        match token {
            LITERAL => self.literal(buffer, 0, len),
            UNIFORM => {
                let [byte] = self.array()?;
                buffer.fill(byte);
                Ok(())
            }
            WHOLE => {
                let source = self.source(token_at, len)?;
                copy(buffer, 0, source, token_at)
            }
            _ if self.side == 4 => self.rows_of_4(token, token_at, buffer),
            _ => self.rows_of_8(token, token_at, buffer),
        }
    }

    /// A 4 x 4 cell whose token names sources for some rows.
    fn rows_of_4(
        &mut self,
        token: u8,
        token_at: usize,
        buffer: &mut [u8; MAX_CELL],
    ) -> Result<(), Malformed> {
        let kind = token & 0xf8;
        if let Some((_, first, second)) = TWO_PAIRS.iter().find(|(token, ..)| *token == kind) {
            let one = self.source(token_at, 8)?;
            let two = self.source(token_at, 8)?;
            place(buffer, 4, first, one, token_at)?;
            return place(buffer, 4, second, two, token_at);
        }
        // The reference knows four more pairs, which no encoder writes: a row and itself, or (1, 0).
        // It takes them as they come, the second row over the first, and so does this.
        let pair = match token {
            0x81..=0x87 => Some([0, 0]),
            0xa0..=0xa7 => Some([1, 0]),
            0xa8..=0xaf => Some([1, 1]),
            _ => PAIRS.iter().find(|(token, _)| *token == kind).map(|(_, rows)| *rows),
        };
        if let Some(rows) = pair {
            return self.one_source(&rows, token_at, buffer);
        }
        match TRIPLES.iter().find(|(token, _)| *token == kind) {
            Some((_, rows)) => self.one_source(rows, token_at, buffer),
            None => malformed(token_at, "an unknown token"),
        }
    }

    /// An 8 x 8 cell whose token names a source for some rows.
    fn rows_of_8(
        &mut self,
        token: u8,
        token_at: usize,
        buffer: &mut [u8; MAX_CELL],
    ) -> Result<(), Malformed> {
        let first = usize::from(token & 7);
        match token & 0xf8 {
            PAIR_OF_8 if first <= 6 => self.one_source(&[first, first + 1], token_at, buffer),
            TRIPLE_OF_8 if first <= 5 => {
                self.one_source(&[first, first + 1, first + 2], token_at, buffer)
            }
            _ => malformed(token_at, "an unknown token"),
        }
    }

    /// Takes `rows` from one source and the others from the stream.
    fn one_source(
        &mut self,
        rows: &[usize],
        token_at: usize,
        buffer: &mut [u8; MAX_CELL],
    ) -> Result<(), Malformed> {
        let side = self.side;
        let source = self.source(token_at, rows.len() * side)?;
        place(buffer, side, rows, source, token_at)?;
        for row in (0..side).filter(|row| !rows.contains(row)) {
            self.literal(buffer, row * side, side)?;
        }
        Ok(())
    }

    /// Reads an offset and returns the `len` bytes it refers to.
    fn source(&mut self, token_at: usize, len: usize) -> Result<&'a [u8], Malformed> {
        let off = usize::from(u16::from_le_bytes(self.array()?));
        let start = token_at.checked_sub(off);
        match start.and_then(|start| self.src.get(start..start + len)) {
            Some(bytes) => Ok(bytes),
            None => malformed(token_at, "a source outside the stream"),
        }
    }

    /// Copies `len` bytes of the stream to `buffer[to..]`.
    fn literal(
        &mut self,
        buffer: &mut [u8; MAX_CELL],
        to: usize,
        len: usize,
    ) -> Result<(), Malformed> {
        let at = self.at;
        match self.src.get(at..at + len) {
            Some(bytes) => {
                self.at += len;
                copy(buffer, to, bytes, at)
            }
            None => malformed(at, "the stream ends in a cell"),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        match self.src.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => malformed(self.at, "the stream ends in a record"),
        }
    }
}

/// Copies the lines of `source` to the given rows of the cell.
fn place(
    buffer: &mut [u8; MAX_CELL],
    side: usize,
    rows: &[usize],
    source: &[u8],
    at: usize,
) -> Result<(), Malformed> {
    for (row, bytes) in rows.iter().zip(source.chunks(side)) {
        copy(buffer, row * side, bytes, at)?;
    }
    Ok(())
}

fn copy(buffer: &mut [u8; MAX_CELL], to: usize, bytes: &[u8], at: usize) -> Result<(), Malformed> {
    match buffer.get_mut(to..to + bytes.len()) {
        Some(room) => {
            room.copy_from_slice(bytes);
            Ok(())
        }
        None => malformed(at, "a row outside its cell"),
    }
}

#[cold]
fn malformed<T>(at: usize, reason: &'static str) -> Result<T, Malformed> {
    Err(Malformed { at, reason })
}
