//! Streams that gain next to nothing are better stored: what they gain is hardly seen in a block, but each of them has to be decoded.

/// So much longer a block may get: one byte in so many.
const SMALL: usize = 400;
/// Above this level bytes are what counts.
const HIGHEST_LEVEL: u8 = 8;

/// What the streams of a block have gained so far.
pub(super) struct Gains {
    /// Whether small ones are given up.
    gives_up: bool,
    /// The bytes of the streams.
    stored: usize,
    /// What was given up.
    lost: usize,
}

impl Gains {
    /// Of a block of so many streams. One alone has nothing to be small beside.
    pub(super) fn new(level: u8, streams: usize) -> Self {
        Self { gives_up: level <= HIGHEST_LEVEL && streams > 1, stored: 0, lost: 0 }
    }

    /// Whether the next stream, of `len` bytes, is worth to be decoded if it is coded in so many. All that was stored before it counts,
    /// and nothing of what comes: that is not known, and the planes of noise mostly come first.
    pub(super) fn are_worth(&mut self, len: usize, coded: usize) -> bool {
        let lost = self.lost + len.saturating_sub(coded);
        let is_small = self.gives_up && lost <= (self.stored + coded) / SMALL;
        if is_small {
            self.lost = lost;
        }
        !is_small
    }

    /// Counts a stream that takes so many bytes.
    pub(super) fn add(&mut self, stored: usize) {
        self.stored += stored;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the streams of 1000 bytes are coded, if they would take so many then.
    fn coded(level: u8, lens: &[usize]) -> Vec<bool> {
        let mut gains = Gains::new(level, lens.len());
        let is_coded = |&len: &usize| {
            let is_coded = gains.are_worth(1000, len);
            gains.add(if is_coded { len } else { 1000 });
            is_coded
        };
        lens.iter().map(is_coded).collect()
    }

    #[test]
    fn streams_that_gain_little_of_their_block_are_stored() {
        assert_eq!(coded(5, &[998, 990, 995, 995, 0]), [false, true, false, true, true]);
        assert_eq!(coded(5, &[500, 997, 998]), [true, false, false]);
        assert_eq!(coded(5, &[10, 997, 997, 996]), [true, true, false, false]);
        assert_eq!(coded(9, &[998, 998]), [true, true]);
        assert_eq!(coded(5, &[999]), [true]);
    }
}
