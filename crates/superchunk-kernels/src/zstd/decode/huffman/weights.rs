//! The description of a code: a weight for each symbol, 0 when it does not occur, and one more for each bit that its code
//! is shorter than the longest.

use super::super::backward::Backward;
use super::super::fse::Distribution;
use super::table::{LONGEST, MOST_SYMBOLS};

/// What is said of a code that cannot be.
const WRONG: &str = "zstd Huffman code is corrupt";

/// Weights have 4 bits.
pub(super) const WEIGHTS: usize = 16;

/// The states of compressed weights are few.
const WEIGHT_LOG: u32 = 6;

/// The weights of all symbols, and the length of the longest code.
pub(super) struct Weights {
    pub(super) of_symbol: [u8; MOST_SYMBOLS],
    /// So many symbols have one that can be other than 0.
    pub(super) symbols: usize,
    /// How many symbols have each weight.
    pub(super) counts: [u16; WEIGHTS],
    pub(super) longest: u32,
}

impl Weights {
    /// Reads the description at the begin of `src`, and tells how many bytes it took.
    pub(super) fn read(src: &[u8]) -> Result<(Self, usize), &'static str> {
        let (&head, rest) = src.split_first().ok_or(WRONG)?;
        let mut of_symbol = [0; MOST_SYMBOLS];
        let head = usize::from(head);
        let (symbols, used) = if head >= 128 {
            let symbols = head - 127;
            let used = symbols.div_ceil(2);
            let pairs = rest.get(..used).ok_or(WRONG)?;
            let nibbles = pairs.iter().flat_map(|pair| [pair >> 4, pair & 15]);
            of_symbol.iter_mut().zip(nibbles.take(symbols)).for_each(|(to, weight)| *to = weight);
            (symbols, used)
        } else {
            let packed = rest.get(..head).ok_or(WRONG)?;
            (unpack(packed, &mut of_symbol)?, head)
        };
        Ok((Self::complete(of_symbol, symbols)?, 1 + used))
    }

    /// Adds the weight of the last symbol, which is what the others leave.
    fn complete(mut of_symbol: [u8; MOST_SYMBOLS], symbols: usize) -> Result<Self, &'static str> {
        let mut counts = count(&of_symbol);
        let known = counts.iter().zip(0..).skip(1);
        let sum: u32 = known.map(|(count, weight)| u32::from(*count) << weight >> 1).sum();
        let longest = sum.checked_ilog2().ok_or(WRONG)? + 1;
        let left = (1 << longest) - sum;
        let last = of_symbol.get_mut(symbols).ok_or(WRONG)?;
        // A weight that is too large makes too large a sum.
        if longest > LONGEST || !left.is_power_of_two() {
            return Err(WRONG);
        }
        [*last, ..] = (left.ilog2() + 1).to_le_bytes();
        if let Some(count) = counts.get_mut(usize::from(*last)) {
            *count += 1;
        }
        // The longest codes come in pairs, and there is one.
        let [_, least, ..] = counts;
        if least < 2 {
            return Err(WRONG);
        }
        Ok(Self { of_symbol, symbols: symbols + 1, counts, longest })
    }
}

/// How many symbols have each weight.
fn count(of_symbol: &[u8; MOST_SYMBOLS]) -> [u16; WEIGHTS] {
    let mut counts = [0; WEIGHTS];
    let (halves, _) = of_symbol.as_chunks::<{ MOST_SYMBOLS / 2 }>();
    for (count, weight) in counts.iter_mut().zip(0_u8..) {
        // Sums of bytes, which no half is too long for.
        let in_half = |half: &[u8; MOST_SYMBOLS / 2]| {
            half.iter().fold(0_u8, |sum, other| sum.wrapping_add(u8::from(*other == weight)))
        };
        *count = halves.iter().map(|half| u16::from(in_half(half))).sum();
    }
    counts
}

/// Decodes compressed weights and tells how many they are. Two states take turns; the stream ends where one of them asks for
/// bits that are not there, and then the other one still has a weight.
#[expect(clippy::indexing_slicing, reason = "the index is cut to the length")]
fn unpack(packed: &[u8], weights: &mut [u8; MOST_SYMBOLS]) -> Result<usize, &'static str> {
    let most = usize::try_from(LONGEST).unwrap_or(0) + 1;
    let (distribution, used) = Distribution::read(packed, most, WEIGHT_LOG)?;
    let mut states = [[0; 3]; 1 << WEIGHT_LOG];
    distribution.each_state(&mut states, |state| {
        [state.symbol, state_number(state.bits.into()), state_number(state.next.into())]
    });
    let state_of = |number: u8| states[usize::from(number) % states.len()];
    let mut bits = packed.get(used..).and_then(Backward::new).ok_or(WRONG)?;
    let mut turn = state_number(bits.take(distribution.log()).ok_or(WRONG)?);
    let mut other = state_number(bits.take(distribution.log()).ok_or(WRONG)?);
    let mut count = 0;
    // As many at once as a word is enough for.
    while bits.has(AT_ONCE * WEIGHT_LOG as usize) {
        let Some(weights) = weights.get_mut(count..).and_then(<[u8]>::first_chunk_mut::<AT_ONCE>)
        else {
            break;
        };
        let mut word = bits.peek();
        let mut used = 0;
        for weight in weights {
            let [symbol, bits, next] = state_of(turn);
            *weight = symbol;
            let more = (word >> 1) >> (63 - (bits & 63));
            word <<= bits & 63;
            used += usize::from(bits);
            (turn, other) = (other, next.wrapping_add(state_number(more)));
        }
        bits.skip(used).ok_or(WRONG)?;
        count += AT_ONCE;
    }
    // One place is kept for the last symbol, which has no weight here.
    let mut push = |weight| match weights.get_mut(count).filter(|_| count < MOST_SYMBOLS - 1) {
        Some(place) => {
            *place = weight;
            count += 1;
            Ok(count)
        }
        None => Err(WRONG),
    };
    loop {
        let [symbol, new_bits, next] = state_of(turn);
        push(symbol)?;
        let Some(more) = bits.take(new_bits.into()) else {
            let [symbol, ..] = state_of(other);
            return push(symbol);
        };
        (turn, other) = (other, next.wrapping_add(state_number(more)));
    }
}

/// How many weights are decoded without a look at how many bits are left: a word has 57.
const AT_ONCE: usize = 8;

/// A number of few bits.
#[inline(always)]
fn state_number(bits: u64) -> u8 {
    bits.to_le_bytes()[0]
}
