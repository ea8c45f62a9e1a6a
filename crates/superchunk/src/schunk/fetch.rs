//! From the number of a chunk to its bytes, with as few reads as possible.

use std::ops::Range;

use super::SuperChunk;
use crate::chunk::{ChunkBytes, Content, Decoder, Header, LazyChunk, Output};
use crate::container::{Layout, Run, Slot};
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::filters::scratch;
use crate::wire;

/// What a small read of a chunk takes first: its header and block starts, or all of a small chunk.
const PREFIX: u64 = 8192;
/// The bytes of the longer of the two headers that a chunk may have.
const LONGEST_HEADER: u64 = 32;
/// The most that is taken for a block, or for block starts, before their bytes are seen to exist.
const LARGE_BLOCK: usize = 1 << 20;
/// The first read of a chunk of unknown length.
const FIRST_GUESS: usize = 64 * 1024;

/// Memory for reading.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) decoder: Decoder,
    pub(super) buffer: Vec<u8>,
}

/// As much of a stored chunk as is needed.
pub(super) enum Held<'b> {
    /// All of it.
    Whole(&'b [u8]),
    /// Where its blocks are, and its first bytes.
    Start(LazyChunk, &'b [u8]),
}

/// Where a chunk is.
pub(super) enum Source<'a> {
    /// It is still growing: these are its bytes, decoded.
    Tail(&'a [u8]),
    /// One value, this many bytes.
    Run(Run, usize),
    /// In the layout.
    Stored(u64),
}

/// A chunk of a layout, whose first bytes are here.
pub(super) struct StoredChunk<'a> {
    pub(super) layout: &'a dyn Layout,
    pub(super) slot: u64,
    pub(super) here: &'a [u8],
}

impl ChunkBytes for StoredChunk<'_> {
    /// A block of usual size takes one read; one that claims more gets memory as its bytes come.
    fn fetch(&mut self, wanted: Range<usize>, buffer: &mut Vec<u8>) -> Result<usize> {
        if let Some(bytes) = self.here.get(wanted.clone()) {
            scratch(buffer, bytes.len()).copy_from_slice(bytes);
            return Ok(bytes.len());
        }
        let mut have = 0;
        while have < wanted.len() {
            let end = wanted.len().min(have.saturating_mul(2).max(LARGE_BLOCK));
            let dst = scratch(buffer, end).must_get_mut(have..)?;
            let found = self.layout.read(self.slot, (wanted.start + have) as u64, dst)?;
            have += found;
            if have < end {
                break;
            }
        }
        Ok(have)
    }

    fn fetch_piece(&mut self, position: usize, dst: &mut [u8]) -> Result<bool> {
        if !self.layout.is_near() {
            return Ok(false);
        }
        if let Some(bytes) = self.here.get(position..position + dst.len()) {
            dst.copy_from_slice(bytes);
            return Ok(true);
        }
        Ok(self.layout.read(self.slot, position as u64, dst)? == dst.len())
    }
}

impl SuperChunk {
    /// Where chunk `number` is.
    pub(super) fn source(&self, number: usize) -> Result<Source<'_>> {
        let Some(entry) = self.contents.entries.get(number) else {
            if number == self.contents.entries.len() && !self.tail.bytes.is_empty() {
                return Ok(Source::Tail(&self.tail.bytes));
            }
            return Err(Error::invalid(format!(
                "there is no chunk {number}: the super-chunk has {}",
                self.chunk_count()
            )));
        };
        Ok(match entry.slot(number)? {
            Slot::Run(run) => Source::Run(run, self.contents.run_len(number)?),
            Slot::Stored(slot) => Source::Stored(slot),
        })
    }

    /// Decodes a whole chunk into the start of `dst` and returns its length.
    pub(super) fn decode(&self, number: usize, dst: &mut [u8], output: Output) -> Result<usize> {
        match self.source(number)? {
            Source::Stored(slot) => self.with_scratch(|Scratch { decoder, buffer }| {
                let decoder = decoder.for_output(output);
                let (chunk, _) = self.fetch(number, slot, buffer)?;
                match self.prefix(number, chunk)? {
                    Some(len) => decoder.read_bytes(chunk, 0..len, room(dst, len)?).map(|_| len),
                    None => decoder.decompress_into(chunk, dst),
                }
            }),
            Source::Run(run, len) => {
                self.write_run(run, 0, room(dst, len)?)?;
                Ok(len)
            }
            Source::Tail(bytes) => {
                room(dst, bytes.len())?.copy_from_slice(bytes);
                Ok(bytes.len())
            }
        }
    }

    /// Decodes the bytes `range` of a chunk into `dst`, which is as long.
    pub(super) fn decode_part(
        &self,
        number: usize,
        range: Range<usize>,
        dst: &mut [u8],
    ) -> Result<()> {
        match self.source(number)? {
            Source::Stored(slot) => self
                .with_scratch(|scratch| self.decode_stored_part(number, slot, range, dst, scratch)),
            Source::Run(run, len) if range.end <= len => self.write_run(run, range.start, dst),
            Source::Tail(bytes) => match bytes.get(range) {
                Some(bytes) => {
                    dst.copy_from_slice(bytes);
                    Ok(())
                }
                None => Err(Error::invalid("past the end of the last chunk")),
            },
            Source::Run(..) => Err(Error::invalid("past the end of the chunk")),
        }
    }

    fn decode_stored_part(
        &self,
        number: usize,
        slot: u64,
        range: Range<usize>,
        dst: &mut [u8],
        Scratch { decoder, buffer }: &mut Scratch,
    ) -> Result<()> {
        let read = match self.hold(number, slot, range.len(), buffer)? {
            Held::Whole(chunk) => return decoder.read_bytes(chunk, range, dst).map(drop),
            Held::Start(lazy, here) => {
                let source = &mut StoredChunk { layout: self.layout.as_ref(), slot, here };
                decoder.read_lazy_from(&lazy, range.clone(), source, dst).map(drop)
            }
        };
        match read {
            Err(error) if wants_more(&error) => {
                let (chunk, _) = self.fetch(number, slot, buffer)?;
                decoder.read_bytes(chunk, range, dst).map(drop)
            }
            read => read,
        }
    }

    /// Gets hold of as much of a chunk as `wanted` decoded bytes of it need.
    pub(super) fn hold<'b>(
        &'b self,
        number: usize,
        slot: u64,
        wanted: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Held<'b>> {
        let many = self.contents.expected_len(number).is_some_and(|len| wanted >= len / 2);
        let whole = many || self.contents.rules.check_always;
        if whole || self.layout.as_bytes(slot).is_some() {
            return self.fetch(number, slot, buffer).map(|(chunk, _)| Held::Whole(chunk));
        }
        let (header, here) = self.read_start(number, slot, buffer)?;
        if here >= header.compressed_len() {
            return Ok(Held::Whole(wire::filled(buffer, here)?));
        }
        let prefix = LazyChunk::prefix_len(&header);
        let in_blocks = matches!(header.content(), Content::Blocks | Content::Stored);
        let small = wanted < header.len() / 2 && prefix < header.compressed_len() / 2;
        if !(in_blocks && small) {
            return self.fetch(number, slot, buffer).map(|(chunk, _)| Held::Whole(chunk));
        }
        let here = match here < prefix {
            true => self.read_prefix(slot, buffer, here, prefix)?.len(),
            false => here,
        };
        match LazyChunk::new(wire::filled(buffer, here)?, 0, 0) {
            Ok(lazy) => Ok(Held::Start(lazy, wire::filled(buffer, here)?)),
            Err(_) => self.fetch(number, slot, buffer).map(|(chunk, _)| Held::Whole(chunk)),
        }
    }

    /// Reads the first bytes of a chunk that is not in memory: its header, and how many bytes came.
    pub(super) fn read_start(
        &self,
        number: usize,
        slot: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<(Header, usize)> {
        let extent = self.likely_extent(number, slot)?;
        let first = usize::try_from(extent.min(PREFIX)).unwrap_or(FIRST_GUESS);
        let here = self.read_more(slot, buffer, 0, first)?.len();
        let header = Header::parse(wire::filled(buffer, here)?)?;
        self.check_len(number, &header)?;
        self.check_extent(slot, header.compressed_len())?;
        Ok((header, here))
    }

    /// All bytes of a stored chunk, checked; the second slice is what follows it.
    pub(super) fn fetch<'b>(
        &'b self,
        number: usize,
        slot: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(&'b [u8], &'b [u8])> {
        let (chunk, behind) = self.fetch_unchecked(number, slot, buffer)?;
        match self.layout.check(slot, chunk, behind) {
            Some(Err(error)) => Err(error),
            _ => Ok((chunk, behind)),
        }
    }

    /// The same, whether it has its checksum or not.
    pub(super) fn fetch_unchecked<'b>(
        &'b self,
        number: usize,
        slot: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<(&'b [u8], &'b [u8])> {
        if let Some(bytes) = self.layout.as_bytes(slot) {
            let header = Header::parse(bytes)?;
            self.check_len(number, &header)?;
            return split(header.compressed_len(), bytes);
        }
        let extent = self.likely_extent(number, slot)?;
        let likely = match self.contents.expected_len(number) {
            // Chunks are hardly ever longer than what they hold.
            Some(len) => len.saturating_add(64),
            None => FIRST_GUESS,
        };
        // What the container says of the length is not to be believed beyond the limits.
        let likely = likely.min(self.limits.max_decoded.saturating_add(FIRST_GUESS));
        let first = usize::try_from(extent).map_or(likely, |extent| extent.min(likely));
        let found = self.read_more(slot, buffer, 0, first)?.len();
        let header = Header::parse(wire::filled(buffer, found)?)?;
        self.check_len(number, &header)?;
        let len = header.compressed_len();
        let extent = if len as u64 > extent { self.check_extent(slot, len)? } else { extent };
        let wanted = len.saturating_add(self.layout.behind());
        let wanted = usize::try_from(extent).map_or(wanted, |extent| extent.min(wanted));
        // Fewer bytes than asked for: nothing follows them.
        let here = if found < wanted && found == first {
            self.limits.check_decoded(len)?;
            self.read_more(slot, buffer, found, wanted)?
        } else {
            wire::filled(buffer, found)?
        };
        split(len, here)
    }

    /// [`read_more`](Self::read_more), up to where a header says that the block starts end: one that claims many of them
    /// gets memory as their bytes come.
    pub(super) fn read_prefix<'b>(
        &self,
        slot: u64,
        buffer: &'b mut Vec<u8>,
        from: usize,
        to: usize,
    ) -> Result<&'b [u8]> {
        let mut found = from;
        while found < to {
            let end = to.min(found.saturating_mul(2).max(LARGE_BLOCK));
            found = self.read_more(slot, buffer, found, end)?.len();
            if found < end {
                break;
            }
        }
        wire::filled(buffer, found)
    }

    /// Makes `buffer`, which begins with the first `from` bytes of a chunk, begin with the first `to`,
    /// or as many as there are, and returns these. What follows them in the buffer has no meaning:
    /// clearing it would cost as much as reading.
    pub(super) fn read_more<'b>(
        &self,
        slot: u64,
        buffer: &'b mut Vec<u8>,
        from: usize,
        to: usize,
    ) -> Result<&'b [u8]> {
        if buffer.len() < to {
            buffer.resize(to, 0);
        }
        let dst = buffer.must_get_mut(from..to)?;
        let found = from + self.layout.read(slot, from as u64, dst)?;
        wire::filled(buffer, found)
    }

    /// Refuses a chunk that has another length than the container says.
    pub(super) fn check_len(&self, number: usize, header: &Header) -> Result<()> {
        match self.contents.expected_len(number) {
            Some(expected) if header.len() > expected && self.may_be_longer(number) => Ok(()),
            Some(expected) if expected != header.len() => Err(Error::corrupt(format!(
                "the chunk decodes to {} bytes, its place holds {expected}",
                header.len()
            ))
            .at("chunk", "nbytes", 4)),
            _ => Ok(()),
        }
    }

    /// Refuses a chunk that is longer than the space behind its start, and returns the length of that. Where the next
    /// chunk is said to begin does not count: if that is wrong, this chunk may be right.
    fn check_extent(&self, slot: u64, len: usize) -> Result<u64> {
        let extent = self.layout.extent(slot, None)?;
        if len as u64 > extent { Err(past_the_end(len, extent)) } else { Ok(extent) }
    }

    /// Whether a stored chunk may hold more than its place.
    fn may_be_longer(&self, number: usize) -> bool {
        self.contents.rules.longer_last && number + 1 == self.contents.entries.len()
    }

    /// How many bytes of a stored chunk count, if not all.
    fn prefix(&self, number: usize, chunk: &[u8]) -> Result<Option<usize>> {
        if !self.may_be_longer(number) {
            return Ok(None);
        }
        let len = Header::parse(chunk)?.len();
        Ok(self.contents.expected_len(number).filter(|expected| *expected < len))
    }

    /// How many bytes a chunk takes at most, if the next one is where it is said to be. One that leaves no room for a
    /// header cannot be there.
    fn likely_extent(&self, number: usize, slot: u64) -> Result<u64> {
        match self.layout.extent(slot, self.next_slot(number))? {
            extent if extent < LONGEST_HEADER => self.layout.extent(slot, None),
            extent => Ok(extent),
        }
    }

    /// The slot of the chunk that follows, if it is stored.
    fn next_slot(&self, number: usize) -> Option<u64> {
        self.contents.entries.get(number + 1)?.stored_slot()
    }

    /// Fills `dst` with the value of a run, as from byte `start` of it on.
    pub(super) fn write_run(&self, run: Run, start: usize, dst: &mut [u8]) -> Result<()> {
        if run != Run::Nans {
            dst.fill(0);
            return Ok(());
        }
        let chunk = crate::chunk::nans(self.contents.item_size, self.contents.item_size)?;
        let nan = crate::chunk::decompress(&chunk)?;
        for (place, byte) in dst.iter_mut().zip(nan.iter().cycle().skip(start % nan.len().max(1))) {
            *place = *byte;
        }
        Ok(())
    }

    /// The number of threads that may each decode a chunk of `len` bytes at the same time.
    pub(crate) fn threads_for_chunks(&self, len: usize) -> usize {
        self.limits.threads_holding(len, self.compress.executor.thread_count())
    }

    /// A decoder for these chunks.
    pub(super) fn decoder(&self) -> Decoder {
        let decoder = Decoder::new()
            .with_executor(self.compress.executor.clone())
            .with_limits(self.limits)
            .with_marks(self.marks)
            .with_registry(self.compress.registry.clone());
        match &self.compress.block_shape {
            Some(shape) => decoder.with_block_shape(shape.clone()),
            None => decoder,
        }
    }

    /// Lends memory for reading; it is kept for the next one.
    pub(super) fn with_scratch<T>(
        &self,
        work: impl FnOnce(&mut Scratch) -> Result<T>,
    ) -> Result<T> {
        let new = || Scratch { decoder: self.decoder(), buffer: Vec::new() };
        self.scratch.lend(new, |scratch| {
            scratch.decoder.for_output(Output::Whole);
            work(scratch)
        })
    }
}

/// The first `len` bytes of `dst`.
fn room(dst: &mut [u8], len: usize) -> Result<&mut [u8]> {
    let found = dst.len();
    dst.get_mut(..len)
        .ok_or_else(|| Error::invalid(format!("the chunk has {len} bytes, the buffer {found}")))
}

/// Whether all of a chunk may tell more than its blocks, each cut off where the next one begins: blocks that overlap
/// can be read, if only with the bytes that follow them. So a chunk is read or refused alike wherever it is.
pub(super) fn wants_more(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated)
}

/// A chunk of `len` bytes, and what follows it.
fn split(len: usize, bytes: &[u8]) -> Result<(&[u8], &[u8])> {
    bytes.split_at_checked(len).ok_or_else(|| past_the_end(len, bytes.len() as u64))
}

fn past_the_end(len: usize, extent: u64) -> Error {
    Error::truncated(format!("the chunk has {len} bytes, its place {extent}"))
        .at("chunk", "cbytes", 12)
}
