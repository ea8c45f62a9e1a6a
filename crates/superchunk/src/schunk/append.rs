//! Appending any amount, and turning bytes into stored chunks.

use bytemuck::Pod;

use super::options::default_chunk_size;
use super::{SuperChunk, Tail};
use crate::chunk::{self, Content, Encoder, FillBlock, Header};
use crate::container::{ChunkSize, Entry, MAX_CHUNK_SIZE, MAX_CHUNKS, Run};
use crate::error::{Error, MustGet, Result};

/// The last version of chunks that Blosc1 knows.
const BLOSC1: u8 = 2;

/// A chunk that was stored: its entry, and its length there (0 for a run).
pub(super) type Stored = (Entry, usize);

impl SuperChunk {
    /// Appends bytes, any number of them: they are cut into chunks, and what does not fill one is
    /// kept and joined with the next append. Where chunks have no fixed size, the bytes become one.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.change(|this| {
            this.leave_short();
            match (this.contents.chunk_size, this.contents.rules.cut) {
                _ if bytes.is_empty() => Ok(()),
                (ChunkSize::Variable, None) => this.append_whole(bytes),
                (ChunkSize::Variable, Some(size)) | (ChunkSize::Fixed(size), _) => {
                    this.append_cut(bytes, size)
                }
                (ChunkSize::Open, _) => {
                    let size = default_chunk_size(this.contents.item_size);
                    this.contents.chunk_size = ChunkSize::Fixed(size);
                    this.append_cut(bytes, size)
                }
            }
        })
    }

    /// Appends items, whose type must have the size of this super-chunk's items.
    pub fn append_items<T: Pod>(&mut self, items: &[T]) -> Result<()> {
        if size_of::<T>() != self.contents.item_size {
            return Err(Error::invalid(format!(
                "the items have {} bytes, the type {}",
                self.contents.item_size,
                size_of::<T>()
            )));
        }
        self.append(bytemuck::cast_slice(items))
    }

    /// Appends objects of any length as one chunk, from which each can be read alone. C-Blosc2 reads
    /// such chunks since 3.0. All chunks must be of that kind.
    pub fn append_blocks(&mut self, blocks: &[&[u8]]) -> Result<()> {
        let mut chunk = Vec::new();
        let made = self.encoder()?.compress_blocks_into(blocks, &mut chunk);
        made.map_err(|error| self.told(self.chunk_count(), error))?;
        self.append_chunk(&chunk)
    }

    /// Appends a chunk that holds nothing, where every chunk is an object.
    #[cfg(feature = "bloscpack")]
    pub(crate) fn append_empty(&mut self) -> Result<()> {
        self.change(|this| {
            this.check_blocks(false)?;
            let (entry, _) = this.encode(&[])?;
            this.push(entry, 0);
            Ok(())
        })
    }

    fn append_whole(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > MAX_CHUNK_SIZE {
            return Err(Error::limit(format!(
                "{} bytes do not fit a chunk, and chunks have no fixed size here: cut them",
                bytes.len()
            )));
        }
        self.check_blocks(false)?;
        let number = self.contents.entries.len();
        let (entry, _) = self.encode(bytes).map_err(|error| self.told(number, error))?;
        self.push(entry, bytes.len());
        Ok(())
    }

    fn append_cut(&mut self, bytes: &[u8], size: usize) -> Result<()> {
        self.check_blocks(false)?;
        self.take_tail()?;
        // A chunk that is longer than the limit could not be read again.
        let grown = self.tail.bytes.len().saturating_add(bytes.len());
        self.limits.check_decoded(grown.min(size))?;
        let missing = size - self.tail.bytes.len().min(size);
        let Some((filling, rest)) = bytes.split_at_checked(missing) else {
            self.grow_tail(bytes);
            return Ok(());
        };
        let (entries, nbytes) = (self.contents.entries.len(), self.contents.nbytes);
        let mut stored = Vec::new();
        let old_len = self.tail.bytes.len();
        let done = self.append_chunks(filling, rest, size, &mut stored);
        if let Err(error) = done {
            // As if nothing had happened.
            self.contents.entries.truncate(entries);
            self.contents.nbytes = nbytes;
            self.tail.bytes.truncate(old_len);
            stored.into_iter().for_each(|stored| self.release(stored));
            return Err(error);
        }
        let old = std::mem::take(&mut self.tail);
        if let Some(stored) = old.stored {
            self.release(stored);
        }
        let whole = rest.len() - rest.len() % size;
        // The memory is kept for the next tail.
        self.tail.bytes = old.bytes;
        self.tail.bytes.clear();
        self.tail.bytes.extend_from_slice(rest.must_get(whole..)?);
        Ok(())
    }

    /// Stores the tail filled up, and then all whole chunks of `rest`. The tail is not cleared.
    fn append_chunks(
        &mut self,
        filling: &[u8],
        rest: &[u8],
        size: usize,
        stored: &mut Vec<Stored>,
    ) -> Result<()> {
        if self.contents.entries.len() + rest.len() / size >= MAX_CHUNKS {
            return Err(Error::limit(format!("a super-chunk has at most {MAX_CHUNKS} chunks")));
        }
        if self.tail.bytes.is_empty() {
            stored.push(self.encode_behind(filling, 0)?);
        } else {
            self.tail.bytes.extend_from_slice(filling);
            let bytes = std::mem::take(&mut self.tail.bytes);
            let encoded = self.encode_behind(&bytes, 0);
            self.tail.bytes = bytes;
            stored.push(encoded?);
        }
        for piece in rest.chunks_exact(size) {
            stored.push(self.encode_behind(piece, stored.len())?);
        }
        stored.iter().for_each(|(entry, _)| self.push(*entry, size));
        Ok(())
    }

    /// Lets a short last chunk be where it must not be changed: from then on sizes are variable.
    pub(super) fn leave_short(&mut self) {
        let ChunkSize::Fixed(size) = self.contents.chunk_size else { return };
        let short = !self.contents.nbytes.is_multiple_of(size as u64);
        if self.contents.rules.keep_short && short {
            self.contents.rules.cut = Some(size);
            self.contents.chunk_size = ChunkSize::Variable;
        }
    }

    /// Takes a short last chunk back, so that it can grow.
    pub(super) fn take_tail(&mut self) -> Result<()> {
        let last = self.contents.entries.len().wrapping_sub(1);
        let ChunkSize::Fixed(size) = self.contents.chunk_size else { return Ok(()) };
        if !self.tail.bytes.is_empty() || self.contents.nbytes.is_multiple_of(size as u64) {
            return Ok(());
        }
        let bytes = self.read_chunk(last)?;
        let stored = self.stored(last)?;
        self.contents.entries.pop();
        self.contents.nbytes -= bytes.len() as u64;
        self.tail = Tail { bytes, stored: Some(stored), kept: None };
        Ok(())
    }

    fn grow_tail(&mut self, bytes: &[u8]) {
        if let Some(stored) = self.tail.stored.take() {
            self.tail.kept = stored.0.stored_slot().map(|slot| (slot, self.tail.bytes.len()));
            self.release(stored);
        }
        self.tail.bytes.extend_from_slice(bytes);
    }

    /// Stores the tail for a commit; the layout may know a cheaper way than compressing it.
    pub(super) fn store_tail_loosely(&mut self) -> Result<()> {
        if self.tail.bytes.is_empty() || self.tail.stored.is_some() {
            return Ok(());
        }
        let (number, kept) = (self.contents.entries.len() as u64, self.tail.kept.take());
        let put = self.layout.put_tail(&self.tail.bytes, number, kept, self.compress.item_size);
        match put.map_err(|error| error.within(self.layout.name()))? {
            Some((slot, len)) => {
                self.tail.stored = Some((Entry::stored(slot), len));
                Ok(())
            }
            None => self.store_tail(),
        }
    }

    /// Compresses a last chunk that was stored without.
    pub(crate) fn pack_tail(&mut self) -> Result<()> {
        let last = self.chunk_count().wrapping_sub(1) as u64;
        if self.layout.is_loose(last) {
            self.take_tail()?;
            if let Some(stored) = self.tail.stored.take() {
                self.release(stored);
            }
            self.dirty = true;
        }
        self.store_tail()
    }

    /// Compresses the tail and stores it; it stays the tail.
    pub(super) fn store_tail(&mut self) -> Result<()> {
        if self.tail.bytes.is_empty() || self.tail.stored.is_some() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.tail.bytes);
        let stored = self.encode_behind(&bytes, 0);
        self.tail.bytes = bytes;
        self.tail.stored = Some(stored.map_err(|error| error.within(self.layout.name()))?);
        Ok(())
    }

    /// Makes the tail a chunk like all others, as every change but an append wants it.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.store_tail()?;
        let Tail { bytes, stored, .. } = std::mem::take(&mut self.tail);
        if let Some((entry, _)) = stored {
            self.push(entry, bytes.len());
        }
        Ok(())
    }

    /// Compresses bytes and stores the chunk.
    pub(super) fn encode(&mut self, bytes: &[u8]) -> Result<Stored> {
        self.encode_as(bytes, None)
    }

    /// The same for a chunk that follows all that are listed and `ahead` more.
    fn encode_behind(&mut self, bytes: &[u8], ahead: usize) -> Result<Stored> {
        let number = self.contents.entries.len() + ahead;
        let stored = self.encode_as(bytes, Some(number as u64));
        stored.map_err(|error| self.told(number, error))
    }

    /// The same for a chunk whose blocks, of this size, `fill` puts into `bytes`.
    pub(super) fn encode_filled(
        &mut self,
        bytes: &mut [u8],
        blocksize: usize,
        fill: &FillBlock<'_>,
    ) -> Result<Stored> {
        let mut chunk = std::mem::take(&mut self.buffer);
        chunk.clear();
        let done = self
            .encoder()
            .and_then(|encoder| encoder.compress_filled_into(bytes, blocksize, fill, &mut chunk));
        self.keep(done, bytes, chunk, None)
    }

    fn encode_as(&mut self, bytes: &[u8], number: Option<u64>) -> Result<Stored> {
        let mut chunk = std::mem::take(&mut self.buffer);
        chunk.clear();
        let done = self.encoder().and_then(|encoder| encoder.compress_into(bytes, &mut chunk));
        self.keep(done, bytes, chunk, number)
    }

    /// Stores the chunk of these bytes if it was done, and keeps its memory.
    fn keep(
        &mut self,
        done: Result<usize>,
        bytes: &[u8],
        mut chunk: Vec<u8>,
        number: Option<u64>,
    ) -> Result<Stored> {
        let stored = done.and_then(|_| self.store_as(&mut chunk, number));
        if let Ok((entry, _)) = &stored
            && let Some(slot) = entry.stored_slot()
        {
            self.layout.noted(slot, bytes, &chunk);
        }
        self.buffer = chunk;
        stored
    }

    /// Stores a chunk; a run only where its length is known from elsewhere.
    pub(super) fn store(&mut self, chunk: &mut Vec<u8>) -> Result<Stored> {
        self.store_as(chunk, None)
    }

    fn store_as(&mut self, chunk: &mut Vec<u8>, number: Option<u64>) -> Result<Stored> {
        let header = Header::parse(chunk)?;
        if !self.contents.rules.runs && header.version() > BLOSC1 {
            return Err(Error::invalid(
                "this container takes chunks of Blosc1, this is one of Blosc2",
            ));
        }
        let run = match header.content() {
            Content::Zeros => Run::Zeros,
            Content::Uninitialised => Run::Uninitialised,
            Content::Nans => Run::Nans,
            _ => return self.put(chunk, number),
        };
        let fixed = self.contents.chunk_size != ChunkSize::Variable;
        // NaNs of a run have the size of the container's items.
        if fixed && (run != Run::Nans || header.item_size() == self.contents.item_size) {
            return Ok((Entry::run(run), 0));
        }
        self.put(&mut value_chunk(chunk, &header)?, number)
    }

    fn put(&mut self, chunk: &mut Vec<u8>, number: Option<u64>) -> Result<Stored> {
        let slot = match number {
            Some(number) => self.layout.put_behind(chunk, number)?,
            None => self.layout.put(chunk)?,
        };
        Ok((Entry::stored(slot), chunk.len()))
    }

    /// The entry of a chunk, and its length in the store.
    pub(super) fn stored(&self, number: usize) -> Result<Stored> {
        let entry = *self
            .contents
            .entries
            .get(number)
            .ok_or_else(|| Error::invalid(format!("there is no chunk {number}")))?;
        // A damaged chunk can be replaced or removed; its space is then not used again.
        let len = self.header(number).map_or(0, |header| header.compressed_len());
        Ok((entry, len))
    }

    pub(super) fn release(&mut self, (entry, len): Stored) {
        if let Some(slot) = entry.stored_slot()
            && len > 0
        {
            self.layout.release(slot, len);
        }
    }

    pub(super) fn push(&mut self, entry: Entry, len: usize) {
        self.contents.entries.push(entry);
        self.contents.nbytes += len as u64;
    }

    /// Refuses to mix chunks of variable-length blocks with others.
    pub(super) fn check_blocks(&mut self, vl: bool) -> Result<()> {
        if self.chunk_count() == 0 {
            self.contents.vl_blocks = vl;
        }
        if self.contents.vl_blocks == vl {
            return Ok(());
        }
        Err(Error::invalid(
            "chunks of variable-length blocks and others do not go into one super-chunk",
        ))
    }

    pub(super) fn encoder(&mut self) -> Result<&mut Encoder> {
        if self.encoder.is_none() {
            self.encoder = Some(Encoder::new(&self.compress)?);
        }
        self.encoder.as_mut().ok_or_else(|| Error::invalid("no encoder"))
    }
}

/// A chunk that holds its value, instead of one that only names it.
pub(super) fn value_chunk(chunk: &[u8], header: &Header) -> Result<Vec<u8>> {
    let item_size = match header.byte_len().is_multiple_of(header.item_size()) {
        true => header.item_size(),
        false => 1,
    };
    let mut value = vec![0; item_size];
    chunk::Decoder::new().read_bytes(chunk, 0..item_size, &mut value)?;
    chunk::repeated(&value, header.byte_len() / item_size)
}
