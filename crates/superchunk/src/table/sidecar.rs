//! The bounds of the chunks of a column, in a file of their own.
//!
//! ```text
//!  0  magic       "b2bounds"                                          all numbers little endian
//!  8  version     u32 = 1
//! 12  kind        u32: 0 integers, 1 floats
//! 16  chunk rows  u64
//! 24  entries     u64
//! 32  entry       72 bytes each, by chunk
//!       0  state  u64: 0 nothing known, 1 a range, 2 only nulls
//!       8  length u64 of the compressed chunk      ┐ what the entry
//!      16  hash   u64, XXH3-64 of its bytes        │ is about
//!      24  rows   u64 of the chunk                 ┘
//!      32  nulls  u64
//!      40  min    i128, or the bits of a float
//!      56  max    the same
//! end  seal       u64, XXH3-64 of everything before
//! ```
//!
//! An entry holds for the chunk that has just these bytes and rows, whoever wrote it. A program that
//! does not know this file changes chunks without changing it; then lengths or hashes differ, and the
//! entry says nothing. So the file can be out of date, but never wrong.

use twox_hash::XxHash3_64;

use super::bounds::{BoundRange, Bounds};
use crate::error::{Error, MustGet, Result};
use crate::limits::Limits;
use crate::wire::Reader;

const MAGIC: &[u8; 8] = b"b2bounds";
const VERSION: i32 = 1;
const HEADER: usize = 32;
const ENTRY: usize = 72;
const SEAL: usize = 8;

const UNKNOWN: i64 = 0;
const RANGE: i64 = 1;
const NULLS: i64 = 2;

/// Which bytes a chunk has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkToken {
    /// The compressed length.
    pub len: u64,
    /// The XXH3-64 of the compressed bytes.
    pub hash: u64,
}

impl ChunkToken {
    /// The token of a compressed chunk.
    #[must_use]
    pub fn of(chunk: &[u8]) -> Self {
        Self { len: chunk.len() as u64, hash: XxHash3_64::oneshot(chunk) }
    }
}

/// The bounds of the chunks of a column, each with the chunk it is about.
///
/// ```
/// use superchunk::table::{Bounds, BoundsFile, ChunkToken};
/// use superchunk::{DType, Limits};
///
/// let dtype = DType::of::<u8>();
/// let mut file = BoundsFile::new(3);
/// let bounds = Bounds::of_values(&dtype, &[4, 9, 6]).unwrap();
/// file.set(0, ChunkToken::of(b"compressed"), 3, bounds);
///
/// let file = BoundsFile::parse(&file.to_bytes(), &Limits::default())?;
/// assert_eq!(file.get(0, ChunkToken::of(b"compressed"), 3), Some(bounds));
/// assert_eq!(file.get(0, ChunkToken::of(b"another"), 3), None);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundsFile {
    chunk_rows: u64,
    entries: Vec<Option<Entry>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    token: ChunkToken,
    rows: u64,
    bounds: Bounds,
}

impl BoundsFile {
    /// Bounds of nothing yet, for a column with so many rows a chunk.
    #[must_use]
    pub fn new(chunk_rows: u64) -> Self {
        Self { chunk_rows, entries: Vec::new() }
    }

    /// How many rows a chunk has.
    #[must_use]
    pub fn chunk_rows(&self) -> u64 {
        self.chunk_rows
    }

    /// How many chunks it has entries for, empty ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bounds of a chunk, if they are known for a chunk of just these bytes and rows.
    #[must_use]
    pub fn get(&self, chunk: usize, token: ChunkToken, rows: u64) -> Option<Bounds> {
        let entry = (*self.entries.get(chunk)?)?;
        (entry.token == token && entry.rows == rows).then_some(entry.bounds)
    }

    /// Remembers the bounds of a chunk.
    pub fn set(&mut self, chunk: usize, token: ChunkToken, rows: u64, bounds: Bounds) {
        let entry = Some(Entry { token, rows, bounds });
        match self.entries.get_mut(chunk) {
            Some(place) => *place = entry,
            None => {
                self.entries.resize(chunk, None);
                self.entries.push(entry);
            }
        }
    }

    /// Forgets the chunks from this one on.
    pub fn truncate(&mut self, chunks: usize) {
        self.entries.truncate(chunks);
    }

    /// Reads the file. One that is damaged or of a later version is refused; whoever wants the bounds
    /// then does without.
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self> {
        limits.check_metadata("file of bounds", bytes.len() as u64)?;
        let mut reader = Reader::new("bounds", bytes);
        if reader.take("magic", MAGIC.len())? != MAGIC {
            return Err(Error::corrupt("no file of bounds").at("bounds", "magic", 0));
        }
        let version = reader.i32("version")?;
        if version != VERSION {
            return Err(Error::unsupported(format!("version {version}, known is {VERSION}"))
                .at("bounds", "version", 8));
        }
        let kind = reader.i32("kind")?;
        let chunk_rows = reader.i64("chunk rows")?.cast_unsigned();
        let count = reader.i64("entries")?.cast_unsigned();
        let expected = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(ENTRY)?.checked_add(HEADER + SEAL));
        if expected != Some(bytes.len()) {
            let sentence = format!("{count} entries do not make {} bytes", bytes.len());
            return Err(Error::corrupt(sentence).at("bounds", "entries", 24));
        }
        let (content, seal) = bytes.must_split_at(bytes.len() - SEAL)?;
        if XxHash3_64::oneshot(content).to_le_bytes() != seal {
            return Err(Error::corrupt("the checksum is wrong").at(
                "bounds",
                "seal",
                content.len(),
            ));
        }
        let entries = (0..count).map(|_| Entry::parse(&mut reader, kind));
        Ok(Self { chunk_rows, entries: entries.collect::<Result<_>>()? })
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let floats = self
            .entries
            .iter()
            .flatten()
            .any(|entry| matches!(entry.bounds.range, Some(BoundRange::Float { .. })));
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&i32::from(floats).to_le_bytes());
        bytes.extend_from_slice(&self.chunk_rows.to_le_bytes());
        bytes.extend_from_slice(&(self.entries.len() as u64).to_le_bytes());
        for entry in &self.entries {
            match entry {
                Some(entry) => entry.write(&mut bytes),
                None => bytes.resize(bytes.len() + ENTRY, 0),
            }
        }
        let seal = XxHash3_64::oneshot(&bytes);
        bytes.extend_from_slice(&seal.to_le_bytes());
        bytes
    }
}

impl Entry {
    fn parse(reader: &mut Reader<'_>, kind: i32) -> Result<Option<Self>> {
        let at = reader.position();
        let state = reader.i64("state")?;
        let len = reader.i64("length")?.cast_unsigned();
        let hash = reader.i64("hash")?.cast_unsigned();
        let rows = reader.i64("rows")?.cast_unsigned();
        let nulls = reader.i64("nulls")?.cast_unsigned();
        let (min, max) = (reader.array::<16>("min")?, reader.array::<16>("max")?);
        let range = match (state, kind) {
            (UNKNOWN, _) => return Ok(None),
            (NULLS, _) => None,
            (RANGE, 0) => {
                let (min, max) = (i128::from_le_bytes(min), i128::from_le_bytes(max));
                (min <= max)
                    .then_some(Some(BoundRange::Int { min, max }))
                    .ok_or_else(|| upside(at))?
            }
            (RANGE, 1) => {
                let (min, max) = (float(min), float(max));
                (min <= max)
                    .then_some(Some(BoundRange::Float { min, max }))
                    .ok_or_else(|| upside(at))?
            }
            _ => return Err(Error::corrupt("no such state").at("bounds", "state", at)),
        };
        let bounds = Bounds { range, nulls };
        Ok(Some(Self { token: ChunkToken { len, hash }, rows, bounds }))
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let (state, min, max) = match self.bounds.range {
            None => (NULLS, [0; 16], [0; 16]),
            Some(BoundRange::Int { min, max }) => (RANGE, min.to_le_bytes(), max.to_le_bytes()),
            Some(BoundRange::Float { min, max }) => (RANGE, bits(min), bits(max)),
        };
        bytes.extend_from_slice(&state.to_le_bytes());
        for number in [self.token.len, self.token.hash, self.rows, self.bounds.nulls] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&min);
        bytes.extend_from_slice(&max);
    }
}

fn upside(at: usize) -> Error {
    Error::corrupt("the least value is above the greatest").at("bounds", "min", at + 40)
}

fn bits(value: f64) -> [u8; 16] {
    u128::from(value.to_bits()).to_le_bytes()
}

fn float(bytes: [u8; 16]) -> f64 {
    let bits = u128::from_le_bytes(bytes) & u128::from(u64::MAX);
    f64::from_bits(u64::try_from(bits).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn sample(floats: bool) -> BoundsFile {
        let mut file = BoundsFile::new(1000);
        let range = match floats {
            true => BoundRange::Float { min: -1.5, max: f64::INFINITY },
            false => BoundRange::Int { min: i64::MIN.into(), max: u64::MAX.into() },
        };
        file.set(0, ChunkToken::of(b"one"), 1000, Bounds { range: Some(range), nulls: 3 });
        file.set(2, ChunkToken::of(b"two"), 7, Bounds { range: None, nulls: 7 });
        file
    }

    #[test]
    fn what_is_written_is_read() {
        for floats in [false, true] {
            let file = sample(floats);
            let bytes = file.to_bytes();
            assert_eq!(bytes.len(), HEADER + 3 * ENTRY + SEAL);
            let read = BoundsFile::parse(&bytes, &Limits::default()).unwrap();
            assert_eq!(read, file);
            assert_eq!(read.get(0, ChunkToken::of(b"one"), 1000).unwrap().nulls, 3);
            assert_eq!(read.get(0, ChunkToken::of(b"one"), 999), None);
            assert_eq!(read.get(0, ChunkToken::of(b"eno"), 1000), None);
            assert_eq!(read.get(1, ChunkToken::of(b"one"), 1000), None);
            assert_eq!(read.get(9, ChunkToken::of(b"one"), 1000), None);
        }
        let mut short = sample(false);
        short.truncate(1);
        assert_eq!((short.len(), short.is_empty(), short.chunk_rows()), (1, false, 1000));
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = sample(true).to_bytes();
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                assert!(BoundsFile::parse(&damaged, &Limits::default()).is_err(), "{place} {bit}");
            }
            assert!(BoundsFile::parse(&bytes[..place], &Limits::default()).is_err(), "{place}");
        }
        let mut later = bytes.clone();
        later[8] = 2;
        let error = BoundsFile::parse(&later, &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let small = Limits::default().with_max_metadata(100);
        assert_eq!(BoundsFile::parse(&bytes, &small).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn a_sealed_lie_is_refused() {
        let mut bytes = sample(false).to_bytes();
        bytes.truncate(bytes.len() - SEAL);
        // The least value of the first entry above the greatest.
        bytes[HEADER + 40 + 15] = 0x7f;
        let seal = XxHash3_64::oneshot(&bytes);
        bytes.extend_from_slice(&seal.to_le_bytes());
        let error = BoundsFile::parse(&bytes, &Limits::default()).unwrap_err();
        assert!(error.to_string().contains("above the greatest"));
    }
}
