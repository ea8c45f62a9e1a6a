//! Long work that an observer stops, after every number of steps: the old state is there, nothing is left behind,
//! and nothing is taken for damage.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superchunk::bloscpack::{Pack, PackOptions};
use superchunk::frame::Kind;
use superchunk::store::{FileReader, Folder};
use superchunk::verify;
use superchunk::{
    Codec, CompressOptions, DType, ErrorKind, Executor, FrameOptions, NdArray, NdOptions, Objects,
    ObjectsOptions, OpenOptions, Result, SuperChunk, bcolz, blsk, salvage,
};
use superchunk_testkit::samples::mixed;
use superchunk_testkit::scratch::Scratch;

/// An executor that says stop after this many steps.
fn stopping(steps: usize) -> Executor {
    let left = Arc::new(AtomicUsize::new(steps));
    Executor::threads(2).with_observer(move |_| {
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })
}

/// All files below a folder with their bytes, and all folders.
fn files(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut files(&path));
            found.insert(path, None);
        } else {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, Some(bytes));
        }
    }
    found
}

/// Does `work` on what `make` has made in a folder, with a stop after every number of steps there are.
fn stopped(
    name: &str,
    make: impl Fn(&Path) -> Result<()>,
    work: impl Fn(&Path, &OpenOptions) -> Result<()>,
) {
    let scratch = Scratch::new();
    let folder = scratch.path("work");
    fs::create_dir(&folder).unwrap();
    make(&folder).unwrap();
    let before = files(&folder);
    for steps in 0.. {
        let Err(error) = work(&folder, &OpenOptions::new().with_executor(stopping(steps))) else {
            assert!(steps > 1, "{name}: only {steps} steps");
            assert!(files(&folder) != before, "{name}: nothing was done");
            return;
        };
        assert_eq!(error.kind(), ErrorKind::Interrupted, "{name}, {steps} steps: {error}");
        let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
        let after = files(&folder);
        assert_eq!(names(&after), names(&before), "{name}, {steps} steps");
        assert!(after == before, "{name}, {steps} steps");
    }
}

fn options() -> FrameOptions {
    FrameOptions::new(CompressOptions::new(4)).with_chunk_size(4000)
}

fn frame(folder: &Path, kind: Kind) -> Result<()> {
    let mut frame = SuperChunk::create(folder.join("f.b2frame"), &options().with_kind(kind))?;
    frame.append(&mixed(21_000, 4, 1))?;
    frame.close()
}

fn array(folder: &Path) -> Result<()> {
    let nd_options = NdOptions::of::<u32>(&[60, 100]).with_frame(options());
    let nd_options = nd_options.with_chunks(&[20, 50]).with_blocks(&[10, 10]);
    let mut array = NdArray::create(folder.join("a.b2nd"), &nd_options)?;
    array.write_box(&[0, 0], &[60, 100], &mixed(24_000, 4, 2))?;
    array.close()
}

fn objects(folder: &Path) -> Result<()> {
    let options = ObjectsOptions::bytes().with_frame(options()).with_block_len(500);
    let mut objects = Objects::create(folder.join("o.b2frame"), &options)?;
    objects.extend(mixed(20_000, 4, 3).chunks(37))?;
    objects.close()
}

fn table_options() -> bcolz::TableOptions {
    let column = || bcolz::ArrayOptions::of::<u32>().with_chunk_rows(1000);
    bcolz::TableOptions::new().with_column("a", column()).with_column("b", column())
}

fn bcolz_table(folder: &Path) -> Result<()> {
    let mut table = bcolz::Table::create(folder.join("t.bcolz"), &table_options())?;
    let bytes = mixed(18_000, 4, 4);
    table.append(&[("a", &bytes), ("b", &bytes)])?;
    table.close()
}

fn blsk_table(folder: &Path) -> Result<()> {
    let options = blsk::TableOptions::new()
        .with_column("a", DType::of::<u32>())
        .with_column("b", DType::of::<u32>())
        .with_chunk_rows(1000)
        .with_superchunk_size(2);
    let mut table = blsk::Table::create(folder.join("t.blsk"), &options)?;
    let bytes = mixed(18_000, 4, 5);
    table.append(&[("a", &bytes), ("b", &bytes)])?;
    table.close()
}

fn pack(folder: &Path) -> Result<()> {
    let options = PackOptions::new().with_compress(CompressOptions::new(4)).with_chunk_size(4000);
    let mut pack = Pack::create(folder.join("p.blp"), &options)?;
    pack.append(&mixed(21_000, 4, 6))?;
    pack.close()
}

#[test]
fn changes_of_frames_that_are_stopped_have_not_happened() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let make = |folder: &Path| frame(folder, kind);
        stopped("append", make, |folder, open| {
            let mut frame = SuperChunk::edit_with(folder.join("f.b2frame"), open)?;
            frame.append(&mixed(30_000, 4, 7))?;
            frame.close()
        });
        for codec in [Codec::Lz4, Codec::Zstd] {
            stopped("copy", make, |folder, open| {
                let frame = SuperChunk::open_with(folder.join("f.b2frame"), open)?;
                let mut options = frame.frame_options().with_kind(kind);
                options.compress = options.compress.with_codec(codec);
                frame.copy_to(folder.join("copy.b2frame"), &options)?.close()
            });
        }
    }
    stopped("write_box", array, |folder, open| {
        let mut array = NdArray::edit_with(folder.join("a.b2nd"), open)?;
        array.write_box(&[5, 5], &[50, 90], &mixed(15_300, 4, 8))?;
        array.close()
    });
    stopped("copy of an array", array, |folder, open| {
        let array = NdArray::open_with(folder.join("a.b2nd"), open)?;
        let options = array.options().with_chunks(&[30, 30]).with_blocks(&[10, 10]);
        array.copy_to(folder.join("copy.b2nd"), &options)?.close()
    });
    stopped("objects", objects, |folder, open| {
        let mut objects = Objects::edit_with(folder.join("o.b2frame"), open)?;
        objects.extend(mixed(20_000, 4, 9).chunks(41))?;
        objects.close()
    });
}

#[test]
fn changes_of_older_formats_that_are_stopped_have_not_happened() {
    let bytes = mixed(22_000, 4, 10);
    stopped("pack", pack, |folder, open| {
        let mut pack = Pack::edit_with(folder.join("p.blp"), open)?;
        pack.append(&bytes)?;
        pack.close()
    });
    stopped("bcolz table", bcolz_table, |folder, open| {
        let mut table = bcolz::Table::edit_with(folder.join("t.bcolz"), open)?;
        table.append(&[("a", &bytes), ("b", &bytes)])?;
        table.close()
    });
    stopped("copy of a pack", pack, |folder, open| {
        let pack = Pack::open_with(folder.join("p.blp"), open)?;
        let compress = CompressOptions::new(4).with_executor(open.executor.clone());
        let options = PackOptions::new().with_compress(compress).with_chunk_size(3000);
        pack.copy_to(folder.join("copy.blp"), &options)?.close()
    });
    stopped("copy of a bcolz table", bcolz_table, |folder, open| {
        let mut column = bcolz::ArrayOptions::of::<u32>().with_chunk_rows(500);
        column.compress.executor = open.executor.clone();
        let table = bcolz::Table::open(folder.join("t.bcolz"))?;
        table.copy_to(folder.join("copy.bcolz"), |_| Some(column.clone()))
    });
    stopped("copy of a blsk table", blsk_table, |folder, open| {
        let table = blsk::Table::open(folder.join("t.blsk"))?;
        let mut options = table.options()?.with_chunk_rows(500);
        options.compress.executor = open.executor.clone();
        table.copy_to(folder.join("copy.blsk"), &options)
    });
    stopped("blsk table", blsk_table, |folder, open| {
        let mut table = blsk::Table::edit_with(folder.join("t.blsk"), open)?;
        table.append(&[("a", &bytes), ("b", &bytes)])?;
        table.close()
    });
}

/// A handle whose change was stopped has its old rows, and takes the change when it is tried again.
#[test]
fn a_change_can_be_tried_again() {
    let (old, new) = (mixed(10_000, 4, 11), mixed(30_000, 4, 12));
    let both = [old.as_slice(), &new].concat();
    for steps in 0..10 {
        let switch = Arc::new(AtomicUsize::new(usize::MAX));
        let left = Arc::clone(&switch);
        let executor = Executor::inline().with_observer(move |_| {
            let taken =
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let compress = CompressOptions::new(4).with_executor(executor);
        let options = FrameOptions::new(compress).with_chunk_size(4000);
        let mut other = SuperChunk::in_memory(&self::options().with_chunk_size(3000)).unwrap();
        other.append(&new).unwrap();
        let mut frame = SuperChunk::in_memory(&options).unwrap();
        for append in [
            &mut (|frame: &mut SuperChunk| frame.append(&new))
                as &mut dyn FnMut(&mut SuperChunk) -> Result<()>,
            &mut |frame: &mut SuperChunk| frame.append_from(&other),
        ] {
            frame.resize(0).unwrap();
            frame.append(&old).unwrap();
            switch.store(steps, Ordering::Relaxed);
            let stopped = append(&mut frame);
            switch.store(usize::MAX, Ordering::Relaxed);
            if let Err(error) = stopped {
                assert_eq!(error.kind(), ErrorKind::Interrupted);
                assert!(frame.to_vec().unwrap() == old, "{steps} steps");
                append(&mut frame).unwrap();
            }
            assert!(frame.to_vec().unwrap() == both, "{steps} steps");
            let reopened = SuperChunk::from_bytes(frame.to_bytes().unwrap()).unwrap();
            assert!(reopened.verify().unwrap().is_good());
        }
    }
}

/// What is looked at in [`looking`].
type Maker = fn(&Path) -> Result<()>;

/// Every container, and where it is in its folder.
fn containers() -> Vec<(&'static str, Maker)> {
    vec![
        ("f.b2frame", |folder| frame(folder, Kind::Contiguous)),
        ("f.b2frame", |folder| frame(folder, Kind::Sparse)),
        ("a.b2nd", array),
        ("o.b2frame", objects),
        ("p.blp", pack),
        ("t.bcolz", bcolz_table),
        ("t.blsk", blsk_table),
    ]
}

#[test]
fn a_verification_that_is_stopped_finds_nothing() {
    for (name, make) in containers() {
        let scratch = Scratch::new();
        make(&scratch.path("")).unwrap();
        let path = scratch.path(name);
        for steps in 0.. {
            let open = OpenOptions::new().with_executor(stopping(steps));
            match verify::path(&path, &verify::VerifyOptions::new().with_open(open)) {
                Ok(report) => {
                    assert!(report.is_good() && report.is_complete() && steps > 2, "{name}");
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{name}: {error}"),
            }
        }
    }
}

#[test]
fn a_handle_that_is_stopped_is_not_damaged() {
    let scratch = Scratch::new();
    frame(&scratch.path(""), Kind::Contiguous).unwrap();
    for steps in 0..6 {
        let open = OpenOptions::new().with_executor(stopping(steps));
        let frame = SuperChunk::open_with(scratch.path("f.b2frame"), &open).unwrap();
        assert_eq!(frame.verify().unwrap_err().kind(), ErrorKind::Interrupted);
        let open = OpenOptions::new().with_executor(stopping(steps));
        let frame = SuperChunk::open_with(scratch.path("f.b2frame"), &open).unwrap();
        let report = verify::super_chunk(&frame, &verify::VerifyOptions::new());
        assert_eq!(report.unwrap_err().kind(), ErrorKind::Interrupted);
    }
}

#[test]
fn a_salvage_that_is_stopped_makes_no_holes() {
    for (name, make) in containers() {
        let scratch = Scratch::new();
        make(&scratch.path("")).unwrap();
        let path = scratch.path(name);
        for steps in 0.. {
            let options = salvage::SalvageOptions::new().with_executor(stopping(steps));
            let to = scratch.path(&format!("to-{steps}"));
            let report = match name {
                "p.blp" => {
                    let store = FileReader::open(&path).unwrap();
                    salvage::pack(&store, &mut Vec::new(), &options)
                }
                "t.bcolz" => {
                    let to = Arc::new(Folder::create(&to).unwrap());
                    salvage::bcolz(&Folder::open(&path).unwrap(), to, &options)
                }
                "t.blsk" => {
                    let to = Arc::new(Folder::create(&to).unwrap());
                    salvage::blsk(&Folder::open(&path).unwrap(), to, &options)
                }
                _ if path.is_dir() => {
                    let dir = Folder::open(&path).unwrap();
                    salvage::sparse(&dir, &mut SuperChunk::in_memory, &options)
                        .map(|(_, report)| report)
                }
                _ => {
                    let store = FileReader::open(&path).unwrap();
                    salvage::frame(&store, &mut SuperChunk::in_memory, &options)
                        .map(|(_, report)| report)
                }
            };
            match report {
                Ok(report) => {
                    assert!(report.holes.is_empty() && steps > 0, "{name}: {:?}", report.holes);
                    break;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{name}: {error}"),
            }
        }
    }
}
