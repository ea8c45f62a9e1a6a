//! Waiting awake for a short while.

use core::hint;
use core::time::Duration;

use super::sync::{Instant, thread};

/// How long to stay awake: about what it costs to put a thread to sleep and wake it up again.
pub(super) const PATIENCE: Duration = Duration::from_micros(15);

/// After this time the processor is offered to other threads between looks, since the one that is
/// waited for may be waiting for this very processor. Not earlier: the offer is a system call.
const COURTESY: Duration = Duration::from_micros(2);

/// The clock is read once in this many turns: reading it costs more than a turn.
const TURNS_PER_LOOK: u32 = 16;

/// A bounded spin. The bound is time, because the length of the processor's pause instruction differs
/// tenfold between models.
pub(super) struct Spin {
    start: Option<Instant>,
    turns: u32,
}

impl Spin {
    pub(super) const fn new() -> Spin {
        Spin { start: None, turns: 0 }
    }

    /// Pauses for a moment. `false` says that the time is up.
    pub(super) fn turn(&mut self) -> bool {
        if cfg!(all(test, loom)) {
            return false;
        }
        hint::spin_loop();
        self.turns = self.turns.wrapping_add(1);
        if !self.turns.is_multiple_of(TURNS_PER_LOOK) {
            return true;
        }
        let waited = self.start.get_or_insert_with(Instant::now).elapsed();
        if waited >= COURTESY {
            thread::yield_now();
        }
        waited < PATIENCE
    }
}
