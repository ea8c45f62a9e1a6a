//! Where sequences of a stream begin, noted while it is written, so that a few bytes can be [found](crate::Tracer) from there on.

use alloc::vec::Vec;

/// A place in a stream where a sequence begins, and the place of its first byte in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The byte of the stream, or its bit if sequences may begin anywhere in one.
    pub at: usize,
    /// The byte of the output.
    pub out: usize,
}

/// Notes the first sequence that begins in each piece of `step` bytes, or bits, of a stream, and what these sequences are like.
#[derive(Clone, Debug, Default)]
pub struct Marker {
    step: usize,
    /// From here on the next mark is due.
    due: usize,
    marks: Vec<Mark>,
    inner: Vec<Mark>,
    sample: Sample,
}

/// The marked sequences, summed up.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    literals: usize,
    repeated: usize,
    /// The logarithms of the distances of all repeated bytes.
    magnitudes: usize,
}

impl Marker {
    /// Forgets the stream before; marks of the next one are `step` bytes, or bits, apart, at least 1.
    pub fn begin(&mut self, step: usize) {
        self.step = step.max(1);
        self.begin_again();
    }

    /// Forgets the marks, since the stream is written anew.
    pub fn begin_again(&mut self) {
        (self.due, self.sample) = (self.step, Sample::default());
        self.marks.clear();
        self.inner.clear();
    }

    /// The marks, in order. The begin of a stream needs none.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The begins of all blocks inside of the stream, for codecs that have such; nothing if they were not noted.
    #[must_use]
    pub fn inner(&self) -> &[Mark] {
        &self.inner
    }

    /// How many steps from match to match lead from a byte to the begin of a stream that decodes to `len` bytes, in the mean and judged by
    /// the sequences that were marked: as if each byte were repeated from as far away as what it repeats, and so far only as literals are few.
    #[must_use]
    pub fn steps(&self, len: usize) -> usize {
        let Sample { literals, repeated, magnitudes } = self.sample;
        let magnitude = (2 * magnitudes + repeated) / (2 * repeated).max(1);
        let steps = (len / 2) >> magnitude.min(63);
        1 + steps.saturating_mul(repeated) / (literals + repeated).max(1)
    }

    /// From this byte of the stream on the next mark is due.
    pub(crate) fn due(&self) -> usize {
        self.due
    }

    /// Notes a block inside of the stream.
    pub(crate) fn note_inner(&mut self, block: Mark) {
        self.inner.push(block);
    }

    /// Notes a sequence of so many literals and this match.
    #[cold]
    pub(crate) fn note(&mut self, mark: Mark, literals: usize, distance: usize, length: usize) {
        self.marks.push(mark);
        self.due = (mark.at / self.step + 1) * self.step;
        self.sample.literals += literals;
        self.sample.repeated += length;
        // What repeats itself leads to the source of its first round at once.
        let distance = distance.max(length / 2).max(1);
        self.sample.magnitudes += length * distance.ilog2() as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_a_step_apart_at_least() {
        let mut marker = Marker::default();
        marker.begin(100);
        for at in (0..1000).step_by(7) {
            if at >= marker.due() {
                marker.note(Mark { at, out: 3 * at }, 1, 10, 4);
            }
        }
        let at: Vec<usize> = marker.marks().iter().map(|mark| mark.at).collect();
        assert_eq!(at, [105, 203, 301, 406, 504, 602, 700, 805, 903]);
        marker.begin(100);
        assert!(marker.marks().is_empty() && marker.due() == 100);
    }

    #[test]
    fn near_matches_take_more_steps() {
        let steps = |literals: usize, matches: &[(usize, usize)]| {
            let mut marker = Marker::default();
            marker.begin(1);
            matches.iter().for_each(|(distance, length)| {
                marker.note(Mark::default(), literals, *distance, *length);
            });
            marker.steps(1 << 17)
        };
        assert_eq!(steps(0, &[(1024, 90)]), 65);
        assert_eq!(steps(0, &[(1024, 90), (4096, 90)]), 33);
        assert_eq!(steps(90, &[(1024, 90), (4096, 90)]), 17);
        // A run is one step, whatever its distance.
        assert_eq!(steps(0, &[(1, 1 << 15)]), 5);
        assert_eq!(steps(0, &[]), 1);
        assert_eq!(Marker::default().steps(1000), 1);
    }
}
