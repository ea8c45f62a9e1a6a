//! Whether it is likely to pay to look for a few bytes.

use crate::Wanted;

/// Whether it may pay to look for what is wanted.
pub(in super::super) fn may_pay(wanted: &Wanted) -> bool {
    /// What it takes to follow a further piece, and a byte, in bytes of a stream.
    const PIECE: usize = 4096;
    const BYTE: usize = 8;
    let end = wanted.end();
    let pieces = wanted.count.saturating_sub(1).saturating_mul(PIECE);
    let bytes = wanted.count.saturating_mul(wanted.len).saturating_mul(BYTE);
    // All places are told in 32 bits.
    (1024..1 << 30).contains(&end) && pieces.saturating_add(bytes) < end
}

/// How often pieces may be followed to another place before it is given up: what that takes should not be
/// much, compared to noting so many sequences.
pub(super) fn most_steps(wanted: &Wanted, noted: usize) -> usize {
    wanted.count.saturating_mul(8).saturating_add(128 + noted / 8)
}

/// What a block says of a stream.
pub(super) struct Share {
    pub(super) literals: usize,
    pub(super) sequences: usize,
    /// The bytes of the block, and those of the stream.
    pub(super) stored: usize,
    pub(super) all: usize,
}

impl Share {
    /// Whether it may pay to follow a piece of an output of so many bytes, if all blocks are like this one.
    /// With few literals what matches repeat are other matches, and so on.
    pub(super) fn may_pay(&self, wanted: &Wanted, output: usize) -> bool {
        /// In the time of a step from match to match so many sequences are noted.
        const STEP: usize = 40;
        /// So many sequences more take the time that there is to lose.
        const SPARE: usize = 1000;
        let share = |whole: usize, part: usize, of: usize| whole.saturating_mul(part) / of.max(1);
        let output = share(output, self.stored, self.all);
        let cuts = share(wanted.len, self.sequences, output);
        if cuts >= 4 && self.sequences > 2 * self.literals {
            return false;
        }
        let depth = 1 + share(8, self.sequences, self.literals);
        let steps = cuts.saturating_add(1).saturating_mul(depth);
        let noted = share(self.sequences, wanted.end(), output);
        steps.saturating_mul(STEP) <= noted.saturating_add(SPARE)
    }
}
