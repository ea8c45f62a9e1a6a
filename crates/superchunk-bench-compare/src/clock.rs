//! Which time counts: that of the wall, or only what this thread spent on a processor.
//!
//! On a machine with other work the second is the honest one, but it does not see worker threads, and
//! asking for it is a system call: for one thread and pieces of many microseconds.

#![expect(unsafe_code, reason = "the processor time of a thread is told by a C function only")]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A clock to measure with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Wall,
    /// Processor time of this thread, where the system tells it; else as `Wall`.
    Thread,
}

impl Clock {
    /// The right clock for work on this many threads.
    pub(crate) fn of(threads: usize) -> Self {
        if threads > 1 { Self::Wall } else { Self::Thread }
    }

    /// Seconds that `work` takes.
    pub(crate) fn time<T>(self, work: impl FnOnce() -> T) -> (T, f64) {
        let begin = self.now();
        let result = work();
        (result, self.now().saturating_sub(begin).as_secs_f64())
    }

    fn now(self) -> Duration {
        let thread = if self == Self::Thread { thread_time() } else { None };
        thread.unwrap_or_else(|| START.elapsed())
    }
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

#[cfg(unix)]
fn thread_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live structure of the type that the function fills.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    (code == 0).then(|| Duration::new(seconds, nanoseconds))
}

#[cfg(not(unix))]
fn thread_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_time_passes_with_work_and_is_no_more_than_wall_time() {
        let busy =
            || (0..3_000_000u64).fold(1u64, |a, n| std::hint::black_box(a.wrapping_mul(n | 1)));
        let ((_, inner), outer) = Clock::Wall.time(|| Clock::Thread.time(busy));
        assert!(inner > 0.0 && inner <= outer, "{inner} {outer}");
    }
}
