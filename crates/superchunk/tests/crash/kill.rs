//! Real processes on a real disk: a writer is killed at every change that it makes, and inside of it.

use std::path::Path;
use std::sync::Arc;

use superchunk::frame::Kind;
use superchunk::store::{Dir, Folder};
use superchunk_testkit::crash::{Killer, Moment};
use superchunk_testkit::fork::{Outcome, in_child};
use superchunk_testkit::frame_peer::FramePeer;
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
