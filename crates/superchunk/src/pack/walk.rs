//! Finding the chunks of a file, and how many bytes each of them holds.
//!
//! A chunk tells its own length, so those of versions 1 to 3 are found by walking from one to the next;
//! the offsets must say the same. Objects of any length are found by their offsets alone, because bytes
//! may be left free between them.
//!
//! Of the sizes in a header of version 3 this is expected, if they are known: the first of several
//! chunks has `chunk_size` bytes, the last `last_chunk`, those between them 1 to `chunk_size`. Whoever
//! appends without rewriting the last chunk leaves a short one between others.

use super::Trust;
use super::ahead::Ahead;
use super::header::PackHeader;
use super::offsets::Positions;
use super::start::Start;
use crate::chunk;
use crate::container::{ChunkSize, MAX_CHUNKS};
use crate::error::{Error, Result};
use crate::store::ReadAt;

/// The header of a chunk of Blosc1.
const CHUNK_HEADER: u64 = 16;
/// The version byte of every chunk that such files hold.
const BLOSC1: u8 = 2;

/// The chunks of a file.
#[derive(Clone, Debug)]
pub(crate) struct Chunks {
    /// Where the first one begins.
    pub(crate) base: u64,
    /// Where each of them begins, from `base` on. Chunks without bytes are left out, unless each is an
    /// object.
    pub(crate) slots: Vec<u64>,
    /// How many there are in the file.
    pub(crate) stored: u64,
    /// The bytes that all of them hold.
    pub(crate) nbytes: u64,
    pub(crate) size: ChunkSize,
    /// The bytes that the last one holds.
    pub(crate) last: usize,
    /// Where the last of them and its digest end.
    pub(crate) end: u64,
    /// The bytes of an item, as the first chunk says.
    pub(crate) item_size: usize,
    /// Whether the offsets of an interrupted writer had to be done without.
    pub(crate) recovered: bool,
}

impl Chunks {
    /// Finds the chunks of a file and asks each for its length.
    pub(crate) fn find(store: &dyn ReadAt, start: &Start, trust: &Trust) -> Result<Self> {
        let mut walk = Walk::new(store, start, trust);
        match walk.listed()? {
            Some(positions) => walk.visit(&positions)?,
            None => walk.run()?,
        }
        walk.finish()
    }

    /// Finds the objects of a file by its offsets alone; `None` when they cannot tell.
    pub(crate) fn list(store: &dyn ReadAt, start: &Start, trust: &Trust) -> Result<Option<Self>> {
        let walk = Walk::new(store, start, trust);
        let Some(positions) = walk.listed()? else { return Ok(None) };
        let base = positions.first().map_or(start.table_end, |first| *first);
        Ok(Some(Self {
            base,
            stored: positions.len() as u64,
            slots: positions.into_iter().map(|position| position - base).collect(),
            nbytes: 0,
            size: ChunkSize::Variable,
            last: 0,
            end: start.len,
            item_size: 1,
            recovered: false,
        }))
    }
}

struct Walk<'a> {
    store: &'a dyn ReadAt,
    ahead: Ahead<'a>,
    start: &'a Start,
    trust: &'a Trust,
    position: u64,
    found: Chunks,
    sizes: Sizes,
}

/// What is known of the sizes so far.
#[derive(Default)]
struct Sizes {
    first: Option<usize>,
    /// All but the last have the size of the first.
    uniform: bool,
    last: usize,
}

impl<'a> Walk<'a> {
    fn new(store: &'a dyn ReadAt, start: &'a Start, trust: &'a Trust) -> Self {
        let found = Chunks {
            base: start.table_end,
            slots: Vec::new(),
            stored: 0,
            nbytes: 0,
            size: ChunkSize::Variable,
            last: 0,
            end: start.table_end,
            item_size: 1,
            recovered: false,
        };
        let sizes = Sizes { uniform: true, ..Sizes::default() };
        let position = start.table_end;
        Self { store, ahead: Ahead::new(store), start, trust, position, found, sizes }
    }

    fn header(&self) -> &'a PackHeader {
        &self.start.header
    }

    /// The positions that version 4 lists, unless a writer was interrupted before it knew them.
    fn listed(&self) -> Result<Option<Vec<u64>>> {
        let (header, table) = (self.header(), self.start.table);
        let Some(count) = header.chunk_count.filter(|_| header.offsets && header.is_proposal())
        else {
            return Ok(None);
        };
        self.check_count(count)?;
        self.trust.limits.check_metadata("offsets", count.saturating_mul(8))?;
        let mut positions = Positions::new(self.store, table);
        let mut known = Vec::new();
        let mut least = self.start.table_end;
        for _ in 0..count {
            let Some(position) = positions.next(!self.trust.lenient)? else { continue };
            if position < least || position.saturating_add(CHUNK_HEADER) > self.start.len {
                return Err(Error::corrupt(format!(
                    "a chunk at byte {position} is not between byte {least} and the end of the file"
                ))
                .at("bloscpack", "offsets", usize::try_from(table).unwrap_or(0)));
            }
            least = position + CHUNK_HEADER + header.checksum.len() as u64;
            known.push(position);
        }
        match known.len() as u64 {
            found if found == count => Ok(Some(known)),
            0 => Ok(None),
            _ if self.trust.lenient => Ok(None),
            found => Err(Error::corrupt(format!("{found} of {count} offsets are known")).at(
                "bloscpack",
                "offsets",
                usize::try_from(table).unwrap_or(0),
            )),
        }
    }

    /// Visits chunks whose positions are known.
    fn visit(&mut self, positions: &[u64]) -> Result<()> {
        self.found.base = positions.first().map_or(self.start.table_end, |first| *first);
        for (number, position) in positions.iter().enumerate() {
            self.position = *position;
            let header = self.chunk(number as u64)?;
            if positions.get(number + 1).is_some_and(|next| self.position > *next) {
                return Err(Error::corrupt("the chunk reaches into the one behind it")
                    .at("chunk", "cbytes", 12));
            }
            self.count(number as u64, *position, &header, number + 1 == positions.len())?;
        }
        Ok(())
    }

    /// Walks from chunk to chunk.
    fn run(&mut self) -> Result<()> {
        let strict = !self.trust.lenient;
        let count = self.header().chunk_count;
        count.map_or(Ok(()), |count| self.check_count(count))?;
        let listed = self.header().offsets;
        self.found.recovered = self.header().is_proposal() && listed && count != Some(0);
        let mut positions = Positions::new(self.store, self.start.table);
        let more = |number: u64, position: u64| match count {
            Some(count) => number < count,
            None => position < self.start.len,
        };
        let mut number = 0;
        while more(number, self.position) {
            let position = self.position;
            let stated = if listed { positions.next(strict)? } else { None };
            if strict && stated.is_some_and(|stated| stated != position) {
                return Err(Error::corrupt(format!(
                    "chunk {number} is said to be at byte {}, but is at {position}",
                    stated.unwrap_or(0)
                ))
                .at(
                    "bloscpack",
                    "offsets",
                    usize::try_from(self.start.table + 8 * number).unwrap_or(0),
                ));
            }
            self.found.recovered |= listed && stated.is_none();
            let header = self.chunk(number)?;
            self.count(number, position, &header, !more(number + 1, self.position))?;
            number += 1;
        }
        Ok(())
    }

    /// Reads the header of the chunk at the present position and goes behind its digest.
    fn chunk(&mut self, number: u64) -> Result<chunk::Header> {
        let at = usize::try_from(self.position).unwrap_or(usize::MAX);
        let told = |error: Error| error.moved_by(at).within(format!("chunk {number}"));
        let Some(bytes) = self.ahead.array::<16>(self.position)? else {
            let words = format!("chunk {number} begins at byte {at} of {}", self.start.len);
            return Err(Error::truncated(words).at("bloscpack", "chunk", at));
        };
        if bytes.first() != Some(&BLOSC1) {
            let words = "it is no chunk of Blosc1, and such files hold no others";
            return Err(told(Error::corrupt(words).at("chunk", "version", 0)));
        }
        let header = chunk::Header::parse(&bytes).map_err(told)?;
        let len = header.compressed_len();
        if len > header.byte_len() + bytes.len() {
            let words = format!("{} bytes never take {len}", header.byte_len());
            return Err(told(Error::corrupt(words).at("chunk", "cbytes", 12)));
        }
        let behind = self.position + len as u64;
        let end = behind + self.header().checksum.len() as u64;
        if end > self.start.len {
            let words = format!("it ends at byte {end} of {}", self.start.len);
            return Err(told(Error::truncated(words).at("chunk", "cbytes", 12)));
        }
        if header.byte_len() == 0 && !self.header().varlen && !self.trust.unchecked {
            let mut digest = vec![0; self.header().checksum.len()];
            self.store.read_exact_at(behind, &mut digest)?;
            self.header().checksum.compare(&bytes, &digest).map_err(told)?;
        }
        self.position = end;
        Ok(header)
    }

    /// Notes a chunk, if its size is what the header says.
    fn count(&mut self, number: u64, at: u64, header: &chunk::Header, last: bool) -> Result<()> {
        let len = header.byte_len();
        if !self.trust.lenient {
            self.check_size(number, len, last)?;
        }
        if self.found.slots.len() >= MAX_CHUNKS {
            return Err(Error::limit(format!("a file has at most {MAX_CHUNKS} chunks here")));
        }
        if number == 0 {
            self.found.item_size = header.item_size();
        }
        self.found.stored = number + 1;
        self.found.end = self.position;
        self.found.last = len;
        self.found.nbytes = self.found.nbytes.saturating_add(len as u64);
        if len == 0 && !self.header().varlen {
            return Ok(());
        }
        self.found.slots.push(at - self.found.base);
        // The last chunk was not the last after all.
        let size = *self.sizes.first.get_or_insert(len);
        self.sizes.uniform &= self.found.slots.len() < 2 || self.sizes.last == size;
        self.sizes.last = len;
        Ok(())
    }

    fn check_size(&self, number: u64, len: usize, last: bool) -> Result<()> {
        let header = self.header();
        let (expected, field, at) = match (last, number) {
            (true, _) => (header.last_chunk, "last_chunk", 12),
            (false, _) if header.version == 2 => (header.chunk_size, "chunk_size", 8),
            (false, 0) => (header.chunk_size, "chunk_size", 8),
            (false, _) => {
                (header.chunk_size.map(|size| len.clamp(1, size.max(1))), "chunk_size", 8)
            }
        };
        match expected {
            Some(expected) if expected != len => Err(Error::corrupt(format!(
                "chunk {number} holds {len} bytes, the header says {expected}"
            ))
            .at("bloscpack", field, at)),
            _ => Ok(()),
        }
    }

    fn check_count(&self, count: u64) -> Result<()> {
        if count <= self.start.most_chunks() {
            return Ok(());
        }
        Err(Error::truncated(format!(
            "{count} chunks do not fit the {} bytes there are",
            self.start.len
        ))
        .at("bloscpack", "nchunks", 16))
    }

    fn finish(self) -> Result<Chunks> {
        let Self { mut found, sizes, .. } = self;
        let stated = self.start.header.chunk_size.filter(|size| *size > 0);
        found.size = match (sizes.first, stated) {
            _ if self.start.header.varlen => ChunkSize::Variable,
            (None, Some(size)) => ChunkSize::Fixed(size),
            (None, None) => ChunkSize::Open,
            // One chunk alone may be shorter than those to come.
            (Some(first), Some(size)) if found.slots.len() == 1 && first <= size => {
                ChunkSize::Fixed(size)
            }
            (Some(first), _) if sizes.uniform && sizes.last <= first => ChunkSize::Fixed(first),
            _ => ChunkSize::Variable,
        };
        Ok(found)
    }
}
