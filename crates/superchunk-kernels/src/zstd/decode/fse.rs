//! Finite state entropy: how often each symbol comes, and the states that follow from it.

/// The most symbols of an alphabet here: those of match lengths.
pub(super) const MOST_SYMBOLS: usize = 53;
/// The most bits of a state number.
pub(super) const MOST_LOG: u32 = 9;
/// The most states.
pub(super) const MOST_STATES: usize = 1 << MOST_LOG;
/// [`MOST_SYMBOLS`], and some more to make it a power of two.
const SPREAD_SYMBOLS: usize = 64;

/// How many of the states belong to each symbol.
pub(super) struct Distribution {
    /// -1 means less than one: a single state that is always entered with all bits new.
    counts: [i16; MOST_SYMBOLS],
    symbols: usize,
    log: u32,
}

/// What a state stands for: a symbol, and the state that follows is `next` plus a number of so many bits.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) symbol: u8,
    pub(super) bits: u32,
    pub(super) next: u32,
}

impl Distribution {
    /// A distribution that the format knows by itself. `counts` are for 2 to the power of `log` states.
    pub(super) fn predefined(counts: &[i16], log: u32) -> Self {
        let mut all = [0; MOST_SYMBOLS];
        for (to, from) in all.iter_mut().zip(counts) {
            *to = *from;
        }
        Self { counts: all, symbols: counts.len().min(MOST_SYMBOLS), log }
    }

    /// Reads a distribution over at most `most_symbols` symbols, and tells how many bytes it took.
    pub(super) fn read(
        src: &[u8],
        most_symbols: usize,
        most_log: u32,
    ) -> Result<(Self, usize), &'static str> {
        const WRONG: &str = "zstd distribution of codes is corrupt";
        let mut bits = Forward { bytes: src, position: 0 };
        let log = bits.take(4) + 5;
        if log > most_log.min(MOST_LOG) {
            return Err(WRONG);
        }
        let mut counts = [0_i16; MOST_SYMBOLS];
        let mut symbols = 0;
        // The states that are left, and one.
        let mut remaining = (1 << log) + 1;
        while remaining > 1 {
            let count = bits.take_up_to(remaining);
            let place = counts.get_mut(symbols).filter(|_| symbols < most_symbols).ok_or(WRONG)?;
            *place = i16::try_from(count).map_err(|_| WRONG)? - 1;
            remaining -= u32::from(place.unsigned_abs());
            symbols += 1;
            if *place == 0 {
                symbols += bits.take_zeros();
            }
        }
        let used = bits.position.div_ceil(8);
        if remaining != 1 || symbols > most_symbols || used > src.len() {
            return Err(WRONG);
        }
        Ok((Self { counts, symbols, log }, used))
    }

    /// How many bits the number of a state has.
    pub(super) fn log(&self) -> u32 {
        self.log
    }

    /// How many symbols there are: the last one has states.
    pub(super) fn symbols(&self) -> usize {
        self.symbols
    }

    /// Sets the entry of each state to what `entry_of` makes of it. There must not be fewer entries.
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "symbols are below 64, as `read` sees to")]
    pub(super) fn each_state<T>(&self, entries: &mut [T], entry_of: impl Fn(State) -> T) {
        let size = 1_u32 << self.log;
        let zeros_of_size = size.leading_zeros();
        let symbols = self.spread();
        // The next number of each symbol: from its count on.
        let mut numbers = [0_u32; SPREAD_SYMBOLS];
        for (number, count) in numbers.iter_mut().zip(self.counts) {
            *number = u32::from(count.unsigned_abs());
        }
        let symbols = symbols.get(..size as usize).unwrap_or_default();
        for (entry, &symbol) in entries.iter_mut().zip(symbols) {
            let place = &mut numbers[usize::from(symbol) % SPREAD_SYMBOLS];
            let number = *place;
            *place += 1;
            // As many new bits as bring the number up to those of all states.
            let bits = number.leading_zeros().wrapping_sub(zeros_of_size);
            let next = number.wrapping_shl(bits).wrapping_sub(size);
            *entry = entry_of(State { symbol, bits, next });
        }
    }

    /// The symbol of each state.
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "positions are below the number of states")]
    fn spread(&self) -> [u8; MOST_STATES] {
        let size = 1_usize << self.log;
        // Those of less than one state have the last ones, the others follow each other by steps.
        let mut of_state = [0; MOST_STATES];
        let mut in_order = [0; MOST_STATES + 8];
        let mut last = [0; SPREAD_SYMBOLS];
        let (mut end, mut filled) = (size, 0);
        for (&count, symbol) in self.counts.iter().zip(0_u8..).take(self.symbols) {
            if count < 0 {
                last[(size - end) % SPREAD_SYMBOLS] = symbol;
                end -= 1;
                continue;
            }
            // Most have eight states or fewer.
            let count = usize::from(count.unsigned_abs());
            if let Some(places) = in_order.get_mut(filled..filled + 8) {
                places.fill(symbol);
            }
            if let Some(places) = in_order.get_mut(filled + 8..filled + count) {
                places.fill(symbol);
            }
            filled += count;
        }
        let step = (size >> 1) + (size >> 3) + 3;
        let mut position = 0;
        if end == size {
            for &symbol in in_order.iter().take(size) {
                of_state[position % MOST_STATES] = symbol;
                position = (position + step) & (size - 1);
            }
            return of_state;
        }
        // A symbol whose place is one of the last has the next one, too: that is cheaper than to ask.
        let mut taken = 0;
        for _ in 0..size {
            of_state[position % MOST_STATES] = in_order[taken % MOST_STATES];
            taken += usize::from(position < end);
            position = (position + step) & (size - 1);
        }
        for (place, &symbol) in (end..size).rev().zip(&last) {
            of_state[place % MOST_STATES] = symbol;
        }
        of_state
    }
}

/// Bits that are read from the begin of a stream, the lowest first; zeros behind the last.
struct Forward<'a> {
    bytes: &'a [u8],
    /// In bits.
    position: usize,
}

impl Forward<'_> {
    /// The next 16 bits and more.
    fn peek(&self) -> u32 {
        let bytes = self.bytes.get(self.position / 8..).unwrap_or_default();
        let word = match bytes.first_chunk::<4>() {
            Some(word) => u32::from_le_bytes(*word),
            None => bytes.iter().rev().fold(0, |word, &byte| (word << 8) | u32::from(byte)),
        };
        word >> (self.position % 8)
    }

    fn take(&mut self, bits: u32) -> u32 {
        let value = self.peek() & ((1 << bits) - 1);
        self.position += bits as usize;
        value
    }

    /// Reads a number from 0 to `most`. Small numbers have a bit less where the bits allow more than `most`.
    fn take_up_to(&mut self, most: u32) -> u32 {
        let bits = most.ilog2() + 1;
        let half = 1 << (bits - 1);
        let spare = 2 * half - 1 - most;
        let word = self.peek();
        let short = word & (half - 1);
        if short < spare {
            self.position += bits as usize - 1;
            return short;
        }
        self.position += bits as usize;
        let long = word & (2 * half - 1);
        if long >= half { long - spare } else { long }
    }

    /// Reads how many symbols more have no states.
    fn take_zeros(&mut self) -> usize {
        let mut zeros = 0;
        // Bounded, as zeros follow behind the last byte.
        loop {
            let more = self.take(2);
            zeros += more as usize;
            if more < 3 {
                return zeros;
            }
        }
    }
}
