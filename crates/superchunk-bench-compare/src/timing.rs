//! Times of several runners, taken in turns.
//!
//! In every round each runner goes through all pieces once, and the runner that begins changes from
//! round to round. What counts is the fastest time of each piece, summed: a disturbance must hit the
//! same piece of the same runner in every round to be seen.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::contestant::Answer;

/// Rounds that are always run.
const MIN_ROUNDS: usize = 3;
/// Rounds that are enough, however short they are.
const MAX_ROUNDS: usize = 200;
/// Destinations rotate over this many bytes, so that they are not in the processor's caches: with as many as the last cache has, they are
/// there whenever nobody else uses it.
const RING_BYTES: usize = 128 << 20;

/// Seconds that each of `runners` needs for all `pieces`; `work` gets the runner, its number and the
/// number of the piece.
pub(crate) fn race<R>(
    runners: &mut [R],
    pieces: usize,
    budget: Duration,
    clock: Clock,
    mut work: impl FnMut(&mut R, usize, usize) -> Answer<()>,
) -> Answer<Vec<f64>> {
    let mut fastest = vec![vec![f64::INFINITY; pieces]; runners.len()];
    let start = Instant::now();
    for round in 0..MAX_ROUNDS {
        if round >= MIN_ROUNDS && start.elapsed() > budget {
            break;
        }
        for turn in 0..runners.len() {
            let who = (turn + round) % runners.len();
            let (Some(runner), Some(times)) = (runners.get_mut(who), fastest.get_mut(who)) else {
                continue;
            };
            for (piece, time) in times.iter_mut().enumerate() {
                let (result, seconds) = clock.time(|| work(runner, who, piece));
                result?;
                *time = faster(*time, seconds);
            }
        }
    }
    Ok(fastest.iter().map(|times| times.iter().sum()).collect())
}

/// The shorter of two times. No work takes none at all: there the clock of the thread stood still, as virtual machines sometimes have it.
fn faster(fastest: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { fastest.min(seconds) } else { fastest }
}

/// Buffers used in turn.
pub(crate) struct Ring {
    buffers: Vec<Vec<u8>>,
    next: usize,
}

impl Ring {
    /// Buffers of `len` bytes, already touched, that together are larger than the caches.
    pub(crate) fn new(len: usize) -> Self {
        let count = RING_BYTES.div_ceil(len.max(1)).clamp(2, 1 << 10);
        Self { buffers: (0..count).map(|_| vec![1; len]).collect(), next: 0 }
    }

    /// The buffer that was used longest ago.
    pub(crate) fn turn(&mut self) -> Answer<&mut Vec<u8>> {
        self.next = (self.next + 1) % self.buffers.len().max(1);
        self.buffers.get_mut(self.next).ok_or_else(|| "the ring is empty".to_owned())
    }
}

/// Seconds of a plain copy of all pieces to rotating destinations.
pub(crate) fn copy_seconds(pieces: &[&[u8]], ring: &mut Ring) -> Answer<f64> {
    let budget = Duration::from_millis(10);
    let times = race(&mut [()], pieces.len(), budget, Clock::Thread, |(), _, piece| {
        let source = pieces.get(piece).copied().unwrap_or_default();
        let target = ring.turn()?;
        let target = target.get_mut(..source.len()).ok_or("the ring is too small")?;
        target.copy_from_slice(source);
        black_box(target);
        Ok(())
    })?;
    Ok(times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runner_sees_every_piece_and_the_first_place_rotates() {
        let mut log = Vec::new();
        let mut runners = ["a", "b"];
        let times = race(&mut runners, 3, Duration::ZERO, Clock::Wall, |name, who, piece| {
            log.push((*name, who, piece));
            Ok(())
        });
        assert_eq!(times.unwrap().len(), 2);
        let first: Vec<_> = log.iter().step_by(6).map(|entry| entry.0).collect();
        assert_eq!(first, ["a", "b", "a"]);
        assert_eq!(log.len(), MIN_ROUNDS * 2 * 3);
        assert!(log.contains(&("b", 1, 2)));
    }

    #[test]
    fn a_clock_that_stood_still_is_not_believed() {
        assert!(faster(2.0, 0.0) == 2.0 && faster(2.0, 1.0) == 1.0 && faster(2.0, 3.0) == 2.0);
    }

    #[test]
    fn the_ring_comes_round_after_all_buffers() {
        let mut ring = Ring::new(64 << 20);
        let first = ring.turn().unwrap().as_ptr();
        assert_ne!(ring.turn().unwrap().as_ptr(), first);
        assert_eq!(ring.turn().unwrap().as_ptr(), first);
    }
}
