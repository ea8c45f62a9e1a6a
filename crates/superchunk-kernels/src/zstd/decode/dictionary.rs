//! Dictionaries: bytes that precede every frame, and the codes that its first block may refer to.
//!
//! ```text
//! dictionary = magic, number (4 bytes), Huffman code, codes of distances, matches and literals,
//!              three recent distances (4 bytes each), content
//!            | content
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::codes::Codes;
use super::frame::FrameHead;
use super::huffman::Table;
use super::sequences::{FIRST_RECENT, Recent};
use super::{CUT, Result};
use crate::Malformed;

/// A dictionary, ready to decode any number of frames.
pub struct Dictionary {
    /// Names it in frames; 0 for content alone, which frames do not name.
    number: u32,
    content: Vec<u8>,
    tables: Option<Box<Tables>>,
}

/// What a frame starts with instead of nothing.
pub(super) struct Tables {
    pub(super) huffman: Table,
    pub(super) codes: Codes,
    pub(super) recent: Recent,
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Dictionary");
        shown.field("number", &self.number).field("content_len", &self.content.len());
        shown.field("is_trained", &self.tables.is_some()).finish()
    }
}

const MAGIC: [u8; 4] = 0xEC30_A437_u32.to_le_bytes();

impl Dictionary {
    /// No dictionary.
    pub(super) const NONE: Self = Self { number: 0, content: Vec::new(), tables: None };

    /// Parses a trained dictionary, which starts with a magic number of its own; anything else is
    /// content alone.
    ///
    /// # Errors
    ///
    /// When the tables of a trained dictionary are corrupt.
    pub fn parse(bytes: &[u8]) -> core::result::Result<Self, Malformed> {
        // As in libzstd, what is too short for a number is content, whatever it starts with.
        match bytes.strip_prefix(&MAGIC).and_then(|rest| rest.split_first_chunk::<4>()) {
            Some((number, rest)) => Self::parse_trained(u32::from_le_bytes(*number), rest)
                .map_err(|reason| Malformed { at: 0, reason }),
            None => Ok(Self { content: bytes.to_vec(), ..Self::NONE }),
        }
    }

    fn parse_trained(number: u32, src: &[u8]) -> Result<Self> {
        let mut tables =
            Tables { huffman: Table::new(), codes: Codes::new(), recent: FIRST_RECENT };
        let used = tables.huffman.read(src)?;
        let rest = tables.codes.read_dictionary(src.get(used..).ok_or(CUT)?)?;
        let (recent, content) = rest.split_first_chunk::<12>().ok_or(CUT)?;
        for (distance, stored) in tables.recent.iter_mut().zip(recent.as_chunks::<4>().0) {
            let stored = usize::try_from(u32::from_le_bytes(*stored)).unwrap_or(usize::MAX);
            if !(1..=content.len()).contains(&stored) {
                return Err("zstd dictionary has a recent distance beyond its content");
            }
            *distance = stored;
        }
        Ok(Self { number, content: content.to_vec(), tables: Some(Box::new(tables)) })
    }

    /// Checks that a frame was made with this dictionary, if it names any.
    pub(super) fn is_that_of(&self, head: &FrameHead) -> Result<()> {
        match head.dictionary {
            0 => Ok(()),
            named if named == self.number => Ok(()),
            _ if self.content.is_empty() => Err("zstd frame needs a dictionary"),
            _ => Err("zstd frame needs another dictionary"),
        }
    }

    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    pub(super) fn tables(&self) -> Option<&Tables> {
        self.tables.as_deref()
    }
}
