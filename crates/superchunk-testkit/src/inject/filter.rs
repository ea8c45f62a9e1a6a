//! The seccomp filter that stops a tracee at write-type system calls only.
//!
//! The filter cannot be installed between `fork` and `exec`: the call by which the standard library
//! reports a failed `exec` would be filtered too, while nobody handles its stop. So the tracer
//! installs it in the new program, before that makes its first system call: it turns the first call
//! into a `prctl` that installs the filter, then moves the instruction pointer back so that the
//! program makes its first call again. The filter is written to unused memory of the stack.

use std::io;
use std::os::unix::fs::FileExt;

use libc::{pid_t, user_regs_struct};

use super::ptrace;
use super::syscalls::{Effect, OpenFlags, WRITE_CALLS, WRITE_FLAGS};

/// Memory below the stack pointer that a function may use without reserving it.
const RED_ZONE_BYTES: u64 = 128;

/// The size of the instruction `syscall`.
const SYSCALL_BYTES: u64 = 2;

/// The code segment of 64-bit programs.
const CODE_SEGMENT_64: u64 = 0x33;

/// `AUDIT_ARCH_X86_64`, which libc does not define: 64-bit, little-endian, machine number 62.
const ARCHITECTURE: u32 = 0xC000_003E;

/// Offsets in the structure that a filter inspects, `struct seccomp_data`.
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

/// The instructions of the filter language that are used here.
const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// Installs the filter in a tracee that is stopped at the entry of its first system call. `leave`
/// resumes the tracee and returns when it stops at the exit of that call.
pub(super) fn install(pid: pid_t, leave: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let first_call = ptrace::registers(pid)?;
    if first_call.cs != CODE_SEGMENT_64 {
        return Err(io::Error::other("only 64-bit programs can be traced"));
    }
    let description = write_below(pid, first_call.rsp.saturating_sub(RED_ZONE_BYTES))?;
    let install = user_regs_struct {
        orig_rax: libc::SYS_prctl.cast_unsigned(),
        rdi: u64::from(libc::PR_SET_SECCOMP.cast_unsigned()),
        rsi: u64::from(libc::SECCOMP_MODE_FILTER),
        rdx: description,
        ..first_call
    };
    ptrace::set_registers(pid, &install)?;
    leave()?;
    let result = ptrace::registers(pid)?.rax.cast_signed();
    if result != 0 {
        return Err(io::Error::other(format!("prctl(PR_SET_SECCOMP) returned {result}")));
    }
    let again = user_regs_struct {
        rip: first_call.rip.saturating_sub(SYSCALL_BYTES),
        rax: first_call.orig_rax,
        ..first_call
    };
    ptrace::set_registers(pid, &again)
}

/// Writes the filter below an address of the tracee. Returns the address of its `sock_fprog`.
fn write_below(pid: pid_t, address: u64) -> io::Result<u64> {
    let mut words = filter();
    let instructions = u64::try_from(words.len()).map_err(io::Error::other)?;
    // The description takes two words; the stack is aligned to 16 bytes.
    let start = address.saturating_sub(8 * (instructions + 2)) & !15;
    words.extend([instructions, start]);
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    ptrace::memory(pid)?.write_all_at(&bytes, start)?;
    Ok(start + 8 * instructions)
}

/// Returns the instructions of the filter.
fn filter() -> Vec<u64> {
    let allow = instruction(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW);
    let trace = instruction(RETURN, 0, 0, libc::SECCOMP_RET_TRACE);
    let mut filter = vec![
        instruction(LOAD, 0, 0, ARCHITECTURE_OFFSET),
        instruction(IF_EQUAL, 1, 0, ARCHITECTURE),
        allow,
        instruction(LOAD, 0, 0, NUMBER_OFFSET),
    ];
    for call in &WRITE_CALLS {
        let Ok(number) = u32::try_from(call.number) else { continue };
        if let Effect::Open(OpenFlags::In(flags)) = call.effect {
            filter.extend([
                instruction(IF_EQUAL, 0, 4, number),
                instruction(LOAD, 0, 0, ARGUMENTS_OFFSET + 8 * flags.position()),
                instruction(IF_ANY_BIT, 0, 1, WRITE_FLAGS.cast_unsigned()),
                trace,
                allow,
            ]);
        } else {
            filter.extend([instruction(IF_EQUAL, 0, 1, number), trace]);
        }
    }
    filter.push(allow);
    filter
}

/// Encodes an instruction. A condition skips `if_true` or `if_false` instructions.
fn instruction(code: u32, if_true: u8, if_false: u8, operand: u32) -> u64 {
    u64::from(code)
        | u64::from(if_true) << 16
        | u64::from(if_false) << 24
        | u64::from(operand) << 32
}
