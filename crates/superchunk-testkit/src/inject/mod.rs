//! Runs a program and makes one of its write-type system calls go wrong.
//!
//! [`run`] traces a command with `ptrace`, with all its threads and child processes, and counts the
//! system calls that change files below a root folder. At the call with a given number it applies a
//! [`Fault`]: the program is killed, the call fails with an error, or a write stops half-way. A
//! test lists the calls of an undisturbed run first, then repeats the run with a fault at each of
//! them. Calls are intercepted in the kernel, so a program that does not use libc is seen as well.
//!
//! How it works:
//!
//! 1. The child asks to be traced and starts the program, which stops it (`tracer`).
//! 2. The tracer installs a seccomp filter in the stopped program (`filter`). From then on only
//!    calls listed in `syscalls` stop the program; all others run at full speed.
//! 3. At each such stop the tracer reads the arguments from registers and memory (`entered`) and
//!    counts the call if its file lies below the root folder.
//! 4. The `plan` decides what happens to the call. To suppress a call, the tracer replaces its
//!    number with -1; to shorten a write, it halves the length argument and restores it after the
//!    call, because a program may rely on argument registers being preserved.
//!
//! Which calls count: those that write, sync, resize, allocate, rename, remove, link, create
//! folders, or change modes, owners and extended attributes; and `open` with `O_CREAT`, `O_TRUNC`
//! or `O_TMPFILE`, whether or not the file exists.
//!
//! Limits:
//!
//! - Writes through a memory map and through io_uring are not seen; neither are `mknod`,
//!   `utimensat`, `splice` and `sync`.
//! - Only 64-bit programs are traced. Set-user-ID programs run without their privileges.
//! - `SIGSTOP` and the other stop signals do not stop the program.
//! - Paths are looked up in the file system of the tracer: a program in a chroot or in a mount
//!   namespace of its own is not supported.
//! - A symbolic link as last component of a path is not followed: the path of the link counts.

mod entered;
mod filter;
mod plan;
mod ptrace;
mod syscalls;
#[cfg(test)]
mod tests;
mod tracer;

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;

/// What goes wrong at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// All processes of the command are killed (`SIGKILL`) before the call happens.
    KillBefore,
    /// All processes of the command are killed after the call happened, before the program sees its
    /// result. Of a write, only the first half of the bytes is written. Other threads start no
    /// counted calls in the meantime.
    KillInside,
    /// The call fails with this error number and has no effect.
    Once(i32),
    /// From this call on, every call that needs the disk fails with this error number.
    ///
    /// With every error number these are: writes, `ftruncate` and `truncate` that make the file
    /// longer, `fallocate` except for punching holes, and the creation of files, folders, links and
    /// extended attributes. Syncs fail too, unless the error number is `ENOSPC` or `EDQUOT`.
    /// Renaming, removing, and changing the mode or owner always stay possible, so that the program
    /// can clean up; this holds for the chosen call as well.
    FromThenOn(i32),
    /// A write is carried out for the first half of its bytes and returns their number; the next
    /// counted call fails with this error number. A call that is not a write fails, as with
    /// [`Fault::Once`]. A write of one byte is carried out completely.
    ShortThen(i32),
    /// A write is carried out for the first half of its bytes and returns their number. Writes of
    /// one byte and calls that are not writes are not changed.
    Short,
    /// The process that was started gets this signal before the call, which is then carried out.
    Signal(i32),
}

/// A write-type system call of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name of the system call, such as `pwrite64`.
    pub name: &'static str,
    /// The file: of a descriptor the path that `/proc` reports (which ends in ` (deleted)` after
    /// the file was removed), otherwise the path argument made absolute. Of `rename` and `link` it
    /// is the new name, unless only the old name lies below the root folder.
    pub path: Option<PathBuf>,
    /// The number of bytes to write or to allocate, or the new size of a truncated file.
    pub len: Option<usize>,
}

/// How a traced command ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit status of the process that was started.
    pub status: ExitStatus,
    /// Everything the processes wrote to their standard output.
    pub stdout: Vec<u8>,
    /// Everything the processes wrote to their standard error.
    pub stderr: Vec<u8>,
    /// The write-type calls below the root folder in the order of their start, including calls that
    /// were made to fail. The number of a call is its index.
    pub calls: Vec<Call>,
    /// Whether the fault changed anything: some call was killed, failed or shortened by it.
    pub injected: bool,
}

/// Runs a command to its end, with a fault at the write-type call with the given number.
///
/// Only calls on `root` itself and on files below it count; numbers start at 0. With no fault, or a
/// number that is never reached, the program runs undisturbed. The calls of all threads and child
/// processes are counted together.
///
/// Standard output and standard error of the command are replaced by pipes; standard input stays as
/// the caller set it. The run ends when the process that was started ends: child processes that are
/// still running then are killed. `command` can be run again.
///
/// # Errors
///
/// When the program cannot be started, or the system does not permit tracing it. No process of the
/// command is left running.
pub fn run(command: &mut Command, root: &Path, fault: Option<(usize, Fault)>) -> io::Result<Ended> {
    traced(command, root, fault, |_| {})
}

/// Runs a command to its end, without a fault, and calls `act` while the command stands still
/// before the write-type call with the given number.
///
/// `act` must not wait for the command, for example for a lock that it holds.
///
/// # Errors
///
/// As those of [`run`].
pub fn run_beside(
    command: &mut Command,
    root: &Path,
    number: usize,
    act: impl FnOnce() + Send,
) -> io::Result<Ended> {
    let mut act = Some(act);
    traced(command, root, None, move |reached| {
        if let Some(act) = act.take_if(|_| reached == number) {
            act();
        }
    })
}

fn traced(
    command: &mut Command,
    root: &Path,
    fault: Option<(usize, Fault)>,
    mut before: impl FnMut(usize) + Send,
) -> io::Result<Ended> {
    let root = entered::resolve_folder(&std::path::absolute(root)?);
    // A tracer is a thread, not a process, and may wait for its own children only: the tests that
    // run in parallel have children too. Hence a new thread, whose only child is the command.
    thread::scope(|scope| {
        thread::Builder::new()
            .name("tracer".to_owned())
            .spawn_scoped(scope, || tracer::run(command, &root, fault, &mut before))?
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the tracing thread panicked")))
    })
}
