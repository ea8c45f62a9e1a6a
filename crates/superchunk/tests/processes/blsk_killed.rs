//! A writer of a `blsk` table that is stopped anywhere, by a crash or by a power cut, leaves its last
//! committed rows or the next ones, the same in all columns.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use superchunk::blsk::{Reserve, Table, TableOptions, TreeOptions};
use superchunk::store::{Dir, Memory, MemoryFolder, ReadAt, WriteAt};
use superchunk::{DType, Error, ErrorKind, OpenOptions, Result};
use superchunk_testkit::samples::mixed;

/// What is done to a tree; files have numbers, because names change.
#[derive(Clone, Debug)]
enum Operation {
    Create(String, usize),
    Write(usize, u64, Vec<u8>),
    SetLen(usize, u64),
    Rename(String, String),
    Remove(String),
    Sync(usize),
    SyncNames(String),
    /// A commit has returned; the state has this number.
    Committed(usize),
}

/// A folder that notes what is done to it and to those below.
#[derive(Clone, Default)]
struct Recorder {
    /// The path of this folder, with a slash behind it.
    path: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    names: BTreeMap<String, usize>,
    files: Vec<Memory>,
    folders: Vec<String>,
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
        self.recorder.note(Operation::Sync(self.number));
        Ok(())
    }
}

impl Recorder {
    fn note(&self, operation: Operation) {
        self.state.lock().unwrap().log.push(operation);
    }

    fn join(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }

    fn file(&self, name: &str) -> Result<Arc<File>> {
        let state = self.state.lock().unwrap();
        let number = *state.names.get(&self.join(name)).ok_or_else(|| missing(name))?;
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
        let path = self.join(name);
        let mut state = self.state.lock().unwrap();
        let number = state.files.len();
        state.files.push(Memory::new());
        state.names.insert(path.clone(), number);
        state.log.push(Operation::Create(path, number));
        drop(state);
        Ok(self.file(name)?)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.join(from), self.join(to));
        let mut state = self.state.lock().unwrap();
        let number = state.names.remove(&from).ok_or_else(|| missing(&from))?;
        state.names.insert(to.clone(), number);
        state.log.push(Operation::Rename(from, to));
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.join(name);
        let mut state = self.state.lock().unwrap();
        state.names.remove(&path).ok_or_else(|| missing(name))?;
        state.log.push(Operation::Remove(path));
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn open_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        let path = format!("{}/", self.join(name));
        let known = self.state.lock().unwrap().folders.contains(&path);
        if !known {
            return Err(missing(name));
        }
        Ok(Arc::new(Self { path, state: self.state.clone() }))
    }

    fn create_folder(&self, name: &str) -> Result<Arc<dyn Dir>> {
        self.state.lock().unwrap().folders.push(format!("{}/", self.join(name)));
        self.open_folder(name)
    }

    fn sync(&self) -> Result<()> {
        self.note(Operation::SyncNames(self.path.clone()));
        Ok(())
    }
}

type Names = BTreeMap<String, usize>;
type Files = BTreeMap<usize, Vec<u8>>;

/// The tree as these operations leave it: what the system has, and what is on the disk for sure.
#[derive(Clone, Default)]
struct Image {
    names: Names,
    files: Files,
    sure_names: Names,
    sure_files: Files,
}

fn folder_of(path: &str) -> &str {
    &path[..path.rfind('/').map_or(0, |end| end + 1)]
}

impl Image {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create(name, number) => {
                self.names.insert(name.clone(), *number);
                self.files.insert(*number, Vec::new());
                self.sure_files.insert(*number, Vec::new());
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
            Operation::Sync(number) => {
                self.sure_files.insert(*number, self.files[number].clone());
            }
            Operation::SyncNames(folder) => {
                self.sure_names.retain(|name, _| folder_of(name) != folder);
                let here = self.names.iter().filter(|(name, _)| folder_of(name) == folder);
                self.sure_names.extend(here.map(|(name, number)| (name.clone(), *number)));
            }
            Operation::Committed(_) => {}
        }
    }

    /// What may be found after a crash: all that the system had; after a power cut: nothing but what
    /// was synced, or of names and contents one more than the other.
    fn outcomes(&self) -> [(&'static str, &Names, &Files); 4] {
        [
            ("crash", &self.names, &self.files),
            ("power cut", &self.sure_names, &self.sure_files),
            ("power cut, names kept", &self.names, &self.sure_files),
            ("power cut, contents kept", &self.sure_names, &self.files),
        ]
    }
}

/// The rows of both columns.
type Rows = Vec<Vec<u8>>;

fn rows_of(table: &Table) -> Result<Rows> {
    let read = |name: &str| {
        let mut bytes =
            vec![0; usize::try_from(table.row_count()).unwrap() * table.row_size(name)?];
        table.read_rows(name, 0..table.row_count(), &mut bytes).map(|()| bytes)
    };
    table.names().map(read).collect()
}

/// What a reader finds, and what a writer leaves to the next reader.
fn read(names: &Names, files: &Files) -> Result<[Rows; 3]> {
    let folder = MemoryFolder::new();
    for path in ["meta", "data"] {
        folder.create_folder(path)?;
    }
    folder.open_folder("data")?.create_folder("a")?;
    folder.open_folder("data")?.create_folder("g")?.create_folder("b")?;
    for (path, number) in names {
        let mut dir: Arc<dyn Dir> = Arc::new(folder.clone());
        let mut parts: Vec<&str> = path.split('/').collect();
        let name = parts.pop().unwrap();
        for part in parts {
            dir = dir.open_folder(part)?;
        }
        dir.create(name)?.write_at(0, &files[number])?;
    }
    let options = OpenOptions::new();
    let first = rows_of(&Table::open_in_dir(Arc::new(folder.clone()), &options)?)?;
    let second = rows_of(&Table::edit_in_dir(Arc::new(folder.clone()), &options)?)?;
    let third = rows_of(&Table::open_in_dir(Arc::new(folder), &options)?)?;
    Ok([first, second, third])
}

fn append(table: &mut Table, rows: usize, seed: u64) {
    let (a, b) = (mixed(4 * rows, 4, seed), mixed(8 * rows, 8, seed));
    table.append(&[("a", &a), ("g/b", &b)]).unwrap();
}

/// All changes there are, a commit after each.
fn write_states(recorder: &Recorder, options: &TreeOptions) -> Vec<Rows> {
    let columns = [("a", DType::parse("<i4").unwrap()), ("g/b", DType::parse("<f8").unwrap())];
    let dir: Arc<dyn Dir> = Arc::new(recorder.clone());
    let mut table = Table::create_in_dir(
        dir.clone(),
        &TableOptions::new().with_columns(columns.clone()).with_tree(options.clone()),
    )
    .unwrap();
    let mut states = Vec::new();
    for step in 0..16u64 {
        let rows = table.row_count();
        match step % 6 {
            0 | 3 => append(&mut table, 170, step),
            1 => append(&mut table, 9, step),
            2 => table.write_rows("g/b", rows / 2, &mixed(8 * 3, 8, step)).unwrap(),
            4 => {
                table.write_rows("a", 3, &mixed(4 * 80, 4, step)).unwrap();
                table.write_rows("g/b", rows - 5, &mixed(8 * 5, 8, step)).unwrap();
            }
            _ => table.truncate(table.row_count() - rows / 3).unwrap(),
        }
        table.commit().unwrap();
        recorder.note(Operation::Committed(states.len()));
        states.push(rows_of(&table).unwrap());
        if step % 5 == 4 {
            table.close().unwrap();
            table = Table::edit_in_dir(dir.clone(), &OpenOptions::new()).unwrap();
        }
    }
    states
}

const SECTOR: usize = 512;

/// Looks at every outcome of stopping here.
fn check(image: &Image, committed: Option<usize>, states: &[Rows], torn: bool) -> usize {
    let next = committed.map_or(0, |committed| committed + 1);
    let outcomes = image.outcomes();
    // Only what the system has can be torn.
    let outcomes = if torn { &outcomes[..1] } else { &outcomes[..] };
    for (how, names, files) in outcomes {
        match read(names, files) {
            Ok([first, second, third]) => {
                assert!(first == second && second == third, "{how}, state {next}: readers differ");
                let empty = committed.is_none() && first.iter().all(Vec::is_empty);
                let old = empty || committed.is_some_and(|committed| states[committed] == first);
                assert!(old || states.get(next) == Some(&first), "{how}, state {next}");
            }
            Err(error) => assert!(committed.is_none(), "{how}, state {next}: {error}"),
        }
    }
    outcomes.len()
}

#[test]
fn a_writer_stopped_anywhere_leaves_the_old_rows_or_the_new() {
    for reserve in [Reserve::None, Reserve::Part(8)] {
        let recorder = Recorder::default();
        let options = TreeOptions::default()
            .with_chunk_rows(25)
            .with_superchunk_size(3)
            .with_reserve(reserve);
        let states = write_states(&recorder, &options);
        let log = std::mem::take(&mut recorder.state.lock().unwrap().log);
        let (mut image, mut committed, mut looked) = (Image::default(), None, 0);
        for operation in &log {
            if let Operation::Write(number, position, bytes) = operation {
                // A sector is written or not; longer writes may stop between two.
                let lead = SECTOR - usize::try_from(*position).unwrap() % SECTOR;
                for cut in (lead..bytes.len()).step_by(SECTOR) {
                    let mut torn = image.clone();
                    torn.apply(&Operation::Write(*number, *position, bytes[..cut].to_vec()));
                    looked += check(&torn, committed, &states, true);
                }
            }
            image.apply(operation);
            if let Operation::Committed(state) = operation {
                committed = Some(*state);
            }
            looked += check(&image, committed, &states, false);
        }
        assert!(looked > 1000, "only {looked} moments");
    }
}
