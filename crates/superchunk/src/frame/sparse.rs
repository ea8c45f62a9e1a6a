//! A frame in a folder: `chunks.b2frame` with header, index and trailer, and one file for each chunk.
//!
//! The place of the index is fixed, so a commit writes a new index file and renames it. Chunk files
//! are never changed: a changed chunk gets another number, and the old file goes after the commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::dialect::Dialect;
use super::header::Header;
use super::home::{self, Setup};
use super::lock::{Lock, changed};
use super::opener::Frame;
use super::version::{Version, read_frame};
use super::{Kind, LAYERS, index, plan, seal};
use crate::container::{self, Contents, Entry, Integrity, Layer, Layout, chunk_hash, compare_hash};
use crate::error::{Error, ErrorKind, MustGet, OrBug, Result};
use crate::limits::Limits;
#[cfg(any(unix, windows))]
use crate::store::is_temporary_of;
use crate::store::{Dir, Home, last_sync};
use crate::wire::msgpack::Value;

/// The name of the index file.
pub(crate) const INDEX: &str = "chunks.b2frame";
/// The value behind the index that holds the checksums of chunks.
pub(crate) const HASHES: &str = "b2integrity";
const ALGORITHM: &str = "xxh3-64";

/// A sparse frame.
pub(crate) struct Sparse {
    home: Home,
    setup: Setup,
    lock: Lock,
    name: String,
    /// The header of the last commit.
    header: Header,
    version: Version,
    integrity: Integrity,
    hashes: BTreeMap<u64, u64>,
    writer: Option<Writer>,
}

#[derive(Default)]
struct Writer {
    /// Numbers that must not be given to a new chunk.
    used: BTreeSet<u64>,
    /// No number below this is free.
    lowest: u64,
    /// Chunks since the last commit, to be synced.
    fresh: Vec<u64>,
    /// Files that go after the next commit.
    doomed: Vec<u64>,
    /// The bytes of all chunks.
    cbytes: u64,
    poisoned: bool,
}

/// The name of the file of a chunk.
pub(crate) fn chunk_name(id: u64) -> String {
    format!("{id:08X}.chunk")
}

/// The number of a chunk file.
pub(crate) fn chunk_id(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".chunk").filter(|digits| digits.len() == 8)?;
    let id = u64::from_str_radix(digits, 16).ok()?;
    (chunk_name(id) == name).then_some(id)
}

impl Sparse {
    /// Opens the frame of a folder for reading.
    pub(crate) fn open(dir: Arc<dyn Dir>, name: String, setup: Setup) -> Result<(Self, Contents)> {
        let lock = Lock::of_reader(&setup);
        Self::opened(dir, name, setup, lock)
    }

    fn opened(
        dir: Arc<dyn Dir>,
        name: String,
        setup: Setup,
        mut lock: Lock,
    ) -> Result<(Self, Contents)> {
        let home = Home { dir, name: INDEX.to_owned() };
        let guard = lock.shared()?;
        let frame = read_index(&home, &setup)?;
        lock.saw(&guard);
        drop(guard);
        let Frame { header, version, mut contents, integrity, .. } = frame;
        let hashes = take_hashes(&mut contents.vlmetalayers, &setup.limits);
        let mut frame =
            Self { home, setup, lock, name, header, version, integrity, hashes, writer: None };
        frame.integrity = frame.judge(integrity);
        Ok((frame, contents))
    }

    /// Opens the frame of a folder for reading and writing, and keeps other writers out.
    pub(crate) fn edit(dir: Arc<dyn Dir>, name: String, setup: Setup) -> Result<(Self, Contents)> {
        let lock = Lock::of_writer(&setup);
        if lock.is_of_frame() {
            dir.lock()?;
        }
        let (mut frame, contents) = Self::opened(dir, name, setup, lock)?;
        frame.home.dir.take_as_model(INDEX)?;
        frame.writer = Some(frame.new_writer(&contents)?);
        Ok((frame, contents))
    }

    /// A new frame in an empty folder; its index appears with the first commit.
    pub(crate) fn create(
        dir: Arc<dyn Dir>,
        name: String,
        setup: Setup,
        contents: &Contents,
    ) -> Result<Self> {
        let lock = Lock::of_maker(&setup);
        if lock.is_of_frame() {
            dir.lock()?;
        }
        let integrity = if setup.sealed { Integrity::Sealed } else { Integrity::None };
        Ok(Self {
            home: Home { dir, name: INDEX.to_owned() },
            setup,
            lock,
            name,
            header: Header::of(contents, Dialect::Modern, Kind::Sparse),
            version: Version::default(),
            integrity,
            hashes: BTreeMap::new(),
            writer: Some(Writer::default()),
        })
    }

    /// Refuses what was read from a frame that has changed meanwhile: a file may have been removed,
    /// or its number used again.
    fn check_unchanged(&self) -> Result<()> {
        if self.version.is_in(self.home.open()?.as_ref())? { Ok(()) } else { Err(changed()) }
    }

    /// Without checksums of chunks there is nothing that could be unverified.
    fn judge(&self, found: Integrity) -> Integrity {
        match found {
            Integrity::Unverified if self.hashes.is_empty() => Integrity::None,
            found => found,
        }
    }

    fn new_writer(&self, contents: &Contents) -> Result<Writer> {
        let live: BTreeSet<u64> =
            contents.entries.iter().filter_map(|entry| entry.stored_slot()).collect();
        let found: BTreeSet<u64> =
            self.home.dir.names()?.iter().filter_map(|name| chunk_id(name)).collect();
        // Files of a writer that was interrupted.
        let doomed = found.difference(&live).copied().collect();
        let used = live.union(&found).copied().collect();
        Ok(Writer { used, doomed, cbytes: self.header.cbytes, ..Writer::default() })
    }

    fn writer(&mut self) -> Result<&mut Writer> {
        match &mut self.writer {
            Some(writer) if writer.poisoned => Err(home::poisoned()),
            Some(writer) => Ok(writer),
            None => Err(container::read_only()),
        }
    }

    fn write_index(&mut self, contents: &Contents) -> Result<()> {
        let mut header = Header::of(contents, Dialect::Modern, Kind::Sparse);
        header.cbytes = self.writer()?.cbytes;
        let mut layers = contents.vlmetalayers.clone();
        let sealed = self.integrity == Integrity::Sealed;
        if sealed && layers.len() < LAYERS && !contents.entries.is_empty() {
            layers.push(self.hash_layer(contents)?);
        }
        let index = index::to_bytes(&contents.entries, contents.check)?;
        let (head, tail) = plan::finish(&mut header, &layers, index, sealed)?;
        let draft = self.home.draft()?;
        draft.file().write_at(0, &head)?;
        draft.file().write_at(head.len() as u64, &tail)?;
        self.setup.sync(draft.file())?;
        // The first commit replaces nothing.
        let is_first = self.version == Version::default();
        let old = if is_first { None } else { Some(self.home.open()?) };
        let (lock, version) = (&mut self.lock, &self.version);
        draft.publish(|| {
            lock.check_not_overtaken(|| old.as_deref().map_or(Ok(true), |old| version.is_in(old)))
        })?;
        self.version = Version::new(head, &tail, header.frame_len);
        self.header = header;
        last_sync(self.setup.sync_names(self.home.dir.as_ref()))
    }

    /// Makes the chunks on the disk those of the frame.
    fn commit_index(&mut self, contents: &mut Contents) -> Result<()> {
        let (version, home) = (&self.version, &self.home);
        self.lock.check_not_overtaken(|| version.is_in(home.open()?.as_ref()))?;
        self.renumber(contents)?;
        let (setup, dir) = (self.setup.clone(), self.home.dir.clone());
        let writer = self.writer()?;
        let committed = writer.fresh.iter().try_for_each(|id| match setup.durability {
            super::Durability::Full => dir.edit(&chunk_name(*id))?.sync(),
            super::Durability::Process => Ok(()),
        });
        let committed = committed.and_then(|()| setup.sync_names(dir.as_ref()));
        if let Err(error) = committed.and_then(|()| self.write_index(contents)) {
            let writer = self.writer()?;
            writer.poisoned = true;
            if error.kind() == ErrorKind::DurabilityUnknown {
                writer.fresh.clear();
            }
            return Err(error);
        }
        let writer = self.writer()?;
        writer.fresh.clear();
        let doomed: Vec<u64> = std::mem::take(&mut writer.doomed);
        for id in doomed {
            // A file that stays is debris for the next writer.
            let _ = dir.remove(&chunk_name(id));
            let writer = self.writer()?;
            writer.used.remove(&id);
            writer.lowest = writer.lowest.min(id);
            self.hashes.remove(&id);
        }
        Ok(())
    }

    fn hash_layer(&self, contents: &Contents) -> Result<Layer> {
        let ids = contents.entries.iter().filter_map(|entry| entry.stored_slot());
        let known: Vec<(u64, u64)> =
            ids.filter_map(|id| Some((id, *self.hashes.get(&id)?))).collect();
        let ids = known.iter().map(|(id, _)| Value::from(*id)).collect();
        let hashes = known.iter().map(|(_, hash)| Value::from(*hash)).collect();
        let seal = Value::Bin(seal::INSIDE.to_vec());
        let (ids, hashes) = (Value::Array(ids), Value::Array(hashes));
        let value = Value::Array(vec![ALGORITHM.into(), ids, hashes, seal]);
        // The seal is found by its place in the file, so it must be there as it is.
        let options =
            crate::options::CompressOptions::new(1).with_level(0).with_check(contents.check);
        let content = crate::chunk::compress(&value.encode()?, &options)?;
        Ok(Layer { name: HASHES.to_owned(), content })
    }

    /// C-Blosc2 refuses numbers above the sum of chunk lengths less 32: such chunks move.
    fn renumber(&mut self, contents: &mut Contents) -> Result<()> {
        let most = self.writer()?.cbytes.saturating_sub(32);
        let far = |entry: &Entry| entry.stored_slot().is_some_and(|id| id > most);
        let moving: Vec<usize> = (0..contents.entries.len())
            .filter(|i| contents.entries.get(*i).is_some_and(far))
            .collect();
        for number in moving {
            let entry = contents.entries.must_get_mut(number)?;
            let id = entry.stored_slot().or_bug("only stored chunks move")?;
            let file = self.home.dir.open(&chunk_name(id))?;
            // A file may be much longer than its chunk.
            let mut chunk = vec![0; super::holes::chunk_len(file.as_ref(), 0)?];
            file.read_exact_at(0, &mut chunk)?;
            let moved = self.put(&mut chunk)?;
            self.release(id, chunk.len());
            *entry = Entry::stored(moved);
        }
        Ok(())
    }
}

impl Layout for Sparse {
    fn is_sparse_frame(&self) -> bool {
        true
    }

    fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize> {
        let guard = self.lock.shared_unchanged()?;
        let name = chunk_name(slot);
        let read = self.home.dir.open(&name).and_then(|file| file.read_at(start, dst));
        if self.setup.following {
            self.check_unchanged()?;
        }
        drop(guard);
        read.map_err(|error| match error.kind() {
            // A folder, a link or a pipe: the frame is wrong, not the caller.
            ErrorKind::InvalidArgument => {
                Error::corrupt("the file of a chunk is no regular file").because(error)
            }
            _ => error,
        })
        .map_err(|error| error.within(format!("{}/{name}", self.name)))
    }

    fn extent(&self, slot: u64, _next: Option<u64>) -> Result<u64> {
        if slot > u64::from(u32::MAX) {
            return Err(Error::corrupt(format!("{slot} is no number of a chunk file"))
                .at("frame", "index", 0));
        }
        // Asking the file would cost as much as reading it.
        Ok(u64::MAX)
    }

    fn check(&self, slot: u64, chunk: &[u8], _behind: &[u8]) -> Option<Result<()>> {
        let stated = self.hashes.get(&slot).filter(|_| self.integrity == Integrity::Sealed)?;
        Some(compare_hash(Some(*stated), chunk))
    }

    fn put(&mut self, chunk: &mut Vec<u8>) -> Result<u64> {
        let dir = self.home.dir.clone();
        let writer = self.writer()?;
        let id = (writer.lowest..).find(|id| !writer.used.contains(id)).unwrap_or(u64::MAX);
        let file = dir.create(&chunk_name(id))?;
        if let Err(error) = file.write_at(0, chunk) {
            let _ = dir.remove(&chunk_name(id));
            return Err(error);
        }
        writer.used.insert(id);
        writer.lowest = id + 1;
        writer.fresh.push(id);
        writer.cbytes += chunk.len() as u64;
        self.hashes.insert(id, chunk_hash(chunk));
        Ok(id)
    }

    fn release(&mut self, slot: u64, len: usize) {
        if let Some(writer) = &mut self.writer {
            writer.doomed.push(slot);
            writer.cbytes = writer.cbytes.saturating_sub(len as u64);
        }
    }

    fn begin(&mut self, _contents: &Contents) -> Result<Option<Contents>> {
        self.writer()?;
        if !self.lock.exclusive()? {
            return Ok(None);
        }
        let refreshed = self.refresh();
        self.lock.unless_failed(refreshed)
    }

    fn commit(&mut self, contents: &mut Contents) -> Result<()> {
        let committed = self.commit_index(contents);
        self.lock.release();
        committed
    }

    fn close(&mut self, _contents: &mut Contents) -> Result<()> {
        self.lock.release();
        Ok(())
    }

    fn discard(&mut self) {
        let fresh = self.writer.as_mut().map(|writer| std::mem::take(&mut writer.fresh));
        let fresh = fresh.unwrap_or_default();
        // Who has written since may have used the same names.
        if !fresh.is_empty() && self.lock.exclusive_if_unchanged() {
            for id in fresh {
                let _ = self.home.dir.remove(&chunk_name(id));
            }
        }
        // A folder that never became a frame; one that did is not empty, and stays.
        #[cfg(any(unix, windows))]
        let _ = std::fs::remove_dir(&self.setup.path);
        self.lock.release();
    }

    #[cfg(any(unix, windows))]
    fn remove_leftovers(&mut self) -> Result<Vec<String>> {
        let dir = self.home.dir.clone();
        let doomed = std::mem::take(&mut self.writer()?.doomed);
        let temporary = |name: &String| is_temporary_of(name, INDEX);
        let names = dir.names()?.into_iter().filter(temporary);
        let removed: Vec<String> = doomed.into_iter().map(chunk_name).chain(names).collect();
        removed.iter().try_for_each(|name| dir.remove(name))?;
        Ok(removed)
    }

    fn refresh(&mut self) -> Result<Option<Contents>> {
        if self.writer.is_some() && !self.lock.is_shared_with_peers() {
            return Ok(None);
        }
        let guard = self.lock.shared()?;
        let frame = read_index(&self.home, &self.setup)?;
        self.lock.saw(&guard);
        drop(guard);
        if frame.version == self.version {
            return Ok(None);
        }
        let mut contents = frame.contents;
        self.hashes = take_hashes(&mut contents.vlmetalayers, &self.setup.limits);
        self.integrity = self.judge(frame.integrity);
        self.header = frame.header;
        self.version = frame.version;
        if self.writer.is_some() {
            self.writer = Some(self.new_writer(&contents)?);
        }
        Ok(Some(contents))
    }

    fn integrity(&self) -> Integrity {
        self.integrity
    }

    fn index_entry_len(&self) -> Option<usize> {
        Some(self.header.entry_len)
    }

    fn stored_len(&self) -> Result<u64> {
        Ok(self.header.frame_len + self.header.cbytes)
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

fn read_index(home: &Home, setup: &Setup) -> Result<Frame> {
    read_frame(home.open()?.as_ref(), Kind::Sparse, setup)
}

/// Takes the checksums of chunks out of the values, if they are there and can be understood.
pub(super) fn take_hashes(layers: &mut Vec<Layer>, limits: &Limits) -> BTreeMap<u64, u64> {
    let Some(position) = layers.iter().position(|layer| layer.name == HASHES) else {
        return BTreeMap::new();
    };
    let layer = layers.remove(position);
    let Ok(Value::Array(parts)) = decode_value(&layer.content, limits) else {
        return BTreeMap::new();
    };
    let [Value::Str(algorithm), Value::Array(ids), Value::Array(hashes), Value::Bin(_)] =
        parts.as_slice()
    else {
        return BTreeMap::new();
    };
    if algorithm != ALGORITHM {
        return BTreeMap::new();
    }
    let pairs = ids.iter().zip(hashes);
    pairs.filter_map(|(id, hash)| Some((id.as_u64()?, hash.as_u64()?))).collect()
}

fn decode_value(content: &[u8], limits: &Limits) -> Result<Value> {
    let header = crate::chunk::Header::parse(content)?;
    limits.check_metadata("value", header.byte_len() as u64)?;
    let mut decoder = crate::chunk::Decoder::new().with_limits(*limits);
    Value::decode(&decoder.decompress(content)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_files_have_eight_upper_case_digits() {
        assert_eq!(chunk_name(4), "00000004.chunk");
        assert_eq!(chunk_id("000000AB.chunk"), Some(0xab));
        for other in ["000000ab.chunk", "0000000A0.chunk", "4.chunk", "+0000004.chunk", INDEX] {
            assert_eq!(chunk_id(other), None, "{other}");
        }
    }
}
