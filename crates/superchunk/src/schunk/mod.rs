//! The super-chunk: any amount of data as a list of chunks, with metadata.
//!
//! A [`SuperChunk`] lives in memory, in a contiguous frame (one file) or in a sparse frame (a folder).
//! What it holds and how it is used is the same everywhere: many threads may read at once, one writer
//! changes it and [commits](SuperChunk::commit).

mod append;
mod blocks;
mod copy;
mod edit;
mod fetch;
mod meta;
mod open;
mod options;
mod read;
#[cfg(test)]
mod rules_tests;
mod std_io;
mod verify;
mod vl;

pub(crate) use blocks::{Change, Made};
pub use edit::Fill;
pub use options::{FrameOptions, OpenOptions};
pub use std_io::{Appender, ByteReader};
pub(crate) use verify::Depth;
pub use verify::Verification;

use std::sync::OnceLock;

use crate::chunk::Encoder;
use crate::container::{ChunkSize, Contents, Integrity, Layout};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::options::CompressOptions;
use crate::spares::Spares;
use crate::store::Owner;
use fetch::Scratch;

/// Any amount of data as a list of compressed chunks, with metadata.
///
/// ```
/// use superchunk::{CompressOptions, FrameOptions, SuperChunk};
/// # let folder = std::env::temp_dir().join(format!("superchunk-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("numbers.b2frame");
///
/// let mut numbers = SuperChunk::create(&path, &FrameOptions::new(CompressOptions::of::<u32>()))?;
/// numbers.append_items(&(0..1_000_000u32).collect::<Vec<_>>())?;
/// numbers.commit()?; // from here on it survives a power cut
///
/// let some: Vec<u32> = SuperChunk::open(&path)?.items(500_000..500_003)?;
/// assert_eq!(some, [500_000, 500_001, 500_002]);
/// # drop(numbers);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// Changes are seen by this handle at once, and by everyone else after [`SuperChunk::commit`] or
/// [`SuperChunk::close`]; a handle that is dropped discards what was not committed. Until then, and
/// whatever happens, the file has its last committed state.
pub struct SuperChunk {
    /// All chunks but the tail.
    contents: Contents,
    layout: Box<dyn Layout>,
    tail: Tail,
    compress: CompressOptions,
    limits: Limits,
    /// Whether a few items are found by marks.
    marks: bool,
    encoder: Option<Encoder>,
    /// The chunk that is being made.
    buffer: Vec<u8>,
    /// What was changed since the last commit.
    dirty: bool,
    /// Whether it was made or opened for writing, and not closed since.
    writable: bool,
    /// A child process that drops its copy must leave the files alone.
    owner: Owner,
    /// Memory for reading, one for each thread that was ever reading at the same time.
    scratch: Spares<Scratch>,
    /// Where each chunk starts, if their sizes differ; the last number is the end.
    starts: OnceLock<Vec<u64>>,
}

/// The last chunk while it grows: its bytes, not compressed until a commit needs them.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    /// The chunk that holds just these bytes already, and its length.
    stored: Option<(crate::container::Entry, usize)>,
    /// The slot of the chunk that was there before it grew, and how many of these bytes it holds.
    kept: Option<(u64, usize)>,
}

impl SuperChunk {
    fn new(contents: Contents, layout: Box<dyn Layout>, compress: CompressOptions) -> Self {
        Self {
            contents: Contents { check: compress.check, ..contents },
            layout,
            tail: Tail::default(),
            compress,
            limits: Limits::default(),
            marks: false,
            encoder: None,
            buffer: Vec::new(),
            dirty: false,
            writable: false,
            owner: Owner::here(),
            scratch: Spares::default(),
            starts: OnceLock::new(),
        }
    }

    /// A super-chunk whose contents are what `layout` keeps, in whatever format.
    pub(crate) fn over(
        contents: Contents,
        layout: Box<dyn Layout>,
        compress: CompressOptions,
        limits: Limits,
        writable: bool,
    ) -> Self {
        let mut this = Self::new(contents, layout, compress);
        (this.limits, this.writable) = (limits, writable);
        this
    }

    /// What it is called in errors.
    pub(crate) fn name(&self) -> String {
        self.layout.name()
    }

    /// The decoded length in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.contents.nbytes + self.tail.bytes.len() as u64
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of one item.
    #[must_use]
    pub fn item_size(&self) -> usize {
        self.contents.item_size
    }

    /// The number of whole items.
    #[must_use]
    pub fn item_count(&self) -> u64 {
        self.len() / self.contents.item_size.max(1) as u64
    }

    /// The number of chunks.
    #[must_use]
    pub fn chunk_count(&self) -> usize {
        self.contents.entries.len() + usize::from(!self.tail.bytes.is_empty())
    }

    /// The bytes of every chunk but the last; `None` when they differ, or when there is no chunk yet
    /// to tell.
    #[must_use]
    pub fn chunk_size(&self) -> Option<usize> {
        match self.contents.chunk_size {
            ChunkSize::Fixed(size) => Some(size),
            ChunkSize::Open | ChunkSize::Variable => None,
        }
    }

    /// Whether every chunk has a size of its own.
    #[must_use]
    pub fn has_variable_chunks(&self) -> bool {
        self.contents.chunk_size == ChunkSize::Variable
    }

    /// Whether the chunks consist of variable-length blocks.
    #[must_use]
    pub fn has_variable_blocks(&self) -> bool {
        self.contents.vl_blocks
    }

    /// Whether it is a sparse frame: a folder with a file for each chunk.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.layout.is_sparse_frame()
    }

    /// The bytes of storage in use as of the last commit, metadata and dead space included.
    pub fn stored_len(&self) -> Result<u64> {
        self.layout.stored_len()
    }

    /// Whether it was made or opened for writing.
    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    /// How new chunks are compressed.
    #[must_use]
    pub fn options(&self) -> &CompressOptions {
        &self.compress
    }

    /// What is known about checksums.
    #[must_use]
    pub fn integrity(&self) -> Integrity {
        self.layout.integrity()
    }

    /// The bits of an entry of the index: 64, or, in a frame that another program wrote, 32, 128 or
    /// 256 until the first commit. `None` if this is not a frame.
    #[must_use]
    pub fn index_entry_bits(&self) -> Option<usize> {
        self.layout.index_entry_len().map(|len| 8 * len)
    }

    /// Makes all changes durable, in one step: after a crash at any moment the file has either the
    /// old state or the new one.
    pub fn commit(&mut self) -> Result<()> {
        if !self.dirty {
            return Ok(());
        }
        self.store_tail_loosely()?;
        let tail = self.tail.stored;
        if let Some((entry, _)) = tail {
            self.contents.entries.push(entry);
            self.contents.nbytes += self.tail.bytes.len() as u64;
        }
        let committed = self.layout.commit(&mut self.contents);
        if tail.is_some() && committed.is_ok() && self.contents.rules.keep_short {
            self.tail = Tail::default();
            self.starts = OnceLock::new();
        } else if let Some((_, len)) = tail {
            // The commit may have moved it.
            self.tail.stored = self.contents.entries.pop().map(|entry| (entry, len));
            self.contents.nbytes -= self.tail.bytes.len() as u64;
        }
        committed.map_err(|error| error.within(self.layout.name()))?;
        self.dirty = false;
        Ok(())
    }

    /// Commits and removes what only an open super-chunk needs. What was not committed when a
    /// super-chunk is dropped is discarded.
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    /// Rewrites the storage without dead space, and commits. Chunks lose their marks, unless this
    /// handle trusts them ([`OpenOptions::with_marks`]).
    pub fn compact(&mut self) -> Result<()> {
        if !self.marks {
            self.drop_marks()?;
        }
        self.change(|this| {
            this.settle()?;
            this.layout.compact(&mut this.contents)
        })?;
        self.dirty = false;
        Ok(())
    }

    /// Looks whether another program has changed the super-chunk, and follows; returns whether it
    /// has. Changes of this handle that are not committed stop it.
    pub fn refresh(&mut self) -> Result<bool> {
        if self.dirty {
            return Err(Error::invalid("commit the changes first"));
        }
        let found = self.layout.refresh().map_err(|error| error.within(self.layout.name()))?;
        Ok(found.map(|contents| self.adopt(contents)).is_some())
    }

    /// Removes what writers that were stopped have left in the folder of a sparse frame.
    #[cfg(any(unix, windows))]
    pub(crate) fn remove_leftovers(&mut self) -> Result<Vec<String>> {
        self.layout.remove_leftovers()
    }

    /// What it may take.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Bounds what reading may take from now on.
    pub(crate) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn adopt(&mut self, contents: Contents) {
        self.contents = Contents { check: self.compress.check, ..contents };
        self.tail = Tail::default();
        self.starts = OnceLock::new();
    }

    /// Does a change: the lock is taken first, and the derived tables are forgotten.
    fn change<T>(&mut self, change: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let named = |error: Error, this: &Self| error.within(this.layout.name());
        match self.layout.begin(&self.contents) {
            Ok(Some(contents)) => self.adopt(contents),
            Ok(None) => {}
            Err(error) => return Err(named(error, self)),
        }
        self.dirty = true;
        let changed = change(self);
        self.starts = OnceLock::new();
        changed.map_err(|error| named(error, self))
    }

    /// Commits and ends all writing.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.writable) {
            return Ok(());
        }
        self.layout.ending();
        let committed = self.pack_tail().and_then(|()| self.commit()).and_then(|()| self.settle());
        if committed.is_err() {
            self.layout.discard();
        }
        committed?;
        self.layout.close(&mut self.contents).map_err(|error| error.within(self.layout.name()))
    }
}

impl Drop for SuperChunk {
    fn drop(&mut self) {
        if self.writable && self.owner.is_here() {
            self.layout.discard();
        }
    }
}

impl std::fmt::Debug for SuperChunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SuperChunk")
            .field("name", &self.layout.name())
            .field("len", &self.len())
            .field("item_size", &self.item_size())
            .field("chunk_count", &self.chunk_count())
            .finish_non_exhaustive()
    }
}
