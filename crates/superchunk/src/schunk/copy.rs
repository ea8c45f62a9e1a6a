//! Copies: to bytes, to a stream, to another super-chunk.

use std::io::Write;
#[cfg(any(unix, windows))]
use std::path::Path;

use super::SuperChunk;
use super::fetch::Source;
use super::options::FrameOptions;
use crate::container::ChunkSize;
use crate::error::{Error, Result};
use crate::exec::Work;
use crate::frame::{Dialect, Plan};
use crate::options::{ChunkFormat, CompressOptions};

impl SuperChunk {
    /// All of it as a contiguous frame without dead space, with checksums if this one has them.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.write_to(&mut out)?;
        Ok(out)
    }

    /// Writes all of it as a contiguous frame to something that cannot seek, such as a pipe.
    ///
    /// The header of a frame comes first and states all lengths, so the compressed chunks must exist
    /// before: build them in memory or in a file, then write. Chunks are copied as they are.
    pub fn write_to(&self, out: &mut impl Write) -> Result<()> {
        self.write_dialect(Dialect::Modern, out)
    }

    /// The same in another revision of the format.
    pub fn write_dialect(&self, dialect: Dialect, out: &mut impl Write) -> Result<()> {
        if !self.contents.rules.runs {
            return self.copy_to_memory(&self.frame_options())?.write_dialect(dialect, out);
        }
        let mut contents = self.contents.clone();
        let tail = match self.tail.bytes.as_slice() {
            [] => None,
            bytes => {
                let chunk = crate::chunk::compress(bytes, &self.compress)?;
                contents.entries.push(crate::container::Entry::stored(0));
                contents.nbytes += bytes.len() as u64;
                Some(chunk)
            }
        };
        let lens = (0..contents.entries.len()).map(|number| match (&tail, self.source(number)?) {
            (Some(chunk), Source::Tail(_)) => Ok(Some(chunk.len())),
            (_, Source::Run(..)) => Ok(None),
            _ => Ok(Some(self.header(number)?.compressed_len())),
        });
        let lens = lens.collect::<Result<Vec<_>>>()?;
        let sealed = self.layout.integrity() == crate::container::Integrity::Sealed;
        let plan = Plan::new(&contents, dialect, lens.iter().copied(), sealed)?;
        put(out, &plan.head)?;
        for (number, _) in lens.iter().enumerate().filter(|(_, len)| len.is_some()) {
            self.compress.executor.begin(
                Work::Copy,
                self.decoded_len(number)?,
                Some(self.byte_len()),
            )?;
            let mut chunk = match (&tail, number == self.contents.entries.len()) {
                (Some(chunk), true) => chunk.clone(),
                _ => self.compressed_chunk(number)?,
            };
            plan.dress(&mut chunk);
            put(out, &chunk)?;
        }
        put(out, &plan.tail)
    }

    /// A new super-chunk at `path` with the same data and metadata, made as the options say.
    #[cfg(any(unix, windows))]
    pub fn copy_to(&self, path: impl AsRef<Path>, options: &FrameOptions) -> Result<Self> {
        let mut copy = Self::create(path, options)?;
        copy.take_from(self)?;
        copy.commit()?;
        Ok(copy)
    }

    /// A new super-chunk in memory with the same data and metadata, made as the options say.
    pub fn copy_to_memory(&self, options: &FrameOptions) -> Result<Self> {
        let mut copy = Self::in_memory(options)?;
        copy.take_from(self)?;
        Ok(copy)
    }

    /// Options that make a frame like the original: its chunks need not be compressed again, unless
    /// they are of Blosc1.
    #[must_use]
    pub fn frame_options(&self) -> FrameOptions {
        let compress = CompressOptions { item_size: self.item_size(), ..self.compress.clone() };
        let options = FrameOptions::new(compress.with_format(ChunkFormat::Blosc2));
        match self.contents.chunk_size {
            ChunkSize::Fixed(size) => options.with_chunk_size(size),
            ChunkSize::Variable => options.with_variable_chunks(),
            ChunkSize::Open => options,
        }
    }

    /// Appends everything that `other` holds. Chunks are copied as they are where both have the same
    /// parameters and they fit; else they are compressed again.
    pub fn append_from(&mut self, other: &Self) -> Result<()> {
        if self.contents.item_size != other.contents.item_size {
            return Err(Error::invalid(format!(
                "items of {} bytes do not go behind items of {}",
                other.contents.item_size, self.contents.item_size
            )));
        }
        self.change(|this| {
            this.leave_short();
            this.take_tail()
        })?;
        let (len, before, tail) = (self.byte_len(), self.contents.clone(), self.tail.bytes.clone());
        let takes_chunks = self.takes_chunks_of(other);
        let appended = (0..other.chunk_count()).try_for_each(|number| {
            let len = other.decoded_len(number)?;
            self.compress.executor.begin(Work::Copy, len, Some(other.byte_len()))?;
            match takes_chunks {
                true => self.append_chunk(&other.compressed_chunk(number)?),
                false => self.append(&other.read_chunk(number)?),
            }
        });
        if appended.is_err() && self.byte_len() > len {
            // As if nothing had happened.
            for number in before.entries.len()..self.contents.entries.len() {
                let stored = self.stored(number)?;
                self.release(stored);
            }
            self.adopt(before);
            self.tail.bytes = tail;
        }
        appended
    }

    /// Returns whether [`append_from`](Self::append_from) copies the chunks of `other` as they are,
    /// without decoding them.
    #[must_use]
    pub fn takes_chunks_of(&self, other: &Self) -> bool {
        let fits = match (self.contents.chunk_size, other.contents.chunk_size) {
            (ChunkSize::Fixed(size), ChunkSize::Fixed(theirs)) => {
                size == theirs && self.byte_len().is_multiple_of(size as u64)
            }
            (ChunkSize::Variable, _) => true,
            _ => false,
        };
        // Frames have no chunks of Blosc1, and the older formats no others.
        let alike = self.contents.params.are_like(&other.contents.params, self.contents.item_size)
            && self.contents.rules.runs
            && other.contents.rules.runs;
        fits && alike || other.contents.vl_blocks
    }

    /// Takes over everything that `other` holds, within its limits.
    fn take_from(&mut self, other: &Self) -> Result<()> {
        self.limits = other.limits;
        for layer in &other.contents.metalayers {
            if self.metalayer(&layer.name).is_none() {
                self.set_metalayer(&layer.name, &layer.content)?;
            }
        }
        for name in other.attribute_names() {
            self.set_attribute_bytes(name, &other.attribute_bytes(name)?)?;
        }
        self.append_from(other)
    }
}

fn put(out: &mut impl Write, bytes: &[u8]) -> Result<()> {
    out.write_all(bytes).map_err(|error| Error::io("cannot write the frame", error))
}
