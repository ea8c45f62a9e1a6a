//! Starts a command as a tracee and follows it to its end.

use std::collections::HashMap;
use std::io::{self, Read};
use std::mem;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};

use libc::{c_int, pid_t};

use super::entered::{EnteredCall, Undo};
use super::plan::{Action, Plan};
use super::ptrace::{self, Change, NextStop};
use super::{Ended, Fault, filter};

/// Runs a command and returns how it ended; `before` is called with the number of every counted
/// call before it happens. The calling thread must have no other children.
pub(super) fn run(
    command: &mut Command,
    root: &Path,
    fault: Option<(usize, Fault)>,
    before: &mut dyn FnMut(usize),
) -> io::Result<Ended> {
    let mut child = spawn(command)?;
    let main = pid_t::try_from(child.id()).map_err(io::Error::other)?;
    thread::scope(|scope| {
        let mut tracer = Tracer::new(main, root, Plan::new(fault), before);
        let stdout = drain(scope, child.stdout.take())?;
        let stderr = drain(scope, child.stderr.take())?;
        let status = tracer.follow()?;
        let plan = mem::take(&mut tracer.plan);
        // This ends all processes that are left, and with them the pipes.
        drop(tracer);
        Ok(Ended {
            status,
            stdout: collect(stdout)?,
            stderr: collect(stderr)?,
            calls: plan.calls,
            injected: plan.is_injected,
        })
    })
}

/// Starts the command as a tracee of the calling thread.
fn spawn(command: &mut Command) -> io::Result<Child> {
    // The command keeps the closure for ever, but only this start is traced.
    let is_traced = Arc::new(AtomicBool::new(true));
    let is_traced_in_child = Arc::clone(&is_traced);
    let become_tracee = move || {
        if is_traced_in_child.load(Ordering::Relaxed) {
            permit_filters()?;
            ptrace::trace_me()?;
        }
        Ok(())
    };
    // SAFETY: the closure makes two system calls and neither allocates nor takes locks, so it may
    // run in the child of a process with several threads.
    unsafe { command.pre_exec(become_tracee) };
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    is_traced.store(false, Ordering::Relaxed);
    child
}

/// Gives up the privileges of set-user-ID programs, which the kernel demands before a process
/// without privileges may install a filter. Async-signal-safe.
fn permit_filters() -> io::Result<()> {
    // SAFETY: this option of `prctl` does not access memory.
    match unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

type Drain<'scope> = ScopedJoinHandle<'scope, io::Result<Vec<u8>>>;

/// Starts a thread that reads a pipe to its end.
fn drain<'scope>(
    scope: &'scope Scope<'scope, '_>,
    pipe: Option<impl Read + Send + 'scope>,
) -> io::Result<Drain<'scope>> {
    thread::Builder::new().spawn_scoped(scope, move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    })
}

/// Returns what a thread of [`drain`] read.
fn collect(drain: Drain<'_>) -> io::Result<Vec<u8>> {
    drain.join().unwrap_or_else(|_| Err(io::Error::other("the thread that reads a pipe panicked")))
}

/// What is to be done when a thread leaves the system call it is in.
#[derive(Debug)]
enum AtExit {
    Kill,
    Restore(Undo),
}

/// A thread of the program.
#[derive(Debug, Default)]
struct Tracee {
    /// Whether the `SIGSTOP` with which every new tracee starts has arrived.
    is_started: bool,
    at_exit: Option<AtExit>,
}

/// The threads of the program. Dropping it kills them all.
struct Tracer<'a> {
    main: pid_t,
    root: &'a Path,
    plan: Plan,
    before: &'a mut dyn FnMut(usize),
    tracees: HashMap<pid_t, Tracee>,
    /// Whether a thread is in its last call, after which all are killed. No thread may start
    /// another write-type call.
    is_in_last_call: bool,
    is_killed: bool,
}

impl<'a> Tracer<'a> {
    fn new(main: pid_t, root: &'a Path, plan: Plan, before: &'a mut dyn FnMut(usize)) -> Self {
        let tracees = HashMap::from([(main, Tracee { is_started: true, at_exit: None })]);
        Self { main, root, plan, before, tracees, is_in_last_call: false, is_killed: false }
    }

    /// Follows the program until its main process ends.
    fn follow(&mut self) -> io::Result<ExitStatus> {
        // The first stop is the end of `exec`, unless a signal came before it.
        let first_stop = self.wait_for_main()?;
        ptrace::set_options(self.main)?;
        self.run_main_to_syscall_stop(first_stop)?;
        filter::install(self.main, || self.run_main_to_syscall_stop(Change::SyscallStop))?;
        self.resume(self.main, 0)?;

        while let Some((pid, change)) = ptrace::wait(-1)? {
            match change {
                Change::Ended(status) => {
                    let tracee = self.tracees.remove(&pid);
                    if pid == self.main {
                        return Ok(ExitStatus::from_raw(status));
                    }
                    // Something else killed the thread during its last call.
                    if let Some(Tracee { at_exit: Some(AtExit::Kill), .. }) = tracee {
                        self.kill_all()?;
                    }
                }
                _ if self.is_killed => ptrace::kill(pid)?,
                stop => ptrace::unless_gone(self.handle_stop(pid, stop))?,
            }
        }
        Err(io::Error::other("the traced process was lost"))
    }

    /// Resumes the main thread from a stop until it enters or leaves a system call.
    fn run_main_to_syscall_stop(&mut self, mut stop: Change) -> io::Result<()> {
        loop {
            let signal = match stop {
                // The end of `exec` is reported as this signal, which must not arrive.
                Change::Signal(libc::SIGTRAP) => 0,
                Change::Signal(signal) => signal,
                _ => 0,
            };
            ptrace::resume(self.main, NextStop::Syscall, signal)?;
            stop = self.wait_for_main()?;
            if stop == Change::SyscallStop {
                return Ok(());
            }
        }
    }

    /// Waits for a stop of the main thread, while that is the only thread.
    fn wait_for_main(&mut self) -> io::Result<Change> {
        match ptrace::wait(self.main)? {
            Some((_, stop)) if !matches!(stop, Change::Ended(_)) => Ok(stop),
            _ => {
                self.tracees.remove(&self.main);
                Err(io::Error::other("the program ended before its first system call"))
            }
        }
    }

    /// Handles a stop of a thread and resumes the thread.
    fn handle_stop(&mut self, pid: pid_t, stop: Change) -> io::Result<()> {
        let tracee = self.tracees.entry(pid).or_default();
        let mut signal = 0;
        match stop {
            Change::FilteredCall => return self.handle_call(pid),
            Change::SyscallStop => match tracee.at_exit.take() {
                Some(AtExit::Kill) => return self.kill_all(),
                Some(AtExit::Restore(undo)) => undo.apply(pid)?,
                None => {}
            },
            Change::Exec => {
                // A thread that is not the first one takes over the id of the first one, which is
                // gone with the call it was in.
                if let Some(AtExit::Kill) = tracee.at_exit.take() {
                    return self.kill_all();
                }
                let id_before = ptrace::id_before_exec(pid)?;
                if id_before != pid {
                    self.tracees.remove(&id_before);
                }
            }
            Change::Signal(libc::SIGSTOP) if !tracee.is_started => tracee.is_started = true,
            Change::Signal(other) => signal = other,
            Change::Event | Change::Ended(_) => {}
        }
        self.resume(pid, signal)
    }

    /// Handles a thread that is about to make a write-type call.
    fn handle_call(&mut self, pid: pid_t) -> io::Result<()> {
        let registers = ptrace::registers(pid)?;
        let Some(call) = EnteredCall::read(pid, registers, self.root) else {
            return self.resume(pid, 0);
        };
        if self.is_in_last_call {
            return Ok(());
        }
        (self.before)(self.plan.calls.len());
        let at_exit = match self.plan.decide(&call) {
            Action::Proceed => None,
            Action::Fail(errno) => {
                call.suppress(errno)?;
                None
            }
            Action::Halve => Some(AtExit::Restore(call.halve()?)),
            Action::Signal(signal) => {
                ptrace::send(self.main, signal)?;
                None
            }
            Action::KillBefore => return self.kill_all(),
            Action::KillAfter => Some(AtExit::Kill),
            Action::KillAfterHalf => {
                call.halve()?;
                Some(AtExit::Kill)
            }
        };
        self.is_in_last_call = matches!(at_exit, Some(AtExit::Kill));
        self.tracees.entry(pid).or_default().at_exit = at_exit;
        self.resume(pid, 0)
    }

    /// Resumes a stopped thread, which receives this signal unless it is 0.
    fn resume(&self, pid: pid_t, signal: c_int) -> io::Result<()> {
        let has_more_to_do = self.tracees.get(&pid).is_some_and(|tracee| tracee.at_exit.is_some());
        let next_stop = if has_more_to_do { NextStop::Syscall } else { NextStop::FilteredCall };
        ptrace::resume(pid, next_stop, signal)
    }

    /// Kills all processes of the program; those not known yet are killed when they first stop.
    fn kill_all(&mut self) -> io::Result<()> {
        self.is_killed = true;
        self.tracees.keys().try_for_each(|pid| ptrace::kill(*pid))
    }
}

impl Drop for Tracer<'_> {
    fn drop(&mut self) {
        let _ = self.kill_all();
        while let Ok(Some((pid, change))) = ptrace::wait(-1) {
            if !matches!(change, Change::Ended(_)) {
                let _ = ptrace::kill(pid);
            }
        }
    }
}
