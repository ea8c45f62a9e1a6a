//! Decides what happens to each counted call.

use super::entered::EnteredCall;
use super::{Call, Fault};

/// What the tracer does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing: the call is carried out.
    Proceed,
    /// The call fails with this error number.
    Fail(i32),
    /// The first half of the write is carried out.
    Halve,
    /// The program gets this signal, and the call is carried out.
    Signal(i32),
    /// The program is killed before the call.
    KillBefore,
    /// The program is killed after the call.
    KillAfter,
    /// The program is killed after the first half of the write.
    KillAfterHalf,
}

/// The calls so far, and the fault that is to come.
#[derive(Debug, Default)]
pub(super) struct Plan {
    fault: Option<(usize, Fault)>,
    /// The error number of the next call, after a short write.
    next_error: Option<i32>,
    /// The calls so far.
    pub(super) calls: Vec<Call>,
    /// Whether any call was changed.
    pub(super) is_injected: bool,
}

impl Plan {
    /// Plans a fault at the call with this number.
    pub(super) fn new(fault: Option<(usize, Fault)>) -> Self {
        Self { fault, ..Self::default() }
    }

    /// Counts a call and decides what happens to it.
    pub(super) fn decide(&mut self, call: &EnteredCall) -> Action {
        let number = self.calls.len();
        self.calls.push(call.describe());
        let action = match (self.next_error.take(), self.fault) {
            (Some(errno), _) => Action::Fail(errno),
            (None, Some((chosen, fault))) if number == chosen => self.apply(fault, call),
            (None, Some((chosen, Fault::FromThenOn(errno))))
                if number > chosen && call.needs_disk(errno) =>
            {
                Action::Fail(errno)
            }
            _ => Action::Proceed,
        };
        self.is_injected |= action != Action::Proceed;
        action
    }

    /// Decides what happens to the chosen call.
    fn apply(&mut self, fault: Fault, call: &EnteredCall) -> Action {
        match fault {
            Fault::KillBefore => Action::KillBefore,
            Fault::KillInside if call.can_be_halved() => Action::KillAfterHalf,
            // The first half of a write of one byte is empty.
            Fault::KillInside if call.is_write() => Action::KillBefore,
            Fault::KillInside => Action::KillAfter,
            Fault::Once(errno) => Action::Fail(errno),
            Fault::FromThenOn(errno) if call.needs_disk(errno) => Action::Fail(errno),
            Fault::ShortThen(errno) if !call.is_write() => Action::Fail(errno),
            Fault::ShortThen(_) | Fault::Short => {
                if let Fault::ShortThen(errno) = fault {
                    self.next_error = Some(errno);
                }
                if call.can_be_halved() { Action::Halve } else { Action::Proceed }
            }
            Fault::FromThenOn(_) => Action::Proceed,
            Fault::Signal(signal) => Action::Signal(signal),
        }
    }
}
