//! The description of a code: a weight for each symbol, 0 when it does not occur, and one more for each bit that its code
//! is shorter than the longest.

use super::super::backward::Backward;
use super::super::fse::{Distribution, MOST_STATES, State};
use super::table::{LONGEST, MOST_SYMBOLS};

/// What is said of a code that cannot be.
const WRONG: &str = "zstd Huffman code is corrupt";

/// The states of compressed weights are few.
const WEIGHT_LOG: u32 = 6;

/// The weights of all symbols, and the length of the longest code.
pub(super) struct Weights {
    pub(super) of_symbol: [u8; MOST_SYMBOLS],
    pub(super) symbols: usize,
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
        let mut sum = 0_u32;
        let mut least = 0;
        for &weight in of_symbol.iter().take(symbols) {
            if u32::from(weight) > LONGEST {
                return Err(WRONG);
            }
            sum += (1 << weight) >> 1;
            least += u32::from(weight == 1);
        }
        let longest = sum.checked_ilog2().ok_or(WRONG)? + 1;
        let left = (1 << longest) - sum;
        let last = of_symbol.get_mut(symbols).ok_or(WRONG)?;
        if longest > LONGEST || !left.is_power_of_two() {
            return Err(WRONG);
        }
        [*last, ..] = (left.ilog2() + 1).to_le_bytes();
        // The longest codes come in pairs, and there is one.
        least += u32::from(*last == 1);
        if least < 2 {
            return Err(WRONG);
        }
        Ok(Self { of_symbol, symbols: symbols + 1, longest })
    }
}

/// Decodes compressed weights and tells how many they are. Two states take turns; the stream ends where one of them asks for
/// bits that are not there, and then the other one still has a weight.
fn unpack(packed: &[u8], weights: &mut [u8; MOST_SYMBOLS]) -> Result<usize, &'static str> {
    let most = usize::try_from(LONGEST).unwrap_or(0) + 1;
    let (distribution, used) = Distribution::read(packed, most, WEIGHT_LOG)?;
    let mut states = [State { symbol: 0, bits: 0, next: 0 }; MOST_STATES];
    distribution.each_state(&mut states, |state| state);
    let mut bits = packed.get(used..).and_then(Backward::new).ok_or(WRONG)?;
    let mut turn = bits.take(distribution.log()).ok_or(WRONG)?;
    let mut other = bits.take(distribution.log()).ok_or(WRONG)?;
    let state_of = |number: u64| {
        usize::try_from(number).ok().and_then(|number| states.get(number)).ok_or(WRONG)
    };
    let mut count = 0;
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
        let state = state_of(turn)?;
        push(state.symbol)?;
        let Some(more) = bits.take(u32::from(state.bits)) else {
            return push(state_of(other)?.symbol);
        };
        turn = other;
        other = u64::from(state.next) + more;
    }
}
