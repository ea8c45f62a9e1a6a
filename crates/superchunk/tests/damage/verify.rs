//! Verification by the library: levels, samples, containers, and what is no damage.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superchunk::bcolz::{Array, ArrayOptions, Table, TableOptions};
use superchunk::verify::{self, Level, LevelReport, Sample, Verdict, VerifyOptions, VerifyReport};
use superchunk::{
    CompressOptions, DType, Executor, FrameOptions, Objects, ObjectsOptions, OpenOptions,
    SuperChunk, Work, blsk,
};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

fn look(path: &Path, options: &VerifyOptions) -> VerifyReport {
    verify::path(path, options).unwrap()
}

fn level(report: &VerifyReport, level: Level) -> LevelReport {
    *report.levels.iter().find(|found| found.level == level).unwrap()
}

fn frame(path: &Path) {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000);
    let mut frame = SuperChunk::create(path, &options).unwrap();
    frame.append(&mixed(100_000, 4, 1)).unwrap();
    frame.close().unwrap();
}

#[test]
fn progress_comes_to_the_stated_total() {
    let scratch = Scratch::new();
    let path = scratch.path("f.b2frame");
    frame(&path);
    for (sample, expected) in [(Sample::All, 100_000), (Sample::Count(5), 20_000)] {
        let done = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&done);
        let executor = Executor::inline().with_observer(move |step| {
            assert_eq!((step.work, step.total), (Work::Verify, Some(expected)));
            counted.fetch_add(step.len, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
        let options = VerifyOptions::new().with_sample(sample);
        let options = options.with_open(OpenOptions::new().with_executor(executor));
        let report = verify::path(&path, &options).unwrap();
        assert_eq!(done.load(Ordering::Relaxed), expected);
        assert_eq!((report.chunks, report.chosen), (25, expected / 4000));
        assert_eq!(report.is_sample(), sample != Sample::All);
    }
}

#[test]
fn every_flipped_byte_of_a_sealed_frame_is_found_on_some_level() {
    let scratch = Scratch::new();
    let path = scratch.path("f.b2frame");
    frame(&path);
    let good = std::fs::read(&path).unwrap();
    let cbytes = u64::from_be_bytes(good[39..47].try_into().unwrap());
    let index = 97 + usize::try_from(cbytes).unwrap();
    for at in (0..good.len()).step_by(97) {
        let mut damaged = good.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        // Not every flip leaves something that is still a frame.
        let Ok(report) = verify::path(&path, &VerifyOptions::new()) else {
            assert!(at < 32, "byte {at}");
            continue;
        };
        let seal = (index - 16..index).contains(&at);
        let fingerprint = at >= good.len() - 17;
        let found = !report.is_good() || report.checksums != "sealed";
        assert_eq!(found, !seal, "byte {at}: {report:?}");
        assert!(fingerprint || seal || !report.is_good(), "byte {at}: {report:?}");
    }
}

#[test]
fn a_super_chunk_in_memory_is_looked_at_like_others() {
    let options = FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000);
    let mut chunks = SuperChunk::in_memory(&options).unwrap();
    chunks.append(&mixed(9000, 4, 1)).unwrap();
    let report = verify::super_chunk(&chunks, &VerifyOptions::new()).unwrap();
    assert!(report.is_good() && report.is_complete());
    assert_eq!((report.chunks, report.by_decoding, report.checksums), (3, 3, "none"));
    let report =
        verify::super_chunk(&chunks, &VerifyOptions::new().with_level(Level::Structure)).unwrap();
    assert_eq!(report.levels.len(), 1);
}

#[test]
fn an_array_of_bcolz_is_compared_with_its_files() {
    let scratch = Scratch::new();
    let path = scratch.path("a");
    let mut array = Array::create(&path, &ArrayOptions::of::<u32>().with_chunk_rows(100)).unwrap();
    array.append_items(&(0..1050u32).collect::<Vec<_>>()).unwrap();
    array.close().unwrap();
    let report = look(&path, &VerifyOptions::new());
    assert!(report.is_good() && report.findings.is_empty(), "{report:?}");
    assert_eq!(level(&report, Level::Files).verified, 11);
    assert_eq!(level(&report, Level::Decode).verified, 11);
    assert_eq!(level(&report, Level::Checksums).verified, 11);
    std::fs::write(path.join("data/.b2new.0"), b"half a chunk").unwrap();
    let report = look(&path, &VerifyOptions::new());
    assert!(report.is_good());
    assert_eq!(report.findings[0].verdict, Verdict::Stray);
    // Three files of eleven are gone: told once, with their number.
    for number in [3, 4, 9] {
        std::fs::remove_file(path.join(format!("data/__{number}.blp"))).unwrap();
    }
    let report = look(&path, &VerifyOptions::new().with_sample(Sample::Count(2)));
    let words: Vec<&str> = report.corrupt().map(|finding| finding.words.as_str()).collect();
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].contains("__3.blp: 3 of 11 chunk files are missing"), "{words:?}");
}

#[test]
fn columns_of_nested_tables_are_looked_at_by_name() {
    let scratch = Scratch::new();
    let path = scratch.path("t");
    let inner = TableOptions::new().with_column("x", ArrayOptions::of::<u32>());
    let options = TableOptions::new().with_column("id", ArrayOptions::of::<u32>());
    let options = options.with_nested("place", inner);
    let mut table = Table::create(&path, &options).unwrap();
    let rows: Vec<u8> = (0..50u32).flat_map(u32::to_le_bytes).collect();
    table.append(&[("id", &rows), ("place/x", &rows)]).unwrap();
    table.commit().unwrap();
    drop(table);
    assert_eq!(look(&path, &VerifyOptions::new()).by_checksum, 2);
    assert_eq!(look(&path, &VerifyOptions::new().with_column("place")).by_checksum, 1);
    let none = verify::path(&path, &VerifyOptions::new().with_column("nope"));
    assert!(none.is_err());
    // A damaged list of names: nothing below it can be found.
    std::fs::write(path.join("__rootdirs__"), b"{\"names\": [").unwrap();
    let report = look(&path, &VerifyOptions::new());
    assert_eq!(
        report.corrupt().map(|finding| finding.level).collect::<Vec<_>>(),
        [Level::Structure]
    );
}

#[test]
fn trees_and_objects_are_looked_at() {
    let scratch = Scratch::new();
    let path = scratch.path("tree.blsk");
    let columns = [("a", DType::of::<u32>()), ("b", DType::of::<f64>())];
    let mut table =
        blsk::Table::create(&path, &blsk::TableOptions::new().with_columns(columns.clone()))
            .unwrap();
    table.append(&[("a", &[7; 400]), ("b", &[9; 800])]).unwrap();
    table.close().unwrap();
    let report = look(&path, &VerifyOptions::new());
    assert!(report.is_good() && report.by_decoding >= 2, "{report:?}");

    let path = scratch.path("objects.b2frame");
    let mut objects = Objects::create(&path, &ObjectsOptions::texts()).unwrap();
    (0..500).for_each(|number| objects.append_text(&format!("object {number}")).unwrap());
    objects.close().unwrap();
    let report = look(&path, &VerifyOptions::new());
    assert!(report.is_good() && level(&report, Level::Files).verified >= 2, "{report:?}");
}
