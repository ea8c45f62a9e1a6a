//! The loops of [`super::eight`], for `x86_64` processors with BMI1 and BMI2.
//!
//! A look-up is four instructions: shift the index out of the word, load the entry, shift the word by
//! the low bits of the entry, store. The lanes take turns at each of them, so that no instruction
//! waits long for the one that it needs. What a compiler makes of this keeps half of the words in memory.
//!
//! | register | what it holds |
//! |---|---|
//! | `r8` to `r15` | the words of the lanes: the next bits from the highest on, the lowest that is set is a mark below them |
//! | `rdx` | the lanes, and 3: as a shift it is 3, because the low six bits of the address are 0 |
//! | `rsi` | the table, and the shift that leaves an index: as a shift it is that, by the same token |
//! | `rdi` | the output of the first lane; those of the others are a constant number of bytes apart |
//! | `rax`, `rcx` | an entry; how many bits, and then bytes, of a word were used |

use core::arch::asm;
use core::mem::{MaybeUninit, offset_of};

use super::table::{Aligned, One, Pair, Table};

/// The bytes that a lane has room for.
pub(super) const ROOM: usize = 1280;
/// From the output of a lane to that of the next: in another set of the cache.
const STRIDE: usize = 1344;

/// The lanes as the loops need them.
#[repr(C, align(64))]
pub(super) struct Lanes {
    /// Where the words were loaded from. The loops expect this to be first.
    pub(super) inputs: [*const u8; 8],
    /// Where the output of the first lane ends.
    end: *mut u8,
    pub(super) words: [u64; 8],
    outputs: MaybeUninit<[[u8; STRIDE]; 8]>,
}

impl Lanes {
    pub(super) fn new() -> Self {
        let inputs = [core::ptr::null(); 8];
        let end = core::ptr::null_mut();
        Self { inputs, end, words: [0; 8], outputs: MaybeUninit::uninit() }
    }

    /// The output of a lane.
    pub(super) fn output(&self, lane: usize) -> *const u8 {
        self.outputs.as_ptr().cast::<u8>().wrapping_add(lane % 8 * STRIDE)
    }

    /// Sets how far the first lane goes, and gives its output.
    fn set_end(&mut self, bytes: usize) -> *mut u8 {
        let begin = self.outputs.as_mut_ptr().cast::<u8>();
        self.end = begin.wrapping_add(bytes);
        begin
    }
}

/// One look-up in the table of single symbols.
#[rustfmt::skip]
macro_rules! symbol {
    ($place:literal, $lane:literal, $word:literal) => {
        concat!(
            "shrx rax, ", $word, ", rsi\n",
            "movzx eax, word ptr [rsi + 2 * rax - {shift}]\n",
            "shlx ", $word, ", ", $word, ", rax\n",
            "mov byte ptr [rdi + {stride} * ", $lane, " + ", $place, "], ah\n",
        )
    };
}

/// One look-up in the table of pairs, whose entries are stored as they are.
#[rustfmt::skip]
macro_rules! pair {
    ($place:literal, $lane:literal, $word:literal) => {
        concat!(
            "shrx rax, ", $word, ", rsi\n",
            "mov eax, dword ptr [rsi + 4 * rax - {shift}]\n",
            "shlx ", $word, ", ", $word, ", rax\n",
            "mov dword ptr [rdi + {stride} * ", $lane, " + 4 * ", $place, "], eax\n",
        )
    };
}

/// One look-up for each lane.
macro_rules! each_lane {
    ($take:ident, $place:literal) => {
        concat!(
            $take!($place, 0, "r8"),
            $take!($place, 1, "r9"),
            $take!($place, 2, "r10"),
            $take!($place, 3, "r11"),
            $take!($place, 4, "r12"),
            $take!($place, 5, "r13"),
            $take!($place, 6, "r14"),
            $take!($place, 7, "r15"),
        )
    };
}

/// Loads the next word: back by as many whole bytes as were used, and without the bits that were used
/// of one more.
#[rustfmt::skip]
macro_rules! load {
    ($lane:literal, $word:literal) => {
        concat!(
            "tzcnt rax, ", $word, "\n",
            "mov ", $word, ", qword ptr [rdx + 8 * ", $lane, " - 3]\n",
            "shrx rcx, rax, rdx\n",
            "and eax, 7\n",
            "sub ", $word, ", rcx\n",
            "mov qword ptr [rdx + 8 * ", $lane, " - 3], ", $word, "\n",
            "mov ", $word, ", qword ptr [", $word, "]\n",
            "or ", $word, ", 1\n",
            "shlx ", $word, ", ", $word, ", rax\n",
        )
    };
}

/// Steps of look-ups at the given places of the output, in a table of so many bits. A step makes
/// `$step` bytes, all of them `$bytes`.
macro_rules! steps {
    ($take:ident, $lanes:ident, $bytes:expr, $table:ident, $log:literal, $step:literal, $($place:literal),*) => {{
        let begin = $lanes.set_end($bytes);
        let lanes = &raw mut *$lanes;
        asm!(
            "2:",
            $(each_lane!($take, $place),)*
            load!(0, "r8"), load!(1, "r9"), load!(2, "r10"), load!(3, "r11"),
            load!(4, "r12"), load!(5, "r13"), load!(6, "r14"), load!(7, "r15"),
            concat!("add rdi, ", $step),
            "cmp rdi, qword ptr [rdx + {end} - 3]",
            "jne 2b",
            shift = const 64 - $log,
            stride = const STRIDE,
            end = const offset_of!(Lanes, end),
            inout("rdi") begin => _,
            in("rdx") lanes.wrapping_byte_add(3),
            in("rsi") (&raw const *$table).wrapping_byte_add(64 - $log),
            inout("r8") (*lanes).words[0],
            inout("r9") (*lanes).words[1],
            inout("r10") (*lanes).words[2],
            inout("r11") (*lanes).words[3],
            inout("r12") (*lanes).words[4],
            inout("r13") (*lanes).words[5],
            inout("r14") (*lanes).words[6],
            inout("r15") (*lanes).words[7],
            out("rax") _,
            out("rcx") _,
            options(nostack),
        );
    }};
}

/// What a step does in each lane.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// Finds pairs or single symbols, five times.
    Pairs(&'a Aligned<Pair>),
    /// Finds as many symbols as a word has at least, by the length of the longest code.
    Five(&'a Aligned<One>),
    Six(&'a Aligned<One>),
    Seven(&'a Aligned<One>),
}

impl<'a> Step<'a> {
    /// The step for single symbols.
    pub(super) fn of_ones(table: &'a Table) -> Self {
        match table.log() {
            ..=8 => Self::Seven(table.one()),
            9 => Self::Six(table.one()),
            _ => Self::Five(table.one()),
        }
    }

    /// The look-ups of a step.
    pub(super) fn look_ups(self) -> usize {
        match self {
            Self::Pairs(_) | Self::Five(_) => 5,
            Self::Six(_) => 6,
            Self::Seven(_) => 7,
        }
    }

    /// Takes so many steps with all lanes, whose outputs then are the entries of pairs or the symbols.
    ///
    /// # Safety
    ///
    /// * The processor must have BMI1 and BMI2.
    /// * `steps >= 1`, and the output of all look-ups, 4 bytes for an entry of pairs and 1 for a
    ///   symbol, has at most [`ROOM`] bytes.
    /// * Each of the eight words has at least 56 unread bits, and a mark below them.
    /// * Each input is valid for reads of 8 bytes, and of as many bytes before it as the look-ups
    ///   can use: for each of them the bits of the longest code, or of an index of the table of
    ///   pairs.
    pub(super) unsafe fn take(self, lanes: &mut Lanes, steps: usize) {
        let lookups = steps * self.look_ups();
        debug_assert!(lookups > 0, "without a step the loops have no end");
        debug_assert!(
            lookups * if matches!(self, Self::Pairs(_)) { 4 } else { 1 } <= ROOM,
            "the steps write more than a lane has room for"
        );
        // SAFETY: `Work::go_on` takes at least one step, and at most as many as `ROOM` and
        // `Work::possible_steps` allow: the latter stop where 8 bytes of the buffer are left.
        // `Work::fill` has set all inputs and words by `Lane::of`. An index has 11, 9 or 8 bits, to
        // which the word is shifted, and a table has `SIZE` = 2^11 entries.
        unsafe {
            match self {
                Self::Pairs(table) => {
                    steps!(pair, lanes, 4 * lookups, table, 11, 20, 0, 1, 2, 3, 4);
                }
                Self::Five(table) => steps!(symbol, lanes, lookups, table, 11, 5, 0, 1, 2, 3, 4),
                Self::Six(table) => steps!(symbol, lanes, lookups, table, 9, 6, 0, 1, 2, 3, 4, 5),
                Self::Seven(table) => {
                    steps!(symbol, lanes, lookups, table, 8, 7, 0, 1, 2, 3, 4, 5, 6);
                }
            }
        }
    }
}
