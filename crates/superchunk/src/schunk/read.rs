//! Reading: chunks, ranges, single items.

use std::ops::Range;

use bytemuck::Pod;

use super::SuperChunk;
use super::fetch::Source;
use crate::chunk::{Content, Header, Output};
use crate::container::ChunkSize;
use crate::error::{Error, MustGet, Result};
use crate::wire;

/// From how many wanted items on a chunk is decoded whole.
const MANY: usize = 16;

impl SuperChunk {
    /// Decodes the items `range` into the start of `dst`. Only the blocks that hold them are read
    /// and decoded; a chunk has its checksum checked if it is read whole, or is in memory.
    pub fn read_items(&self, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        let size = self.contents.item_size as u64;
        match (range.start.checked_mul(size), range.end.checked_mul(size)) {
            (Some(start), Some(end)) => self.read_bytes(start..end, dst),
            _ => Err(Error::invalid(format!("items {range:?} are past the end of anything"))),
        }
    }

    /// The items `range`, which must have the size of `T`.
    pub fn items<T: Pod>(&self, range: Range<u64>) -> Result<Vec<T>> {
        self.check_item::<T>()?;
        self.check_range(&range, self.item_count(), "items")?;
        let count = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        self.limits.check_decoded(count.saturating_mul(size_of::<T>()))?;
        let mut items = bytemuck::zeroed_vec(count);
        self.read_items(range, bytemuck::cast_slice_mut(&mut items))?;
        Ok(items)
    }

    /// Refuses a type that has another size than the items.
    pub(super) fn check_item<T: Pod>(&self) -> Result<()> {
        match size_of::<T>() {
            size if size == self.contents.item_size => Ok(()),
            size => Err(Error::invalid(format!(
                "the items have {} bytes, the type {size}",
                self.contents.item_size
            ))),
        }
    }

    /// Decodes the bytes `range` into the start of `dst`.
    pub fn read_bytes(&self, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.check_range(&range, self.byte_len(), "bytes")?;
        let wanted = range.end - range.start;
        let room = dst.len();
        let mut dst = usize::try_from(wanted)
            .ok()
            .and_then(|wanted| dst.get_mut(..wanted))
            .ok_or_else(|| Error::invalid(format!("{wanted} bytes, the buffer has {room}")))?;
        let (mut position, output) = (range.start, Output::PartOf(dst.len()));
        while !dst.is_empty() {
            let (number, within) = self.locate(position)?;
            let chunk_len = self.decoded_len(number)?;
            let len = dst.len().min(chunk_len.saturating_sub(within));
            let (part, rest) = dst.must_split_at_mut(len)?;
            if len == 0 {
                return Err(Error::corrupt(format!("chunk {number} is too short")));
            }
            let told = |error: Error| self.told(number, error);
            match len == chunk_len {
                true => self.decode(number, part, output).map(drop).map_err(told)?,
                false => self.decode_part(number, within..within + len, part).map_err(told)?,
            }
            position += len as u64;
            dst = rest;
        }
        Ok(())
    }

    /// Decodes single items, in the order of `items` and as often as they occur there, one after the
    /// other into the start of `dst`.
    pub fn gather(&self, items: &[u64], dst: &mut [u8]) -> Result<()> {
        let size = self.contents.item_size;
        let room = dst.len();
        let mut places: Vec<(u64, &mut [u8])> =
            items.iter().copied().zip(dst.chunks_mut(size)).collect();
        if places.len() != items.len() || room < items.len() * size {
            return Err(Error::invalid(format!(
                "{} items of {size} bytes, the buffer has {room}",
                items.len()
            )));
        }
        places.sort_unstable_by_key(|(item, _)| *item);
        if let Some((last, _)) = places.last() {
            self.check_range(&(0..last.saturating_add(1)), self.item_count(), "items")?;
        }
        let mut rest = places.as_mut_slice();
        while let Some((first, _)) = rest.first() {
            let (number, within) = self.locate(first * size as u64)?;
            let start = first * size as u64 - within as u64;
            let end = start + self.decoded_len(number)? as u64;
            let here = rest.partition_point(|(item, _)| (item + 1) * size as u64 <= end).max(1);
            let (group, behind) = rest.must_split_at_mut(here)?;
            self.gather_in_chunk(number, start, group)?;
            rest = behind;
        }
        Ok(())
    }

    fn gather_in_chunk(
        &self,
        number: usize,
        start: u64,
        group: &mut [(u64, &mut [u8])],
    ) -> Result<()> {
        let size = self.contents.item_size;
        if group.len() < MANY {
            return group
                .iter_mut()
                .try_for_each(|(item, dst)| self.read_items(*item..*item + 1, dst));
        }
        let chunk = self.read_chunk(number)?;
        for (item, dst) in group {
            let at = usize::try_from(*item * size as u64 - start).unwrap_or(usize::MAX);
            match chunk.get(at..at.saturating_add(size)) {
                Some(bytes) => dst.copy_from_slice(bytes),
                None => self.read_items(*item..*item + 1, dst)?,
            }
        }
        Ok(())
    }

    /// All bytes.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let len = usize::try_from(self.byte_len()).unwrap_or(usize::MAX);
        self.limits.check_decoded(len)?;
        let mut bytes = vec![0; len];
        self.read_bytes(0..self.byte_len(), &mut bytes)?;
        Ok(bytes)
    }

    /// Decodes chunk `number`.
    pub fn read_chunk(&self, number: usize) -> Result<Vec<u8>> {
        let len = self
            .decoded_len(number)
            .and_then(|len| self.limits.check_decoded(len).map(|()| len))
            .map_err(|error| self.told(number, error))?;
        let mut bytes = vec![0; len];
        self.read_chunk_into(number, &mut bytes)?;
        Ok(bytes)
    }

    /// Decodes chunk `number` into the start of `dst` and returns its length.
    pub fn read_chunk_into(&self, number: usize, dst: &mut [u8]) -> Result<usize> {
        self.decode(number, dst, Output::Whole).map_err(|error| self.told(number, error))
    }

    /// Every chunk, decoded, in order.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        (0..self.chunk_count()).map(|number| self.read_chunk(number))
    }

    /// Chunk `number` as it is stored; a run becomes the short chunk that says the same.
    pub fn compressed_chunk(&self, number: usize) -> Result<Vec<u8>> {
        let chunk = match self.source(number) {
            Ok(Source::Stored(slot)) => {
                let mut buffer = Vec::new();
                self.fetch(number, slot, &mut buffer).map(|(chunk, _)| chunk.to_vec())
            }
            Ok(Source::Run(run, _)) => self.contents.run_chunk(number, run),
            Ok(Source::Tail(bytes)) => crate::chunk::compress(bytes, &self.compress),
            Err(error) => Err(error),
        };
        chunk.map_err(|error| self.told(number, error))
    }

    /// Where chunk `number` begins in the file of its container, if it is stored there.
    #[cfg(feature = "bloscpack")]
    pub(crate) fn chunk_position(&self, number: usize) -> Option<u64> {
        self.layout.position(self.contents.entries.get(number)?.stored_slot()?)
    }

    /// What the bytes of the file are, where chunks need not follow each other.
    #[cfg(feature = "bloscpack")]
    pub(crate) fn space(&self) -> Result<Option<crate::container::Space>> {
        self.layout.space(&self.contents).map_err(|error| error.within(self.layout.name()))
    }

    /// What chunk `number` is; only its header is read.
    pub fn chunk_header(&self, number: usize) -> Result<Header> {
        self.header(number).map_err(|error| self.told(number, error))
    }

    pub(super) fn header(&self, number: usize) -> Result<Header> {
        match self.source(number)? {
            Source::Stored(slot) => {
                let mut start = [0; 32];
                let found = self.layout.read(slot, 0, &mut start)?;
                Header::parse(wire::filled(&start, found)?)
            }
            Source::Run(run, _) => Header::parse(&self.contents.run_chunk(number, run)?),
            Source::Tail(bytes) => Header::parse(&crate::chunk::compress(bytes, &self.compress)?),
        }
    }

    /// The decoded length of a chunk.
    pub(super) fn decoded_len(&self, number: usize) -> Result<usize> {
        if number == self.contents.entries.len() && !self.tail.bytes.is_empty() {
            return Ok(self.tail.bytes.len());
        }
        if number >= self.contents.entries.len() {
            self.source(number)?;
        }
        match (self.contents.expected_len(number), self.starts.get()) {
            (Some(len), _) => Ok(len),
            // One chunk is asked, not all of them.
            (None, None) => Ok(self.header(number)?.byte_len()),
            (None, Some(starts)) => {
                let ends = starts.get(number).zip(starts.get(number + 1));
                let len = ends.map_or(0, |(start, end)| end - start);
                usize::try_from(len).map_err(|_| Error::limit("a chunk of more than the memory"))
            }
        }
    }

    /// The chunk that holds byte `position`, and where in it.
    pub(super) fn locate(&self, position: u64) -> Result<(usize, usize)> {
        let too_far = |_| Error::limit("more chunks than the memory can number");
        if position >= self.contents.nbytes {
            let within = usize::try_from(position - self.contents.nbytes).map_err(too_far)?;
            return Ok((self.contents.entries.len(), within));
        }
        if let ChunkSize::Fixed(size) = self.contents.chunk_size {
            let (number, within) = (position / size as u64, position % size as u64);
            return Ok((
                usize::try_from(number).map_err(too_far)?,
                usize::try_from(within).map_err(too_far)?,
            ));
        }
        let starts = self.starts()?;
        let number = starts.partition_point(|start| *start <= position).saturating_sub(1);
        let start = *starts.must_get(number)?;
        Ok((number, usize::try_from(position - start).map_err(too_far)?))
    }

    /// Where each chunk of a variable size starts; every chunk is asked once.
    fn starts(&self) -> Result<&[u64]> {
        if let Some(starts) = self.starts.get() {
            return Ok(starts);
        }
        let mut starts = Vec::with_capacity(self.contents.entries.len() + 1);
        let mut position = 0u64;
        starts.push(position);
        for number in 0..self.contents.entries.len() {
            let header = self.header(number).map_err(|error| self.told(number, error))?;
            position = position.saturating_add(header.byte_len() as u64);
            starts.push(position);
        }
        if position != self.contents.nbytes {
            return Err(Error::corrupt(format!(
                "the chunks have {position} bytes, the header says {}",
                self.contents.nbytes
            ))
            .at("frame", "nbytes", 30));
        }
        Ok(self.starts.get_or_init(|| starts))
    }

    /// Whether chunk `number` consists of variable-length blocks.
    pub(super) fn is_vl(header: &Header) -> bool {
        header.content() == Content::VariableBlocks
    }

    fn check_range(&self, range: &Range<u64>, len: u64, what: &str) -> Result<()> {
        if range.start <= range.end && range.end <= len {
            return Ok(());
        }
        Err(Error::invalid(format!("{what} {range:?} are not inside of the {len} there are")))
    }

    /// An error with the chunk and the container it was found in.
    pub(crate) fn told(&self, number: usize, error: Error) -> Error {
        error.within(format!("{}, chunk {number}", self.layout.name()))
    }
}
