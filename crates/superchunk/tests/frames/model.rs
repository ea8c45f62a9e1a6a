//! Random sequences of changes, compared with a plain list of byte vectors after every step.

use superchunk_testkit::model::{Place, Run};
use superchunk_testkit::rng::Rng;

fn run(place: Place, seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds {
        let mut run = Run::new(place, Rng::new(seed));
        let mut told = Vec::new();
        for _ in 0..steps {
            told.push(run.step());
            let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.check()));
            assert!(checked.is_ok(), "{place:?}, seed {seed}, after {told:?}");
        }
    }
}

#[test]
fn memory_equals_the_model() {
    run(Place::Heap, 0..150, 60);
}

#[test]
fn contiguous_frames_equal_the_model() {
    run(Place::Contiguous, 0..150, 60);
}

#[test]
fn sparse_frames_equal_the_model() {
    run(Place::Sparse, 0..150, 60);
}
