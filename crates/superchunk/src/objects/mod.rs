//! Many small objects (texts, bytes, values) in one frame, packed in batches.
//!
//! A chunk for each object costs 40 to 100 bytes an object. Here a chunk holds many objects in a few
//! variable-length blocks, each a MessagePack list; to read one object, one block is decoded. It is the
//! layout of python-blosc2's `BatchArray`, which reads what is written here, and is read. A second
//! packing of blocks has shorter lengths.
//!
//! ```text
//! frame   metalayer batcharray {items_per_block: n}      chunk   chunk   chunk   batch lengths
//!                                                          │
//! chunk   header   starts   block   block   block   short block
//!                             │
//! block   [object, object, …]          n objects in every block but the last of a chunk
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `packing` | the two ways of writing the objects of a block |
//! | `list` | encoded objects in a row: a block, or objects that wait for one |
//! | `meta` | what a store says of itself |
//! | `cache` | blocks that were just decoded |
//! | `read` | from the number of an object to its bytes |
//! | `write`, `edit` | new objects into blocks and chunks; changes |
//! | `options` | what a caller can choose |
//!
//! The format is described in `docs/formats/objects.md`.

mod cache;
mod edit;
mod list;
mod meta;
mod options;
mod packing;
mod read;
mod write;

pub use options::{ObjectKind, ObjectsOptions};
pub use packing::ObjectPacking;

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use crate::detect::other_content;
use crate::error::{Error, Result};
use crate::place::{Access, Place};
use crate::schunk::{
    FrameOptions, OpenOptions, SuperChunk, Verification, forwards_attributes, opens,
};
use crate::store::Dir;
use cache::Cache;
use list::List;

/// An ordered list of texts, bytes or values of any length, compressed in batches.
///
/// ```
/// use superchunk::{Objects, ObjectsOptions};
/// # let folder = std::env::temp_dir().join(format!("superchunk-objects-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("names.b2b");
///
/// let mut names = Objects::create(&path, &ObjectsOptions::texts())?;
/// names.extend((0..10_000).map(|number| format!("name {number}")))?;
/// names.append_text("")?;
/// names.close()?;
///
/// let names = Objects::open(&path)?;
/// assert_eq!(names.len(), 10_001);
/// assert_eq!(names.text(5_000)?, "name 5000"); // one block is decoded
/// let some = names.texts(9_999..10_001)?.collect::<superchunk::Result<Vec<_>>>()?;
/// assert_eq!(some, ["name 9999", ""]);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// In Python, `blosc2.open(path).items[5000]` reads the same.
///
/// Many threads may read at once. Changes are seen by this handle at once, and by everyone else
/// after [`Objects::commit`] or [`Objects::close`]; a handle that is dropped discards what was not
/// committed. Appending is quick; a change within the list compresses one chunk anew.
pub struct Objects {
    frame: SuperChunk,
    kind: ObjectKind,
    packing: ObjectPacking,
    /// How many objects every block but the last of its chunk has; `None` if nobody says so.
    items_per_block: Option<usize>,
    /// Whether that number may still be chosen, while there are no chunks.
    choosing: bool,
    /// The number of the first object of each chunk, and of the first that is pending.
    starts: Vec<u64>,
    /// Objects at the end that are in no chunk yet.
    pending: List,
    /// Whether the pending objects begin with those of the last chunk, which `starts` leaves out.
    taken_back: bool,
    block_len: usize,
    /// Whether a change has begun that is not committed.
    begun: bool,
    cache: Cache,
}

impl Objects {
    /// A new store at `path`, where nothing may be yet.
    #[cfg(any(unix, windows))]
    pub fn create(path: impl AsRef<Path>, options: &ObjectsOptions) -> Result<Self> {
        Self::created(SuperChunk::create(path, &frame_of(options)?)?, options)
    }

    /// A new store in any folder: a contiguous frame of this name, or a sparse frame if there is
    /// none.
    pub fn create_in_dir(
        dir: Arc<dyn Dir>,
        name: Option<&str>,
        options: &ObjectsOptions,
    ) -> Result<Self> {
        let frame = frame_of(options)?;
        Self::created(SuperChunk::create_in_dir(dir, name, &frame)?, options)
    }

    /// A new store in memory.
    pub fn in_memory(options: &ObjectsOptions) -> Result<Self> {
        Self::created(SuperChunk::in_memory(&frame_of(options)?)?, options)
    }

    pub(crate) fn opened(place: &Place<'_>, options: &OpenOptions, access: Access) -> Result<Self> {
        Self::from_superchunk(SuperChunk::opened(place, options, access)?)
    }

    /// Whether a super-chunk holds objects: whether it has a metalayer that says so.
    #[must_use]
    pub fn are_in(frame: &SuperChunk) -> bool {
        meta::packing_of(frame).is_some()
    }

    /// The store that a super-chunk holds.
    ///
    /// Where the file does not say how many objects each chunk has, the chunks are asked.
    pub fn from_superchunk(frame: SuperChunk) -> Result<Self> {
        let mut this = Self::over(frame, ObjectsOptions::new(ObjectKind::Values).block_len);
        this.reload()?;
        Ok(this)
    }

    fn created(frame: SuperChunk, options: &ObjectsOptions) -> Result<Self> {
        let mut this = Self::over(frame, options.block_len.max(1));
        this.reload()?;
        this.choosing = true;
        Ok(this)
    }

    fn over(frame: SuperChunk, block_len: usize) -> Self {
        Self {
            frame,
            kind: ObjectKind::Values,
            packing: ObjectPacking::Msgpack,
            items_per_block: None,
            choosing: false,
            starts: vec![0],
            pending: List::new(),
            taken_back: false,
            block_len,
            begun: false,
            cache: Cache::default(),
        }
    }

    /// Takes over what the frame says.
    fn reload(&mut self) -> Result<()> {
        self.packing = meta::packing_of(&self.frame).ok_or_else(|| {
            let frame = &self.frame;
            other_content("objects", |name| frame.metalayer(name).is_some()).within(frame.name())
        })?;
        let layer = self.frame.metalayer(meta::layer_name(self.packing)).unwrap_or_default();
        self.items_per_block = meta::parse_layer(self.packing, layer)?;
        self.choosing = self.items_per_block.is_none();
        self.kind = match meta::parse_kind(self.frame.metalayer(meta::KIND_LAYER)) {
            // Nothing in such a block tells what its objects are.
            ObjectKind::Values if self.packing == ObjectPacking::Lengths => ObjectKind::Bytes,
            kind => kind,
        };
        self.starts = self.stored_starts()?;
        self.cache.clear();
        Ok(())
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.stored_count() + self.pending.len() as u64
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the objects are. Stores that do not say so hold values of any kind.
    #[must_use]
    pub fn kind(&self) -> ObjectKind {
        self.kind
    }

    /// How the objects of a block are written.
    #[must_use]
    pub fn packing(&self) -> ObjectPacking {
        self.packing
    }

    /// How many objects every block but the last of its chunk has, if the store says so.
    #[must_use]
    pub fn items_per_block(&self) -> Option<usize> {
        self.items_per_block
    }

    /// The super-chunk that holds the objects, without those that were not committed yet.
    #[must_use]
    pub fn superchunk(&self) -> &SuperChunk {
        &self.frame
    }

    /// Makes all changes durable, in one step: after a crash at any moment the file has either the
    /// old state or the new one.
    pub fn commit(&mut self) -> Result<()> {
        self.settle()?;
        self.frame.commit()?;
        self.begun = false;
        Ok(())
    }

    /// Commits and removes what only an open store needs. What was not committed when a store is
    /// dropped is discarded.
    pub fn close(mut self) -> Result<()> {
        self.settle()?;
        self.frame.finish()
    }

    /// All objects as a contiguous frame.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        self.settle()?;
        self.frame.to_bytes()
    }

    /// Commits, and rewrites the storage without dead space.
    pub fn compact(&mut self) -> Result<()> {
        self.commit()?;
        self.frame.compact()
    }

    /// Looks whether another program has changed the store, and follows; returns whether it has.
    /// Changes of this handle that are not committed stop it.
    pub fn refresh(&mut self) -> Result<bool> {
        if self.begun {
            return Err(Error::invalid("commit the changes first"));
        }
        let changed = self.frame.refresh()?;
        if changed {
            self.reload()?;
        }
        Ok(changed)
    }

    /// Decodes every chunk, compares checksums where there are any, and counts the objects.
    pub fn verify(&self) -> Result<Verification> {
        let mut report = self.frame.verify()?;
        for number in 0..self.starts.len() - 1 {
            let is_known = report.damaged.iter().any(|(damaged, _)| *damaged == number);
            if let Err(error) = self.count_chunk(number)
                && !is_known
            {
                report.damaged.push((number, error));
            }
        }
        Ok(report)
    }

    /// Whether an attribute belongs to the format.
    fn is_internal(name: &str) -> bool {
        name == meta::LENGTHS
    }

    fn stored_count(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }
}

opens!(Objects: file or folder);
forwards_attributes!(Objects, frame);

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects")
            .field("len", &self.len())
            .field("kind", &self.kind)
            .field("items_per_block", &self.items_per_block)
            .field("frame", &self.frame)
            .finish_non_exhaustive()
    }
}

/// The frame of a new store.
fn frame_of(options: &ObjectsOptions) -> Result<FrameOptions> {
    let packing = options.packing;
    if packing == ObjectPacking::Lengths && options.kind == ObjectKind::Values {
        let words =
            "values of any kind need ObjectPacking::Msgpack: a length does not tell what they are";
        return Err(Error::invalid(words));
    }
    let mut frame = options.frame.clone().with_variable_chunks();
    frame.compress.item_size = 1;
    frame.chunk_size = None;
    Ok(frame
        .with_metalayer(meta::layer_name(packing), meta::write_layer(packing, write::FIRST_GUESS)?)
        .with_metalayer(meta::KIND_LAYER, meta::write_kind(options.kind)?))
}
