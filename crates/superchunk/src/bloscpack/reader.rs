//! How a file is opened, and how far it is believed.

#[cfg(any(unix, windows))]
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::objects::Lazy;
use super::{Pack, PackArray};
use crate::chunk;
use crate::container::ChunkSize;
use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::limits::Limits;
use crate::options::{ChunkFormat, Codec, CompressOptions};
use crate::pack::{CHUNK_SIZE, Chunks, Packed, Start, Trust, contents_of};
use crate::schunk::SuperChunk;
use crate::store::{Dir, Home, ReadAt};
#[cfg(any(unix, windows))]
use crate::store::{FileReader, Folder, resolve};
use crate::wire::json::Json;

/// How to open a Bloscpack file.
///
/// ```
/// use superchunk::bloscpack::{PackOptions, PackReader};
/// use superchunk::{ErrorKind, store::Bytes};
/// use std::sync::Arc;
///
/// let mut file = PackOptions::new().pack(&[7; 1000])?;
/// file[12] ^= 1; // the header lies about the last chunk
/// let store = Arc::new(Bytes::new(file));
/// let refused = PackReader::new().read(store.clone()).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::Corrupt);
/// let pack = PackReader::new().with_lenient(true).read(store)?;
/// assert_eq!(pack.data()?.len(), 1000);
/// # Ok::<(), superchunk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackReader {
    trust: Trust,
    executor: Executor,
    compress: Option<CompressOptions>,
    check: bool,
    reserve: u32,
    wait: Duration,
}

impl Default for PackReader {
    fn default() -> Self {
        let (trust, executor) = (Trust::default(), Executor::inline());
        Self { trust, executor, compress: None, check: false, reserve: 0, wait: Duration::ZERO }
    }
}

impl PackReader {
    /// Everything is checked.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, but where header, offsets or metadata contradict the chunks, the chunks count: that is
    /// how bloscpack itself reads.
    #[must_use]
    pub fn with_lenient(mut self, lenient: bool) -> Self {
        self.trust.lenient = lenient;
        self
    }

    /// The same, but digests are not compared: a part of a chunk can then be read without the rest.
    #[must_use]
    pub fn with_unchecked_digests(mut self, unchecked: bool) -> Self {
        self.trust.unchecked = unchecked;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.trust.limits = limits;
        self
    }

    /// The same with someone else to do the work.
    #[must_use]
    pub fn with_executor(mut self, executor: Executor) -> Self {
        self.executor = executor;
        self
    }

    /// The same, but a writer waits this long for another one.
    #[must_use]
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The same, but what is appended is compressed like this, and not like the first chunk.
    #[must_use]
    pub fn with_compress(mut self, compress: CompressOptions) -> Self {
        self.compress = Some(compress.with_format(ChunkFormat::Blosc1));
        self
    }

    /// The same for a writer that decodes and compares every new chunk, see
    /// [`CompressOptions::with_check`].
    #[must_use]
    pub fn with_check(mut self, check: bool) -> Self {
        self.check = check;
        self
    }

    /// The same, but a writer leaves this much room after each object that it appends, moves or writes
    /// anew, in per cent of the bytes that it takes. Other chunks follow each other.
    #[must_use]
    pub fn with_reserve(mut self, percent: u32) -> Self {
        self.reserve = percent;
        self
    }

    /// Opens a file for reading.
    #[cfg(any(unix, windows))]
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Pack> {
        let path = path.as_ref();
        let store: Arc<dyn ReadAt> = Arc::new(FileReader::open(path)?);
        self.reading(store, &path.display().to_string())
    }

    /// Opens a file for reading and writing.
    #[cfg(any(unix, windows))]
    pub fn edit(&self, path: impl AsRef<Path>) -> Result<Pack> {
        let path = &resolve(path)?;
        let (dir, name) = Folder::parent_of(path)?;
        let home = Home { dir: Arc::new(dir), name };
        self.editing(home, &path.display().to_string())
    }

    /// Reads the file that a store is.
    pub fn read(&self, store: Arc<dyn ReadAt>) -> Result<Pack> {
        self.reading(store, "bloscpack")
    }

    /// Reads a file of any folder.
    pub fn open_in_dir(&self, dir: &dyn Dir, name: &str) -> Result<Pack> {
        self.reading(dir.open(name)?, name)
    }

    /// Edits a file of any folder.
    pub fn edit_in_dir(&self, dir: Arc<dyn Dir>, name: &str) -> Result<Pack> {
        self.editing(Home { dir, name: name.to_owned() }, name)
    }

    fn reading(&self, store: Arc<dyn ReadAt>, name: &str) -> Result<Pack> {
        self.try_reading(store, name).map_err(|error| error.within(name))
    }

    fn try_reading(&self, store: Arc<dyn ReadAt>, name: &str) -> Result<Pack> {
        let trust = &self.trust;
        let start = Start::read(store.as_ref(), trust)?;
        if start.header.varlen {
            let compress = self.compress(&start, None, None);
            if let Some(lazy) = Lazy::open(&store, &start, trust, name, &compress)? {
                let pack = Pack { lazy: Some(lazy), ..self.closed(&start) };
                self.check_objects(&pack, pack.metadata())?;
                return Ok(pack);
            }
        }
        let chunks = Chunks::find(store.as_ref(), &start, trust)?;
        let layout = Packed::reading(store.clone(), &start, &chunks, trust, name.to_owned());
        self.opened(layout, &start, &chunks, store.as_ref(), false)
    }

    fn editing(&self, home: Home, name: &str) -> Result<Pack> {
        let edit = || {
            let file = home.claim(self.wait)?;
            let start = Start::read(file.as_ref(), &self.trust)?;
            let mut chunks = Chunks::find(file.as_ref(), &start, &self.trust)?;
            enlarge(&mut chunks);
            let (store, told) = (file.clone(), name.to_owned());
            let layout = Packed::editing(file, Some(home), &start, &chunks, &self.trust, told)?;
            let layout = layout.with_reserve(self.reserve);
            self.opened(layout, &start, &chunks, store.as_ref(), true)
        };
        edit().map_err(|error: Error| error.within(name))
    }

    fn opened(
        &self,
        layout: Packed,
        start: &Start,
        chunks: &Chunks,
        store: &dyn ReadAt,
        writable: bool,
    ) -> Result<Pack> {
        let array = match PackArray::parse(start.metadata.as_ref()) {
            _ if start.header.varlen => None,
            Ok(Some(array)) => match array.check_len(chunks.nbytes) {
                Err(_) if self.trust.lenient => None,
                checked => checked.map(|()| Some(array))?,
            },
            Err(_) if self.trust.lenient => None,
            parsed => parsed?,
        };
        let first = first_chunk(store, chunks);
        let compress = self.compress(start, array.as_ref(), first.as_ref());
        let checked = !self.trust.unchecked;
        let item_size = compress.item_size;
        let contents = contents_of(&start.header, chunks, &compress, item_size, checked)?;
        let state = layout.state();
        let mut compress = self.compress.clone().filter(|_| writable).unwrap_or(compress);
        compress.check |= self.check;
        let data =
            SuperChunk::over(contents, Box::new(layout), compress, self.trust.limits, writable);
        let recovered = chunks.recovered;
        let data = OnceLock::from(data);
        let pack = Pack { array, recovered, data, state, ..self.closed(start) };
        self.check_objects(&pack, pack.metadata())?;
        Ok(pack)
    }

    fn closed(&self, start: &Start) -> Pack {
        Pack {
            header: start.header.clone(),
            meta_header: start.meta_header.clone(),
            metadata: start.metadata.clone(),
            array: None,
            recovered: false,
            data: OnceLock::new(),
            lazy: None,
            state: None,
        }
    }

    /// The metadata of objects must not be of another number of them.
    fn check_objects(&self, pack: &Pack, metadata: Option<&Json>) -> Result<()> {
        let stated = metadata.and_then(|json| json.get("shape"));
        let Some(stated) = stated.filter(|_| pack.has_objects() && !self.trust.lenient) else {
            return Ok(());
        };
        let count = pack.object_count();
        match stated.as_array() {
            Some([one]) if one.as_u64() == Some(count as u64) => Ok(()),
            _ => Err(Error::corrupt(format!("it is not [{count}], the number of objects")).at(
                "bloscpack metadata",
                "shape",
                0,
            )),
        }
    }

    /// How chunks that are appended are to be compressed: like the first one, as far as it tells, at the
    /// level that bloscpack uses.
    fn compress(
        &self,
        start: &Start,
        array: Option<&PackArray>,
        first: Option<&chunk::Header>,
    ) -> CompressOptions {
        let typesize = match start.header.version {
            1 => first.map_or(1, chunk::Header::item_size),
            _ => usize::from(start.header.item_size),
        };
        let item_size = array.map_or(typesize, |array| array.dtype.item_size());
        let codec = first.and_then(chunk::Header::codec).unwrap_or(Codec::BloscLz);
        let compress = CompressOptions::new(item_size.max(1)).with_codec(codec).with_level(7);
        let compress = match first {
            Some(first) => compress.with_filters(first.filters()),
            None if start.header.varlen => compress.with_filters([]),
            None => compress,
        };
        compress.with_format(ChunkFormat::Blosc1).with_executor(self.executor.clone())
    }
}

/// Bloscpack cuts the size of chunks to that of a small input, for ever. A single chunk is soon written
/// again, so that those to come may have the usual size.
fn enlarge(chunks: &mut Chunks) {
    let small = |size: usize| size < CHUNK_SIZE && chunks.nbytes == size as u64;
    match chunks.size {
        ChunkSize::Open => chunks.size = ChunkSize::Fixed(CHUNK_SIZE),
        ChunkSize::Fixed(size) if chunks.slots.len() == 1 && small(size) => {
            let item = chunks.item_size.max(1);
            chunks.size = ChunkSize::Fixed((CHUNK_SIZE - CHUNK_SIZE % item).max(size));
        }
        _ => {}
    }
}

fn first_chunk(store: &dyn ReadAt, chunks: &Chunks) -> Option<chunk::Header> {
    let mut bytes = [0; 16];
    store.read_exact_at(chunks.base.checked_add(*chunks.slots.first()?)?, &mut bytes).ok()?;
    chunk::Header::parse(&bytes).ok()
}
