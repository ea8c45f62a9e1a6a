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

/// The number of times that a reader starts again, a pause of a millisecond apart, while writers
/// are at work.
const RESTARTS: usize = 500;

/// Repeats `attempt` while it fails with [`ErrorKind::Changed`], for about half a second.
pub(crate) fn again_if_changed<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..RESTARTS {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::Changed => pause(),
            settled => return settled,
        }
    }
    attempt()
}

/// Lets a writer come to the end of its commit.
fn pause() {
    #[cfg(any(unix, windows))]
    std::thread::sleep(Duration::from_millis(1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

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
