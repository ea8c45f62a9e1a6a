//! Zstandard frames of codes alone: bytes that are frequent get short codes, and nothing that comes again is looked for.
//!
//! Planes of shuffled numbers seldom repeat themselves, so that searching them takes time and gains nothing.
//!
//! | file | duty |
//! |---|---|
//! | `block` | the header of a frame, and its blocks: raw, a run, compressed |
//! | `codes_only` | where blocks begin, and of which kind they are |
//! | `literals`, `huffman` | the bytes, as Huffman codes |
//! | `fse`, `price`, `bits` | the codes of code lengths, what codes cost, writing of bits |
//! | `histogram`, `sample` | counts of all bytes, and of a few |

mod bits;
mod block;
mod codes_only;
mod fse;
mod histogram;
mod huffman;
mod literals;
mod price;
mod sample;
#[cfg(test)]
mod tests;

use block::{Entropy, Frame};

/// Encodes Zstandard frames of codes alone; keeps its working memory between calls.
///
/// The output depends on nothing but the arguments of the call.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    entropy: Entropy,
}

impl Encoder {
    /// Encodes `src`; returns the length of the frame, or `None` if it does not fit `dst`.
    pub fn compress_codes(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let mut frame = Frame::new(&mut self.entropy, src.len(), dst)?;
        codes_only::write(src, &mut frame)?;
        frame.finish()
    }
}
