//! A thousand damages of blsk arrays and tables each: every chunk whose bytes are left comes back,
//! in its place where anything tells what that is, and the report tells of the others.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use superchunk::blsk::{Array, ArrayOptions, ItemOrder, Reserve, Table, TableOptions, TreeOptions};
use superchunk::salvage::{self, Certainty, SalvageReport};
use superchunk::store::{Dir, Folder, MemoryFolder};
use superchunk::{DType, ErrorKind, Limits, OpenOptions, Value, chunk};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::{check_folder, named_chunks};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::trees::{Files, damage, files_of, folder_of};
use superchunk_testkit::vectors;
use twox_hash::XxHash3_64;

/// A chunk of a column: its file, where it is there, and its bytes.
#[derive(Clone)]
struct Chunk {
    file: String,
    at: usize,
    bytes: Vec<u8>,
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// The chunks of a column in their order, read by the description of the format alone.
fn chunks_of(files: &Files, folder: &str) -> Vec<Chunk> {
    let names = (1..).map(|number| format!("{folder}__{number}__.bin"));
    let found = names.map_while(|name| files.get_key_value(&name));
    let mut chunks = Vec::new();
    for (name, file) in found {
        for slot in 0..number(file, 12) {
            let at = number(file, 16 + 8 * slot);
            let bytes = file[at..at + number(file, at + 12)].to_vec();
            chunks.push(Chunk { file: name.clone(), at, bytes });
        }
    }
    chunks
}

/// Checks that the result is whole in itself, and that every chunk that it does not list as lost or
/// uncertain is one that was stored.
fn check_result(original: &Files, saved: &Files, report: &SalvageReport, told: &str) {
    check_folder(saved, "meta/attributes", report, told);
    let attributes =
        format!("{:?}", saved.get("meta/attributes").map(|text| String::from_utf8_lossy(text)));
    let folders = saved.keys().filter_map(|path| Some(path.split_once("__")?.0));
    for folder in folders.collect::<BTreeSet<_>>() {
        let stored = chunks_of(original, folder);
        let column = folder.trim_start_matches("data").trim_matches('/');
        let named = named_chunks(&attributes, column);
        for (number, chunk) in chunks_of(saved, folder).iter().enumerate() {
            let is_stored = || stored.iter().any(|stored| stored.bytes == chunk.bytes);
            assert!(named.contains(&number) || is_stored(), "{told}: chunk {number} of {folder}");
        }
    }
}

fn salvaged(files: &Files) -> superchunk::Result<(Files, SalvageReport)> {
    let to: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let from = folder_of(files).unwrap();
    let report = salvage::blsk(from.as_ref(), to.clone(), &Limits::default());
    assert!(files_of(from.as_ref()).unwrap() == *files, "nothing is changed in place");
    let report = report?;
    Ok((files_of(to.as_ref()).unwrap(), report))
}

/// What happened to a column.
#[derive(Default)]
struct Outcome {
    intact: usize,
    in_place: usize,
    count: usize,
}

/// Checks that every intact chunk of a column is in the result.
fn check(
    original: &Files,
    damaged: &Files,
    saved: &Files,
    folder: &str,
    rows: &[u8],
    told: &str,
) -> Outcome {
    let (before, after) = (chunks_of(original, folder), chunks_of(saved, folder));
    let mut outcome = Outcome { count: before.len(), ..Outcome::default() };
    let same = |name: &str| damaged.get(name) == original.get(name);
    let stated = same("meta/storage") && same("meta/nrows");
    let is_intact = |chunk: &Chunk| {
        let file = damaged.get(&chunk.file).map(Vec::as_slice).unwrap_or_default();
        file.get(chunk.at..chunk.at + chunk.bytes.len()) == Some(&chunk.bytes)
    };
    for (number, chunk) in before.iter().enumerate().filter(|(_, chunk)| is_intact(chunk)) {
        outcome.intact += 1;
        if after.get(number).is_some_and(|after| after.bytes == chunk.bytes) {
            outcome.in_place += 1;
            continue;
        }
        let own = || before.iter().filter(|other| other.file == chunk.file);
        let first = own().next().unwrap().at;
        let index = damaged[&chunk.file].get(..first) == original[&chunk.file].get(..first);
        let placed = stated && (index || own().all(is_intact));
        assert!(!placed, "{told}: chunk {number} of {folder} is not in its place");
        let decoded = chunk::decompress(&chunk.bytes).unwrap();
        let there = after.iter().any(|after| after.bytes == chunk.bytes)
            || rows.windows(decoded.len()).any(|window| window == decoded);
        assert!(there, "{told}: chunk {number} of {folder} is intact, but lost");
    }
    outcome
}

const TYPES: [(&str, &[u64]); 6] =
    [("<i4", &[]), ("<f8", &[]), ("<i2", &[3]), ("|S7", &[]), (">u4", &[4, 6]), ("|V300", &[])];

fn options(rng: &mut Rng, row_shape: &[u64]) -> TreeOptions {
    let reserves = [Reserve::None, Reserve::Part(8), Reserve::Part(2), Reserve::Full];
    let options = TreeOptions::default()
        .with_chunk_rows(5 + rng.index(30))
        .with_superchunk_size(1 + rng.index(5))
        .with_reserve(reserves[rng.index(4)]);
    match row_shape {
        [_, _] => match rng.below(3) {
            0 => options.with_order(ItemOrder::Fortran),
            // Cells of a grid, some of them clipped.
            1 => options.with_chunk_row_shape([3, 4]),
            _ => options,
        },
        _ => options,
    }
}

/// The tree of these files, also if it has no chunks.
fn tree_of(files: &Files) -> Arc<dyn Dir> {
    let dir = folder_of(files).unwrap();
    let _ = dir.create_folder("data");
    dir
}

fn array_rows(files: &Files) -> Vec<u8> {
    let dir = tree_of(files);
    let array = Array::open_in_dir(dir, &OpenOptions::new()).unwrap();
    let mut rows = vec![0; array.row_count() as usize * array.row_size()];
    array.read_rows(0..array.row_count(), &mut rows).unwrap();
    rows
}

/// An array of some commits, and its rows.
fn array(seed: u64) -> (Files, Vec<u8>) {
    let mut rng = Rng::new(seed);
    let (dtype, row_shape) = TYPES[rng.index(TYPES.len())];
    let dtype = DType::parse(dtype).unwrap();
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let options = ArrayOptions::new(dtype.clone())
        .with_row_shape(row_shape)
        .with_tree(options(&mut rng, row_shape));
    let mut array = Array::create_in_dir(dir.clone(), &options).unwrap();
    let row = array.row_size();
    for part in 0..1 + rng.below(3) {
        let rows = 1 + rng.index(60);
        array.append(&mixed(rows * row, row, seed + part)).unwrap();
        array.commit().unwrap();
    }
    array.write_rows(0, &mixed(row, row, seed + 9)).unwrap();
    array.set_attribute("unit", "m").unwrap();
    array.close().unwrap();
    let files = files_of(dir.as_ref()).unwrap();
    let rows = array_rows(&files);
    (files, rows)
}

#[test]
fn every_intact_chunk_of_an_array_comes_back() {
    let mut rng = Rng::new(5);
    let (mut whole, mut same, mut nothing, mut intact, mut placed) = (0, 0, 0, 0, 0);
    for seed in 0..100 {
        let (files, rows) = array(seed);
        for _ in 0..10 {
            let (damaged, words) = damage(&files, &mut rng);
            let told = format!("array {seed}, {words}");
            match salvaged(&damaged) {
                Ok((saved, report)) => {
                    let told = format!("{told}: {report:?}");
                    check_result(&files, &saved, &report, &told);
                    let found = array_rows(&saved);
                    let outcome = check(&files, &damaged, &saved, "data/", &found, &told);
                    let silent = report.holes.is_empty() && report.notes.is_empty();
                    let doubtful = report.pieces.len() > outcome.intact;
                    let lost = outcome.count - outcome.intact;
                    assert!(!silent || found == rows || (lost > 0 && doubtful), "{told}");
                    assert_eq!(report.count(Certainty::Verified), 0, "{told}");
                    whole += usize::from(report.is_whole());
                    same += usize::from(found == rows);
                    intact += outcome.intact;
                    placed += outcome.in_place;
                }
                Err(error) => {
                    let told = format!("{told}: {error}");
                    let outcome = check(&files, &damaged, &Files::new(), "data/", &[], &told);
                    assert_eq!(outcome.intact, 0, "{told}");
                    nothing += 1;
                }
            }
        }
    }
    eprintln!("{whole} whole, {same} with all rows, {nothing} with nothing in them");
    eprintln!("{intact} intact chunks, {placed} in their places");
    assert!(same >= 300 && nothing <= 60, "{whole} {same} {nothing}");
    assert!(placed * 100 >= intact * 97, "of {intact} chunks {placed} are in their places");
}

const COLUMNS: [(&str, &str); 3] = [("id", "<i4"), ("place/x", "<f8"), ("place/name", "|S3")];

fn table_rows(files: &Files, name: &str) -> Vec<u8> {
    let dir = tree_of(files);
    let table = Table::open_in_dir(dir, &OpenOptions::new()).unwrap();
    let Ok(size) = table.row_size(name) else { return Vec::new() };
    let mut rows = vec![0; table.row_count() as usize * size];
    table.read_rows(name, 0..table.row_count(), &mut rows).unwrap();
    rows
}

fn table(seed: u64) -> (Files, Vec<Vec<u8>>) {
    let mut rng = Rng::new(seed);
    let columns = COLUMNS.map(|(name, dtype)| (name, DType::parse(dtype).unwrap()));
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let options =
        TableOptions::new().with_columns(columns.clone()).with_tree(options(&mut rng, &[]));
    let mut table = Table::create_in_dir(dir.clone(), &options).unwrap();
    let count = 1 + rng.index(150);
    let rows: Vec<Vec<u8>> = columns
        .iter()
        .map(|(_, dtype)| mixed(count * dtype.item_size(), dtype.item_size(), seed + 3))
        .collect();
    let named: Vec<(&str, &[u8])> =
        columns.iter().zip(&rows).map(|((name, _), rows)| (*name, rows.as_slice())).collect();
    table.append(&named).unwrap();
    table.set_attribute("made", "by us").unwrap();
    table.close().unwrap();
    (files_of(dir.as_ref()).unwrap(), rows)
}

#[test]
fn every_intact_chunk_of_a_table_comes_back() {
    let mut rng = Rng::new(6);
    let (mut whole, mut same, mut intact, mut placed) = (0, 0, 0, 0);
    for seed in 0..100 {
        let (files, rows) = table(seed);
        for _ in 0..10 {
            let (damaged, words) = damage(&files, &mut rng);
            let told = format!("table {seed}, {words}");
            let (saved, report) = salvaged(&damaged).unwrap_or_else(|e| panic!("{told}: {e}"));
            let told = format!("{told}: {report:?}");
            check_result(&files, &saved, &report, &told);
            let mut all = true;
            for ((name, _), rows) in COLUMNS.iter().zip(&rows) {
                let found = table_rows(&saved, name);
                let folder = format!("data/{name}/");
                let outcome = check(&files, &damaged, &saved, &folder, &found, &told);
                (intact, placed) = (intact + outcome.intact, placed + outcome.in_place);
                all &= found == *rows;
            }
            whole += usize::from(report.is_whole());
            same += usize::from(all);
        }
    }
    eprintln!("{whole} whole, {same} with all rows; {intact} intact chunks, {placed} in place");
    assert!(same >= 300, "{whole} {same}");
    assert!(placed * 100 >= intact * 97, "of {intact} chunks {placed} are in their places");
}

#[test]
fn a_good_array_and_a_good_table_come_back_whole() {
    for seed in 0..30 {
        let (files, rows) = array(seed);
        let (saved, report) = salvaged(&files).unwrap();
        assert!(report.is_whole() && report.notes.is_empty(), "{report:?}");
        assert_eq!(report.format, "blsk array");
        assert!(array_rows(&saved) == rows);
        for name in ["meta/storage", "meta/nrows"] {
            assert_eq!(saved[name], files[name], "{name}");
        }
        // There are no checksums, so that every chunk is listed.
        let attributes = String::from_utf8_lossy(&saved["meta/attributes"]);
        assert_eq!(named_chunks(&attributes, "").len(), report.pieces.len(), "{attributes}");
        let bytes = |files: &Files| {
            chunks_of(files, "data/").into_iter().map(|chunk| chunk.bytes).collect::<Vec<_>>()
        };
        assert!(bytes(&saved) == bytes(&files), "chunks are copied as they are");
        let (files, rows) = table(seed);
        let (saved, report) = salvaged(&files).unwrap();
        assert!(report.is_whole() && report.columns.len() == 3, "{report:?}");
        for ((name, _), rows) in COLUMNS.iter().zip(&rows) {
            assert!(table_rows(&saved, name) == *rows);
        }
    }
}

#[test]
fn the_trees_of_the_vectors_come_back_whole() {
    let families = ["legacy", "legacy/blsk"].into_iter().flat_map(vectors::family);
    let trees: Vec<_> = families.filter(|v| v.text(&["kind"]) == Some("carray-blsk")).collect();
    assert!(trees.len() >= 6);
    for vector in trees {
        let files = files_of(&Folder::open(&vector.path).unwrap()).unwrap();
        let (saved, report) = salvaged(&files).unwrap();
        assert!(report.is_whole(), "{}: {report:?}", vector.name());
        for name in vector.fields["columns"].as_object().unwrap().keys() {
            let rows = |files: &Files| match name.as_str() {
                "." => array_rows(files),
                name => table_rows(files, name),
            };
            assert!(rows(&saved) == rows(&files) && !rows(&saved).is_empty(), "{}", vector.name());
        }
    }
}

/// Three files of two chunks of ten rows, the last chunk of five.
fn numbers() -> (Files, Vec<u8>) {
    let options = ArrayOptions::of::<u32>().with_chunk_rows(10).with_superchunk_size(2);
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut array = Array::create_in_dir(dir.clone(), &options).unwrap();
    array.append_items(&(1..56u32).collect::<Vec<_>>()).unwrap();
    array.close().unwrap();
    let files = files_of(dir.as_ref()).unwrap();
    let rows = array_rows(&files);
    (files, rows)
}

#[test]
fn lost_chunks_are_named_and_read_as_zeros_in_their_places() {
    let (mut files, mut rows) = numbers();
    let chunk = chunks_of(&files, "data/")[1].clone();
    files.get_mut("data/__1__.bin").unwrap()[chunk.at] = 0xff;
    files.remove("data/__2__.bin").unwrap();
    let (saved, report) = salvaged(&files).unwrap();
    rows[40..160].fill(0);
    assert!(array_rows(&saved) == rows);
    let holes: Vec<_> =
        report.holes.iter().map(|hole| (hole.chunk, hole.source.to_string())).collect();
    let end = files["data/__1__.bin"].len();
    let expected = [
        (Some(1), format!("file data/__1__.bin, bytes {} to {end}", chunk.at)),
        (Some(2), "file data/__2__.bin".to_owned()),
        (Some(3), "file data/__2__.bin".to_owned()),
    ];
    assert_eq!(holes, expected);
    assert_eq!(report.pieces.len(), 3);
}

#[test]
fn without_its_small_files_an_array_is_assumed_from_its_chunks() {
    let (mut files, rows) = numbers();
    files.retain(|name, _| name.starts_with("data/"));
    let (saved, report) = salvaged(&files).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("assumed")), "{report:?}");
    assert!(array_rows(&saved) == rows);
    let array = Array::open_in_dir(folder_of(&saved).unwrap(), &OpenOptions::new()).unwrap();
    assert_eq!((array.dtype().to_string().as_str(), array.shape()), ("|V4", &[55][..]));
    assert_eq!(array.chunk_shape(), [10]);
}

#[test]
fn without_heads_and_indexes_chunks_keep_their_places() {
    let (mut files, rows) = numbers();
    for file in ["data/__1__.bin", "data/__2__.bin", "data/__3__.bin"] {
        let first = number(&files[file], 16);
        files.get_mut(file).unwrap()[..first].fill(0x5a);
    }
    let (saved, report) = salvaged(&files).unwrap();
    assert!(array_rows(&saved) == rows, "{report:?}");
    assert_eq!(report.holes.len(), 3, "{report:?}");
}

#[test]
fn one_damaged_key_of_storage_costs_only_what_it_says() {
    let (files, rows) = numbers();
    let storage = String::from_utf8(files["meta/storage"].clone()).unwrap();
    for (from, to) in [
        ("uint32", "uinx32"),
        ("(55,)", "(51,)"),
        ("(55,)", "(95,)"),
        ("(55,)", "x55,)"),
        ("(10,)", "(14,)"),
        ("(10,)", "(1"),
        ("superchunksize: 2", "superchunksize: 3"),
        ("superchunksize", "superchunkshze"),
        ("lz4", "lz5"),
        ("level: 5", "level: ?"),
        ("order: C", "order: D"),
    ] {
        let mut files = files.clone();
        assert!(storage.contains(from), "{from}: {storage}");
        files.insert("meta/storage".to_owned(), storage.replacen(from, to, 1).into_bytes());
        let (saved, report) = salvaged(&files).unwrap();
        assert!(array_rows(&saved) == rows, "{from} became {to}: {report:?}");
        assert!(!report.is_whole() || !report.notes.is_empty() || from == "lz4", "{report:?}");
        let array = Array::open_in_dir(folder_of(&saved).unwrap(), &OpenOptions::new()).unwrap();
        if from != "uint32" {
            assert_eq!(array.dtype(), &DType::of::<u32>(), "{from} became {to}");
        }
    }
}

/// The journal of a commit that makes the number of rows another one.
fn journal(storage: &[u8], rows: u64) -> Vec<u8> {
    let storage = String::from_utf8(storage.to_vec()).unwrap();
    let change =
        |name: &str, text: &str| Value::Array(vec!["meta".into(), name.into(), text.into()]);
    let shape = storage.replace("(55,)", &format!("({rows},)"));
    let changes = vec![change("storage", &shape), change("nrows", &format!("{rows}\n"))];
    let body = Value::Array(changes).encode().unwrap();
    let hash = XxHash3_64::oneshot(&body).to_le_bytes();
    [b"b2jrnl\0\x01".as_slice(), &hash, &body].concat()
}

#[test]
fn an_interrupted_commit_is_seen_through() {
    let (files, rows) = numbers();
    let journal = journal(&files["meta/storage"], 40);
    for cut in [0, 1, journal.len() / 2] {
        let mut files = files.clone();
        files.insert("meta/.b2journal".to_owned(), journal[..journal.len() - cut].to_vec());
        let (saved, report) = salvaged(&files).unwrap();
        // A journal that is damaged was never finished.
        let expected = if cut == 0 { &rows[..160] } else { &rows };
        assert!(report.is_whole() && array_rows(&saved) == expected, "{cut}: {report:?}");
    }
}

#[test]
fn without_a_list_every_folder_with_chunks_is_a_column_and_strays_are_named() {
    let (mut files, rows) = table(4);
    let stray = files["data/id/__1__.bin"].clone();
    for name in ["__1__.bin", "id/deeper/__1__.bin", "id/__18446744073709551615__.bin"] {
        files.insert(format!("data/{name}"), stray.clone());
    }
    for storage in [true, false] {
        if !storage {
            files.remove("meta/storage").unwrap();
        }
        let (saved, report) = salvaged(&files).unwrap();
        let lost: Vec<String> = report.holes.iter().map(|hole| hole.source.to_string()).collect();
        for stray in ["file data/", "file data/id", "file data/id/deeper"] {
            assert!(lost.iter().any(|lost| lost == stray), "{stray}: {report:?}");
        }
        for ((name, _), rows) in COLUMNS.iter().zip(&rows) {
            assert!(table_rows(&saved, name) == *rows, "{name}: {report:?}");
        }
    }
}

#[test]
fn nothing_is_made_of_a_folder_that_is_no_tree() {
    let files = Files::from([("readme.txt".to_owned(), b"hello".to_vec())]);
    assert_eq!(salvaged(&files).map(drop).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(salvaged(&Files::new()).is_err());
    let mut bcolz = Files::new();
    bcolz.insert("meta/storage".to_owned(), b"{\"dtype\": \"int32\"}\n".to_vec());
    bcolz.insert("data/__0.blp".to_owned(), b"blpk".to_vec());
    assert!(salvaged(&bcolz).is_err());
}

#[test]
fn every_damaged_byte_of_every_small_file_is_survived_in_bounded_memory() {
    let (files, _) = table(9);
    let mut rng = Rng::new(1);
    let mut worst = 0;
    let limits = Limits::default().with_max_decoded(1 << 16).with_max_metadata(1 << 16);
    let run = |files: &Files| {
        let (from, to): (Arc<dyn Dir>, _) = (folder_of(files).unwrap(), MemoryFolder::new());
        peak_of(|| salvage::blsk(from.as_ref(), Arc::new(to), &limits).map(drop))
    };
    let (good, usual) = run(&files);
    good.unwrap();
    for (path, bytes) in files.iter().filter(|(path, _)| path.starts_with("meta/")) {
        for at in 0..bytes.len() {
            for value in 0..3 {
                let mut damaged = files.clone();
                let file = damaged.get_mut(path).unwrap();
                file[at] = rng.next_u64() as u8;
                file.truncate(if value == 0 { at } else { usize::MAX });
                worst = worst.max(run(&damaged).1);
            }
        }
    }
    assert!(worst < usual + (16 << 20), "{worst} bytes, usually {usual}");
}
