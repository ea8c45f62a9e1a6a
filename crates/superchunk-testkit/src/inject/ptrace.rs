//! The requests of `ptrace`, and waiting for traced threads.
//!
//! Requests to a thread that is not stopped fail with `ESRCH`. They never touch memory of this
//! process except for the buffers given here.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use libc::{c_int, c_void, pid_t, user_regs_struct};

/// Follow all threads and children, stop at filtered calls, and kill all when the tracer ends.
const OPTIONS: c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_EXITKILL;

/// The stop signal of system call stops (option `TRACESYSGOOD`).
const SYSCALL_STOP_SIGNAL: c_int = libc::SIGTRAP | 0x80;

/// What happened to a traced thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It ended, with this status of `waitpid`. Every other change is a stop.
    Ended(c_int),
    /// It is about to make a system call that the filter reports.
    FilteredCall,
    /// It enters or leaves a system call.
    SyscallStop,
    /// It started another program.
    Exec,
    /// It created a thread or a process.
    Event,
    /// It is about to receive this signal, or was stopped by it together with its process.
    Signal(c_int),
}

/// Where a resumed thread stops next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStop {
    /// At the next signal, event or filtered call.
    FilteredCall,
    /// At these, and when it enters or leaves a system call.
    Syscall,
}

/// Makes the calling process a tracee of the thread that created it. Async-signal-safe.
pub(super) fn trace_me() -> io::Result<()> {
    // SAFETY: the request ignores all other arguments.
    let result = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, null_mut::<c_void>(), 0) };
    check(result)
}

/// Sets the options of a stopped tracee; its future threads and children inherit them.
pub(super) fn set_options(pid: pid_t) -> io::Result<()> {
    let none = null_mut::<c_void>();
    // SAFETY: the request takes its options by value and writes nothing.
    check(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, none, usize_of(OPTIONS)) })
}

/// Resumes a stopped tracee, which receives this signal unless it is 0.
pub(super) fn resume(pid: pid_t, next_stop: NextStop, signal: c_int) -> io::Result<()> {
    let request = match next_stop {
        NextStop::FilteredCall => libc::PTRACE_CONT,
        NextStop::Syscall => libc::PTRACE_SYSCALL,
    };
    // SAFETY: both requests take the signal by value and write nothing.
    check(unsafe { libc::ptrace(request, pid, null_mut::<c_void>(), usize_of(signal)) })
}

/// Returns the registers of a stopped tracee.
pub(super) fn registers(pid: pid_t) -> io::Result<user_regs_struct> {
    let mut registers = MaybeUninit::<user_regs_struct>::zeroed();
    let none = null_mut::<c_void>();
    // SAFETY: the request writes one `user_regs_struct` to its last argument, which is that large.
    check(unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, none, registers.as_mut_ptr()) })?;
    // SAFETY: the structure has integer fields only and was filled with zeros or by the kernel.
    Ok(unsafe { registers.assume_init() })
}

/// Replaces the registers of a stopped tracee.
pub(super) fn set_registers(pid: pid_t, registers: &user_regs_struct) -> io::Result<()> {
    let none = null_mut::<c_void>();
    // SAFETY: the request reads one `user_regs_struct` from its last argument, a live reference.
    check(unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, none, &raw const *registers) })
}

/// Returns the thread id that the thread had before it started another program.
pub(super) fn id_before_exec(pid: pid_t) -> io::Result<pid_t> {
    let mut message: libc::c_ulong = 0;
    let none = null_mut::<c_void>();
    // SAFETY: the request writes one `unsigned long` to its last argument, which is alive.
    check(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, none, &raw mut message) })?;
    pid_t::try_from(message).map_err(io::Error::other)
}

/// Kills the process that a thread belongs to. A process that has ended already is not an error.
pub(super) fn kill(pid: pid_t) -> io::Result<()> {
    send(pid, libc::SIGKILL)
}

/// Sends a signal to a process, unless it has ended.
pub(super) fn send(pid: pid_t, signal: c_int) -> io::Result<()> {
    // SAFETY: `kill` does not access memory.
    unless_gone(check(unsafe { libc::kill(pid, signal) }.into()))
}

/// Waits until something happens to this tracee or, with -1, to any tracee of the calling thread.
/// Returns `None` when there is none left. Children of other threads are not waited for.
pub(super) fn wait(pid: pid_t) -> io::Result<Option<(pid_t, Change)>> {
    let mut status = 0;
    loop {
        let flags = libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: `status` is a live integer for the duration of the call.
        let changed = unsafe { libc::waitpid(pid, &raw mut status, flags) };
        if changed != -1 {
            return Ok(Some((changed, change(status))));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(error),
        }
    }
}

/// Decodes a status of `waitpid`.
fn change(status: c_int) -> Change {
    if !libc::WIFSTOPPED(status) {
        return Change::Ended(status);
    }
    match (status >> 16, libc::WSTOPSIG(status)) {
        (0, SYSCALL_STOP_SIGNAL) => Change::SyscallStop,
        (0, signal) => Change::Signal(signal),
        (libc::PTRACE_EVENT_SECCOMP, _) => Change::FilteredCall,
        (libc::PTRACE_EVENT_EXEC, _) => Change::Exec,
        _ => Change::Event,
    }
}

/// Opens the memory of a tracee, whose file offsets are its addresses.
pub(super) fn memory(pid: pid_t) -> io::Result<File> {
    File::options().read(true).write(true).open(format!("/proc/{pid}/mem"))
}

/// Turns the error of a tracee that was killed in the meantime into success: `wait` reports its
/// end.
pub(super) fn unless_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        result => result,
    }
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Widens a number that is not negative to the width in which `ptrace` reads it.
fn usize_of(number: c_int) -> usize {
    usize::try_from(number).unwrap_or(0)
}
