//! A handle that is dropped discards what was not committed, wherever the data is; a copy of it in
//! a forked child does nothing at all.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::frame::Kind;
use superchunk::{
    CompressOptions, DType, ErrorKind, FrameOptions, NdArray, NdOptions, Objects, ObjectsOptions,
    SuperChunk, bcolz, blsk,
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

const SUBJECTS: [Subject; 7] = [
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
                NdArray::create(path, &[100, 10], &dtype, &NdOptions::default()).unwrap();
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
            let options = bcolz::ArrayOptions::of::<u32>().with_chunk_len(100);
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
                blsk::Array::create(path, &dtype, &[], &blsk::Options::default()).unwrap();
            array.append(&noise(600)).unwrap();
            array.close().unwrap();
        },
        change_and_drop: |path| blsk::Array::edit(path).unwrap().append(&noise(6000)).unwrap(),
    },
];

fn make_frame(path: &Path, kind: Kind) {
    let mut frame = SuperChunk::create(path, &frame(kind)).unwrap();
    frame.append(&noise(10_000)).unwrap();
    frame.close().unwrap();
}

fn change_frame(path: &Path) {
    let mut frame = SuperChunk::edit(path).unwrap();
    frame.append(&noise(50_000)).unwrap();
    frame.set_value("note", &"not committed".into()).unwrap();
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
        assert_eq!(SuperChunk::open(&path).unwrap().len(), 60_000, "{kind:?}");
    }
}

/// Every file below a folder with its content.
fn bytes_of(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let folder = superchunk::store::Folder::open(scratch.folder()).unwrap();
    let mut files: Vec<_> = files_of(&folder).unwrap().into_iter().collect();
    files.sort();
    files
}
