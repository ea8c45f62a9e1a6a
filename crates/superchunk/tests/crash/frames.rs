//! Contiguous and sparse frames: every change, cut off everywhere.

use std::sync::Arc;

use superchunk::frame::Kind;
use superchunk::store::Dir;
use superchunk_testkit::crash::{Disk, Effort, Findings, Image, explore, seeds};
use superchunk_testkit::frame_peer::FramePeer;
use superchunk_testkit::peers::PeerKind;
use superchunk_testkit::rng::Rng;
use superchunk_testkit::scratch::Scratch;

use crate::plain::{FRAME, Plain, STEPS, Step, change, create, edit, read};

/// Does every step with a commit after each, in the folder that `dress` makes of the disk's own.
pub(crate) fn write_states(disk: &Disk, kind: Kind, seed: u64, dir: &Arc<dyn Dir>) -> Vec<Plain> {
    let mut frame = create(dir, kind);
    let mut plain = Plain::new();
    let mut states = Vec::new();
    for (number, step) in STEPS.iter().enumerate() {
        let step_seed = seed * 1000 + number as u64;
        if *step == Step::Reopen {
            frame.close().unwrap();
            frame = edit(dir, kind).unwrap();
            continue;
        }
        change(*step, step_seed, &mut frame, &mut plain).unwrap();
        // Sometimes several changes become visible together. A compaction commits.
        if !(number as u64).is_multiple_of(1 + seed % 3) && !must_commit(number) {
            continue;
        }
        frame.commit().unwrap();
        disk.reached(states.len());
        states.push(plain.clone());
    }
    frame.close().unwrap();
    states
}

/// A compaction is a commit, and so is closing: what was changed before must be committed, too.
fn must_commit(number: usize) -> bool {
    let next = STEPS.get(number + 1);
    let commits = |step: &Step| [Step::Compact, Step::Reopen].contains(step);
    STEPS[number] == Step::Compact || next.is_none_or(commits)
}

/// Cuts a whole life of a frame.
fn search(kind: Kind, seed: u64, images: usize, look: impl FnMut(&Image, &Plain)) -> Findings {
    let disk = Disk::new();
    let states = write_states(&disk, kind, seed, &disk.root());
    let effort = Effort::new(images, seed);
    let mut look = look;
    explore(
        &disk.history(),
        &states,
        effort,
        |dir| read(dir, kind),
        |image, state| {
            look(image, &states[state]);
        },
    )
}

#[test]
fn a_contiguous_frame_has_its_old_state_or_its_new_one() {
    let mut all = Findings::default();
    for seed in seeds(31) {
        all.join(search(Kind::Contiguous, seed, 84, |_, _| {}));
    }
    all.must_be_good("contiguous frames", 35_000);
}

#[test]
fn a_sparse_frame_has_its_old_state_or_its_new_one() {
    let mut all = Findings::default();
    for seed in seeds(31) {
        all.join(search(Kind::Sparse, seed, 84, |_, _| {}));
    }
    all.must_be_good("sparse frames", 35_000);
}

#[test]
fn the_next_writer_goes_on_from_either_state() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let mut edited = 0;
        let mut rng = Rng::new(78);
        let findings = search(kind, 78, 40, |image, state| {
            if rng.below(2) > 0 {
                return;
            }
            let dir: Arc<dyn Dir> = Arc::new(image.to_memory().unwrap());
            let mut frame = edit(&dir, kind).unwrap();
            let mut plain = state.clone();
            for step in [Step::Append(2000), Step::Update, Step::SetValue] {
                change(step, edited, &mut frame, &mut plain).unwrap();
                frame.commit().unwrap();
            }
            frame.close().unwrap();
            assert!(read(dir, kind).unwrap() == plain, "{kind:?}: {:?}", image.listing());
            edited += 1;
        });
        findings.must_be_good("frames", 500);
        assert!(edited > 200, "only {edited}");
    }
}

#[test]
fn python_blosc2_finds_the_old_state_or_the_new_one() {
    let mut peer = FramePeer::spawn(PeerKind::Blosc2);
    let scratch = Scratch::new();
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let mut read = 0;
        let mut rng = Rng::new(6);
        let findings = search(kind, 6, 40, |image, state| {
            if rng.below(4) > 0 {
                return;
            }
            image.write_to(&scratch.path("image.b2frame")).unwrap();
            let path = match kind {
                Kind::Contiguous => scratch.path("image.b2frame").join(FRAME),
                _ => scratch.path("image.b2frame"),
            };
            let frame = peer.open(&path).unwrap();
            let chunks = peer.read_chunks(frame).unwrap().concat();
            assert!(chunks == state.bytes, "{kind:?}: {:?}", image.listing());
            for (name, value) in &state.values {
                assert!(peer.vlmeta_raw(frame, name).unwrap() == *value, "{kind:?}: {name}");
            }
            peer.close(frame).unwrap();
            read += 1;
        });
        findings.must_be_good("frames", 600);
        assert!(read >= 100, "only {read}");
    }
}
