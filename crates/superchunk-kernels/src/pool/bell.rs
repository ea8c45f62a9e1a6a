//! When to wake a sleeping helper.
//!
//! Waking a thread takes the one that rings some microseconds, as long as a small chunk takes to
//! decode. A helper that is still awake joins by itself and needs no bell. So the bell stays silent at
//! first if the jobs before this one say that the helper would come too late, and it rings after all
//! when this job turns out longer. In a loop of jobs a woken helper stays awake for the next ones, so
//! there shorter jobs are worth a ring.

use core::sync::atomic::Ordering;
use core::time::Duration;

use super::crew::Seat;
use super::spin::PATIENCE;
use super::sync::{AtomicU64, AtomicUsize, Instant};

/// How much work of one thread must be ahead before a sleeper is woken for it: about twice the time
/// from the ring to the first item of the woken thread.
const WORTH_WAKING: Duration = Duration::from_micros(30);

/// How many jobs a loop is taken to go on for.
const JOBS_AHEAD: u64 = 4;

/// What the last job tells about the next one.
pub(super) struct Pace {
    /// The time from which `last_end` counts.
    origin: Instant,
    /// How long an item took, or 0 if nothing is known.
    nanos_per_item: AtomicU64,
    /// When the job ended.
    last_end: AtomicU64,
}

impl Pace {
    pub(super) fn new() -> Pace {
        let (nanos_per_item, last_end) = (AtomicU64::new(0), AtomicU64::new(0));
        Pace { origin: Instant::now(), nanos_per_item, last_end }
    }

    /// Whether a job of `items` items that begins at `start` is likely over before a woken helper has
    /// been of use.
    fn says_short(&self, items: usize, start: Instant) -> bool {
        let pace = self.nanos_per_item.load(Ordering::Relaxed);
        let last_end = self.origin + Duration::from_nanos(self.last_end.load(Ordering::Relaxed));
        let jobs =
            if start.saturating_duration_since(last_end) < PATIENCE { JOBS_AHEAD } else { 1 };
        let items = u64::try_from(items).unwrap_or(u64::MAX);
        let ahead = pace.saturating_mul(items).saturating_mul(jobs);
        pace != 0 && Duration::from_nanos(ahead) < WORTH_WAKING
    }

    /// Notes that the caller did `items` items between `start` and `end`.
    pub(super) fn note(&self, start: Instant, end: Instant, items: usize) {
        let items = u64::try_from(items).unwrap_or(u64::MAX);
        if let Some(pace) = nanos(start, end).checked_div(items) {
            self.nanos_per_item.store(pace.max(1), Ordering::Relaxed);
        }
        self.last_end.store(nanos(self.origin, end), Ordering::Relaxed);
    }
}

fn nanos(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.saturating_duration_since(from).as_nanos()).unwrap_or(u64::MAX)
}

/// Wakes the helpers of one job, one at a ring.
pub(super) struct Bell<'a> {
    seats: &'a [&'a Seat],
    rung: AtomicUsize,
    silent_until: Option<Instant>,
}

impl<'a> Bell<'a> {
    /// A bell for a job of `items` items that begins at `start` and is offered to `seats`.
    pub(super) fn new(
        seats: &'a [&'a Seat],
        pace: &Pace,
        items: usize,
        start: Instant,
    ) -> Bell<'a> {
        let silent_until = pace.says_short(items, start).then(|| start + WORTH_WAKING);
        Bell { seats, rung: AtomicUsize::new(0), silent_until }
    }

    /// Wakes the next helper that has not joined by itself.
    pub(super) fn ring(&self) {
        while self.rung.load(Ordering::Relaxed) < self.seats.len() {
            if self.silent_until.is_some_and(|end| Instant::now() < end) {
                return;
            }
            let next = self.rung.fetch_add(1, Ordering::Relaxed);
            let Some(seat) = self.seats.get(next) else { return };
            if seat.is_expected() {
                return seat.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_tells_short_jobs_from_long_ones() {
        let pace = Pace::new();
        let origin = pace.origin;
        let at = |micros| origin + Duration::from_micros(micros);
        assert!(!pace.says_short(1, at(0)), "nothing is known yet");
        pace.note(at(0), at(1), 0);
        assert!(!pace.says_short(1, at(100)), "no item was timed");
        // Two microseconds an item; the job ends at 20.
        pace.note(at(0), at(20), 10);
        assert!(pace.says_short(8, at(100)));
        assert!(!pace.says_short(100, at(100)));
        assert!(!pace.says_short(usize::MAX, at(100)));
        assert!(!pace.says_short(8, at(25)), "part of a loop");
        assert!(pace.says_short(2, at(25)), "too short even in a loop");
    }
}
