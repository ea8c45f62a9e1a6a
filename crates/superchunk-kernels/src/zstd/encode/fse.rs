//! FSE, the table form of arithmetic coding: shares of symbols, their description, coding states.

#![expect(clippy::indexing_slicing, reason = "symbols and states are below the tables' lengths")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "shares and states are below 1024"
)]

use crate::zstd::encode::bits::{BitWriter, Unchecked};
use crate::zstd::encode::price::{BIT, log2};

/// More symbols than any alphabet coded here has.
pub(super) const SYMBOLS: usize = 64;

/// The finest division of the whole that is used: 512 shares.
const MAX_LOG: u32 = 9;

/// How the `1 << log` shares of the whole are divided. A share of -1 is the least, as 1, but its
/// state stands at the end of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    pub(super) log: u32,
    pub(super) of: [i16; SYMBOLS],
}

impl Shares {
    /// Shares for these counts, at most `1 << max_log` in all. At least two counts are not zero.
    pub(super) fn of_counts(counts: &[u32; SYMBOLS], total: u32, max_log: u32) -> Self {
        let present = counts.iter().filter(|&&count| count > 0).count() as u32;
        // So few shares that a decoder's table is made in little time: an eighth of the symbols to be coded, to a quarter. Four times as
        // many would make a frame 0.05 % shorter.
        let useful = total.max(2).ilog2().saturating_sub(3);
        let log = useful.max(present.ilog2() + 1).clamp(5, max_log);
        let mut shares = Shares { log, of: [0; SYMBOLS] };
        let size = 1_i32 << log;
        let mut left = size;
        // One division for all: the fraction has 31 bits, or as many as the counts leave free.
        let unit = (1_u64 << (log + 32)) / u64::from(total);
        let mut most = (0, 0);
        for (symbol, (share, &count)) in shares.of.iter_mut().zip(counts).enumerate() {
            if count > 0 {
                let exact = (u64::from(count) * unit) >> 31;
                *share = (exact.div_ceil(2).max(1) as i16).min(size as i16 - 1);
                left -= i32::from(*share);
                most = most.max((*share, symbol));
            }
        }
        // A few shares more or less make next to no difference to the symbol that has most.
        if left.abs() <= i32::from(most.0) / 6 {
            shares.of[most.1] += left as i16;
        } else {
            shares.settle(counts, left);
        }
        shares
    }

    /// Gives or takes shares one by one, where it gains most or costs least.
    fn settle(&mut self, counts: &[u32; SYMBOLS], mut left: i32) {
        let step = left.signum() as i16;
        let gain = |share: i16, count: u32| {
            let bits = i64::from(log2((share + step) as u32)) - i64::from(log2(share as u32));
            if share + step < 1 { i64::MIN } else { bits * i64::from(count) }
        };
        let mut gains = [(i64::MIN, 0); SYMBOLS];
        let mut present = 0;
        for (symbol, (&share, &count)) in self.of.iter().zip(counts).enumerate() {
            if count > 0 {
                gains[present] = (gain(share, count), symbol);
                present += 1;
            }
        }
        while left != 0 {
            let Some(best) = gains[..present].iter_mut().max() else { return };
            let share = &mut self.of[best.1];
            *share += step;
            best.0 = gain(*share, counts[best.1]);
            left -= i32::from(step);
        }
    }

    /// What one occurrence of `symbol` costs, if it has a share.
    #[inline(always)]
    pub(super) fn price(&self, symbol: usize) -> Option<u32> {
        match self.of[symbol] {
            0 => None,
            share => Some(self.log * BIT - log2(share.unsigned_abs().into())),
        }
    }

    /// What symbols of these counts cost together, if all have a share.
    pub(super) fn price_of(&self, counts: &[u32; SYMBOLS]) -> Option<u64> {
        let mut sum = 0;
        for (symbol, &count) in counts.iter().enumerate() {
            if count > 0 {
                sum += u64::from(count) * u64::from(self.price(symbol)?);
            }
        }
        Some(sum)
    }

    /// Writes the description of the shares; `None` if it does not fit.
    ///
    /// Each share is written as one more than itself, in as few bits as the rest of the whole
    /// needs; after a share of zero follows how many more zeros there are, 3 at a time.
    pub(super) fn describe(&self, dst: &mut [u8]) -> Option<usize> {
        let mut out = BitWriter::new(dst);
        out.add(u64::from(self.log - 5), 4);
        let mut left = (1_u32 << self.log) + 1;
        let mut threshold = 1_u32 << self.log;
        let mut bits = self.log + 1;
        let mut symbol = 0;
        while left > 1 {
            let share = *self.of.get(symbol)?;
            let value = (share + 1) as u32;
            let short = 2 * threshold - 1 - left;
            if value < short {
                out.add(u64::from(value), bits - 1);
            } else {
                out.add(u64::from(value + if value < threshold { 0 } else { short }), bits);
            }
            out.flush();
            left -= u32::from(share.unsigned_abs());
            symbol += 1;
            while left < threshold {
                bits -= 1;
                threshold >>= 1;
            }
            if share == 0 {
                let mut zeros = self.of[symbol..].iter().take_while(|&&share| share == 0).count();
                symbol += zeros;
                while zeros >= 3 {
                    out.add(3, 2);
                    out.flush();
                    zeros -= 3;
                }
                out.add(zeros as u64, 2);
            }
        }
        out.finish()
    }
}

/// How one symbol moves a state: the bits it puts out, and where its next states begin.
#[derive(Clone, Copy, Debug, Default)]
struct Move {
    /// In the upper half the number of bits, less one for low states: see [`Coder::put`].
    bits: u32,
    next: i32,
}

/// The coding table for some shares.
#[derive(Clone, Debug)]
pub(super) struct Table {
    states: [u16; 1 << MAX_LOG],
    moves: [Move; SYMBOLS],
    log: u32,
}

impl Table {
    /// For a single symbol: there is one state, and no bits.
    pub(super) fn single() -> Self {
        Table { states: [0; 1 << MAX_LOG], moves: [Move::default(); SYMBOLS], log: 0 }
    }

    pub(super) fn new(shares: &Shares) -> Self {
        let size = 1_usize << shares.log;
        let mut table =
            Table { states: [0; 1 << MAX_LOG], moves: [Move::default(); SYMBOLS], log: shares.log };
        let spread = spread(shares, size);
        let mut begin = [0_u16; SYMBOLS];
        let mut sum = 0_u16;
        for (symbol, &share) in shares.of.iter().enumerate() {
            begin[symbol] = sum;
            let share = u32::from(share.unsigned_abs());
            if share > 0 {
                let most = shares.log - (share - 1).checked_ilog2().unwrap_or(0);
                // A single share always puts out all bits.
                let most = if share == 1 { shares.log } else { most };
                table.moves[symbol] = Move {
                    bits: (most << 16).wrapping_sub(share << most),
                    next: i32::from(sum) - share as i32,
                };
                sum += share as u16;
            }
        }
        for (state, &symbol) in spread[..size].iter().enumerate() {
            let place = &mut begin[usize::from(symbol)];
            table.states[usize::from(*place) & ((1 << MAX_LOG) - 1)] = (size + state) as u16;
            *place += 1;
        }
        table
    }
}

/// Which symbol each state stands for: the shares of a symbol are scattered over the table by a
/// fixed step, except for the least ones, which stand at its end.
fn spread(shares: &Shares, size: usize) -> [u8; 1 << MAX_LOG] {
    let mut symbols = [0_u8; 1 << MAX_LOG];
    let mut high = size;
    for (symbol, &share) in shares.of.iter().enumerate() {
        if share == -1 {
            high -= 1;
            symbols[high] = symbol as u8;
        }
    }
    let step = (size >> 1) + (size >> 3) + 3;
    let mut place = 0;
    for (symbol, &share) in shares.of.iter().enumerate() {
        for _ in 0..share.max(0) {
            symbols[place] = symbol as u8;
            loop {
                place = (place + step) & (size - 1);
                if place < high {
                    break;
                }
            }
        }
    }
    symbols
}

/// A coding state. Symbols are put in from the last to the first.
#[derive(Clone, Copy)]
pub(super) struct Coder<'a> {
    table: &'a Table,
    state: u32,
}

impl<'a> Coder<'a> {
    /// The state that stands for `last`, at no cost; of those, one that is left by most bits.
    #[inline(always)]
    pub(super) fn new(table: &'a Table, last: usize) -> Self {
        let step = table.moves[last & (SYMBOLS - 1)];
        let bits = (step.bits + (1 << 15)) >> 16;
        let value = ((bits << 16).wrapping_sub(step.bits)) >> bits;
        let place = (value as i32 + step.next) as usize & ((1 << MAX_LOG) - 1);
        Coder { table, state: u32::from(table.states[place]) }
    }

    /// Puts one more symbol in front.
    ///
    /// # Safety
    ///
    /// The symbol has a share in the table, or the table is that of a single symbol.
    #[inline(always)]
    pub(super) unsafe fn put(&mut self, symbol: usize, out: &mut Unchecked) {
        // SAFETY: a symbol with a share is less than `SYMBOLS`. Its bits leave of the state a number
        // from the share up to twice the share; with `next` it is one of its places in the table.
        unsafe {
            let step = self.table.moves.get_unchecked(symbol);
            let bits = self.state.wrapping_add(step.bits) >> 16;
            out.add(u64::from(self.state & ((1 << bits) - 1)), bits);
            let place = (self.state >> bits).wrapping_add_signed(step.next) as usize;
            self.state = u32::from(*self.table.states.get_unchecked(place));
        }
    }

    /// Writes the state itself, from which a decoder begins.
    #[inline(always)]
    pub(super) fn finish(self, out: &mut Unchecked) {
        let log = self.table.log;
        out.add(u64::from(self.state & ((1 << log) - 1)), log);
    }
}
