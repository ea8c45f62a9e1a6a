//! Zstandard frames, made quickly: of codes alone, or with the matches that one look at a position finds.
//!
//! Planes of shuffled numbers seldom repeat themselves, so that searching them takes time and gains
//! nothing: there bytes that are frequent get short codes, and nothing that comes again is looked for.
//!
//! | file | duty |
//! |---|---|
//! | `block` | the header of a frame, and its blocks: raw, a run, compressed |
//! | `codes_only` | frames of codes alone: where blocks begin, and of which kind they are |
//! | `fast`, `search` | frames with matches; the search for them |
//! | `parsed`, `numbers` | what a search makes of a block; codes for its numbers |
//! | `literals`, `huffman` | the bytes, as Huffman codes |
//! | `sequences`, `fse` | the matches, as FSE codes |
//! | `price`, `bits` | what codes cost, writing of bits |
//! | `census`, `histogram`, `byte_set` | counts of all bytes, or of one half if the other has none but these |
//! | `sample` | counts of a few |

mod bits;
mod block;
mod byte_set;
mod census;
mod codes_only;
mod fast;
mod fse;
mod histogram;
mod huffman;
mod literals;
mod numbers;
mod parsed;
mod price;
mod sample;
mod search;
mod sequences;
#[cfg(test)]
mod tests;

use block::{Entropy, Frame};
use fast::Fast;

/// Encodes Zstandard frames; keeps its working memory between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    entropy: Entropy,
    fast: Fast,
}

impl Encoder {
    /// Encodes `src` by codes alone; returns the length of the frame, or `None` if it does not fit
    /// `dst`.
    pub fn compress_codes(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let mut frame = Frame::new(&mut self.entropy, src.len(), codes_only::GAIN_SHIFT, dst)?;
        codes_only::write(src, &mut frame)?;
        frame.finish()
    }

    /// Encodes `src` with the matches that are found quickly; returns the length of the frame, or
    /// `None` if it does not fit `dst`. What would gain less than a byte in 64 is stored as it is.
    pub fn compress_fast(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        if src.len() > fast::LONGEST {
            return self.compress_codes(src, dst);
        }
        let mut frame = Frame::new(&mut self.entropy, src.len(), fast::GAIN_SHIFT, dst)?;
        self.fast.write(src, &mut frame)?;
        frame.finish()
    }
}
