//! The search itself: it must notice every rule that is broken on purpose.

use superchunk::frame::Kind;
use superchunk_testkit::crash::{Careless, Disk, Effort, Sin, explore};

use crate::frames::write_states;
use crate::plain::{Plain, STEPS, Step, change, create, read};

#[test]
fn writing_without_syncs_is_noticed() {
    for (kind, sin) in [
        (Kind::Contiguous, Sin::NoSync),
        (Kind::Contiguous, Sin::NoNameSync),
        (Kind::Sparse, Sin::NoSync),
        (Kind::Sparse, Sin::NoNameSync),
    ] {
        let disk = Disk::new();
        let dir = Careless::folder(disk.root(), sin);
        let states = write_states(&disk, kind, 1, &dir);
        let found =
            explore(&disk.history(), &states, Effort::new(16, 1), |dir| read(dir, kind), |_, _| {});
        let (bad, all) = (found.bad.len(), found.images.len());
        assert!(bad > 20, "{kind:?} {sin:?}: only {bad} of {all}");
    }
}

#[test]
fn a_header_that_comes_before_its_chunks_is_noticed() {
    let disk = Disk::new();
    let dir = Careless::folder(disk.root(), Sin::HeaderFirst);
    let mut frame = create(&dir, Kind::Contiguous);
    let (mut plain, mut states) = (Plain::new(), Vec::new());
    for (number, step) in STEPS.iter().filter(|step| matches!(step, Step::Append(_))).enumerate() {
        change(*step, number as u64, &mut frame, &mut plain).unwrap();
        frame.commit().unwrap();
        disk.reached(states.len());
        states.push(plain.clone());
    }
    let read = |dir| read(dir, Kind::Contiguous);
    let found = explore(&disk.history(), &states, Effort::new(16, 1), read, |_, _| {});
    assert!(found.bad.len() > 20, "only {} of {}", found.bad.len(), found.images.len());
}
