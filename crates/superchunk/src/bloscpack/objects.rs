//! Objects of any length: one is a chunk, found by its position alone.

use std::sync::Arc;

use super::Pack;
use crate::container::{Contents, Space};
use crate::error::{Error, ErrorKind, Result};
use crate::options::CompressOptions;
use crate::pack::{Chunks, Packed, Start, Trust, contents_of};
use crate::schunk::SuperChunk;
use crate::store::ReadAt;

/// The objects of a file that was opened for reading: only their positions have been read.
pub(super) struct Lazy {
    /// Knows where each object is, but not how many bytes come before it.
    objects: SuperChunk,
    store: Arc<dyn ReadAt>,
    start: Start,
    trust: Trust,
    name: String,
}

impl Lazy {
    /// The objects that the offsets list; `None` when they cannot tell.
    pub(super) fn open(
        store: &Arc<dyn ReadAt>,
        start: &Start,
        trust: &Trust,
        name: &str,
        compress: &CompressOptions,
    ) -> Result<Option<Self>> {
        let Some(chunks) = Chunks::list(store.as_ref(), start, trust)? else { return Ok(None) };
        let (store, start, trust, name) = (store.clone(), start.clone(), *trust, name.to_owned());
        let contents = contents(&start, &chunks, &trust, compress)?;
        let layout = Packed::reading(store.clone(), &start, &chunks, &trust, name.clone());
        let objects =
            SuperChunk::over(contents, Box::new(layout), compress.clone(), trust.limits, false);
        Ok(Some(Self { objects, store, start, trust, name }))
    }

    /// The same objects, each of which was asked for its length.
    pub(super) fn measure(&self) -> Result<SuperChunk> {
        let told = |error: Error| error.within(self.name.clone());
        let found = Chunks::find(self.store.as_ref(), &self.start, &self.trust);
        let chunks = found.map_err(|error| told(self.reason(error)))?;
        let compress = self.objects.options().clone();
        let contents = contents(&self.start, &chunks, &self.trust, &compress)?;
        let (store, name) = (self.store.clone(), self.name.clone());
        let layout = Packed::reading(store, &self.start, &chunks, &self.trust, name);
        Ok(SuperChunk::over(contents, Box::new(layout), compress, self.trust.limits, false))
    }
}

impl Lazy {
    /// Why what was found does not fit the header: a writer may have been faster than this reader.
    fn reason(&self, error: Error) -> Error {
        match Start::read(self.store.as_ref(), &self.trust) {
            Ok(now) if now.header != self.start.header => Error::new(
                ErrorKind::Changed,
                "another writer has changed the file since it was opened: open it again",
            ),
            _ => error,
        }
    }
}

fn contents(
    start: &Start,
    chunks: &Chunks,
    trust: &Trust,
    compress: &CompressOptions,
) -> Result<Contents> {
    contents_of(&start.header, chunks, compress, compress.item_size, !trust.unchecked)
}

impl Pack {
    /// Whether every chunk is one object.
    #[must_use]
    pub fn has_objects(&self) -> bool {
        self.header.varlen
    }

    /// The number of objects; 0 in a file of another kind.
    #[must_use]
    pub fn object_count(&self) -> u64 {
        let count = |chunks: &SuperChunk| chunks.chunk_count() as u64;
        if self.header.varlen { self.chunks().map_or(0, count) } else { 0 }
    }

    /// Object `number`. Nothing but this object is read.
    pub fn object(&self, number: u64) -> Result<Vec<u8>> {
        if !self.header.varlen {
            return Err(Error::invalid("this file holds bytes, no objects: read its data"));
        }
        match self.chunks() {
            Some(chunks) => chunks.read_chunk(index(number)),
            None => Err(Error::invalid("the file is not open")),
        }
    }

    /// Every object, in order.
    pub fn objects(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        (0..self.object_count()).map(|number| self.object(number))
    }

    /// Where chunk `number` begins in the file; `None` when it is not stored yet.
    #[must_use]
    pub fn chunk_position(&self, number: usize) -> Option<u64> {
        self.chunks()?.chunk_position(number)
    }

    /// The bytes after the offsets, and the room for more of them, that belong to no object: those
    /// left free, and the [dead](Self::dead_len) ones.
    pub fn free_len(&self) -> Result<u64> {
        Ok(self.space()?.free)
    }

    /// The bytes that belong to no object any more, or that an interrupted writer has left: they
    /// are not used again, and not part of a [copy](Self::copy_to). To tell them from those left
    /// free, which are zeros, up to 1 GiB of the latter is read; what is beyond counts as left
    /// free.
    pub fn dead_len(&self) -> Result<u64> {
        Ok(self.space()?.dead)
    }

    fn space(&self) -> Result<Space> {
        match self.superchunk()?.space()? {
            Some(space) if self.header.varlen => Ok(space),
            _ => Err(Error::invalid(
                "this file holds bytes, no objects: nothing is free between them",
            )),
        }
    }

    /// Appends an object, which may be empty.
    pub fn append_object(&mut self, object: &[u8]) -> Result<()> {
        if !self.header.varlen {
            return Err(Error::invalid("this file holds bytes, no objects: use append"));
        }
        let data = self.superchunk_mut()?;
        match object {
            [] => data.append_empty()?,
            object => data.append(object)?,
        }
        let count = self.object_count();
        if let Some(json) = self.metadata.as_mut().filter(|json| json.get("shape").is_some()) {
            json.set("shape", vec![crate::wire::json::Json::from(count)])?;
        }
        Ok(())
    }

    /// Puts another object, which may be empty, in the place of object `number`.
    ///
    /// A crash leaves the old objects or the new ones, of all that were replaced since the last
    /// commit. The new object goes to the bytes left free after the old one
    /// ([`PackOptions::reserve`]). If it does not fit there, it moves to the end of the file with
    /// all objects that follow it, as long as no more than a third of the file becomes dead. The
    /// old places are [dead](Self::dead_len) bytes from then on. Otherwise, and if the offsets of
    /// the objects are more than a sector apart, the commit writes a whole new file, in which
    /// nothing is dead and objects have the room that they had: an object that fits the bytes of the
    /// old one and those left free after it begins where the old one did.
    ///
    /// [`PackOptions::reserve`]: super::PackOptions::reserve
    pub fn replace_object(&mut self, number: u64, object: &[u8]) -> Result<()> {
        if !self.header.varlen {
            return Err(Error::invalid("this file holds bytes, no objects: change its data"));
        }
        self.superchunk_mut()?.update_whole(index(number), object)
    }

    fn chunks(&self) -> Option<&SuperChunk> {
        self.data.get().or(self.lazy.as_ref().map(|lazy| &lazy.objects))
    }
}

/// The chunk of an object; of one that cannot be there, a number that no chunk has.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
