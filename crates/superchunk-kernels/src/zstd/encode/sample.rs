//! Looks at a few bytes of each part of the input before anything else is done with it.

#![expect(clippy::indexing_slicing, reason = "a byte indexes 256 counts")]

use crate::zstd::encode::histogram::divergence;

/// The part that is looked at as one.
pub(super) const UNIT: usize = 1 << 13;

/// Bytes that stand together in a sample, and how many such windows a unit has.
const WINDOW: usize = 64;
const WINDOWS: usize = 8;

/// The least divergence of two samples for which they are coded apart, and so much more for each
/// different byte.
const NEW_BLOCK: f32 = 200.0;
const PER_KIND: f32 = 2.0;

/// How often each byte was seen.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    counts: [u32; 256],
    total: u32,
}

/// Whether codes would hardly gain more than one byte in `1 << gain_shift`.
pub(super) fn is_noise(src: &[u8], gain_shift: u32) -> bool {
    let mut sample = Sample::default();
    for unit in src.chunks(UNIT) {
        sample.add(&Sample::of(unit));
        // Bytes that differ much here would be told in all of the source.
        if sample.excess() > 3 * NOISE {
            return false;
        }
    }
    // A gain of so much makes the excess about 11 times the total, divided by `1 << gain_shift`.
    sample.excess() < NOISE.max(255 + ((u64::from(sample.total) * 8) >> gain_shift))
}

/// The excess of bytes that are those of dice with 256 sides is 255 on average, and beyond this once
/// in 300 000 times.
const NOISE: u64 = 368;

impl Default for Sample {
    fn default() -> Self {
        Sample { counts: [0; 256], total: 0 }
    }
}

impl Sample {
    /// A sample of a unit, or of fewer bytes.
    pub(super) fn of(unit: &[u8]) -> Self {
        let mut sample = Sample::default();
        let stride = (unit.len() / WINDOWS).max(WINDOW);
        for window in unit.chunks(stride) {
            let window = window.get(..WINDOW).unwrap_or(window);
            let repeats =
                window.first() == window.last() && window.iter().all(|b| Some(b) == window.first());
            match window.first() {
                // Adding to the same count again and again takes long.
                #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
                Some(&byte) if repeats => sample.counts[usize::from(byte)] += window.len() as u32,
                _ => window.iter().for_each(|&byte| sample.counts[usize::from(byte)] += 1),
            }
            #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
            let len = window.len() as u32;
            sample.total += len;
        }
        sample
    }

    /// Adds what was seen elsewhere.
    pub(super) fn add(&mut self, other: &Sample) {
        for (count, other) in self.counts.iter_mut().zip(other.counts) {
            *count += other;
        }
        self.total += other.total;
    }

    /// Whether the other bytes differ so much that a block of their own pays.
    ///
    /// The divergence of bytes of the same kind is about as large as the number of different ones.
    pub(super) fn differs(&self, other: &Sample) -> bool {
        let pairs = self.counts.iter().zip(&other.counts);
        let kinds: u8 = pairs.map(|(a, b)| u8::from(a | b > 0)).fold(0, u8::saturating_add);
        let limit = NEW_BLOCK + PER_KIND * f32::from(kinds);
        divergence(&self.counts, self.total, &other.counts, other.total) > limit
    }

    /// The sum of squares, times 256 and divided by the total, less the total.
    fn excess(&self) -> u64 {
        let squares: u32 = self.counts.iter().map(|&count| count * count).sum();
        (u64::from(squares) * 256 / u64::from(self.total.max(1))).saturating_sub(self.total.into())
    }
}
