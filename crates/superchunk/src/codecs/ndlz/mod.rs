//! NDLZ: a codec for planes of bytes that looks for repetitions in two dimensions.
//!
//! The plane is cut into square cells of side `C` (4 or 8), row by row; cells at the right and lower
//! edge are clipped. A stream is
//!
//! ```text
//! u8   number of dimensions, always 2
//! i32  rows            (little endian)
//! i32  columns
//!      one record for each cell
//! ```
//!
//! A record is a token, then for each source of the token a `u16 off` (little endian), then the bytes
//! of all rows that no source covers, ascending. A source is found `off` bytes before the token, in
//! the stream itself: usually in the literal record of an earlier cell.
//!
//! | token | meaning |
//! |---|---|
//! | `00` | literal, the clipped cell without gaps |
//! | `40` | one byte follows: the whole cell is that byte |
//! | `c0` | one source: the whole cell |
//! | C = 4: `28 30 38` | two sources of two rows: (0, 1), (0, 2) or (0, 3), and the other two |
//! | C = 4: `80 88 90 98 b0 b8` | one source: rows (2, 3), (0, 1), (0, 2), (0, 3), (1, 2), (1, 3) |
//! | C = 4: `e0 e8 f0 f8` | one source: rows (1, 2, 3), (0, 1, 2), (0, 1, 3), (0, 2, 3) |
//! | C = 8: `88 + i` | one source: rows i and i + 1 |
//! | C = 8: `a8 + i` | one source: rows i to i + 2 |
//!
//! With C = 4 the low three bits of a token with sources do not count.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub(crate) use decode::decompress;
pub(crate) use encode::compress;

/// Bytes before the first record.
const HEADER: usize = 9;

/// The widest cell has 64 bytes.
const MAX_CELL: usize = 64;

const LITERAL: u8 = 0x00;
const UNIFORM: u8 = 0x40;
const WHOLE: u8 = 0xc0;

/// Tokens of 4 x 4 cells with one source of two rows.
const PAIRS: [(u8, [usize; 2]); 6] = [
    (0x88, [0, 1]),
    (0x90, [0, 2]),
    (0x98, [0, 3]),
    (0xb0, [1, 2]),
    (0xb8, [1, 3]),
    (0x80, [2, 3]),
];

/// Tokens of 4 x 4 cells with one source of three rows.
const TRIPLES: [(u8, [usize; 3]); 4] =
    [(0xe0, [1, 2, 3]), (0xe8, [0, 1, 2]), (0xf0, [0, 1, 3]), (0xf8, [0, 2, 3])];

/// Tokens of 4 x 4 cells with two sources of two rows.
const TWO_PAIRS: [(u8, [usize; 2], [usize; 2]); 3] =
    [(0x28, [0, 1], [2, 3]), (0x30, [0, 2], [1, 3]), (0x38, [0, 3], [1, 2])];

/// Tokens of 8 x 8 cells: the number of the first row is added to these.
const PAIR_OF_8: u8 = 0x88;
const TRIPLE_OF_8: u8 = 0xa8;

/// A plane of bytes, cut into cells.
#[derive(Clone, Copy)]
struct Grid {
    rows: usize,
    columns: usize,
    cell: usize,
}

/// The part of the plane that one cell covers.
struct Cell {
    row: usize,
    column: usize,
    height: usize,
    width: usize,
}

impl Grid {
    /// All cells in the order of their records.
    fn cells(self) -> impl Iterator<Item = Cell> {
        let Self { rows, columns, cell } = self;
        // A plane without columns has no cells, however many rows it claims.
        let rows = if columns == 0 { 0 } else { rows };
        (0..rows).step_by(cell).flat_map(move |row| {
            (0..columns).step_by(cell).map(move |column| Cell {
                row,
                column,
                height: cell.min(rows - row),
                width: cell.min(columns - column),
            })
        })
    }

    /// Where line `line` of a cell begins in the plane.
    fn position(self, cell: &Cell, line: usize) -> usize {
        (cell.row + line) * self.columns + cell.column
    }
}
