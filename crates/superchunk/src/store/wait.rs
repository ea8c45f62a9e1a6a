//! Waiting for another writer, and repeating what it has spoiled, for a limited time.

use std::time::{Duration, Instant};

use crate::error::{ErrorKind, Result};

/// The first and the longest pause between two attempts.
const FIRST_PAUSE: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Repeats `attempt` while it fails with [`ErrorKind::Locked`], until `wait` has passed.
pub(crate) fn patiently<T>(wait: Duration, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let (mut start, mut pause) = (None, FIRST_PAUSE);
    loop {
        let error = match attempt() {
            Err(error) if error.kind() == ErrorKind::Locked && !wait.is_zero() => error,
            settled => return settled,
        };
        // The clock is read only here: some systems have none, but no locks either.
        let passed = start.get_or_insert_with(Instant::now).elapsed();
        let Some(left) = wait.checked_sub(passed).filter(|left| !left.is_zero()) else {
            return Err(error);
        };
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// How long a reader waits for the end of a commit: at least, and where nothing is said.
const SHORTEST_COMMIT: Duration = Duration::from_millis(500);
const LONGEST_COMMIT: Duration = Duration::from_secs(10);
/// The pause between two attempts of a reader.
const READER_PAUSE: Duration = Duration::from_millis(1);

/// Repeats `attempt` while it fails with [`ErrorKind::Changed`], until `wait` has passed: a writer
/// may be preempted in the middle of its commit.
pub(crate) fn again_if_changed<T>(
    wait: Option<Duration>,
    mut attempt: impl FnMut() -> Result<T>,
) -> Result<T> {
    let (wait, mut start) = (wait.unwrap_or(LONGEST_COMMIT).max(SHORTEST_COMMIT), None);
    loop {
        match attempt() {
            // Elsewhere there are no other writers, and may be no clock.
            Err(error) if error.kind() == ErrorKind::Changed && cfg!(any(unix, windows)) => {
                if start.get_or_insert_with(Instant::now).elapsed() >= wait {
                    return Err(error);
                }
                std::thread::sleep(READER_PAUSE);
            }
            settled => return settled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_reader_waits_as_long_as_it_is_told_and_half_a_second_at_least() {
        for wait in [None, Some(Duration::ZERO), Some(Duration::from_secs(600))] {
            let mut attempts = 0;
            let read = again_if_changed(wait, || {
                attempts += 1;
                match attempts {
                    // So many pauses take longer than half a second.
                    700 => Ok(()),
                    _ => Err(Error::new(ErrorKind::Changed, "a writer is at work")),
                }
            });
            assert_eq!(read.is_ok(), wait != Some(Duration::ZERO), "{wait:?}");
        }
    }

    #[test]
    fn only_locks_are_waited_for_and_not_for_ever() {
        let mut attempts = 0;
        let mut third = |kind: ErrorKind, wait: Duration| {
            attempts = 0;
            patiently(wait, || {
                attempts += 1;
                if attempts == 3 { Ok(attempts) } else { Err(Error::new(kind, "no")) }
            })
            .map_err(|error| error.kind())
        };
        let long = Duration::from_secs(600);
        assert_eq!(third(ErrorKind::Locked, long), Ok(3));
        assert_eq!(third(ErrorKind::Io, long), Err(ErrorKind::Io));
        assert_eq!(third(ErrorKind::Locked, Duration::ZERO), Err(ErrorKind::Locked));
        let never = || Err::<(), _>(Error::locked("no"));
        let error = patiently(Duration::from_millis(2), never).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
    }
}
