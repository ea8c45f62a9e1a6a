//! A thousand damages of bcolz arrays and tables: the rows of every chunk file that is still there come back,
//! and the report tells of the others.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use std::collections::HashSet;
use std::sync::Arc;

use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::salvage::{self, SalvageReport};
use superchunk::store::{Dir, Folder, MemoryFolder};
use superchunk::{DType, ErrorKind, Json, Limits, OpenOptions, chunk};
use superchunk_testkit::alloc::peak_of;
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::{check_folder, named_chunks};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::trees::{Files, damage, files_of, folder_of};

/// An array, and the rows of each of its chunks.
struct Original {
    files: Files,
    chunks: Vec<Vec<u8>>,
}

const TYPES: [(&str, &[usize]); 5] =
    [("<i4", &[]), ("<f8", &[]), ("<i2", &[3]), ("|S7", &[]), ("|u1", &[2, 2])];

impl Original {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let (dtype, row_shape) = TYPES[rng.index(TYPES.len())];
        let dtype = DType::parse(dtype).unwrap();
        let row = dtype.item_size() * row_shape.iter().product::<usize>();
        let chunk_len = 20 + rng.index(60);
        let options =
            ArrayOptions::new(dtype).with_row_shape(row_shape).with_chunk_rows(chunk_len as u64);
        let rows = 1 + rng.index(6 * chunk_len);
        let bytes = mixed(rows * row, row, seed);
        let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
        let mut array = Array::create_in_dir(dir.clone(), &options).unwrap();
        array.append(&bytes).unwrap();
        array.set_attribute("unit", "m").unwrap();
        array.close().unwrap();
        let files = files_of(dir.as_ref()).unwrap();
        let chunks = bytes.chunks(chunk_len * row).map(<[u8]>::to_vec).collect();
        let mut original = Self { files, chunks };
        if seed.is_multiple_of(3) {
            without_checksums(&mut original.files);
        }
        original
    }
}

fn salvaged(files: &Files) -> superchunk::Result<(Arc<dyn Dir>, SalvageReport)> {
    let to: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let report =
        salvage::bcolz(folder_of(files).unwrap().as_ref(), to.clone(), &Limits::default())?;
    Ok((to, report))
}

/// The content of a chunk file.
fn content(file: &[u8]) -> Option<Vec<u8>> {
    chunk::decompress(file.get(16..)?).ok()
}

/// The same array or table as another writer leaves it: chunk files without checksums.
fn without_checksums(files: &mut Files) {
    for (_, file) in files.iter_mut().filter(|(path, _)| path.ends_with(".blp")) {
        let end = file.len() - 16;
        assert!(file[end..].starts_with(b"B2X3"));
        file.truncate(end);
    }
}

/// Checks that the result is whole in itself, and that every chunk that it does not list as lost or
/// uncertain is one that was stored.
fn check_result(dir: &dyn Dir, original: &Files, report: &SalvageReport, told: &str) {
    let saved = files_of(dir).unwrap();
    check_folder(&saved, "__attrs__", report, told);
    let stored: HashSet<Vec<u8>> = original.values().filter_map(|file| content(file)).collect();
    let attributes = String::from_utf8_lossy(&saved["__attrs__"]);
    let chunks = saved.iter().filter_map(|(path, file)| {
        let (column, name) = path.split_once("data/__")?;
        Some((column.trim_end_matches('/'), name.strip_suffix(".blp")?.parse().ok()?, file))
    });
    for (column, number, file) in chunks {
        let is_named = named_chunks(&attributes, column).contains(&number);
        let is_known = is_named || content(file).is_some_and(|rows| stored.contains(&rows));
        assert!(is_known, "{told}: chunk {number} of `{column}` was never stored: {report:?}");
    }
}

/// How many chunks of a column are intact, and checks that they are in the result.
fn check(original: &Original, damaged: &Files, prefix: &str, saved: &[u8], told: &str) -> usize {
    let mut intact = 0;
    let mut start = 0;
    for (number, chunk) in original.chunks.iter().enumerate() {
        let path = format!("data/__{number}.blp");
        if damaged.get(&format!("{prefix}{path}")) == original.files.get(&path) {
            intact += 1;
            let here = saved.get(start..start + chunk.len()) == Some(chunk);
            let there = || saved.windows(chunk.len()).any(|window| window == chunk);
            assert!(here || there(), "{told}: chunk {number} is intact, but lost");
        }
        start += chunk.len();
    }
    intact
}

#[test]
fn every_intact_chunk_of_an_array_comes_back() {
    let mut rng = Rng::new(1);
    let (mut whole, mut same, mut nothing) = (0, 0, 0);
    for seed in 0..100 {
        let original = Original::new(seed);
        let all = original.chunks.concat();
        for _ in 0..10 {
            let (damaged, words) = damage(&original.files, &mut rng);
            let told = format!("array {seed}, {words}");
            match salvaged(&damaged) {
                Ok((dir, report)) => {
                    check_result(dir.as_ref(), &original.files, &report, &told);
                    let array = Array::open_in_dir(dir, &OpenOptions::new()).unwrap();
                    let saved = array.to_vec().unwrap();
                    let intact =
                        check(&original, &damaged, "", &saved, &format!("{told}: {report:?}"));
                    let silent = report.holes.is_empty() && report.notes.is_empty();
                    let lost = original.chunks.len() - intact;
                    let doubtful = report.pieces.len() > intact;
                    assert!(
                        !silent || saved == all || (lost > 0 && doubtful),
                        "{told}: {report:?}"
                    );
                    whole += usize::from(report.is_whole());
                    same += usize::from(saved == all);
                }
                Err(error) => {
                    let told = format!("{told}: {error}");
                    assert_eq!(check(&original, &damaged, "", &[], &told), 0, "{told}");
                    nothing += 1;
                }
            }
        }
    }
    eprintln!("{whole} whole, {same} with all rows, {nothing} with nothing in them");
    assert!(same >= 300 && nothing <= 60, "{whole} {same} {nothing}");
}

/// A table of three columns, whose chunks end at different rows.
fn table(seed: u64) -> (Files, Vec<Original>) {
    let mut rng = Rng::new(seed);
    let rows = 1 + rng.index(200);
    let types = [("<i4", 4), ("<f8", 8), ("|S3", 3)];
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut options = TableOptions::new();
    let lens = [30u64, 40, 77];
    for (number, (dtype, _)) in types.iter().enumerate() {
        let column = ArrayOptions::new(DType::parse(dtype).unwrap()).with_chunk_rows(lens[number]);
        options = options.with_column(format!("c{number}"), column);
    }
    let mut table = Table::create_in_dir(dir.clone(), &options).unwrap();
    let bytes: Vec<Vec<u8>> =
        types.iter().map(|(_, size)| mixed(rows * size, *size, seed + 7)).collect();
    table.append(&[("c0", &bytes[0]), ("c1", &bytes[1]), ("c2", &bytes[2])]).unwrap();
    table.set_attribute("made", "by us").unwrap();
    table.close().unwrap();
    let mut files = files_of(dir.as_ref()).unwrap();
    if seed.is_multiple_of(3) {
        without_checksums(&mut files);
    }
    let columns = (0..3).map(|number| {
        let prefix = format!("c{number}/");
        let own = files.iter().filter_map(|(path, bytes)| {
            Some((path.strip_prefix(&prefix)?.to_owned(), bytes.clone()))
        });
        let size = lens[number] as usize * types[number].1;
        let chunks = bytes[number].chunks(size).map(<[u8]>::to_vec).collect();
        Original { files: own.collect(), chunks }
    });
    (files.clone(), columns.collect())
}

#[test]
fn every_intact_chunk_of_a_table_comes_back() {
    let mut rng = Rng::new(2);
    let (mut whole, mut same) = (0, 0);
    for seed in 0..100 {
        let (files, columns) = table(seed);
        for _ in 0..10 {
            let (damaged, words) = damage(&files, &mut rng);
            let told = format!("table {seed}, {words}");
            let (dir, report) = salvaged(&damaged).unwrap();
            check_result(dir.as_ref(), &files, &report, &told);
            let saved = Table::open_in_dir(dir, &OpenOptions::new()).unwrap();
            let mut all = true;
            for (number, column) in columns.iter().enumerate() {
                let name = format!("c{number}");
                let listed = saved.array(&name);
                let bytes = listed.map_or_else(|_| Vec::new(), |array| array.to_vec().unwrap());
                check(
                    column,
                    &damaged,
                    &format!("{name}/"),
                    &bytes,
                    &format!("{told}: {report:?}"),
                );
                all &= bytes == column.chunks.concat();
            }
            whole += usize::from(report.is_whole());
            same += usize::from(all);
        }
    }
    eprintln!("{whole} whole, {same} with all rows");
    assert!(same >= 300, "{whole} {same}");
}

#[test]
fn a_good_array_and_a_good_table_come_back_whole() {
    for seed in 0..20 {
        let original = Original::new(seed);
        let (dir, report) = salvaged(&original.files).unwrap();
        assert!(report.is_whole(), "{report:?}");
        let files = files_of(dir.as_ref()).unwrap();
        let chunks = |files: &Files| {
            let chunk = |(path, _): &(&String, &Vec<u8>)| path.ends_with(".blp");
            files
                .iter()
                .filter(chunk)
                .map(|(path, bytes)| (path.clone(), bytes.clone()))
                .collect::<Files>()
        };
        // Chunk files without checksums get some.
        let expected = chunks(&original.files);
        let is_copy = |(new, old): (&Vec<u8>, &Vec<u8>)| new.starts_with(old);
        let files = chunks(&files);
        assert!(files.keys().eq(expected.keys()));
        assert!(
            files.values().zip(expected.values()).all(is_copy),
            "chunks are copied as they are"
        );
        let array = Array::open_in_dir(dir, &OpenOptions::new()).unwrap();
        assert_eq!(array.attributes().get("unit"), Some(&Json::from("m")));
        let (files, _) = table(seed);
        let (dir, report) = salvaged(&files).unwrap();
        assert!(report.is_whole() && report.columns.len() == 3, "{report:?}");
        let saved = Table::open_in_dir(dir, &OpenOptions::new()).unwrap();
        assert_eq!(saved.attributes().get("made"), Some(&Json::from("by us")));
    }
}

#[test]
fn a_lost_file_is_named_and_its_rows_get_the_default() {
    let options = ArrayOptions::of::<i32>().with_chunk_rows(10).with_default(7u64);
    let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let mut array = Array::create_in_dir(dir.clone(), &options).unwrap();
    array.append_items(&(0..35).collect::<Vec<i32>>()).unwrap();
    array.close().unwrap();
    let data = dir.open_folder("data").unwrap();
    data.remove("__1.blp").unwrap();
    let to: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let report = salvage::bcolz(dir.as_ref(), to.clone(), &Limits::default()).unwrap();
    let [hole] = report.holes.as_slice() else { panic!("{report:?}") };
    assert_eq!((hole.chunk, hole.source.to_string()), (Some(1), "file data/__1.blp".to_owned()));
    let saved = Array::open_in_dir(to, &OpenOptions::new()).unwrap();
    let expected: Vec<i32> = (0..35).map(|n| if (10..20).contains(&n) { 7 } else { n }).collect();
    assert_eq!(saved.read::<i32>(0..35).unwrap(), expected);
}

#[test]
fn without_its_small_files_an_array_is_assumed_from_its_chunks() {
    for (dtype, assumed) in
        [("<f8", "|V8"), ("|u1", "|u1"), ("|S5", "|S5"), ("<U2", "<U2"), ("<i2", "|V2")]
    {
        let dtype = DType::parse(dtype).unwrap();
        let bytes = mixed(65 * dtype.item_size(), dtype.item_size(), 3);
        let dir: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
        let options = ArrayOptions::new(dtype.clone()).with_chunk_rows(20);
        let mut array = Array::create_in_dir(dir.clone(), &options).unwrap();
        array.append(&bytes).unwrap();
        array.close().unwrap();
        let meta = dir.open_folder("meta").unwrap();
        meta.remove("storage").unwrap();
        for sizes in [true, false] {
            if !sizes {
                meta.remove("sizes").unwrap();
            }
            let to: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
            let report = salvage::bcolz(dir.as_ref(), to.clone(), &Limits::default()).unwrap();
            assert!(report.notes.iter().any(|note| note.contains("assumed")), "{report:?}");
            let saved = Array::open_in_dir(to, &OpenOptions::new()).unwrap();
            assert!(saved.to_vec().unwrap() == bytes, "{dtype}: {report:?}");
            if sizes {
                assert_eq!(saved.dtype().to_string(), assumed);
            }
        }
    }
}

#[test]
fn without_the_list_of_columns_all_folders_that_are_some_come_back() {
    let (mut files, columns) = table(4);
    files.insert("__rootdirs__".to_owned(), b"{\"names\": [\"c0\", ".to_vec());
    files.insert("notes/readme.txt".to_owned(), b"no column".to_vec());
    for missing in [false, true] {
        if missing {
            files.remove("__rootdirs__");
        }
        let (dir, report) = salvaged(&files).unwrap();
        assert!(!report.is_whole());
        let saved = Table::open_in_dir(dir, &OpenOptions::new()).unwrap();
        assert_eq!(saved.names().collect::<Vec<_>>(), ["c0", "c1", "c2"]);
        let bytes = saved.array("c1").unwrap().to_vec().unwrap();
        assert_eq!(bytes, columns[1].chunks.concat());
    }
}

#[test]
fn bcolz_reads_what_was_saved_of_its_own_table() {
    let scratch = Scratch::new();
    let mut peer = LegacyPeer::spawn();
    let path = scratch.path("table");
    let options = TableOptions::new()
        .with_column("a", ArrayOptions::of::<i32>().with_chunk_rows(16))
        .with_column("b", ArrayOptions::of::<f64>().with_chunk_rows(16));
    Table::create(&path, &options).unwrap().close().unwrap();
    let (a, b) = (mixed(100 * 4, 4, 1), vec![7; 100 * 8]);
    peer.bcolz_append(&path, &[&a, &b]).unwrap();
    std::fs::write(path.join("a/meta/sizes"), b"").unwrap();
    std::fs::remove_file(path.join("b/data/__2.blp")).unwrap();
    let to = scratch.path("saved");
    let saved = Arc::new(Folder::create(&to).unwrap());
    let from = Folder::open(&path).unwrap();
    let report = salvage::bcolz(&from, saved, &Limits::default()).unwrap();
    assert!(!report.is_whole());
    let found = peer.bcolz_read_table(&to).unwrap();
    assert!(found.columns[0] == a);
    let mut expected = b;
    expected[32 * 8..48 * 8].fill(0);
    assert!(found.columns[1] == expected);
}

#[test]
fn nothing_is_made_of_a_folder_that_is_no_array() {
    let files = Files::from([("readme.txt".to_owned(), b"hello".to_vec())]);
    assert_eq!(salvaged(&files).map(drop).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(salvaged(&Files::new()).is_err());
}

#[test]
fn every_damaged_byte_of_every_small_file_is_survived_in_bounded_memory() {
    let (files, _) = table(9);
    let mut rng = Rng::new(1);
    let mut worst = 0;
    let limits = Limits::default().with_max_decoded(1 << 16).with_max_metadata(1 << 16);
    let (from, to): (Arc<dyn Dir>, _) = (folder_of(&files).unwrap(), MemoryFolder::new());
    let (_, usual) = peak_of(|| salvage::bcolz(from.as_ref(), Arc::new(to), &limits).unwrap());
    for (path, bytes) in files.iter().filter(|(path, _)| !path.ends_with(".blp")) {
        for at in 0..bytes.len() {
            for value in 0..3 {
                let mut damaged = files.clone();
                damaged.get_mut(path).unwrap()[at] = rng.next_u64() as u8;
                if value == 0 {
                    damaged.get_mut(path).unwrap().truncate(at);
                }
                let (from, to): (Arc<dyn Dir>, _) =
                    (folder_of(&damaged).unwrap(), MemoryFolder::new());
                let saved = || salvage::bcolz(from.as_ref(), Arc::new(to), &limits).map(drop);
                worst = worst.max(peak_of(saved).1);
            }
        }
    }
    assert!(worst < usual + (16 << 20), "{worst} bytes, usually {usual}");
}
