//! What literals and matches are expected to cost, so that matches that do not pay are left alone.

#![expect(clippy::indexing_slicing, reason = "slots and lengths index tables of all of them")]

use crate::deflate::stats::{COST_BITS, Counts, log2};
use crate::deflate::symbols::{
    DISTANCE_SYMBOLS, END, LENGTH_EXTRA, LENGTH_SLOT, MAX_DISTANCE, MAX_MATCH, MIN_MATCH,
    distance_extra, distance_slot,
};

/// Expected costs, in bits with [`COST_BITS`] fraction bits.
///
/// What a symbol *gains* is what the bytes that it stands for cost on average, less its own cost.
pub(super) struct Model {
    /// A literal, on average.
    pub(super) average: i32,
    /// How many of 256 bytes are part of matches.
    pub(super) matched: usize,
    /// The length of a match, on average.
    pub(super) match_length: usize,
    /// What a byte is taken to cost when matches are compared.
    rate: i32,
    /// A match of this length pays at any distance.
    pub(super) surely_pays: usize,
    /// The code of each literal.
    literal: [i32; 256],
    /// The code of a length and its extra bits, by symbol less 257.
    length: [i32; 32],
    /// The code of a distance and its extra bits, by symbol.
    distance: [i32; 32],
}

const BIT: i32 = 1 << COST_BITS;

/// The longest code that is expected.
const MAX_CODE: i32 = 12 * BIT;

/// Where literals are cheap, matches are, too, and it pays to have them long.
const LEAST_RATE: i32 = 6 * BIT;

impl Model {
    /// Before anything is known but a sample of the bytes.
    #[expect(clippy::cast_possible_wrap, reason = "costs are below 64 bits")]
    pub(super) fn new(sample: &[u8]) -> Self {
        let mut counts = Counts::new();
        counts.add_literals(sample);
        let mut model = Model {
            average: BIT,
            matched: 0,
            match_length: 0,
            rate: 0,
            surely_pays: 0,
            literal: [0; 256],
            length: [0; 32],
            distance: [0; 32],
        };
        model.learn_literals(&counts);
        for (slot, cost) in (0_i32..).zip(&mut model.length) {
            *cost = 4 * BIT + slot * BIT / 3;
        }
        for (slot, cost) in model.distance.iter_mut().enumerate() {
            *cost = (distance_extra(slot) as i32 + 4) * BIT;
        }
        model.find_what_surely_pays();
        model
    }

    /// Expects more of the same.
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        reason = "costs are below 64 bits"
    )]
    pub(super) fn learn(&mut self, counts: &Counts, bytes: usize) {
        let literals: u32 = counts.litlen[..END].iter().sum();
        let matched = bytes.saturating_sub(literals as usize);
        let matches: u32 = counts.distance.iter().sum();
        self.matched = 256 * matched / bytes.max(1);
        self.match_length = matched / (matches as usize).max(1);
        self.learn_literals(counts);
        let all = log2(counts.litlen.iter().sum());
        let lengths = counts.litlen[END + 1..].iter().zip(LENGTH_EXTRA);
        for (cost, (&count, extra)) in self.length.iter_mut().zip(lengths) {
            let code = all.saturating_sub(log2(count + 1)) as i32;
            *cost = code.clamp(BIT, 9 * BIT) + i32::from(extra) * BIT;
        }
        let all = log2(counts.distance.iter().sum::<u32>() + DISTANCE_SYMBOLS as u32);
        for (slot, (cost, &count)) in self.distance.iter_mut().zip(&counts.distance).enumerate() {
            let code = all.saturating_sub(log2(count + 1)) as i32;
            *cost = code.clamp(BIT, 8 * BIT) + distance_extra(slot) as i32 * BIT;
        }
        self.find_what_surely_pays();
    }

    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        reason = "costs are below 64 bits"
    )]
    fn learn_literals(&mut self, counts: &Counts) {
        let all = log2(counts.litlen.iter().sum());
        let (mut literals, mut spent) = (0, 0);
        for (cost, &count) in self.literal.iter_mut().zip(&counts.litlen) {
            if count == 0 {
                *cost = MAX_CODE;
                continue;
            }
            *cost = (all.saturating_sub(log2(count)) as i32).clamp(BIT, MAX_CODE);
            literals += u64::from(count);
            spent += u64::from(count) * u64::from(cost.unsigned_abs());
        }
        self.average = spent.checked_div(literals).map_or(self.average, |cost| cost as i32);
        self.rate = self.average.max(LEAST_RATE);
    }

    fn find_what_surely_pays(&mut self) {
        let worst = self.distance.iter().max().copied().unwrap_or(0);
        let fits = |&length: &usize| self.gain(length, 1) + self.distance[0] > worst;
        self.surely_pays = (MIN_MATCH..32).find(fits).unwrap_or(32);
    }

    /// What a literal gains: mostly, it is a loss.
    #[inline(always)]
    pub(super) fn literal_gain(&self, byte: u8) -> i32 {
        self.rate - self.literal[usize::from(byte)]
    }

    /// What a match gains.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "below 259")]
    pub(super) fn gain(&self, length: usize, distance: usize) -> i32 {
        let length = length.min(MAX_MATCH);
        let slot = LENGTH_SLOT[(length - MIN_MATCH) & 255];
        length as i32 * self.rate
            - self.length[usize::from(slot) & 31]
            - self.distance[distance_slot(distance & (2 * MAX_DISTANCE - 1)) & 31]
    }
}
