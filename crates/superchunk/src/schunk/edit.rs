//! Changing what is there: chunks, items, the length.

use std::borrow::Cow;

use bytemuck::Pod;

use super::SuperChunk;
use super::append::value_chunk;
use super::options::default_chunk_size;
use crate::chunk::{Header, without_marks};
use crate::container::{ChunkSize, Entry, MAX_CHUNK_SIZE, MAX_CHUNKS, Run, Slot};
use crate::error::{Error, MustGet, Result};

/// Values that a super-chunk can be filled with at no cost.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Zero bytes.
    Zeros,
    /// NaN; for items of 4 or 8 bytes.
    Nans,
    /// Bytes that nobody has set; they read as zeros.
    Uninitialised,
}

/// Where a chunk is to go, which decides how long it may be.
enum Place {
    /// It becomes a new last chunk.
    BehindAll,
    /// It replaces the last chunk.
    Last,
    /// Other chunks follow it.
    Within,
}

impl SuperChunk {
    /// Appends a compressed chunk as it is.
    ///
    /// Where all chunks have one size, only the last may be shorter; a chunk that does not fit makes
    /// the sizes variable for ever, as in C-Blosc2.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        self.insert_chunk(self.chunk_count(), chunk)
    }

    /// Inserts a compressed chunk before chunk `number`.
    pub fn insert_chunk(&mut self, number: usize, chunk: &[u8]) -> Result<()> {
        let header = checked_header(chunk)?;
        self.change(|this| {
            this.check_number(number, this.chunk_count() + 1)?;
            if this.contents.entries.len() >= MAX_CHUNKS - 1 {
                return Err(Error::limit(format!("a super-chunk has at most {MAX_CHUNKS} chunks")));
            }
            this.check_blocks(Self::is_vl(&header))?;
            this.settle()?;
            let at_end = number == this.contents.entries.len();
            this.make_room(&header, if at_end { Place::BehindAll } else { Place::Within })?;
            let (entry, _) = this.store(&mut without_marks(chunk).into_owned())?;
            this.contents.entries.insert(number, entry);
            this.contents.nbytes += header.byte_len() as u64;
            Ok(())
        })
    }

    /// Removes the marks of all chunks that can be read.
    pub(super) fn drop_marks(&mut self) -> Result<()> {
        for number in 0..self.contents.entries.len() {
            let is_stored =
                self.contents.entries.get(number).is_some_and(|e| e.stored_slot().is_some());
            let chunk = if is_stored { self.compressed_chunk(number) } else { continue };
            if let Ok(chunk) = chunk
                && matches!(without_marks(&chunk), Cow::Owned(_))
            {
                self.update_chunk(number, &chunk)?;
            }
        }
        Ok(())
    }

    /// Puts a compressed chunk in the place of chunk `number`.
    pub fn update_chunk(&mut self, number: usize, chunk: &[u8]) -> Result<()> {
        let header = checked_header(chunk)?;
        self.change(|this| {
            this.check_number(number, this.chunk_count())?;
            if this.chunk_count() > 1 {
                this.check_blocks(Self::is_vl(&header))?;
            }
            this.settle()?;
            let last = number + 1 == this.contents.entries.len();
            this.make_room(&header, if last { Place::Last } else { Place::Within })?;
            let old_len = this.decoded_len(number)? as u64;
            let stored = this.store(&mut without_marks(chunk).into_owned())?;
            this.replace(number, stored.0)?;
            this.contents.nbytes = this.contents.nbytes - old_len + header.byte_len() as u64;
            this.contents.vl_blocks = Self::is_vl(&header);
            Ok(())
        })
    }

    /// Puts one chunk of these bytes, which may be none, in the place of chunk `number`.
    #[cfg(feature = "bloscpack")]
    pub(crate) fn update_whole(&mut self, number: usize, bytes: &[u8]) -> Result<()> {
        self.change(|this| {
            this.check_number(number, this.chunk_count())?;
            this.settle()?;
            let old_len = this.decoded_len(number)? as u64;
            let (entry, _) = this.encode(bytes).map_err(|error| this.told(number, error))?;
            this.replace(number, entry)?;
            this.contents.nbytes = this.contents.nbytes - old_len + bytes.len() as u64;
            Ok(())
        })
    }

    /// Removes chunk `number`.
    pub fn delete_chunk(&mut self, number: usize) -> Result<()> {
        self.change(|this| {
            this.check_number(number, this.chunk_count())?;
            this.settle()?;
            let len = this.decoded_len(number)? as u64;
            let stored = this.stored(number)?;
            this.contents.entries.remove(number);
            this.contents.nbytes -= len;
            this.release(stored);
            if this.contents.entries.is_empty() {
                this.contents.vl_blocks = false;
            }
            Ok(())
        })
    }

    /// Puts the chunks into another order: the new chunk `i` is the old chunk `order[i]`.
    pub fn reorder(&mut self, order: &[usize]) -> Result<()> {
        self.change(|this| {
            this.settle()?;
            let count = this.contents.entries.len();
            let mut seen = vec![false; count];
            for number in order {
                let place = seen.get_mut(*number).filter(|seen| !**seen);
                *place.ok_or_else(|| no_permutation(count))? = true;
            }
            if order.len() != count {
                return Err(no_permutation(count));
            }
            let short = count > 0 && this.decoded_len(count - 1)? != this.decoded_len(0)?;
            let fixed = this.contents.chunk_size != ChunkSize::Variable;
            if fixed && short && order.last() != Some(&(count - 1)) {
                return Err(Error::invalid("the last chunk is shorter, so it must stay the last"));
            }
            let entries = &this.contents.entries;
            let moved = order.iter().filter_map(|number| entries.get(*number).copied()).collect();
            this.contents.entries = moved;
            Ok(())
        })
    }

    /// Overwrites bytes from `position` on; they must exist. Each chunk that is touched is
    /// compressed anew.
    pub fn write_bytes(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        let end = position.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.byte_len()) {
            return Err(Error::invalid(format!(
                "{} bytes from byte {position} on end past the {} bytes there are: append them",
                bytes.len(),
                self.byte_len()
            )));
        }
        self.change(|this| {
            this.settle()?;
            this.overwrite(position, bytes)
        })
    }

    /// Overwrites items from the item `start` on; they must exist, and have the size of `T`. Each
    /// chunk that is touched is compressed anew.
    pub fn write_items<T: Pod>(&mut self, start: u64, items: &[T]) -> Result<()> {
        self.check_item::<T>()?;
        self.write_item_bytes(start, bytemuck::cast_slice(items))
    }

    /// Overwrites items, of which these are the bytes.
    pub(crate) fn write_item_bytes(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        let position = start.checked_mul(self.contents.item_size as u64);
        self.write_bytes(position.unwrap_or(u64::MAX), bytes)
    }

    fn overwrite(&mut self, mut position: u64, mut bytes: &[u8]) -> Result<()> {
        let mut fresh = Vec::new();
        while !bytes.is_empty() {
            let (number, within) = self.locate(position)?;
            let len = self.decoded_len(number)?;
            let count = bytes.len().min(len - within);
            let (part, rest) = bytes.must_split_at(count)?;
            let stored = if count == len {
                self.encode(part)
            } else {
                let mut chunk = self.read_chunk(number)?;
                chunk.iter_mut().skip(within).zip(part).for_each(|(to, from)| *to = *from);
                self.encode(&chunk)
            };
            let (entry, _) = stored.map_err(|error| self.told(number, error))?;
            fresh.push((number, entry));
            position += count as u64;
            bytes = rest;
        }
        fresh.into_iter().try_for_each(|(number, entry)| self.replace(number, entry))
    }

    /// Appends `items` items of one value at no cost: they are not stored.
    pub fn append_fill(&mut self, value: Fill, items: u64) -> Result<()> {
        let len = items.checked_mul(self.contents.item_size as u64);
        let len = len.ok_or_else(|| Error::limit("more items than anything can hold"))?;
        if value == Fill::Nans && !matches!(self.contents.item_size, 4 | 8) {
            return Err(Error::invalid(format!(
                "NaN items have 4 or 8 bytes, not {}",
                self.contents.item_size
            )));
        }
        self.change(|this| this.append_run(value.run(), len))
    }

    fn append_run(&mut self, run: Run, mut len: u64) -> Result<()> {
        self.check_blocks(false)?;
        if !self.contents.rules.runs {
            return self.append_bytes_of(run, len);
        }
        let size = match self.contents.chunk_size {
            ChunkSize::Fixed(size) => size,
            ChunkSize::Open => default_chunk_size(self.contents.item_size),
            ChunkSize::Variable => return self.append_value(run, len),
        };
        self.contents.chunk_size = ChunkSize::Fixed(size);
        self.settle()?;
        if self.contents.entries.len() as u64 + len / size as u64 >= MAX_CHUNKS as u64 - 1 {
            return Err(Error::limit(format!("a super-chunk has at most {MAX_CHUNKS} chunks")));
        }
        // A short last chunk is made longer with real bytes.
        let short = self.contents.nbytes % size as u64;
        if short > 0 && len > 0 {
            let missing = len.min(size as u64 - short);
            self.append_bytes_of(run, missing)?;
            self.settle()?;
            len -= missing;
        }
        while len > 0 {
            let piece = len.min(size as u64);
            self.push(Entry::run(run), usize::try_from(piece).unwrap_or(size));
            len -= piece;
        }
        Ok(())
    }

    /// Appends the bytes that a run stands for.
    fn append_bytes_of(&mut self, run: Run, mut len: u64) -> Result<()> {
        let piece = match self.contents.chunk_size {
            ChunkSize::Fixed(size) => size,
            _ => default_chunk_size(self.contents.item_size),
        };
        let mut value = vec![0; usize::try_from(len).map_or(piece, |len| len.min(piece))];
        self.write_run(run, 0, &mut value)?;
        while len > 0 {
            let count = usize::try_from(len).map_or(value.len(), |len| len.min(value.len()));
            self.append(value.must_get(..count)?)?;
            len -= count as u64;
        }
        Ok(())
    }

    /// The same where a run has no length: one chunk that holds the value and says how often.
    fn append_value(&mut self, run: Run, len: u64) -> Result<()> {
        let item_size = self.contents.item_size;
        let len = usize::try_from(len).ok().filter(|len| *len <= MAX_CHUNK_SIZE);
        let len = len.ok_or_else(|| Error::limit("these do not fit one chunk: fill in pieces"))?;
        if len == 0 {
            return Ok(());
        }
        let named = match run {
            Run::Nans => crate::chunk::nans(item_size, len)?,
            Run::Zeros | Run::Uninitialised => crate::chunk::zeros(item_size, len)?,
        };
        let (entry, _) = self.store(&mut value_chunk(&named, &Header::parse(&named)?)?)?;
        self.push(entry, len);
        Ok(())
    }

    /// Makes it `items` items long: cuts, or appends zeros.
    pub fn resize(&mut self, items: u64) -> Result<()> {
        let count = self.item_count();
        if items >= count {
            return self.append_fill(Fill::Zeros, items - count);
        }
        let len = items.saturating_mul(self.contents.item_size as u64);
        self.change(|this| {
            this.settle()?;
            this.cut(len)
        })
    }

    fn cut(&mut self, len: u64) -> Result<()> {
        let (keep, within) = if len == 0 { (0, 0) } else { self.locate(len)? };
        let remainder = match within {
            0 => None,
            _ => {
                let chunk = self.read_chunk(keep)?;
                let stored = self.encode(chunk.must_get(..within)?);
                Some(stored.map_err(|error| self.told(keep, error))?)
            }
        };
        let gone: Vec<_> = (keep..self.contents.entries.len())
            .filter_map(|number| self.stored(number).ok())
            .collect();
        self.contents.entries.truncate(keep);
        self.contents.nbytes = len - within as u64;
        gone.into_iter().for_each(|stored| self.release(stored));
        if let Some((entry, _)) = remainder {
            self.push(entry, within);
        }
        Ok(())
    }

    /// Makes the sizes of chunks variable, unless a chunk like this fits at its place.
    fn make_room(&mut self, header: &Header, place: Place) -> Result<()> {
        let size = match self.contents.chunk_size {
            ChunkSize::Variable => return Ok(()),
            ChunkSize::Fixed(size) if header.byte_len() <= size || self.chunk_count() > 0 => size,
            ChunkSize::Fixed(_) | ChunkSize::Open => {
                // Nothing depends on the size yet.
                self.contents.chunk_size = ChunkSize::Fixed(header.byte_len());
                return Ok(());
            }
        };
        let fits = match place {
            Place::BehindAll => {
                header.byte_len() <= size && self.contents.nbytes.is_multiple_of(size as u64)
            }
            Place::Last => header.byte_len() <= size,
            Place::Within => header.byte_len() == size,
        };
        if fits { Ok(()) } else { self.make_variable() }
    }

    /// Gives every run a chunk, because from now on only chunks tell how long they are.
    pub(super) fn make_variable(&mut self) -> Result<()> {
        let mut fresh = Vec::new();
        for (number, entry) in self.contents.entries.iter().enumerate() {
            if let Slot::Run(run) = entry.slot(number)? {
                let chunk = self.contents.run_chunk(number, run)?;
                fresh.push((number, value_chunk(&chunk, &Header::parse(&chunk)?)?));
            }
        }
        for (number, mut chunk) in fresh {
            let slot = self.layout.put(&mut chunk)?;
            *self.contents.entries.must_get_mut(number)? = Entry::stored(slot);
        }
        self.contents.chunk_size = ChunkSize::Variable;
        Ok(())
    }

    pub(super) fn replace(&mut self, number: usize, entry: Entry) -> Result<()> {
        let old = self.stored(number)?;
        *self.contents.entries.must_get_mut(number)? = entry;
        self.release(old);
        Ok(())
    }

    fn check_number(&self, number: usize, count: usize) -> Result<()> {
        if number < count {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "there is no chunk {number}: the super-chunk has {}",
            self.chunk_count()
        )))
    }
}

impl Fill {
    fn run(self) -> Run {
        match self {
            Self::Zeros => Run::Zeros,
            Self::Nans => Run::Nans,
            Self::Uninitialised => Run::Uninitialised,
        }
    }
}

/// The header of a chunk that can be put into a super-chunk.
fn checked_header(chunk: &[u8]) -> Result<Header> {
    let header = Header::parse(chunk)?;
    header.whole_chunk(chunk)?;
    if header.byte_len() == 0 || header.byte_len() > MAX_CHUNK_SIZE {
        return Err(Error::invalid(format!(
            "a chunk of {} bytes: it must have 1 to {MAX_CHUNK_SIZE}",
            header.byte_len()
        )));
    }
    if chunk.len() != header.compressed_len() {
        return Err(Error::invalid(format!(
            "{} bytes were given for a chunk of {}",
            chunk.len(),
            header.compressed_len()
        )));
    }
    Ok(header)
}

fn no_permutation(count: usize) -> Error {
    Error::invalid(format!("the order must name each of the {count} chunks once"))
}
