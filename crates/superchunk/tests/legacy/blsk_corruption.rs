//! Every byte of every file of small `blsk` trees damaged, every length cut: an error or other values,
//! never a panic.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use superchunk::blsk::{Array, Reserve, Table, TableOptions, TreeOptions};
use superchunk::store::{Dir, MemoryFolder};
use superchunk::{DType, ErrorKind, Limits, OpenOptions, Result};
use superchunk_testkit::corrupt::{for_each_mutation, truncations};
use superchunk_testkit::vectors;

/// The files of a tree: folder, name, content.
type Files = Vec<(Vec<String>, String, Vec<u8>)>;

fn load(path: &Path, below: &[String], files: &mut Files) {
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            load(&entry.path(), &[below, &[name]].concat(), files);
        } else {
            files.push((below.to_vec(), name, fs::read(entry.path()).unwrap()));
        }
    }
}

/// The tree in memory, with one file replaced.
fn folder(files: &Files, replaced: usize, content: &[u8]) -> MemoryFolder {
    let root = MemoryFolder::new();
    for (number, (below, name, bytes)) in files.iter().enumerate() {
        let mut dir: Arc<dyn Dir> = Arc::new(root.clone());
        for part in below {
            dir = dir.open_folder(part).or_else(|_| dir.create_folder(part)).unwrap();
        }
        let bytes = if number == replaced { content } else { bytes };
        dir.create(name).unwrap().write_at(0, bytes).unwrap();
    }
    root
}

/// Reads all that a tree holds.
fn read_all(root: &MemoryFolder) -> Result<Vec<Vec<u8>>> {
    let limits = Limits::default().with_max_decoded(1 << 22).with_max_metadata(1 << 20);
    let options = OpenOptions::new().with_limits(limits);
    let array = Array::open_in_dir(Arc::new(root.clone()), &options);
    if let Ok(array) = &array {
        array.attributes().for_each(drop);
        let mut bytes = vec![0; buffer(array.row_count(), array.row_size())];
        array.read_rows(0..array.row_count(), &mut bytes)?;
        return Ok(vec![bytes]);
    }
    let table = match Table::open_in_dir(Arc::new(root.clone()), &options) {
        Err(error) if error.kind() == ErrorKind::InvalidArgument => {
            return array.map(|_| Vec::new());
        }
        table => table?,
    };
    let read = |name: &str| {
        let mut bytes = vec![0; buffer(table.row_count(), table.row_size(name)?)];
        table.read_rows(name, 0..table.row_count(), &mut bytes).map(|()| bytes)
    };
    table.names().map(read).collect()
}

/// What is claimed may be much more than what is there.
fn buffer(rows: u64, row_len: usize) -> usize {
    usize::try_from(rows).map_or(0, |rows| rows.saturating_mul(row_len)).min(1 << 22)
}

fn damage_everything(files: &Files) {
    let whole = read_all(&folder(files, usize::MAX, &[])).unwrap();
    let (mut refused, mut different) = (0, 0);
    for (number, (_, name, bytes)) in files.iter().enumerate() {
        let mut look = |content: &[u8]| match read_all(&folder(files, number, content)) {
            Ok(found) => different += usize::from(found != whole),
            Err(error) => {
                refused += 1;
                assert_ne!(error.kind(), ErrorKind::Io, "{name}: {error}");
            }
        };
        for_each_mutation(bytes, |_, content| look(content));
        truncations(bytes).for_each(look);
    }
    assert!(refused > 100 && different > 100, "{refused} refused, {different} different");
}

#[test]
fn no_damage_of_a_sample_panics() {
    for vector in vectors::family("legacy/blsk") {
        // The large one would take minutes.
        if vector.name() == "blsk_f8_2d_reserve" {
            continue;
        }
        let mut files = Vec::new();
        load(&vector.path, &[], &mut files);
        damage_everything(&files);
    }
}

#[test]
fn no_damage_of_a_journal_panics_or_is_believed() {
    let path = vectors::family("legacy/blsk")[0].path.clone();
    let mut files = Vec::new();
    load(&path, &[], &mut files);
    let journal = b"b2jrnl\0\x01 a journal that has never been one".to_vec();
    files.push((vec!["meta".to_owned()], ".b2journal".to_owned(), journal.clone()));
    let last = files.len() - 1;
    let error = read_all(&folder(&files, last, &journal)).unwrap_err();
    assert_eq!((error.kind(), error.place().unwrap().field), (ErrorKind::Corrupt, "checksum"));
    for cut in truncations(&journal) {
        assert!(read_all(&folder(&files, last, cut)).is_err());
    }
}

#[test]
fn missing_files_and_folders_are_named() {
    let columns = [("g/a", DType::parse("<i4").unwrap())];
    let options = TreeOptions::default().with_chunk_rows(10).with_reserve(Reserve::None);
    let root = MemoryFolder::new();
    let mut table = Table::create_in_dir(
        Arc::new(root.clone()),
        &TableOptions::new().with_columns(columns.clone()).with_tree(options.clone()),
    )
    .unwrap();
    table.append(&[("g/a", &[7; 4 * 200])]).unwrap();
    table.close().unwrap();
    let folder = root.open_folder("data").unwrap().open_folder("g").unwrap();
    folder.open_folder("a").unwrap().remove("__2__.bin").unwrap();
    let table = Table::open_in_dir(Arc::new(root.clone()), &OpenOptions::new()).unwrap();
    assert_eq!(table.read::<i32>("g/a", 0..160).unwrap(), [0x0707_0707; 160]);
    let error = table.read::<i32>("g/a", 160..161).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("data/g/a/__2__.bin"), "{error}");
    folder.remove_folder("a").unwrap();
    let error = Table::open_in_dir(Arc::new(root.clone()), &OpenOptions::new()).unwrap_err();
    assert!(error.to_string().contains("data/g/a"), "{error}");
    root.remove_folder("meta").unwrap();
    let error = Array::open_in_dir(Arc::new(root), &OpenOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(Array::open("/nowhere/at/all").is_err());
}
