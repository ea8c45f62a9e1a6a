//! What arrays need of their chunks: many parts of one, and many chunks changed together.

use super::SuperChunk;
use super::append::Stored;
use super::fetch::{Held, Scratch, Source, StoredChunk, wants_more};
use crate::chunk::{FillBlock, Header, Parts, each};
use crate::container::{ChunkSize, Entry, MAX_CHUNKS, Run};
use crate::error::{Error, MustGet, Result};

/// What a chunk becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The old chunk of this number, as it is.
    Keep(usize),
    /// Zeros.
    Zeros,
    /// What was put into the buffer.
    Fresh,
}

/// How far a chunk that changes was made.
pub(crate) enum Made<'m> {
    /// All of its bytes are there.
    Whole,
    /// Those of the blocks that are named; the others stay as they are stored.
    Blocks(Vec<bool>),
    /// None: each block, which has so many bytes, is filled by this.
    Later(usize, Box<FillBlock<'m>>),
}

impl SuperChunk {
    /// Decodes parts of chunk `number` on this thread. Of a chunk that is not in memory only the
    /// blocks that hold them are read, unless they are most of it.
    pub(crate) fn read_parts(&self, number: usize, parts: &mut dyn Parts) -> Result<()> {
        let read = match self.source(number) {
            Ok(Source::Stored(slot)) => {
                self.with_scratch(|scratch| self.read_stored_parts(number, slot, parts, scratch))
            }
            Ok(Source::Run(run, len)) => each(&mut Vec::new(), len, parts, |range, _, dst| {
                self.write_run(run, range.start, dst)
            }),
            Ok(Source::Tail(bytes)) => {
                each(&mut Vec::new(), bytes.len(), parts, |range, _, dst| {
                    dst.copy_from_slice(bytes.must_get(range)?);
                    Ok(())
                })
            }
            Err(error) => Err(error),
        };
        read.map_err(|error| self.told(number, error))
    }

    fn read_stored_parts(
        &self,
        number: usize,
        slot: u64,
        parts: &mut dyn Parts,
        Scratch { decoder, buffer }: &mut Scratch,
    ) -> Result<()> {
        let wanted: usize =
            (0..).map_while(|part| parts.range(part)).map(|range| range.len()).sum();
        let read = match self.hold(number, slot, wanted, buffer)? {
            Held::Whole(chunk) => return decoder.read_parts(chunk, parts),
            Held::Start(lazy, here) => {
                let source = &mut StoredChunk { layout: self.layout.as_ref(), slot, here };
                decoder.read_lazy_parts(&lazy, source, parts)
            }
        };
        match read {
            Err(error) if wants_more(&error) => {
                let (chunk, _) = self.fetch(number, slot, buffer)?;
                decoder.read_parts(chunk, parts)
            }
            read => read,
        }
    }

    /// Changes some chunks: `make` puts the new bytes of a chunk into a buffer, which has the size of
    /// a chunk and any content, as far as it says in its answer. All are
    /// changed, or none. `layer` is what the caller knows of the chunks: a metalayer, which must still
    /// be so.
    pub(crate) fn change_chunks<'m>(
        &mut self,
        layer: (&str, &[u8]),
        numbers: impl Iterator<Item = usize>,
        mut make: impl FnMut(&Self, usize, &mut [u8]) -> Result<Made<'m>>,
    ) -> Result<()> {
        self.change(|this| {
            this.check_layer(layer)?;
            this.settle()?;
            this.encoder()?;
            let mut bytes = vec![0; this.fixed_size()?];
            let mut fresh: Vec<(usize, Stored)> = Vec::new();
            for number in numbers {
                let made = make(this, number, &mut bytes).and_then(|made| match made {
                    Made::Whole => this.encode(&bytes),
                    Made::Blocks(changed) => this.encode_blocks(number, &mut bytes, &changed),
                    Made::Later(len, fill) => this.encode_filled(&mut bytes, len, &*fill),
                });
                match made {
                    Ok(stored) => fresh.push((number, stored)),
                    Err(error) => {
                        fresh.into_iter().for_each(|(_, stored)| this.release(stored));
                        return Err(this.told(number, error));
                    }
                }
            }
            let replaced = |(number, (entry, _)): (usize, Stored)| this.replace(number, entry);
            fresh.into_iter().try_for_each(replaced)
        })
    }

    /// Decodes the blocks of a chunk that are about to be `changed` into their places in `dst`, if the
    /// others can be kept as they are stored; else all blocks, and answers false.
    pub(crate) fn read_changed_blocks(
        &self,
        number: usize,
        changed: &[bool],
        dst: &mut [u8],
    ) -> Result<bool> {
        let few = changed.iter().filter(|changed| **changed).count() * 2 <= changed.len();
        let slot = match self.source(number)? {
            Source::Stored(slot) if few => slot,
            _ => return self.read_chunk_into(number, dst).map(|_| false),
        };
        let done = self.with_scratch(|Scratch { decoder, buffer }| {
            let (chunk, _) = self.fetch(number, slot, buffer)?;
            let header = Header::parse(chunk)?;
            let known = self.encoder.as_ref().is_some_and(|encoder| encoder.can_splice(&header));
            if !known || header.block_count() != changed.len() {
                return decoder.decompress_into(chunk, dst).map(|_| false);
            }
            let skip: Vec<bool> = changed.iter().map(|changed| !changed).collect();
            decoder.decompress_masked(chunk, &skip, dst).map(|_| true)
        });
        done.map_err(|error| self.told(number, error))
    }

    /// Stores a chunk of which only the `changed` blocks are in `bytes`; the others are those of the
    /// old chunk.
    fn encode_blocks(
        &mut self,
        number: usize,
        bytes: &mut [u8],
        changed: &[bool],
    ) -> Result<Stored> {
        let Source::Stored(slot) = self.source(number)? else {
            return Err(Error::invalid("only a stored chunk has blocks"));
        };
        let mut chunk = std::mem::take(&mut self.buffer);
        chunk.clear();
        let (mut encoder, mut old) = (self.encoder.take(), Vec::new());
        let spliced = self.fetch(number, slot, &mut old).and_then(|(old, _)| {
            let done = match &mut encoder {
                Some(encoder) => encoder.splice(old, bytes, changed, &mut chunk)?,
                None => false,
            };
            if !done {
                self.with_scratch(|scratch| {
                    scratch.decoder.decompress_masked(old, changed, bytes)
                })?;
            }
            Ok(done)
        });
        self.encoder = encoder;
        let stored = match spliced {
            Ok(true) => self.store(&mut chunk),
            Ok(false) => self.encode(bytes),
            Err(error) => Err(self.told(number, error)),
        };
        self.buffer = chunk;
        stored
    }

    /// Makes a new list of `count` chunks out of the old ones, and gives a metalayer, which must be
    /// `layer`, other bytes. The first `unchanged` chunks stay; `make` says what each other one
    /// becomes. All happens, or nothing.
    pub(crate) fn remake_chunks(
        &mut self,
        (unchanged, count): (usize, usize),
        layer: (&str, &[u8]),
        content: &[u8],
        mut make: impl FnMut(&Self, usize, &mut [u8]) -> Result<Change>,
    ) -> Result<()> {
        if count >= MAX_CHUNKS {
            return Err(Error::limit(format!("a super-chunk has at most {MAX_CHUNKS} chunks")));
        }
        self.change(|this| {
            this.check_layer(layer)?;
            this.settle()?;
            let size = this.fixed_size()?;
            let mut bytes = vec![0; size];
            let (mut entries, mut fresh) = (this.contents.entries.clone(), Vec::new());
            let mut kept: Vec<bool> = (0..entries.len()).map(|old| old < unchanged).collect();
            entries.truncate(unchanged.min(count));
            for number in entries.len()..count {
                let made = make(this, number, &mut bytes);
                let entry =
                    made.and_then(|change| this.entry_of(change, &bytes, &mut kept, &mut fresh));
                match entry {
                    Ok(entry) => entries.push(entry),
                    Err(error) => {
                        fresh.into_iter().for_each(|stored| this.release(stored));
                        return Err(this.told(number, error));
                    }
                }
            }
            let gone = kept.iter().enumerate().filter(|(_, kept)| !**kept);
            let gone: Vec<Stored> =
                gone.filter_map(|(number, _)| this.stored(number).ok()).collect();
            this.contents.entries = entries;
            this.contents.nbytes = count as u64 * size as u64;
            gone.into_iter().for_each(|stored| this.release(stored));
            let layers = &mut this.contents.metalayers;
            if let Some(layer) = layers.iter_mut().find(|found| found.name == layer.0) {
                layer.content = content.to_vec();
            }
            Ok(())
        })
    }

    fn entry_of(
        &mut self,
        change: Change,
        bytes: &[u8],
        kept: &mut [bool],
        fresh: &mut Vec<Stored>,
    ) -> Result<Entry> {
        match change {
            Change::Zeros => Ok(Entry::run(Run::Zeros)),
            Change::Keep(number) => {
                let seen = kept.get_mut(number).filter(|kept| !**kept);
                *seen.ok_or_else(|| Error::invalid("a chunk cannot be kept twice"))? = true;
                let entry = self.contents.entries.get(number).copied();
                entry.ok_or_else(|| Error::invalid(format!("there is no chunk {number}")))
            }
            Change::Fresh => {
                let stored = self.encode(bytes)?;
                fresh.push(stored);
                Ok(stored.0)
            }
        }
    }

    /// Refuses to change what another program has changed since the caller looked.
    fn check_layer(&self, (name, content): (&str, &[u8])) -> Result<()> {
        if self.metalayer(name) == Some(content) {
            return Ok(());
        }
        Err(Error::invalid("another program has changed the array: refresh it"))
    }

    /// Whether chunks of the other one are as if they had been made here.
    pub(crate) fn compresses_like(&self, other: &Self) -> bool {
        self.contents.params.are_like(&other.contents.params, self.contents.item_size)
            && self.contents.item_size == other.contents.item_size
            && self.contents.chunk_size == other.contents.chunk_size
    }

    /// Refuses to take more memory than the limits allow.
    pub(crate) fn check_memory(&self, len: usize) -> Result<()> {
        self.limits.check_decoded(len)
    }

    /// The size of every chunk.
    fn fixed_size(&self) -> Result<usize> {
        match self.contents.chunk_size {
            ChunkSize::Fixed(size) => self.limits.check_decoded(size).map(|()| size),
            _ => Err(Error::invalid("the chunks of this array have no size: it cannot be changed")),
        }
    }
}
