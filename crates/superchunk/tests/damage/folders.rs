//! A thousand damages of sparse frames, and a thousand of folders of columns.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use superchunk::columns::{ColumnFolder, ColumnFolderOptions};
use superchunk::salvage::{self, ATTRIBUTE};
use superchunk::store::{FileReader, Folder, MemoryFolder, ReadAt};
use superchunk::{
    CompressOptions, ErrorKind, FrameOptions, Limits, NdArray, NdOptions, SuperChunk, verify,
};
use superchunk_testkit::rng::Rng;
use superchunk_testkit::salvaged::named_chunks;
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::trees::{Files, damage, files_of, folder_of, write_to};

const DAMAGES: u64 = 1000;
/// Every original is damaged so many times.
const DAMAGES_OF_ONE: u64 = 20;
const CHUNK: usize = 2000;
const INDEX: &str = "chunks.b2frame";

/// The files of a sparse frame, and its chunks.
fn sparse(seed: u64) -> (Files, Vec<Vec<u8>>) {
    let mut rng = Rng::new(seed);
    let count = 1 + rng.index(9);
    // No chunk is a run, which has no file.
    let chunk = |bytes: Vec<u8>| bytes.into_iter().map(|byte| byte & 15).collect();
    let chunks: Vec<Vec<u8>> = (0..count).map(|_| chunk(rng.bytes(CHUNK))).collect();
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(CHUNK);
    let dir = Arc::new(MemoryFolder::new());
    let options = options.with_checksums(!seed.is_multiple_of(4));
    let mut frame = SuperChunk::create_in_dir(dir.clone(), None, &options).unwrap();
    chunks.iter().for_each(|chunk| frame.append(chunk).unwrap());
    frame.set_attribute("unit", "K").unwrap();
    frame.close().unwrap();
    (files_of(dir.as_ref()).unwrap(), chunks)
}

#[test]
fn every_intact_chunk_of_a_sparse_frame_comes_back() {
    let mut rng = Rng::new(1);
    let mut saved_count = 0;
    for seed in 0..DAMAGES / DAMAGES_OF_ONE {
        let (files, chunks) = sparse(seed);
        for _ in 0..DAMAGES_OF_ONE {
            let (damaged, told) = damage(&files, &mut rng);
            let told = format!("{seed}: {told}");
            let is_same = |name: &str| damaged.get(name) == files.get(name);
            let intact: Vec<usize> =
                (0..chunks.len()).filter(|chunk| is_same(&format!("{chunk:08X}.chunk"))).collect();
            let dir = folder_of(&damaged).unwrap();
            let saved =
                salvage::sparse(dir.as_ref(), &mut SuperChunk::in_memory, &Limits::default());
            let (saved, report) = match saved {
                Ok(saved) => saved,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{told}: {error}");
                    assert!(intact.is_empty(), "{told}: {error}");
                    continue;
                }
            };
            saved_count += 1;
            let saved = SuperChunk::from_bytes(saved.to_bytes().unwrap()).unwrap();
            let verified = verify::super_chunk(&saved, &verify::VerifyOptions::new()).unwrap();
            assert!(
                verified.is_good() && verified.is_complete(),
                "{told}: {:?}",
                verified.findings
            );
            let list = saved.attribute(ATTRIBUTE).ok();
            assert_eq!(list.is_some(), !report.uncertain().is_empty(), "{told}");
            let named = named_chunks(&format!("{list:?}"), "");
            let found: Vec<Vec<u8>> =
                (0..saved.chunk_count()).map(|chunk| saved.read_chunk(chunk).unwrap()).collect();
            for (number, chunk) in found.iter().enumerate() {
                // Where the stored size of a chunk is damaged, a chunk and the hole after it, which
                // is listed, may have become one.
                let is_joined = chunks.iter().any(|old| {
                    chunk.strip_prefix(&old[..]).is_some_and(|rest| rest.iter().all(|b| *b == 0))
                });
                let is_stored = is_joined || named.contains(&number);
                assert!(is_stored, "{told}: chunk {number} was never stored, and is not listed");
            }
            // A damaged index may lead elsewhere, or state other checksums.
            if is_same(INDEX) || !damaged.contains_key(INDEX) {
                for number in intact {
                    let in_place = found.get(number) == Some(&chunks[number]);
                    let is_there = found.contains(&chunks[number]);
                    let is_right = if is_same(INDEX) { in_place } else { is_there };
                    assert!(is_right, "{told}: chunk {number}: {report:?}");
                }
            }
        }
    }
    assert!(saved_count > DAMAGES / 2, "{saved_count}");
}

const NAMES: [&str; 3] = ["b", "group/c", "a"];
const ROWS: u32 = 450;
const CHUNK_ROWS: usize = 100;

fn numbers(rows: std::ops::Range<u32>, column: usize) -> Vec<u8> {
    let factor = [7, 11, 13][column];
    rows.flat_map(|row| (row * factor).to_le_bytes()).collect()
}

/// The files of a folder of columns.
fn columns(scratch: &Scratch) -> Files {
    let path = scratch.path("good");
    let mut folder =
        ColumnFolder::create(&path, &ColumnFolderOptions::new().with_columns(NAMES)).unwrap();
    for (column, name) in NAMES.iter().enumerate() {
        let options = NdOptions::of::<u32>(&[u64::from(ROWS)]).with_chunks(&[CHUNK_ROWS]);
        let mut array = NdArray::create(folder.place(name), &options).unwrap();
        array.write_box(&[0], &[u64::from(ROWS)], &numbers(0..ROWS, column)).unwrap();
        array.close().unwrap();
    }
    folder.set_attribute("unit", "K").unwrap();
    folder.commit().unwrap();
    files_of(&Folder::open(&path).unwrap()).unwrap()
}

fn file_of(path: &Path) -> Vec<u8> {
    let file = FileReader::open(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
    file.read_exact_at(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn every_intact_column_of_a_folder_comes_back() {
    let scratch = Scratch::new();
    let files = columns(&scratch);
    let (path, saved) = (scratch.path("damaged"), scratch.path("saved"));
    let mut rng = Rng::new(2);
    let mut saved_count = 0;
    for number in 0..DAMAGES {
        let (damaged, told) = damage(&files, &mut rng);
        let told = format!("{number}: {told}");
        for folder in [&path, &saved] {
            let _ = fs::remove_dir_all(folder);
        }
        write_to(&damaged, &path).unwrap();
        let place = |name: &str| format!("{name}.b2nd");
        let is_same = |name: &str| damaged.get(&place(name)) == files.get(&place(name));
        let report = match salvage::columns(&path, &saved, &Limits::default()) {
            Ok(report) => report,
            Err(error) => {
                let expected = [ErrorKind::Corrupt, ErrorKind::Truncated];
                assert!(expected.contains(&error.kind()), "{told}: {error}");
                assert!(!NAMES.iter().any(|name| is_same(name)), "{told}: {error}");
                continue;
            }
        };
        saved_count += 1;
        let verified = verify::path(&saved, &verify::VerifyOptions::new()).unwrap();
        assert!(verified.is_good(), "{told}: {:?}", verified.findings);
        let folder = ColumnFolder::open(&saved).unwrap();
        let list = String::from_utf8(file_of(&saved.join(ColumnFolder::LIST))).unwrap();
        assert_eq!(list.contains(ATTRIBUTE), !report.uncertain().is_empty(), "{told}");
        for (column, name) in NAMES.iter().enumerate() {
            let found = folder.names().iter().any(|found| found == name);
            assert!(found || !is_same(name), "{told}: {name} is lost");
            if !found {
                continue;
            }
            let array = NdArray::open(folder.place(name)).unwrap();
            let (rows, items) = (array.shape()[0], array.to_vec().unwrap());
            let named = named_chunks(&list, name);
            let good = numbers(0..ROWS, column);
            // The last chunk is stored with zeros at its end.
            let mut stored = good.clone();
            stored.resize(good.len().next_multiple_of(4 * CHUNK_ROWS), 0);
            let is_cut =
                |items: &[u8]| stored.chunks(4 * CHUNK_ROWS).any(|chunk| chunk.starts_with(items));
            for (chunk, items) in items.chunks(4 * CHUNK_ROWS).enumerate() {
                assert!(named.contains(&chunk) || is_cut(items), "{told}: {name}, chunk {chunk}");
            }
            let is_start = good.starts_with(&items) && rows > 0;
            assert!(!is_same(name) || is_start, "{told}: {name}");
        }
    }
    assert!(saved_count > DAMAGES / 2, "{saved_count}");
}

/// The longest chunk that the format has room for.
const LONGEST: usize = (1 << 31) - 64;

#[test]
fn a_frame_whose_chunks_are_as_long_as_can_be_is_repacked_and_salvaged() {
    let scratch = Scratch::new();
    let path = scratch.path("frame");
    let options = FrameOptions::new(CompressOptions::new(1)).with_chunk_size(LONGEST);
    let mut frame = SuperChunk::create(&path, &options).unwrap();
    frame.append_fill(superchunk::Fill::Zeros, LONGEST as u64).unwrap();
    frame.append(&mixed(CHUNK, 1, 3)).unwrap();
    frame.commit().unwrap();
    frame.compact().unwrap();
    frame.close().unwrap();
    let file = FileReader::open(&path).unwrap();
    let (saved, report) =
        salvage::frame(&file, &mut SuperChunk::in_memory, &Limits::default()).unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!((saved.chunk_count(), saved.byte_len()), (2, (LONGEST + CHUNK) as u64));
    assert_eq!(saved.read_chunk(1).unwrap(), mixed(CHUNK, 1, 3));
}
