//! Any sequence of changes of a super-chunk, beside a plain list of vectors.

use superchunk_testkit::model::{Choose as _, Place, Run};

use crate::input::Input;

/// The most changes of one run.
const STEPS: usize = 40;

/// The first byte says where the super-chunk lives, the next ones its options, all others what happens to it.
pub(crate) fn frame_file_ops(input: &[u8]) {
    let mut input = Input::new(input);
    let place = input.one_of(Place::Contiguous, &[Place::Sparse, Place::Heap]);
    let checks = input.below(3);
    let mut run = Run::new(place, input);
    for step in 0..STEPS {
        if run.choice().is_empty() {
            break;
        }
        run.step();
        if checks == 0 || step % 4 == 0 {
            run.check();
        }
    }
    run.check();
}
