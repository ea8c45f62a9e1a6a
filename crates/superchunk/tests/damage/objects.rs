//! Damages of columns of Python objects that the real bcolz has made: every object whose file is still there
//! comes back in its place, a lost one becomes `None`, and bcolz reads the result.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use superchunk::bcolz::{Array, Table};
use superchunk::salvage::{self, SalvageReport};
use superchunk::store::{Dir, Folder, MemoryFolder};
use superchunk::{Limits, OpenOptions, Value};
use superchunk_testkit::crash::{Disk, Operation};
use superchunk_testkit::legacy_peer::LegacyPeer;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::named_chunks;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::trees::{Files, damage, files_of, folder_of, write_to};

/// Objects of several kinds; those with dates are no plain values, so that their pickles are programs.
fn objects(seed: u64) -> Vec<Json> {
    let mut rng = Rng::new(seed);
    let count = 1 + rng.index(30);
    (0..count)
        .map(|row| match rng.below(6) {
            0 => Json::Null,
            1 => json!(rng.below(1 << 40)),
            2 => json!({"date": format!("20{:02}-02-03", rng.below(30))}),
            3 => json!([row, "two", {"three": 3.5}]),
            // Long enough for its pickle to be compressed.
            4 => json!("abcdefgh".repeat(1 + rng.index(300))),
            _ => json!(format!("row {row}")),
        })
        .collect()
}

/// A table of a column of numbers and one of objects, as bcolz writes it.
struct Original {
    files: Files,
    objects: Vec<Json>,
    numbers: Vec<u8>,
}

impl Original {
    fn new(seed: u64, peer: &mut LegacyPeer, scratch: &Scratch) -> Self {
        let objects = objects(seed);
        let numbers = mixed(4 * objects.len(), 4, seed);
        let path = scratch.path(&format!("table{seed}"));
        peer.bcolz_make_table(&path, 7, &[("n", "<i4", &numbers)]).unwrap();
        let list = Json::Array(objects.clone()).to_string();
        peer.bcolz_add_objects(&path, "o", &list).unwrap();
        let files = files_of(&Folder::open(&path).unwrap()).unwrap();
        Self { files, objects, numbers }
    }

    /// The files of the column of objects, as an array of its own.
    fn column(&self) -> Files {
        let own = self
            .files
            .iter()
            .filter_map(|(path, bytes)| Some((path.strip_prefix("o/")?.to_owned(), bytes.clone())));
        own.collect()
    }
}

fn originals(count: u64) -> (Scratch, LegacyPeer, Vec<Original>) {
    let (scratch, mut peer) = (Scratch::new(), LegacyPeer::spawn());
    let made = (0..count).map(|seed| Original::new(seed, &mut peer, &scratch)).collect();
    (scratch, peer, made)
}

fn salvaged(files: &Files) -> superchunk::Result<(Arc<dyn Dir>, SalvageReport)> {
    let to: Arc<dyn Dir> = Arc::new(MemoryFolder::new());
    let from = folder_of(files).unwrap();
    let report = salvage::bcolz(from.as_ref(), to.clone(), &Limits::default());
    assert!(files_of(from.as_ref()).unwrap() == *files, "nothing is changed in place");
    let report = report?;
    Ok((to, report))
}

fn pickles(array: &Array) -> Vec<Vec<u8>> {
    (0..array.row_count()).map(|row| array.object_bytes(row).unwrap()).collect()
}

/// Whether any file of an object is as it was. Where none is and `storage` is lost, nothing tells what the
/// column was.
fn has_intact(original: &Files, damaged: &Files, prefix: &str) -> bool {
    let mut files = original.iter().filter(|(path, _)| path.ends_with(".blp"));
    files.any(|(path, bytes)| damaged.get(&format!("{prefix}{path}")) == Some(bytes))
}

/// Checks that objects whose files are as they were are in their places, and that the report names all others.
/// Returns how many are intact.
fn check(
    original: &Files,
    damaged: &Files,
    prefix: &str,
    (saved, listed): (&Array, &HashSet<usize>),
    report: &SalvageReport,
    told: &str,
) -> usize {
    let whole = Array::open_in_dir(folder_of(original).unwrap(), &OpenOptions::new()).unwrap();
    let (expected, found) = (pickles(&whole), pickles(saved));
    let mut intact = 0;
    for (row, pickle) in expected.iter().enumerate() {
        let path = format!("data/__{row}.blp");
        if damaged.get(&format!("{prefix}{path}")) == original.get(&path) {
            intact += 1;
            assert!(found.get(row) == Some(pickle), "{told}: row {row} is intact, but lost");
            continue;
        }
        let named = report.holes.iter().any(|hole| hole.chunk == Some(row));
        if found.get(row).is_some_and(|found| found != pickle) && named {
            assert_eq!(saved.object(row as u64).unwrap(), Value::Nil, "{told}: row {row}");
        } else if found.get(row).is_some_and(|found| found != pickle) {
            // Small objects are stored as they are, and nothing vouches for them.
            let doubt = |piece: &&salvage::Piece| piece.chunk == row;
            let piece = report.pieces.iter().find(doubt).unwrap_or_else(|| panic!("{told}"));
            assert!(piece.certainty < salvage::Certainty::Verified, "{told}: row {row}");
            assert!(listed.contains(&row), "{told}: row {row} was never stored, and is not listed");
        }
    }
    intact
}

#[test]
fn every_intact_object_of_a_table_comes_back() {
    let (scratch, mut peer, tables) = originals(20);
    let mut rng = Rng::new(3);
    let (mut whole, mut same, mut read) = (0, 0, 0);
    for (seed, original) in tables.iter().enumerate() {
        let column = original.column();
        for round in 0..20 {
            let (damaged, words) = damage(&original.files, &mut rng);
            let told = format!("table {seed}, {words}");
            let (dir, report) = salvaged(&damaged).unwrap();
            let saved = Table::open_in_dir(dir.clone(), &OpenOptions::new()).unwrap();
            let told = format!("{told}: {report:?}");
            let part = report.columns.iter().find(|(name, _)| name == "o");
            let Some((_, part)) = part else { panic!("{told}") };
            let array = saved.array("o").unwrap();
            if !array.is_object() {
                assert!(!has_intact(&column, &damaged, "o/"), "{told}");
                continue;
            }
            let named = named_chunks(&format!("{:?}", saved.attributes()), "o");
            let intact = check(&column, &damaged, "o/", (array, &named), part, &told);
            whole += usize::from(report.is_whole());
            same += usize::from(intact == original.objects.len());
            // What nothing vouches for may have become a pickle of anything.
            let certain = intact + part.holes.iter().filter(|hole| hole.chunk.is_some()).count();
            if round < 4 && certain == original.objects.len() && array.row_count() == certain as u64
            {
                let path = scratch.path(&format!("saved{seed}-{round}"));
                write_to(&files_of(dir.as_ref()).unwrap(), &path).unwrap();
                let objects = peer.bcolz_read_objects(&path, "o").unwrap();
                for (row, (found, object)) in objects.iter().zip(&original.objects).enumerate() {
                    let lost = part.holes.iter().any(|hole| hole.chunk == Some(row));
                    let expected = if lost { &Json::Null } else { object };
                    assert_eq!(found, expected, "{told}: row {row}");
                }
                assert_eq!(objects.len(), original.objects.len());
                read += 1;
            }
        }
    }
    eprintln!("{whole} whole, {same} with all objects, {read} read by bcolz");
    assert!(same >= 200 && read >= 40, "{whole} {same} {read}");
}

#[test]
fn every_intact_object_of_an_array_comes_back() {
    let (_scratch, _peer, tables) = originals(20);
    let mut rng = Rng::new(4);
    let (mut same, mut nothing) = (0, 0);
    for (seed, original) in tables.iter().enumerate() {
        let column = original.column();
        for _ in 0..20 {
            let (damaged, words) = damage(&column, &mut rng);
            let told = format!("array {seed}, {words}");
            let Ok((dir, report)) = salvaged(&damaged) else {
                nothing += 1;
                assert!(!has_intact(&column, &damaged, ""), "{told}");
                continue;
            };
            let saved = Array::open_in_dir(dir, &OpenOptions::new()).unwrap();
            let told = format!("{told}: {report:?}");
            if !saved.is_object() {
                assert!(!has_intact(&column, &damaged, ""), "{told}");
                continue;
            }
            let named = named_chunks(&format!("{:?}", saved.attributes()), "");
            let intact = check(&column, &damaged, "", (&saved, &named), &report, &told);
            same += usize::from(intact == original.objects.len());
        }
    }
    eprintln!("{same} with all objects, {nothing} with nothing in them");
    assert!(same >= 150 && nothing <= 20, "{same} {nothing}");
}

#[test]
fn a_good_table_comes_back_whole_and_its_objects_as_they_were_stored() {
    let (_scratch, _peer, tables) = originals(5);
    for original in tables {
        let (dir, report) = salvaged(&original.files).unwrap();
        assert!(report.is_whole(), "{report:?}");
        let files = files_of(dir.as_ref()).unwrap();
        for (path, bytes) in original.files.iter().filter(|(path, _)| path.starts_with("o/")) {
            assert!(files.get(path) == Some(bytes), "{path}");
        }
        let saved = Table::open_in_dir(dir, &OpenOptions::new()).unwrap();
        assert!(saved.array("n").unwrap().to_vec().unwrap() == original.numbers);
    }
}

#[test]
fn lost_objects_are_named_and_bcolz_reads_none_in_their_places() {
    let (scratch, mut peer) = (Scratch::new(), LegacyPeer::spawn());
    let path = scratch.path("table");
    let numbers = mixed(5 * 4, 4, 1);
    peer.bcolz_make_table(&path, 7, &[("n", "<i4", &numbers)]).unwrap();
    let list = r#"["a", {"date": "2024-02-29"}, [1, 2], {"date": "1999-12-31"}, null]"#;
    peer.bcolz_add_objects(&path, "o", list).unwrap();
    // Without `storage` the pickles tell what the column was.
    std::fs::write(path.join("o/meta/storage"), b"{").unwrap();
    std::fs::remove_file(path.join("o/meta/sizes")).unwrap();
    std::fs::remove_file(path.join("o/data/__0.blp")).unwrap();
    let damaged = path.join("o/data/__2.blp");
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() - 3]).unwrap();
    let to = scratch.path("saved");
    let saved = Arc::new(Folder::create(&to).unwrap());
    let from = Folder::open(&path).unwrap();
    let report = salvage::bcolz(&from, saved, &Limits::default()).unwrap();
    let (_, column) = report.columns.iter().find(|(name, _)| name == "o").unwrap();
    let lost: Vec<_> = column.holes.iter().filter_map(|hole| hole.chunk).collect();
    assert_eq!(lost, [0, 2], "{report:?}");
    assert!(column.notes.iter().any(|note| note.contains("assumed")), "{report:?}");
    let found = peer.bcolz_read_objects(&to, "o").unwrap();
    assert_eq!(
        Json::Array(found),
        json!([null, {"date": "2024-02-29"}, null, {"date": "1999-12-31"}, null])
    );
    let numbers_of = peer.bcolz_read_table(&to).unwrap();
    assert!(numbers_of.columns[0] == numbers);
}

#[test]
fn the_objects_of_a_column_are_synced_together_when_all_are_written() {
    let (_scratch, _peer, tables) = originals(5);
    for (seed, original) in tables.iter().enumerate() {
        let (from, disk) = (folder_of(&original.column()).unwrap(), Disk::new());
        salvage::bcolz(from.as_ref(), disk.root(), &Limits::default()).unwrap();
        let history = disk.history();
        let data = history.iter().find_map(|operation| match operation {
            Operation::Create { name, node, is_folder: true, .. } if name == "data" => Some(*node),
            _ => None,
        });
        let data = data.unwrap();
        let files = history.iter().filter_map(|operation| match operation {
            Operation::Create { folder, node, .. } if *folder == data => Some(*node),
            _ => None,
        });
        let files: Vec<usize> = files.collect();
        assert_eq!(files.len(), original.objects.len(), "table {seed}");
        let is_write = |operation: &Operation| match operation {
            Operation::Write { file, .. } => files.contains(file),
            _ => false,
        };
        let written = history.iter().rposition(is_write).unwrap();
        let is_sync = |operation: &Operation| match operation {
            Operation::Sync(node) => *node == data || files.contains(node),
            _ => false,
        };
        let syncs = |part: &[Operation]| part.iter().filter(|found| is_sync(found)).count();
        // Each file once, then their names: a real folder does all that in one call.
        assert_eq!(syncs(&history[..written]), 0, "table {seed}");
        assert_eq!(syncs(&history[written..]), files.len() + 1, "table {seed}");
    }
}
