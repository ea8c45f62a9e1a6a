//! A superchunk file: some chunks of a column, with an index and room to grow.
//!
//! ```text
//! offset  type
//!   0     4 bytes   "blsk"
//!   4     u8        version: 1
//!   5     3 bytes   reserved: 0
//!   8     u32       typesize: the bytes of an item
//!  12     u32       nchunks
//!  16     i64 ×     where each chunk begins, from the start of the file, ascending
//!         i64 ×     slots for more chunks: -1
//!                   chunk │ reserve │ chunk │ reserve │ …
//! ```
//!
//! All integers are little endian. The place of a chunk goes up to the next one, or to the end of the
//! file.

use crate::error::{Error, OrBug, Result};
use crate::store::ReadAt;
use crate::wire::{self, Reader};

/// The first bytes of a superchunk file.
pub(crate) const MAGIC: &[u8; 4] = b"blsk";
const VERSION: u8 = 1;
/// Where the number of chunks is.
pub(crate) const NCHUNKS: usize = 12;
/// Where the index begins.
pub(crate) const INDEX: usize = 16;
/// The shortest chunk: its header.
const MIN_CHUNK: u64 = 16;
const FORMAT: &str = "blsk";

/// What the head of a superchunk file says, checked against its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) typesize: u32,
    /// Where the chunks begin.
    pub(crate) offsets: Vec<u64>,
    /// How many chunks the index has room for.
    pub(crate) slots: usize,
    /// The length of the file.
    pub(crate) len: u64,
}

impl Index {
    /// Reads the head of a file of which `count` chunks, at least, are expected. Chunks beyond these
    /// are of no interest: the rows of the tree end before them.
    pub(crate) fn read(store: &dyn ReadAt, count: usize) -> Result<Self> {
        let len = store.len()?;
        let mut head = [0; INDEX];
        let found = store.read_at(0, &mut head)?;
        let (typesize, stated) = parse_head(wire::filled(&head, found)?)?;
        // Each chunk takes its entry and its header, so nothing is believed that is not there.
        let room = len.saturating_sub(INDEX as u64) / (8 + MIN_CHUNK);
        if u64::from(stated) > room {
            return Err(Error::truncated(format!("{stated} chunks in a file of {len} bytes"))
                .at(FORMAT, "nchunks", NCHUNKS));
        }
        if usize::try_from(stated).is_ok_and(|stated| stated < count) {
            return Err(Error::corrupt(format!("{stated} chunks, there must be {count}"))
                .at(FORMAT, "nchunks", NCHUNKS));
        }
        let mut bytes = vec![0; 8 * count];
        store.read_exact_at(INDEX as u64, &mut bytes)?;
        let offsets = parse_offsets(&bytes, u64::from(stated), len)?;
        let slots = match offsets.first() {
            Some(first) => count_slots(store, count, *first)?,
            None => 0,
        };
        Ok(Self { typesize, offsets, slots, len })
    }

    /// The head of a file.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(INDEX + 8 * self.slots);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[VERSION, 0, 0, 0]);
        bytes.extend_from_slice(&self.typesize.to_le_bytes());
        bytes.extend_from_slice(&count_bytes(self.offsets.len()));
        for offset in &self.offsets {
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
        bytes.resize(INDEX + 8 * self.slots, 0xff);
        bytes
    }

    /// Where a chunk begins, and how many bytes its place has.
    fn place(&self, slot: usize) -> Option<(u64, u64)> {
        let start = *self.offsets.get(slot)?;
        let end = self.offsets.get(slot + 1).map_or(self.len, |next| *next);
        Some((start, end.saturating_sub(start)))
    }

    /// The same for a chunk that the index was read for.
    pub(crate) fn place_of(&self, slot: usize) -> Result<(u64, u64)> {
        self.place(slot).or_bug("an index has all chunks that it was read for")
    }
}

/// The number of chunks as the header has it. An index of more than 32 bits is never made.
pub(crate) fn count_bytes(count: usize) -> [u8; 4] {
    u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes()
}

/// The type size and the number of chunks.
fn parse_head(bytes: &[u8]) -> Result<(u32, u32)> {
    let mut reader = Reader::new(FORMAT, bytes);
    let magic = reader.array::<4>("magic")?;
    if magic != *MAGIC {
        return Err(Error::corrupt("no superchunk file begins so").at(FORMAT, "magic", 0));
    }
    let version = reader.u8("version")?;
    if version != VERSION {
        return Err(
            Error::unsupported(format!("version {version} is not known")).at(FORMAT, "version", 4)
        );
    }
    reader.take("reserved", 3)?;
    let typesize = u32::from_le_bytes(reader.array("typesize")?);
    Ok((typesize, u32::from_le_bytes(reader.array("nchunks")?)))
}

/// The offsets: ascending, behind the index of `stated` chunks, inside of the file.
fn parse_offsets(bytes: &[u8], stated: u64, len: u64) -> Result<Vec<u64>> {
    let mut least = INDEX as u64 + 8 * stated;
    let mut reader = Reader::new(FORMAT, bytes);
    let mut offsets = Vec::with_capacity(bytes.len() / 8);
    while reader.position() < bytes.len() {
        let at = INDEX + reader.position();
        let offset = u64::from_le_bytes(reader.array("index")?);
        if offset < least {
            return Err(Error::corrupt(format!("a chunk at {offset}, where others are"))
                .at(FORMAT, "index", at));
        }
        if offset > len.saturating_sub(MIN_CHUNK) {
            return Err(Error::truncated(format!("a chunk at {offset}, the file has {len} bytes"))
                .at(FORMAT, "index", at));
        }
        least = offset + MIN_CHUNK;
        offsets.push(offset);
    }
    Ok(offsets)
}

/// How many entries the index has, used ones and free ones.
fn count_slots(store: &dyn ReadAt, used: usize, first: u64) -> Result<usize> {
    let start = INDEX as u64 + 8 * used as u64;
    // A page of free slots is as many as a writer can use before it rewrites the file.
    let len = usize::try_from(first.saturating_sub(start).min(4096)).unwrap_or(0);
    let mut bytes = vec![0; len];
    store.read_exact_at(start, &mut bytes)?;
    let free = bytes.chunks_exact(8).take_while(|entry| entry.iter().all(|byte| *byte == 0xff));
    Ok(used + free.count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::store::Bytes;

    /// The example of the specification: two chunks, the first of 56 bytes.
    const EXAMPLE: [u8; 32] = [
        0x62, 0x6c, 0x73, 0x6b, 1, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0,
        0x58, 0, 0, 0, 0, 0, 0, 0,
    ];

    fn file() -> Vec<u8> {
        let mut file = EXAMPLE.to_vec();
        file.resize(0x58 + 40, 0);
        file
    }

    fn kind(bytes: Vec<u8>, count: usize) -> ErrorKind {
        Index::read(&Bytes::new(bytes), count).unwrap_err().kind()
    }

    #[test]
    fn a_head_is_read_and_written_alike() {
        let index = Index::read(&Bytes::new(file()), 2).unwrap();
        assert_eq!((index.typesize, index.slots), (4, 2));
        assert_eq!(
            (index.place(0), index.place(1), index.place(2)),
            (Some((32, 56)), Some((88, 40)), None)
        );
        assert_eq!(index.write(), EXAMPLE);
        let spare = Index { offsets: vec![200], slots: 4, len: 300, typesize: 8 };
        let mut bytes = spare.write();
        assert_eq!(bytes.len(), 16 + 4 * 8);
        bytes.resize(300, 0);
        assert_eq!(Index::read(&Bytes::new(bytes), 1).unwrap(), spare);
    }

    #[test]
    fn fewer_chunks_than_there_are_may_be_asked_for() {
        let index = Index::read(&Bytes::new(file()), 1).unwrap();
        assert_eq!((index.offsets, index.slots), (vec![32], 1));
    }

    #[test]
    fn a_head_that_lies_is_refused() {
        let with = |at: usize, byte: u8| {
            let mut file = file();
            file[at] = byte;
            file
        };
        assert_eq!(kind(with(0, b'x'), 2), ErrorKind::Corrupt);
        assert_eq!(kind(with(4, 2), 2), ErrorKind::Unsupported);
        assert_eq!(kind(with(12, 1), 2), ErrorKind::Corrupt);
        assert_eq!(kind(with(15, 255), 2), ErrorKind::Truncated);
        assert_eq!(kind(with(16, 31), 2), ErrorKind::Corrupt);
        assert_eq!(kind(with(24, 0x20), 2), ErrorKind::Corrupt);
        assert_eq!(kind(with(24, 0x71), 2), ErrorKind::Truncated);
        assert_eq!(kind(with(31, 0xff), 2), ErrorKind::Truncated);
        for len in 0..32 {
            assert_eq!(kind(file()[..len].to_vec(), 2), ErrorKind::Truncated, "{len}");
        }
    }
}
