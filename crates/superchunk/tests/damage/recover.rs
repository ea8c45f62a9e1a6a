//! What killed writers leave is completed or removed; what running ones work on is not touched.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use superchunk::frame::Kind;
use superchunk::store::{Replacement, temporary_name};
use superchunk::{
    CompressOptions, ErrorKind, FrameOptions, OpenOptions, SuperChunk, bcolz, recover,
};
use superchunk_testkit::scratch::Scratch;

fn recovered(path: &Path) -> recover::Recovered {
    recover::path(path, &OpenOptions::new()).unwrap()
}

#[test]
fn what_a_killed_command_was_making_goes_and_what_a_running_one_makes_stays() {
    let scratch = Scratch::new();
    let target = scratch.path("data.b2frame");
    let running = Replacement::begin(&target, Duration::ZERO).unwrap();
    let dead = [scratch.path(&temporary_name("data.b2frame")), scratch.path("other.tmp")];
    fs::create_dir(&dead[0]).unwrap();
    fs::write(dead[0].join("data.b2frame"), "half of it").unwrap();
    fs::write(&dead[1], "of somebody else").unwrap();
    let file = scratch.path(&temporary_name("data.b2frame"));
    fs::write(&file, "half of it").unwrap();
    // There is no such frame yet: only what was to become it is looked at.
    let mut removed = recovered(&target).removed;
    removed.sort();
    let mut expected = vec![dead[0].clone(), file];
    expected.sort();
    assert_eq!(removed, expected);
    assert!(running.folder().exists() && dead[1].exists());
    drop(running);
    let error = recover::path(&target, &OpenOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn chunk_files_that_no_index_names_go() {
    let scratch = Scratch::new();
    let path = scratch.path("data");
    let options = FrameOptions::new(CompressOptions::new(1)).with_kind(Kind::Sparse);
    let mut frame = SuperChunk::create(&path, &options).unwrap();
    frame.append(&[7; 100]).unwrap();
    frame.append(b"0123456789").unwrap();
    frame.close().unwrap();
    let names = || {
        let mut names: Vec<String> = fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let before = names();
    fs::write(path.join("0000000A.chunk"), "nobody's").unwrap();
    fs::write(path.join(temporary_name("chunks.b2frame")), "half of it").unwrap();
    assert_eq!(recovered(&path).removed.len(), 2);
    assert_eq!(names(), before);
    let writer = SuperChunk::edit(&path).unwrap();
    let error = recover::path(&path, &OpenOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    drop(writer);
    assert_eq!(recovered(&path), recover::Recovered::default());
}

#[test]
fn chunk_files_beyond_the_length_of_an_array_go_unless_bcolz_has_written_them() {
    let scratch = Scratch::new();
    let path = scratch.path("array");
    let options = bcolz::ArrayOptions::of::<u32>().with_chunk_rows(10);
    let mut array = bcolz::Array::create(&path, &options).unwrap();
    array.append(&[7; 4 * 25]).unwrap();
    array.close().unwrap();
    let data = path.join("data");
    // A chunk of this library, half of one, and one without the checksum at its end, as bcolz writes it.
    let whole = fs::read(data.join("__0.blp")).unwrap();
    fs::write(data.join("__3.blp"), &whole).unwrap();
    fs::write(data.join("__4.blp"), &whole[..20]).unwrap();
    fs::write(data.join("__5.blp"), &whole[..whole.len() - 16]).unwrap();
    let mut removed = recovered(&path).removed;
    removed.sort();
    assert_eq!(removed, [data.join("__3.blp"), data.join("__4.blp")]);
    assert!(data.join("__5.blp").exists() && data.join("__2.blp").exists());
    assert_eq!(bcolz::Array::open(&path).unwrap().to_vec().unwrap(), [7; 4 * 25]);
}

#[test]
fn a_begun_commit_of_a_table_is_completed_for_programs_that_know_nothing_of_it() {
    let scratch = Scratch::new();
    let path = scratch.path("table");
    let column = bcolz::ArrayOptions::of::<u32>().with_chunk_rows(10);
    let options =
        bcolz::TableOptions::new().with_column("a", column.clone()).with_column("b", column);
    let mut table = bcolz::Table::create(&path, &options).unwrap();
    let rows =
        |range: std::ops::Range<u32>| -> Vec<u8> { range.flat_map(u32::to_le_bytes).collect() };
    table.append(&[("a", &rows(0..15)), ("b", &rows(0..15))]).unwrap();
    table.commit().unwrap();
    let old = fs::read(path.join("a/meta/sizes")).unwrap();
    table.append(&[("a", &rows(15..40)), ("b", &rows(15..40))]).unwrap();
    table.close().unwrap();
    // As a writer leaves it that is killed between the renames: the first column is the last to
    // grow.
    fs::write(path.join("a/meta/sizes"), old).unwrap();
    let intent = r#"{"version": 1, "columns": [["a", 15, 40], ["b", 15, 40]]}"#;
    fs::write(path.join(".b2commit"), intent).unwrap();
    fs::write(path.join("b/data/.b2new.0"), "left").unwrap();
    let done = recovered(&path);
    assert!(done.completed);
    assert!(!path.join(".b2commit").exists() && !path.join("b/data/.b2new.0").exists());
    let sizes = fs::read_to_string(path.join("a/meta/sizes")).unwrap();
    assert!(sizes.contains("[40]"), "{sizes}");
    assert_eq!(bcolz::Table::open(&path).unwrap().row_count(), 40);
    assert_eq!(recovered(&path), recover::Recovered::default());
}
