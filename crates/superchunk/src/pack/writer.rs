//! The order of writing, so that a file always has its old state or its new one.
//!
//! ```text
//! append   chunks behind the last committed one │ their offsets │ sync │ header │ sync
//! replace  objects where none has ever been     │ sync │ header and offsets │ sync
//! rewrite  a whole new file beside the old one  │ sync │ rename │ sync of the folder
//! ```
//!
//! The real bloscpack walks through the chunks, so nothing dead may lie between them; a short chunk may.
//! Therefore the last chunk is never written again: the next one follows it. The header is 32 bytes, and
//! together with metadata of up to 444 bytes it is one sector, which no disk writes in halves.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::header::PackHeader;
use super::plan::{Plan, Policy, Switch};
use super::space::room_for_offsets;
use crate::error::{Error, ErrorKind, MustGet, Result};
use crate::store::{Home, WriteAt, bytes_from, last_sync};
use crate::wire::json::Json;

/// Chunks are collected up to this length before they are written.
const GATHERED: usize = 256 * 1024;

/// What a file that is written says of itself.
#[derive(Debug)]
pub(crate) struct State {
    /// The header of the last commit; before the first, what it is going to be.
    pub(crate) header: PackHeader,
    /// The metadata of the next commit.
    pub(crate) json: Option<Json>,
    /// The metadata of the last one, or what the first is going to write.
    written: Option<Json>,
}

impl State {
    /// Whether the metadata is to be written again.
    pub(super) fn has_changed(&self) -> bool {
        self.json != self.written
    }
}

/// A file that is written.
pub(super) struct Writer {
    pub(super) file: Arc<dyn WriteAt>,
    pub(super) home: Option<Home>,
    pub(super) policy: Policy,
    pub(super) plan: Plan,
    /// Where the first chunk is.
    pub(super) base: u64,
    pub(super) state: Arc<Mutex<State>>,
    /// The slots of the last commit; `None` when they do not tell the whole file: it is new, was
    /// repaired, or has chunks that hold nothing.
    pub(super) committed: Option<Vec<u64>>,
    /// The chunks since then.
    pub(super) fresh: Vec<Fresh>,
    /// Where the next chunk goes, counted from the first.
    pub(super) cursor: u64,
    /// Where it went as of the last commit.
    pub(super) settled: u64,
    /// The bytes before that which are not written yet.
    pending: Vec<u8>,
    /// Whether the first commit is still to come.
    pub(super) is_new: bool,
    /// The length of the file as of the last commit, where that is known.
    pub(super) committed_len: Option<u64>,
    /// Whether the name of the file is known to be on the disk. Who made it or changed it may have
    /// ended before it was.
    named: bool,
    poisoned: bool,
}

/// A chunk that no commit has seen.
#[derive(Clone, Copy)]
pub(super) struct Fresh {
    pub(super) slot: u64,
    /// The bytes that it holds.
    pub(super) nbytes: usize,
}

impl Writer {
    pub(super) fn new(
        file: Arc<dyn WriteAt>,
        home: Option<Home>,
        policy: Policy,
        plan: Plan,
        base: u64,
        json: Option<Json>,
    ) -> Self {
        let state = State { header: plan.header.clone(), written: json.clone(), json };
        Self {
            file,
            home,
            policy,
            plan,
            base,
            state: Arc::new(Mutex::new(state)),
            committed: Some(Vec::new()),
            fresh: Vec::new(),
            cursor: 0,
            settled: 0,
            pending: Vec::new(),
            is_new: true,
            committed_len: None,
            named: false,
            poisoned: false,
        }
    }

    /// Where the bytes that are not written yet begin.
    pub(super) fn written(&self) -> u64 {
        self.cursor - self.pending.len() as u64
    }

    /// The bytes from `position` on that are not written yet.
    pub(super) fn unwritten(&self, position: u64) -> &[u8] {
        bytes_from(&self.pending, position.saturating_sub(self.written()))
    }

    /// Refuses to go on after a sync has failed: nobody knows what is on the disk.
    pub(super) fn check(&self) -> Result<()> {
        match self.poisoned {
            false => Ok(()),
            true => Err(Error::new(
                ErrorKind::Io,
                "an earlier commit failed half-way: open the file again, it has its old state",
            )),
        }
    }

    /// Puts a chunk with its digest behind all others.
    pub(super) fn put(&mut self, chunk: &[u8], nbytes: usize) -> Result<u64> {
        self.check()?;
        self.settle_count()?;
        let slot = self.cursor;
        self.pending.extend_from_slice(chunk);
        self.cursor += chunk.len() as u64;
        if self.pending.len() >= GATHERED
            && let Err(error) = self.flush()
        {
            self.take_back(slot);
            return Err(error);
        }
        self.fresh.push(Fresh { slot, nbytes });
        Ok(slot)
    }

    /// Forgets a chunk; only the last one leaves its place to another.
    pub(super) fn release(&mut self, slot: u64) {
        if self.fresh.last().is_some_and(|fresh| fresh.slot == slot) {
            self.fresh.pop();
            self.take_back(slot);
        }
    }

    fn take_back(&mut self, slot: u64) {
        let keep = usize::try_from(slot.saturating_sub(self.written())).unwrap_or(0);
        self.pending.truncate(keep);
        self.cursor = slot;
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        if !self.pending.is_empty() {
            let position = self.base.saturating_add(self.written());
            self.file.write_at(position, &self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Says how many chunks there are before the first byte is put behind them, where the header says
    /// that all bytes up to the end are chunks.
    fn settle_count(&mut self) -> Result<()> {
        let Some(committed) = self.committed.as_ref().filter(|_| !self.is_new) else {
            return Ok(());
        };
        if self.plan.header.chunk_count.is_none() {
            self.plan.header.chunk_count = Some(committed.len() as u64);
            self.file.write_at(0, &self.plan.header.to_bytes())?;
            self.file.sync()?;
        }
        Ok(())
    }

    /// Whether `count` offsets fit. An object may have been where there was room for more.
    pub(super) fn has_room_for(&self, count: u64) -> Result<bool> {
        let header = &self.plan.header;
        let listed = self.committed.as_ref().map_or(0, |slots| slots.len() as u64);
        if header.offsets && count <= self.plan.capacity && header.varlen && !self.is_new {
            let place = |number: u64| self.plan.table() + number * super::offsets::WIDTH;
            let (start, end) = (place(listed), place(count.max(listed)));
            return Ok(room_for_offsets(self.file.as_ref(), start..end)? == end - start);
        }
        Ok(!header.offsets || count <= self.plan.capacity)
    }

    /// Makes `slots` the state of the file: all of the last commit but the `changed` ones, and the
    /// fresh ones.
    pub(super) fn commit_in_place(
        &mut self,
        mut plan: Plan,
        slots: &[u64],
        changed: Range<usize>,
    ) -> Result<()> {
        self.check()?;
        let is_longer = slots.last().is_some_and(|slot| *slot >= self.settled);
        if is_longer {
            self.flush()?;
        }
        let positions: Vec<u64> =
            slots.iter().map(|slot| self.base.saturating_add(*slot)).collect();
        let written = match self.is_new {
            true => self.write_new(&plan, &positions),
            false => self.write_changes(&mut plan, &positions, changed),
        };
        let unsafe_name = self.home.as_ref().filter(|_| !self.named);
        let named = || unsafe_name.map_or(Ok(()), |home| home.dir.sync());
        let saved = written.and_then(|()| last_sync(self.file.sync().and_then(|()| named())));
        if let Err(error) = saved {
            self.poisoned = true;
            return Err(error);
        }
        self.plan = plan;
        if !is_longer && self.cursor > self.settled {
            // What was put at the end has found another place.
            self.take_back(self.settled);
            self.discard();
        }
        self.committed_is(slots.to_vec());
        Ok(())
    }

    fn write_new(&self, plan: &Plan, positions: &[u64]) -> Result<()> {
        let head = plan.head();
        let (header, metadata) = head.must_split_at(super::HEADER_LEN)?;
        let behind = [metadata, &plan.table_bytes(positions)].concat();
        self.file.write_at(super::HEADER_LEN as u64, &behind)?;
        self.file.sync()?;
        self.file.write_at(0, header)
    }

    fn write_changes(
        &self,
        plan: &mut Plan,
        positions: &[u64],
        changed: Range<usize>,
    ) -> Result<()> {
        let old = self.committed.as_ref().map_or(0, Vec::len);
        let added = positions.must_get(old..)?;
        if plan.header.offsets && !added.is_empty() {
            let place = plan.table() + old as u64 * super::offsets::WIDTH;
            self.file.write_at(place, &super::offsets::to_bytes(added.iter().copied()))?;
        }
        let offsets = |range: Range<usize>| {
            let changed = positions.must_get(range)?;
            Ok::<_, Error>(super::offsets::to_bytes(changed.iter().copied()))
        };
        let (place, bytes) = match plan.switch(&self.plan, &changed) {
            _ if changed.is_empty() && plan.metadata == self.plan.metadata => {
                (0, plan.header.to_bytes().to_vec())
            }
            _ if changed.is_empty() => (0, plan.head()),
            Some(Switch::Offsets { last_chunk }) => {
                plan.header.last_chunk = last_chunk;
                if last_chunk.is_none() {
                    self.overwrite(0, &plan.header.to_bytes())?;
                }
                let start = changed.start as u64 * super::offsets::WIDTH;
                (plan.table() + start, offsets(changed)?)
            }
            _ => (0, [plan.head(), offsets(0..changed.end)?].concat()),
        };
        self.file.sync()?;
        self.overwrite(place, &bytes)
    }

    /// Writes bytes in one piece: a write that stops half-way must not leave half of them.
    fn overwrite(&self, place: u64, bytes: &[u8]) -> Result<()> {
        let mut old = vec![0; bytes.len()];
        self.file.read_exact_at(place, &mut old)?;
        self.file.write_at(place, bytes).inspect_err(|_| drop(self.file.write_at(place, &old)))
    }

    /// Removes what was written since the last commit.
    pub(super) fn discard(&mut self) {
        let is_longer = |len: u64| self.file.len().is_ok_and(|now| now > len);
        match (self.is_new, self.committed_len) {
            // A file that never became one.
            (true, _) => drop(self.home.as_ref().map(|home| home.dir.remove(&home.name))),
            (false, Some(len)) if !self.poisoned && is_longer(len) => drop(self.file.set_len(len)),
            _ => {}
        }
    }

    /// Writes a whole new file in the place of the old one; `chunk` gives each with its digest.
    pub(super) fn rewrite(
        &mut self,
        plan: Plan,
        count: usize,
        mut chunk: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Vec<u64>> {
        self.check()?;
        let Some(home) = self.home.clone() else {
            return Err(Error::unsupported(
                "this change needs a new file, but the name of the file is not known: copy it",
            ));
        };
        let base = plan.base();
        let replaced = home.replace(|file| {
            let (mut slots, mut end) = (Vec::new(), 0u64);
            let mut gathered = Vec::new();
            let mut written = 0u64;
            for number in 0..count {
                slots.push(end);
                let before = gathered.len();
                chunk(number, &mut gathered)?;
                end += (gathered.len() - before) as u64;
                if gathered.len() >= GATHERED {
                    file.write_at(base + written, &gathered)?;
                    written = end;
                    gathered.clear();
                }
            }
            file.write_at(base + written, &gathered)?;
            let positions: Vec<u64> = slots.iter().map(|slot| base + slot).collect();
            let head = [plan.head(), plan.table_bytes(&positions)].concat();
            file.write_at(0, &head)?;
            file.sync()?;
            Ok((slots, end))
        });
        // Nobody knows what a disk keeps that could not sync a file.
        let (file, (slots, end)) = replaced.inspect_err(|error| {
            self.poisoned = error.kind() == ErrorKind::Io;
        })?;
        self.file = file;
        self.plan = plan;
        self.base = base;
        self.cursor = end;
        self.pending.clear();
        self.committed_is(slots.clone());
        last_sync(home.dir.sync()).inspect_err(|_| self.poisoned = true)?;
        Ok(slots)
    }

    fn committed_is(&mut self, slots: Vec<u64>) {
        self.committed = Some(slots);
        self.committed_len = self.file.len().ok();
        self.settled = self.cursor;
        self.fresh.clear();
        (self.is_new, self.named) = (false, true);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.written = state.json.clone();
        state.header = self.plan.header.clone();
    }
}
