//! One model for every container: an ordered list of chunks with metadata, and a [`Layout`] that
//! knows where they are kept.
//!
//! [`Contents`] says what a container holds; it is the same for memory, contiguous and sparse frames.
//! A `Layout` turns the slots of its entries into bytes, and new chunks into slots. Nothing above this
//! module asks which layout it has.

mod block_shape;
mod entry;
mod heap;
mod params;
mod rules;
mod suffix;

pub(crate) use entry::{Entry, Run, Slot};
pub(crate) use heap::Heap;
pub(crate) use params::Params;
pub(crate) use rules::Rules;
pub(crate) use suffix::{
    SUFFIX, append_suffix, check_suffix, chunk_hash, compare_hash, stated_hash,
};

use crate::chunk;
use crate::error::{Error, Result};

/// The most chunks that an index can list: it is a chunk of 64-bit entries itself.
pub(crate) const MAX_CHUNKS: usize = i32::MAX as usize / 8;
/// The longest chunk: with its header of 32 bytes it may be stored as it is.
pub(crate) const MAX_CHUNK_SIZE: usize = i32::MAX as usize - 32;

/// What a container holds, wherever it is kept.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub(crate) item_size: usize,
    pub(crate) chunk_size: ChunkSize,
    /// The decoded length of all chunks.
    pub(crate) nbytes: u64,
    pub(crate) entries: Vec<Entry>,
    /// Whether the chunks consist of variable-length blocks.
    pub(crate) vl_blocks: bool,
    /// What the format demands of the chunks.
    pub(crate) rules: Rules,
    /// How new chunks are compressed, as the container states it.
    pub(crate) params: Params,
    /// Whether the chunks that hold metadata are decoded and compared before they are stored, too.
    pub(crate) check: bool,
    /// Small values of fixed length in the header.
    pub(crate) metalayers: Vec<Layer>,
    /// Values of any length behind the chunks, each a chunk itself.
    pub(crate) vlmetalayers: Vec<Layer>,
}

/// The bytes of a file whose chunks need not follow each other.
#[cfg(feature = "bloscpack")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space {
    /// The bytes of chunks, with their digests.
    pub(crate) live: u64,
    /// The bytes that belong to no chunk.
    pub(crate) free: u64,
    /// Those of them that did.
    pub(crate) dead: u64,
}

/// A name with bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

/// How long the chunks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkSize {
    /// The first chunk will tell.
    Open,
    /// All but the last, which may be shorter.
    Fixed(usize),
    /// Each says for itself.
    Variable,
}

impl Contents {
    /// A container without chunks.
    pub(crate) fn new(item_size: usize, chunk_size: ChunkSize, params: Params) -> Self {
        Self {
            item_size,
            chunk_size,
            nbytes: 0,
            entries: Vec::new(),
            vl_blocks: false,
            rules: Rules::default(),
            params,
            check: false,
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
        }
    }

    /// The decoded length of a chunk of a container whose chunks have a fixed size; `None` when the
    /// chunk itself must be asked.
    pub(crate) fn expected_len(&self, number: usize) -> Option<usize> {
        let ChunkSize::Fixed(size) = self.chunk_size else { return None };
        let start = u64::try_from(number).ok()?.checked_mul(u64::try_from(size).ok()?)?;
        let left = self.nbytes.checked_sub(start)?;
        Some(usize::try_from(left).map_or(size, |left| left.min(size)))
    }

    /// The bytes that the run of chunk `number` stands for.
    pub(crate) fn run_len(&self, number: usize) -> Result<usize> {
        self.expected_len(number).ok_or_else(|| {
            Error::corrupt("a run has no length of its own, and the chunks have no fixed size").at(
                "frame",
                "index",
                8 * number,
            )
        })
    }

    /// The chunk that says what the run of chunk `number` says.
    pub(crate) fn run_chunk(&self, number: usize, run: Run) -> Result<Vec<u8>> {
        let len = self.run_len(number)?;
        let whole = len.is_multiple_of(self.item_size);
        match run {
            Run::Zeros => chunk::zeros(if whole { self.item_size } else { 1 }, len),
            Run::Nans => chunk::nans(self.item_size, len),
            Run::Uninitialised => chunk::uninitialised(if whole { self.item_size } else { 1 }, len),
        }
    }
}

/// Where the chunks of a container are kept.
///
/// Reading takes `&self` and any number of threads. A chunk that is put goes where nothing lies that
/// the last commit needs, so that until the next commit, and if it fails, the container is as it was.
pub(crate) trait Layout: Send + Sync {
    /// Reads the chunk of `slot` from its byte `start` on into `dst`, and returns how many bytes
    /// came: fewer where the space that can hold it ends. Bytes behind the chunk may come along.
    fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize>;

    /// Whether small reads cost next to nothing.
    fn is_near(&self) -> bool {
        false
    }

    /// Whether each chunk is a file of a folder that is the frame.
    fn is_sparse_frame(&self) -> bool {
        false
    }

    /// The bytes from the start of the chunk on, where they are in memory.
    fn as_bytes(&self, _slot: u64) -> Option<&[u8]> {
        None
    }

    /// How many bytes the chunk of `slot` and what belongs to it takes at most, as far as can be
    /// told without reading; `next` is the slot of the chunk that follows.
    fn extent(&self, slot: u64, next: Option<u64>) -> Result<u64>;

    /// Checks a whole chunk against its checksum, which `behind`, the bytes that follow the chunk, or
    /// the layout has; `None` when there is none to be trusted.
    fn check(&self, _slot: u64, _chunk: &[u8], _behind: &[u8]) -> Option<Result<()>> {
        None
    }

    /// Where the chunk of `slot` begins in the one file that holds all of them, if it can be told.
    #[cfg(feature = "bloscpack")]
    fn position(&self, _slot: u64) -> Option<u64> {
        None
    }

    /// What the bytes of the file are as of the last commit, where chunks need not follow each
    /// other.
    #[cfg(feature = "bloscpack")]
    fn space(&self, _contents: &Contents) -> Result<Option<Space>> {
        Ok(None)
    }

    /// How many bytes behind a chunk [`check`](Layout::check) wants to see.
    fn behind(&self) -> usize {
        16
    }

    /// Keeps a chunk and returns its slot. The vector may be changed while it is kept.
    fn put(&mut self, _chunk: &mut Vec<u8>) -> Result<u64> {
        Err(read_only())
    }

    /// The same for a chunk that comes behind all others and gets this number, if it stays.
    fn put_behind(&mut self, chunk: &mut Vec<u8>, _number: u64) -> Result<u64> {
        self.put(chunk)
    }

    /// Stores a last chunk of this number that is not full without compressing it, if a commit is cheaper
    /// that way, and returns its slot and its length. All its bytes up to those of the chunk that it was
    /// before, whose slot and length `kept` tells, are unchanged.
    fn put_tail(
        &mut self,
        _bytes: &[u8],
        _number: u64,
        _kept: Option<(u64, usize)>,
        _item_size: usize,
    ) -> Result<Option<(u64, usize)>> {
        Ok(None)
    }

    /// Whether the chunk of this number was stored so by [`put_tail`](Layout::put_tail).
    fn is_loose(&self, _number: u64) -> bool {
        false
    }

    /// Tells what the chunk that was just put holds, for those who want to know.
    fn noted(&self, _slot: u64, _decoded: &[u8], _chunk: &[u8]) {}

    /// Forgets a chunk that no entry points at any more. It stays until it is safe to go.
    fn release(&mut self, _slot: u64, _len: usize) {}

    /// Starts a change: keeps other writers out, and returns what they have changed meanwhile.
    fn begin(&mut self, _contents: &Contents) -> Result<Option<Contents>> {
        Err(read_only())
    }

    /// Makes `contents` the state that everyone sees, durably and in one step. Entries may get new
    /// slots.
    fn commit(&mut self, _contents: &mut Contents) -> Result<()> {
        Err(read_only())
    }

    /// Rewrites the container without dead space; the entries get new slots.
    fn compact(&mut self, contents: &mut Contents) -> Result<()> {
        self.commit(contents)
    }

    /// Tells that the next commit is the last: it keeps others out until the container is closed.
    fn ending(&mut self) {}

    /// Removes what only an open container needs, after the last commit.
    fn close(&mut self, _contents: &mut Contents) -> Result<()> {
        Ok(())
    }

    /// Removes what was written since the last commit.
    fn discard(&mut self) {}

    /// Removes what writers that were stopped have left where the container is kept; returns the
    /// names.
    #[cfg(any(unix, windows))]
    fn remove_leftovers(&mut self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// What another writer has made of the container, if it has changed.
    fn refresh(&mut self) -> Result<Option<Contents>> {
        Ok(None)
    }

    /// Whether checksums cover this container, and hold.
    fn integrity(&self) -> Integrity {
        Integrity::None
    }

    /// The bytes of an index entry, in a format that leaves them open.
    fn index_entry_len(&self) -> Option<usize> {
        None
    }

    /// The bytes of storage in use, dead ones included.
    fn stored_len(&self) -> Result<u64>;

    /// Where it is kept, in words.
    fn name(&self) -> String;
}

/// What is known about the checksums of a container.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integrity {
    /// It is kept without any.
    None,
    /// No fingerprint vouches for it: it never had one, or another program, which resets it, has
    /// changed the container since. Checksums of chunks that are there may be stale.
    Unverified,
    /// Every chunk has a digest, which is compared with every read; nothing vouches for the rest.
    Digests,
    /// Header, index and metadata have the fingerprint they were written with, and the checksums of
    /// chunks are to be trusted.
    Sealed,
}

/// What a layout says that was opened for reading.
pub(crate) fn read_only() -> Error {
    Error::invalid("this super-chunk was opened for reading: open it with SuperChunk::edit")
}
