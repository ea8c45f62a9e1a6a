//! Bloscpack files: bytes, NumPy arrays, or objects of any length, in chunks with digests.
//!
//! ```
//! use superchunk::bloscpack::{Checksum, Pack, PackOptions};
//! # let folder = std::env::temp_dir().join(format!("superchunk-doc-pack-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let path = folder.join("numbers.blp");
//!
//! let options = PackOptions::new().with_checksum(Checksum::Sha256);
//! let mut pack = Pack::create(&path, &options)?;
//! pack.append(&[7; 100_000])?;
//! pack.commit()?; // bloscpack itself reads and appends to the file
//!
//! let pack = Pack::open(&path)?;
//! let mut some = [0; 3];
//! pack.superchunk()?.read_bytes(50_000..50_003, &mut some)?; // the digest of that chunk was compared
//! assert_eq!(some, [7; 3]);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), superchunk::Error>(())
//! ```
//!
//! Versions 1, 2, 3 and the variable-length proposal (4) are read; 3 and 4 are written. The format is
//! described in `docs/formats/bloscpack.md`.

mod array;
mod objects;
mod options;
mod reader;
mod stream;

pub use crate::dtype::ItemOrder;
pub use crate::pack::{Checksum, MetadataHeader, MetadataOptions, PackHeader};
pub use array::PackArray;
pub use options::PackOptions;
pub use stream::PackStream;

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::container::{ChunkSize, Contents, Params, Rules};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::pack::{Packed, State};
use crate::schunk::SuperChunk;
#[cfg(any(unix, windows))]
use crate::store::Folder;
use crate::store::{Dir, Home, MemoryFolder};
use crate::wire::json::Json;
use objects::Lazy;

/// A Bloscpack file.
///
/// Its bytes are a [`SuperChunk`]: [`Pack::superchunk`] reads any range of them. Digests are compared
/// with every read, unless [`OpenOptions::with_unchecked_digests`](crate::OpenOptions) says otherwise.
pub struct Pack {
    /// What the header said when it was opened or made.
    header: PackHeader,
    meta_header: Option<MetadataHeader>,
    metadata: Option<Json>,
    array: Option<PackArray>,
    recovered: bool,
    data: OnceLock<SuperChunk>,
    /// Objects that can be read before the length of all of them is known.
    lazy: Option<Lazy>,
    /// What the writer knows.
    state: Option<Arc<Mutex<State>>>,
    /// Where the file is, if it was made in memory.
    memory: Option<MemoryFolder>,
}

impl Pack {
    /// A new file at `path`, where nothing may be yet. Nobody takes it for a Bloscpack file before the
    /// first commit.
    #[cfg(any(unix, windows))]
    pub fn create(path: impl AsRef<Path>, options: &PackOptions) -> Result<Self> {
        let path = path.as_ref();
        let (dir, name) = Folder::parent_of(path)?;
        Self::create_at(Arc::new(dir), &name, options, path.display().to_string())
    }

    /// A new file in any folder.
    pub fn create_in_dir(dir: Arc<dyn Dir>, name: &str, options: &PackOptions) -> Result<Self> {
        Self::create_at(dir, name, options, name.to_owned())
    }

    fn create_at(
        dir: Arc<dyn Dir>,
        name: &str,
        options: &PackOptions,
        told: String,
    ) -> Result<Self> {
        let header = options.header()?;
        // Unknown codecs and impossible filters are better refused now than at the first append.
        crate::chunk::Encoder::new(&options.compress)?;
        let array = PackArray::parse(options.metadata.as_ref())?;
        let size = header.chunk_size.map_or(ChunkSize::Variable, ChunkSize::Fixed);
        let check_always = options.checksum != Checksum::None;
        let rules = Rules { cut: header.chunk_size, check_always, ..Rules::blosc1() };
        let params = Params::from_options(&options.compress)?;
        let contents =
            Contents { rules, ..Contents::new(options.compress.item_size, size, params) };
        let expected = options.expected_chunks()?;
        let file = dir.create(name)?;
        file.lock()?;
        let home = Some(Home { dir: dir.clone(), name: name.to_owned() });
        let metadata = options.metadata.clone();
        let layout = Packed::creating(
            file,
            home,
            header.clone(),
            metadata.clone(),
            options.policy(),
            expected,
            told,
        )
        .inspect_err(|_| drop(dir.remove(name)))?;
        let state = layout.state();
        let limits = Limits::default();
        let mut data =
            SuperChunk::over(contents, Box::new(layout), options.compress.clone(), limits, true);
        // A file without bytes is worth a commit, too.
        data.append(&[])?;
        let mut pack = Self {
            header,
            meta_header: None,
            metadata,
            array,
            recovered: false,
            data: OnceLock::from(data),
            lazy: None,
            state,
            memory: None,
        };
        pack.state_array(0)?;
        Ok(pack)
    }

    /// A new file in memory; [`to_bytes`](Self::to_bytes) gives it.
    pub fn in_memory(options: &PackOptions) -> Result<Self> {
        let folder = MemoryFolder::new();
        let pack = Self::create_in_dir(Arc::new(folder.clone()), MEMORY, options)?;
        Ok(Self { memory: Some(folder), ..pack })
    }

    /// Commits, and gives the file that was made [in memory](Self::in_memory).
    ///
    /// # Errors
    ///
    /// `InvalidArgument` if it is elsewhere.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        let folder = self.memory.clone();
        let folder = folder.ok_or_else(|| Error::invalid("this file was not made in memory"))?;
        self.commit()?;
        bytes_of(&folder)
    }

    /// Closes, and gives the file that was made in memory.
    fn into_bytes(self) -> Result<Vec<u8>> {
        let folder = self.memory.clone().unwrap_or_default();
        self.close()?;
        bytes_of(&folder)
    }

    /// What the header says, as of the last commit.
    #[must_use]
    pub fn header(&self) -> PackHeader {
        match &self.state {
            Some(state) => state.lock().unwrap_or_else(PoisonError::into_inner).header.clone(),
            None => self.header.clone(),
        }
    }

    /// How the metadata was stored when the file was opened (version 3).
    #[must_use]
    pub fn metadata_header(&self) -> Option<&MetadataHeader> {
        self.meta_header.as_ref()
    }

    /// What the file says about its data.
    #[must_use]
    pub fn metadata(&self) -> Option<&Json> {
        self.metadata.as_ref()
    }

    /// The array of NumPy that the bytes are, if the metadata says so.
    #[must_use]
    pub fn array(&self) -> Option<&PackArray> {
        self.array.as_ref()
    }

    /// Whether a writer was interrupted before it had listed all positions; nothing is lost.
    #[must_use]
    pub fn is_recovered(&self) -> bool {
        self.recovered
    }

    /// All bytes, as a super-chunk. Of objects this is one behind the other; each is a chunk.
    ///
    /// # Errors
    ///
    /// When the length of objects is asked for the first time, every chunk is, and one of them may be
    /// damaged. In all other cases there is none.
    pub fn superchunk(&self) -> Result<&SuperChunk> {
        match (self.data.get(), &self.lazy) {
            (Some(data), _) => Ok(data),
            (None, Some(lazy)) => {
                let measured = lazy.measure()?;
                Ok(self.data.get_or_init(|| measured))
            }
            (None, None) => Err(Error::invalid("the file is not open")),
        }
    }

    /// All bytes, to be changed; [`Pack::append`] also keeps the metadata of an array right.
    pub fn superchunk_mut(&mut self) -> Result<&mut SuperChunk> {
        self.superchunk()?;
        self.data.get_mut().ok_or_else(|| Error::invalid("the file is not open"))
    }

    /// Appends bytes, any number of them; to an array, whole rows.
    ///
    /// A chunk that is committed is never written again, so that a crash cannot damage it: the first
    /// append after a commit begins a new one, unless the file has a single chunk that is not full.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.header.varlen {
            return Err(Error::invalid("this file holds objects: append each with append_object"));
        }
        let len = self.superchunk()?.byte_len().saturating_add(bytes.len() as u64);
        let grown = match &self.array {
            Some(array) if array.byte_len().is_some_and(|declared| len > declared) => {
                let grown = array.at_len(len).ok_or_else(|| {
                    Error::invalid(format!(
                        "{len} bytes are no array of whole rows like {:?} items of {}",
                        array.shape, array.dtype
                    ))
                })?;
                Some(grown)
            }
            _ => None,
        };
        self.superchunk_mut()?.append(bytes)?;
        self.array = grown.or_else(|| self.array.take());
        self.state_array(len)
    }

    /// Says in the metadata what the first `len` bytes are: an array, or, while it is not complete,
    /// nothing.
    fn state_array(&mut self, len: u64) -> Result<()> {
        let Some((array, json)) = self.array.as_ref().zip(self.metadata.as_mut()) else {
            return Ok(());
        };
        json.set("shape", array.shape_json())?;
        let stated = match array.at_len(len) {
            None => None,
            Some(stated) => {
                let mut json = json.clone();
                json.set("shape", stated.shape_json())?;
                Some(json)
            }
        };
        let Some(state) = &self.state else { return Ok(()) };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.json = stated;
        Ok(())
    }

    /// Says something else about the data, from the next commit on; `None` says nothing.
    pub fn set_metadata(&mut self, metadata: Option<Json>) -> Result<()> {
        let state = self.state.clone().ok_or_else(crate::container::read_only)?;
        let array = PackArray::parse(metadata.as_ref())
            .map_err(|e| e.of_kind(ErrorKind::InvalidArgument))?;
        if let Some(array) = &array {
            let len = self.superchunk()?.byte_len();
            array.check_len(len).map_err(|e| e.of_kind(ErrorKind::InvalidArgument))?;
        }
        // So that there is something to commit.
        self.superchunk_mut()?.append(&[])?;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.json.clone_from(&metadata);
        (self.metadata, self.array) = (metadata, array);
        Ok(())
    }

    /// Makes all changes durable, in one step: after a crash at any moment the file has either the
    /// old state or the new one, for us and for bloscpack.
    pub fn commit(&mut self) -> Result<()> {
        self.superchunk_mut()?.commit()
    }

    /// Commits and closes. What was not committed when it is dropped is discarded.
    pub fn close(mut self) -> Result<()> {
        self.superchunk_mut()?;
        self.data.into_inner().map_or(Ok(()), SuperChunk::close)
    }

    /// A copy in version 3, or of objects in version 4, with the same bytes and metadata: the way to
    /// change files of versions 1 and 2.
    #[cfg(any(unix, windows))]
    pub fn copy_to(&self, path: impl AsRef<Path>, options: &PackOptions) -> Result<Self> {
        let copy = Self::create(path, &self.copy_options(options)?)?;
        copy.filled_from(self)
    }

    /// The same in any folder.
    pub fn copy_to_dir(
        &self,
        dir: Arc<dyn Dir>,
        name: &str,
        options: &PackOptions,
    ) -> Result<Self> {
        let copy = Self::create_in_dir(dir, name, &self.copy_options(options)?)?;
        copy.filled_from(self)
    }

    fn copy_options(&self, options: &PackOptions) -> Result<PackOptions> {
        let mut options = options.clone();
        options.metadata = options.metadata.or_else(|| self.metadata.clone());
        options.varlen = self.header.varlen;
        if !options.varlen {
            options.expected_len = Some(self.superchunk()?.byte_len());
        }
        Ok(options)
    }

    fn filled_from(mut self, other: &Self) -> Result<Self> {
        self.take_from(other)?;
        self.commit()?;
        Ok(self)
    }

    fn take_from(&mut self, other: &Self) -> Result<()> {
        if self.header.varlen {
            for object in other.objects() {
                self.append_object(&object?)?;
            }
            return Ok(());
        }
        for chunk in other.superchunk()?.chunks() {
            self.append(&chunk?)?;
        }
        Ok(())
    }
}

impl PackOptions {
    /// Packs bytes into a file in memory.
    ///
    /// ```
    /// use superchunk::bloscpack::{Pack, PackOptions};
    ///
    /// let file = PackOptions::new().pack(b"some bytes")?;
    /// assert_eq!(Pack::from_bytes(file)?.superchunk()?.to_vec()?, b"some bytes");
    /// # Ok::<(), superchunk::Error>(())
    /// ```
    pub fn pack(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let len = bytes.len() as u64;
        let mut pack = Pack::in_memory(&self.clone().with_expected_len(len))?;
        let array = pack.array.as_ref().map_or(Ok(()), |array| array.check_len(len));
        array.map_err(|error| error.of_kind(ErrorKind::InvalidArgument))?;
        pack.append(bytes)?;
        pack.into_bytes()
    }

    /// Packs objects into a file in memory.
    pub fn pack_objects<B: AsRef<[u8]>>(
        &self,
        objects: impl IntoIterator<Item = B>,
    ) -> Result<Vec<u8>> {
        let mut pack = Pack::in_memory(self)?;
        objects.into_iter().try_for_each(|object| pack.append_object(object.as_ref()))?;
        pack.into_bytes()
    }
}

/// What a file in memory is called.
const MEMORY: &str = "pack";

fn bytes_of(folder: &MemoryFolder) -> Result<Vec<u8>> {
    let store = folder.open(MEMORY)?;
    let mut bytes = vec![0; usize::try_from(store.len()?).unwrap_or(usize::MAX)];
    store.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack")
            .field("header", &self.header())
            .field("metadata", &self.metadata)
            .field("data", &self.data.get())
            .finish_non_exhaustive()
    }
}
