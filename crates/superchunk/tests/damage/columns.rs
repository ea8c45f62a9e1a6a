//! Folders of columns: the list and the arrays of the columns, damaged.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use superchunk::columns::{ColumnFolder, ColumnFolderOptions};
use superchunk::detect::{self, Format};
use superchunk::verify::{self, Level, Verdict, VerifyOptions, VerifyReport};
use superchunk::{DType, ErrorKind, Limits, NdArray, NdOptions, OpenOptions, compat, salvage};
use superchunk_testkit::scratch::Scratch;

const NAMES: [&str; 3] = ["b", "group/c", "a"];

fn table(path: &Path, rows: u32) {
    let mut folder =
        ColumnFolder::create(path, &ColumnFolderOptions::new().with_columns(NAMES)).unwrap();
    for name in NAMES {
        let (place, dtype) = (folder.place(name), DType::of::<u32>());
        let mut array =
            NdArray::create(place, &NdOptions::new(&[u64::from(rows)], dtype.clone())).unwrap();
        let numbers: Vec<u8> = (0..rows).flat_map(|row| (row * 7).to_le_bytes()).collect();
        array.write_box(&[0], &[u64::from(rows)], &numbers).unwrap();
        array.close().unwrap();
    }
    folder.set_attribute("unit", "K").unwrap();
    folder.commit().unwrap();
}

fn look(path: &Path) -> VerifyReport {
    verify::path(path, &VerifyOptions::new()).unwrap()
}

#[test]
fn every_byte_of_the_list_is_read_as_a_list_or_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("table");
    table(&path, 10);
    let list = path.join(ColumnFolder::LIST);
    let good = fs::read(&list).unwrap();
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x04;
        for bytes in [&damaged[..], &good[..at]] {
            fs::write(&list, bytes).unwrap();
            assert_eq!(detect::path(&path).unwrap().format, Format::Columns);
            match ColumnFolder::open(&path) {
                Ok(folder) => {
                    let is_inside = |name: &String| folder.place(name).starts_with(&path);
                    assert!(folder.names().iter().all(is_inside), "byte {at}");
                    assert!(!folder.names().iter().any(|name| name.contains("..")), "byte {at}");
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {at}: {error}");
                    // The arrays are looked at all the same.
                    let report = look(&path);
                    assert!(!report.is_good() && report.chunks == 3, "byte {at}: {report:?}");
                }
            }
        }
    }
    fs::write(&list, &good).unwrap();
    let short = ColumnFolder::open_with(
        &path,
        &OpenOptions::new().with_limits(Limits::default().with_max_metadata(100)),
    );
    assert_eq!(short.unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("table");
    for names in [["a", "a"], ["a", "../b"], ["a", "/b"], ["a", ""], ["a", "b//c"], ["a", "./b"]] {
        let error = ColumnFolder::create(&path, &ColumnFolderOptions::new().with_columns(names))
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{names:?}");
        assert!(!path.exists());
    }
}

#[test]
fn columns_that_do_not_fit_together_are_found_and_made_equal() {
    let scratch = Scratch::new();
    let (path, saved) = (scratch.path("table"), scratch.path("saved"));
    table(&path, 10);
    let report = look(&path);
    assert!(report.is_good() && report.is_complete());
    assert_eq!((report.format, report.checksums, report.chunks), (Format::Columns, "sealed", 3));
    let mut column = NdArray::edit(path.join("a.b2nd")).unwrap();
    column.append(0, &[1; 8]).unwrap();
    column.close().unwrap();
    fs::write(path.join("group/letter"), "Dear Bob").unwrap();
    let found: Vec<_> = look(&path).findings.into_iter().map(|f| (f.level, f.verdict)).collect();
    assert_eq!(found, [(Level::Files, Verdict::Corrupt), (Level::Files, Verdict::Stray)]);
    let report = salvage::columns(&path, &saved, &Limits::default()).unwrap();
    assert!(!report.is_whole());
    assert!(look(&saved).is_good());
    let folder = ColumnFolder::open(&saved).unwrap();
    assert_eq!(folder.names(), NAMES);
    assert_eq!(folder.attributes().get("unit").and_then(|unit| unit.as_str()), Some("K"));
    assert!(folder.attributes().get(salvage::ATTRIBUTE).is_some());
    for name in NAMES {
        assert_eq!(NdArray::open(folder.place(name)).unwrap().shape(), [10], "{name}");
    }
}

#[test]
fn a_column_without_its_shape_is_lost_and_the_others_are_saved() {
    let scratch = Scratch::new();
    let (path, saved) = (scratch.path("table"), scratch.path("saved"));
    table(&path, 5000);
    let place = path.join("group/c.b2nd");
    let mut bytes = fs::read(&place).unwrap();
    bytes[..120].fill(0x55);
    fs::write(&place, bytes).unwrap();
    assert!(!look(&path).is_good());
    let report = salvage::columns(&path, &saved, &Limits::default()).unwrap();
    assert_eq!((report.holes.len(), report.columns.len()), (1, 2));
    let folder = ColumnFolder::open(&saved).unwrap();
    assert_eq!(folder.names(), ["b", "a"]);
    assert!(look(&saved).is_good());
    for name in NAMES {
        fs::write(path.join(format!("{name}.b2nd")), "nothing").unwrap();
    }
    let error = salvage::columns(&path, &scratch.path("none"), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn a_writer_keeps_others_out_and_readers_see_that_the_folder_is_another() {
    let scratch = Scratch::new();
    let (path, new) = (scratch.path("table"), scratch.path("new"));
    table(&path, 10);
    table(&new, 20);
    let reader = ColumnFolder::open(&path).unwrap();
    let edit = || ColumnFolder::edit(&path);
    let mut writer = edit().unwrap();
    let error = edit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    writer.commit().unwrap();
    assert!(reader.is_current().unwrap());
    fs::rename(&path, scratch.path("old")).unwrap();
    fs::rename(&new, &path).unwrap();
    assert!(!reader.is_current().unwrap());
    let needs = compat::path(&path, &OpenOptions::new()).unwrap();
    let oldest: Vec<_> = needs.iter().map(|found| found.oldest().is_some()).collect();
    assert_eq!(oldest.iter().filter(|reads| **reads).count(), 1, "{needs:?}");
}
