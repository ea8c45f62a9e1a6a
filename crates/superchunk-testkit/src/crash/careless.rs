//! Folders that break the rules of safe writing: the search must notice.

use std::sync::{Arc, Mutex, PoisonError};

use superchunk::Result;
use superchunk::store::{Dir, WriteAt};

use super::wrapped::{Hook, Wrapped};

/// A rule to break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sin {
    /// Files are never synced.
    NoSync,
    /// Names are never synced.
    NoNameSync,
    /// The first sector of a file is written, and safe, before what it speaks of.
    HeaderFirst,
}

/// Breaks one rule.
#[derive(Debug)]
pub struct Careless {
    sin: Sin,
    /// What comes after the header instead of before it.
    held_back: Mutex<Vec<(u64, Vec<u8>)>>,
}

/// Everything that a header speaks of lies behind it.
const FIRST_SECTOR: u64 = 512;

impl Careless {
    /// The folder, with this rule broken.
    pub fn folder(inner: Arc<dyn Dir>, sin: Sin) -> Arc<dyn Dir> {
        Wrapped::folder(inner, Arc::new(Self { sin, held_back: Mutex::default() }))
    }
}

impl Hook for Careless {
    fn write(&self, file: &dyn WriteAt, position: u64, src: &[u8]) -> Result<()> {
        if self.sin != Sin::HeaderFirst {
            return file.write_at(position, src);
        }
        let mut held_back = self.held_back.lock().unwrap_or_else(PoisonError::into_inner);
        if position >= FIRST_SECTOR {
            held_back.push((position, src.to_vec()));
            return Ok(());
        }
        file.write_at(position, src)?;
        file.sync()?;
        held_back.drain(..).try_for_each(|(position, src)| file.write_at(position, &src))
    }

    fn sync(&self, file: &dyn WriteAt) -> Result<()> {
        if self.sin == Sin::NoSync { Ok(()) } else { file.sync() }
    }

    fn sync_names(&self, folder: &dyn Dir) -> Result<()> {
        if self.sin == Sin::NoNameSync { Ok(()) } else { folder.sync() }
    }
}
