//! Waiting awake for a short while.

use core::hint;
use core::time::Duration;

use super::sync::{Instant, thread};

/// How long to stay awake: about what it costs to put a thread to sleep and wake it up again.
pub(super) const PATIENCE: Duration = Duration::from_micros(15);

/// How long to stay awake for a helper that is at its last item, which takes a while: about what an item takes that was worth
/// sharing. Whoever sleeps is late by the time that it takes to be woken, and nothing else goes on then.
pub(super) const PATIENCE_WITH_LAST: Duration = Duration::from_micros(150);

/// After this time the processor is offered to other threads between looks, since the one that is
/// waited for may be waiting for this very processor. Not earlier: the offer is a system call.
const COURTESY: Duration = Duration::from_micros(2);

/// The clock is read once in this many turns: reading it costs more than a turn.
const TURNS_PER_LOOK: u32 = 16;

/// A bounded spin. The bound is time, because the length of the processor's pause instruction differs
/// tenfold between models.
pub(super) struct Spin {
    patience: Duration,
    start: Option<Instant>,
    turns: u32,
}

impl Spin {
    pub(super) const fn new(patience: Duration) -> Spin {
        Spin { patience, start: None, turns: 0 }
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
        waited < self.patience
    }
}
