//! Work beside the tests: as many computing threads as there are cores, so that the threads of a
//! test are interrupted where they would not be on an idle machine.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle, available_parallelism};

use crate::step::Outcome;

/// Steps of the computation after which a thread checks whether it should stop.
const STEPS_BETWEEN_CHECKS: u32 = 10_000;

/// Keeps every core busy until it is dropped.
pub(super) struct BusyCores {
    should_stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyCores {
    pub(super) fn start() -> Outcome<Self> {
        let cores = available_parallelism().map_or(1, usize::from);
        let mut busy = Self { should_stop: Arc::default(), threads: Vec::new() };
        for core in 0..cores {
            let should_stop = Arc::clone(&busy.should_stop);
            let thread = Builder::new().name(format!("busy {core}"));
            let thread = thread.spawn(move || compute(&should_stop));
            busy.threads.push(thread.map_err(|e| format!("cannot start a thread: {e}"))?);
        }
        Ok(busy)
    }
}

impl Drop for BusyCores {
    fn drop(&mut self) {
        self.should_stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // Its only possible failure is a panic, which has already been printed.
            let _ = thread.join();
        }
    }
}

/// Steps a xorshift generator until `should_stop` is set.
fn compute(should_stop: &AtomicBool) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    while !should_stop.load(Ordering::Relaxed) {
        for _ in 0..STEPS_BETWEEN_CHECKS {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        black_box(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_end_when_dropped() {
        let busy = BusyCores::start().unwrap();
        let should_stop = Arc::clone(&busy.should_stop);
        assert!(Arc::strong_count(&should_stop) > 2);
        drop(busy);
        assert_eq!(Arc::strong_count(&should_stop), 1);
    }
}
