//! A few bytes of a frame without decoding what precedes them.
//!
//! The sequences of every block are read and noted as marks of a [`Trace`], but not carried out, and
//! literals are not decoded. They are numbered through all blocks of the frame:
//!
//! ```text
//! block      0             1     2 (raw)       3
//! literals   0 … 4999      -     5000 … 9999   10000 …
//! marks      many, one for the literals behind the last sequence; one for all of a raw block or a run
//! ```
//!
//! Then what is wanted is followed to the numbers of its literals, and those are looked up.
//!
//! | file | duty |
//! |---|---|
//! | `worth` | whether all that is likely to pay |
//! | `frame`, `note` | goes through the blocks; notes the sequences of one |
//! | `trace` | follows what is wanted through the sequences |
//! | `kept` | literals by their numbers |

mod frame;
mod kept;
mod note;
mod trace;
mod worth;

use alloc::vec::Vec;

use self::frame::Blocks;
use self::kept::Kept;
use self::trace::{Piece, Trace};
pub(super) use self::worth::may_pay;
use super::block::BlockDecoder;
use crate::Wanted;

/// Where literals are kept, and memory to look them up with.
#[derive(Default)]
pub(super) struct Finder {
    trace: Trace,
    kept: Vec<Kept>,
    pieces: Vec<Piece>,
    symbols: Vec<u8>,
}

impl Finder {
    /// Writes what is `wanted` of the first frame of `src` to `dst`. `None` when something is unusual,
    /// wrong, or leads too far.
    pub(super) fn find(
        &mut self,
        decoder: &mut BlockDecoder,
        src: &[u8],
        dst: &mut [u8],
        wanted: &Wanted,
    ) -> Option<()> {
        let Self { trace, kept, pieces, symbols } = self;
        trace.begin();
        pieces.clear();
        let mut blocks = Blocks::new(decoder, trace, kept, src, wanted);
        let written = blocks.note_frame(dst.len())?;
        let steps = worth::most_steps(wanted, trace.noted());
        trace.follow(steps, written, wanted, |piece| {
            pieces.push(piece);
            Some(())
        })?;
        pieces.sort_unstable_by_key(|piece| piece.from);
        kept::write(kept, pieces, &mut decoder.huffman, symbols, src, dst)?;
        trace.repeat(dst);
        Some(())
    }
}
