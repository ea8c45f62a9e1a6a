//! How often each byte of some literals occurs; mostly by a half of them, which is as good as all.

use crate::zstd::encode::byte_set::ByteSet;
use crate::zstd::encode::histogram::{
    Half, Quarters, count_half, count_quarters, second_half, sum,
};

/// Of so many literals a half is counted first.
pub(super) const MANY: usize = 1 << 14;

/// How often each byte of some literals occurs: every one of them at least once.
pub(super) struct Census {
    pub(super) quarters: Quarters,
    pub(super) total: [u32; 256],
    /// Only the first half was counted; the total is twice as much.
    pub(super) is_half: bool,
}

impl Census {
    /// Counts, or takes the counts of the first half of each quarter. The second half is counted as well if it has bytes that the first has
    /// not: these would have no code.
    pub(super) fn new(literals: &[u8], first_half: Option<&Quarters>) -> Self {
        if literals.len() < MANY && first_half.is_none() {
            return Census::of(count_quarters(literals));
        }
        let quarters = first_half.copied().unwrap_or_else(|| {
            let mut quarters = [[0; 256]; 4];
            count_half(literals, Half::First, &mut quarters);
            quarters
        });
        let mut half = Census::of(quarters);
        if ByteSet::of_missing(&half.total).has_any(second_half(literals)) {
            return half.all(literals);
        }
        half.is_half = true;
        half.total.iter_mut().for_each(|count| *count *= 2);
        half
    }

    fn of(quarters: Quarters) -> Self {
        Census { total: sum(&quarters), quarters, is_half: false }
    }

    /// The counts of both halves, where one was counted.
    pub(super) fn all(&self, literals: &[u8]) -> Self {
        let mut quarters = self.quarters;
        count_half(literals, Half::Second, &mut quarters);
        Census::of(quarters)
    }
}
