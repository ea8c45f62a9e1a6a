//! What is found on a disk after a cut.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use superchunk::Result;
use superchunk::store::{Dir, MemoryFolder};
use twox_hash::XxHash3_64;

/// The files and folders of a disk, by their paths.
#[derive(Clone, Debug, Default)]
pub struct Image {
    pub(super) files: BTreeMap<String, Bytes>,
    pub(super) folders: BTreeSet<String>,
}

/// The bytes of a file; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    bytes: Arc<Vec<u8>>,
    hash: u64,
}

impl Default for Bytes {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Bytes {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { hash: XxHash3_64::oneshot(&bytes), bytes: Arc::new(bytes) }
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Image {
    /// A number that tells images apart.
    pub(super) fn hash(&self) -> u64 {
        let mut text = Vec::new();
        for (path, bytes) in &self.files {
            text.extend(path.as_bytes());
            text.extend([0, 0]);
            text.extend(bytes.hash.to_le_bytes());
        }
        for path in &self.folders {
            text.extend(path.as_bytes());
            text.extend([0, 1]);
        }
        XxHash3_64::oneshot(&text)
    }

    /// The paths and lengths of all files, for a message.
    #[must_use]
    pub fn listing(&self) -> Vec<(&str, usize)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.len())).collect()
    }

    /// A folder in memory with all that.
    pub fn to_memory(&self) -> Result<MemoryFolder> {
        let root = MemoryFolder::new();
        for path in &self.folders {
            within(&root, path, |dir, name| dir.create_folder(name).map(drop))?;
        }
        for (path, bytes) in &self.files {
            within(&root, path, |dir, name| dir.create(name)?.write_at(0, bytes))?;
        }
        Ok(root)
    }

    /// Puts all that into a folder of the real disk, which is emptied first.
    pub fn write_to(&self, folder: &Path) -> io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        for path in &self.folders {
            fs::create_dir_all(folder.join(path))?;
        }
        for (path, bytes) in &self.files {
            fs::write(folder.join(path), &bytes[..])?;
        }
        Ok(())
    }
}

/// Does something with a name in the folder that a path leads to.
fn within(
    root: &MemoryFolder,
    path: &str,
    act: impl FnOnce(&dyn Dir, &str) -> Result<()>,
) -> Result<()> {
    let mut folder: Arc<dyn Dir> = Arc::new(root.clone());
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    for parent in parents.split('/').filter(|parent| !parent.is_empty()) {
        folder = folder.open_folder(parent)?;
    }
    act(folder.as_ref(), name)
}
