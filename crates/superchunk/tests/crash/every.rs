//! Every change of every container: cut off, out of space, interrupted, with failing syncs and flipped bits.

use superchunk_testkit::crash::{Disk, Effort, Fault, Findings, explore, seeds};

use crate::subjects::{SUBJECTS, State, Subject, WORKS_ON};

impl Subject {
    /// A disk with the container on it.
    fn prepared(&self) -> Disk {
        let disk = Disk::new();
        (self.create)(&disk.root());
        disk.reached(0);
        disk
    }

    /// Whether a step only makes files that are new, one of which takes the place of another: what a failed
    /// sync has lost is in none of them, so that it can be tried again.
    fn is_anew(&self, step: usize) -> bool {
        match self.name {
            "bcolz arrays" => (4..6).contains(&step),
            "bcolz tables" => (4..8).contains(&step),
            _ => false,
        }
    }

    /// What it holds, and what it holds after one change, when nothing goes wrong.
    fn old_and_new(&self, step: usize) -> (State, State) {
        let disk = self.prepared();
        let old = (self.read)(disk.root()).unwrap();
        (self.change)(&disk.root(), step, false).unwrap();
        (old, (self.read)(disk.root()).unwrap())
    }

    /// Every step, with the fault at one operation after another until it comes no more.
    fn every_fault(
        &self,
        fault: impl Fn(usize) -> Fault,
        check: impl Fn(&Disk, usize, &State, &State, &str),
    ) {
        for step in 0..self.steps {
            let (old, new) = self.old_and_new(step);
            assert!(old != new, "{}, step {step} changes nothing", self.name);
            for number in 0..400 {
                let disk = self.prepared();
                disk.inject(Some(fault(number)));
                let told = format!("{}, step {step}, {:?}", self.name, fault(number));
                check(&disk, step, &old, &new, &told);
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
fn every_change_of_every_container_is_whole_or_nothing() {
    for subject in SUBJECTS {
        let mut all = Findings::default();
        for seed in seeds(2) {
            let disk = subject.prepared();
            let before = disk.history().len();
            let mut states = vec![(subject.read)(disk.root()).unwrap()];
            for step in 0..subject.steps {
                (subject.change)(&disk.root(), step, false).unwrap();
                disk.reached(states.len());
                states.push((subject.read)(disk.root()).unwrap());
            }
            let effort = Effort::new(40, seed).from(before);
            all.join(explore(&disk.history(), &states, effort, subject.read, |_, _| {}));
        }
        all.must_be_good(&format!("every change of {}", subject.name), 80);
    }
}

#[test]
fn a_full_disk_and_a_signal_leave_the_old_state_and_it_can_be_tried_again() {
    for subject in SUBJECTS {
        for fault in [Fault::NoSpace, Fault::NoSpaceFrom, Fault::ShortWrite, Fault::Interrupted] {
            subject.every_fault(fault, |disk, step, old, new, told| {
                let failed = (subject.change)(&disk.root(), step, false).is_err();
                disk.inject(None);
                let found = (subject.read)(disk.root()).unwrap();
                assert!(found == *new || (failed && found == *old), "{told}, failed: {failed}");
                if found != *new {
                    (subject.change)(&disk.root(), step, false).unwrap();
                    assert!((subject.read)(disk.root()).unwrap() == *new, "{told}, again");
                }
            });
        }
    }
}

#[test]
fn after_a_failed_sync_a_handle_is_done_for_and_either_state_stays() {
    for subject in SUBJECTS {
        subject.every_fault(Fault::SyncFails, |disk, step, old, new, told| {
            let before = disk.history().len();
            let changed = (subject.change)(&disk.root(), step, true);
            let works_on = changed.is_err_and(|error| error.message() == WORKS_ON);
            assert!(!works_on || subject.is_anew(step), "{told}: the handle works on");
            let states = [old.clone(), new.clone()];
            let effort = Effort::new(8, 1).from(before);
            let found = explore(&disk.history(), &states, effort, subject.read, |_, _| {});
            assert!(found.bad.is_empty(), "{told}: {:?}", found.bad.first());
        });
    }
}

#[test]
fn a_flipped_bit_never_does_more_than_change_what_nothing_vouches_for() {
    for subject in SUBJECTS {
        let disk = subject.prepared();
        let expected = (subject.read)(disk.root()).unwrap();
        disk.inject(None);
        (subject.read)(disk.root()).unwrap();
        let (_, _, reads) = disk.counted();
        let mut errors = 0;
        for number in 0..reads {
            for bit in (0..200).map(|i| i * 23 + number) {
                disk.inject(Some(Fault::FlippedBit { read: number, bit }));
                match (subject.read)(disk.root()) {
                    // A panic, or bytes that digests should have told of, fail this test.
                    Ok(found) => {
                        let same = found.first() == expected.first();
                        assert!(same || !subject.has_digests, "{}: bit {bit}", subject.name);
                    }
                    Err(_) => errors += 1,
                }
            }
        }
        assert!(errors > 20, "{}: {errors} errors", subject.name);
    }
}
