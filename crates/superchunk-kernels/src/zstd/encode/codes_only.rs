//! Frames without matches: runs, Huffman codes and raw bytes.
//!
//! Planes of shuffled numbers seldom repeat themselves, but some of their bytes are frequent. They
//! are cut where the statistics change, so that each part gets codes of its own.

use alloc::vec::Vec;

use crate::runs::repeated_byte;
use crate::zstd::encode::block::{Frame, MAX_BLOCK};
use crate::zstd::encode::histogram::{Half, ORDERED, Quarters, count_half, divergence, sum};
use crate::zstd::encode::sample::is_noise;
use crate::zstd::encode::sequences::Found;

/// The least gain for which bytes are coded is one in 256.
pub(super) const GAIN_SHIFT: u32 = 8;

/// The unit of cutting: as a group has both halves of each of its quarters, so have several.
const GROUP: usize = 4 * ORDERED;

/// To begin a new block costs about so many bits.
const NEW_BLOCK: f32 = 400.0;

/// So many bits codes of their own seem to gain for bytes that are no different, of which there are 256.
const CHANCE: f32 = 184.0;

/// Adds `src` to the frame.
pub(super) fn write(src: &[u8], frame: &mut Frame<'_>) -> Option<()> {
    let (groups, rest) = src.as_chunks::<GROUP>();
    let mut open = Open {
        begin: 0,
        end: 0,
        kind: Kind::Noise,
        counts: [0; 256],
        parts: Vec::with_capacity(PARTS),
    };
    for group in groups {
        open.take(src, group, frame)?;
    }
    open.close(src, frame)?;
    write_rest(rest, frame)
}

/// The most groups of a block.
const PARTS: usize = MAX_BLOCK / GROUP;

/// What a part of the source looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Noise,
    Run(u8),
    Coded,
}

/// The part that is being collected.
struct Open {
    begin: usize,
    end: usize,
    kind: Kind,
    /// How often each byte occurs in the first half of each group.
    counts: [u32; 256],
    /// The same of each quarter of each group.
    parts: Vec<Quarters>,
}

impl Open {
    /// Adds a group, or closes the part first and begins a new one.
    fn take(&mut self, src: &[u8], group: &[u8; GROUP], frame: &mut Frame<'_>) -> Option<()> {
        let kind = match repeated_byte(group) {
            Some(byte) => Kind::Run(byte),
            None if is_noise(group, GAIN_SHIFT) => Kind::Noise,
            None => return self.take_counted(src, group, frame),
        };
        if kind != self.kind {
            self.close(src, frame)?;
            self.kind = kind;
        }
        self.end += GROUP;
        Some(())
    }

    /// Adds a group that is neither a run nor noise at first sight.
    fn take_counted(
        &mut self,
        src: &[u8],
        group: &[u8; GROUP],
        frame: &mut Frame<'_>,
    ) -> Option<()> {
        let mut parts = [[0; 256]; 4];
        count_half(group, Half::First, &mut parts);
        let counts = sum(&parts);
        let full = self.end - self.begin == MAX_BLOCK;
        if self.kind != Kind::Coded || full || self.differs(&counts) {
            self.close(src, frame)?;
            self.kind = Kind::Coded;
        }
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += count;
        }
        self.parts.push(parts);
        self.end += GROUP;
        Some(())
    }

    /// Whether codes for these counts and for those so far, apart, gain more than they cost.
    ///
    /// The divergence stands for the difference of the logarithms. All bytes have twice that of a half, and chance the same.
    fn differs(&self, counts: &[u32; 256]) -> bool {
        if self.end == self.begin {
            return false;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a block is shorter than 2^24")]
        let (len, new) = ((self.end - self.begin) as u32 / 2, GROUP as u32 / 2);
        let gain = divergence(&self.counts, len, counts, new) * core::f32::consts::LOG2_E / 2.0;
        2.0 * gain - CHANCE > NEW_BLOCK
    }

    /// Writes the part, and begins an empty one behind it.
    fn close(&mut self, src: &[u8], frame: &mut Frame<'_>) -> Option<()> {
        let part = src.get(self.begin..self.end)?;
        match self.kind {
            _ if part.is_empty() => (),
            Kind::Noise => frame.raw(part)?,
            Kind::Run(byte) => frame.run(byte, part.len())?,
            Kind::Coded => {
                let counted = self.quarters(part.len() / GROUP)?;
                // SAFETY: each quarter of the part is as many quarters of groups, whose first halves were counted.
                unsafe { frame.compressed(part, part, Some(&counted), Found::NONE)? };
            }
        }
        self.begin = self.end;
        self.parts.clear();
        self.counts = [0; 256];
        Some(())
    }

    /// The counts of the first half of each quarter of the part, which has so many groups.
    fn quarters(&self, groups: usize) -> Option<Quarters> {
        let all = self.parts.get(..groups)?.as_flattened();
        let mut quarters = [[0; 256]; 4];
        for (quarter, parts) in quarters.iter_mut().zip(all.chunks(groups)) {
            for part in parts {
                for (sum, count) in quarter.iter_mut().zip(part) {
                    *sum += count;
                }
            }
        }
        Some(quarters)
    }
}

/// Adds what is shorter than a group.
fn write_rest(rest: &[u8], frame: &mut Frame<'_>) -> Option<()> {
    match repeated_byte(rest) {
        Some(byte) => frame.run(byte, rest.len()),
        None if rest.is_empty() => Some(()),
        // SAFETY: nothing was counted before.
        None => unsafe { frame.compressed(rest, rest, None, Found::NONE).map(|_| ()) },
    }
}
