//! A frame in one file: chunks, index and trailer behind each other, and the order of writing.
//!
//! A commit never overwrites what the committed state needs. New chunks, then index and trailer, go
//! to free space; when they are on the disk, one write of the header's changed bytes makes them the
//! frame. Readers of any age find the old state until then and the new one after.

use std::sync::Arc;

use super::dialect::Dialect;
use super::header::Header;
use super::home::{self, Setup};
use super::lock::{Lock, changed};
use super::opener::Frame;
use super::plan::{self, Plan};
use super::space::Space;
use super::version::{Version, read_frame, read_frame_patiently};
use super::writer::{Writer, changed_range};
use super::{Kind, holes, index};
use crate::container::{self, Contents, Entry, Integrity, Layout};
use crate::container::{SUFFIX, append_suffix, compare_hash, stated_hash};
use crate::error::{Error, MustGet, Result};
use crate::store::{Home, ReadAt, WriteAt, last_sync};

/// What a disk writes in one piece: a header change inside of it cannot be torn.
const SECTOR: usize = 512;

/// A contiguous frame.
pub(crate) struct Contiguous {
    store: Arc<dyn ReadAt>,
    /// Where to find it again, or to replace it. A frame inside of another file has none.
    home: Option<Home>,
    setup: Setup,
    lock: Lock,
    name: String,
    /// The header of the last commit; before the first, what it is going to be.
    header: Header,
    version: Version,
    integrity: Integrity,
    writer: Option<Writer>,
    /// Whether the next commit is the last one.
    ending: bool,
}

impl Contiguous {
    /// Opens the frame of `store` for reading.
    pub(crate) fn open(
        store: Arc<dyn ReadAt>,
        home: Option<Home>,
        name: String,
        setup: Setup,
    ) -> Result<(Self, Contents)> {
        let mut lock = Lock::of_reader(&setup);
        let guard = lock.shared()?;
        let frame = read_frame(store.as_ref(), Kind::Contiguous, &setup)?;
        lock.saw(&guard);
        drop(guard);
        Ok(Self::from_frame(frame, store, home, name, setup, lock))
    }

    /// Opens the frame of `file` for reading and writing, and keeps other writers out.
    pub(crate) fn edit(
        mut file: Arc<dyn WriteAt>,
        home: Option<Home>,
        name: String,
        setup: Setup,
    ) -> Result<(Self, Contents)> {
        let mut lock = Lock::of_writer(&setup);
        if lock.is_of_frame() {
            file.lock()?;
        }
        let guard = lock.shared()?;
        if let Some(home) = home.as_ref().filter(|_| !lock.is_of_frame())
            && !home.is_named(file.as_ref())?
        {
            // Another writer has replaced it before this one had the lock.
            file = home.edit()?;
        }
        let frame = read_frame(file.as_ref(), Kind::Contiguous, &setup)?;
        lock.saw(&guard);
        drop(guard);
        if frame.header.dialect == Dialect::Beta1 {
            return Err(Error::unsupported("frames of beta 1 are only read: copy it to a new one"));
        }
        if home.is_none() && file.len()? > frame.header.frame_len {
            return Err(Error::invalid(
                "other data follow this frame in its file: copy the frame to a file of its own",
            ));
        }
        let writer = Writer::new(file.clone(), &frame)?;
        let (mut frame, contents) = Self::from_frame(frame, file, home, name, setup, lock);
        frame.writer = Some(writer);
        Ok((frame, contents))
    }

    /// A new frame in an empty file; its header appears with the first commit.
    pub(crate) fn create(
        file: Arc<dyn WriteAt>,
        home: Option<Home>,
        name: String,
        setup: Setup,
        contents: &Contents,
        dialect: Dialect,
    ) -> Result<Self> {
        let lock = Lock::of_maker(&setup);
        if lock.is_of_frame() {
            file.lock()?;
        }
        let sealed = setup.sealed && dialect == Dialect::Modern;
        let mut frame = Self {
            store: file.clone(),
            home,
            setup,
            lock,
            name,
            header: Header::of(contents, dialect, Kind::Contiguous),
            version: Version::default(),
            integrity: if sealed { Integrity::Sealed } else { Integrity::None },
            writer: Some(Writer::of_new(file)),
            ending: false,
        };
        frame.settle_header_len(contents)?;
        Ok(frame)
    }

    fn from_frame(
        frame: Frame,
        store: Arc<dyn ReadAt>,
        home: Option<Home>,
        name: String,
        setup: Setup,
        lock: Lock,
    ) -> (Self, Contents) {
        let Frame { header, version, contents, integrity, .. } = frame;
        let (writer, ending) = (None, false);
        let frame =
            Self { store, home, setup, lock, name, header, version, integrity, writer, ending };
        (frame, contents)
    }

    /// Before anything is written, the header may still get longer.
    fn settle_header_len(&mut self, contents: &Contents) -> Result<()> {
        let header = Header::of(contents, self.header.dialect, Kind::Contiguous);
        let len = header.to_bytes(false)?.len() as u64;
        self.header.header_len = len;
        if let Some(writer) = &mut self.writer {
            writer.space = Space::new(len, len..len, Vec::new());
        }
        Ok(())
    }

    /// Refuses what was read from a frame that has changed meanwhile: its space may have been used
    /// again.
    fn check_unchanged(&self) -> Result<()> {
        if self.version.is_in(self.store.as_ref())? { Ok(()) } else { Err(changed()) }
    }

    /// Takes a lock file that has appeared since the change began, and makes sure that nobody has
    /// written to the frame meanwhile.
    fn check_not_overtaken(&mut self) -> Result<()> {
        let committed = self.writer.as_ref().is_some_and(|writer| writer.committed);
        let (version, store) = (&self.version, &self.store);
        self.lock.check_not_overtaken(|| Ok(!committed || version.is_in(store.as_ref())?))
    }

    /// Whether the file may be tidied up: it is as this writer knows it, and stays so until the lock
    /// is released. Bytes behind the end may be those of somebody who has written since.
    fn may_tidy(&mut self) -> bool {
        self.lock.exclusive_if_unchanged()
            && self
                .writer
                .as_ref()
                .is_some_and(|writer| self.version.is_in(writer.file.as_ref()).unwrap_or(false))
    }

    fn is_sealed(&self) -> bool {
        self.integrity == Integrity::Sealed
    }

    /// Where chunks can be, from the end of the header on.
    fn region_len(&self) -> u64 {
        let committed = self.header.cbytes;
        let live_end = self.writer.as_ref().map_or(0, |writer| writer.space.live_end());
        committed.max(live_end.saturating_sub(self.header.header_len))
    }

    fn writer(&mut self) -> Result<&mut Writer> {
        match &mut self.writer {
            Some(writer) if writer.poisoned => Err(home::poisoned()),
            Some(writer) => Ok(writer),
            None => Err(container::read_only()),
        }
    }

    fn commit_at(&mut self, contents: &Contents, tight: bool) -> Result<()> {
        let sealed = self.is_sealed();
        let mut header = Header::of(contents, self.header.dialect, Kind::Contiguous);
        let index = index::to_bytes(&contents.entries, contents.check)?;
        let (_, tail) = plan::finish(&mut header, &contents.vlmetalayers, index.clone(), sealed)?;
        let setup = self.setup.clone();
        let header_len = self.header.header_len;
        let writer = self.writer()?;
        let at = match contents.entries.is_empty() {
            true => header_len,
            false => writer.space.place_tail(tail.len() as u64, tight),
        };
        header.cbytes = at - header_len;
        let (head, tail) = plan::finish(&mut header, &contents.vlmetalayers, index, sealed)?;
        writer.file.write_at(at, &tail)?;
        let old = self.version.head.clone();
        let home = self.home.clone();
        let writer = self.writer()?;
        let unsafe_name = home.filter(|_| !writer.named);
        let synced = setup.sync(writer.file.as_ref());
        let written = synced.and_then(|()| writer.write_header(&old, &head));
        let saved = written.and_then(|()| {
            last_sync(setup.sync(writer.file.as_ref()).and_then(|()| {
                unsafe_name.map_or(Ok(()), |home| setup.sync_names(home.dir.as_ref()))
            }))
        });
        if let Err(error) = saved {
            writer.poisoned = true;
            return Err(error);
        }
        (writer.committed, writer.named) = (true, true);
        writer.space.committed(at..at + tail.len() as u64);
        self.version = Version::new(head, &tail, header.frame_len);
        self.header = header;
        Ok(())
    }

    /// Whether the change cannot be made in one write that is whole or not at all: the header gets
    /// another length, the change spans more than a sector, or all chunks go (the trailer of an
    /// empty frame has a fixed place).
    fn needs_new_file(&self, contents: &Contents) -> Result<bool> {
        let header = Header::of(contents, self.header.dialect, Kind::Contiguous);
        let head = header.to_bytes(!contents.vlmetalayers.is_empty())?;
        let committed = self.writer.as_ref().is_some_and(|writer| writer.committed);
        let emptied = contents.entries.is_empty() && self.region_len() > 0;
        let torn = changed_range(&self.version.head, &head).end > SECTOR;
        Ok(head.len() as u64 != self.header.header_len || emptied || (committed && torn))
    }

    /// Writes a whole new file beside the old one and puts it in its place.
    fn replace(&mut self, contents: &mut Contents) -> Result<()> {
        let Some(home) = self.home.clone() else {
            return Err(Error::unsupported(
                "this change needs a new file, but the frame is part of another one: copy it",
            ));
        };
        self.writer()?;
        let draft = home.draft()?;
        let plan = self.write_compact(contents, draft.file())?;
        let synced = self.setup.sync(draft.file());
        let lost = synced.is_err();
        let replaced = synced.and_then(|()| draft.publish(|| self.check_not_overtaken()));
        let named = match &replaced {
            Ok(_) => last_sync(self.setup.sync_names(home.dir.as_ref())),
            Err(_) => Ok(()),
        };
        let is_of_frame = self.lock.is_of_frame();
        let writer = self.writer()?;
        writer.poisoned = lost || named.is_err();
        let file = replaced?;
        if !is_of_frame {
            file.unlock();
        }
        let start = plan.tail_start();
        let tail = start..start + plan.tail.len() as u64;
        writer.file = file.clone();
        writer.space = Space::new(start, tail, Vec::new());
        writer.shared = false;
        (writer.committed, writer.named) = (true, true);
        self.store = file;
        if self.setup.sealed && plan.header.dialect == Dialect::Modern {
            self.integrity = Integrity::Sealed;
        }
        contents.entries = plan.entries;
        self.version = Version::new(plan.head, &plan.tail, plan.header.frame_len);
        self.header = plan.header;
        named
    }

    fn write_compact(&self, contents: &Contents, file: &dyn WriteAt) -> Result<Plan> {
        let lens = contents.entries.iter().map(|entry| self.stored_chunk_len(*entry));
        let lens = lens.collect::<Result<Vec<_>>>()?;
        let plan =
            Plan::new(contents, self.header.dialect, lens.iter().copied(), self.setup.sealed)?;
        let head_len = plan.head.len() as u64;
        let mut chunk = Vec::new();
        for ((old, new), len) in contents.entries.iter().zip(&plan.entries).zip(&lens) {
            let (Some(old), Some(new), Some(len)) = (old.stored_slot(), new.stored_slot(), len)
            else {
                continue;
            };
            // A damaged chunk keeps its checksum, and does not get one that makes it good.
            let suffix = if self.is_sealed() { SUFFIX } else { 0 };
            chunk.clear();
            chunk.resize(*len + suffix, 0);
            self.store.read_exact_at(self.header.header_len + old, &mut chunk)?;
            if suffix == 0 {
                plan.dress(&mut chunk);
            }
            file.write_at(head_len + new, &chunk)?;
        }
        file.write_at(plan.tail_start(), &plan.tail)?;
        file.write_at(0, &plan.head)?;
        Ok(plan)
    }

    fn stored_chunk_len(&self, entry: Entry) -> Result<Option<usize>> {
        let Some(slot) = entry.stored_slot() else { return Ok(None) };
        holes::chunk_len(self.store.as_ref(), self.header.header_len.saturating_add(slot)).map(Some)
    }
}

impl Layout for Contiguous {
    fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize> {
        let left = self.region_len().saturating_sub(slot).saturating_sub(start);
        let len = usize::try_from(left).map_or(dst.len(), |left| left.min(dst.len()));
        let guard = self.lock.shared_unchanged()?;
        let position = self.header.header_len + slot + start;
        let read = self.store.read_at(position, dst.must_get_mut(..len)?);
        if self.setup.following {
            self.check_unchanged()?;
        }
        drop(guard);
        read
    }

    fn is_near(&self) -> bool {
        // Every read of a frame that others may change costs more than the read.
        self.store.is_near() && !self.setup.following && !self.lock.is_shared_with_peers()
    }

    fn as_bytes(&self, slot: u64) -> Option<&[u8]> {
        let start = usize::try_from(self.header.header_len.checked_add(slot)?).ok()?;
        let end = usize::try_from(self.header.header_len.checked_add(self.header.cbytes)?).ok()?;
        self.store.as_bytes()?.get(start..end)
    }

    fn extent(&self, slot: u64, next: Option<u64>) -> Result<u64> {
        let end = self.region_len();
        if slot >= end {
            return Err(Error::corrupt(format!(
                "the chunk is said to be at byte {slot} of {end} bytes of chunks"
            ))
            .at("frame", "index", 0));
        }
        Ok(next.filter(|next| *next > slot).unwrap_or(end).min(end) - slot)
    }

    fn check(&self, _slot: u64, chunk: &[u8], behind: &[u8]) -> Option<Result<()>> {
        // A sealed frame has a checksum behind every chunk: one that cannot be found is damage, too.
        let stated = self.is_sealed().then(|| stated_hash(chunk.len(), behind))?;
        Some(compare_hash(stated, chunk))
    }

    fn put(&mut self, chunk: &mut Vec<u8>) -> Result<u64> {
        let len = chunk.len();
        if self.is_sealed() {
            append_suffix(chunk);
        }
        let header_len = self.header.header_len;
        let writer = self.writer()?;
        let position = writer.space.place_chunk(chunk.len() as u64);
        let written = writer.file.write_at(position, chunk);
        if written.is_err() {
            writer.space.free_chunk(position..position + chunk.len() as u64);
        }
        chunk.truncate(len);
        written?;
        Ok(position - header_len)
    }

    fn release(&mut self, slot: u64, len: usize) {
        let start = self.header.header_len + slot;
        let len = len + if self.is_sealed() { SUFFIX } else { 0 };
        if let Some(writer) = self.writer.as_mut().filter(|writer| !writer.shared) {
            writer.space.free_chunk(start..start + len as u64);
        }
    }

    fn begin(&mut self, contents: &Contents) -> Result<Option<Contents>> {
        let writer = self.writer()?;
        if !writer.committed && writer.space.is_untouched() {
            self.settle_header_len(contents)?;
        }
        if !self.lock.exclusive()? {
            return Ok(None);
        }
        let refreshed = self.refresh();
        self.lock.unless_failed(refreshed)
    }

    fn commit(&mut self, contents: &mut Contents) -> Result<()> {
        let committed =
            self.check_not_overtaken().and_then(|()| match self.needs_new_file(contents)? {
                true => self.replace(contents),
                false => self.commit_at(contents, false),
            });
        if !self.ending {
            self.lock.release();
        }
        committed
    }

    fn ending(&mut self) {
        self.ending = true;
    }

    fn compact(&mut self, contents: &mut Contents) -> Result<()> {
        let replaced = self.check_not_overtaken().and_then(|()| self.replace(contents));
        self.lock.release();
        replaced
    }

    fn discard(&mut self) {
        let frame_len = self.header.frame_len;
        let is_longer = |writer: &Writer| writer.file.len().is_ok_and(|len| len > frame_len);
        match &self.writer {
            // Nobody needs what was written after the end of the frame.
            Some(writer) if writer.committed && !writer.poisoned && is_longer(writer) => {
                let file = writer.file.clone();
                if self.may_tidy() {
                    let _ = file.set_len(frame_len);
                }
            }
            // A file that never became a frame.
            Some(writer) if !writer.committed => {
                let _ = self.home.as_ref().map(|home| home.dir.remove(&home.name));
            }
            _ => {}
        }
        self.lock.release();
    }

    fn close(&mut self, contents: &mut Contents) -> Result<()> {
        let is_loose = |writer: &Writer| writer.committed && writer.space.is_loose();
        let has_slack = !contents.entries.is_empty() && self.writer.as_ref().is_some_and(is_loose);
        if has_slack && self.may_tidy() {
            // All changes are committed: failing to shorten the file is not an error.
            let _ = self.commit_at(contents, true);
        }
        self.discard();
        Ok(())
    }

    fn refresh(&mut self) -> Result<Option<Contents>> {
        if self.writer.is_some() && !self.lock.is_shared_with_peers() {
            return Ok(None);
        }
        let store = match &self.home {
            Some(home) => home.open()?,
            None => self.store.clone(),
        };
        let guard = self.lock.shared()?;
        let frame = read_frame_patiently(store.as_ref(), Kind::Contiguous, &self.setup)?;
        self.lock.saw(&guard);
        drop(guard);
        if frame.version == self.version {
            return Ok(None);
        }
        let is_of_frame = self.lock.is_of_frame();
        if let (Some(writer), Some(home)) = (&mut self.writer, &self.home) {
            let file = home.edit()?;
            if is_of_frame && !home.is_named(writer.file.as_ref())? {
                file.lock()?;
            }
            *writer = Writer::new(file, &frame)?;
        }
        self.store = store;
        self.header = frame.header;
        self.version = frame.version;
        self.integrity = frame.integrity;
        Ok(Some(frame.contents))
    }

    fn integrity(&self) -> Integrity {
        self.integrity
    }

    fn index_entry_len(&self) -> Option<usize> {
        Some(self.header.entry_len)
    }

    fn stored_len(&self) -> Result<u64> {
        Ok(self.header.frame_len)
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
