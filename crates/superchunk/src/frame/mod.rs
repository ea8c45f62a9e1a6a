//! Frames: chunks with an index and metadata, in one file or in a folder.
//!
//! A frame is opened without doing input or output: an [`Opener`] asks for byte ranges, and whoever
//! has the bytes, a file, a memory map, an object store or a browser, supplies them. The result is a
//! [`Frame`], which tells where each chunk is. [`SuperChunk`](crate::SuperChunk) does all of that for
//! files and memory.
//!
//! The formats are described in `docs/formats/cframe.md`, `sframe.md` and `metalayers.md`.

mod contiguous;
mod dialect;
mod fingerprint;
mod header;
mod holes;
mod home;
mod index;
mod layers;
mod lock;
mod opener;
mod plan;
pub(crate) mod remains;
mod seal;
mod space;
mod sparse;
mod trailer;
mod version;
mod writer;

pub use dialect::Dialect;
#[cfg(any(unix, windows))]
pub use lock::create_lock_file;
pub use opener::{Frame, Located, Opener, Step};

pub(crate) use contiguous::Contiguous;
pub(crate) use home::Setup;
pub(crate) use plan::Plan;
pub(crate) use sparse::{INDEX, Sparse, chunk_id, chunk_name};

/// How many named values the header may hold, and how many writers put behind the chunks.
pub(crate) const LAYERS: usize = 16;
/// The longest name.
pub(crate) const MAX_NAME: usize = 31;

/// Whether the chunks are in the same file.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Header, chunks, index and trailer in one file.
    Contiguous,
    /// Header, index and trailer in a file, each chunk in a file beside it.
    Sparse,
}

/// When a commit returns.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// When the new state survives a power cut.
    #[default]
    Full,
    /// When it survives the end of the process. Faster; after a power cut the file may be damaged.
    Process,
}

/// Who is kept out during a change.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Locking {
    /// Other writers of this library, from opening to closing, and everyone who uses C-Blosc2's
    /// lock file if that exists. Readers are not kept out: they see the old state or the new one.
    #[default]
    Writers,
    /// The same, and readers take the lock file, too, if it exists.
    Existing,
    /// Everyone who uses C-Blosc2's lock file: readers and writers wait for each other, for the length
    /// of an operation, and a change lasts until its commit. Use it where C-Blosc2 writes too.
    Sidecar,
    /// The same, but who would have to wait gets [`ErrorKind::Locked`](crate::ErrorKind::Locked).
    SidecarNoWait,
}
