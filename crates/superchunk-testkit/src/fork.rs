//! Runs a check in a forked child, the way `multiprocessing` of Python starts its workers.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A child that takes longer has hung. Generous: the machine may be busy with other tests.
const SECONDS_UNTIL_HUNG: libc::c_uint = 600;

/// How a forked child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The check held.
    Passed,
    /// The check did not hold, or panicked.
    Failed,
    /// The child did not end by itself within a minute.
    Hung,
    /// The child was ended by this signal.
    Killed(i32),
    /// There is no child: the system refused to start one, or lost it.
    Lost,
}

/// Forks this process, runs `check` in the child and says how that went.
///
/// As after any `fork()`, the child has one thread, and locks that other threads of the parent held
/// stay locked in it for ever. `check` should say `false` rather than panic, for the panic message
/// needs such locks; that would be reported as [`Outcome::Hung`].
pub fn in_child(check: impl FnOnce() -> bool) -> Outcome {
    // SAFETY: `fork` has no preconditions on memory. The child runs only the code below and leaves
    // through `_exit`, so neither the test harness nor any destructor of the parent runs twice.
    match unsafe { libc::fork() } {
        -1 => Outcome::Lost,
        0 => run_and_exit(check),
        child => wait(child),
    }
}

/// The whole life of the child.
fn run_and_exit(check: impl FnOnce() -> bool) -> ! {
    // SAFETY: both are plain system calls. An alarm that is not caught ends the process.
    unsafe {
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
        libc::alarm(SECONDS_UNTIL_HUNG);
    }
    let passed = catch_unwind(AssertUnwindSafe(check)).unwrap_or(false);
    // SAFETY: `_exit` ends the process at once.
    unsafe { libc::_exit(i32::from(!passed)) }
}

/// Waits for the child; its alarm bounds the wait.
fn wait(child: libc::pid_t) -> Outcome {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a live integer for the length of the call.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if waited == child {
            break;
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return Outcome::Lost;
        }
    }
    if libc::WIFSIGNALED(status) {
        return match libc::WTERMSIG(status) {
            libc::SIGALRM => Outcome::Hung,
            signal => Outcome::Killed(signal),
        };
    }
    if libc::WEXITSTATUS(status) == 0 { Outcome::Passed } else { Outcome::Failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_told_apart() {
        assert_eq!(in_child(|| true), Outcome::Passed);
        assert_eq!(in_child(|| false), Outcome::Failed);
        // SAFETY: a process may send itself a signal.
        assert_eq!(in_child(|| unsafe { libc::raise(libc::SIGKILL) } != 0), Outcome::Killed(9));
        // SAFETY: as above; the alarm rings before its time.
        assert_eq!(in_child(|| unsafe { libc::raise(libc::SIGALRM) } != 0), Outcome::Hung);
    }

    #[test]
    fn the_child_has_its_own_memory() {
        let mut value = 1;
        assert_eq!(
            in_child(|| {
                value = 2;
                value == 2
            }),
            Outcome::Passed
        );
        assert_eq!(value, 1);
    }
}
