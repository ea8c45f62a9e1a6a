//! The disk itself: folders and files in memory that note what is done to them.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use superchunk::store::{Dir, ReadAt, WriteAt};
use superchunk::{Error, Result};

use super::fault::{Fate, Fault, Faults};
use super::half;
use super::operation::{History, Node, Operation};

/// A disk in memory; clones are handles of the same one.
#[derive(Clone, Debug)]
pub struct Disk(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    nodes: Vec<Content>,
    history: History,
    faults: Faults,
}

#[derive(Debug)]
enum Content {
    File(Vec<u8>),
    Folder(BTreeMap<String, Node>),
}

/// A file or folder of the disk.
struct Handle {
    disk: Disk,
    node: Node,
}

impl Default for Disk {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            nodes: vec![Content::Folder(BTreeMap::new())],
            history: History::new(),
            faults: Faults::default(),
        })))
    }
}

impl Disk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Its root folder.
    #[must_use]
    pub fn root(&self) -> Arc<dyn Dir> {
        Arc::new(Handle { disk: self.clone(), node: 0 })
    }

    /// Notes that the state of this number is safe from now on.
    pub fn reached(&self, state: usize) {
        self.lock().history.push(Operation::Reached(state));
    }

    /// From now on this goes wrong, and nothing else.
    pub fn inject(&self, fault: Option<Fault>) {
        self.lock().faults.set(fault);
    }

    /// How many changes, syncs and reads there were since the last [`Disk::inject`].
    #[must_use]
    pub fn counted(&self) -> (usize, usize, usize) {
        self.lock().faults.counted()
    }

    /// What was done so far.
    #[must_use]
    pub fn history(&self) -> History {
        self.lock().history.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn file(&mut self, node: Node) -> Result<&mut Vec<u8>> {
        match self.nodes.get_mut(node) {
            Some(Content::File(bytes)) => Ok(bytes),
            _ => Err(Error::invalid("this is no file")),
        }
    }

    fn folder(&mut self, node: Node) -> Result<&mut BTreeMap<String, Node>> {
        match self.nodes.get_mut(node) {
            Some(Content::Folder(names)) => Ok(names),
            _ => Err(Error::invalid("this is no folder")),
        }
    }

    fn find(&mut self, folder: Node, name: &str, is_folder: bool) -> Result<Node> {
        let found = self.folder(folder)?.get(name).copied();
        let is_it = |node: &Node| match self.nodes.get(*node) {
            Some(Content::Folder(_)) => is_folder,
            _ => !is_folder,
        };
        found.filter(is_it).ok_or_else(|| Error::not_found("there is no such thing").within(name))
    }

    /// Counts a change that is made as a whole or not at all.
    fn admit(&mut self) -> Result<()> {
        if self.faults.change() == Fate::Done { Ok(()) } else { Err(self.failure()) }
    }

    fn write(&mut self, file: Node, position: u64, src: &[u8]) -> Result<()> {
        let position = usize::try_from(position).map_err(|_| no_space())?;
        let fate = self.faults.change();
        let len = match fate {
            Fate::Done => src.len(),
            Fate::Half => half(position, src.len()),
            Fate::Refused => 0,
        };
        let src = src.get(..len).unwrap_or_default();
        if !src.is_empty() {
            let bytes = self.file(file)?;
            bytes.resize(bytes.len().max(position + src.len()), 0);
            bytes.iter_mut().skip(position).zip(src).for_each(|(to, from)| *to = *from);
            self.history.push(Operation::Write { file, position, bytes: src.into() });
        }
        if fate == Fate::Done { Ok(()) } else { Err(self.failure()) }
    }

    fn failure(&self) -> Error {
        Error::io("cannot write", self.faults.error())
    }

    fn sync(&mut self, node: Node) -> Result<()> {
        if self.faults.sync() {
            self.history.push(Operation::Sync(node));
            return Ok(());
        }
        self.history.push(Operation::SyncFailed(node));
        Err(Error::io("cannot sync", io::Error::from_raw_os_error(EIO)))
    }
}

impl Handle {
    fn at(&self, node: Node) -> Arc<Self> {
        Arc::new(Self { disk: self.disk.clone(), node })
    }

    fn find(&self, name: &str, is_folder: bool) -> Result<Arc<Self>> {
        let node = self.disk.lock().find(self.node, name, is_folder)?;
        Ok(self.at(node))
    }

    fn make(&self, name: &str, is_folder: bool) -> Result<Arc<Self>> {
        let mut state = self.disk.lock();
        let node = state.nodes.len();
        if state.folder(self.node)?.contains_key(name) {
            return Err(Error::invalid("something of that name exists").within(name));
        }
        state.admit()?;
        state.nodes.push(match is_folder {
            true => Content::Folder(BTreeMap::new()),
            false => Content::File(Vec::new()),
        });
        state.folder(self.node)?.insert(name.to_owned(), node);
        let (folder, name) = (self.node, name.to_owned());
        state.history.push(Operation::Create { folder, name, node, is_folder });
        drop(state);
        Ok(self.at(node))
    }

    fn give_name(&self, from: &str, to: &str, is_folder: bool) -> Result<()> {
        let mut state = self.disk.lock();
        let node = state.find(self.node, from, is_folder)?;
        if is_folder && state.folder(self.node)?.contains_key(to) {
            return Err(Error::invalid("something of that name exists").within(to));
        }
        state.admit()?;
        let names = state.folder(self.node)?;
        names.remove(from);
        names.insert(to.to_owned(), node);
        let (folder, from, to) = (self.node, from.to_owned(), to.to_owned());
        state.history.push(Operation::Rename { folder, from, to });
        Ok(())
    }

    /// Removing needs no space.
    fn take_name(&self, name: &str, is_folder: bool) -> Result<()> {
        let mut state = self.disk.lock();
        state.find(self.node, name, is_folder)?;
        state.folder(self.node)?.remove(name);
        let (folder, name) = (self.node, name.to_owned());
        state.history.push(Operation::Remove { folder, name });
        Ok(())
    }

    fn list(&self, folders: bool) -> Result<Vec<String>> {
        let mut state = self.disk.lock();
        let names: Vec<String> = state.folder(self.node)?.keys().cloned().collect();
        Ok(names.into_iter().filter(|name| state.find(self.node, name, folders).is_ok()).collect())
    }
}

impl ReadAt for Handle {
    fn len(&self) -> Result<u64> {
        Ok(self.disk.lock().file(self.node)?.len() as u64)
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        let mut state = self.disk.lock();
        let bytes = state.file(self.node)?;
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        let rest = bytes.get(start..).unwrap_or_default();
        let count = rest.len().min(dst.len());
        let dst = dst.get_mut(..count).unwrap_or_default();
        dst.copy_from_slice(rest.get(..count).unwrap_or_default());
        state.faults.read(dst);
        Ok(count)
    }
}

impl WriteAt for Handle {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        self.disk.lock().write(self.node, position, src)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let mut state = self.disk.lock();
        let len = usize::try_from(len).map_err(|_| no_space())?;
        if len > state.file(self.node)?.len() {
            state.admit()?;
        }
        state.file(self.node)?.resize(len, 0);
        state.history.push(Operation::SetLen { file: self.node, len });
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        self.disk.lock().sync(self.node)
    }
}

impl Dir for Handle {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(self.find(name, false)?)
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(self.find(name, false)?)
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(self.make(name, false)?)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.give_name(from, to, false)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.take_name(name, false)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.list(false)
    }

    fn open_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        Ok(self.find(name, true)?)
    }

    fn create_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        Ok(self.make(name, true)?)
    }

    fn rename_folder(&self, from: &str, to: &str) -> Result<()> {
        self.give_name(from, to, true)
    }

    fn remove_folder(&self, name: &str) -> Result<()> {
        self.take_name(name, true)
    }

    fn folder_names(&self) -> Result<Vec<String>> {
        self.list(true)
    }

    fn sync(&self) -> Result<()> {
        self.disk.lock().sync(self.node)
    }
}

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

fn no_space() -> Error {
    Error::io("cannot write", io::Error::from_raw_os_error(ENOSPC))
}
