//! A handle that is dropped discards what was not committed, wherever the data is; a copy of it in
//! a forked child does nothing at all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::columns::{ColumnFolder, ColumnFolderOptions};
use superchunk::frame::Kind;
use superchunk::{
    CompressOptions, DType, ErrorKind, FrameOptions, NdArray, NdOptions, Objects, ObjectsOptions,
    Result, SuperChunk, bcolz, blsk,
};
use superchunk_testkit::scratch::Scratch;
use superchunk_testkit::trees::files_of;

/// Bytes that do not compress away, more than one chunk of any container.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24).to_le_bytes()[0]
    };
    (0..len).map(|_| next()).collect()
}

fn frame(kind: Kind) -> FrameOptions {
    FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4096).with_kind(kind)
}

/// A container: how it is made, and a change that is not committed.
struct Subject {
    name: &'static str,
    make: fn(&Path),
    change_and_drop: fn(&Path),
}

const SUBJECTS: [Subject; 10] = [
    Subject {
        name: "contiguous frame",
        make: |path| make_frame(path, Kind::Contiguous),
        change_and_drop: change_frame,
    },
    Subject {
        name: "sparse frame",
        make: |path| make_frame(path, Kind::Sparse),
        change_and_drop: change_frame,
    },
    Subject {
        name: "array",
        make: |path| {
            let dtype = DType::parse("<i4").unwrap();
            let mut array =
                NdArray::create(path, &NdOptions::new(&[100, 10], dtype.clone())).unwrap();
            array.append(0, &noise(400)).unwrap();
            array.close().unwrap();
        },
        change_and_drop: |path| {
            let mut array = NdArray::from_superchunk(SuperChunk::edit(path).unwrap()).unwrap();
            array.append(0, &noise(40_000)).unwrap();
        },
    },
    Subject {
        name: "objects",
        make: |path| {
            let mut store = Objects::create(path, &ObjectsOptions::texts()).unwrap();
            store.append_text("one").unwrap();
            store.close().unwrap();
        },
        change_and_drop: |path| {
            let mut store = Objects::edit(path).unwrap();
            (0..5000).for_each(|number| store.append_text(&format!("text {number}")).unwrap());
        },
    },
    Subject {
        name: "Bloscpack file",
        make: |path| {
            let mut pack = Pack::create(path, &PackOptions::new()).unwrap();
            pack.append(&noise(10_000)).unwrap();
            pack.close().unwrap();
        },
        change_and_drop: |path| Pack::edit(path).unwrap().append(&noise(3 << 20)).unwrap(),
    },
    Subject {
        name: "bcolz array",
        make: |path| {
            let options = bcolz::ArrayOptions::of::<u32>().with_chunk_rows(100);
            let mut array = bcolz::Array::create(path, &options).unwrap();
            array.append(&noise(600)).unwrap();
            array.close().unwrap();
        },
        change_and_drop: |path| bcolz::Array::edit(path).unwrap().append(&noise(6000)).unwrap(),
    },
    Subject {
        name: "blsk array",
        make: |path| {
            let dtype = DType::parse("<u4").unwrap();
            let mut array =
                blsk::Array::create(path, &blsk::ArrayOptions::new(dtype.clone())).unwrap();
            array.append(&noise(600)).unwrap();
            array.close().unwrap();
        },
        change_and_drop: |path| {
            let mut array = blsk::Array::edit(path).unwrap();
            array.append(&noise(6000)).unwrap();
            array.set_attribute("note", "not committed").unwrap();
        },
    },
    Subject {
        name: "bcolz table",
        make: |path| {
            let column = bcolz::ArrayOptions::of::<u32>().with_chunk_rows(100);
            let options = bcolz::TableOptions::new().with_column("a", column.clone());
            let mut table = bcolz::Table::create(path, &options.with_column("b", column)).unwrap();
            append_to_bcolz(&mut table, 600);
            table.set_attribute("unit", "m").unwrap();
            table.close().unwrap();
        },
        change_and_drop: |path| {
            let mut table = bcolz::Table::edit(path).unwrap();
            append_to_bcolz(&mut table, 6000);
            table.set_attribute("note", "not committed").unwrap();
            table.remove_attribute("unit").unwrap();
            table.set_column_attribute("a", "note", "not committed").unwrap();
        },
    },
    Subject {
        name: "blsk table",
        make: |path| {
            let columns = [("a", DType::of::<u32>()), ("b", DType::of::<u32>())];
            let mut table =
                blsk::Table::create(path, &blsk::TableOptions::new().with_columns(columns.clone()))
                    .unwrap();
            append_to_blsk(&mut table, 600);
            table.set_attribute("unit", "m").unwrap();
            table.close().unwrap();
        },
        change_and_drop: |path| {
            let mut table = blsk::Table::edit(path).unwrap();
            append_to_blsk(&mut table, 6000);
            table.write_rows("a", 3, &noise(40)).unwrap();
            table.remove_attribute("unit").unwrap();
        },
    },
    Subject {
        name: "folder of columns",
        make: |path| {
            let mut folder =
                ColumnFolder::create(path, &ColumnFolderOptions::new().with_columns(["a"]))
                    .unwrap();
            folder.set_attribute("unit", "m").unwrap();
            folder.close().unwrap();
        },
        change_and_drop: |path| {
            let mut folder = ColumnFolder::edit(path).unwrap();
            folder.set_attribute("note", "not committed").unwrap();
            folder.remove_attribute("unit").unwrap();
        },
    },
];

fn append_to_bcolz(table: &mut bcolz::Table, len: usize) {
    table.append(&[("a", &noise(len)), ("b", &noise(len))]).unwrap();
}

fn append_to_blsk(table: &mut blsk::Table, len: usize) {
    table.append(&[("a", &noise(len)), ("b", &noise(len))]).unwrap();
}

fn make_frame(path: &Path, kind: Kind) {
    let options = frame(kind).with_metalayer("note", b"new".to_vec());
    let mut frame = SuperChunk::create(path, &options).unwrap();
    frame.append(&noise(10_000)).unwrap();
    frame.close().unwrap();
}

fn change_frame(path: &Path) {
    let mut frame = SuperChunk::edit(path).unwrap();
    frame.append(&noise(50_000)).unwrap();
    frame.set_attribute("note", "not committed").unwrap();
    frame.set_metalayer("note", b"old").unwrap();
}

#[test]
fn dropping_discards_what_was_not_committed() {
    for subject in SUBJECTS {
        let scratch = Scratch::new();
        let path = scratch.path("data");
        (subject.make)(&path);
        let before = bytes_of(&scratch);
        (subject.change_and_drop)(&path);
        assert!(bytes_of(&scratch) == before, "{}", subject.name);
    }
}

#[test]
fn an_error_in_the_middle_of_a_change_discards_all_of_it() {
    fn change_frame(path: &Path) -> Result<()> {
        let mut frame = SuperChunk::edit(path)?;
        frame.append(&noise(50_000))?;
        frame.delete_chunk(9_999)?;
        frame.close()
    }
    fn change_array(path: &Path) -> Result<()> {
        let mut array = NdArray::edit(path)?;
        array.append(0, &noise(40_000))?;
        array.write_box(&[0, 0], &[5_000, 10], &noise(10))?;
        array.close()
    }
    fn change_bcolz(path: &Path) -> Result<()> {
        let mut table = bcolz::Table::edit(path)?;
        append_to_bcolz(&mut table, 6000);
        table.set_attribute("note", "not committed")?;
        table.write_rows("no such column", 0, &noise(4))?;
        table.close()
    }
    fn change_blsk(path: &Path) -> Result<()> {
        let mut table = blsk::Table::edit(path)?;
        append_to_blsk(&mut table, 6000);
        table.set_attribute("note", "not committed")?;
        table.truncate(table.row_count() + 1)?;
        table.close()
    }
    type Change = fn(&Path) -> Result<()>;
    let changes: [(&str, Change); 5] = [
        ("contiguous frame", change_frame),
        ("sparse frame", change_frame),
        ("array", change_array),
        ("bcolz table", change_bcolz),
        ("blsk table", change_blsk),
    ];
    for (name, change) in changes {
        let scratch = Scratch::new();
        let path = scratch.path("data");
        let subject = SUBJECTS.into_iter().find(|subject| subject.name == name).unwrap();
        (subject.make)(&path);
        let before = bytes_of(&scratch);
        change(&path).unwrap_err();
        assert!(bytes_of(&scratch) == before, "{name}");
    }
}

#[test]
fn columns_change_only_when_nothing_waits_for_a_commit() {
    let scratch = Scratch::new();
    let path = scratch.path("data");
    let subject = SUBJECTS.into_iter().find(|subject| subject.name == "bcolz table").unwrap();
    (subject.make)(&path);
    let before = bytes_of(&scratch);
    let mut table = bcolz::Table::edit(&path).unwrap();
    let rows = table.row_count();
    let waiting: [fn(&mut bcolz::Table) -> Result<()>; 3] = [
        |table| table.write_rows("a", 3, &noise(40)),
        |table| table.set_attribute("note", "not committed"),
        |table| table.set_column_attribute("b", "note", "not committed"),
    ];
    for change in waiting {
        change(&mut table).unwrap();
        let column = bcolz::ArrayOptions::of::<u8>();
        let refused = [
            table.add_column("c", &column, &noise(usize::try_from(rows).unwrap())),
            table.add_nested("c", &bcolz::TableOptions::new().with_column("d", column)),
            table.remove_column("a"),
            table.rename_column("a", "alpha"),
        ];
        for error in refused.map(Result::unwrap_err) {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.message().contains("commit the changes first"), "{error}");
        }
        drop(table);
        assert!(bytes_of(&scratch) == before);
        table = bcolz::Table::edit(&path).unwrap();
    }
    table.remove_column("a").unwrap();
    assert!(bytes_of(&scratch) != before);
}

#[test]
fn what_was_never_committed_leaves_no_file() {
    let scratch = Scratch::new();
    let path = scratch.path("data");
    let mut frame = SuperChunk::create(&path, &frame(Kind::Contiguous)).unwrap();
    frame.append(&noise(50_000)).unwrap();
    drop(frame);
    assert!(!path.exists());
    let mut pack = Pack::create(&path, &PackOptions::new()).unwrap();
    pack.append(&noise(50_000)).unwrap();
    drop(pack);
    assert!(!path.exists());
}

#[test]
#[cfg(unix)]
fn a_child_that_drops_what_it_inherited_changes_and_unlocks_nothing() {
    use superchunk_testkit::fork::{Outcome, in_child};
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let scratch = Scratch::new();
        let path = scratch.path("data");
        make_frame(&path, kind);
        let mut writer = SuperChunk::edit(&path).unwrap();
        writer.append(&noise(50_000)).unwrap();
        let before = bytes_of(&scratch);
        let mut writer = Some(writer);
        let is_locked =
            || SuperChunk::edit(&path).is_err_and(|error| error.kind() == ErrorKind::Locked);
        // The child has a copy of the memory: what it drops is still here.
        let outcome = in_child(|| {
            drop(writer.take());
            is_locked()
        });
        assert_eq!(outcome, Outcome::Passed, "{kind:?}");
        assert!(bytes_of(&scratch) == before && is_locked(), "{kind:?}");
        writer.unwrap().close().unwrap();
        assert_eq!(SuperChunk::open(&path).unwrap().byte_len(), 60_000, "{kind:?}");
    }
}

/// Every file below a folder with its content.
fn bytes_of(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let folder = superchunk::store::Folder::open(scratch.folder()).unwrap();
    let mut files: Vec<_> = files_of(&folder).unwrap().into_iter().collect();
    files.sort();
    files
}
