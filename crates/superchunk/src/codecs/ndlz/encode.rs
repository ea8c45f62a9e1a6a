//! The NDLZ encoder: of the records that can describe a cell it writes the shortest.
//!
//! Only the literal cells are remembered: the whole cell, and each two or three rows that follow one
//! another, by a hash of their bytes. A candidate is compared with the bytes in the stream before it
//! is used, so the hash decides what is found, never what is written.

use super::{Cell, Grid, HEADER, LITERAL, MAX_CELL, UNIFORM, WHOLE};
use super::{PAIR_OF_8, PAIRS, TRIPLE_OF_8, TRIPLES, TWO_PAIRS};

const TABLE_BITS: u32 = 12;

/// Offsets stay below these: the reference decoder adds 3 or 5 to those of row sources in 16 bits.
const MAX_OFF_CELL: usize = 65_534;
const MAX_OFF_ROWS: usize = 65_532;
const MAX_OFF_TWO_PAIRS: usize = 65_530;

/// Compresses `src`, a plane of `shape` rows and columns, with cells of side `cell` (4 or 8), and
/// returns the length of the stream.
///
/// `None` if the stream does not fit into `dst` or is not shorter than `src`, if `src` has another
/// size than the shape, or if there are no cells of that side.
pub(crate) fn compress(
    cell: usize,
    shape: [usize; 2],
    src: &[u8],
    dst: &mut [u8],
) -> Option<usize> {
    let [rows, columns] = shape;
    if (cell != 4 && cell != 8) || rows.checked_mul(columns) != Some(src.len()) {
        return None;
    }
    let room = dst.len().min(src.len().saturating_sub(1));
    let mut out = Output { dst: dst.get_mut(..room)?, at: 0 };
    out.put(&[2])?;
    out.put(&i32::try_from(rows).ok()?.to_le_bytes())?;
    out.put(&i32::try_from(columns).ok()?.to_le_bytes())?;
    let grid = Grid { rows, columns, cell };
    let mut encoder = Encoder::new(cell, out);
    let mut buffer = [0; MAX_CELL];
    for cell in grid.cells() {
        let len = gather(src, grid, &cell, &mut buffer)?;
        encoder.cell(buffer.get(..len)?)?;
    }
    Some(encoder.out.at)
}

/// Collects the bytes of a cell without gaps; returns how many.
fn gather(src: &[u8], grid: Grid, cell: &Cell, buffer: &mut [u8; MAX_CELL]) -> Option<usize> {
    for (line, room) in buffer.chunks_mut(cell.width).take(cell.height).enumerate() {
        let start = grid.position(cell, line);
        room.copy_from_slice(src.get(start..start + cell.width)?);
    }
    Some(cell.width * cell.height)
}

/// The stream being written.
struct Output<'a> {
    dst: &'a mut [u8],
    at: usize,
}

impl Output<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        self.dst.get_mut(self.at..self.at + bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }
}

struct Encoder<'a> {
    out: Output<'a>,
    side: usize,
    cells: Seen,
    pairs: Seen,
    triples: Seen,
}

impl<'a> Encoder<'a> {
    fn new(side: usize, out: Output<'a>) -> Self {
        let [cells, pairs, triples] = [(); 3].map(|()| Seen::new());
        Self { out, side, cells, pairs, triples }
    }

    /// Writes the record of a cell; clipped cells are always literal.
    fn cell(&mut self, bytes: &[u8]) -> Option<()> {
        if bytes.len() < self.side * self.side {
            return self.literal(bytes);
        }
        let first = *bytes.first()?;
        if bytes.iter().all(|&byte| byte == first) {
            return self.out.put(&[UNIFORM, first]);
        }
        if let Some(off) = self.cells.find(bytes, &self.out, MAX_OFF_CELL) {
            return self.record(WHOLE, &[off], bytes, |_| true);
        }
        let written = if self.side == 4 { self.rows_of_4(bytes)? } else { self.rows_of_8(bytes)? };
        if written {
            return Some(());
        }
        self.remember(bytes);
        self.literal(bytes)
    }

    fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        self.out.put(&[LITERAL])?;
        self.out.put(bytes)
    }

    /// Tries all records of a 4 x 4 cell with row sources; returns whether one was written.
    fn rows_of_4(&mut self, bytes: &[u8]) -> Option<bool> {
        let pair = |rows: &[usize], max| {
            self.pairs.find(Rows::select(bytes, 4, rows)?.bytes(), &self.out, max)
        };
        for (token, first, second) in TWO_PAIRS {
            if let Some(one) = pair(&first, MAX_OFF_TWO_PAIRS)
                && let Some(two) = pair(&second, MAX_OFF_TWO_PAIRS)
            {
                self.record(token, &[one, two], bytes, |_| true)?;
                return Some(true);
            }
        }
        for (token, rows) in TRIPLES {
            let selected = Rows::select(bytes, 4, &rows)?;
            if let Some(off) = self.triples.find(selected.bytes(), &self.out, MAX_OFF_ROWS) {
                self.record(token, &[off], bytes, |row| rows.contains(&row))?;
                return Some(true);
            }
        }
        for (token, rows) in PAIRS {
            if let Some(off) = pair(&rows, MAX_OFF_ROWS) {
                self.record(token, &[off], bytes, |row| rows.contains(&row))?;
                return Some(true);
            }
        }
        Some(false)
    }

    /// Tries all records of an 8 x 8 cell with a row source; returns whether one was written.
    fn rows_of_8(&mut self, bytes: &[u8]) -> Option<bool> {
        for (count, base) in [(3, TRIPLE_OF_8), (2, PAIR_OF_8)] {
            let seen = if count == 3 { &self.triples } else { &self.pairs };
            for (token, (row, rows)) in
                (base..).zip(bytes.windows(count * 8).step_by(8).enumerate())
            {
                if let Some(off) = seen.find(rows, &self.out, MAX_OFF_ROWS) {
                    self.record(token, &[off], bytes, |other| (row..row + count).contains(&other))?;
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Writes a record: the token, its offsets, and the rows that are not covered by a source.
    fn record(
        &mut self,
        token: u8,
        offs: &[u16],
        bytes: &[u8],
        covered: impl Fn(usize) -> bool,
    ) -> Option<()> {
        self.out.put(&[token])?;
        for off in offs {
            self.out.put(&off.to_le_bytes())?;
        }
        for (row, bytes) in bytes.chunks(self.side).enumerate() {
            if !covered(row) {
                self.out.put(bytes)?;
            }
        }
        Some(())
    }

    /// Enters the parts of a cell that is about to be written as a literal.
    fn remember(&mut self, bytes: &[u8]) {
        let start = self.out.at + 1;
        let side = self.side;
        self.cells.insert(bytes, start);
        for (row, rows) in bytes.windows(2 * side).step_by(side).enumerate() {
            self.pairs.insert(rows, start + row * side);
        }
        for (row, rows) in bytes.windows(3 * side).step_by(side).enumerate() {
            self.triples.insert(rows, start + row * side);
        }
    }
}

/// Some rows of a cell, one after the other.
struct Rows {
    buffer: [u8; MAX_CELL],
    len: usize,
}

impl Rows {
    fn select(cell: &[u8], side: usize, rows: &[usize]) -> Option<Self> {
        let mut buffer = [0; MAX_CELL];
        for (row, room) in rows.iter().zip(buffer.chunks_mut(side)) {
            room.copy_from_slice(cell.get(row * side..(row + 1) * side)?);
        }
        Some(Self { buffer, len: rows.len() * side })
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.len).unwrap_or_default()
    }
}

/// Where byte strings of one length were written: the newest position for each hash.
struct Seen(Vec<u32>);

impl Seen {
    fn new() -> Self {
        // No string lies in the header, so position 0 means that there is none.
        const { assert!(HEADER > 0) };
        Self(vec![0; 1 << TABLE_BITS])
    }

    fn insert(&mut self, bytes: &[u8], at: usize) {
        if let (Some(entry), Ok(at)) = (self.0.get_mut(hash(bytes)), u32::try_from(at)) {
            *entry = at;
        }
    }

    /// The offset from the next token to the same bytes, if they are known and at most `max` away.
    fn find(&self, bytes: &[u8], out: &Output<'_>, max: usize) -> Option<u16> {
        let at = usize::try_from(*self.0.get(hash(bytes))?).ok()?;
        let off = out.at.checked_sub(at)?;
        let same = at > 0 && off <= max && out.dst.get(at..at + bytes.len())? == bytes;
        if same { u16::try_from(off).ok() } else { None }
    }
}

/// A hash of a multiple of eight bytes, or of twelve.
fn hash(bytes: &[u8]) -> usize {
    let mix =
        |state: u64, word: u64| (state.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(0, |state, word| mix(state, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    usize::try_from(mix(state, rest) >> (64 - TABLE_BITS)).unwrap_or_default()
}
