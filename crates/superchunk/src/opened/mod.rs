//! One door to every format: [`open`] recognises what is there and opens it as what it is.
//!
//! ```text
//! path, bytes, store or folder ── detect ──┬ frame ── metalayers ──┬ Array
//!                                          │                       ├ Objects
//!                                          │                       └ SuperChunk
//!                                          ├ Chunk, Npy, Pack
//!                                          ├ BcolzArray, BcolzTable
//!                                          ├ BlskArray, BlskTable, Columns
//!                                          └ anything else: an error that says what it is
//! ```
//!
//! | file | what it does |
//! |---|---|
//! //! | `chunk`, `npy` | the two formats that no other module opens |

mod chunk;
mod npy;

use std::fmt;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::Arc;

use crate::bcolz;
#[cfg(feature = "bloscpack")]
use crate::bloscpack::Pack;
use crate::blsk;
#[cfg(any(unix, windows))]
use crate::columns::ColumnFolder;
use crate::detect::{self, Detected, Format, FrameContent};
use crate::error::{Error, Result};
use crate::nd::NdArray;
use crate::objects::Objects;
use crate::place::{Access, Place};
use crate::schunk::{OpenOptions, SuperChunk};
use crate::store::{Bytes, Dir, ReadAt};
pub use chunk::StoredChunk;
pub use npy::NpyFile;

/// Something that was opened, as what it is.
///
/// ```
/// use superchunk::{CompressOptions, FrameOptions, Opened, OpenOptions, SuperChunk};
///
/// let mut readings = SuperChunk::in_memory(&FrameOptions::new(CompressOptions::of::<f32>()))?;
/// readings.append_items(&[20.5f32, 21.0])?;
/// let bytes = readings.to_bytes()?;
///
/// match OpenOptions::new().open_bytes(bytes)? {
///     Opened::SuperChunk(found) => assert_eq!(found.items::<f32>(1..2)?, [21.0]),
///     other => println!("{}: {}", other.format().description(), other.detected().reason),
/// }
/// # Ok::<(), superchunk::Error>(())
/// ```
#[non_exhaustive]
#[derive(Debug)]
pub enum Opened {
    /// A contiguous or sparse frame of bytes.
    SuperChunk(Box<SuperChunk>),
    /// A frame with an N-d array.
    Array(Box<NdArray>),
    /// A frame with texts, bytes or values of any length.
    Objects(Box<Objects>),
    /// One Blosc1 or Blosc2 chunk.
    Chunk(Box<StoredChunk>),
    /// A Bloscpack file: bytes, an array or objects.
    #[cfg(feature = "bloscpack")]
    Pack(Box<Pack>),
    /// An array of bcolz, carray or BLZ.
    BcolzArray(Box<bcolz::Array>),
    /// A table of bcolz, carray or BLZ.
    BcolzTable(Box<bcolz::Table>),
    /// A blsk tree with one column.
    BlskArray(Box<blsk::Array>),
    /// A blsk tree with named columns.
    BlskTable(Box<blsk::Table>),
    /// A folder with an array for each column of a table, and their list.
    #[cfg(any(unix, windows))]
    Columns(Box<ColumnFolder>),
    /// An array as NumPy stores it.
    Npy(Box<NpyFile>),
}

/// Opens a file or folder of any format for reading.
///
/// ```no_run
/// use superchunk::Opened;
///
/// match superchunk::open("measured.b2nd")? {
///     Opened::Array(array) => println!("{} of shape {:?}", array.dtype(), array.shape()),
///     Opened::BcolzTable(table) => println!("{} rows", table.row_count()),
///     other => println!("{}", other.detected().reason),
/// }
/// # Ok::<(), superchunk::Error>(())
/// ```
///
/// # Errors
///
/// `Unsupported` for what is of no known format, and for formats that are known but cannot be opened:
/// a file of a blsk tree without its folder, and the stores of python-blosc2 (`.b2e`, `.b2d`, `.b2z`).
/// The message says what it is.
#[cfg(any(unix, windows))]
pub fn open(path: impl AsRef<Path>) -> Result<Opened> {
    OpenOptions::new().open(path)
}

impl OpenOptions {
    /// Opens a file or folder of any format for reading. See [`superchunk::open`](open).
    #[cfg(any(unix, windows))]
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Opened> {
        self.open_at(&Place::Path(path.as_ref()), Access::Read)
    }

    /// Opens a file or folder of any format for reading and writing. Single chunks and `.npy` files
    /// are not changed in place: they are `Unsupported`.
    #[cfg(any(unix, windows))]
    pub fn edit(&self, path: impl AsRef<Path>) -> Result<Opened> {
        self.open_at(&Place::Path(path.as_ref()), Access::Edit)
    }

    /// Opens what these bytes are, in any format that is a single file.
    pub fn open_bytes(&self, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Opened> {
        self.open_store(Arc::new(Bytes::new(bytes)))
    }

    /// Opens what a store holds, in any format that is a single file.
    pub fn open_store(&self, store: Arc<dyn ReadAt>) -> Result<Opened> {
        self.open_at(&Place::Store(store), Access::Read)
    }

    /// Opens the file or folder called `name` of any folder, or the folder itself if there is no
    /// name, for reading.
    pub fn open_in_dir(&self, dir: Arc<dyn Dir>, name: Option<&str>) -> Result<Opened> {
        self.open_at(&Place::in_dir(dir, name).entered(), Access::Read)
    }

    /// Opens the file or folder called `name` of any folder, or the folder itself if there is no
    /// name, for reading and writing.
    pub fn edit_in_dir(&self, dir: Arc<dyn Dir>, name: Option<&str>) -> Result<Opened> {
        self.open_at(&Place::in_dir(dir, name).entered(), Access::Edit)
    }

    fn open_at(&self, place: &Place<'_>, access: Access) -> Result<Opened> {
        let detected = place.detect(self.offset)?;
        match detected.format {
            Format::Frame | Format::SparseFrame => {
                let frame = SuperChunk::opened(place, self, access)?;
                of_frame(frame).map_err(|error| place.name(error))
            }
            Format::Chunk => {
                place.only_read(access, "decompress it and compress it anew")?;
                StoredChunk::open_store(place.store(0)?, self)
                    .map(|chunk| Opened::Chunk(Box::new(chunk)))
                    .map_err(|error| place.name(error))
            }
            Format::Npy => {
                place.only_read(access, "make an array of it")?;
                NpyFile::open(place.store(self.offset)?, self)
                    .map(|file| Opened::Npy(Box::new(file)))
                    .map_err(|error| place.name(error))
            }
            #[cfg(feature = "bloscpack")]
            Format::Bloscpack => Ok(Opened::Pack(Box::new(Pack::opened(place, self, access)?))),
            Format::BcolzArray => {
                Ok(Opened::BcolzArray(Box::new(bcolz::Array::opened(place, self, access)?)))
            }
            Format::BcolzTable => {
                Ok(Opened::BcolzTable(Box::new(bcolz::Table::opened(place, self, access)?)))
            }
            Format::Blsk => Ok(match blsk::Handle::opened(place, self, access)? {
                blsk::Handle::Array(array) => Opened::BlskArray(Box::new(array)),
                blsk::Handle::Table(table) => Opened::BlskTable(Box::new(table)),
            }),
            #[cfg(any(unix, windows))]
            Format::Columns => {
                Ok(Opened::Columns(Box::new(ColumnFolder::opened(place, self, access)?)))
            }
            _ => Err(place.name(refused(&detected))),
        }
    }
}

/// What a frame holds, by its metalayers.
fn of_frame(frame: SuperChunk) -> Result<Opened> {
    match detect::frame_content(|name| frame.metalayer(name).is_some()) {
        FrameContent::Bytes => Ok(Opened::SuperChunk(Box::new(frame))),
        FrameContent::Array => Ok(Opened::Array(Box::new(NdArray::from_superchunk(frame)?))),
        FrameContent::Objects => Ok(Opened::Objects(Box::new(Objects::from_superchunk(frame)?))),
        FrameContent::Foreign(what) => Err(Error::unsupported(format!(
            "this frame holds {what}, which is not supported yet; SuperChunk opens its chunks"
        ))),
    }
}

/// Says why something that was recognised is not opened.
fn refused(detected: &Detected) -> Error {
    Error::unsupported(match detected.format {
        Format::Raw => format!("this is of no known format: {}", detected.reason),
        #[cfg(not(feature = "bloscpack"))]
        Format::Bloscpack => {
            "this is a Bloscpack file: build with the feature `bloscpack`".to_owned()
        }
        Format::BlskFile => {
            "this is a file of chunks of a blsk tree: open the folder with `meta` and `data`"
                .to_owned()
        }
        format => {
            let what = format.description();
            format!("this is {what}, which is not supported yet: {}", detected.reason)
        }
    })
}

impl Opened {
    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        let of_frame = |frame: &SuperChunk| match frame.is_sparse() {
            true => Format::SparseFrame,
            false => Format::Frame,
        };
        match self {
            Self::SuperChunk(frame) => of_frame(frame),
            Self::Array(array) => of_frame(array.superchunk()),
            Self::Objects(objects) => of_frame(objects.superchunk()),
            Self::Chunk(_) => Format::Chunk,
            #[cfg(feature = "bloscpack")]
            Self::Pack(_) => Format::Bloscpack,
            Self::BcolzArray(_) => Format::BcolzArray,
            Self::BcolzTable(_) => Format::BcolzTable,
            Self::BlskArray(_) | Self::BlskTable(_) => Format::Blsk,
            #[cfg(any(unix, windows))]
            Self::Columns(_) => Format::Columns,
            Self::Npy(_) => Format::Npy,
        }
    }

    /// The format, and how it was recognised.
    #[must_use]
    pub fn detected(&self) -> Detected {
        let detected = Detected::of(self.format());
        match self {
            Self::Array(_) => Detected { reason: "a frame with a metalayer `b2nd`", ..detected },
            Self::Objects(_) => {
                Detected { reason: "a frame with a metalayer of objects in batches", ..detected }
            }
            _ => detected,
        }
    }

    /// The super-chunk behind a frame of bytes, an array or objects.
    #[must_use]
    pub fn superchunk(&self) -> Option<&SuperChunk> {
        match self {
            Self::SuperChunk(frame) => Some(frame),
            Self::Array(array) => Some(array.superchunk()),
            Self::Objects(objects) => Some(objects.superchunk()),
            _ => None,
        }
    }

    /// Commits what was changed, and closes.
    pub fn close(self) -> Result<()> {
        match self {
            Self::SuperChunk(frame) => frame.close(),
            Self::Array(array) => array.close(),
            Self::Objects(objects) => objects.close(),
            #[cfg(feature = "bloscpack")]
            Self::Pack(pack) => pack.close(),
            Self::BcolzArray(array) => array.close(),
            Self::BcolzTable(table) => table.close(),
            Self::BlskArray(array) => array.close(),
            Self::BlskTable(table) => table.close(),
            #[cfg(any(unix, windows))]
            Self::Columns(folder) => folder.close(),
            Self::Chunk(_) | Self::Npy(_) => Ok(()),
        }
    }
}

impl fmt::Display for Opened {
    /// What it is, as in `an array in a contiguous frame`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = match self {
            Self::Array(_) => "an array in ",
            Self::Objects(_) => "objects in ",
            Self::BlskArray(_) => "an array in ",
            Self::BlskTable(_) => "a table in ",
            _ => "",
        };
        write!(f, "{inside}{}", self.format().description())
    }
}
