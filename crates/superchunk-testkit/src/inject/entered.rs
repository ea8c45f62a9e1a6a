//! A system call that a tracee is about to make: which file it changes, and how to halve it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use libc::{pid_t, user_regs_struct};

use super::Call;
use super::ptrace;
use super::syscalls::{self, Argument, Effect, Length, OpenFlags, Target, WriteCall};

/// The limits of the kernel for a path and for the entries of an `iovec` array.
const MAX_PATH_BYTES: usize = 4096;
const MAX_VECTOR_ENTRIES: usize = 1024;

/// The size of an `iovec`, and the offset of the length in it.
const VECTOR_ENTRY_BYTES: usize = 16;
const VECTOR_LENGTH_OFFSET: u64 = 8;

/// A write-type call below the root folder whose thread is stopped before the call.
#[derive(Debug)]
pub(super) struct EnteredCall {
    pid: pid_t,
    registers: user_regs_struct,
    call: &'static WriteCall,
    /// The path to report.
    path: PathBuf,
    /// A path that reaches the file even if it was removed.
    reachable: PathBuf,
    length: Option<u64>,
}

/// How to give a thread back the arguments of a call that was shortened.
#[derive(Debug)]
pub(super) struct Undo {
    argument: Argument,
    value: u64,
    /// An address and the word that was there.
    word: Option<(u64, u64)>,
}

impl EnteredCall {
    /// Reads the call a tracee is stopped at. Returns `None` when the call does not change a file
    /// below `root`, or has arguments that the kernel will reject.
    pub(super) fn read(pid: pid_t, registers: user_regs_struct, root: &Path) -> Option<Self> {
        let call = syscalls::find(registers.orig_rax.cast_signed())?;
        if let Effect::Open(flags) = call.effect
            && open_flags(pid, &registers, flags)? & syscalls::WRITE_FLAGS == 0
        {
            return None;
        }
        let (path, reachable) = call
            .targets
            .iter()
            .filter_map(|target| locate(pid, &registers, *target))
            .find(|(path, _)| path.starts_with(root))?;
        let length = match call.length {
            Length::Unknown => None,
            Length::Bytes(argument) => Some(argument.get(&registers)),
            Length::Vector(start, count) => Some(
                vector_lengths(pid, start.get(&registers), count.get(&registers))?
                    .into_iter()
                    .fold(0, u64::saturating_add),
            ),
        };
        Some(Self { pid, registers, call, path, reachable, length })
    }

    /// Returns the description of the call for the caller of `run`.
    pub(super) fn describe(&self) -> Call {
        Call {
            name: self.call.name,
            path: Some(self.path.clone()),
            len: self.length.and_then(|length| usize::try_from(length).ok()),
        }
    }

    /// Returns whether the call writes bytes.
    pub(super) fn is_write(&self) -> bool {
        self.call.effect == Effect::Write
    }

    /// Returns whether the call is a write whose first half is not empty.
    pub(super) fn can_be_halved(&self) -> bool {
        self.is_write() && self.half() > 0
    }

    fn half(&self) -> u64 {
        self.length.unwrap_or(0) / 2
    }

    /// Returns whether the call fails while the disk fails with this error number.
    pub(super) fn needs_disk(&self, errno: i32) -> bool {
        match self.call.effect {
            Effect::Write | Effect::Create => true,
            Effect::Sync => !matches!(errno, libc::ENOSPC | libc::EDQUOT),
            Effect::Resize => {
                let size = fs::metadata(&self.reachable).map_or(0, |metadata| metadata.len());
                self.length.is_some_and(|length| length > size)
            }
            Effect::Allocate(mode) => {
                let freeing = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_COLLAPSE_RANGE;
                mode.get_int(&self.registers) & freeing == 0
            }
            Effect::Open(flags) => {
                let flags = open_flags(self.pid, &self.registers, flags).unwrap_or(0);
                flags & syscalls::TEMPORARY_FLAG != 0
                    || flags & libc::O_CREAT != 0 && !self.reachable.exists()
            }
            Effect::Change => false,
        }
    }

    /// Makes the call fail with this error number instead of being carried out.
    pub(super) fn suppress(&self, errno: i32) -> io::Result<()> {
        let suppressed = user_regs_struct {
            orig_rax: u64::MAX,
            rax: (-i64::from(errno)).cast_unsigned(),
            ..self.registers
        };
        ptrace::set_registers(self.pid, &suppressed)
    }

    /// Halves the length of a write that can be halved.
    pub(super) fn halve(&self) -> io::Result<Undo> {
        let (argument, new_value, word) = match self.call.length {
            Length::Bytes(length) => (length, self.half(), None),
            Length::Vector(start, count) => {
                let (entries, word) = self.halve_vector(start, count)?;
                (count, entries, Some(word))
            }
            Length::Unknown => return Err(io::Error::other("the call has no length")),
        };
        let undo = Undo { argument, value: argument.get(&self.registers), word };
        let mut registers = self.registers;
        argument.set(&mut registers, new_value);
        ptrace::set_registers(self.pid, &registers)?;
        Ok(undo)
    }

    /// Shortens the entry of an `iovec` array in which the first half of the bytes ends. Returns
    /// the number of entries up to that one, and the address and old value of its length.
    fn halve_vector(&self, start: Argument, count: Argument) -> io::Result<(u64, (u64, u64))> {
        let start = start.get(&self.registers);
        let lengths =
            vector_lengths(self.pid, start, count.get(&self.registers)).unwrap_or_default();
        let addresses = (start + VECTOR_LENGTH_OFFSET..).step_by(VECTOR_ENTRY_BYTES);
        let mut remaining = self.half();
        for ((entries, address), length) in (1..).zip(addresses).zip(lengths) {
            if length >= remaining {
                write_word(self.pid, address, remaining)?;
                return Ok((entries, (address, length)));
            }
            remaining -= length;
        }
        Err(io::Error::other("an iovec array changed while its thread was stopped"))
    }
}

impl Undo {
    /// Restores the arguments of a tracee that is stopped after the call.
    pub(super) fn apply(self, pid: pid_t) -> io::Result<()> {
        let mut registers = ptrace::registers(pid)?;
        self.argument.set(&mut registers, self.value);
        ptrace::set_registers(pid, &registers)?;
        self.word.map_or(Ok(()), |(address, word)| write_word(pid, address, word))
    }
}

/// Returns the flags of an `open` call, or `None` when they cannot be read.
fn open_flags(pid: pid_t, registers: &user_regs_struct, flags: OpenFlags) -> Option<i32> {
    match flags {
        OpenFlags::In(argument) => Some(argument.get_int(registers)),
        OpenFlags::PointedTo(argument) => {
            // The flags have 64 bits, of which the upper half is not used.
            let mut word = [0; 4];
            let memory = ptrace::memory(pid).ok()?;
            memory.read_exact_at(&mut word, argument.get(registers)).ok()?;
            Some(i32::from_le_bytes(word))
        }
        OpenFlags::Creat => Some(libc::O_CREAT | libc::O_TRUNC),
    }
}

/// Returns the path of a file that a call names, and a path that reaches the file even if it was
/// removed.
fn locate(pid: pid_t, registers: &user_regs_struct, target: Target) -> Option<(PathBuf, PathBuf)> {
    let link_of = |descriptor: i32| PathBuf::from(format!("/proc/{pid}/fd/{descriptor}"));
    let (folder, name) = match target {
        Target::File(argument) => {
            let link = link_of(argument.get_int(registers));
            return Some((fs::read_link(&link).ok()?, link));
        }
        Target::Name(name) => (libc::AT_FDCWD, name),
        Target::At(folder, name) => (folder.get_int(registers), name),
    };
    let folder = match folder {
        libc::AT_FDCWD => PathBuf::from(format!("/proc/{pid}/cwd")),
        descriptor => link_of(descriptor),
    };
    let name = read_string(pid, name.get(registers))?;
    if name.is_empty() {
        return Some((fs::read_link(&folder).ok()?, folder));
    }
    let name = Path::new(OsStr::from_bytes(&name));
    let path = if name.is_absolute() {
        name.to_path_buf()
    } else {
        fs::read_link(&folder).ok()?.join(name)
    };
    let path = resolve_name(&path);
    Some((path.clone(), path))
}

/// Resolves the symbolic links of an absolute path, of which a tail may not exist.
pub(super) fn resolve_folder(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| resolve_name(path))
}

/// Resolves the symbolic links of an absolute path except for a link in its last component.
fn resolve_name(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve_folder(parent).join(name),
        _ => fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
    }
}

/// Reads a C string from the memory of a tracee.
fn read_string(pid: pid_t, address: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; MAX_PATH_BYTES];
    // The read ends early where the memory ends.
    let read = ptrace::memory(pid).ok()?.read_at(&mut bytes, address).ok()?;
    bytes.truncate(read);
    let end = bytes.iter().position(|byte| *byte == 0)?;
    bytes.truncate(end);
    Some(bytes)
}

/// Reads the lengths in an `iovec` array of a tracee.
fn vector_lengths(pid: pid_t, start: u64, count: u64) -> Option<Vec<u64>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_VECTOR_ENTRIES)?;
    let mut bytes = vec![0; count * VECTOR_ENTRY_BYTES];
    ptrace::memory(pid).ok()?.read_exact_at(&mut bytes, start).ok()?;
    let entries = bytes.chunks_exact(VECTOR_ENTRY_BYTES);
    entries.map(|entry| entry.last_chunk().copied().map(u64::from_le_bytes)).collect()
}

/// Writes a word to the memory of a tracee, which may be read-only for the tracee itself.
fn write_word(pid: pid_t, address: u64, word: u64) -> io::Result<()> {
    ptrace::memory(pid)?.write_all_at(&word.to_le_bytes(), address)
}
