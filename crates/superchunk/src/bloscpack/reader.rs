//! How a file is opened, and how far it is believed.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::objects::Lazy;
use super::{Pack, PackArray};
use crate::chunk;
use crate::container::ChunkSize;
use crate::detect::Format;
use crate::error::{Error, Result};
use crate::exec::Executor;
use crate::options::{ChunkFormat, Codec, CompressOptions};
use crate::pack::{CHUNK_SIZE, Chunks, Packed, Start, Trust, contents_of};
use crate::place::{Access, Place};
use crate::registry::Registry;
use crate::schunk::{OpenOptions, SuperChunk, opens};
#[cfg(any(unix, windows))]
use crate::store::{Folder, resolve};
use crate::store::{Home, ReadAt};
use crate::wire::json::Json;

impl Pack {
    pub(crate) fn opened(place: &Place<'_>, options: &OpenOptions, access: Access) -> Result<Self> {
        let (reader, name) = (Reader::of(options), place.told("bloscpack"));
        let opened = match (place, access) {
            #[cfg(any(unix, windows))]
            (Place::Path(path), Access::Edit) => {
                resolve(path).and_then(|path| Folder::parent_of(&path)).and_then(|(dir, file)| {
                    reader.editing(Home { dir: Arc::new(dir), name: file }, &name)
                })
            }
            (Place::File(dir, file), Access::Edit) => {
                reader.editing(Home { dir: dir.clone(), name: (*file).to_owned() }, &name)
            }
            _ => place.store(options.offset).and_then(|store| reader.reading(store, &name)),
        };
        opened.map_err(|error| {
            place.explained(place.name(error), &[Format::Bloscpack], options.offset)
        })
    }
}

opens!(Pack: file);

/// How a file is opened.
struct Reader {
    trust: Trust,
    executor: Executor,
    registry: Registry,
    compress: Option<CompressOptions>,
    check: bool,
    reserve: u32,
    wait: Duration,
    offset: u64,
}

impl Reader {
    fn of(options: &OpenOptions) -> Self {
        let compress = options
            .compress
            .clone()
            .map(|compress| options.equip(compress.with_format(ChunkFormat::Blosc1)));
        Self {
            trust: Trust {
                lenient: options.is_lenient,
                unchecked: options.skips_digests,
                limits: options.limits,
            },
            executor: options.executor.clone(),
            registry: options.registry.clone(),
            compress,
            check: options.checks_chunks,
            reserve: options.reserve,
            wait: options.wait.unwrap_or_default(),
            offset: options.offset,
        }
    }

    fn reading(&self, store: Arc<dyn ReadAt>, name: &str) -> Result<Pack> {
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
            if self.offset > 0 {
                return Err(Error::unsupported("a Bloscpack file inside of another is only read"));
            }
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
            memory: None,
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
            Some([one]) if one.as_u64() == Some(count) => Ok(()),
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
        let compress = compress.with_format(ChunkFormat::Blosc1);
        compress.with_executor(self.executor.clone()).with_registry(self.registry.clone())
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
