//! The order of writing: a writer that is stopped after any of its writes, or in the middle of one,
//! leaves its last committed state or the next one.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use superchunk::frame::Kind;
use superchunk::store::{Dir, Memory, MemoryFolder, ReadAt, WriteAt};
use superchunk::{
    CompressOptions, Error, ErrorKind, FrameOptions, OpenOptions, Result, SuperChunk, chunk,
};
use superchunk_testkit::samples::mixed;

/// What is done to a folder; files have numbers, because names change.
#[derive(Clone, Debug)]
enum Operation {
    Create(String, usize),
    Write(usize, u64, Vec<u8>),
    SetLen(usize, u64),
    Rename(String, String),
    Remove(String),
    /// A commit has returned; the state has this number.
    Committed(usize),
}

/// A folder that notes what is done to it.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    names: BTreeMap<String, usize>,
    files: Vec<Memory>,
    log: Vec<Operation>,
}

struct File {
    number: usize,
    store: Memory,
    recorder: Recorder,
}

impl ReadAt for File {
    fn len(&self) -> Result<u64> {
        self.store.len()
    }

    fn read_at(&self, position: u64, dst: &mut [u8]) -> Result<usize> {
        self.store.read_at(position, dst)
    }
}

impl WriteAt for File {
    fn write_at(&self, position: u64, src: &[u8]) -> Result<()> {
        self.recorder.note(Operation::Write(self.number, position, src.to_vec()));
        self.store.write_at(position, src)
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.recorder.note(Operation::SetLen(self.number, len));
        self.store.set_len(len)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

impl Recorder {
    fn note(&self, operation: Operation) {
        self.0.lock().unwrap().log.push(operation);
    }

    fn file(&self, name: &str) -> Result<Arc<File>> {
        let state = self.0.lock().unwrap();
        let number = *state.names.get(name).ok_or_else(|| missing(name))?;
        Ok(Arc::new(File { number, store: state.files[number].clone(), recorder: self.clone() }))
    }
}

fn missing(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, name.to_owned())
}

impl Dir for Recorder {
    fn open(&self, name: &str) -> Result<Arc<dyn ReadAt>> {
        Ok(self.file(name)?)
    }

    fn edit(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        Ok(self.file(name)?)
    }

    fn create(&self, name: &str) -> Result<Arc<dyn WriteAt>> {
        let mut state = self.0.lock().unwrap();
        let number = state.files.len();
        state.files.push(Memory::new());
        state.names.insert(name.to_owned(), number);
        state.log.push(Operation::Create(name.to_owned(), number));
        drop(state);
        Ok(self.file(name)?)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        let number = state.names.remove(from).ok_or_else(|| missing(from))?;
        state.names.insert(to.to_owned(), number);
        state.log.push(Operation::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        state.names.remove(name).ok_or_else(|| missing(name))?;
        state.log.push(Operation::Remove(name.to_owned()));
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(self.0.lock().unwrap().names.keys().cloned().collect())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

/// The folder as these operations leave it.
#[derive(Clone, Default)]
struct Image {
    names: BTreeMap<String, usize>,
    files: BTreeMap<usize, Vec<u8>>,
}

impl Image {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(name, number) => {
                self.names.insert(name.clone(), *number);
                self.files.insert(*number, Vec::new());
            }
            Operation::Write(number, position, bytes) => {
                let file = self.files.get_mut(number).unwrap();
                let start = usize::try_from(*position).unwrap();
                file.resize(file.len().max(start + bytes.len()), 0);
                file[start..start + bytes.len()].copy_from_slice(bytes);
            }
            Operation::SetLen(number, len) => {
                self.files.get_mut(number).unwrap().resize(usize::try_from(*len).unwrap(), 0);
            }
            Operation::Rename(from, to) => {
                let number = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), number);
            }
            Operation::Remove(name) => drop(self.names.remove(name)),
            Operation::Committed(_) => {}
        }
    }

    /// What a reader finds.
    fn read(&self, name: Option<&str>) -> Result<(Vec<u8>, Vec<String>)> {
        let folder = MemoryFolder::new();
        for (file, number) in &self.names {
            folder.create(file)?.write_at(0, &self.files[number])?;
        }
        let frame = OpenOptions::new().open_in_dir(Arc::new(folder), name)?;
        Ok((frame.to_vec()?, frame.value_names().map(str::to_owned).collect()))
    }
}

/// All changes there are, a commit after each.
fn write_states(recorder: &Recorder, kind: Kind) -> Vec<(Vec<u8>, Vec<String>)> {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(400);
    let dir: Arc<dyn Dir> = Arc::new(recorder.clone());
    let mut frame = match kind {
        Kind::Sparse => SuperChunk::create_sparse_in_dir(dir.clone(), &options).unwrap(),
        _ => SuperChunk::create_in_dir(dir.clone(), FRAME, &options).unwrap(),
    };
    let chunk = |seed| chunk::compress(&mixed(400, 4, seed), &CompressOptions::new(4)).unwrap();
    let mut states = Vec::new();
    for step in 0..40u64 {
        match step % 10 {
            0 => frame.append(&mixed(1500, 4, step)).unwrap(),
            1 => frame.append(&mixed(100, 4, step)).unwrap(),
            2 => frame.update_chunk(1, &chunk(step)).unwrap(),
            3 => frame.insert_chunk(0, &chunk(step)).unwrap(),
            4 => frame.delete_chunk(2).unwrap(),
            5 => frame.set_value_bytes(&format!("v{step}"), &mixed(200, 1, step)).unwrap(),
            6 => frame.set_metalayer("m", &mixed(10 + states.len(), 1, step)).unwrap(),
            7 => frame.write_items(50, &mixed(900, 4, step)).unwrap(),
            8 => frame.compact().unwrap(),
            _ => frame.resize(frame.item_count() / 2).unwrap(),
        }
        frame.commit().unwrap();
        let names = frame.value_names().map(str::to_owned).collect();
        recorder.note(Operation::Committed(states.len()));
        states.push((frame.to_vec().unwrap(), names));
        if step % 7 == 6 {
            frame.close().unwrap();
            let name = (kind == Kind::Contiguous).then_some(FRAME);
            frame = OpenOptions::new().edit_in_dir(dir.clone(), name).unwrap();
        }
    }
    frame.close().unwrap();
    states
}

const FRAME: &str = "frame";
const SECTOR: usize = 512;

#[test]
fn a_writer_stopped_anywhere_leaves_the_old_state_or_the_new() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let recorder = Recorder::default();
        let states = write_states(&recorder, kind);
        let name = (kind == Kind::Contiguous).then_some(FRAME);
        let log = std::mem::take(&mut recorder.0.lock().unwrap().log);
        let (mut image, mut committed, mut looked) = (Image::default(), None, 0);
        let check = |image: &Image, committed: Option<usize>| {
            let next = committed.map_or(0, |committed| committed + 1);
            match image.read(name) {
                Ok(found) => {
                    let old = committed.is_some_and(|committed| states[committed] == found);
                    assert!(old || states.get(next) == Some(&found), "{kind:?}, state {next}");
                }
                Err(error) => assert!(committed.is_none(), "{kind:?}, state {next}: {error}"),
            }
        };
        for operation in &log {
            if let Operation::Write(number, position, bytes) = operation {
                // A sector is written or not; longer writes may stop between two.
                let lead = SECTOR - usize::try_from(*position).unwrap() % SECTOR;
                for cut in (lead..bytes.len()).step_by(SECTOR) {
                    let mut torn = image.clone();
                    torn.apply(&Operation::Write(*number, *position, bytes[..cut].to_vec()));
                    check(&torn, committed);
                    looked += 1;
                }
            }
            image.apply(operation);
            if let Operation::Committed(state) = operation {
                committed = Some(*state);
            }
            check(&image, committed);
            looked += 1;
        }
        assert!(looked > 300, "only {looked} moments");
    }
}
