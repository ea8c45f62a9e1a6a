//! A Bloscpack file as the place where a super-chunk keeps its chunks.
//!
//! A slot is the position of a chunk, counted from the first chunk on, so that the room before it can
//! change.

use std::sync::{Arc, Mutex, PoisonError};

use super::plan::{Plan, Policy};
use super::replace::{Room, room_of};
use super::start::{Start, Trust};
use super::walk::Chunks;
use super::writer::{State, Writer};
use super::{Checksum, MetadataOptions, PackHeader};
use crate::chunk;
use crate::container::{self, ChunkSize, Contents, Entry, Integrity, Layout, Params, Rules, Space};
use crate::error::{Error, MustGet, Result};
use crate::options::CompressOptions;
use crate::store::{Home, ReadAt, WriteAt};
use crate::wire::json::Json;

/// The usual bytes of a chunk.
pub(crate) const CHUNK_SIZE: usize = 1 << 20;
/// The bytes of a chunk that holds nothing, and of the header of all others.
pub(super) const CHUNK_HEADER: usize = 16;

/// The chunks of a file.
pub(crate) struct Packed {
    pub(super) store: Arc<dyn ReadAt>,
    name: String,
    pub(super) checksum: Checksum,
    /// Whether digests are compared.
    checked: bool,
    /// Where the offsets end.
    pub(super) offsets_end: u64,
    /// Where the first chunk is.
    pub(super) base: u64,
    /// Where the last one ends at most, from there on.
    end: u64,
    pub(super) writer: Option<Writer>,
}

impl Packed {
    /// The chunks of a file that was opened for reading.
    pub(crate) fn reading(
        store: Arc<dyn ReadAt>,
        start: &Start,
        chunks: &Chunks,
        trust: &Trust,
        name: String,
    ) -> Self {
        Self {
            store,
            name,
            checksum: start.header.checksum,
            checked: !trust.unchecked,
            offsets_end: start.table_end,
            base: chunks.base,
            end: start.len.saturating_sub(chunks.base),
            writer: None,
        }
    }

    /// The chunks of a file that was opened for reading and writing.
    pub(crate) fn editing(
        file: Arc<dyn WriteAt>,
        home: Option<Home>,
        start: &Start,
        chunks: &Chunks,
        trust: &Trust,
        name: String,
    ) -> Result<Self> {
        let header = &start.header;
        if header.version < 3 || (header.is_proposal() && !(header.version == 4 && header.varlen)) {
            return Err(Error::unsupported(format!(
                "a file of version {} of this kind is only read: copy it to a new one",
                header.version
            )));
        }
        let mut bytes = vec![0; usize::try_from(start.table).unwrap_or(0)];
        file.read_exact_at(0, &mut bytes)?;
        let metadata = bytes.split_off(super::HEADER_LEN.min(bytes.len()));
        let capacity = chunks.base.saturating_sub(start.table) / super::offsets::WIDTH;
        // What the chunks say is not to be lost when more are put behind them.
        let header = PackHeader { last_chunk: Some(chunks.last), ..header.clone() };
        let plan = Plan { header, metadata, capacity };
        let metadata_options = start.meta_header.as_ref().map_or_else(Default::default, |header| {
            MetadataOptions { checksum: header.checksum, ..MetadataOptions::default() }
        });
        let policy = Policy { slots: None, metadata: metadata_options, reserve: 0 };
        let mut writer =
            Writer::new(file.clone(), home, policy, plan, chunks.base, start.metadata.clone());
        let whole =
            chunks.slots.len() as u64 == chunks.stored && !chunks.recovered && !trust.lenient;
        writer.committed = whole.then(|| chunks.slots.clone());
        writer.cursor = end_of(file.as_ref(), start, chunks)?.saturating_sub(chunks.base);
        writer.settled = writer.cursor;
        writer.is_new = false;
        writer.committed_len = Some(file.len()?);
        let mut this = Self::reading(file, start, chunks, trust, name);
        this.writer = Some(writer);
        Ok(this)
    }

    /// A new file; its header appears with the first commit.
    pub(crate) fn creating(
        file: Arc<dyn WriteAt>,
        home: Option<Home>,
        header: PackHeader,
        json: Option<Json>,
        policy: Policy,
        expected: u64,
        name: String,
    ) -> Result<Self> {
        let checksum = header.checksum;
        let plan = Plan::new(header, json.as_ref(), &policy, expected)?;
        let base = plan.base();
        let writer = Writer::new(file.clone(), home, policy, plan, base, json);
        let store: Arc<dyn ReadAt> = file;
        let (checked, offsets_end, writer) = (true, base, Some(writer));
        Ok(Self { store, name, checksum, checked, offsets_end, base, end: 0, writer })
    }

    /// The same with this much room after each object that is written.
    pub(crate) fn with_reserve(mut self, percent: u32) -> Self {
        if let Some(writer) = self.writer.as_mut().filter(|writer| writer.plan.header.varlen) {
            writer.policy.reserve = percent;
        }
        self
    }

    /// What the file says of itself, if it is written.
    pub(crate) fn state(&self) -> Option<Arc<Mutex<State>>> {
        Some(self.writer.as_ref()?.state.clone())
    }

    fn writer(&mut self) -> Result<&mut Writer> {
        self.writer.as_mut().ok_or_else(container::read_only)
    }

    /// Where the last chunk ends.
    fn end(&self) -> u64 {
        self.writer.as_ref().map_or(self.end, |writer| writer.cursor)
    }

    /// What the next commit makes of header and metadata; `None` when that takes a new file.
    fn next_plan(&self, contents: &Contents) -> Result<Option<Plan>> {
        let Some(writer) = &self.writer else { return Err(container::read_only()) };
        let Some(committed) = &writer.committed else { return Ok(None) };
        let count = contents.entries.len();
        let fresh = writer.fresh.iter().map(|fresh| fresh.slot);
        let expected = committed.iter().copied().chain(fresh).map(Entry::stored);
        if !contents.entries.iter().copied().eq(expected) || count == 0 {
            return Ok(None);
        }
        let Some(mut plan) = self.refitted(contents)? else { return Ok(None) };
        let header = &mut plan.header;
        let sizes = writer.fresh.iter().map(|fresh| fresh.nbytes);
        if committed.is_empty() {
            state_sizes(header, sizes, count);
        } else if let Some(last) = writer.fresh.last() {
            // What was the last chunk may not be it any more.
            let before = header.last_chunk.unwrap_or(0);
            let first = if committed.len() == 1 { Some(before) } else { header.chunk_size };
            let between = first.into_iter().chain((committed.len() > 1).then_some(before));
            let all = between.chain(sizes);
            state_sizes(header, all, count);
            header.last_chunk = Some(last.nbytes);
        }
        Ok(Some(plan))
    }

    /// PackHeader and metadata for the chunks there are now, whose sizes are still to be stated; `None`
    /// when there is no room for their offsets, or for the metadata.
    pub(super) fn refitted(&self, contents: &Contents) -> Result<Option<Plan>> {
        let Some(writer) = &self.writer else { return Err(container::read_only()) };
        let count = contents.entries.len() as u64;
        if !writer.has_room_for(count)? {
            return Ok(None);
        }
        let mut plan = writer.plan.clone();
        let state = writer.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.has_changed() {
            let Some(fitted) = plan.refit(state.json.as_ref(), &writer.policy)? else {
                return Ok(None);
            };
            plan.metadata = fitted;
        }
        drop(state);
        let header = &mut plan.header;
        header.chunk_count = Some(count);
        if header.offsets && !header.varlen {
            header.append_slots = plan.capacity.saturating_sub(count);
        }
        Ok(Some(plan))
    }

    /// Writes everything to a new file, in which objects have the room that they had on request.
    fn rewrite(&mut self, contents: &mut Contents, keeps_rooms: bool) -> Result<()> {
        let mut writer = self.writer.take().ok_or_else(container::read_only)?;
        // Between objects that cannot be read no room is known; what is to be copied is checked then.
        let rooms = self.rooms(&writer).ok().filter(|_| keeps_rooms).unwrap_or_default();
        let written = writer.flush();
        let done = written.and_then(|()| self.rewrite_with(&mut writer, contents, &rooms));
        if done.is_ok() {
            self.store = writer.file.clone();
            self.base = writer.base;
        }
        self.writer = Some(writer);
        done
    }

    fn rewrite_with(
        &self,
        writer: &mut Writer,
        contents: &mut Contents,
        rooms: &[Room],
    ) -> Result<()> {
        let old = contents.entries.clone();
        let slot_of = |number: usize| -> Result<u64> {
            let slot = old.get(number).and_then(|entry| entry.stored_slot());
            slot.ok_or_else(|| Error::invalid("a run has no place in a Bloscpack file"))
        };
        let sizes = (0..old.len())
            .map(|number| Ok(self.chunk_header(writer, slot_of(number)?)?.byte_len()));
        let sizes = sizes.collect::<Result<Vec<_>>>()?;
        let mut header = writer.plan.header.clone();
        // A file has at least one chunk, if need be one that holds nothing.
        let nothing = old.is_empty() && !header.varlen;
        let count = if nothing { 1 } else { old.len() };
        if let ChunkSize::Fixed(size) = contents.chunk_size {
            header.chunk_size = header.chunk_size.map(|_| size);
        }
        state_sizes(&mut header, sizes.iter().copied(), old.len());
        let json = writer.state.lock().unwrap_or_else(PoisonError::into_inner).json.clone();
        let plan = Plan::new(header, json.as_ref(), &writer.policy, count as u64)?;
        let (file, from, policy) = (writer.file.clone(), self.base, writer.policy.clone());
        let slots = writer.rewrite(plan, count, |number, out| {
            let chunk = match nothing {
                true => empty_chunk(contents.item_size)?,
                false => self.whole_chunk(file.as_ref(), from.saturating_add(slot_of(number)?))?,
            };
            let start = out.len();
            out.extend_from_slice(&chunk);
            self.checksum.append(&chunk, out);
            let len = out.len() - start;
            let kept = room_of(number, slot_of(number).ok(), rooms);
            let kept = kept.map_or(0, |room| room.after(len));
            out.resize(out.len() + policy.free_after(len).max(kept), 0);
            Ok(())
        })?;
        if nothing {
            writer.committed = None;
        } else {
            contents.entries = slots.into_iter().map(Entry::stored).collect();
        }
        Ok(())
    }

    pub(super) fn chunk_header(&self, writer: &Writer, slot: u64) -> Result<chunk::Header> {
        let mut bytes = [0; CHUNK_HEADER];
        writer.file.read_exact_at(self.base.saturating_add(slot), &mut bytes)?;
        chunk::Header::parse(&bytes)
    }

    /// A chunk of the present file; one that is damaged does not become a good one of the new file.
    fn whole_chunk(&self, file: &dyn WriteAt, position: u64) -> Result<Vec<u8>> {
        let mut bytes = [0; CHUNK_HEADER];
        file.read_exact_at(position, &mut bytes)?;
        let len = chunk::Header::parse(&bytes)?.compressed_len();
        let mut chunk = vec![0; len.saturating_add(self.checksum.len())];
        file.read_exact_at(position, &mut chunk)?;
        let (whole, digest) = chunk.must_split_at(len)?;
        if self.checked {
            self.checksum.compare(whole, digest)?;
        }
        chunk.truncate(len);
        Ok(chunk)
    }
}

impl Layout for Packed {
    fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize> {
        let position = slot.saturating_add(start);
        let mut end = self.end();
        if let Some(writer) = &self.writer {
            if position >= writer.written() {
                let here = writer.unwritten(position);
                return Ok(dst.iter_mut().zip(here).map(|(to, from)| *to = *from).count());
            }
            end = writer.written();
        }
        let left = end.saturating_sub(position);
        let len = usize::try_from(left).map_or(dst.len(), |left| left.min(dst.len()));
        self.store.read_at(self.base.saturating_add(position), dst.must_get_mut(..len)?)
    }

    fn as_bytes(&self, slot: u64) -> Option<&[u8]> {
        let start = usize::try_from(self.base.checked_add(slot)?).ok()?;
        self.store.as_bytes().filter(|_| self.writer.is_none())?.get(start..)
    }

    fn position(&self, slot: u64) -> Option<u64> {
        self.base.checked_add(slot)
    }

    fn space(&self, contents: &Contents) -> Result<Option<Space>> {
        let listed = || contents.entries.iter().filter_map(|entry| entry.stored_slot()).collect();
        let committed = self.writer.as_ref().and_then(|writer| writer.committed.clone());
        let end = self.store.len()?.saturating_sub(self.base);
        Ok(Some(self.space_of(&committed.unwrap_or_else(listed), end)?))
    }

    fn extent(&self, slot: u64, next: Option<u64>) -> Result<u64> {
        let end = self.end();
        if slot >= end {
            return Err(Error::corrupt(format!("the chunk is at byte {slot} of {end}")).at(
                "bloscpack",
                "offsets",
                0,
            ));
        }
        Ok(next.filter(|next| *next > slot).unwrap_or(end).min(end) - slot)
    }

    fn check(&self, _slot: u64, chunk: &[u8], behind: &[u8]) -> Option<Result<()>> {
        (self.checked && self.checksum != Checksum::None)
            .then(|| self.checksum.compare(chunk, behind))
    }

    fn behind(&self) -> usize {
        self.checksum.len()
    }

    fn put(&mut self, chunk: &mut Vec<u8>) -> Result<u64> {
        let (len, checksum) = (chunk.len(), self.checksum);
        let nbytes = chunk::Header::parse(chunk)?.byte_len();
        let mut digest = Vec::new();
        checksum.append(chunk, &mut digest);
        chunk.extend(digest);
        let free = self.writer()?.policy.free_after(chunk.len());
        chunk.resize(chunk.len() + free, 0);
        let put = self.writer().and_then(|writer| writer.put(chunk, nbytes));
        chunk.truncate(len);
        put
    }

    fn release(&mut self, slot: u64, _len: usize) {
        if let Some(writer) = &mut self.writer {
            writer.release(slot);
        }
    }

    fn begin(&mut self, _contents: &Contents) -> Result<Option<Contents>> {
        self.writer()?.check()?;
        Ok(None)
    }

    fn commit(&mut self, contents: &mut Contents) -> Result<()> {
        self.state_shape(contents.entries.len() as u64)?;
        match self.next_plan(contents)? {
            Some(plan) => {
                let slots: Vec<u64> =
                    contents.entries.iter().filter_map(|entry| entry.stored_slot()).collect();
                self.writer()?.commit_in_place(plan, &slots, 0..0)?;
            }
            None => match self.commit_replaced(contents)? {
                Some(slots) => contents.entries = slots.into_iter().map(Entry::stored).collect(),
                None => self.rewrite(contents, true)?,
            },
        }
        contents.rules.keep_short = contents.entries.len() > 1;
        Ok(())
    }

    fn compact(&mut self, contents: &mut Contents) -> Result<()> {
        self.rewrite(contents, false)
    }

    fn discard(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.discard();
        }
    }

    fn integrity(&self) -> Integrity {
        match self.checksum {
            Checksum::None => Integrity::None,
            _ => Integrity::Digests,
        }
    }

    fn stored_len(&self) -> Result<u64> {
        self.store.len()
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Packed {
    /// The metadata of objects says how many there are.
    fn state_shape(&mut self, count: u64) -> Result<()> {
        let writer = self.writer()?;
        if !writer.plan.header.varlen {
            return Ok(());
        }
        let mut state = writer.state.lock().unwrap_or_else(PoisonError::into_inner);
        let shape = Json::from(vec![Json::from(count)]);
        if let Some(json) = state.json.as_mut().filter(|json| json.get("shape").is_some())
            && json.get("shape") != Some(&shape)
        {
            json.set("shape", shape)?;
        }
        Ok(())
    }
}

/// What a super-chunk over a file begins with.
pub(crate) fn contents_of(
    header: &PackHeader,
    chunks: &Chunks,
    compress: &CompressOptions,
    item_size: usize,
    checked: bool,
) -> Result<Contents> {
    let params = Params::from_options(compress)?;
    let rules = Rules {
        cut: (!header.varlen).then(|| header.chunk_size.unwrap_or(CHUNK_SIZE)),
        keep_short: chunks.slots.len() > 1,
        check_always: checked && header.checksum != Checksum::None,
        ..Rules::blosc1()
    };
    Ok(Contents {
        nbytes: chunks.nbytes,
        entries: chunks.slots.iter().copied().map(Entry::stored).collect(),
        rules,
        ..Contents::new(item_size, chunks.size, params)
    })
}

/// Where the next chunk goes: after the last one and, if that is an object, its reserve. What
/// begins there with other bytes was left by a writer that was interrupted.
fn end_of(file: &dyn WriteAt, start: &Start, chunks: &Chunks) -> Result<u64> {
    let mut next = [1];
    if start.header.varlen && chunks.end < start.len {
        file.read_exact_at(chunks.end, &mut next)?;
    }
    Ok(if next == [0] { start.len } else { chunks.end })
}

/// States the sizes of all chunks as the format wants it: not at all when they do not follow its rule.
fn state_sizes(header: &mut PackHeader, sizes: impl Iterator<Item = usize>, count: usize) {
    let mut last = 0;
    let mut regular = true;
    for (number, size) in sizes.enumerate() {
        last = size;
        regular &= match header.chunk_size {
            Some(most) if number == 0 && count > 1 => size == most,
            Some(most) => size <= most && (size > 0 || count == 1),
            None => true,
        };
    }
    header.last_chunk = Some(last);
    if !regular {
        header.chunk_size = None;
    }
}

fn empty_chunk(item_size: usize) -> Result<Vec<u8>> {
    let options = CompressOptions::new(item_size.clamp(1, 255));
    chunk::compress(&[], &options.with_format(crate::options::ChunkFormat::Blosc1))
}
