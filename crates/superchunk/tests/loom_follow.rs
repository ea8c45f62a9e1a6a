//! A reader that follows a writer, under every order of their reads and writes that three changes of turn can bring
//! about: it sees an old state or a new one, whole, and never less than before.
//!
//! The frames are those of the library, in folders whose every operation is a moment at which loom may let the other one
//! go on. Long writes come in pieces, as a disk may show them. Built with `--cfg loom` only: `cargo xtask loom`.

#![cfg(loom)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::sync::Arc;

use loom::model::Builder;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use superchunk::store::{Dir, MemoryFolder, ReadAt, WriteAt};
use superchunk::{CompressOptions, ErrorKind, FrameOptions, OpenOptions, Result, SuperChunk};

/// A sector is written whole or not at all.
const SECTOR: usize = 512;

/// A moment at which the other thread may go on; one for all, because it is the order of everything that matters.
#[derive(Clone)]
struct Turn(Arc<AtomicUsize>);

impl Turn {
    fn take(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A store or a folder, each operation of which is a turn.
struct Shared<T: ?Sized> {
    inner: Arc<T>,
    turn: Turn,
}

impl<T: ?Sized> Shared<T> {
    fn with<U: ?Sized>(&self, inner: Arc<U>) -> Arc<Shared<U>> {
        Arc::new(Shared { inner, turn: self.turn.clone() })
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Shared<T> {
    fn len(&self) -> Result<u64> {
        self.turn.take();
        self.inner.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.turn.take();
        self.inner.read_at(position, dst)
    }
}

impl<T: WriteAt + ?Sized> WriteAt for Shared<T> {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        let before = SECTOR - usize::try_from(position).unwrap() % SECTOR;
        let (first, rest) = src.split_at(before.min(src.len()));
        self.turn.take();
        self.inner.write_at(position, first)?;
        if !rest.is_empty() {
            self.turn.take();
            self.inner.write_at(position + first.len() as u64, rest)?;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.turn.take();
        self.inner.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn lock(&self) -> Result<()> {
        self.inner.lock()
    }
}

impl Dir for Shared<dyn Dir> {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        self.turn.take();
        Ok(self.with(self.inner.open(name)?))
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        self.turn.take();
        Ok(self.with(self.inner.edit(name)?))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        self.turn.take();
        Ok(self.with(self.inner.create(name)?))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.turn.take();
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.turn.take();
        self.inner.remove(name)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.turn.take();
        self.inner.names()
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn lock(&self) -> Result<()> {
        self.inner.lock()
    }
}

const NAME: &str = "frame";
const ROW: usize = 300;

/// What the writer does between two commits.
type Change = fn(&mut SuperChunk, &[u8]) -> Result<()>;

fn data() -> Vec<u8> {
    (0..4 * ROW).map(|at| u8::try_from(at * at % 251).unwrap()).collect()
}

/// A writer makes its changes, each with a commit, while a reader follows and is asked to judge what it reads.
fn explore(sparse: bool, changes: &'static [Change], is_right: fn(&[u8], usize) -> bool) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.max_branches = 100_000;
    builder.check(move || {
        let inner: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
        let folder = Arc::new(Shared { inner, turn: Turn(Arc::new(AtomicUsize::new(0))) });
        let compress = CompressOptions::new(1).with_level(0);
        let options = FrameOptions::new(compress).with_chunk_size(ROW);
        let mut writer = if sparse {
            SuperChunk::create_in_dir(folder.clone(), None, &options).unwrap()
        } else {
            SuperChunk::create_in_dir(folder.clone(), Some(NAME), &options).unwrap()
        };
        let data = data();
        writer.append(&data[..ROW]).unwrap();
        writer.commit().unwrap();
        let reader = thread::spawn(move || {
            let open = OpenOptions::new().with_following(true);
            let mut seen = 0;
            let opened = SuperChunk::open_in_dir(folder, (!sparse).then_some(NAME), &open);
            let Some(mut reader) = unless_changed(opened) else { return };
            for _ in 0..2 {
                if let Some(found) = unless_changed(reader.to_vec()) {
                    assert!(is_right(&found, seen), "{} bytes after {seen}", found.len());
                    seen = found.len();
                }
                if unless_changed(reader.refresh()).is_none() {
                    return;
                }
            }
        });
        for change in changes {
            change(&mut writer, &data).unwrap();
            writer.commit().unwrap();
        }
        writer.close().unwrap();
        reader.join().unwrap();
    });
}

/// A reader may be told that things have changed under its hands; any other refusal is wrong.
fn unless_changed<T>(result: Result<T>) -> Option<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::Changed => None,
        result => Some(result.unwrap()),
    }
}

fn append(writer: &mut SuperChunk, data: &[u8]) -> Result<()> {
    let end = usize::try_from(writer.byte_len()).unwrap();
    writer.append(&data[end..end + ROW])
}

/// Rows only come, and are those that were written.
fn is_a_longer_start(found: &[u8], seen: usize) -> bool {
    found.len() >= seen && !found.is_empty() && data().starts_with(found)
}

/// Every row is overwritten in place; afterwards its space is free for the next change.
fn overwrite(writer: &mut SuperChunk, _: &[u8]) -> Result<()> {
    let mut first = [0];
    writer.read_bytes(0..1, &mut first)?;
    writer.write_bytes(0, &[first[0].wrapping_add(1); ROW])
}

/// The first row or one of those that replaced it, and no mixture.
fn is_one_row(found: &[u8], _: usize) -> bool {
    found == &data()[..ROW] || (found.len() == ROW && found.iter().all(|byte| *byte == found[0]))
}

#[test]
fn rows_appended_to_a_contiguous_frame() {
    explore(false, &[append, append], is_a_longer_start);
}

#[test]
fn rows_appended_to_a_sparse_frame() {
    explore(true, &[append, append], is_a_longer_start);
}

#[test]
fn rows_overwritten_in_a_contiguous_frame() {
    explore(false, &[overwrite, overwrite, overwrite], is_one_row);
}

#[test]
fn rows_overwritten_in_a_sparse_frame() {
    explore(true, &[overwrite, overwrite, overwrite], is_one_row);
}
