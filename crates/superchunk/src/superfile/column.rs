//! A column of a `blsk` tree: the layout that keeps its chunks.
//!
//! Chunk `c` is slot `c % superchunksize` of file `__{c / superchunksize + 1}__.bin`. New chunks wait
//! until a commit; it stages what has to be done to each file (see `stage`), and the root does it for
//! all columns together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::file::Index;
use super::journal::FileId;
use super::pending::{PENDING, Pending};
use super::root::{Root, file_name};
use super::storage::{Leaf, Reserve, Storage};
use crate::chunk::Header;
use crate::container::{Contents, Entry, Layout};
use crate::error::{Error, MustGet, Result};
use crate::spare::attempt;
use crate::store::{Dir, Owner, ReadAt};
use crate::wire;

/// How many files are kept open.
const OPEN_FILES: usize = 64;
/// Up to this many chunks are believed without a look at the files.
const FEW_CHUNKS: usize = 1 << 17;

/// What the changes of committed chunks have cost so far.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updates {
    /// Chunks that were changed where they are.
    pub in_place: u64,
    /// Chunks that were changed by writing their file anew.
    pub rewritten: u64,
    /// Files that were written anew.
    pub files_rewritten: u64,
    /// Chunks that were added.
    pub added: u64,
}

/// The chunks of a column.
pub(crate) struct Column {
    pub(super) root: Arc<Root>,
    pub(super) folder: Arc<dyn Dir>,
    pub(super) path: String,
    pub(super) typesize: u32,
    /// The most chunks of a file.
    pub(super) per_file: usize,
    pub(super) reserve: Reserve,
    /// How many chunks are committed.
    pub(super) count: usize,
    pub(super) pending: Pending,
    pub(super) updates: Arc<Mutex<Updates>>,
    files: Mutex<BTreeMap<usize, Arc<Opened>>>,
    /// A child process that drops its copy must leave the files alone.
    owner: Owner,
}

/// An open file and where its chunks are.
pub(super) struct Opened {
    pub(super) store: Arc<dyn ReadAt>,
    pub(super) index: Index,
}

impl Column {
    /// Opens a column that has `count` chunks.
    pub(crate) fn open(
        root: &Arc<Root>,
        leaf: &Leaf,
        storage: &Storage,
        count: u64,
    ) -> Result<Self> {
        let path = leaf.path.join("/");
        let count =
            usize::try_from(count).ok().filter(|count| *count <= crate::container::MAX_CHUNKS);
        let count = count.ok_or_else(|| Error::limit("more chunks than can be kept track of"))?;
        root.access.limits.check_metadata("index", 8 * count as u64)?;
        let column = Self {
            root: root.clone(),
            folder: root.checked(root.column_folder(&path))?,
            path,
            typesize: u32::try_from(leaf.dtype.item_size()).unwrap_or(u32::MAX),
            per_file: storage.superchunksize,
            reserve: storage.reserve,
            count,
            pending: Pending::default(),
            updates: Arc::default(),
            files: Mutex::default(),
            owner: Owner::here(),
        };
        root.checked(column.check_files())?;
        Ok(column)
    }

    /// The entries of the committed chunks.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        (0..self.count as u64).map(Entry::stored).collect()
    }

    /// Where the counters are.
    pub(crate) fn updates(&self) -> Arc<Mutex<Updates>> {
        self.updates.clone()
    }

    /// The bytes of a chunk, as long as it says to be.
    pub(crate) fn chunk(&self, slot: u64) -> Result<Vec<u8>> {
        let mut head = [0; 32];
        let found = self.read(slot, 0, &mut head)?;
        let len = Header::parse(wire::filled(&head, found)?)?.compressed_len();
        let extent = self.extent(slot, None)?;
        if len as u64 > extent {
            return Err(Error::truncated(format!("the chunk has {len} bytes, its place {extent}"))
                .at("chunk", "cbytes", 12));
        }
        let mut chunk = vec![0; len];
        let found = self.read(slot, 0, &mut chunk)?;
        if found < len {
            return Err(Error::truncated(format!("{found} of {len} bytes of the chunk are there")));
        }
        Ok(chunk)
    }

    /// Stages what makes the chunks those of `entries`, which become the committed ones.
    pub(crate) fn stage_commit(&mut self, entries: &mut [Entry]) -> Result<()> {
        self.root.check_writable()?;
        let staged = super::stage::stage(self, entries);
        if staged.is_err() {
            self.root.poison();
        }
        staged?;
        for (number, entry) in entries.iter_mut().enumerate() {
            *entry = Entry::stored(number as u64);
        }
        self.count = entries.len();
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.pending.clear(self.folder.as_ref());
        Ok(())
    }

    /// How many chunks a file has as of the last commit.
    pub(super) fn count_in(&self, file: usize) -> usize {
        self.count.saturating_sub(file.saturating_mul(self.per_file)).min(self.per_file)
    }

    pub(super) fn file_id(&self, file: usize) -> FileId {
        FileId { column: self.path.clone(), number: file as u64 }
    }

    /// Opens a file and reads its index, unless that was done already.
    pub(super) fn opened(&self, file: usize) -> Result<Arc<Opened>> {
        if let Some(opened) = attempt(&self.files).and_then(|files| files.get(&file).cloned()) {
            return Ok(opened);
        }
        let opened = Arc::new(self.open_file(file).map_err(|error| error.within(self.told(file)))?);
        if let Some(mut files) = attempt(&self.files) {
            if files.len() >= OPEN_FILES {
                files.pop_first();
            }
            files.insert(file, opened.clone());
        }
        Ok(opened)
    }

    fn open_file(&self, file: usize) -> Result<Opened> {
        let store = self.root.open_file(self.folder.as_ref(), &self.file_id(file))?;
        let index = Index::read(store.as_ref(), self.count_in(file))?;
        if index.typesize != self.typesize {
            return Err(Error::corrupt(format!(
                "items of {} bytes, the type has {}",
                index.typesize, self.typesize
            ))
            .at("blsk", "typesize", 8));
        }
        Ok(Opened { store, index })
    }

    /// Makes sure that a large number of chunks is not just claimed.
    fn check_files(&self) -> Result<()> {
        if self.count <= FEW_CHUNKS {
            return Ok(());
        }
        (0..self.count.div_ceil(self.per_file)).try_for_each(|file| self.opened(file).map(drop))
    }

    fn told(&self, file: usize) -> String {
        let path = if self.path.is_empty() { String::new() } else { format!("{}/", self.path) };
        format!("{}/data/{path}{}", self.root.name, file_name(file as u64))
    }

    /// The file of a committed chunk, and its slot there.
    fn find(&self, number: u64) -> Result<(Arc<Opened>, usize)> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number >= self.count {
            return Err(Error::corrupt(format!("there is no chunk {number}")));
        }
        Ok((self.opened(number / self.per_file)?, number % self.per_file))
    }
}

impl Drop for Column {
    fn drop(&mut self) {
        if self.owner.is_here() {
            self.pending.clear(self.folder.as_ref());
        }
    }
}

impl Layout for Column {
    fn read(&self, slot: u64, start: u64, dst: &mut [u8]) -> Result<usize> {
        if slot >= PENDING {
            return self.pending.read(slot, start, dst);
        }
        let mut read = || {
            let (opened, within) = self.find(slot)?;
            let (position, len) = opened.index.place_of(within)?;
            let left = len.saturating_sub(start);
            let wanted = usize::try_from(left).map_or(dst.len(), |left| left.min(dst.len()));
            opened.store.read_at(position + start, dst.must_get_mut(..wanted)?)
        };
        self.root.checked(read())
    }

    fn as_bytes(&self, slot: u64) -> Option<&[u8]> {
        if slot >= PENDING { self.pending.as_bytes(slot) } else { None }
    }

    fn extent(&self, slot: u64, _next: Option<u64>) -> Result<u64> {
        if slot >= PENDING {
            return Ok(self.pending.len(slot)? as u64);
        }
        let (opened, within) = self.root.checked(self.find(slot))?;
        Ok(opened.index.place_of(within)?.1)
    }

    fn behind(&self) -> usize {
        0
    }

    fn put(&mut self, chunk: &mut Vec<u8>) -> Result<u64> {
        self.root.check_writable()?;
        self.pending.put(self.folder.as_ref(), chunk)
    }

    fn release(&mut self, slot: u64, _len: usize) {
        if slot >= PENDING {
            self.pending.release(slot);
        }
    }

    fn begin(&mut self, _contents: &Contents) -> Result<Option<Contents>> {
        self.root.check_writable().map(|()| None)
    }

    fn commit(&mut self, contents: &mut Contents) -> Result<()> {
        self.stage_commit(&mut contents.entries)
    }

    fn stored_len(&self) -> Result<u64> {
        let files = 0..self.count.div_ceil(self.per_file);
        files.map(|file| Ok(self.opened(file)?.index.len)).sum()
    }

    fn name(&self) -> String {
        match self.path.as_str() {
            "" => self.root.name.clone(),
            path => format!("{}/data/{path}", self.root.name),
        }
    }
}
