//! Full disks, failing syncs and flipped bits.

use std::sync::Arc;

use superchunk::frame::Kind;
use superchunk::store::Dir;
use superchunk_testkit::crash::{Disk, Effort, Fault, Findings, explore};

use crate::plain::{Plain, STEPS, Step, change, create, edit, read};

/// A disk with a frame on it that has some chunks and a value, and what is in that frame.
fn prepared(kind: Kind) -> (Disk, Plain) {
    let disk = Disk::new();
    let (mut frame, mut plain) = (create(&disk.root(), kind), Plain::new());
    for (number, step) in [Step::Append(7000), Step::SetValue, Step::Fill].into_iter().enumerate() {
        change(step, number as u64, &mut frame, &mut plain).unwrap();
        frame.commit().unwrap();
    }
    frame.close().unwrap();
    disk.reached(0);
    (disk, plain)
}

/// Opens, does one step and commits; tells whether that failed, and what the state would be.
fn attempt(dir: &Arc<dyn Dir>, kind: Kind, step: Step, old: &Plain) -> (bool, Plain) {
    let mut new = old.clone();
    let mut frame = edit(dir, kind).unwrap();
    let changed = change(step, 9, &mut frame, &mut new).and_then(|()| frame.commit());
    if changed.is_ok() {
        return (frame.close().is_err(), new);
    }
    // Dropped without a commit that could work by now.
    std::mem::forget(frame);
    (true, new)
}

/// Steps, each with every fault of a kind, until none comes any more.
fn every_fault(fault: impl Fn(usize) -> Fault, check: impl Fn(&Disk, Kind, Step, Fault, &Plain)) {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        for step in STEPS.iter().filter(|step| **step != Step::Reopen) {
            for number in 0..60 {
                let (disk, old) = prepared(kind);
                disk.inject(Some(fault(number)));
                check(&disk, kind, *step, fault(number), &old);
                let (changes, syncs, _) = disk.counted();
                let counted = if matches!(fault(0), Fault::SyncFails(_)) { syncs } else { changes };
                if counted <= number {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_full_disk_leaves_the_old_state_and_can_be_tried_again() {
    let faults = [Fault::NoSpace, Fault::NoSpaceFrom, Fault::ShortWrite];
    for fault in faults {
        every_fault(fault, |disk, kind, step, fault, old| {
            let dir = disk.root();
            let (failed, new) = attempt(&dir, kind, step, old);
            disk.inject(None);
            let found = read(dir.clone(), kind).unwrap();
            let told = format!("{kind:?} {step:?} {fault:?} {failed}");
            assert!(found == new || (failed && found == *old), "{told}");
            // Space was made.
            if found != new {
                let (failed, new) = attempt(&dir, kind, step, old);
                assert!(!failed && read(dir, kind).unwrap() == new, "{told}");
            }
        });
    }
}

#[test]
fn after_a_failed_sync_nothing_can_be_committed_and_either_state_stays() {
    let all = std::cell::RefCell::new(Findings::default());
    every_fault(Fault::SyncFails, |disk, kind, step, fault, old| {
        let before = disk.history().len();
        let mut new = old.clone();
        let mut frame = edit(&disk.root(), kind).unwrap();
        let changed = change(step, 9, &mut frame, &mut new).and_then(|()| frame.commit());
        let told = format!("{kind:?} {step:?} {fault:?}");
        if changed.is_err() {
            for step in [Step::Append(10), Step::SetValue, Step::Compact] {
                let mut ignored = new.clone();
                let again = change(step, 3, &mut frame, &mut ignored).and_then(|()| frame.commit());
                assert!(again.is_err(), "{told}: {step:?} was committed");
            }
        }
        drop(frame);
        let states = [old.clone(), new];
        let effort = Effort::new(16, 1).from(before);
        let found = explore(&disk.history(), &states, effort, |dir| read(dir, kind), |_, _| {});
        let worst = found.bad.first();
        assert!(worst.is_none(), "{told}: {worst:?}");
        all.borrow_mut().join(found);
    });
    all.borrow().must_be_good("failed syncs", 500);
}

#[test]
fn a_writer_that_opens_again_after_a_failed_sync_loses_nothing() {
    every_fault(Fault::SyncFails, |disk, kind, step, fault, old| {
        let (failed, new) = attempt(&disk.root(), kind, step, old);
        disk.inject(None);
        let found = read(disk.root(), kind).unwrap();
        assert!(found == new || (failed && found == *old), "{kind:?} {step:?} {fault:?}");
        let mut next = found.clone();
        let mut frame = edit(&disk.root(), kind).unwrap();
        change(Step::Append(3000), 4, &mut frame, &mut next).unwrap();
        frame.commit().unwrap();
        disk.reached(0);
        // From here on only this state counts.
        let history = disk.history();
        let effort = Effort::new(8, 2).from(history.len() - 1);
        let end = explore(&history, &[next], effort, |dir| read(dir, kind), |_, _| {});
        assert!(end.bad.is_empty(), "{kind:?} {step:?} {fault:?}: {:?}", end.bad.first());
    });
}

#[test]
fn a_flipped_bit_is_an_error_or_without_effect() {
    for kind in [Kind::Contiguous, Kind::Sparse] {
        let (disk, plain) = prepared(kind);
        disk.inject(None);
        read(disk.root(), kind).unwrap();
        let (_, _, reads) = disk.counted();
        let expected = (&plain.bytes, &plain.values);
        let (mut errors, mut harmless) = (0, 0);
        for number in 0..reads {
            for bit in (0..1200).map(|i| i * 23 + number) {
                disk.inject(Some(Fault::FlippedBit { read: number, bit }));
                match read(disk.root(), kind) {
                    // C-Blosc2 changes metalayers without a word, so that nothing can vouch for them.
                    Ok(found) if (&found.bytes, &found.values) == expected => harmless += 1,
                    Ok(_) => panic!("{kind:?}: bit {bit} of read {number} changes the data"),
                    Err(_) => errors += 1,
                }
            }
        }
        assert!(errors > 300, "{kind:?}: {errors} errors, {harmless} harmless");
    }
}
