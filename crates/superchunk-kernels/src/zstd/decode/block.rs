//! A compressed block: its literals, then its sequences.

use alloc::vec::Vec;

use super::dictionary::Dictionary;
use super::huffman::Table;
use super::literals::Section;
use super::output::{Output, TOO_LONG, Target};
use super::sequences::{FIRST_RECENT, Recent, Sequences};
use super::{CUT, LARGEST_BLOCK, Result};
use crate::copy::SLACK;

/// What blocks of a frame have from those before them, and memory.
pub(super) struct BlockDecoder {
    pub(super) huffman: Table,
    pub(super) sequences: Sequences,
    recent: Recent,
    literals: Vec<u8>,
}

/// A compressed block: `src` ends with it, and it begins at `begin`.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) src: &'a [u8],
    pub(super) begin: usize,
    /// The most bytes that a block of this frame may have.
    pub(super) most: usize,
}

impl BlockDecoder {
    pub(super) fn new() -> Self {
        Self {
            huffman: Table::new(),
            sequences: Sequences::new(),
            recent: FIRST_RECENT,
            literals: Vec::new(),
        }
    }

    /// Forgets the previous frame: the next one starts with what `dictionary` holds.
    pub(super) fn begin_frame(&mut self, dictionary: &Dictionary) {
        match dictionary.tables() {
            Some(tables) => {
                self.huffman.copy_code(&tables.huffman);
                self.sequences.codes.clone_from(&tables.codes);
                self.recent = tables.recent;
            }
            None => {
                self.huffman.forget();
                self.sequences.codes.forget();
                self.recent = FIRST_RECENT;
            }
        }
    }

    /// Decodes a block to `target`. Returns the number of bytes that are filled then: those of the
    /// whole block, or at least those that are needed.
    pub(super) fn decode(&mut self, block: Block<'_>, target: Target<'_, '_>) -> Result<usize> {
        let written = target.written;
        let (section, rest) = Section::parse(block.src, block.begin)?;
        if section.len > block.most {
            return Err("zstd literals are more than a block can hold");
        }
        let (sequences, rest) = sequence_count(rest)?;
        if sequences == 0 {
            let room = target.dst.get_mut(written..).unwrap_or_default();
            section.decode(&mut self.huffman, room.get_mut(..section.len).ok_or(TOO_LONG)?)?;
            return if rest.is_empty() {
                Ok(written + section.len)
            } else {
                Err("zstd block does not end where it should")
            };
        }
        let literals = match section.in_place(SLACK) {
            Some(literals) => literals,
            None => {
                if self.literals.is_empty() {
                    self.literals.resize(LARGEST_BLOCK + SLACK, 0);
                }
                let place = self.literals.get_mut(..section.len).unwrap_or_default();
                section.decode(&mut self.huffman, place)?;
                self.literals.as_slice()
            }
        };
        let mut output = Output::new(target, literals, section.len);
        self.sequences.decode(sequences, block.src, rest, &mut self.recent, &mut output)?;
        if !output.is_enough() {
            output.finish()?;
        }
        Ok(output.written)
    }
}

/// Reads how many sequences there are, and gives what follows.
pub(super) fn sequence_count(section: &[u8]) -> Result<(usize, &[u8])> {
    let (&first, rest) = section.split_first().ok_or(CUT)?;
    let first = usize::from(first);
    if first < 128 {
        return Ok((first, rest));
    }
    let (&second, rest) = rest.split_first().ok_or(CUT)?;
    if first < 255 {
        return Ok((((first - 128) << 8) + usize::from(second), rest));
    }
    let (&third, rest) = rest.split_first().ok_or(CUT)?;
    Ok((usize::from(second) + (usize::from(third) << 8) + 0x7F00, rest))
}
