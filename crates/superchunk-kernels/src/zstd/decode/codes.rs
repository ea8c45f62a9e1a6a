//! What the codes of sequences stand for, and the tables of their states.

use super::Result;
use super::fse::{Distribution, MOST_STATES, MOST_SYMBOLS};

/// What a state stands for: `base` and a number of `extra` bits.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Number {
    pub(super) base: u32,
    pub(super) extra: u8,
}

/// The state that follows: `base` and a number of so many bits.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub(super) base: u16,
    pub(super) bits: u8,
}

/// A state.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Entry {
    base: u32,
    next: u16,
    bits: u8,
    extra: u8,
}

/// The states of one kind of numbers.
#[derive(Clone)]
pub(super) struct States {
    entries: [Entry; MOST_STATES],
    /// The bits of the first state's number. Every number that can be read, there or from a state to
    /// the next, is that of an entry.
    log: u32,
    /// Whether there are any that a block can refer to, and whether they are those of the format.
    present: bool,
    usual: bool,
    /// The most extra bits of all states.
    most_extra: u8,
}

const NONE: Entry = Entry { base: 0, next: 0, bits: 0, extra: 0 };

/// The three kinds of numbers of a sequence.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Literals,
    Distance,
    Match,
}

/// The states of the three kinds of numbers, side by side.
#[derive(Clone)]
pub(super) struct Codes {
    pub(super) literals: States,
    pub(super) distances: States,
    pub(super) matches: States,
}

impl Codes {
    pub(super) fn new() -> Self {
        Self { literals: States::new(), distances: States::new(), matches: States::new() }
    }

    /// The extra bits of a sequence.
    #[inline(always)]
    pub(super) fn extra(&self, state_l: usize, state_d: usize, state_m: usize) -> u8 {
        self.literals.number(state_l).extra
            + self.distances.number(state_d).extra
            + self.matches.number(state_m).extra
    }

    /// The most extra bits that a sequence can have.
    pub(super) fn most_extra(&self) -> u8 {
        self.literals.most_extra + self.distances.most_extra + self.matches.most_extra
    }

    /// Forgets those of a frame before.
    pub(super) fn forget(&mut self) {
        self.literals.present = false;
        self.distances.present = false;
        self.matches.present = false;
    }

    /// Makes the states of a block by what `src` begins with, and gives the bytes behind that.
    ///
    /// ```text
    /// modes (2 bits each: literals, distances, matches, 0), what each mode needs
    /// ```
    pub(super) fn read<'a>(&mut self, src: &'a [u8], usual: &Usual) -> Result<&'a [u8]> {
        let (&modes, rest) = src.split_first().ok_or(WRONG)?;
        if modes & 3 != 0 {
            return Err(WRONG);
        }
        let rest = self.literals.read(Kind::Literals, modes >> 6, rest, &usual.literals)?;
        let rest = self.distances.read(Kind::Distance, modes >> 4, rest, &usual.distances)?;
        self.matches.read(Kind::Match, modes >> 2, rest, &usual.matches)
    }
}

impl Codes {
    /// Reads the distributions of a dictionary, and returns the bytes that follow them.
    ///
    /// ```text
    /// distances, matches, literals
    /// ```
    pub(super) fn read_dictionary<'a>(&mut self, src: &'a [u8]) -> Result<&'a [u8]> {
        let rest = self.distances.read_distribution(Kind::Distance, src)?;
        let rest = self.matches.read_distribution(Kind::Match, rest)?;
        self.literals.read_distribution(Kind::Literals, rest)
    }
}

/// The states of the distributions that the format knows by itself.
pub(super) struct Usual {
    literals: [Entry; 64],
    distances: [Entry; 32],
    matches: [Entry; 64],
}

impl Usual {
    pub(super) fn new() -> Self {
        let mut states = States::new();
        let mut first = |kind| {
            let (counts, log) = Kind::predefined(kind);
            states.fill(kind, &Distribution::predefined(counts, log));
            states.entries
        };
        let (literals, distances) = (first(Kind::Literals), first(Kind::Distance));
        let matches = first(Kind::Match);
        Self {
            literals: *literals.first_chunk().unwrap_or(&[NONE; 64]),
            distances: *distances.first_chunk().unwrap_or(&[NONE; 32]),
            matches: *matches.first_chunk().unwrap_or(&[NONE; 64]),
        }
    }
}

/// What is said of tables that cannot be.
const WRONG: &str = "zstd codes of sequences are corrupt";

impl States {
    fn new() -> Self {
        Self { entries: [NONE; MOST_STATES], log: 0, present: false, usual: false, most_extra: 0 }
    }

    /// Makes the states of a block by its `mode`, and gives the bytes behind the description.
    fn read<'a>(
        &mut self,
        kind: Kind,
        mode: u8,
        src: &'a [u8],
        usual: &[Entry],
    ) -> Result<&'a [u8]> {
        let was_present = core::mem::replace(&mut self.present, true);
        match mode & 3 {
            0 => {
                if !self.usual {
                    self.log = usual.len().ilog2();
                    self.entries.iter_mut().zip(usual).for_each(|(to, from)| *to = *from);
                    self.usual = true;
                    self.most_extra = usual.iter().map(|entry| entry.extra).max().unwrap_or(0);
                }
                Ok(src)
            }
            1 => {
                let (&symbol, rest) = src.split_first().ok_or(WRONG)?;
                let number = kind.numbers().get(usize::from(symbol));
                let (base, extra) = *number.ok_or(WRONG)?;
                (self.log, self.usual, self.most_extra) = (0, false, extra);
                if let Some(entry) = self.entries.first_mut() {
                    *entry = Entry { base, next: 0, bits: 0, extra };
                }
                Ok(rest)
            }
            2 => self.read_distribution(kind, src),
            _ if was_present => Ok(src),
            _ => Err("zstd sequences refer to codes that are not there"),
        }
    }

    /// Makes the states of the distribution that `src` begins with, and returns the bytes that
    /// follow it.
    fn read_distribution<'a>(&mut self, kind: Kind, src: &'a [u8]) -> Result<&'a [u8]> {
        let (most_symbols, most_log) = kind.limits();
        let (distribution, used) = Distribution::read(src, most_symbols, most_log)?;
        (self.present, self.usual) = (true, false);
        self.fill(kind, &distribution);
        Ok(src.get(used..).unwrap_or_default())
    }

    /// The bits of the first state's number.
    pub(super) fn log(&self) -> u32 {
        self.log
    }

    /// What a state stands for.
    #[inline(always)]
    pub(super) fn number(&self, state: usize) -> Number {
        let entry = self.entry(state);
        Number { base: entry.base, extra: entry.extra }
    }

    /// The state that follows another.
    #[inline(always)]
    pub(super) fn next(&self, state: usize) -> Next {
        let entry = self.entry(state);
        Next { base: entry.next, bits: entry.bits }
    }

    /// The entry of a state, whose number is read with `log` bits or is one that an entry leads to.
    #[inline(always)]
    fn entry(&self, state: usize) -> &Entry {
        debug_assert!(state < 1 << self.log, "no such state");
        // SAFETY: entries are made by `fill` and `read` only. A distribution has as many states as
        // `log` bits can tell apart, and so has what an entry leads to: less than `MOST_STATES`.
        unsafe { self.entries.get_unchecked(state) }
    }

    fn fill(&mut self, kind: Kind, distribution: &Distribution) {
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::isa().has_avx2() {
            // SAFETY: this means that the processor has BMI1, BMI2 and LZCNT.
            return unsafe { self.fill_bmi2(kind, distribution) };
        }
        self.fill_inlined(kind, distribution);
    }

    /// As [`States::fill`], with shifts that need no certain register and a logarithm that takes one instruction.
    ///
    /// # Safety
    ///
    /// The processor must have BMI1, BMI2 and LZCNT.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "bmi1,bmi2,lzcnt")]
    unsafe fn fill_bmi2(&mut self, kind: Kind, distribution: &Distribution) {
        self.fill_inlined(kind, distribution);
    }

    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "the index is cut to the length")]
    fn fill_inlined(&mut self, kind: Kind, distribution: &Distribution) {
        self.log = distribution.log();
        let numbers = kind.numbers();
        let last = numbers.get(distribution.symbols().saturating_sub(1));
        // Symbols that come later have as many extra bits or more.
        self.most_extra = last.map_or(0, |&(_, extra)| extra);
        // The distribution has no symbols that the kind does not have.
        let mut all = [0; MOST_SYMBOLS.next_power_of_two()];
        for (to, &(base, extra)) in all.iter_mut().zip(numbers) {
            *to = u64::from(base) | u64::from(extra) << 56;
        }
        distribution.each_state(&mut self.entries, |state| {
            let number = all[usize::from(state.symbol) % all.len()];
            Entry::from_bits(number | u64::from(state.next) << 32 | u64::from(state.bits) << 48)
        });
    }
}

impl Entry {
    /// Makes an entry of what it is on a little-endian machine: one number.
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        let [a, b, c, d, e, f, bits, extra] = bits.to_le_bytes();
        Self {
            base: u32::from_le_bytes([a, b, c, d]),
            next: u16::from_le_bytes([e, f]),
            bits,
            extra,
        }
    }
}

impl Kind {
    /// How many symbols there are, and the most bits of a state.
    fn limits(self) -> (usize, u32) {
        match self {
            Self::Literals => (LITERALS.len(), 9),
            Self::Distance => (DISTANCES.len(), 8),
            Self::Match => (MATCHES.len(), 9),
        }
    }

    /// What symbols stand for: a number, and how many bits are to be added.
    fn numbers(self) -> &'static [(u32, u8)] {
        match self {
            Self::Literals => &LITERALS,
            Self::Distance => &DISTANCES,
            Self::Match => &MATCHES,
        }
    }

    /// The distribution that blocks need not describe, and the bits of its states.
    fn predefined(self) -> (&'static [i16], u32) {
        match self {
            Self::Literals => (&USUAL_LITERALS, 6),
            Self::Distance => (&USUAL_DISTANCES, 5),
            Self::Match => (&USUAL_MATCHES, 6),
        }
    }
}

/// Numbers of literals: those below 16 as they are, then the least of so many bits.
const LITERALS: [(u32, u8); 36] =
    with_bits(0, 16, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// Lengths of matches: those from 3 to 34 as they are, then the least of so many bits.
const MATCHES: [(u32, u8); 53] =
    with_bits(3, 32, &[1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

/// Numbers of distances: as many bits as the symbol says, below a 1.
#[expect(clippy::indexing_slicing, reason = "while compiling")]
const DISTANCES: [(u32, u8); 32] = {
    let mut numbers = [(0, 0); 32];
    let mut symbol = 0;
    while symbol < 32 {
        numbers[symbol as usize] = (1 << symbol, symbol);
        symbol += 1;
    }
    numbers
};

/// Numbers that follow each other from `least` on: `single` of them, then as many as the bits allow.
#[expect(clippy::indexing_slicing, reason = "while compiling")]
const fn with_bits<const N: usize>(least: u32, single: usize, bits: &[u8]) -> [(u32, u8); N] {
    let mut numbers = [(0, 0); N];
    let (mut symbol, mut number) = (0, least);
    while symbol < N {
        let extra = if symbol < single { 0 } else { bits[symbol - single] };
        numbers[symbol] = (number, extra);
        number += 1 << extra;
        symbol += 1;
    }
    numbers
}

const USUAL_LITERALS: [i16; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
    -1, -1, -1, -1,
];

const USUAL_DISTANCES: [i16; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];

const USUAL_MATCHES: [i16; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
