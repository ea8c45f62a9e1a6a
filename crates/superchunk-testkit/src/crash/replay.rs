//! A history played again up to a cut, and the luck that decides what the disk has saved by then.

use std::collections::BTreeMap;

use super::file_state::FileState;
use super::folder_state::FolderState;
use super::image::Image;
use super::operation::{Node, Operation};
use crate::rng::Rng;

/// A disk after the first operations of a history.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    files: BTreeMap<Node, FileState>,
    folders: BTreeMap<Node, FolderState>,
    /// How many states are safe.
    pub(super) reached: usize,
}

impl Replay {
    pub(super) fn new() -> Self {
        let folders = BTreeMap::from([(0, FolderState::default())]);
        Self { files: BTreeMap::new(), folders, reached: 0 }
    }

    /// Does the next operation.
    pub(super) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { folder, name, node, is_folder } => {
                match is_folder {
                    true => drop(self.folders.insert(*node, FolderState::default())),
                    false => drop(self.files.insert(*node, FileState::default())),
                }
                self.folder(*folder, |names| names.create(name, *node));
            }
            Operation::Rename { folder, from, to } => {
                self.folder(*folder, |names| names.rename(from, to));
            }
            Operation::Remove { folder, name } => self.folder(*folder, |names| names.remove(name)),
            Operation::Write { file, position, bytes } => {
                self.file(*file, |file| file.write(*position, bytes.clone()));
            }
            Operation::SetLen { file, len } => self.file(*file, |file| file.set_len(*len)),
            Operation::Sync(node) => {
                self.file(*node, FileState::sync);
                self.folder(*node, FolderState::sync);
            }
            Operation::SyncFailed(node) => self.file(*node, FileState::sync_failed),
            Operation::Reached(state) => self.reached = state + 1,
        }
    }

    /// One of the disks that may be found after a cut now.
    pub(super) fn cut(&self, luck: &mut Luck) -> Image {
        let mut image = Image::default();
        self.collect(0, "", luck, &mut image);
        image
    }

    fn collect(&self, folder: Node, path: &str, luck: &mut Luck, image: &mut Image) {
        let Some(names) = self.folders.get(&folder) else { return };
        for (name, node) in names.cut(luck) {
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            if let Some(file) = self.files.get(&node) {
                image.files.insert(path, file.cut(luck));
            } else {
                image.folders.insert(path.clone());
                self.collect(node, &path, luck, image);
            }
        }
    }

    fn file(&mut self, node: Node, change: impl FnOnce(&mut FileState)) {
        if let Some(file) = self.files.get_mut(&node) {
            change(file);
        }
    }

    fn folder(&mut self, node: Node, change: impl FnOnce(&mut FolderState)) {
        if let Some(folder) = self.folders.get_mut(&node) {
            change(folder);
        }
    }
}

/// What the disk has saved of what it was not told to save.
#[derive(Debug)]
pub(super) enum Luck {
    /// All of it, as after the end of a process.
    All,
    /// Nothing.
    Nothing,
    /// Some of it.
    Some(Rng),
}

/// How one file or folder fared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mood {
    /// The first so many changes are saved.
    First(usize),
    /// Each part for itself has some of the changes, with this chance of having all of them.
    Mixed(u64),
}

impl Luck {
    pub(super) fn mood(&mut self, changes: usize) -> Mood {
        match self {
            Self::All => Mood::First(changes),
            Self::Nothing => Mood::First(0),
            Self::Some(rng) => match rng.below(8) {
                0 => Mood::First(0),
                1 => Mood::First(changes),
                2 => Mood::First(rng.index(changes + 1)),
                3 => Mood::Mixed(10),
                4 => Mood::Mixed(90),
                _ => Mood::Mixed(50),
            },
        }
    }

    /// How many of the changes a part has.
    pub(super) fn how_many(&mut self, mood: Mood, changes: usize) -> usize {
        match (self, mood) {
            (_, Mood::First(count)) => count,
            (Self::Some(rng), Mood::Mixed(percent)) => match rng.below(100) {
                draw if draw < percent => changes,
                draw if draw % 3 == 0 => rng.index(changes + 1),
                _ => 0,
            },
            _ => changes,
        }
    }

    /// What unwritten space is full of: zeros, or what was there before.
    pub(super) fn fill(&mut self) -> u8 {
        if self.below(3) == 2 { 0xa5 } else { 0 }
    }

    pub(super) fn rarely(&mut self) -> bool {
        self.below(4) == 3
    }

    /// A number below this one; the first where there is no choice.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        if let Self::Some(rng) = self { rng.index(bound) } else { 0 }
    }
}
