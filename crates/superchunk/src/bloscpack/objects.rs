//! Objects of any length: one is a chunk, found by its position alone.

use std::sync::Arc;

use super::Pack;
use crate::container::Contents;
use crate::error::{Error, Result};
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
        let chunks = Chunks::find(self.store.as_ref(), &self.start, &self.trust).map_err(told)?;
        let compress = self.objects.options().clone();
        let contents = contents(&self.start, &chunks, &self.trust, &compress)?;
        let (store, name) = (self.store.clone(), self.name.clone());
        let layout = Packed::reading(store, &self.start, &chunks, &self.trust, name);
        Ok(SuperChunk::over(contents, Box::new(layout), compress, self.trust.limits, false))
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
    pub fn object_count(&self) -> usize {
        if self.header.varlen { self.chunks().map_or(0, SuperChunk::chunk_count) } else { 0 }
    }

    /// Object `number`. Nothing but this object is read.
    pub fn object(&self, number: usize) -> Result<Vec<u8>> {
        if !self.header.varlen {
            return Err(Error::invalid("this file holds bytes, no objects: read its data"));
        }
        match self.chunks() {
            Some(chunks) => chunks.read_chunk(number),
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

    /// The bytes after the first object that belong to no object: left free, or left over.
    pub fn free_len(&self) -> Result<u64> {
        if !self.header.varlen {
            return Err(Error::invalid(
                "this file holds bytes, no objects: nothing is free between them",
            ));
        }
        let data = self.data()?;
        let Some(first) = data.chunk_position(0) else { return Ok(0) };
        let digest = self.header.checksum.len() as u64;
        (0..data.chunk_count()).try_fold(
            data.stored_len()?.saturating_sub(first),
            |free, number| {
                let chunk = data.chunk_header(number)?.compressed_len() as u64;
                Ok(free.saturating_sub(chunk + digest))
            },
        )
    }

    /// Appends an object, which may be empty.
    pub fn append_object(&mut self, object: &[u8]) -> Result<()> {
        if !self.header.varlen {
            return Err(Error::invalid("this file holds bytes, no objects: use append"));
        }
        let data = self.data_mut()?;
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
    /// The next commit writes a whole new file, however many objects were replaced: a crash leaves
    /// the old objects or the new ones. Bytes that were free behind objects are not in that file.
    pub fn replace_object(&mut self, number: usize, object: &[u8]) -> Result<()> {
        if !self.header.varlen {
            return Err(Error::invalid("this file holds bytes, no objects: change its data"));
        }
        self.data_mut()?.update_whole(number, object)
    }

    fn chunks(&self) -> Option<&SuperChunk> {
        self.data.get().or(self.lazy.as_ref().map(|lazy| &lazy.objects))
    }
}
