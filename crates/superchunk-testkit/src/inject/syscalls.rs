//! The write-type system calls: their numbers, and where their arguments are.

use libc::{c_long, user_regs_struct};

use Argument::{R8, R10, Rdi, Rdx, Rsi};
use Effect::{Allocate, Change, Create, Open, Resize, Sync, Write};
use Length::{Bytes, Unknown, Vector};
use Target::{At, File, Name};

/// Flags of `open` that make it a write-type call: they create or empty a file.
pub(super) const WRITE_FLAGS: i32 = libc::O_CREAT | libc::O_TRUNC | TEMPORARY_FLAG;

/// The bit that only `O_TMPFILE` has; its other bit is `O_DIRECTORY`.
pub(super) const TEMPORARY_FLAG: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// A register that passes an argument of a system call; the order of the variants is the order of
/// the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Rdi,
    Rsi,
    Rdx,
    R10,
    R8,
}

impl Argument {
    /// Returns the value of the argument.
    pub(super) fn get(self, registers: &user_regs_struct) -> u64 {
        match self {
            Rdi => registers.rdi,
            Rsi => registers.rsi,
            Rdx => registers.rdx,
            R10 => registers.r10,
            R8 => registers.r8,
        }
    }

    /// Returns an argument of type `int`, which is the lower half of the register.
    pub(super) fn get_int(self, registers: &user_regs_struct) -> i32 {
        let [a, b, c, d, ..] = self.get(registers).to_le_bytes();
        i32::from_le_bytes([a, b, c, d])
    }

    /// Replaces the value of the argument.
    pub(super) fn set(self, registers: &mut user_regs_struct, value: u64) {
        match self {
            Rdi => registers.rdi = value,
            Rsi => registers.rsi = value,
            Rdx => registers.rdx = value,
            R10 => registers.r10 = value,
            R8 => registers.r8 = value,
        }
    }

    /// Returns the position of the argument, starting at 0.
    pub(super) fn position(self) -> u32 {
        match self {
            Rdi => 0,
            Rsi => 1,
            Rdx => 2,
            R10 => 3,
            R8 => 4,
        }
    }
}

/// What a call does to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Writes bytes to a file.
    Write,
    /// Waits until data is stored on the disk.
    Sync,
    /// Changes the size of a file to the length of the call.
    Resize,
    /// Reserves space; the mode is in this argument.
    Allocate(Argument),
    /// Opens a file, with these flags.
    Open(OpenFlags),
    /// Creates a folder, a link or an extended attribute.
    Create,
    /// Renames, removes, or changes attributes: possible on a full disk.
    Change,
}

/// Where the flags of an `open` call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenFlags {
    /// In the argument.
    In(Argument),
    /// In the first word of the structure that the argument points to.
    PointedTo(Argument),
    /// `creat` has no flags and always creates.
    Creat,
}

/// How a call names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// By a descriptor.
    File(Argument),
    /// By a path, relative to the current folder.
    Name(Argument),
    /// By a folder descriptor and a path relative to that folder.
    At(Argument, Argument),
}

/// Where the length of a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// The call has no length.
    Unknown,
    /// In the argument.
    Bytes(Argument),
    /// In the `iovec` array that the first argument points to; the second one counts its entries.
    Vector(Argument, Argument),
}

/// A write-type system call.
#[derive(Debug)]
pub(super) struct WriteCall {
    /// The number of the system call.
    pub(super) number: c_long,
    /// The name of the system call.
    pub(super) name: &'static str,
    /// What it does.
    pub(super) effect: Effect,
    /// The files it changes, the one to report first.
    pub(super) targets: &'static [Target],
    /// Where its length is.
    pub(super) length: Length,
}

/// Returns the write-type call with this number.
pub(super) fn find(number: c_long) -> Option<&'static WriteCall> {
    WRITE_CALLS.iter().find(|call| call.number == number)
}

const fn call(
    number: c_long,
    name: &'static str,
    effect: Effect,
    targets: &'static [Target],
    length: Length,
) -> WriteCall {
    WriteCall { number, name, effect, targets, length }
}

/// All write-type system calls. The filter compares in this order: frequent calls come first.
pub(super) static WRITE_CALLS: [WriteCall; 44] = [
    call(libc::SYS_write, "write", Write, &[File(Rdi)], Bytes(Rdx)),
    call(libc::SYS_pwrite64, "pwrite64", Write, &[File(Rdi)], Bytes(Rdx)),
    call(libc::SYS_openat, "openat", Open(OpenFlags::In(Rdx)), &[At(Rdi, Rsi)], Unknown),
    call(libc::SYS_open, "open", Open(OpenFlags::In(Rsi)), &[Name(Rdi)], Unknown),
    call(libc::SYS_openat2, "openat2", Open(OpenFlags::PointedTo(Rdx)), &[At(Rdi, Rsi)], Unknown),
    call(libc::SYS_creat, "creat", Open(OpenFlags::Creat), &[Name(Rdi)], Unknown),
    call(libc::SYS_writev, "writev", Write, &[File(Rdi)], Vector(Rsi, Rdx)),
    call(libc::SYS_pwritev, "pwritev", Write, &[File(Rdi)], Vector(Rsi, Rdx)),
    call(libc::SYS_pwritev2, "pwritev2", Write, &[File(Rdi)], Vector(Rsi, Rdx)),
    call(libc::SYS_copy_file_range, "copy_file_range", Write, &[File(Rdx)], Bytes(R8)),
    call(libc::SYS_sendfile, "sendfile", Write, &[File(Rdi)], Bytes(R10)),
    call(libc::SYS_ftruncate, "ftruncate", Resize, &[File(Rdi)], Bytes(Rsi)),
    call(libc::SYS_truncate, "truncate", Resize, &[Name(Rdi)], Bytes(Rsi)),
    call(libc::SYS_fallocate, "fallocate", Allocate(Rsi), &[File(Rdi)], Bytes(R10)),
    call(libc::SYS_fsync, "fsync", Sync, &[File(Rdi)], Unknown),
    call(libc::SYS_fdatasync, "fdatasync", Sync, &[File(Rdi)], Unknown),
    call(libc::SYS_sync_file_range, "sync_file_range", Sync, &[File(Rdi)], Unknown),
    call(libc::SYS_syncfs, "syncfs", Sync, &[File(Rdi)], Unknown),
    call(libc::SYS_rename, "rename", Change, &[Name(Rsi), Name(Rdi)], Unknown),
    call(libc::SYS_renameat, "renameat", Change, &[At(Rdx, R10), At(Rdi, Rsi)], Unknown),
    call(libc::SYS_renameat2, "renameat2", Change, &[At(Rdx, R10), At(Rdi, Rsi)], Unknown),
    call(libc::SYS_unlink, "unlink", Change, &[Name(Rdi)], Unknown),
    call(libc::SYS_unlinkat, "unlinkat", Change, &[At(Rdi, Rsi)], Unknown),
    call(libc::SYS_rmdir, "rmdir", Change, &[Name(Rdi)], Unknown),
    call(libc::SYS_mkdir, "mkdir", Create, &[Name(Rdi)], Unknown),
    call(libc::SYS_mkdirat, "mkdirat", Create, &[At(Rdi, Rsi)], Unknown),
    call(libc::SYS_link, "link", Create, &[Name(Rsi), Name(Rdi)], Unknown),
    call(libc::SYS_linkat, "linkat", Create, &[At(Rdx, R10), At(Rdi, Rsi)], Unknown),
    call(libc::SYS_symlink, "symlink", Create, &[Name(Rsi)], Unknown),
    call(libc::SYS_symlinkat, "symlinkat", Create, &[At(Rsi, Rdx)], Unknown),
    call(libc::SYS_chmod, "chmod", Change, &[Name(Rdi)], Unknown),
    call(libc::SYS_fchmod, "fchmod", Change, &[File(Rdi)], Unknown),
    call(libc::SYS_fchmodat, "fchmodat", Change, &[At(Rdi, Rsi)], Unknown),
    call(libc::SYS_fchmodat2, "fchmodat2", Change, &[At(Rdi, Rsi)], Unknown),
    call(libc::SYS_chown, "chown", Change, &[Name(Rdi)], Unknown),
    call(libc::SYS_fchown, "fchown", Change, &[File(Rdi)], Unknown),
    call(libc::SYS_lchown, "lchown", Change, &[Name(Rdi)], Unknown),
    call(libc::SYS_fchownat, "fchownat", Change, &[At(Rdi, Rsi)], Unknown),
    call(libc::SYS_setxattr, "setxattr", Create, &[Name(Rdi)], Unknown),
    call(libc::SYS_lsetxattr, "lsetxattr", Create, &[Name(Rdi)], Unknown),
    call(libc::SYS_fsetxattr, "fsetxattr", Create, &[File(Rdi)], Unknown),
    call(libc::SYS_removexattr, "removexattr", Change, &[Name(Rdi)], Unknown),
    call(libc::SYS_lremovexattr, "lremovexattr", Change, &[Name(Rdi)], Unknown),
    call(libc::SYS_fremovexattr, "fremovexattr", Change, &[File(Rdi)], Unknown),
];
