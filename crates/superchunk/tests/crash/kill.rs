//! Real processes on a real disk: a writer is killed at every change that it makes, and inside of it.

use std::path::Path;
use std::sync::Arc;

use superchunk::frame::Kind;
use superchunk::store::{Dir, Folder};
use superchunk::{
    CompressOptions, DType, FillValue, FrameOptions, NdArray, NdOptions, NdStorage, OpenOptions,
    Result, SuperChunk,
};
use superchunk_testkit::crash::{Killer, Moment};
use superchunk_testkit::fork::{Outcome, in_child};
use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::nd_peer::NdPeer;
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::scratch::Scratch;

use crate::plain::{FRAME, Plain, Step, change, create, edit, read};

const KILLED: i32 = 9;

/// What the writers do before they die.
const DEEDS: [Step; 9] = [
    Step::Append(5000),
    Step::Update,
    Step::Insert,
    Step::Delete,
    Step::SetValue,
    Step::WriteItems,
    Step::Shorten,
    Step::GrowLayer,
    Step::Compact,
];

fn folder(path: &Path) -> Arc<dyn Dir> {
    Arc::new(Folder::open(path).unwrap())
}

/// A folder with a frame in it, as it is before anybody dies.
fn prepare(path: &Path, kind: Kind) -> Plain {
    std::fs::create_dir(path).unwrap();
    let dir = folder(path);
    let (mut frame, mut plain) = (create(&dir, kind), Plain::new());
    for (number, step) in [Step::Append(7000), Step::SetValue].into_iter().enumerate() {
        change(step, number as u64, &mut frame, &mut plain).unwrap();
        frame.commit().unwrap();
    }
    frame.close().unwrap();
    plain
}

/// Makes a folder what another one is.
fn restore(path: &Path, from: &Path) {
    let _ = std::fs::remove_dir_all(path);
    std::fs::create_dir(path).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), path.join(file.file_name())).unwrap();
    }
}

/// Opens, changes, commits, closes; the process may end at any change.
fn write(
    path: &Path,
    kind: Kind,
    step: Step,
    mut plain: Plain,
    killer: &Arc<Killer>,
) -> Option<Plain> {
    let mut frame = edit(&killer.folder(folder(path)), kind).ok()?;
    change(step, 9, &mut frame, &mut plain).ok()?;
    frame.commit().ok()?;
    frame.close().ok()?;
    Some(plain)
}

fn read_by_peer(peer: &mut FramePeer, path: &Path, kind: Kind) -> Vec<u8> {
    let path = if kind == Kind::Contiguous { path.join(FRAME) } else { path.to_owned() };
    let frame = peer.open(&path).unwrap();
    let bytes = peer.read_chunks(frame).unwrap().concat();
    peer.close(frame).unwrap();
    bytes
}

#[test]
fn a_killed_writer_leaves_a_frame_that_everyone_reads() {
    let scratch = Scratch::new();
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let path = scratch.path("frame.b2frame");
    let mut killed = 0;
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let template = scratch.path(&format!("{kind:?}"));
        let old = prepare(&template, kind);
        for step in DEEDS {
            // How many changes it takes when nobody dies.
            restore(&path, &template);
            let count = Killer::new(Moment::Never);
            let new = write(&path, kind, step, old.clone(), &count).unwrap();
            let moments =
                (0..count.changes()).flat_map(|at| [Moment::Before(at), Moment::Inside(at)]);
            for moment in moments {
                restore(&path, &template);
                let killer = Killer::new(moment);
                let end = in_child(|| write(&path, kind, step, old.clone(), &killer).is_some());
                assert_eq!(end, Outcome::Killed(KILLED), "{kind:?} {step:?} {moment:?}");
                let found = read(folder(&path), kind).unwrap();
                assert!(found == old || found == new, "{kind:?} {step:?} {moment:?}");
                let theirs = read_by_peer(&mut peer, &path, kind);
                assert!(theirs == found.bytes, "{kind:?} {step:?} {moment:?}, C-Blosc2");
                killed += 1;
            }
        }
    }
    assert!(killed > 150, "only {killed} writers died");
}

/// A file with an array in it.
fn prepare_array(path: &Path) {
    let frame = FrameOptions::new(CompressOptions::new(2));
    let options = NdStorage::new(frame).with_chunks(&[20, 30]).with_blocks(&[10, 10]);
    let dtype = DType::parse("<u2").unwrap();
    let (shape, fill) = ([30, 40], FillValue::Zeros);
    let array = NdArray::create_in_dir(
        folder(path),
        Some(FRAME),
        &NdOptions::new(&shape, dtype.clone()).with_fill(fill).with_storage(options.clone()),
    );
    let mut array = array.unwrap();
    let items: Vec<u8> = (0..1200u16).flat_map(u16::to_le_bytes).collect();
    array.write_box(&[0, 0], &[30, 40], &items).unwrap();
    array.close().unwrap();
}

/// Gives an array another shape; the process may end at any change.
fn resize(path: &Path, shape: [u64; 2], killer: &Arc<Killer>) -> Result<()> {
    let frame =
        SuperChunk::edit_in_dir(killer.folder(folder(path)), Some(FRAME), &OpenOptions::new())?;
    let mut array = NdArray::from_superchunk(frame)?;
    array.resize(&shape)?;
    array.commit()?;
    array.close()
}

/// Shape and items.
fn read_nd(path: &Path) -> (Vec<u64>, Vec<u8>) {
    let frame = SuperChunk::open_in_dir(folder(path), Some(FRAME), &OpenOptions::new()).unwrap();
    let array = NdArray::from_superchunk(frame).unwrap();
    (array.shape().to_vec(), array.to_vec().unwrap())
}

#[test]
fn a_killed_resize_leaves_an_array_of_either_shape_that_everyone_reads() {
    let scratch = Scratch::new();
    let mut peer = NdPeer::spawn(PeerKind::Blosc2);
    let (template, path) = (scratch.path("template"), scratch.path("array"));
    std::fs::create_dir(&template).unwrap();
    prepare_array(&template);
    let old = read_nd(&template);
    let mut killed = 0;
    for shape in [[50, 70], [21, 33], [30, 90]] {
        restore(&path, &template);
        let count = Killer::new(Moment::Never);
        resize(&path, shape, &count).unwrap();
        let new = read_nd(&path);
        assert_eq!(new.0, shape);
        let moments = (0..count.changes()).flat_map(|at| [Moment::Before(at), Moment::Inside(at)]);
        for moment in moments {
            restore(&path, &template);
            let killer = Killer::new(moment);
            let end = in_child(|| resize(&path, shape, &killer).is_ok());
            assert_eq!(end, Outcome::Killed(KILLED), "{shape:?} {moment:?}");
            let found = read_nd(&path);
            assert!(found == old || found == new, "{shape:?} {moment:?}");
            let theirs = peer.read(&path.join(FRAME)).unwrap();
            assert!((theirs.shape, theirs.bytes) == found, "{shape:?} {moment:?}, C-Blosc2");
            killed += 1;
        }
    }
    assert!(killed > 20, "only {killed} writers died");
}
